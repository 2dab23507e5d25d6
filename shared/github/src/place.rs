//! What a run begins with: the targets, their hosts, and what to call them.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use shared::{
    cursor::{Cursor, Found},
    exit::{self, Error},
    gh::Gh,
    store,
    wait::Waiter,
};

use crate::{
    remote::{self, Halt},
    target::{Given, Repo, Slug, Subject, Target},
};

/// What is watched, and through whom.
#[derive(Debug)]
pub struct Watched {
    /// The targets, each once, in the order in which they were given.
    pub targets: Vec<Target>,
    /// The ways to their hosts.
    pub hosts: Vec<Gh>,
    /// What to call them.
    pub names: Names,
}

impl Watched {
    /// Finds where `given` are: at their addresses, or in `repo`, or in the work tree's. `program`
    /// names it in warnings, `store` is `--store`.
    ///
    /// # Errors
    ///
    /// [`Halt`], when a repository is needed and there is none.
    pub fn find<'a>(
        program: &'static str,
        given: impl Iterator<Item = &'a Given> + Clone,
        repo: Option<&Slug>,
        store: Option<&Path>,
        waiter: &Waiter,
    ) -> Result<Self, Halt> {
        let needs_repo = given.clone().any(|given| given.repo.is_none());
        let repo = needs_repo.then(|| remote::resolve(repo, waiter)).transpose()?;
        let mut targets: Vec<Target> = Vec::new();
        for target in given.filter_map(|given| given.within(repo.as_ref())) {
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        let root = root(program, store);
        let hosts: BTreeSet<&str> = targets.iter().map(|target| &*target.repo.host).collect();
        let hosts = hosts.into_iter().map(|host| Gh::new(program, host, root.clone())).collect();
        let names = Names::of(&targets);
        Ok(Self { targets, hosts, names })
    }
}

/// Where programs share their cooldowns. Without such a place each keeps its own.
fn root(program: &str, store: Option<&Path>) -> Option<PathBuf> {
    store::root(store)
        .inspect_err(|err| exit::warn(program, &format!("{err}: cooldowns aren't shared")))
        .ok()
}

/// What targets are called: by their repository too, where there are several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    repos: Vec<Repo>,
}

impl Names {
    /// The names that keep `targets` apart.
    #[must_use]
    pub fn of(targets: &[Target]) -> Self {
        let repos: BTreeSet<&Repo> = targets.iter().map(|target| &target.repo).collect();
        Self { repos: repos.into_iter().cloned().collect() }
    }

    /// All repositories, as `HOST/OWNER/NAME`.
    #[must_use]
    pub fn subject(&self) -> String {
        self.repos.iter().map(Repo::to_string).collect::<Vec<_>>().join(" ")
    }

    /// `OWNER/NAME`, when there are several; with its host when that is needed.
    #[must_use]
    pub fn repo(&self, target: &Target) -> Option<String> {
        if self.repos.len() < 2 {
            return None;
        }
        let slug = target.repo.slug();
        let alike = self.repos.iter().filter(|repo| repo.slug() == slug).count();
        Some(if alike > 1 { target.repo.to_string() } else { slug })
    }

    /// What keys call it: `short`, behind its repository when there are several.
    #[must_use]
    pub fn label(&self, target: &Target, short: &str) -> String {
        self.repo(target).map_or_else(|| short.to_owned(), |repo| format!("{repo}#{short}"))
    }

    /// What a person calls it.
    #[must_use]
    pub fn spoken(target: &Target) -> String {
        let repo = &target.repo;
        match &target.subject {
            Subject::Run(id) => format!("run {id} of {repo}"),
            Subject::Pull(number) => format!("pull request {number} of {repo}"),
            Subject::Commit(hash) => format!("commit {hash} of {repo}"),
        }
    }
}

/// What an earlier run remembered in the file of `--cursor`, and the file to remember in.
///
/// # Errors
///
/// Those of [`Cursor::open`].
pub fn recall<T: Default + serde::de::DeserializeOwned>(
    program: &'static str,
    path: Option<&Path>,
    names: &Names,
    version: u32,
) -> Result<(Option<Cursor>, T), Error> {
    let Some(path) = path else { return Ok((None, T::default())) };
    let (cursor, found) = Cursor::open(path, program, &names.subject(), version)?;
    let memory = match found {
        Found::Known(memory) => memory,
        Found::Nothing => T::default(),
        Found::Broken => {
            let message = format!("unable to recall {}: telling all that stands", path.display());
            exit::warn(program, &message);
            T::default()
        }
    };
    Ok((Some(cursor), memory))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: &str, owner: &str) -> Target {
        Target { repo: Repo::of(host, owner, "n").unwrap(), subject: Subject::Pull(42) }
    }

    #[test]
    fn a_repository_is_named_when_there_are_several_and_its_host_when_it_must() {
        let (one, other) = (target("github.com", "o"), target("github.com", "p"));
        let far = target("ghe.corp", "o");
        let names = Names::of(std::slice::from_ref(&one));
        assert_eq!((names.repo(&one), names.label(&one, "pr-42")), (None, "pr-42".to_owned()));
        let names = Names::of(&[one.clone(), other.clone()]);
        assert_eq!(names.label(&one, "pr-42"), "o/n#pr-42");
        assert_eq!(names.subject(), "github.com/o/n github.com/p/n");
        let names = Names::of(&[one, other.clone(), far.clone()]);
        assert_eq!(names.label(&far, "7"), "ghe.corp/o/n#7");
        assert_eq!(names.label(&other, "7"), "p/n#7");
    }
}

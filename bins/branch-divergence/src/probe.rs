//! A look: what the remote has, what HEAD is, and how far they are apart.
//!
//! It judges nothing: how far is too far is not known here.

use std::{fs, path::PathBuf};

use shared::{file::Stamp, wait::Waiter};

use crate::{
    args::Base,
    distance::{self, Distance, Head},
    failure::{Asking, Failure, Trouble},
    git::Git,
    open::{Opened, Repository},
    partial::Packs,
    remote,
};

/// Whom a look asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The remote and the checkout.
    Remote,
    /// The checkout alone, against the tip that is known.
    Checkout,
}

/// What can be seen of the checkout without git; it differs when HEAD may have moved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Glance {
    /// The stamps of the files that move with HEAD, and whether the repository is there.
    pub heads: (Vec<Option<Stamp>>, bool),
    /// A rebase is under way, or was left unfinished.
    pub rebasing: bool,
}

/// Looks at one repository.
#[derive(Debug)]
pub struct Probe {
    git: Git,
    repository: Repository,
    remote: String,
    base: Base,
    /// The count from which conflicts are of interest, and whether git can tell of them.
    conflicts: Option<(u64, bool)>,
    last: Option<Distance>,
    /// The last count failed: the objects may be incomplete, though the tip is here.
    doubtful: bool,
    /// A rebase was under way when this look began.
    rebasing: bool,
}

impl Probe {
    /// Looks at what was found, for `base`. `conflicts_from` is the count from which conflicts
    /// are looked for, if they are.
    #[must_use]
    pub fn new(opened: Opened, base: Base, conflicts_from: Option<u64>) -> Self {
        let can_merge = opened.version >= (2, 38);
        Self {
            git: opened.git,
            repository: opened.repository,
            remote: opened.remote,
            base,
            conflicts: conflicts_from.map(|from| (from, can_merge)),
            last: None,
            doubtful: false,
            rebasing: false,
        }
    }

    /// Where the repository lies.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The name of the remote.
    #[must_use]
    pub fn remote(&self) -> &str {
        &self.remote
    }

    /// The base's name, once it is known.
    #[must_use]
    pub fn base(&self) -> Option<&str> {
        match &self.base {
            Base::Named(name) => Some(name),
            Base::Auto => None,
        }
    }

    /// The folders in which a change may be a move of HEAD.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut folders =
            vec![self.repository.git_dir.clone(), self.repository.git_dir.join("logs")];
        folders.extend(self.reftables().into_iter().filter(|dir| dir.is_dir()));
        folders
    }

    /// Where a repository keeps its refs that has them in tables, HEAD and its log included.
    fn reftables(&self) -> [PathBuf; 2] {
        [self.repository.git_dir.join("reftable"), self.repository.common.join("reftable")]
    }

    /// Looks without git, before each look with it.
    pub fn glance(&mut self) -> Glance {
        let glance = self.peek();
        self.rebasing = glance.rebasing;
        glance
    }

    fn peek(&self) -> Glance {
        let git_dir = &self.repository.git_dir;
        let [own, common] = self.reftables().map(|dir| dir.join("tables.list"));
        let files = [git_dir.join("HEAD"), git_dir.join("logs/HEAD"), own, common];
        let stamp = |path: &PathBuf| fs::metadata(path).ok().map(|meta| Stamp::of(&meta));
        let rebases = ["rebase-merge", "rebase-apply"];
        Glance {
            heads: (files.iter().map(stamp).collect(), self.repository.is_there()),
            rebasing: rebases.iter().any(|name| git_dir.join(name).exists()),
        }
    }

    /// Looks at what `scope` says. `known` gives the tip of a base that was counted last.
    ///
    /// # Errors
    ///
    /// [`Failure`].
    pub fn look(
        &mut self,
        scope: Scope,
        known: impl Fn(&str) -> Option<String>,
        waiter: &Waiter,
    ) -> Result<Distance, Failure> {
        self.require_repository()?;
        let at_hand = self.base().and_then(&known).filter(|_| scope == Scope::Checkout);
        let tip = match at_hand {
            Some(tip) => tip,
            None => self.ask(waiter)?,
        };
        let known = self.base().and_then(&known);
        self.count(&tip, known.as_deref(), waiter)
    }

    /// Asks the remote for the base's tip, and sees to it that its commits are here.
    fn ask(&mut self, waiter: &Waiter) -> Result<String, Failure> {
        let asking = Asking { git: &self.git, waiter };
        let (base, tip) = match &self.base {
            Base::Named(base) => (base.clone(), remote::tip_of(asking, &self.remote, base)?),
            Base::Auto => remote::find_base(asking, &self.remote)?,
        };
        self.base = Base::Named(base.clone());
        let was_counted = self.last.as_ref().is_some_and(|last| last.tip == tip);
        if !self.doubtful && (was_counted || remote::has(asking, &tip)?) {
            return Ok(tip);
        }
        let packs = Packs::before(&self.repository.objects());
        let fetched = remote::fetch(asking, &self.remote, &base, &tip);
        if fetched.is_err() {
            packs.sweep();
        }
        fetched
    }

    /// Counts what lies between HEAD and `tip`, a commit that is here. `known` is the tip that
    /// was counted before.
    fn count(
        &mut self,
        tip: &str,
        known: Option<&str>,
        waiter: &Waiter,
    ) -> Result<Distance, Failure> {
        self.require_repository()?;
        let asking = Asking { git: &self.git, waiter };
        let head = self.steady_head(asking)?;
        let rewritten = match known {
            Some(known) if known != tip => distance::is_rewritten(asking, known, tip)?,
            _ => false,
        };
        let pair = (&*head.id, tip, head.shallow);
        let last = self.last.take();
        let counted = last.filter(|last| (&*last.head, &*last.tip, last.shallow) == pair);
        let distance = if let Some(counted) = counted {
            Distance { head_branch: head.branch, rewritten, ..counted }
        } else {
            let pair = Distance {
                base: self.base().unwrap_or_default().to_owned(),
                head: head.id,
                head_branch: head.branch,
                tip: tip.to_owned(),
                shallow: head.shallow,
                rewritten,
                ..Distance::default()
            };
            self.doubtful = true;
            self.measure(pair, waiter)?
        };
        self.doubtful = false;
        self.last = Some(distance.clone());
        Ok(distance)
    }

    /// HEAD, unless it is a step of a rebase that began since the look did. A rebase goes on a
    /// detached HEAD; a short one can be over again by the time it is looked for.
    fn steady_head(&self, asking: Asking<'_>) -> Result<Head, Failure> {
        for _ in 1..3 {
            let before = self.peek();
            let head = distance::head(asking)?;
            let after = self.peek();
            if after.rebasing && !self.rebasing {
                return Err(Failure::GivenUp);
            }
            if !head.branch.is_empty() || before == after {
                return Ok(head);
            }
        }
        distance::head(asking)
    }

    fn measure(&self, pair: Distance, waiter: &Waiter) -> Result<Distance, Failure> {
        let asking = Asking { git: &self.git, waiter };
        let mut distance = distance::measure(asking, pair)?;
        distance.conflicts = match self.conflicts {
            Some((from, true)) if distance.behind >= from => {
                Some(distance::conflicts(asking, &self.repository.objects(), &distance)?)
            }
            Some(_) => Some(None),
            None => None,
        };
        Ok(distance)
    }

    /// A repository that is gone has taken its objects along; another may come in its place.
    fn require_repository(&mut self) -> Result<(), Failure> {
        if self.repository.is_there() {
            return Ok(());
        }
        self.last = None;
        let detail = format!("{}: no such repository any more", self.repository.top.display());
        Err(Failure::Blind(Trouble::RepositoryGone, detail))
    }
}

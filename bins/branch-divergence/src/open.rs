//! What is found once, at the start: git, the repository, the remote.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
};

use shared::{
    exit::{Error, Reason},
    wait::Waiter,
};

use crate::git::{Answer, Git, Silence, SshConfig};

/// The oldest git that can fetch without writing `FETCH_HEAD`.
const OLDEST: (u32, u32) = (2, 29);

/// The repository that is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The top of the work tree, or the repository itself when it is bare. Canonical.
    pub top: PathBuf,
    /// The git folder of this work tree: it has HEAD.
    pub git_dir: PathBuf,
    /// The folder that all work trees share: it has the objects.
    pub common: PathBuf,
}

impl Repository {
    /// Whether both its folders are there.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.top.is_dir() && self.git_dir.is_dir()
    }

    /// The folder of the objects.
    #[must_use]
    pub fn objects(&self) -> PathBuf {
        self.common.join("objects")
    }

    /// What is watched, as it is printed: part of every `id`.
    #[must_use]
    pub fn name(&self) -> String {
        self.top.to_string_lossy().into_owned()
    }

    /// Whether `path` (canonical) lies in one of git's folders.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.git_dir) || path.starts_with(&self.common)
    }
}

/// All that is found.
#[derive(Debug)]
pub struct Opened {
    /// Asks in the repository.
    pub git: Git,
    /// The version of git.
    pub version: (u32, u32),
    /// Where it lies.
    pub repository: Repository,
    /// The remote to ask.
    pub remote: String,
    /// What the user should know of the choice.
    pub warning: Option<String>,
}

/// Why nothing is watched.
#[derive(Debug)]
pub enum Halt {
    /// We are asked to stop.
    Stopped,
    /// The program has to end.
    Failed(Error),
}

/// Finds everything, or says what is missing. `wanted` is the value of `--remote`.
///
/// # Errors
///
/// [`Halt`].
pub fn open(mut git: Git, wanted: Option<&str>, waiter: &Waiter) -> Result<Opened, Halt> {
    let given = git.dir().to_owned();
    if !given.is_dir() {
        let message = format!("unable to watch {}: no such folder", given.display());
        return Err(missing("repository_missing", message));
    }
    let answer = git.here(&["--version"], &[], waiter).map_err(silent)?;
    if !answer.is_ok() {
        return Err(no_repository(&given, &answer));
    }
    let version = version(&answer)?;
    let query = ["--is-bare-repository", "--is-inside-work-tree", "--show-cdup"];
    let query = [&["rev-parse"][..], &query, &["--absolute-git-dir"]].concat();
    let answer = git.here(&query, &[], waiter).map_err(silent)?;
    let repository = repository(&given, &answer)?;
    let names = git.here(&["remote"], &[], waiter).map_err(silent)?;
    let (remote, warning) = choose(&names.text(), wanted).map_err(Halt::Failed)?;
    let query = ["config", "-z", "--get-regexp", r"^(core\.sshcommand|ssh\.variant)$"];
    let ssh = git.here(&query, &[], waiter).map_err(silent)?;
    git.settle(repository.top.clone(), &SshConfig::parse(&ssh.text()));
    Ok(Opened { git, version, repository, remote, warning })
}

fn missing(word: &'static str, message: String) -> Halt {
    Halt::Failed(Error::new(Reason::Missing, word, message))
}

fn silent(silence: Silence) -> Halt {
    match silence {
        Silence::Stopped => Halt::Stopped,
        Silence::Late(what) => {
            let message = format!("unable to ask git: {what}");
            Halt::Failed(Error::new(Reason::Runtime, "git_timeout", message))
        }
        Silence::Unable(err) if err.kind() == io::ErrorKind::NotFound => {
            missing("git_missing", "unable to run git: it is not on the PATH".to_owned())
        }
        Silence::Unable(err) => missing("git_missing", format!("unable to run git: {err}")),
    }
}

/// From `git version 2.39.3 (Apple Git-146)`.
fn version(answer: &Answer) -> Result<(u32, u32), Halt> {
    let text = answer.text();
    let number = text.trim().strip_prefix("git version ").unwrap_or_default();
    let mut parts = number.split('.').map(|part| part.parse::<u32>().ok());
    let found = parts.next().flatten().zip(parts.next().flatten());
    found.filter(|found| *found >= OLDEST).ok_or_else(|| {
        let have = if number.is_empty() { answer.last_words() } else { number.to_owned() };
        missing("git_too_old", format!("unable to work with git {have}: 2.29 or newer is needed"))
    })
}

/// Reads the answer of the four questions of [`open`]. The path comes last, as it may hold
/// anything; a bare repository leaves the way up out.
fn repository(given: &Path, answer: &Answer) -> Result<Repository, Halt> {
    if !answer.is_ok() {
        return Err(no_repository(given, answer));
    }
    let printed = answer.stdout.strip_suffix(b"\n").unwrap_or(&answer.stdout);
    let (is_bare, rest) = line(printed);
    let (is_inside, rest) = line(rest);
    let (up, git_dir) = match (is_bare, is_inside) {
        (_, b"true") => {
            let (up, git_dir) = line(rest);
            (Some(up), git_dir)
        }
        (b"true", _) => (None, rest),
        _ => {
            let message = format!(
                "unable to watch {}: it is inside a git folder, not inside a work tree",
                given.display()
            );
            return Err(missing("repository_missing", message));
        }
    };
    let git_dir = PathBuf::from(OsStr::from_bytes(git_dir));
    let top = up.map_or_else(|| git_dir.clone(), |up| given.join(OsStr::from_bytes(up)));
    let canonical = |path: &Path| {
        let found = path.canonicalize();
        found.map_err(|err| Halt::Failed(Error::io("find", path, &err)))
    };
    let git_dir = canonical(&git_dir)?;
    let common = canonical(&common_dir(&git_dir))?;
    Ok(Repository { top: canonical(&top)?, git_dir, common })
}

fn line(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    (&text[..end], text.get(end + 1..).unwrap_or_default())
}

/// The shared folder of a linked work tree's git folder, else that folder itself.
fn common_dir(git_dir: &Path) -> PathBuf {
    match fs::read(git_dir.join("commondir")) {
        Ok(text) => git_dir.join(OsStr::from_bytes(text.trim_ascii_end())),
        Err(_) => git_dir.to_owned(),
    }
}

/// Git's refusal in its own words; another owner's repository is said as such.
fn no_repository(given: &Path, answer: &Answer) -> Halt {
    let words = answer.last_words();
    let words = words.strip_prefix("fatal: ").unwrap_or(&words);
    if !words.contains("dubious ownership") && !words.contains("unsafe repository") {
        let message = format!("unable to watch {}: {words}", given.display());
        return missing("repository_missing", message);
    }
    let named = words.split('\'').nth(1).map_or_else(|| given.to_owned(), PathBuf::from);
    let owner = fs::metadata(&named)
        .map_or_else(|_| "another user".to_owned(), |meta| format!("user {}", meta.uid()));
    let message = format!(
        "unable to watch {}: {words}: it belongs to {owner}; git reads it once you have added it \
         to safe.directory",
        given.display()
    );
    missing("dubious_ownership", message)
}

/// The remote's name and a warning, from the list that `git remote` prints.
fn choose(names: &str, wanted: Option<&str>) -> Result<(String, Option<String>), Error> {
    let names: Vec<&str> = names.lines().collect();
    let name = wanted.unwrap_or("origin");
    if names.contains(&name) {
        return Ok((name.to_owned(), None));
    }
    let message = match (wanted, &*names) {
        (None, [only]) => {
            let warning = format!("there is no remote origin: asking {only}, the only one");
            return Ok(((*only).to_owned(), Some(warning)));
        }
        (_, []) => format!("unable to find the remote {name}: there are no remotes"),
        (Some(_), _) => {
            format!("unable to find the remote {name}: the remotes are {}", names.join(", "))
        }
        (None, _) => format!(
            "unable to choose a remote: there is no origin, and the remotes are {}; use --remote",
            names.join(", ")
        ),
    };
    Err(Error::new(Reason::NotFound, "remote_missing", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(stdout: &str) -> Answer {
        Answer { code: 0, stdout: stdout.as_bytes().to_vec(), stderr: String::new() }
    }

    #[test]
    fn git_has_to_be_2_29() {
        for good in
            ["git version 2.29.0\n", "git version 2.39.3 (Apple Git-146)\n", "git version 3.0"]
        {
            assert!(version(&said(good)).is_ok(), "{good}");
        }
        for bad in ["git version 2.28.1\n", "git version 1.9\n", "git version 2", "", "hello"] {
            let Err(Halt::Failed(err)) = version(&said(bad)) else { panic!("{bad}") };
            assert_eq!((err.reason(), err.word()), (Reason::Missing, "git_too_old"));
        }
    }

    #[test]
    fn d08_the_remote_is_origin_or_the_only_one() {
        let chosen = |names: &str, wanted| choose(names, wanted).map(|(name, _)| name).ok();
        assert_eq!(chosen("fork\norigin\n", None).as_deref(), Some("origin"));
        assert_eq!(chosen("fork\norigin\n", Some("fork")).as_deref(), Some("fork"));
        assert_eq!(chosen("fork\n", None).as_deref(), Some("fork"));
        assert!(choose("fork\n", None).unwrap().1.unwrap().contains("fork"));
        assert_eq!(choose("origin\n", None).unwrap().1, None);
        for (names, wanted, named) in [
            ("", None, "no remotes"),
            ("a\nb\n", None, "a, b"),
            ("origin\n", Some("ext::sh"), "origin"),
            ("origin\n", Some("orig"), "origin"),
        ] {
            let err = choose(names, wanted).unwrap_err();
            assert_eq!(err.reason(), Reason::NotFound);
            assert!(err.to_string().contains(named), "{err}");
        }
    }
}

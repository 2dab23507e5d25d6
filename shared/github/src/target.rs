//! What is watched: a run, a pull request or a commit of a repository of a host.
//!
//! One thing has one spelling. Another one is refused, since it would be a second watch.

use std::fmt;

/// The largest number that GitHub's `Int` holds.
const MOST: u64 = i32::MAX as u64;

/// A repository on a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repo {
    /// The host, pinned: no later call goes elsewhere.
    pub host: String,
    /// Who owns it.
    pub owner: String,
    /// Its name.
    pub name: String,
}

impl Repo {
    /// `OWNER/NAME`.
    #[must_use]
    pub fn slug(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    /// The repository that these parts name, if they can be names.
    #[must_use]
    pub fn of(host: &str, owner: &str, name: &str) -> Option<Self> {
        let fit = is_host(host) && is_name(owner) && is_name(name);
        fit.then(|| Self { host: host.into(), owner: owner.into(), name: name.into() })
    }
}

impl fmt::Display for Repo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.owner, self.name)
    }
}

/// A repository as it is given: `[HOST/]OWNER/NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slug {
    host: Option<String>,
    owner: String,
    name: String,
}

impl Slug {
    /// The repository, on `host` where none was given.
    #[must_use]
    pub fn on(&self, host: &str) -> Repo {
        let host = self.host.as_deref().unwrap_or(host).to_owned();
        Repo { host, owner: self.owner.clone(), name: self.name.clone() }
    }
}

/// Reads `[HOST/]OWNER/NAME`.
///
/// # Errors
///
/// What is allowed.
pub fn slug(text: &str) -> Result<Slug, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let (host, owner, name) = match parts[..] {
        [owner, name] => (None, owner, name),
        [host, owner, name] => (Some(host), owner, name),
        _ => return Err(SLUG.to_owned()),
    };
    if host.is_some_and(|host| !is_host(host)) || !is_name(owner) || !is_name(name) {
        return Err(SLUG.to_owned());
    }
    Ok(Slug { host: host.map(str::to_owned), owner: owner.to_owned(), name: name.to_owned() })
}

const SLUG: &str = "must be OWNER/NAME or HOST/OWNER/NAME, the host in lower case";

/// Whether `text` can be the name of a host, in lower case.
pub(crate) fn is_host(text: &str) -> bool {
    let fit =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
    let edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    text.len() <= 253
        && text.bytes().all(fit)
        && edge(text.bytes().next())
        && edge(text.bytes().last())
}

fn is_name(text: &str) -> bool {
    let fit = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let special = matches!(text, "" | "." | "..") || text.starts_with('-');
    !special && text.len() <= 100 && text.bytes().all(fit)
}

/// Which thing of a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A run, by its id.
    Run(u64),
    /// A pull request, by its number.
    Pull(u64),
    /// A commit, by its whole hash.
    Commit(String),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(id) => write!(f, "{id}"),
            Self::Pull(number) => write!(f, "pr-{number}"),
            Self::Commit(hash) => write!(f, "commit-{}", hash.get(..12).unwrap_or(hash)),
        }
    }
}

/// A thing as it is given: alone, or by its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Where, if an address was given.
    pub repo: Option<Repo>,
    /// Which.
    pub subject: Subject,
}

impl Given {
    /// The target, in `repo` where no address was given.
    #[must_use]
    pub fn within(&self, repo: Option<&Repo>) -> Option<Target> {
        let repo = self.repo.as_ref().or(repo)?.clone();
        Some(Target { repo, subject: self.subject.clone() })
    }
}

/// A thing of a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Where.
    pub repo: Repo,
    /// Which.
    pub subject: Subject,
}

/// Reads a run: its id, or `https://HOST/OWNER/NAME/actions/runs/ID`.
///
/// # Errors
///
/// What is allowed.
pub fn run(text: &str) -> Result<Given, String> {
    let id = |text: &str| number(text, u64::MAX >> 11).map(Subject::Run);
    given(text, &["actions", "runs"], id).ok_or_else(|| {
        "must be the id of a run, or https://HOST/OWNER/NAME/actions/runs/ID and nothing after it"
            .to_owned()
    })
}

/// Reads a pull request: its number, or `https://HOST/OWNER/NAME/pull/N`.
///
/// # Errors
///
/// What is allowed.
pub fn pull(text: &str) -> Result<Given, String> {
    let number = |text: &str| number(text, MOST).map(Subject::Pull);
    given(text, &["pull"], number).ok_or_else(|| {
        "must be the number of a pull request, or https://HOST/OWNER/NAME/pull/N and nothing after it"
            .to_owned()
    })
}

/// Reads a commit: its whole hash, or `https://HOST/OWNER/NAME/commit/HASH`.
///
/// # Errors
///
/// What is allowed.
pub fn commit(text: &str) -> Result<Given, String> {
    let is_hash = |text: &str| {
        text.len() == 40 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let hash = |text: &str| is_hash(text).then(|| Subject::Commit(text.to_owned()));
    given(text, &["commit"], hash).ok_or_else(|| {
        "must be the 40 digits of a commit, or https://HOST/OWNER/NAME/commit/HASH and nothing after it"
            .to_owned()
    })
}

fn given(text: &str, view: &[&str], read: impl Fn(&str) -> Option<Subject>) -> Option<Given> {
    let Some(address) = text.strip_prefix("https://") else {
        return Some(Given { repo: None, subject: read(text)? });
    };
    let parts: Vec<&str> = address.split('/').collect();
    let [host, owner, name, rest @ .., last] = &parts[..] else { return None };
    let repo = Repo::of(host, owner, name)?;
    (rest == view).then_some(Given { repo: Some(repo), subject: read(last)? })
}

/// A positive number in its one spelling.
fn number(text: &str, most: u64) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|number| plain && (1..=most).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repo() -> Repo {
        Repo::of("github.com", "o", "n").unwrap()
    }

    #[test]
    fn a_thing_has_a_number_or_an_address() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        for (found, subject, within) in [
            (run("123"), Subject::Run(123), None),
            (run("https://github.com/o/n/actions/runs/123"), Subject::Run(123), Some(repo())),
            (pull("42"), Subject::Pull(42), None),
            (pull("https://github.com/o/n/pull/42"), Subject::Pull(42), Some(repo())),
            (commit(hash), Subject::Commit(hash.to_owned()), None),
            (
                commit(&format!("https://github.com/o/n/commit/{hash}")),
                Subject::Commit(hash.to_owned()),
                Some(repo()),
            ),
        ] {
            assert_eq!(found, Ok(Given { repo: within, subject }));
        }
        assert_eq!(Subject::Commit(hash.to_owned()).to_string(), "commit-0123456789ab");
        assert_eq!(Subject::Pull(42).to_string(), "pr-42");
    }

    #[test]
    fn a_second_spelling_is_refused() {
        for text in [
            "",
            "0",
            "042",
            "+42",
            "-42",
            "4 2",
            "2147483648",
            "99999999999999999999",
            "#42",
            "pr-42",
            "http://github.com/o/n/pull/42",
            "https://github.com/o/n/pull/42/",
            "https://github.com/o/n/pull/042",
            "https://github.com/o/n/pull/42/files",
            "https://github.com/o/n/pull/42?w=1",
            "https://github.com/o/n/pull/42#top",
            "https://user@github.com/o/n/pull/42",
            "https://github.com:443/o/n/pull/42",
            "https://GitHub.com/o/n/pull/42",
            "https://github.com/o/../pull/42",
            "https://github.com/o/n/issues/42",
            "https://github.com//n/pull/42",
        ] {
            assert!(pull(text).is_err(), "{text}");
        }
        for text in [
            "https://github.com/o/n/actions/runs/123/attempts/2",
            "https://github.com/o/n/actions/runs/123/job/9",
            "https://github.com/o/n/runs/123",
            "https://github.com/o/n/actions/runs/0123",
        ] {
            assert!(run(text).is_err(), "{text}");
        }
        for text in ["0123456", "HEAD", &"A".repeat(40), &"g".repeat(40), &"0".repeat(41)] {
            assert!(commit(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_repository_has_two_names_and_maybe_a_host() {
        assert_eq!(slug("o/n").unwrap().on("github.com"), repo());
        assert_eq!(slug("ghe.corp/o/n").unwrap().on("github.com").host, "ghe.corp");
        for text in ["", "o", "o/", "/n", "o/n/", "a/b/c/d", "o/..", "GHE/o/n", "o/n m", "-o/n"] {
            assert!(slug(text).is_err(), "{text}");
        }
    }
}

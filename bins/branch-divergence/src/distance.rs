//! How far HEAD and the base's tip are apart, as git counts it here.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder},
    io,
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::DirBuilderExt as _,
    },
    path::{Path, PathBuf},
};

use shared::clock;

use crate::failure::{Asking, Failure, Trouble};

/// How far HEAD and a tip of the base are apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Distance {
    /// The base, as given or found.
    pub base: String,
    /// HEAD's commit, in full.
    pub head: String,
    /// HEAD's branch; empty when detached.
    pub head_branch: String,
    /// The base's tip, in full.
    pub tip: String,
    /// Commits of HEAD alone.
    pub ahead: u64,
    /// Commits of the tip alone.
    pub behind: u64,
    /// Short form of HEAD.
    pub short_head: String,
    /// Short form of the tip, or `unknown`.
    pub short_tip: String,
    /// Short form of the merge base, if there is one.
    pub merge_base: Option<String>,
    /// The repository's history is cut off.
    pub shallow: bool,
    /// The tip known before is not part of this one.
    pub rewritten: bool,
    /// Whether a merge would conflict: asked for, and known.
    pub conflicts: Option<Option<bool>>,
}

/// What HEAD is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Its commit, in full.
    pub id: String,
    /// Its branch; empty when detached.
    pub branch: String,
    /// The repository's history is cut off.
    pub shallow: bool,
}

/// Reads HEAD.
///
/// # Errors
///
/// [`Failure`].
pub fn head(asking: Asking<'_>) -> Result<Head, Failure> {
    let args = ["rev-parse", "--is-shallow-repository", "HEAD", "--symbolic-full-name", "HEAD"];
    let answer = asking.here(&args)?;
    if !answer.is_ok() {
        return Err(match &*answer.stderr {
            words if words.contains("ambiguous argument 'HEAD'") => {
                Failure::Blind(Trouble::HeadUnborn, "HEAD has no commit yet".to_owned())
            }
            words if words.contains("not a git repository") => {
                Failure::words(Trouble::RepositoryGone, &answer)
            }
            _ => Failure::words(Trouble::FetchFailed, &answer),
        });
    }
    let text = answer.text();
    let mut lines = text.lines();
    let shallow = lines.next() == Some("true");
    let id = lines.next().unwrap_or_default().to_owned();
    let name = lines.next().unwrap_or_default();
    let branch = if name == "HEAD" { "" } else { name.strip_prefix("refs/heads/").unwrap_or(name) };
    Ok(Head { id, branch: branch.to_owned(), shallow })
}

/// Whether `known` is no part of `tip`'s history. An old tip that is gone proves nothing.
///
/// # Errors
///
/// [`Failure`].
pub fn is_rewritten(asking: Asking<'_>, known: &str, tip: &str) -> Result<bool, Failure> {
    let args = ["merge-base", "--is-ancestor", known, tip];
    asking.here(&args).map(|answer| answer.code == 1)
}

/// Fills in the counts of `pair`, whose two commits are known, and the short forms.
///
/// # Errors
///
/// [`Failure`].
pub fn measure(asking: Asking<'_>, pair: Distance) -> Result<Distance, Failure> {
    let range = format!("{}...{}", pair.head, pair.tip);
    let counted = asking.here(&["rev-list", "--left-right", "--count", &range, "--"])?;
    let text = counted.text();
    let counts = text.trim().split_once('\t');
    let counts = counts.and_then(|(left, right)| left.parse().ok().zip(right.parse().ok()));
    let Some((ahead, behind)) = counts.filter(|_| counted.is_ok()) else {
        return Err(Failure::words(Trouble::FetchFailed, &counted));
    };
    let met = asking.here(&["merge-base", &pair.head, &pair.tip])?;
    // Code 1: they have nothing in common.
    if !met.is_ok() && met.code != 1 {
        return Err(Failure::words(Trouble::FetchFailed, &met));
    }
    let met = Some(met.text().trim().to_owned()).filter(|id| !id.is_empty());
    let short = short_forms(asking, &pair, met.as_deref())?;
    Ok(Distance {
        ahead,
        behind,
        short_head: short(&pair.head).unwrap_or_else(|| pair.head.clone()),
        short_tip: short(&pair.tip).unwrap_or_else(|| "unknown".to_owned()),
        merge_base: met.map(|id| short(&id).unwrap_or(id)),
        ..pair
    })
}

/// Git's short forms of the commits, from one call, which says each commit once.
fn short_forms(
    asking: Asking<'_>,
    pair: &Distance,
    met: Option<&str>,
) -> Result<impl Fn(&str) -> Option<String> + use<>, Failure> {
    let mut args = vec!["show", "-s", "--no-show-signature", "--format=%H %h"];
    args.extend([&*pair.head, &pair.tip].into_iter().chain(met));
    args.push("--");
    let listing = asking.here(&args)?.text();
    Ok(move |id: &str| {
        let mut pairs = listing.lines().filter_map(|line| line.split_once(' '));
        pairs.find(|(full, _)| *full == id).map(|(_, short)| short.to_owned())
    })
}

/// Whether a merge of `pair` would conflict, tried out with a throw-away object folder beside
/// `objects`; `None` when git can't say.
///
/// # Errors
///
/// Only [`Failure::GivenUp`].
pub fn conflicts(
    asking: Asking<'_>,
    objects: &Path,
    pair: &Distance,
) -> Result<Option<bool>, Failure> {
    let Ok(scratch) = Scratch::new() else { return Ok(None) };
    let alternate = quoted(objects);
    let environment = [
        ("GIT_OBJECT_DIRECTORY", scratch.0.as_os_str()),
        ("GIT_ALTERNATE_OBJECT_DIRECTORIES", alternate.as_os_str()),
    ];
    let args = ["merge-tree", "--write-tree", "--no-messages", &pair.head, &pair.tip];
    match asking.here_with(&args, &environment) {
        Ok(answer) => Ok([(0, false), (1, true)]
            .into_iter()
            .find_map(|(code, conflicts)| (answer.code == code).then_some(conflicts))),
        Err(Failure::Blind(..)) => Ok(None),
        Err(Failure::GivenUp) => Err(Failure::GivenUp),
    }
}

/// A path as an entry of a list that colons separate.
fn quoted(path: &Path) -> OsString {
    let mut quoted = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        quoted.extend(b"\\".iter().filter(|_| b"\"\\".contains(byte)));
        quoted.push(*byte);
    }
    quoted.push(b'"');
    OsString::from_vec(quoted)
}

/// A folder of our own for a moment.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Self> {
        let unique =
            format!("branch-divergence.{}.{}", std::process::id(), clock::monotonic().as_nanos());
        let path = std::env::temp_dir().join(unique);
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_for_a_list() {
        let quote = |path: &str| quoted(Path::new(path)).into_string().unwrap();
        assert_eq!(quote("/a b:c"), r#""/a b:c""#);
        assert_eq!(quote(r#"/a"b\c"#), r#""/a\"b\\c""#);
    }
}

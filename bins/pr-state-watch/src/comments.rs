//! What others wrote below a pull request, and whether it was changed where it stands. Pure.

use std::collections::BTreeSet;

use github::pull::Bodies;
use serde::{Deserialize, Serialize};

/// How long a change is told of: less than the time after which a reader is told again.
const STANDS: i64 = 5 * 3600;

/// The comments as they were read last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comments {
    count: u64,
    digest: String,
    own_threads: BTreeSet<String>,
    /// When the pull request had changed last, by the time that they were read.
    pub updated_at: String,
    changed: Option<Changed>,
}

/// A change without a change of count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Changed {
    digest: String,
    at: i64,
}

impl Comments {
    /// Takes over what was read; `known` is what was read before. From an incomplete read nothing
    /// is known but whose threads they are.
    #[must_use]
    pub fn read(known: Option<&Self>, bodies: &Bodies, updated_at: &str, now: i64) -> Self {
        let own_threads = bodies.own_threads.clone();
        let updated_at = updated_at.to_owned();
        let known_whole = known.filter(|known| !known.digest.is_empty());
        if !bodies.complete {
            let old = known.cloned().unwrap_or_default();
            return Self { own_threads, updated_at, ..old };
        }
        let Bodies { count, digest, .. } = bodies.clone();
        let changed = match known_whole {
            Some(known) if known.count != count => None,
            Some(known) if known.digest != digest => {
                Some(Changed { digest: digest.clone(), at: now })
            }
            Some(known) => known.changed.clone(),
            None => None,
        };
        Self { count, digest, own_threads, updated_at, changed }
    }

    /// The digest of a change that is to be told of.
    #[must_use]
    pub fn change(&self, now: i64) -> Option<&str> {
        let fresh = |changed: &&Changed| now.abs_diff(changed.at) < STANDS.unsigned_abs();
        self.changed.as_ref().filter(fresh).map(|changed| &*changed.digest)
    }

    /// Whether nobody but ourselves has written in `thread`.
    #[must_use]
    pub fn is_own(&self, thread: &str) -> bool {
        self.own_threads.contains(thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(count: u64, digest: &str, complete: bool) -> Bodies {
        Bodies { count, digest: digest.to_owned(), own_threads: BTreeSet::new(), complete }
    }

    #[test]
    fn a_change_without_a_change_of_count_is_told_for_five_hours() {
        let first = Comments::read(None, &bodies(2, "a", true), "t0", 0);
        assert_eq!(first.change(0), None);
        let edited = Comments::read(Some(&first), &bodies(2, "b", true), "t1", 10);
        assert_eq!(edited.change(10), Some("b"));
        // Another look that finds the same keeps the time.
        let same = Comments::read(Some(&edited), &bodies(2, "b", true), "t1", 60);
        assert_eq!((same.change(10 + STANDS - 1), same.change(10 + STANDS)), (Some("b"), None));
        let again = Comments::read(Some(&same), &bodies(2, "c", true), "t2", 70);
        assert_eq!(again.change(70), Some("c"));
    }

    #[test]
    fn one_more_or_less_is_no_such_change() {
        let first = Comments::read(None, &bodies(2, "a", true), "t0", 0);
        let edited = Comments::read(Some(&first), &bodies(2, "b", true), "t0", 1);
        for count in [1, 3] {
            let other = Comments::read(Some(&edited), &bodies(count, "c", true), "t1", 2);
            assert_eq!(other.change(2), None);
        }
    }

    #[test]
    fn an_incomplete_read_tells_nothing() {
        let part = Comments::read(None, &bodies(50, "a", false), "t0", 0);
        let whole = Comments::read(Some(&part), &bodies(50, "b", true), "t1", 1);
        assert_eq!(whole.change(1), None);
        let part = Comments::read(Some(&whole), &bodies(50, "c", false), "t2", 2);
        assert_eq!(part.change(2), None);
    }
}

//! What one look saw: a pull request's own facts, or a commit's.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use shared::gh::Trouble;

use crate::verdict::Rows;

/// Whether it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum State {
    /// Somebody works on it.
    Open,
    /// It was closed without a merge.
    Closed,
    /// It was merged.
    Merged,
    /// A word that nobody knows.
    Unknown,
}

impl State {
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "OPEN" => Self::Open,
            "CLOSED" => Self::Closed,
            "MERGED" => Self::Merged,
            _ => Self::Unknown,
        }
    }

    /// The word that is printed.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "OPEN",
            Self::Closed => "CLOSED",
            Self::Merged => "MERGED",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// Whether nothing follows that is worth a look.
    #[must_use]
    pub fn is_end(self) -> bool {
        matches!(self, Self::Closed | Self::Merged)
    }
}

/// Whether it could be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mergeability {
    /// It could.
    Mergeable,
    /// It contradicts its base.
    Conflicting,
    /// Its base has moved on, and the rules want it to follow.
    Behind,
    /// The rules forbid it as yet.
    Blocked,
    /// Not known: normal for some seconds after a push.
    Pending,
}

/// What `mergeable` and `mergeStateStatus` come to.
#[must_use]
pub fn mergeability(mergeable: &str, status: &str) -> Mergeability {
    match (mergeable, status) {
        ("CONFLICTING", _) | (_, "DIRTY") => Mergeability::Conflicting,
        (_, "BEHIND") => Mergeability::Behind,
        (_, "BLOCKED") => Mergeability::Blocked,
        ("MERGEABLE", "CLEAN" | "HAS_HOOKS" | "UNSTABLE") => Mergeability::Mergeable,
        _ => Mergeability::Pending,
    }
}

/// What the reviewers have decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Review {
    /// Nothing, and nobody waits for it. GitHub sends an empty text, or null.
    None,
    /// Yes.
    Approved,
    /// No.
    ChangesRequested,
    /// Nothing, and the rules want a review.
    ReviewRequired,
    /// A word that nobody knows, or it could not be read.
    Unknown,
}

impl Review {
    /// What `reviewDecision` comes to.
    #[must_use]
    pub fn of(word: Option<&str>) -> Self {
        match word {
            None | Some("") => Self::None,
            Some("APPROVED") => Self::Approved,
            Some("CHANGES_REQUESTED") => Self::ChangesRequested,
            Some("REVIEW_REQUIRED") => Self::ReviewRequired,
            Some(_) => Self::Unknown,
        }
    }

    /// The word that is printed.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Approved => "APPROVED",
            Self::ChangesRequested => "CHANGES_REQUESTED",
            Self::ReviewRequired => "REVIEW_REQUIRED",
            Self::Unknown => "UNKNOWN",
        }
    }
}

/// The review threads that wait for somebody.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Threads {
    /// The ids of those that are neither resolved nor outdated.
    pub open: Vec<String>,
    /// There are no others.
    pub complete: bool,
}

/// What others than ourselves have written below a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bodies {
    /// How many comments.
    pub count: u64,
    /// The digest of their texts.
    pub digest: String,
    /// The threads in which nobody but ourselves has written.
    pub own_threads: BTreeSet<String>,
    /// Nothing was left out.
    pub complete: bool,
}

/// A pull request, as far as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    /// Whether it is open.
    pub state: State,
    /// It isn't ready for review.
    pub draft: bool,
    /// The hash of its newest commit, which the rows are of.
    pub head: String,
    /// The branch that it is to be merged into.
    pub base: String,
    /// Where it can be read.
    pub url: String,
    /// When anything about it changed.
    pub updated_at: String,
    /// Whether it could be merged.
    pub mergeability: Mergeability,
    /// What the reviewers have decided.
    pub review: Review,
    /// The checks of its head.
    pub rows: Rows,
    /// A run of it waits for somebody's approval.
    pub needs_approval: bool,
    /// The review threads.
    pub threads: Threads,
    /// What others have written, if that was asked for.
    pub bodies: Option<Bodies>,
    /// Why less was read than there is: enough to see red, never to see green.
    pub degraded: Option<Trouble>,
}

/// A commit, as far as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its checks.
    pub rows: Rows,
    /// A run of it waits for somebody's approval.
    pub needs_approval: bool,
    /// Why less was read than there is.
    pub degraded: Option<Trouble>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_mergeability() {
        for (mergeable, status, want) in [
            ("CONFLICTING", "DIRTY", Mergeability::Conflicting),
            ("CONFLICTING", "UNKNOWN", Mergeability::Conflicting),
            ("UNKNOWN", "DIRTY", Mergeability::Conflicting),
            ("MERGEABLE", "BEHIND", Mergeability::Behind),
            ("MERGEABLE", "BLOCKED", Mergeability::Blocked),
            ("MERGEABLE", "CLEAN", Mergeability::Mergeable),
            ("MERGEABLE", "HAS_HOOKS", Mergeability::Mergeable),
            ("MERGEABLE", "UNSTABLE", Mergeability::Mergeable),
            ("MERGEABLE", "DRAFT", Mergeability::Pending),
            ("MERGEABLE", "UNKNOWN", Mergeability::Pending),
            ("MERGEABLE", "FROBNICATED", Mergeability::Pending),
            ("UNKNOWN", "CLEAN", Mergeability::Pending),
            ("FROBNICATED", "CLEAN", Mergeability::Pending),
            ("", "", Mergeability::Pending),
        ] {
            assert_eq!(mergeability(mergeable, status), want, "{mergeable} {status}");
        }
    }

    #[test]
    fn no_decision_is_none_and_an_unknown_one_unknown() {
        for (word, want) in [
            (None, "NONE"),
            (Some(""), "NONE"),
            (Some("APPROVED"), "APPROVED"),
            (Some("CHANGES_REQUESTED"), "CHANGES_REQUESTED"),
            (Some("REVIEW_REQUIRED"), "REVIEW_REQUIRED"),
            (Some("FROBNICATED"), "UNKNOWN"),
        ] {
            assert_eq!(Review::of(word).word(), want);
        }
        assert_eq!(State::of("FROBNICATED"), State::Unknown);
    }
}

//! What one look saw: a pull request's own facts, or a commit's.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use shared::{gh::Trouble, line};

use crate::{
    row::{Sent as SentRow, Suite},
    verdict::Rows,
};

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
    fn of(word: &str) -> Self {
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

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SentRepository {
    pub(crate) pull_request: Option<SentPull>,
    pub(crate) object: Option<SentCommit>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SentPull {
    state: Option<String>,
    is_draft: Option<bool>,
    head_ref_oid: Option<String>,
    base_ref_name: Option<String>,
    url: Option<String>,
    updated_at: Option<String>,
    mergeable: Option<String>,
    merge_state_status: Option<String>,
    review_decision: Option<String>,
    commits: Option<Nodes<SentCommitNode>>,
    review_threads: Option<Nodes<SentThread>>,
    bodies: Option<Nodes<SentThread>>,
    comments: Option<Nodes<SentComment>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SentCommitNode {
    commit: Option<SentCommit>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SentCommit {
    oid: Option<String>,
    status_check_rollup: Option<SentRollup>,
    check_suites: Option<Nodes<Suite>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SentRollup {
    contexts: Option<Nodes<SentRow>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SentThread {
    id: String,
    is_resolved: Option<bool>,
    is_outdated: Option<bool>,
    comments: Option<Nodes<SentComment>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SentComment {
    id: String,
    body: Option<String>,
    viewer_did_author: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Nodes<T> {
    page_info: Option<PageInfo>,
    nodes: Option<Vec<Option<T>>>,
}

impl<T> Default for Nodes<T> {
    fn default() -> Self {
        Self { page_info: None, nodes: None }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PageInfo {
    has_next_page: bool,
    end_cursor: Option<String>,
}

impl<T> Nodes<T> {
    /// Where the next page begins. A page without an end to go on from is the last.
    fn after(&self) -> Option<String> {
        let info = self.page_info.as_ref().filter(|info| info.has_next_page)?;
        info.end_cursor.clone()
    }

    fn is_last(&self) -> bool {
        self.page_info.as_ref().is_some_and(|info| !info.has_next_page)
    }

    fn into_list(self) -> impl Iterator<Item = T> {
        self.nodes.unwrap_or_default().into_iter().flatten()
    }
}

/// A page of rows, of which commit, and where the next one begins.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) head: String,
    pub(crate) rows: Rows,
    pub(crate) after: Option<String>,
    pub(crate) needs_approval: bool,
}

impl SentCommit {
    pub(crate) fn page(self) -> Page {
        let waits = |suite: &Suite| {
            suite.workflow_run.is_some() && suite.conclusion.as_deref() == Some("ACTION_REQUIRED")
        };
        let needs_approval =
            self.check_suites.is_some_and(|suites| suites.into_list().any(|suite| waits(&suite)));
        let head = self.oid.unwrap_or_default();
        // Without a rollup there is no row, and that is all there is to know.
        let Some(rollup) = self.status_check_rollup else {
            let rows = Rows { list: Vec::new(), complete: true };
            return Page { head, rows, after: None, needs_approval };
        };
        let contexts = rollup.contexts.unwrap_or_default();
        let (after, complete) = (contexts.after(), contexts.is_last());
        let list = contexts.into_list().map(SentRow::row).collect();
        Page { head, rows: Rows { list, complete }, after, needs_approval }
    }
}

impl SentPull {
    /// The pull request and its first page of rows; `None` when the rows are of another commit
    /// than the head, as just after a push.
    pub(crate) fn pull(self) -> Option<(Pull, Option<String>)> {
        let head = self.head_ref_oid.unwrap_or_default();
        let page = self.commits.and_then(|commits| commits.into_list().last());
        let page = page.and_then(|node| node.commit).map(SentCommit::page)?;
        if head.is_empty() || page.head != head {
            return None;
        }
        let bodies = self.bodies.map(|threads| bodies(threads, self.comments.unwrap_or_default()));
        let threads = self.review_threads.map(threads).unwrap_or_default();
        let word = |text: &Option<String>| text.clone().unwrap_or_default();
        let pull = Pull {
            state: State::of(&word(&self.state)),
            draft: self.is_draft.unwrap_or_default(),
            base: self.base_ref_name.unwrap_or_default(),
            url: self.url.unwrap_or_default(),
            updated_at: self.updated_at.unwrap_or_default(),
            mergeability: mergeability(&word(&self.mergeable), &word(&self.merge_state_status)),
            review: Review::of(self.review_decision.as_deref()),
            rows: page.rows,
            needs_approval: page.needs_approval,
            threads,
            bodies,
            degraded: None,
            head,
        };
        Some((pull, page.after))
    }

    /// What a document that asked for nothing else says of the comments.
    pub(crate) fn into_bodies(self) -> Option<Bodies> {
        Some(bodies(self.bodies?, self.comments.unwrap_or_default()))
    }

    /// A later page of rows.
    pub(crate) fn page(self) -> Page {
        let commit = self.commits.and_then(|commits| commits.into_list().last());
        let page = commit.and_then(|node| node.commit).map(SentCommit::page).unwrap_or_default();
        let head = self.head_ref_oid.unwrap_or_default();
        let same = page.head == head;
        Page { head: if same { head } else { String::new() }, ..page }
    }
}

fn threads(sent: Nodes<SentThread>) -> Threads {
    let complete = sent.is_last();
    let waits = |thread: &SentThread| {
        thread.is_resolved == Some(false) && thread.is_outdated == Some(false)
    };
    let open = sent.into_list().filter(waits).map(|thread| thread.id).collect();
    Threads { open, complete }
}

fn bodies(threads: Nodes<SentThread>, comments: Nodes<SentComment>) -> Bodies {
    let mut complete = threads.is_last() && comments.is_last();
    let mut texts = BTreeMap::new();
    let mut note = |comment: SentComment| {
        let is_own = comment.viewer_did_author == Some(true);
        if !is_own {
            texts.insert(comment.id, comment.body.unwrap_or_default());
        }
        is_own
    };
    let mut own_threads = BTreeSet::new();
    for thread in threads.into_list() {
        let inside = thread.comments.unwrap_or_default();
        let whole = inside.is_last();
        complete &= whole;
        let own: Vec<bool> = inside.into_list().map(&mut note).collect();
        if whole && !own.is_empty() && own.iter().all(|own| *own) {
            own_threads.insert(thread.id);
        }
    }
    for comment in comments.into_list() {
        note(comment);
    }
    let joined: Vec<String> = texts.iter().map(|(id, text)| format!("{id}\u{1f}{text}")).collect();
    Bodies {
        count: u64::try_from(texts.len()).unwrap_or(u64::MAX),
        digest: line::digest(joined.join("\u{1e}").as_bytes()),
        own_threads,
        complete,
    }
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

    fn bodies_of(json: &str) -> Bodies {
        serde_json::from_str::<SentPull>(json).unwrap().into_bodies().unwrap()
    }

    #[test]
    fn ones_own_comments_are_left_out() {
        let last = r#""pageInfo":{"hasNextPage":false}"#;
        let thread = |id: &str, own: bool, body: &str| {
            format!(
                r#"{{"id":"{id}","comments":{{{last},"nodes":[{{"id":"{id}c","body":"{body}","viewerDidAuthor":{own}}}]}}}}"#
            )
        };
        let all = |mine: &str, theirs: &str| {
            let (mine, theirs) = (thread("m", true, mine), thread("t", false, theirs));
            bodies_of(&format!(
                r#"{{"bodies":{{{last},"nodes":[{mine},{theirs}]}},"comments":{{{last},"nodes":[]}}}}"#
            ))
        };
        let first = all("a", "b");
        assert_eq!((first.count, first.complete), (1, true));
        assert_eq!(first.own_threads.iter().collect::<Vec<_>>(), ["m"]);
        assert_eq!(all("changed", "b"), first);
        assert_ne!(all("a", "changed").digest, first.digest);
    }
}

//! What GitHub sends: every part may be missing, every word may be one that nobody knows.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Deserialize;
use shared::line;

use crate::{
    pull::{Bodies, Pull, Review, State, Threads, mergeability},
    row::{Class, Identity, Kind, Row, Run, check_run, context, kept},
    verdict::Rows,
};

/// A row as GitHub sends it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SentRow {
    #[serde(rename = "__typename")]
    typename: Option<String>,
    database_id: Option<u64>,
    name: Option<String>,
    status: Option<String>,
    conclusion: Option<String>,
    started_at: Option<String>,
    completed_at: Option<String>,
    details_url: Option<String>,
    check_suite: Option<Suite>,
    context: Option<String>,
    state: Option<String>,
    target_url: Option<String>,
    is_required: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Suite {
    conclusion: Option<String>,
    workflow_run: Option<WorkflowRun>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WorkflowRun {
    database_id: Option<u64>,
    event: Option<String>,
    workflow: Option<Workflow>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Workflow {
    database_id: Option<u64>,
    name: Option<String>,
}

impl SentRow {
    fn row(self) -> Row {
        match self.typename.as_deref() {
            Some("CheckRun") => self.check_run(),
            Some("StatusContext") => {
                context(self.context, self.state, self.target_url, self.is_required)
            }
            // A kind that nobody has heard of: it counts, and never passes.
            _ => Row {
                class: Class::Unknown,
                ..context(self.name.or(self.context), None, None, self.is_required)
            },
        }
    }

    fn check_run(self) -> Row {
        let status = self.status.unwrap_or_default();
        let conclusion = self.conclusion.unwrap_or_default();
        let suite = self.check_suite.unwrap_or_default();
        let run = suite.workflow_run.unwrap_or_default();
        let workflow = run.workflow.unwrap_or_default();
        let ids = run.database_id.zip(workflow.database_id);
        let run = ids.zip(run.event).map(|((id, definition), event)| Run {
            id,
            definition,
            event,
            is_cancelled: suite.conclusion.as_deref() == Some("CANCELLED"),
        });
        // A workflow that an organisation's rule defines can be without a name.
        let id = |id: u64| format!("workflow {id}");
        let named = workflow.name.filter(|name| !name.is_empty());
        let workflow = named.or_else(|| workflow.database_id.map(id)).unwrap_or_default();
        let class = check_run(&status, &conclusion);
        Row {
            identity: Identity {
                kind: Kind::Run,
                workflow: kept(workflow),
                name: kept(self.name.unwrap_or_default()),
            },
            class,
            is_completed: status == "COMPLETED",
            run,
            id: self.database_id.unwrap_or_default(),
            started_at: time(self.started_at.as_deref()),
            completed_at: time(self.completed_at.as_deref()),
            is_required: self.is_required.unwrap_or_default(),
            url: self.details_url.filter(|_| class == Class::Failed).unwrap_or_default(),
        }
    }
}

/// A time; the zero time that some programs write for "not yet" is none.
fn time(text: Option<&str>) -> Option<Timestamp> {
    text?.parse().ok().filter(|time: &Timestamp| *time > Timestamp::UNIX_EPOCH)
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

    fn sent(json: &str) -> Row {
        serde_json::from_str::<SentRow>(json).unwrap().row()
    }

    #[test]
    fn a_row_is_read_whatever_it_lacks() {
        let whole = sent(
            r#"{"__typename":"CheckRun","databaseId":7,"name":"test","status":"COMPLETED",
            "conclusion":"SUCCESS","startedAt":"2026-01-01T00:00:00Z","completedAt":"0001-01-01T00:00:00Z",
            "detailsUrl":"https://github.com/o/n/runs/7","isRequired":true,"checkSuite":{"conclusion":"CANCELLED",
            "workflowRun":{"databaseId":9,"event":"push","workflow":{"databaseId":3,"name":"CI"}}}}"#,
        );
        assert_eq!(whole.identity.full(), "CI / test");
        let run = Run { id: 9, definition: 3, event: "push".into(), is_cancelled: true };
        assert_eq!(whole.run, Some(run));
        assert!(whole.started_at.is_some() && whole.completed_at.is_none() && whole.is_required);

        let bare = sent(r#"{"__typename":"CheckRun","checkSuite":null,"name":null}"#);
        assert_eq!((bare.class, bare.run), (Class::Pending, None));
        let nameless = sent(
            r#"{"__typename":"CheckRun","name":"x","checkSuite":{"workflowRun":{"workflow":{"databaseId":3,"name":null}}}}"#,
        );
        assert_eq!(nameless.identity.full(), "workflow 3 / x");
        assert_eq!(sent(r#"{"__typename":"Marvel","name":"x"}"#).class, Class::Unknown);
        assert_eq!(sent("{}").class, Class::Unknown);
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

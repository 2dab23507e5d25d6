//! What the paths can tell when the budget for documents is spent: enough to see red.

use serde::Deserialize;
use shared::{
    gh::{Cached, Gh, Silence, Trouble},
    wait::Waiter,
};

use crate::{
    pull::{Commit, Mergeability, Pull, Review, State, Threads, mergeability},
    row,
    target::{Subject, Target},
    verdict::Rows,
};

/// The paths of one subject, and what they held.
#[derive(Debug)]
pub(crate) struct Fallback {
    target: Target,
    pull: Option<Cached<SentPull>>,
    statuses: Option<(String, Cached<SentStatuses>)>,
}

/// What the paths hold.
pub(crate) enum Held {
    Pull(Box<Pull>),
    Commit(Box<Commit>),
}

#[derive(Debug, Clone, Deserialize)]
struct SentPull {
    state: String,
    #[serde(default)]
    merged: bool,
    #[serde(default)]
    draft: bool,
    html_url: String,
    updated_at: Option<String>,
    head: Head,
    base: Base,
    mergeable: Option<bool>,
    mergeable_state: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Head {
    sha: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Base {
    #[serde(rename = "ref")]
    name: String,
}

#[derive(Debug, Clone, Deserialize)]
struct SentStatuses {
    statuses: Vec<SentStatus>,
}

#[derive(Debug, Clone, Deserialize)]
struct SentStatus {
    context: Option<String>,
    state: Option<String>,
    target_url: Option<String>,
}

impl Fallback {
    pub(crate) fn new(target: &Target) -> Self {
        let pull = match target.subject {
            Subject::Pull(number) => {
                Some(Cached::new(format!("repos/{}/pulls/{number}", target.repo.slug())))
            }
            Subject::Run(_) | Subject::Commit(_) => None,
        };
        Self { target: target.clone(), pull, statuses: None }
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// What can be seen without documents, because of `why`.
    pub(crate) fn read(
        &mut self,
        gh: &Gh,
        why: &Trouble,
        waiter: &Waiter,
    ) -> Result<Held, Silence> {
        if let Subject::Commit(hash) = self.target.subject.clone() {
            let rows = self.statuses(&hash, gh, waiter)?;
            let degraded = Some(why.clone());
            return Ok(Held::Commit(Box::new(Commit { rows, needs_approval: false, degraded })));
        }
        let Some(cached) = &mut self.pull else {
            return Err(Silence::Trouble(why.clone()));
        };
        let sent = cached.read(gh, waiter)?;
        let rows = self.statuses(&sent.head.sha, gh, waiter)?;
        Ok(Held::Pull(Box::new(pull(sent, rows, why))))
    }

    fn statuses(&mut self, hash: &str, gh: &Gh, waiter: &Waiter) -> Result<Rows, Silence> {
        if self.statuses.as_ref().is_none_or(|(known, _)| known != hash) {
            let slug = self.target.repo.slug();
            let path = format!("repos/{slug}/commits/{hash}/status?per_page=100");
            self.statuses = Some((hash.to_owned(), Cached::new(path)));
        }
        let Some((_, cached)) = &mut self.statuses else { return Ok(Rows::default()) };
        let read = cached.read(gh, waiter)?;
        let row = |status: SentStatus| {
            let state = status.state.map(|state| state.to_ascii_uppercase());
            row::context(status.context, state, status.target_url, None)
        };
        // Check runs are left unread, so this is never all.
        Ok(Rows { list: read.statuses.into_iter().map(row).collect(), complete: false })
    }
}

fn pull(sent: SentPull, rows: Rows, why: &Trouble) -> Pull {
    let state = match &*sent.state {
        "closed" if sent.merged => State::Merged,
        "closed" => State::Closed,
        "open" => State::Open,
        _ => State::Unknown,
    };
    let mergeable = match sent.mergeable {
        Some(true) => "MERGEABLE",
        Some(false) => "CONFLICTING",
        None => "UNKNOWN",
    };
    let status = sent.mergeable_state.unwrap_or_default().to_ascii_uppercase();
    let mergeability: Mergeability = mergeability(mergeable, &status);
    Pull {
        state,
        draft: sent.draft,
        head: sent.head.sha,
        base: sent.base.name,
        url: sent.html_url,
        updated_at: sent.updated_at.unwrap_or_default(),
        mergeability,
        review: Review::Unknown,
        rows,
        needs_approval: false,
        threads: Threads::default(),
        bodies: None,
        degraded: Some(why.clone()),
    }
}

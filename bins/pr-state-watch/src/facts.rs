//! What holds of a pull request: its facts, the conditions they make, and the reason of its
//! state. Pure.

use github::{
    pull::{Mergeability, Pull, Review, State},
    verdict::{Named, Outcome, Verdict},
};
use shared::reading::{ResetsOn, Severity};

use crate::{comments::Comments, event::Checks};

/// What one look found out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts are independent of each other")]
pub struct Facts {
    /// Whether it is open.
    pub state: State,
    /// What the reviewers decided.
    pub review: Review,
    /// It isn't ready for review.
    pub draft: bool,
    /// The hash of its newest commit.
    pub head: String,
    /// Whether it could be merged.
    pub mergeability: Mergeability,
    /// What the checks come to.
    pub checks: Checks,
    /// How many checks are not decided.
    pub pending: u64,
    /// The checks that failed and weren't expected to.
    pub red: Vec<Named>,
    /// All rows were read.
    pub rows_complete: bool,
    /// How many threads of others wait.
    pub unresolved: u64,
    /// All threads were read.
    pub threads_complete: bool,
    /// A comment's text was changed: its digest.
    pub changed_text: Option<String>,
    /// Less was read than there is, since the budget is spent.
    pub degraded: bool,
    can_pass: bool,
}

/// Something that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// Its name.
    pub key: String,
    /// How much a reader cares.
    pub severity: Severity,
    /// What ends it.
    pub resets_on: ResetsOn,
    /// It in a line.
    pub brief: String,
}

impl Facts {
    /// The facts of `pull`, whose rows come to `verdict`. `settled`: no more rows are on their way.
    #[must_use]
    pub fn new(
        pull: &Pull,
        verdict: &Verdict,
        settled: bool,
        known_red: &[String],
        comments: Option<&Comments>,
        now: i64,
    ) -> Self {
        let expected = |named: &Named| known_red.iter().any(|name| named.identity.is_called(name));
        let red: Vec<Named> =
            verdict.failed.iter().filter(|named| !expected(named)).cloned().collect();
        let own = |id: &String| comments.is_some_and(|comments| comments.is_own(id));
        let unresolved = pull.threads.open.iter().filter(|id| !own(id)).map(|_| 1_u64).sum();
        let changed = comments.and_then(|comments| comments.change(now)).map(str::to_owned);
        let some = verdict.passed > 0 || !verdict.failed.is_empty();
        let done = verdict.pending == 0 && verdict.unknown == 0 && !verdict.incomplete;
        let can_pass = some && done && verdict.cancelled.is_empty() && red.is_empty() && settled;
        Self {
            state: pull.state,
            review: pull.review,
            draft: pull.draft,
            head: pull.head.clone(),
            mergeability: pull.mergeability,
            checks: checks(verdict, settled),
            pending: verdict.pending,
            red,
            rows_complete: !verdict.incomplete,
            unresolved,
            threads_complete: pull.threads.complete,
            changed_text: changed,
            degraded: pull.degraded.is_some(),
            can_pass,
        }
    }

    /// Why the pull request is where it is: the first that matches. A known blocker beats
    /// anything unsettled.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        let review = |review| self.review == review;
        let mergeability = |mergeability| self.mergeability == mergeability;
        let table = [
            (self.state == State::Merged, "merged"),
            (self.state == State::Closed, "closed"),
            (self.state == State::Unknown, "state_unknown"),
            (self.draft, "draft"),
            (!self.red.is_empty(), "checks_failed"),
            (review(Review::ChangesRequested), "changes_requested"),
            (self.unresolved > 0, "unresolved_threads"),
            (mergeability(Mergeability::Conflicting), "conflict"),
            (mergeability(Mergeability::Behind), "behind"),
            (!self.rows_complete, "checks_incomplete"),
            (matches!(self.checks, Checks::Pending | Checks::None), "checks_pending"),
            (!self.can_pass, "checks_unknown"),
            (!self.threads_complete, "threads_incomplete"),
            (review(Review::Unknown), "review_unknown"),
            (review(Review::ReviewRequired), "review_required"),
            (!mergeability(Mergeability::Mergeable), "mergeability_pending"),
        ];
        table.into_iter().find(|(holds, _)| *holds).map_or("ready", |(_, reason)| reason)
    }

    /// All that holds, in the order of the table.
    #[must_use]
    pub fn holdings(&self) -> Vec<Holding> {
        let holding = |key: &str, severity, resets_on, brief: &str| Holding {
            key: key.to_owned(),
            severity,
            resets_on,
            brief: brief.to_owned(),
        };
        let (wake, immediate) = (Severity::Wake, Severity::Immediate);
        let (revision, never) = (ResetsOn::Revision, ResetsOn::Never);
        match self.state {
            State::Merged => {
                return vec![holding("merged", Severity::Terminal, revision, "it was merged")];
            }
            State::Closed => {
                let brief = "it was closed without a merge";
                return vec![holding("closed", Severity::Terminal, revision, brief)];
            }
            State::Open | State::Unknown => {}
        }
        let red = |named: &Named| {
            let (key, brief) = (format!("red:{}", named.shown), format!("{} failed", named.shown));
            holding(&key, wake, revision, &brief)
        };
        let mut found: Vec<Holding> = self.red.iter().map(red).collect();
        if self.review == Review::ChangesRequested {
            found.push(holding("changes_requested", wake, never, "a reviewer wants changes"));
        }
        if self.unresolved > 0 {
            let brief = format!("{} review threads are unresolved", self.unresolved);
            found.push(holding("unresolved_threads", wake, never, &brief));
        }
        if let Some(digest) = &self.changed_text {
            let key = format!("review_comment_bodies:{digest}");
            found.push(holding(&key, wake, never, "the text of a comment was changed"));
        }
        match self.mergeability {
            Mergeability::Conflicting => {
                let brief = "it conflicts with its base; no check will start";
                found.push(holding("conflict", immediate, revision, brief));
            }
            Mergeability::Behind => {
                found.push(holding("behind", wake, revision, "its base has moved on"));
            }
            _ => {}
        }
        if self.reason() == "ready" {
            found.push(holding("ready", wake, revision, "nothing stands in the way of a merge"));
        }
        found
    }

    /// Whether this look could see that `key`, which held on the head `since`, holds no more.
    #[must_use]
    pub fn can_end(&self, key: &str, since: Option<&str>) -> bool {
        if self.state.is_end() {
            return true;
        }
        let other_head = since.is_some_and(|since| since != self.head);
        match key {
            // While GitHub works it out after a push, what was known stands.
            "conflict" | "behind" => self.mergeability != Mergeability::Pending,
            "changes_requested" => !self.degraded && self.review != Review::Unknown,
            "unresolved_threads" => !self.degraded && self.threads_complete,
            "ready" => other_head || !(self.degraded || self.reason() == "mergeability_pending"),
            key if key.starts_with("red:") => other_head || self.rows_complete,
            _ => !self.degraded,
        }
    }
}

fn checks(verdict: &Verdict, settled: bool) -> Checks {
    match verdict.outcome {
        Outcome::Failure => Checks::Failure,
        Outcome::InProgress if verdict.incomplete => Checks::Incomplete,
        Outcome::InProgress if verdict.pending > 0 => Checks::Pending,
        Outcome::InProgress => Checks::Unknown,
        Outcome::Cancelled => Checks::Cancelled,
        Outcome::Success if settled => Checks::Success,
        Outcome::Success => Checks::Pending,
        Outcome::Empty => Checks::None,
    }
}

#[cfg(test)]
mod tests;

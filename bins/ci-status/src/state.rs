//! What a target comes to at one look. Pure.

use github::{
    pull,
    target::{Subject, Target},
    verdict::{Outcome, Required, Rows, Verdict, judge},
};

use crate::{
    decide::{Said, Terms},
    probe::Saw,
    run,
};

/// The most names that a line lists of each kind.
const NAMED: usize = 100;

/// What the checks of a commit come to, as it is printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checks {
    /// The names of those that failed.
    pub failed: Vec<String>,
    /// The names of those that were given up.
    pub cancelled: Vec<String>,
    /// How many are not decided.
    pub pending: u64,
    /// How many passed.
    pub passed: u64,
    /// How many were left out for a newer run of the same check.
    pub superseded: u64,
    /// How many say something that nobody knows.
    pub unknown: u64,
    /// Two runs of one check overlapped and don't agree.
    pub ambiguous: bool,
    /// Not all checks could be read.
    pub incomplete: bool,
    /// The base branch's rules can't be read.
    pub reported_only: bool,
}

/// What a target comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// How far it is.
    pub status: &'static str,
    /// What it came to.
    pub conclusion: Option<&'static str>,
    /// Why there is no conclusion, or why it starts over.
    pub reason: Option<&'static str>,
    /// Where to read more.
    pub url: String,
    /// The commit.
    pub head: String,
    /// The attempt, from 1.
    pub attempt: u64,
    /// What the checks come to.
    pub checks: Option<Checks>,
    /// More names failed than a line lists.
    pub is_cut: bool,
    /// There is no check to judge.
    pub is_empty: bool,
    /// Less was seen than there is.
    pub is_degraded: bool,
}

/// What was seen comes to this, if the set of rows has settled; and the verdict on the rows.
#[must_use]
pub fn of(
    saw: &Saw,
    target: &Target,
    said: Option<&Said>,
    terms: &Terms,
) -> (State, Option<Verdict>) {
    match saw {
        Saw::Run(run) => (of_run(run, target), None),
        Saw::Pull(pull, required) => {
            let end = end_of(pull, said, terms);
            let url = address(&pull.url, target);
            let mut state = State {
                url,
                head: pull.head.clone(),
                is_degraded: pull.degraded.is_some(),
                ..State::default()
            };
            let verdict = state.judge(&pull.rows, required.as_ref(), pull.needs_approval, terms);
            if let Some(reason) = end {
                state.end(reason);
                state.url = address(&pull.url, target);
            }
            (state, Some(verdict))
        }
        Saw::Commit(commit) => {
            let mut state = State {
                url: address("", target),
                head: hash(target),
                is_degraded: commit.degraded.is_some(),
                ..State::default()
            };
            let verdict = state.judge(&commit.rows, None, commit.needs_approval, terms);
            (state, Some(verdict))
        }
    }
}

fn of_run(sent: &run::Run, target: &Target) -> State {
    let word = |text: &Option<String>| text.clone().unwrap_or_default();
    let (status, conclusion, reason) = run::state(&word(&sent.status), &word(&sent.conclusion));
    let url = address(&sent.html_url, target);
    let (head, attempt) = (sent.head_sha.clone(), sent.run_attempt);
    State { status, conclusion, reason, url, head, attempt, ..State::default() }
}

fn end_of(pull: &pull::Pull, said: Option<&Said>, terms: &Terms) -> Option<&'static str> {
    let moved = said.is_some_and(|said| !said.head.is_empty() && said.head != pull.head);
    match pull.state {
        pull::State::Merged => Some("merged"),
        pull::State::Closed => Some("closed"),
        _ if terms.pin_head && moved => Some("superseded"),
        _ => None,
    }
}

/// Where a target can be read, by GitHub's own word if that is an address.
fn address(url: &str, target: &Target) -> String {
    let made = || match &target.subject {
        Subject::Run(id) => format!("https://{}/actions/runs/{id}", target.repo),
        Subject::Pull(number) => format!("https://{}/pull/{number}", target.repo),
        Subject::Commit(hash) => format!("https://{}/commit/{hash}", target.repo),
    };
    github::row::address(url).unwrap_or_else(made)
}

fn hash(target: &Target) -> String {
    match &target.subject {
        Subject::Commit(hash) => hash.clone(),
        Subject::Run(_) | Subject::Pull(_) => String::new(),
    }
}

impl State {
    fn judge(
        &mut self,
        rows: &Rows,
        required: Option<&Required>,
        needs_approval: bool,
        terms: &Terms,
    ) -> Verdict {
        let verdict = judge(rows, required);
        let red = terms.fail_fast || (verdict.pending == 0 && !verdict.incomplete);
        (self.status, self.conclusion, self.reason) = match verdict.outcome {
            Outcome::Failure if red => ("completed", Some("failure"), None),
            Outcome::InProgress if verdict.incomplete => ("in_progress", None, Some("incomplete")),
            Outcome::InProgress if verdict.unknown > 0 => {
                ("in_progress", None, Some("unknown_state"))
            }
            Outcome::Failure | Outcome::InProgress => ("in_progress", None, None),
            Outcome::Cancelled => ("completed", Some("cancelled"), None),
            Outcome::Success => ("completed", Some("success"), None),
            // Runs of a first-time contributor wait for somebody's approval, and have no check.
            Outcome::Empty if needs_approval => {
                ("completed", Some("action_required"), Some("approval"))
            }
            Outcome::Empty => ("in_progress", None, Some("no_checks")),
        };
        self.is_empty = verdict.outcome == Outcome::Empty && !needs_approval;
        if let Some(url) = verdict.failed.iter().find_map(|named| named.url.clone()) {
            self.url = url;
        }
        let names = |list: &[github::verdict::Named]| {
            list.iter().take(NAMED).map(|named| named.shown.clone()).collect()
        };
        self.checks = Some(Checks {
            failed: names(&verdict.failed),
            cancelled: names(&verdict.cancelled),
            pending: verdict.pending,
            passed: verdict.passed,
            superseded: verdict.superseded,
            unknown: verdict.unknown,
            ambiguous: verdict.ambiguous,
            incomplete: verdict.incomplete,
            reported_only: verdict.reported_only,
        });
        self.is_cut = verdict.failed.len().max(verdict.cancelled.len()) > NAMED;
        verdict
    }

    /// Nothing more will come of it.
    fn end(&mut self, reason: &'static str) {
        (self.status, self.conclusion, self.reason) = ("completed", None, Some(reason));
        self.is_empty = false;
        // What it would have come to must not hold the end up.
        self.is_degraded = false;
    }

    /// The same head that was decided and is so no longer is being tried again.
    pub(crate) fn count_attempt(&mut self, said: Option<&Said>) {
        let Some(said) = said.filter(|said| !said.head.is_empty()) else {
            self.attempt = 1;
            return;
        };
        if said.head != self.head {
            self.attempt = 1;
            self.reason = self.reason.filter(|_| self.status == "completed").or(Some("new_head"));
            return;
        }
        let again = said.is_decided() && self.status != "completed";
        self.attempt = said.attempt + u64::from(again);
    }

    /// It would be a success, if more rows can't be on their way.
    pub(crate) fn unsettle(&mut self) {
        (self.status, self.conclusion) = ("in_progress", None);
        self.reason = self.reason.or(Some("settling"));
    }

    /// No check came in time.
    pub(crate) fn give_up_waiting(&mut self, is_success: bool) {
        self.status = "completed";
        self.conclusion = is_success.then_some("success");
        self.reason = Some("no_checks");
    }

    /// `--deadline` passed.
    pub(crate) fn timeout(target: &Target, said: &Said) -> Self {
        let (head, attempt) = (said.head.clone(), said.attempt.max(1));
        let url = address("", target);
        Self { status: "timeout", url, head, attempt, ..Self::default() }
    }

    /// What is to be remembered, if this is worth a line after `said`.
    pub(crate) fn news(&self, said: Option<&Said>) -> Option<Said> {
        let new = Said {
            status: self.status.to_owned(),
            conclusion: self.conclusion.map(str::to_owned),
            reason: self.reason.map(str::to_owned),
            head: self.head.clone(),
            attempt: self.attempt,
        };
        let Some(said) = said else { return Some(new) };
        let facts = |said: &Said| {
            (said.status.clone(), said.conclusion.clone(), said.head.clone(), said.attempt)
        };
        // Of the same head, a look that saw less than there is can only turn it red.
        let is_less = self.is_degraded && self.status != "completed" && said.head == self.head;
        (facts(said) != facts(&new) && !is_less).then_some(new)
    }
}

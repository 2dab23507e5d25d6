//! What a look means: which change is worth a line, and when all is decided. Pure.

use std::{collections::BTreeMap, time::Duration};

use github::{
    look::Unseen,
    place::Names,
    settle::Settling,
    target::Target,
    trouble::{Came, Said as Health, Troubles},
};
use serde::{Deserialize, Serialize};
use shared::{clock::Now, exit::Error, session::Look};

use crate::{
    args::Args,
    event::{CiStatus, Event},
    probe::{Saw, Sight},
    state::{self, State},
};

/// The version of [`Memory`] in a cursor.
pub const VERSION: u32 = 1;

/// What is asked for on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// How long the set of checks must stand before it can be a success.
    pub settle: Duration,
    /// A failure is the end, though others still run.
    pub fail_fast: bool,
    /// How long to wait for a first check.
    pub no_checks_grace: Duration,
    /// No check at all is a success.
    pub allow_no_checks: bool,
    /// Another head is the end.
    pub pin_head: bool,
    /// When to give up, on the monotonic clock.
    pub deadline: Option<Duration>,
    /// How often to look.
    pub interval: Duration,
}

impl Terms {
    /// The terms of `args`, from `now` on.
    #[must_use]
    pub fn new(args: &Args, now: &Now) -> Self {
        Self {
            settle: args.settle,
            fail_fast: !args.wait_all,
            no_checks_grace: args.no_checks_grace,
            allow_no_checks: args.allow_no_checks,
            pin_head: args.pin_head,
            deadline: args.deadline.map(|span| now.monotonic + span),
            interval: args.interval(),
        }
    }
}

/// What was said of each target, by its label. It outlives the process in a cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory(BTreeMap<String, Said>);

/// What was said of a target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The status.
    pub status: String,
    /// The conclusion.
    pub conclusion: Option<String>,
    /// Why there is none.
    pub reason: Option<String>,
    /// The head.
    pub head: String,
    /// The attempt.
    pub attempt: u64,
}

impl Said {
    /// Whether that was an end: there may be another attempt, but none is waited for.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.status == "completed"
    }

    /// Whether nothing can follow.
    fn is_over(&self) -> bool {
        matches!(self.reason.as_deref(), Some("merged" | "closed" | "superseded"))
    }

    /// What `--exit-code` makes of it.
    #[must_use]
    pub fn code(&self) -> u8 {
        match (&*self.status, self.conclusion.as_deref(), self.reason.as_deref()) {
            ("timeout", _, _) | ("completed", Some("timed_out"), _) => 12,
            ("completed", Some("success" | "neutral" | "skipped"), _) => 0,
            ("completed", Some("failure" | "startup_failure"), _) => 10,
            ("completed", Some("cancelled"), _) => 11,
            ("completed", Some("action_required"), _) => 13,
            ("completed", None, Some("no_checks")) => 14,
            ("completed", None, Some("superseded")) => 15,
            ("completed", None, Some("closed")) => 17,
            _ => 16,
        }
    }
}

/// What there is to say after a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// What the program says of itself.
    pub health: Vec<shared::health::Health>,
    /// What changed with the targets.
    pub events: Vec<Event>,
    /// What is said on stderr.
    pub warning: Option<String>,
    /// What the look came to.
    pub look: Look,
}

/// A target, and what is known of it in this run alone.
#[derive(Debug)]
struct Watching {
    target: Target,
    label: String,
    settling: Settling,
    empty_since: Option<(String, Duration)>,
    is_seen: bool,
}

impl Watching {
    /// When the wait for a first check of `head` is over.
    fn empty_until(&mut self, head: &str, grace: Duration, now: &Now) -> Duration {
        let (known, since) =
            self.empty_since.get_or_insert_with(|| (head.to_owned(), now.monotonic));
        if known != head {
            (*known, *since) = (head.to_owned(), now.monotonic);
        }
        *since + grace
    }
}

/// Judges looks, and remembers what it said of them.
#[derive(Debug)]
pub struct Judge {
    terms: Terms,
    names: Names,
    watching: Vec<Watching>,
    memory: Memory,
    troubles: Troubles,
    due: Duration,
    look: Look,
    gave_up: bool,
}

impl Judge {
    /// Goes on from `memory`.
    #[must_use]
    pub fn new(terms: Terms, targets: &[Target], names: Names, memory: Memory) -> Self {
        let watch = |target: &Target| Watching {
            target: target.clone(),
            label: names.label(target, &target.subject.to_string()),
            settling: Settling::default(),
            empty_since: None,
            is_seen: false,
        };
        let watching = targets.iter().map(watch).collect();
        let troubles = Troubles::new(terms.interval);
        let (due, look) = (Duration::ZERO, Look::Settling);
        Self { terms, names, watching, memory, troubles, due, look, gave_up: false }
    }

    /// What was said.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// When to look next, on the monotonic clock.
    #[must_use]
    pub fn due(&self) -> Duration {
        self.terms.deadline.map_or(self.due, |deadline| deadline.min(self.due))
    }

    /// What the last look came to.
    #[must_use]
    pub fn state(&self) -> Look {
        self.look
    }

    /// What is to be looked at: nothing before its time, and nothing that is over for good.
    #[must_use]
    pub fn wanted(&self, now: &Now) -> Vec<Target> {
        if now.monotonic < self.due {
            return Vec::new();
        }
        let over =
            |watching: &&Watching| self.memory.0.get(&watching.label).is_some_and(Said::is_over);
        let open = self.watching.iter().filter(|watching| !over(watching));
        open.map(|watching| watching.target.clone()).collect()
    }

    /// Whether every target is decided, in this run's own eyes or for good.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.watching.iter().all(|watching| {
            let said = self.memory.0.get(&watching.label);
            said.is_some_and(|said| said.is_over() || (watching.is_seen && said.is_decided()))
        })
    }

    /// Whether there is a verdict: every target is decided, or `--deadline` has passed.
    #[must_use]
    pub fn has_verdict(&self) -> bool {
        self.gave_up || self.is_done()
    }

    /// What `--exit-code` says: the worst of all targets, where 10 is the worst and 0 the best.
    #[must_use]
    pub fn code(&self) -> u8 {
        let codes = self
            .watching
            .iter()
            .map(|watching| self.memory.0.get(&watching.label).map_or(16, Said::code));
        codes.filter(|code| *code > 0).min().unwrap_or(0)
    }

    /// What there is to say after a look at `targets`; nothing when it was broken off.
    ///
    /// # Errors
    ///
    /// What can't be watched at all.
    pub fn judge(
        &mut self,
        targets: &[Target],
        sights: &[Sight],
        now: &Now,
    ) -> Result<Option<Decided>, Error> {
        let stopped = sights.iter().any(|sight| matches!(sight, Err(Unseen::Stopped)));
        if stopped || targets.is_empty() {
            return Ok(None);
        }
        let came: Vec<(&Target, Came<'_>)> =
            targets.iter().zip(sights).map(|(target, sight)| (target, came(sight))).collect();
        let known = |target: &Target| {
            let of = |watching: &&Watching| watching.target == *target;
            self.watching.iter().find(of).is_some_and(|watching| {
                watching.is_seen || self.memory.0.contains_key(&watching.label)
            })
        };
        let Health { health, warning, look, wait } = self.troubles.judge(&came, known, now)?;
        self.due = now.monotonic + wait;
        self.look = look;
        let mut events = Vec::new();
        for (target, sight) in targets.iter().zip(sights) {
            if let Ok(saw) = sight {
                events.extend(self.see(target, saw, now));
            }
        }
        Ok(Some(Decided { health, events, warning, look }))
    }

    /// The table: what was said, and what is.
    fn see(&mut self, target: &Target, saw: &Saw, now: &Now) -> Option<Event> {
        let watching = self.watching.iter_mut().find(|watching| watching.target == *target)?;
        let said = self.memory.0.get(&watching.label);
        let (mut state, verdict) = state::of(saw, target, said, &self.terms);
        // What an earlier look has proved of this head needs no second proof.
        let proved = said.filter(|said| said.head == state.head && said.is_decided());
        if let Some(verdict) = &verdict {
            if !state.is_degraded {
                watching.settling.saw(&state.head, &verdict.set, now);
            }
            let is_success = |said: &Said| said.conclusion.as_deref() == Some("success");
            let settled = watching.settling.is_settled(self.terms.settle, now)
                || proved.is_some_and(is_success);
            if state.conclusion == Some("success") && !settled {
                state.unsettle();
                self.due =
                    self.due.min(watching.settling.due(self.terms.settle).max(now.monotonic));
            }
        }
        if state.is_empty {
            let was_empty = |said: &Said| said.reason.as_deref() == Some("no_checks");
            let end = watching.empty_until(&state.head, self.terms.no_checks_grace, now);
            if now.monotonic >= end || proved.is_some_and(was_empty) {
                state.give_up_waiting(self.terms.allow_no_checks);
            } else {
                self.due = self.due.min(end);
            }
        }
        state.count_attempt(said);
        watching.is_seen = true;
        let news = state.news(said)?;
        self.memory.0.insert(watching.label.clone(), news);
        Some(event(&state, target, &self.names, now))
    }

    /// What there is to say when `--deadline` has passed; nothing before that.
    pub fn give_up(&mut self, now: &Now) -> Option<Vec<Event>> {
        if self.terms.deadline.is_none_or(|deadline| now.monotonic < deadline) {
            return None;
        }
        self.gave_up = true;
        let mut events = Vec::new();
        for watching in &self.watching {
            let said = self.memory.0.entry(watching.label.clone()).or_default();
            if said.is_decided() {
                continue;
            }
            "timeout".clone_into(&mut said.status);
            said.conclusion = None;
            let state = State::timeout(&watching.target, said);
            events.push(event(&state, &watching.target, &self.names, now));
        }
        Some(events)
    }
}

fn came(sight: &Sight) -> Came<'_> {
    let degraded = match sight {
        Err(unseen) => return Came::Not(unseen),
        Ok(Saw::Run(_)) => None,
        Ok(Saw::Pull(pull, _)) => pull.degraded.as_ref(),
        Ok(Saw::Commit(commit)) => commit.degraded.as_ref(),
    };
    degraded.map_or(Came::Whole, Came::Degraded)
}

fn event(state: &State, target: &Target, names: &Names, now: &Now) -> Event {
    let run_id = target.subject.to_string();
    let discriminator = vec![
        state.status.to_owned(),
        state.conclusion.unwrap_or_default().to_owned(),
        state.head.clone(),
        state.attempt.to_string(),
        now.timestamp().to_string(),
    ];
    let is_first = state.checks.is_none() && state.attempt <= 1;
    let mut event = CiStatus {
        label: names.label(target, &run_id),
        run_id,
        status: state.status,
        conclusion: state.conclusion,
        url: state.url.clone(),
        reason: state.reason,
        head_sha: (!is_first && !state.head.is_empty()).then(|| state.head.clone()),
        attempt: (!is_first).then_some(state.attempt),
        repo: names.repo(target),
        discriminator,
        cut: state.is_cut,
        ..CiStatus::default()
    };
    if let Some(checks) = &state.checks {
        event.failed = Some(checks.failed.clone());
        event.cancelled = Some(checks.cancelled.clone());
        event.pending = Some(checks.pending);
        event.passed = Some(checks.passed);
        event.superseded = Some(checks.superseded);
        event.unknown = Some(checks.unknown).filter(|unknown| *unknown > 0);
        event.ambiguous = checks.ambiguous;
        event.incomplete = checks.incomplete;
        event.required = checks.reported_only.then_some("reported_only");
    }
    Event::CiStatus(Box::new(event))
}

#[cfg(test)]
mod tests;

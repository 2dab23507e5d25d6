//! From what was seen to what is said. No clock, no files: everything comes in as an argument.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use shared::{
    clock::Now,
    file::Settling,
    health::{Health, Reasons},
    session::Look,
};

use crate::{
    clocks::{Clocks, wall_ns},
    event::Event,
    probe::{Blind, Seen, Trouble, Wal},
    rules::Rules,
    store::Store,
    table::{Held, Said, Sight, judge},
};

/// How long a state folder may take to appear after the start.
const APPEARS: Duration = Duration::from_mins(1);
/// How long what had been there may be away: a checkout, a stash and its pop.
const RETURNS: Duration = Duration::from_secs(2);
/// How old a record of a transaction is when its writer counts as dead.
const WAL_RIPE: Duration = Duration::from_secs(5);

/// What is remembered from look to look, and with a cursor from run to run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// What was said and still stands.
    pub said: Said,
    /// Whether there ever was a store: one that never was has no items, one that is gone hides
    /// them.
    knew_store: bool,
    #[serde(skip)]
    run: Run,
}

/// What is remembered of this run only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Run {
    clocks: Clocks,
    held: Held,
    reasons: Reasons,
    started: Option<Duration>,
    knew_folder: bool,
    missing: Option<(Trouble, Duration)>,
    settling: Settling,
    retry_at: Option<Duration>,
    wal: Option<(Wal, Duration)>,
}

/// What a look comes to.
#[derive(Debug)]
pub struct Outcome {
    /// What to say about the monitor itself.
    pub health: Vec<Health>,
    /// What to say about the leases.
    pub events: Vec<Event>,
    /// What the look was worth.
    pub look: Look,
    /// When to look again though nothing is known to have changed, on the monotonic clock.
    pub due: Option<Duration>,
    /// Why it could not see, once that is worth telling.
    pub failure: Option<Blind>,
}

/// Judges what was seen at `now`.
pub fn decide(memory: &mut Memory, rules: &Rules, seen: Seen<'_>, now: &Now) -> Outcome {
    memory.run.clocks.pass(rules.poll_interval, now);
    memory.run.started.get_or_insert(now.monotonic);
    let has_wal = seen.wal.is_some();
    let outcome = match (memory.run.ripens(seen.wal, now), seen.store) {
        (Some(due), _) => Outcome::quiet(Look::Settling, Some(due)),
        (None, Ok(store)) => {
            memory.knew_store = true;
            memory.whole(rules, Some((store, has_wal)), now)
        }
        (None, Err(blind)) => memory.blind(rules, blind, now),
    };
    let sweep = now.monotonic + rules.poll_interval;
    memory.run.clocks.plan(outcome.due.map_or(sweep, |due| due.min(sweep)), now);
    outcome
}

impl Outcome {
    fn quiet(look: Look, due: Option<Duration>) -> Self {
        Self { health: Vec::new(), events: Vec::new(), look, due, failure: None }
    }
}

impl Memory {
    /// Everything was seen: the store, or that there never was one.
    fn whole(&mut self, rules: &Rules, store: Option<(&Store, bool)>, now: &Now) -> Outcome {
        let run = &mut self.run;
        (run.knew_folder, run.missing) = (true, None);
        (run.settling, run.retry_at) = (Settling::default(), None);
        let mut outcome = Outcome::quiet(Look::Whole, None);
        let over = |trouble: Trouble| run.reasons.recover(trouble.reason(), now);
        outcome.health = Trouble::ALL.into_iter().filter_map(over).collect();
        let Some((store, wal_pending)) = store else { return outcome };
        if let Some(gap) = run.clocks.take_gap() {
            run.held.hold(gap, rules, store);
        }
        let sight = Sight { store, wal_pending, now };
        let verdict = judge(&mut self.said, &mut run.held, rules, sight);
        outcome.events = verdict.events;
        outcome.due = verdict.next.map(|span| now.monotonic.saturating_add(span));
        outcome
    }

    /// Something could not be seen: nothing is raised or cleared.
    fn blind(&mut self, rules: &Rules, blind: Blind, now: &Now) -> Outcome {
        self.run.knew_folder |= blind.trouble != Trouble::NoFolder;
        let wait = match blind.trouble {
            Trouble::NoStore if !self.knew_store => return self.whole(rules, None, now),
            Trouble::NoFolder | Trouble::NoStore => {
                let due = self.run.missed(blind.trouble, now);
                (rules.patient && now.monotonic < due).then_some((Look::Blind, due))
            }
            Trouble::Invalid => self.run.settles(now).map(|due| (Look::Settling, due)),
            Trouble::Unreadable => None,
        };
        if let Some((look, due)) = wait {
            return Outcome::quiet(look, Some(due));
        }
        let mut outcome = Outcome::quiet(Look::Blind, None);
        let (reason, retry_in) = (blind.trouble.reason(), rules.poll_interval);
        outcome.health.extend(self.run.reasons.degrade(reason, &blind.detail, retry_in, now));
        outcome.failure = Some(blind);
        outcome
    }
}

impl Run {
    /// When the record of a transaction is old enough for its writer to count as dead; `None` if
    /// it is, or if there is none. Until then the files may be half of a commit.
    fn ripens(&mut self, wal: Option<Wal>, now: &Now) -> Option<Duration> {
        let Some(wal) = wal else {
            self.wal = None;
            return None;
        };
        let (_, seen_at) = *self
            .wal
            .insert(self.wal.filter(|(known, _)| *known == wal).unwrap_or((wal, now.monotonic)));
        let by_its_time = (wall_ns(now) - wal.modified_ns).max(0);
        let by_its_time = u64::try_from(by_its_time).unwrap_or(u64::MAX);
        let age = Duration::from_nanos(by_its_time).max(now.monotonic.saturating_sub(seen_at));
        let left = WAL_RIPE.checked_sub(age).filter(|left| !left.is_zero())?;
        Some(now.monotonic + left)
    }

    /// What is missing is missed from then on.
    fn missed(&mut self, trouble: Trouble, now: &Now) -> Duration {
        if trouble == Trouble::NoFolder && !self.knew_folder {
            return self.started.unwrap_or(now.monotonic) + APPEARS;
        }
        let since = self.missing.filter(|(known, _)| *known == trouble);
        let (_, since) = *self.missing.insert(since.unwrap_or((trouble, now.monotonic)));
        since + RETURNS
    }

    /// When to try again what may be half written; `None` if it has had its time. Looks for other
    /// causes in between change nothing about that.
    fn settles(&mut self, now: &Now) -> Option<Duration> {
        if self.retry_at.is_none_or(|at| now.monotonic >= at) {
            self.retry_at = self.settling.failed().map(|wait| now.monotonic + wait);
        }
        self.retry_at
    }
}

#[cfg(test)]
mod tests;

//! The engine itself: takes inputs, says when time alone changes something.

use std::collections::VecDeque;

use shared::tail::Mark;

use super::{
    Decision, Input, Ms, Policy, Reason, RecordId, Stage, State, Verdict, View,
    key::{Key, Name, Place},
    parts::Counters,
    record::Record,
    records::Slot,
};

/// How long a record that has ended, or is empty, is remembered after its last input.
const KEEP: Ms = 30 * 86_400_000;
/// How much there may be beyond the limits for as long as it takes to tell it.
const PASSING: usize = 1000;
/// The most entries that are listed anywhere.
pub(super) const LISTED: usize = 1000;
/// How many events are kept as context.
const CONTEXT: usize = 32;

/// Judges what came, and says what is to be printed.
#[derive(Debug)]
pub struct Engine {
    pub(super) policy: Policy,
    pub(super) state: State,
    pub(super) verdicts: Vec<Verdict>,
    /// How many entries they name.
    pub(super) named: usize,
    /// The newest info events since the last line, and how many there were.
    pub(super) context: VecDeque<String>,
    pub(super) context_count: u64,
    /// What is being printed is no new line.
    pub(super) again: Option<Again>,
    /// The recorded end of the watch was printed in this run.
    pub(super) is_over: bool,
    /// The state cannot be written: what waits would be lost with the process.
    pub(super) unwritable: bool,
    /// The input has ended.
    pub(super) closing: bool,
    clock: Clock,
}

/// What the engine knows of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clock {
    /// Nothing, until the first call.
    Unknown,
    /// When the records are to be judged is to be found out anew.
    Stale,
    /// All there is to know.
    Known,
}

/// A line that is printed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// Its reader was busy.
    Busy,
    /// The watch had ended before.
    Ended,
}

impl Engine {
    /// Begins, or goes on, with `state`.
    #[must_use]
    pub fn new(policy: Policy, mut state: State) -> Self {
        state.records.arrange(policy.repeat_interval);
        if policy.acks.is_none() {
            // Nobody will answer any more.
            state.in_flight = None;
        }
        Self {
            policy,
            state,
            verdicts: Vec::new(),
            named: 0,
            context: VecDeque::new(),
            context_count: 0,
            again: None,
            is_over: false,
            unwritable: false,
            closing: false,
            clock: Clock::Unknown,
        }
    }

    /// All that is remembered.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What is remembered of one record: the first 1000 keys of each sort.
    #[must_use]
    pub fn view(&self, record: &RecordId) -> View {
        let slot = self.state.records.find(record);
        slot.map_or_else(View::default, |slot| self.state.view(slot, LISTED))
    }

    /// The same without what is due, which the next line tells: with [`Engine::emission`], what
    /// that line leaves out.
    #[must_use]
    pub fn silent(&self, record: &RecordId) -> View {
        let slot = self.state.records.find(record);
        slot.map_or_else(View::default, |slot| self.state.silent(slot, LISTED))
    }

    /// What came, for the caller to count.
    pub fn counters(&mut self) -> &mut Counters {
        &mut self.state.counters
    }

    /// Remembers how far the acknowledgements were read.
    pub fn set_acks(&mut self, mark: Option<Mark>) {
        self.state.acks = mark;
    }

    /// What the last look at the subject of a record came to.
    #[must_use]
    pub fn fingerprint(&self, record: &RecordId) -> Option<&str> {
        let slot = self.state.records.find(record)?;
        self.state.records.record(slot).seen.as_ref().map(|seen| &*seen.fingerprint)
    }

    /// Whether the watch has ended and its last line is out.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether there is no room for another key: it would be told at once and forgotten.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let records = &self.state.records;
        records.key_count() >= self.policy.keys || records.len() >= self.policy.records
    }

    /// Judges one input. The answer has a verdict for each record that was judged.
    pub fn take(&mut self, input: Input<'_>, now: Ms) -> &[Verdict] {
        self.start(now);
        self.verdicts.clear();
        self.verdicts.shrink_to(LISTED);
        self.named = 0;
        if let Some(outcome) = &self.state.outcome {
            let (decision, reason) = (outcome.decision, outcome.reason.clone());
            self.answer(None, Judged::bare(decision, reason));
            return &self.verdicts;
        }
        // What a reader has cost counts before the bounds are looked at.
        let answer = if let Input::Ack(ack) = input { self.book(ack, now) } else { None };
        if let Some(reason) = self.spent(now) {
            self.end_watch(Decision::StopBudget, reason, now);
            return &self.verdicts;
        }
        self.tidy(now);
        match input {
            Input::Look(look) => self.look(look, now),
            Input::Event(event) => self.event(event, now),
            Input::Ack(_) => self.answered(answer, now),
            Input::Tick => self.tick(now),
        }
        self.tidy(now);
        &self.verdicts
    }

    /// The next time at which a tick, or [`Engine::emission`], can change anything.
    #[must_use]
    pub fn next_at(&self) -> Option<Ms> {
        if self.state.outcome.is_some() {
            return None;
        }
        if self.clock == Clock::Unknown {
            return Some(0);
        }
        let lifetime = self.policy.max_lifetime.map(|most| self.state.created.saturating_add(most));
        let flight = self.state.in_flight.as_ref().and_then(|flight| match flight.stage {
            Stage::Busy => flight.resend,
            Stage::Sent | Stage::Dispatched => flight.deadline,
        });
        let waits = self.state.in_flight.is_none() && !self.state.records.ready().is_empty();
        let guard = waits.then(|| self.next_token());
        [self.state.records.next_timer(), lifetime, flight, guard].into_iter().flatten().min()
    }

    /// Tells whether the state can be written. While it cannot, nothing waits: the next tick
    /// makes everything due.
    pub fn set_unwritable(&mut self, unwritable: bool) {
        if std::mem::replace(&mut self.unwritable, unwritable) != unwritable
            && self.clock == Clock::Known
        {
            self.clock = Clock::Stale;
        }
    }

    /// Makes everything that waits due, because no input follows. The next line tells it without
    /// asking the guard.
    pub fn end_of_input(&mut self, now: Ms) {
        self.start(now);
        self.closing = true;
        for slot in self.state.records.all().collect::<Vec<_>>() {
            if self.state.records.record(slot).outcome.is_none() {
                for name in self.waiting(slot, now, true) {
                    self.mark(slot, &name, now);
                }
                self.touch(slot, now);
            }
        }
    }

    /// Brings what was read into line with the clock: until the first call nobody knows the time.
    pub(super) fn start(&mut self, now: Ms) {
        let clock = std::mem::replace(&mut self.clock, Clock::Known);
        if clock == Clock::Unknown {
            self.settle_clock(now);
        }
        if clock != Clock::Known {
            for slot in self.state.records.all().collect::<Vec<_>>() {
                self.touch(slot, now);
            }
        }
    }

    fn settle_clock(&mut self, now: Ms) {
        self.state.created = self.state.created.min(now);
        for slot in self.state.records.all().collect::<Vec<_>>() {
            let record = self.state.records.record_mut(slot);
            record.input = record.input.min(now);
            for name in self.state.records.names(slot) {
                self.state.records.edit(slot, &name, |key| key.since = key.since.min(now));
            }
        }
        if let (Some(acks), Some(flight)) = (self.policy.acks, &mut self.state.in_flight) {
            let latest = now.saturating_add(acks.timeout);
            flight.deadline = flight.deadline.map(|at| at.min(latest));
            flight.resend = flight.resend.map(|at| at.min(now.saturating_add(acks.busy_retry)));
        }
    }

    /// Judges every record whose time has come.
    fn tick(&mut self, now: Ms) {
        self.miss(now);
        for slot in self.state.records.timers_due(now) {
            let told = self.judge(slot, now, &[]);
            if !told.is_empty() {
                let judged = self.wake(slot, &told);
                self.answer(Some(slot), judged);
            }
            self.touch(slot, now);
        }
    }

    /// The record's number, if there is room for it.
    pub(super) fn open(&mut self, id: RecordId, now: Ms) -> Option<Slot> {
        let records = &mut self.state.records;
        let slot = match records.find(&id) {
            Some(slot) => slot,
            None if records.len() >= self.policy.records.saturating_add(PASSING) => return None,
            None => {
                let passing = records.len() >= self.policy.records;
                records.add(Record { passing, ..Record::new(id, now) })
            }
        };
        records.record_mut(slot).input = now;
        Some(slot)
    }

    /// Adds a key, if there is room for it.
    pub(super) fn insert(&mut self, slot: Slot, name: Name, mut key: Key) {
        let records = &mut self.state.records;
        if records.key_count() >= self.policy.keys.saturating_add(PASSING) {
            return;
        }
        key.passing = records.key_count() >= self.policy.keys || records.record(slot).passing;
        records.put_key(slot, name, key);
    }

    /// Keeps an event as context.
    pub(super) fn remember(&mut self, brief: &str) {
        self.context_count += 1;
        let mut kept = if self.context.len() < CONTEXT {
            String::new()
        } else {
            self.context.pop_front().unwrap_or_default()
        };
        kept.clear();
        kept.push_str(brief);
        self.context.push_back(kept);
    }

    /// Gives a verdict.
    pub(super) fn answer(&mut self, slot: Option<Slot>, judged: Judged) {
        let Judged { decision, reason, entries } = judged;
        let record = slot.map(|slot| self.state.records.record_mut(slot));
        let record = record.map(|record| {
            if let Some(seen) = record.seen.as_mut().filter(|_| decision.is_printed()) {
                seen.quiet = 0;
            }
            record.id.clone()
        });
        self.named += entries.len();
        self.verdicts.push(Verdict { decision, reason, record, entries });
    }

    /// Notes when a record is to be judged and tidied, and whether it has something to print.
    pub(super) fn touch(&mut self, slot: Slot, now: Ms) {
        let is_ready = self.state.records.record(slot).note.is_some()
            || self.state.records.due(slot).next().is_some();
        if self.state.records.record(slot).passing && !is_ready {
            self.state.records.remove(slot);
            return;
        }
        let (judged, tidied) = (self.judged_at(slot, now), self.tidied_at(slot));
        self.state.records.set_ready(slot, is_ready);
        self.state.records.set_timer(slot, judged);
        self.state.records.set_chore(slot, tidied);
    }

    fn tidied_at(&self, slot: Slot) -> Option<Ms> {
        let records = &self.state.records;
        let record = records.record(slot);
        let is_left = record.outcome.is_some() || !records.has_keys(slot);
        let forgotten = is_left && record.note.is_none();
        let gone = records.first(slot, Place::Gone);
        gone.into_iter().chain(forgotten.then(|| record.input.saturating_add(KEEP))).min()
    }

    /// Forgets what is not needed any more.
    fn tidy(&mut self, now: Ms) {
        for slot in self.state.records.chores_due(now) {
            let gone = self.state.records.at(slot, Place::Gone);
            let gone = gone.take_while(|(at, _)| *at <= now);
            for name in gone.map(|(_, name)| name.clone()).collect::<Vec<_>>() {
                self.state.records.drop_key(slot, &name);
            }
            self.touch(slot, now);
            let record = self.state.records.record(slot);
            let is_old = record.input.saturating_add(KEEP) <= now;
            if is_old && self.tidied_at(slot).is_some_and(|at| at <= now) {
                self.state.records.remove(slot);
            }
        }
    }
}

/// The judgement on one record.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) decision: Decision,
    pub(super) reason: Reason,
    pub(super) entries: Vec<super::Entry>,
}

impl Judged {
    /// One that names no entry.
    pub(super) fn bare(decision: Decision, reason: Reason) -> Self {
        Self { decision, reason, entries: Vec::new() }
    }
}

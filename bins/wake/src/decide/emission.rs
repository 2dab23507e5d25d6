//! Which line is printed now, and what follows from its being out.

use std::collections::BTreeMap;

use super::{
    Decision, Emission, Ends, Engine, Ms, Reason, Stage,
    engine::Again,
    key::{NEVER, Name, REVISION},
    parts::{Emitting, InFlight},
    record::Stamp,
    records::Slot,
};

impl Engine {
    /// The line to print now, if there is one. It is [`Engine::flushed`] that takes its keys for
    /// told.
    pub fn emission(&mut self, now: Ms) -> Option<Emission> {
        self.start(now);
        if let Some(emitting) = &self.state.emitting {
            let ends = emitting.last.then_some(Ends::Watch);
            return Some(again(&emitting.claim, &emitting.line, ends));
        }
        if self.state.outcome.is_some() {
            return self.last(now);
        }
        let flight = self.state.in_flight.as_ref().filter(|_| !self.closing);
        let is_due = |flight: &InFlight| {
            flight.stage == Stage::Busy && flight.resend.is_some_and(|at| at <= now)
        };
        let is_wanted = flight.map_or_else(|| !self.state.records.ready().is_empty(), is_due);
        if !is_wanted {
            return None;
        }
        let line = flight.map(|flight| again(&flight.claim, &flight.line, None));
        if let Some(reason) = self.spent(now) {
            self.end_watch(Decision::StopBudget, reason, now);
            return self.last(now);
        }
        if line.is_some() {
            self.again = Some(Again::Busy);
            return line;
        }
        (self.closing || self.has_token(now)).then(|| self.gather()).flatten()
    }

    /// Completes the emission with the bytes that are about to be written, so that the state
    /// has them before anybody reads them.
    pub fn put_line(&mut self, line: &str) {
        if let Some(emitting) = &mut self.state.emitting {
            line.clone_into(&mut emitting.line);
        }
    }

    /// The line is out: what it told is masked, and what it cost is charged.
    pub fn flushed(&mut self, now: Ms) {
        match self.again.take() {
            Some(Again::Ended) => return self.is_over = true,
            Some(Again::Busy) => {
                let timeout = self.policy.acks.unwrap_or_default().timeout;
                if let Some(flight) = &mut self.state.in_flight {
                    (flight.stage, flight.resend) = (Stage::Sent, None);
                    flight.deadline = Some(now.saturating_add(timeout));
                }
                return;
            }
            None => {}
        }
        let Some(emitting) = self.state.emitting.take() else { return };
        if emitting.last {
            if let Some(outcome) = &mut self.state.outcome {
                (outcome.claim, outcome.line) = (Some(emitting.claim), Some(emitting.line));
            }
            (self.state.in_flight, self.is_over) = (None, true);
            return;
        }
        self.stamp(&emitting, now);
        self.take_token(now);
        self.state.spent.wakes = self.state.spent.wakes.saturating_add(1);
        (self.context_count, self.closing) = (0, false);
        self.context.clear();
        self.state.in_flight = self.policy.acks.map(|acks| {
            let deadline = now.saturating_add(acks.timeout);
            InFlight::new(emitting, deadline)
        });
    }

    /// The last line of a watch, or the one that was it.
    fn last(&mut self, now: Ms) -> Option<Emission> {
        if self.is_over {
            return None;
        }
        let outcome = self.state.outcome.as_ref()?;
        if let Some(claim) = &outcome.claim {
            let Some(line) = &outcome.line else {
                self.is_over = true;
                return None;
            };
            self.again = Some(Again::Ended);
            return Some(again(claim, line, Some(Ends::Watch)));
        }
        let (decision, reason) = (outcome.decision, outcome.reason.clone());
        let lead = self.end_words(&reason, now);
        let claim = self.emit(Vec::new(), true);
        Some(Emission {
            again: None,
            decision,
            reason,
            lead,
            context: self.context.iter().cloned().collect(),
            context_count: self.context_count,
            ..again(&claim, "", Some(Ends::Watch))
        })
    }

    pub(super) fn emit(&mut self, stamps: Vec<Stamp>, last: bool) -> String {
        self.state.seq = self.state.seq.saturating_add(1);
        let claim = self.state.claim(self.state.seq);
        self.state.emitting = Some(Emitting::new(claim.clone(), stamps, last));
        claim
    }

    /// Masks the keys of a line that is out, and opens the groups of their records.
    fn stamp(&mut self, emitting: &Emitting, now: Ms) {
        let mut told: BTreeMap<Slot, Option<bool>> = BTreeMap::new();
        for Stamp { record, key } in &emitting.stamps {
            let Some(slot) = self.state.records.find(record) else { continue };
            let group = told.entry(slot).or_default();
            if !key.starts_with([REVISION, NEVER]) {
                self.stamp_note(slot, key, &emitting.claim);
                continue;
            }
            *group = Some(group.unwrap_or(false) || key.starts_with(NEVER));
            self.stamp_key(slot, key, now);
        }
        for (slot, group) in told {
            if let Some(sticky) = group {
                let record = self.state.records.record_mut(slot);
                (record.group, record.group_sticky) = (Some(now), sticky);
            }
            self.touch(slot, now);
        }
    }

    fn stamp_key(&mut self, slot: Slot, name: &Name, now: Ms) {
        let records = &mut self.state.records;
        if records.key(slot, name).is_some_and(super::key::Key::is_forgotten_once_told) {
            records.drop_key(slot, name);
            return;
        }
        let told = records.edit(slot, name, |key| {
            (key.told, key.told_as, key.due) = (Some(now), key.severity, None);
        });
        // What is told and not there any more is looked for from now on, to be forgotten.
        if let Some(seen) = records.record_mut(slot).seen.as_mut().filter(|_| told) {
            seen.present.insert(name.clone());
        }
    }

    fn stamp_note(&mut self, slot: Slot, reason: &str, claim: &str) {
        let record = self.state.records.record_mut(slot);
        record.note.take_if(|note| note.reason.as_str() == reason);
        if let Some(outcome) = record.outcome.as_mut().filter(|outcome| outcome.claim.is_none()) {
            outcome.claim = Some(claim.to_owned());
        }
    }
}

/// A line that is printed as it was.
fn again(claim: &str, line: &str, ends: Option<Ends>) -> Emission {
    Emission {
        claim: claim.to_owned(),
        again: Some(line.to_owned()),
        decision: Decision::WakeActionable,
        reason: Reason::NONE,
        ends,
        lead: String::new(),
        records: Vec::new(),
        subjects: 0,
        items: Vec::new(),
        beyond: 0,
        context: Vec::new(),
        context_count: 0,
    }
}

//! One line of everything that is due, and what follows from its being out.

use std::collections::BTreeMap;

use shared::reading::Severity;

use super::{
    Condition, Decision, Emission, Ends, Engine, Entry, Item, Ms, Reason, Stage, Told,
    engine::{Again, LISTED},
    key::{NEVER, Name, REVISION, Trigger, plain},
    parts::{Emitting, InFlight},
    record::{Note, Stamp},
    records::Slot,
};

/// What one record adds to a line.
#[derive(Debug)]
struct Share {
    slot: Slot,
    note: Option<Note>,
    /// The keys that are due, and the strongest reason for that.
    due: Vec<Name>,
    trigger: Option<Trigger>,
}

impl Share {
    /// How many verdicts it holds. The entries of an end are part of it.
    fn verdicts(&self) -> usize {
        let is_stop = self.note.as_ref().is_some_and(Note::is_stop);
        usize::from(self.note.is_some()) + usize::from(!self.due.is_empty() && !is_stop)
    }
}

/// An entry that may be listed: by urgency, age and name.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate<'a> {
    rank: u8,
    since: Ms,
    key: &'a str,
    id: &'a str,
    share: usize,
    /// None: it stands for the verdict without entries.
    name: Option<&'a Name>,
}

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
        if let Some(flight) = self.state.in_flight.as_ref().filter(|_| !self.closing) {
            let is_due = flight.stage == Stage::Busy && flight.resend.is_some_and(|at| at <= now);
            let line = is_due.then(|| again(&flight.claim, &flight.line, None))?;
            self.again = Some(Again::Busy);
            return Some(line);
        }
        if self.state.records.ready().is_empty() {
            return None;
        }
        if let Some(reason) = self.spent(now) {
            self.end_watch(Decision::StopBudget, reason, now);
            return self.last(now);
        }
        (self.closing || self.has_token(now)).then(|| self.fold_due()).flatten()
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
            decision,
            reason,
            lead,
            context: self.context.iter().cloned().collect(),
            context_count: self.context_count,
            ..again(&claim, "", Some(Ends::Watch)).anew()
        })
    }

    fn emit(&mut self, stamps: Vec<Stamp>, last: bool) -> String {
        self.state.seq = self.state.seq.saturating_add(1);
        let claim = self.state.claim(self.state.seq);
        self.state.emitting = Some(Emitting::new(claim.clone(), stamps, last));
        claim
    }

    /// Everything that is due, in one line.
    fn fold_due(&mut self) -> Option<Emission> {
        let slots: Vec<Slot> = self.state.records.ready().iter().copied().collect();
        let mut shares: Vec<Share> = slots.into_iter().map(|slot| self.share(slot)).collect();
        shares.retain(|share| share.verdicts() > 0);
        let is_folded = shares.iter().map(Share::verdicts).sum::<usize>() > 1;
        let (mut items, beyond) = self.first_items(&shares, is_folded);
        let records = self.number(&shares, &mut items);
        let stamps = self.stamps(&shares);
        let (decision, reason, ends, lead) = match shares.as_slice() {
            [share] if !is_folded => self.single(share, !items.is_empty()),
            [] => return None,
            _ => folded(records.len()),
        };
        let claim = self.emit(stamps, false);
        Some(Emission {
            claim,
            again: None,
            decision,
            reason,
            ends,
            lead,
            records,
            items,
            beyond,
            context: self.context.iter().cloned().collect(),
            context_count: self.context_count,
        })
    }

    fn share(&self, slot: Slot) -> Share {
        let records = &self.state.records;
        let note = records.record(slot).note.as_deref().cloned();
        let due: Vec<Name> = records.due(slot).map(|(_, name)| name.clone()).collect();
        Share { slot, note, due, trigger: records.due(slot).next().map(|(trigger, _)| trigger) }
    }

    /// The entries that are listed, in their order, and how many are not. Of the many that may
    /// be due only those are copied.
    fn first_items(&self, shares: &[Share], is_folded: bool) -> (Vec<Item>, usize) {
        let mut all = Vec::new();
        for (at, share) in shares.iter().enumerate() {
            all.extend(self.candidates(at, share, is_folded));
        }
        all.sort_unstable();
        let beyond = all.len().saturating_sub(LISTED);
        all.truncate(LISTED);
        let item = |candidate: Candidate<'_>| {
            let share = shares.get(candidate.share)?;
            let stop = share.note.as_ref().filter(|note| note.is_stop());
            let entry = match candidate.name {
                Some(name) => self.state.records.key(share.slot, name)?.entry(name),
                None => note_entry(share.note.as_ref()?),
            };
            let verdict = stop.map(|note| (note.decision, note.reason.clone()));
            Some(Item { record: candidate.share, verdict, entry })
        };
        (all.into_iter().filter_map(item).collect(), beyond)
    }

    /// The entries that a record adds.
    fn candidates<'a>(
        &'a self,
        at: usize,
        share: &'a Share,
        is_folded: bool,
    ) -> Vec<Candidate<'a>> {
        let records = &self.state.records;
        let id = records.record(share.slot).id.as_str();
        let key = |name: &'a Name| {
            let key = records.key(share.slot, name)?;
            let (rank, since) = (rank(key.severity), key.since);
            Some(Candidate { rank, since, key: plain(name), id, share: at, name: Some(name) })
        };
        let mut all: Vec<Candidate<'a>> = share.due.iter().filter_map(key).collect();
        let Some(note) = &share.note else { return all };
        if is_folded && (all.is_empty() || !note.is_stop()) {
            let rank = rank(note_severity(note));
            let key = note.reason.as_str();
            all.push(Candidate { rank, since: note.at, key, id, share: at, name: None });
        } else if !is_folded && note.reason == Reason::STALL && !note.is_stop() {
            let active = records.keys(share.slot).filter(|(_, key)| key.active);
            all.extend(active.filter_map(|(name, _)| key(name)));
        }
        all
    }

    /// Numbers the records in the order of their first entries.
    fn number(&self, shares: &[Share], items: &mut [Item]) -> Vec<Told> {
        let mut order: BTreeMap<usize, usize> = BTreeMap::new();
        let named = items.iter().map(|item| item.record);
        for at in named.chain(0..shares.len()) {
            let next = order.len();
            order.entry(at).or_insert(next);
        }
        for item in items {
            item.record = order.get(&item.record).copied().unwrap_or_default();
        }
        let mut told: Vec<(usize, Told)> = Vec::new();
        for (at, share) in shares.iter().enumerate() {
            let record = self.state.records.record(share.slot);
            let (id, revision) = (record.id.clone(), record.revision.to_string());
            told.push((order.get(&at).copied().unwrap_or(at), Told { id, revision }));
        }
        told.sort_by_key(|(number, _)| *number);
        told.into_iter().map(|(_, told)| told).collect()
    }

    fn stamps(&self, shares: &[Share]) -> Vec<Stamp> {
        let mut stamps = Vec::new();
        for share in shares {
            let record = &self.state.records.record(share.slot).id;
            let note = share.note.as_ref().map(|note| Name::from(note.reason.as_str()));
            let keys = share.due.iter().cloned().chain(note);
            stamps.extend(keys.map(|key| Stamp { record: record.clone(), key }));
        }
        stamps
    }

    /// What a line about one verdict says.
    fn single(&self, share: &Share, has_items: bool) -> (Decision, Reason, Option<Ends>, String) {
        if let Some(note) = &share.note {
            let ends = note.is_stop().then_some(Ends::Subject);
            let mut lead = note.text.clone();
            lead.push_str(if has_items { ": " } else { "" });
            return (note.decision, note.reason.clone(), ends, lead);
        }
        let trigger = share.trigger.unwrap_or(Trigger::Changed);
        let (reason, lead) = match trigger {
            _ if self.closing => (Reason::INPUT_ENDED, ": "),
            Trigger::Repeat => (Reason::word(trigger.word()), ", still: "),
            Trigger::Unconfirmed => (Reason::word(trigger.word()), ", not confirmed: "),
            _ => (Reason::word(trigger.word()), ": "),
        };
        (Decision::WakeActionable, reason, None, lead.to_owned())
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

impl Emission {
    fn anew(self) -> Self {
        Self { again: None, ..self }
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
        items: Vec::new(),
        beyond: 0,
        context: Vec::new(),
        context_count: 0,
    }
}

fn folded(records: usize) -> (Decision, Reason, Option<Ends>, String) {
    let lead = format!("{records} subject{}: ", if records == 1 { "" } else { "s" });
    (Decision::WakeActionable, Reason::FOLDED, None, lead)
}

/// Urgent ones come first, then ends, then the others.
fn rank(severity: Severity) -> u8 {
    match severity {
        Severity::Immediate => 0,
        Severity::Terminal => 1,
        Severity::Wake => 2,
    }
}

fn note_severity(note: &Note) -> Severity {
    if note.is_stop() { Severity::Terminal } else { Severity::Wake }
}

/// A verdict without entries as one of a folded line.
fn note_entry(note: &Note) -> Entry {
    Entry {
        key: note.reason.to_string(),
        severity: note_severity(note),
        condition: Condition::Once,
        since: note.at,
        repeat: false,
        brief: note.text.trim_start_matches([':', ' ']).to_owned(),
    }
}

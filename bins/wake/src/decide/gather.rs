//! Everything that is due, gathered for one line: what it lists, and what it tells.

use std::collections::{BTreeMap, BinaryHeap};

use shared::reading::Severity;

use super::{
    Condition, Decision, Emission, Ends, Engine, Entry, Item, Ms, Reason, Told,
    engine::LISTED,
    key::{Name, Trigger, plain},
    record::{Note, Stamp},
    records::Slot,
};

/// What one record adds to a line.
#[derive(Debug, Clone, Copy)]
struct Share<'a> {
    slot: Slot,
    note: Option<&'a Note>,
    /// The strongest reason for which a key is due, if one is.
    trigger: Option<Trigger>,
}

impl Share<'_> {
    /// How many verdicts it holds. The entries of an end are part of it.
    fn verdicts(&self) -> usize {
        let is_stop = self.note.is_some_and(Note::is_stop);
        usize::from(self.note.is_some()) + usize::from(self.trigger.is_some() && !is_stop)
    }
}

/// An entry that may be listed: by urgency, age and name.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate<'a> {
    rank: u8,
    since: Ms,
    key: &'a str,
    id: &'a str,
    slot: Slot,
    /// None: it stands for the verdict without entries.
    name: Option<&'a Name>,
}

/// The first of many candidates. There may be a million, of which a thousand are listed.
#[derive(Debug, Default)]
struct First<'a> {
    /// The last of them is on top.
    kept: BinaryHeap<Candidate<'a>>,
    beyond: usize,
}

impl<'a> First<'a> {
    fn offer(&mut self, candidate: Candidate<'a>) {
        self.kept.push(candidate);
        if self.kept.len() > LISTED {
            self.kept.pop();
            self.beyond += 1;
        }
    }
}

impl Engine {
    /// Everything that is due, in one line.
    pub(super) fn gather(&mut self) -> Option<Emission> {
        let ready = self.state.records.ready().iter().map(|slot| self.share(*slot));
        let shares = ready.filter(|share| share.verdicts() > 0);
        let (subjects, verdicts) = shares.clone().fold((0, 0), |(subjects, verdicts), share| {
            (subjects + 1, verdicts + share.verdicts())
        });
        let only = shares.clone().next()?;
        let is_folded = verdicts > 1;
        let mut first = First::default();
        for share in shares.clone() {
            self.offer(share, is_folded, &mut first);
        }
        let (items, mut records) = self.listed(first.kept.into_sorted_vec());
        let stamps: Vec<Stamp> = shares.flat_map(|share| self.stamps(share)).collect();
        let (decision, reason, ends, lead) =
            if is_folded { folded(subjects) } else { self.single(only, !items.is_empty()) };
        if records.is_empty() {
            records.push(self.told(only.slot));
        }
        let beyond = first.beyond;
        let claim = self.emit(stamps, false);
        Some(Emission {
            claim,
            again: None,
            decision,
            reason,
            ends,
            lead,
            records,
            subjects,
            items,
            beyond,
            context: self.context.iter().cloned().collect(),
            context_count: self.context_count,
        })
    }

    fn share(&self, slot: Slot) -> Share<'_> {
        let records = &self.state.records;
        let trigger = records.due(slot).next().map(|(trigger, _)| trigger);
        Share { slot, note: records.record(slot).note.as_deref(), trigger }
    }

    /// Offers the entries that a record adds.
    fn offer<'a>(&'a self, share: Share<'a>, is_folded: bool, first: &mut First<'a>) {
        let (records, slot) = (&self.state.records, share.slot);
        let id = records.record(slot).id.as_str();
        let mut offer = |name: &'a Name| {
            let Some(key) = records.key(slot, name) else { return };
            let (rank, since) = (rank(key.severity), key.since);
            first.offer(Candidate { rank, since, key: plain(name), id, slot, name: Some(name) });
        };
        records.due(slot).for_each(|(_, name)| offer(name));
        let Some(note) = share.note else { return };
        if !is_folded && note.reason == Reason::STALL && !note.is_stop() {
            let active = records.keys(slot).filter(|(_, key)| key.active);
            active.for_each(|(name, _)| offer(name));
        } else if is_folded && (share.trigger.is_none() || !note.is_stop()) {
            let (rank, key) = (rank(severity_of(note)), note.reason.as_str());
            first.offer(Candidate { rank, since: note.at, key, id, slot, name: None });
        }
    }

    /// The entries, and the records that they are of in the order of their first ones.
    fn listed(&self, candidates: Vec<Candidate<'_>>) -> (Vec<Item>, Vec<Told>) {
        let (mut items, mut told) = (Vec::with_capacity(candidates.len()), Vec::new());
        let mut numbers: BTreeMap<Slot, usize> = BTreeMap::new();
        for candidate in candidates {
            let slot = candidate.slot;
            let note = self.state.records.record(slot).note.as_deref();
            let entry = match candidate.name {
                Some(name) => self.state.records.key(slot, name).map(|key| key.entry(name)),
                None => note.map(entry_of),
            };
            let Some(entry) = entry else { continue };
            let record = *numbers.entry(slot).or_insert_with(|| {
                told.push(self.told(slot));
                told.len() - 1
            });
            let stop = note.filter(|note| note.is_stop());
            let verdict = stop.map(|note| (note.decision, note.reason.clone()));
            items.push(Item { record, verdict, entry });
        }
        (items, told)
    }

    fn told(&self, slot: Slot) -> Told {
        let record = self.state.records.record(slot);
        Told { id: record.id.clone(), revision: record.revision.to_string() }
    }

    /// What is told of a record once the line is out.
    fn stamps<'a>(&'a self, share: Share<'a>) -> impl Iterator<Item = Stamp> {
        let record = &self.state.records.record(share.slot).id;
        let keys = self.state.records.due(share.slot).map(|(_, name)| name.clone());
        let note = share.note.map(|note| Name::from(note.reason.as_str()));
        keys.chain(note).map(|key| Stamp { record: record.clone(), key })
    }

    /// What a line about one verdict says.
    fn single(
        &self,
        share: Share<'_>,
        has_items: bool,
    ) -> (Decision, Reason, Option<Ends>, String) {
        if let Some(note) = share.note {
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
}

fn folded(subjects: usize) -> (Decision, Reason, Option<Ends>, String) {
    let lead = format!("{subjects} subject{}: ", if subjects == 1 { "" } else { "s" });
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

fn severity_of(note: &Note) -> Severity {
    if note.is_stop() { Severity::Terminal } else { Severity::Wake }
}

/// A verdict without entries as one of a folded line.
fn entry_of(note: &Note) -> Entry {
    Entry {
        key: note.reason.to_string(),
        severity: severity_of(note),
        condition: Condition::Once,
        since: note.at,
        repeat: false,
        brief: note.text.trim_start_matches([':', ' ']).to_owned(),
    }
}

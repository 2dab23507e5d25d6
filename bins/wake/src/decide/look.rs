//! The judgement of a look, in its fixed order.

use std::collections::BTreeSet;

use shared::reading::{Finding, Look, Severity, Status};

use super::{
    Condition, Decision, Engine, Ms, Reason, RecordId,
    engine::Judged,
    key::{Key, NEVER, Name, REVISION},
    record::{Note, Outcome},
    records::Slot,
    words,
};

impl Engine {
    pub(super) fn look(&mut self, look: &Look, now: Ms) {
        let id = RecordId::of_readings(&look.source, &look.kind, &look.subject);
        let Some(slot) = self.open(id, now) else { return };
        let judged = self.judge_look(slot, look, now);
        self.answer(Some(slot), judged);
        self.touch(slot, now);
    }

    fn judge_look(&mut self, slot: Slot, look: &Look, now: Ms) -> Judged {
        if let Some(outcome) = &self.state.records.record(slot).outcome {
            return Judged::bare(outcome.decision, outcome.reason.clone());
        }
        if let Some(fault) = look.failure() {
            return self.failed(slot, fault, now);
        }
        self.saw(slot, look.is_whole());
        let is_new_revision = self.adopt(slot, look);
        match look.status {
            Status::Success if is_new_revision => return self.too_early(slot, look, now),
            Status::Success => return self.end_by(slot, look, Decision::StopSuccess, now),
            Status::Blocked => return self.end_by(slot, look, Decision::StopBlocked, now),
            Status::Pending | Status::Actionable | Status::ProviderError => {}
        }
        let is_known = self.recognise(slot, look);
        let named = self.fold(slot, look, is_new_revision, now);
        let told = self.judge(slot, now, &named);
        let judged = if told.is_empty() {
            self.partial(slot, look, now).unwrap_or_else(|| {
                if self.state.records.holds(slot) {
                    Judged::bare(Decision::RecordOnly, Reason::HELD)
                } else if is_known || !named.is_empty() {
                    Judged::bare(Decision::NoChange, Reason::NONE)
                } else {
                    Judged::bare(Decision::RecordOnly, Reason::status(look.status))
                }
            })
        } else {
            self.wake(slot, &told)
        };
        let judged = self.stall(slot, look, is_known, judged, now);
        self.floor(slot, look, judged, now)
    }

    /// Takes over that the subject was seen, whole or in part.
    fn saw(&mut self, slot: Slot, whole: bool) {
        let record = self.state.records.record_mut(slot);
        let Some(seen) = &mut record.seen else { return };
        seen.skipped = None;
        if !whole {
            seen.unseen = seen.unseen.saturating_add(1);
            return;
        }
        (seen.unseen, seen.blind) = (0, false);
        seen.error_told.clear();
        // What was to be told of not seeing it is over.
        record.note.take_if(|note| matches!(note.rank(), 1 | 2));
    }

    /// Takes over the revision, and says whether it is another than the one that was known.
    fn adopt(&mut self, slot: Slot, look: &Look) -> bool {
        let records = &mut self.state.records;
        let known = &records.record(slot).revision;
        let is_new = !known.is_empty() && !look.revision.is_empty() && **known != *look.revision;
        if is_new {
            for name in records.scope(slot, REVISION) {
                records.drop_key(slot, &name);
            }
        }
        let record = records.record_mut(slot);
        if is_new && !record.group_sticky {
            record.close_group();
        }
        if !look.revision.is_empty() {
            record.revision = look.revision.as_str().into();
        }
        if let Some(seen) = &mut record.seen {
            seen.pending = look.pending;
        }
        is_new
    }

    /// Takes over the fingerprint, and says whether it is the one of the last look.
    fn recognise(&mut self, slot: Slot, look: &Look) -> bool {
        let Some(seen) = &mut self.state.records.record_mut(slot).seen else { return false };
        let is_known = *seen.fingerprint == *look.fingerprint;
        if !is_known {
            seen.fingerprint = look.fingerprint.as_str().into();
        }
        is_known
    }

    /// Takes over what the look found and what it did not, and gives the names of the former.
    fn fold(&mut self, slot: Slot, look: &Look, fresh: bool, now: Ms) -> Vec<Name> {
        let mut named = BTreeSet::new();
        for finding in look.entries.iter().filter(|found| found.severity != Severity::Terminal) {
            let name = Name::from(finding.engine_key());
            if self.state.records.key(slot, &name).is_some() {
                self.state.records.edit(slot, &name, |key| refresh(key, finding));
            } else {
                let new = Key::new(now, finding.severity, Condition::Raised, &finding.brief);
                self.insert(slot, name.clone(), Key { fresh, ..new });
            }
            named.insert(name);
        }
        let seen = self.state.records.record_mut(slot).seen.as_mut();
        let before = seen.map(|seen| std::mem::take(&mut seen.present)).unwrap_or_default();
        let missing: Vec<Name> = before.difference(&named).cloned().collect();
        let is_whole = look.is_whole();
        let left = missing.into_iter().filter(|name| !is_whole || self.miss_key(slot, name, now));
        let mut present: BTreeSet<Name> = left.collect();
        present.extend(named.iter().cloned());
        let record = self.state.records.record_mut(slot);
        if is_whole && look.entries.is_empty() {
            record.close_group();
        }
        if let Some(seen) = &mut record.seen {
            seen.present = present;
            if is_whole && look.entries.is_empty() {
                seen.stall.trips = 0;
            }
        }
        named.into_iter().collect()
    }

    /// A whole look did not find a key. Says whether the next one has to look for it again.
    fn miss_key(&mut self, slot: Slot, name: &Name, now: Ms) -> bool {
        let repeat = self.policy.repeat_interval;
        let records = &mut self.state.records;
        let Some(key) = records.key(slot, name) else { return false };
        let is_told = key.told.is_some();
        let is_over = if is_told {
            key.absent >= 1 || key.has_outlived_its_mask(now, repeat)
        } else {
            !name.starts_with(NEVER)
        };
        if is_over {
            records.drop_key(slot, name);
            return false;
        }
        records.edit(slot, name, |key| {
            key.active = false;
            key.absent += u8::from(is_told);
        });
        is_told
    }

    /// A success on a revision that was not looked at before: the next look decides.
    fn too_early(&mut self, slot: Slot, look: &Look, now: Ms) -> Judged {
        let text = words::new_revision(end_reason(look, "success").as_str(), &look.revision);
        self.note(slot, Decision::WakeActionable, Reason::NEW_REVISION, text, now);
        if let Some(seen) = &mut self.state.records.record_mut(slot).seen {
            seen.fingerprint = look.fingerprint.as_str().into();
            seen.stall.end();
        }
        Judged::bare(Decision::WakeActionable, Reason::NEW_REVISION)
    }

    fn end_by(&mut self, slot: Slot, look: &Look, decision: Decision, now: Ms) -> Judged {
        let (standard, begin) = match decision {
            Decision::StopSuccess => ("success", "done"),
            _ => ("blocked", "ended"),
        };
        if let Some(seen) = &mut self.state.records.record_mut(slot).seen {
            seen.fingerprint = look.fingerprint.as_str().into();
        }
        let reason = end_reason(look, standard);
        let text = format!(" {begin}: {reason}");
        self.end(slot, (decision, reason), text, &terminal(look).collect::<Vec<_>>(), now)
    }

    /// Ends a subject: `entries` are told, and nothing of what waits.
    pub(super) fn end(
        &mut self,
        slot: Slot,
        (decision, reason): (Decision, Reason),
        text: String,
        entries: &[&Finding],
        now: Ms,
    ) -> Judged {
        let records = &mut self.state.records;
        for name in records.names(slot) {
            if records.key(slot, &name).is_some_and(|key| key.told.is_none()) {
                records.drop_key(slot, &name);
            } else {
                records.edit(slot, &name, |key| key.due = None);
            }
        }
        let mut told = Vec::new();
        for finding in entries {
            let name = Name::from(finding.engine_key());
            let new = Key::new(now, finding.severity, Condition::Raised, &finding.brief);
            self.insert(slot, name.clone(), new);
            self.mark(slot, &name, now);
            told.push(name);
        }
        self.note(slot, decision, reason.clone(), text, now);
        let outcome = Outcome::new(decision, reason.clone(), now);
        self.state.records.record_mut(slot).outcome = Some(Box::new(outcome));
        Judged { decision, reason, entries: self.entries(slot, &told) }
    }

    /// Leaves a verdict without entries to be printed; the graver of two stays.
    pub(super) fn note(
        &mut self,
        slot: Slot,
        decision: Decision,
        reason: Reason,
        text: String,
        now: Ms,
    ) {
        let note = Note::new(decision, reason, text, now);
        let kept = &mut self.state.records.record_mut(slot).note;
        if kept.as_ref().is_none_or(|kept| note.rank() <= kept.rank()) {
            *kept = Some(Box::new(note));
        }
    }
}

/// A key that is known was found again: its time stays.
fn refresh(key: &mut Key, finding: &Finding) {
    if *key.brief != *finding.brief {
        key.brief = finding.brief.as_str().into();
    }
    key.set_severity(finding.severity);
    (key.active, key.absent) = (true, 0);
}

fn terminal(look: &Look) -> impl Iterator<Item = &Finding> {
    look.entries.iter().filter(|finding| finding.severity == Severity::Terminal)
}

/// Why a subject ended: as the look says, else by its first key that says so.
fn end_reason(look: &Look, standard: &'static str) -> Reason {
    match terminal(look).next() {
        _ if !look.reason.is_empty() => Reason::new(&look.reason),
        Some(finding) => Reason::new(&finding.key),
        None => Reason::word(standard),
    }
}

//! When something of a record is told.

use shared::reading::Severity;

use super::{
    Decision, Engine, Entry, Ms, Reason,
    engine::{Judged, LISTED},
    key::{Name, Place, Trigger},
    records::Slot,
};

/// How much of what waits is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Nothing,
    /// What the gate admits, but for what has just come with a new revision.
    Admitted,
    All,
}

const LIMITED: Place = Place::Held { forever: false };
const FOREVER: Place = Place::Held { forever: true };

impl Engine {
    /// Makes due what may be told of a record, and gives its names: those that are new, and those
    /// of `named`, the keys in the input, that have been due before.
    pub(super) fn judge(&mut self, slot: Slot, now: Ms, named: &[Name]) -> Vec<Name> {
        let fallen = self.fallen(slot, now, named);
        let waiting = match self.reach(slot, now, &fallen) {
            Reach::Nothing => Vec::new(),
            Reach::Admitted => self.waiting(slot, now, false),
            Reach::All => self.waiting(slot, now, true),
        };
        let records = &self.state.records;
        let is_due = |name: &&Name| records.key(slot, name).is_some_and(|key| key.due.is_some());
        let due: Vec<Name> = named.iter().filter(is_due).cloned().collect();
        let mut told = fallen;
        told.extend(waiting);
        for name in &told {
            self.mark(slot, name, now);
        }
        told.extend(due);
        told
    }

    /// The verdict that tells `names`, all of which are due.
    pub(super) fn wake(&self, slot: Slot, names: &[Name]) -> Judged {
        let keys = || names.iter().filter_map(|name| self.state.records.key(slot, name));
        let trigger = keys().filter_map(|key| key.due).min();
        Judged {
            decision: Decision::WakeActionable,
            reason: trigger.map_or(Reason::NONE, |trigger| Reason::word(trigger.word())),
            entries: self.entries(slot, names),
        }
    }

    /// Keys as a verdict names them, as far as there is room in the answer.
    pub(super) fn entries(&self, slot: Slot, names: &[Name]) -> Vec<Entry> {
        let key = |name: &Name| Some(self.state.records.key(slot, name)?.entry(name));
        let most = LISTED.saturating_sub(self.named);
        names.iter().take(most).filter_map(key).collect()
    }

    /// The told keys whose mask has fallen. Of readings only those count that the look names:
    /// of the others nobody knows whether they still hold.
    fn fallen(&self, slot: Slot, now: Ms, named: &[Name]) -> Vec<Name> {
        let records = &self.state.records;
        if records.record(slot).seen.is_none() {
            return records.unmasked(slot, now);
        }
        let has_fallen = |name: &&Name| {
            records.key(slot, name).is_some_and(|key| {
                let is_told = key.told.is_some() && key.due.is_none();
                is_told && !key.is_masked(now, self.policy.repeat_interval)
            })
        };
        named.iter().filter(has_fallen).cloned().collect()
    }

    fn reach(&self, slot: Slot, now: Ms, fallen: &[Name]) -> Reach {
        let records = &self.state.records;
        let due = records.due(slot).next().map(|(trigger, _)| trigger);
        let is_loud =
            |name| records.key(slot, name).is_some_and(|key| key.severity == Severity::Immediate);
        let oldest = [LIMITED, FOREVER].into_iter().filter_map(|place| records.first(slot, place));
        let oldest = oldest.min();
        let is_late = oldest.is_some_and(|at| now.saturating_sub(at) >= self.policy.max_wait);
        let cannot_wait = self.unwritable && (oldest.is_some() || !fallen.is_empty());
        let goes_along =
            matches!(due, Some(Trigger::Immediate | Trigger::MaxWait | Trigger::StoreFailed));
        let is_urgent = records.first(slot, Place::Loud).is_some() || fallen.iter().any(is_loud);
        if is_urgent || is_late || cannot_wait || goes_along {
            Reach::All
        } else if due.is_some() || !fallen.is_empty() || self.is_ripe(slot, now) {
            Reach::Admitted
        } else {
            Reach::Nothing
        }
    }

    /// Something has waited for itself and for its group, and the gate admits it.
    fn is_ripe(&self, slot: Slot, now: Ms) -> bool {
        let Self { policy, state, .. } = self;
        let record = state.records.record(slot);
        let oldest = self.admitted(slot).filter_map(|place| state.records.first(slot, place)).min();
        oldest.is_some_and(|at| now.saturating_sub(at) >= policy.group_wait)
            && record.is_open_to_news(now, policy.group_interval)
    }

    /// Where what the gate admits waits.
    fn admitted(&self, slot: Slot) -> impl Iterator<Item = Place> {
        let seen = self.state.records.record(slot).seen.as_ref();
        let pending = seen.and_then(|seen| seen.pending).unwrap_or(0);
        let is_open = !self.policy.pending_gate || pending == 0;
        [Some(FOREVER), is_open.then_some(LIMITED)].into_iter().flatten()
    }

    /// What waits in a record: all of it, or what may be told with what is ripe.
    pub(super) fn waiting(&self, slot: Slot, now: Ms, all: bool) -> Vec<Name> {
        let records = &self.state.records;
        let names = |place| records.at(slot, place).map(|(_, name)| name);
        if all {
            let places = [Place::Loud, LIMITED, FOREVER];
            return places.into_iter().flat_map(names).cloned().collect();
        }
        let is_young = |name: &Name| {
            let wait = self.policy.group_wait;
            let young = |since: Ms| now.saturating_sub(since) < wait;
            records.key(slot, name).is_some_and(|key| key.fresh && young(key.since))
        };
        self.admitted(slot).flat_map(names).filter(|name| !is_young(name)).cloned().collect()
    }

    /// Makes a key due, for the reason that is its own.
    pub(super) fn mark(&mut self, slot: Slot, name: &Name, now: Ms) {
        let (max_wait, unwritable) = (self.policy.max_wait, self.unwritable);
        self.state.records.edit(slot, name, |key| {
            let is_late = now.saturating_sub(key.since) >= max_wait;
            key.due = Some(match key.told {
                _ if key.severity == Severity::Immediate => Trigger::Immediate,
                None if is_late => Trigger::MaxWait,
                _ if unwritable || key.passing => Trigger::StoreFailed,
                None => Trigger::Changed,
                Some(_) => Trigger::Repeat,
            });
        });
    }

    /// When time alone makes something of a record due.
    pub(super) fn judged_at(&self, slot: Slot, now: Ms) -> Option<Ms> {
        let Self { policy, state, .. } = self;
        let records = &state.records;
        let record = records.record(slot);
        if record.outcome.is_some() {
            return None;
        }
        let first = |place| records.first(slot, place);
        let oldest = [LIMITED, FOREVER].into_iter().filter_map(first).min();
        let is_urgent = first(Place::Loud).is_some() || (self.unwritable && oldest.is_some());
        if is_urgent {
            return Some(now);
        }
        let late = oldest.map(|at| at.saturating_add(policy.max_wait));
        let is_open = record.is_open_to_news(now, policy.group_interval);
        let group = record.group.filter(|_| !is_open);
        let group = group.map_or(0, |group| group.saturating_add(policy.group_interval));
        let ripe = self.admitted(slot).filter_map(first).min();
        let ripe = ripe.map(|at| at.saturating_add(policy.group_wait).max(group));
        let is_of_events = record.seen.is_none();
        let repeated = is_of_events.then(|| records.unmasks_at(slot, now)).flatten();
        [late, ripe, repeated].into_iter().flatten().min()
    }
}

//! The judgement of an event.

use shared::{line::short_key, reading::Severity};

use super::{
    Condition, Decision, Engine, Event, Ms, Reason, RecordId,
    engine::Judged,
    key::{Key, NEVER, Name, REVISION},
    records::Slot,
};

/// What an event means.
#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    /// The condition of this name holds.
    Raised(String),
    /// It no longer does.
    Cleared(String),
    /// Something of this name happened.
    Once(String),
}

impl Meaning {
    fn of(event: &Event<'_>) -> Self {
        let key = event.key.filter(|key| !key.is_empty()).map(short_key);
        match (event.condition, key) {
            (Some("raised"), Some(key)) => Self::Raised(key),
            (Some("cleared"), Some(key)) => Self::Cleared(key),
            (_, None) if event.name == "monitor_degraded" => Self::Raised(health(event)),
            (_, None) if event.name == "monitor_recovered" => Self::Cleared(health(event)),
            (_, key) => Self::Once(key.unwrap_or_else(|| short_key(event.name))),
        }
    }
}

/// The condition that a source's health is.
fn health(event: &Event<'_>) -> String {
    short_key(&format!("monitor:{}:{}", event.source, event.reason.unwrap_or_default()))
}

/// How urgent an event is; none: it is context.
fn severity(event: &Event<'_>) -> Option<Severity> {
    match event.urgency {
        Some("immediate") => Some(Severity::Immediate),
        Some("info") => None,
        None if matches!(event.name, "monitor_alive" | "monitor_armed") => None,
        _ => Some(Severity::Wake),
    }
}

impl Engine {
    pub(super) fn event(&mut self, event: &Event<'_>, now: Ms) {
        let (meaning, severity) = (Meaning::of(event), severity(event));
        if severity.is_none() {
            self.remember(event.brief);
        }
        let subject = event.subject.filter(|subject| !subject.is_empty()).map(short_key);
        let id = RecordId::of_events(event.source, subject.as_deref());
        let named = match (meaning, severity) {
            (Meaning::Cleared(key), severity) => {
                let is_told = severity == Some(Severity::Immediate);
                if !is_told && self.state.records.find(&id).is_none() {
                    return;
                }
                let Some(slot) = self.open(id, now) else { return };
                let was_there = self.clear(slot, &key);
                let name = is_told.then(|| self.once(slot, &format!("cleared:{key}"), event, now));
                Some((slot, name, was_there))
            }
            (_, None) => None,
            (Meaning::Raised(key), Some(severity)) => {
                let Some(slot) = self.open(id, now) else { return };
                self.renew(slot, event, subject.is_some());
                Some((slot, Some(self.raise(slot, &key, severity, event, now)), false))
            }
            (Meaning::Once(name), Some(severity)) => self.happen(id, &name, severity, event, now),
        };
        if let Some((slot, name, was_there)) = named {
            self.conclude(slot, name, was_there, now);
        }
    }

    /// An occurrence, unless its line was sent before.
    fn happen(
        &mut self,
        id: RecordId,
        name: &str,
        severity: Severity,
        event: &Event<'_>,
        now: Ms,
    ) -> Option<(Slot, Option<Name>, bool)> {
        let is_known = |ids: &mut super::parts::Ids, id| !ids.learn(&short_key(id));
        if event.id.is_some_and(|id| is_known(&mut self.state.ids, id)) {
            return None;
        }
        let slot = self.open(id, now)?;
        let name = self.once(slot, name, event, now);
        self.state.records.edit(slot, &name, |key| key.severity = severity);
        Some((slot, Some(name), false))
    }

    /// The verdict on an event that is taken in.
    fn conclude(&mut self, slot: Slot, name: Option<Name>, was_there: bool, now: Ms) {
        let told = self.judge(slot, now, name.as_slice());
        let judged = if !told.is_empty() {
            self.wake(slot, &told)
        } else if self.state.records.holds(slot) {
            Judged::bare(Decision::RecordOnly, Reason::HELD)
        } else if was_there {
            Judged::bare(Decision::RecordOnly, Reason::CLEARED)
        } else {
            Judged::bare(Decision::NoChange, Reason::NONE)
        };
        self.answer(Some(slot), judged);
        self.touch(slot, now);
    }

    /// A new revision of the subject ends all that was raised of another one.
    fn renew(&mut self, slot: Slot, event: &Event<'_>, has_subject: bool) {
        let revision = event.revision.filter(|revision| has_subject && !revision.is_empty());
        let Some(revision) = revision else { return };
        let records = &mut self.state.records;
        let known = &records.record(slot).revision;
        if **known == *revision {
            return;
        }
        if !known.is_empty() {
            for name in records.scope(slot, REVISION) {
                records.drop_key(slot, &name);
            }
        }
        records.record_mut(slot).revision = revision.into();
    }

    fn raise(
        &mut self,
        slot: Slot,
        key: &str,
        severity: Severity,
        event: &Event<'_>,
        now: Ms,
    ) -> Name {
        let revision = event.revision.filter(|revision| !revision.is_empty());
        let (scope, other) = if revision.is_some() { (REVISION, NEVER) } else { (NEVER, REVISION) };
        let name = Name::from(format!("{scope}{key}"));
        let records = &mut self.state.records;
        // It is the same condition, whether or not the source knows a revision this time.
        if let Some(moved) = records.drop_key(slot, &Name::from(format!("{other}{key}"))) {
            records.put_key(slot, name.clone(), moved);
        }
        let is_another = records.key(slot, &name).is_some_and(|key| {
            key.revision.is_some() && revision.is_some() && key.revision.as_deref() != revision
        });
        if is_another {
            records.drop_key(slot, &name);
        }
        if records.key(slot, &name).is_none() {
            let new = Key::new(now, severity, Condition::Raised, event.brief);
            self.insert(slot, name.clone(), new);
        }
        self.state.records.edit(slot, &name, |key| {
            key.set_severity(severity);
            key.active = true;
            if *key.brief != *event.brief {
                key.brief = event.brief.into();
            }
            if key.revision.as_deref() != revision && revision.is_some() {
                key.revision = revision.map(Into::into);
            }
        });
        name
    }

    /// Drops a condition, and says whether it was there.
    fn clear(&mut self, slot: Slot, key: &str) -> bool {
        let mut was_there = false;
        for scope in [REVISION, NEVER] {
            let name = Name::from(format!("{scope}{key}"));
            was_there |= self.state.records.drop_key(slot, &name).is_some();
        }
        was_there
    }

    /// Adds an occurrence, immediate until somebody says otherwise.
    fn once(&mut self, slot: Slot, name: &str, event: &Event<'_>, now: Ms) -> Name {
        let counter = &mut self.state.counters.once;
        let id = event.id.map_or_else(
            || {
                *counter += 1;
                counter.to_string()
            },
            short_key,
        );
        let condition =
            if name.starts_with("cleared:") { Condition::Cleared } else { Condition::Once };
        let name = Name::from(format!("{NEVER}{name}#{id}"));
        let key = Key::new(now, Severity::Immediate, condition, event.brief);
        self.insert(slot, name.clone(), key);
        name
    }
}

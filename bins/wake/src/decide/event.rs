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

/// What an event did to a record.
#[derive(Debug)]
struct Effect {
    slot: Slot,
    /// The key that it added or named.
    name: Option<Name>,
    /// It ended a condition that was known.
    cleared: bool,
}

impl Engine {
    pub(super) fn event(&mut self, event: &Event<'_>, now: Ms) {
        let severity = severity(event);
        if severity.is_none() {
            self.remember(event.brief);
        }
        let effect = match (Meaning::of(event), severity) {
            (Meaning::Cleared(key), severity) => self.clear(&key, severity, event, now),
            (Meaning::Raised(key), Some(severity)) => self.raise(&key, severity, event, now),
            (Meaning::Once(name), Some(severity)) => self.happen(&name, severity, event, now),
            (_, None) => None,
        };
        if let Some(effect) = effect {
            self.conclude(effect, now);
        }
    }

    /// The verdict on an event that is taken in.
    fn conclude(&mut self, effect: Effect, now: Ms) {
        let Effect { slot, name, cleared } = effect;
        let told = self.judge(slot, now, name.as_slice());
        let judged = if !told.is_empty() {
            self.wake(slot, &told)
        } else if self.state.records.holds(slot) {
            Judged::bare(Decision::RecordOnly, Reason::HELD)
        } else if cleared {
            Judged::bare(Decision::RecordOnly, Reason::CLEARED)
        } else {
            Judged::bare(Decision::NoChange, Reason::NONE)
        };
        self.answer(Some(slot), judged);
        self.touch(slot, now);
    }

    /// A condition holds.
    fn raise(
        &mut self,
        key: &str,
        severity: Severity,
        event: &Event<'_>,
        now: Ms,
    ) -> Option<Effect> {
        let slot = self.open(record(event), now)?;
        let revision = event.revision.filter(|revision| !revision.is_empty());
        if let (Some(revision), Some(_)) = (revision, subject(event)) {
            self.renew(slot, revision);
        }
        let name = self.claim_key(slot, key, revision);
        if self.state.records.key(slot, &name).is_none() {
            let new = Key::new(now, severity, Condition::Raised, event.brief);
            self.insert(slot, name.clone(), new);
        }
        self.state.records.edit(slot, &name, |key| {
            key.set_severity(severity);
            key.active = true;
            if *key.brief != *event.brief {
                key.brief = event.brief.into();
            }
            if revision.is_some() && key.revision.as_deref() != revision {
                key.revision = revision.map(Into::into);
            }
        });
        Some(Effect { slot, name: Some(name), cleared: false })
    }

    /// A new revision of the subject ends all that was raised of another one.
    fn renew(&mut self, slot: Slot, revision: &str) {
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

    /// The name of a condition, which with a revision is another scope than without. What is there
    /// of another revision is dropped: it was another condition.
    fn claim_key(&mut self, slot: Slot, key: &str, revision: Option<&str>) -> Name {
        let (scope, other) = if revision.is_some() { (REVISION, NEVER) } else { (NEVER, REVISION) };
        let name = Name::from(format!("{scope}{key}"));
        let records = &mut self.state.records;
        // It is the same condition, whether or not the source knows a revision this time.
        if let Some(moved) = records.drop_key(slot, &Name::from(format!("{other}{key}"))) {
            records.put_key(slot, name.clone(), moved);
        }
        let known = records.key(slot, &name).and_then(|key| key.revision.as_deref());
        if known.zip(revision).is_some_and(|(known, revision)| known != revision) {
            records.drop_key(slot, &name);
        }
        name
    }

    /// A condition no longer holds. That is an occurrence if it is urgent.
    fn clear(
        &mut self,
        key: &str,
        severity: Option<Severity>,
        event: &Event<'_>,
        now: Ms,
    ) -> Option<Effect> {
        let (id, is_told) = (record(event), severity == Some(Severity::Immediate));
        if !is_told && self.state.records.find(&id).is_none() {
            return None;
        }
        let slot = self.open(id, now)?;
        let records = &mut self.state.records;
        let mut drop = |scope| records.drop_key(slot, &format!("{scope}{key}").into()).is_some();
        let (limited, forever) = (drop(REVISION), drop(NEVER));
        let name = is_told.then(|| {
            let new = Key::new(now, Severity::Immediate, Condition::Cleared, event.brief);
            self.add_once(slot, &format!("cleared:{key}"), event, new)
        });
        Some(Effect { slot, name, cleared: limited || forever })
    }

    /// Something happened, unless its line was sent before.
    fn happen(
        &mut self,
        name: &str,
        severity: Severity,
        event: &Event<'_>,
        now: Ms,
    ) -> Option<Effect> {
        if event.id.is_some_and(|id| !self.state.ids.learn(&short_key(id))) {
            return None;
        }
        let slot = self.open(record(event), now)?;
        let new = Key::new(now, severity, Condition::Once, event.brief);
        let name = self.add_once(slot, name, event, new);
        Some(Effect { slot, name: Some(name), cleared: false })
    }

    /// Adds what is told once, under a name of its own.
    fn add_once(&mut self, slot: Slot, name: &str, event: &Event<'_>, key: Key) -> Name {
        let counter = &mut self.state.counters.once;
        let id = event.id.map_or_else(
            || {
                *counter += 1;
                counter.to_string()
            },
            short_key,
        );
        let name = Name::from(format!("{NEVER}{name}#{id}"));
        self.insert(slot, name.clone(), key);
        name
    }
}

fn subject(event: &Event<'_>) -> Option<String> {
    event.subject.filter(|subject| !subject.is_empty()).map(short_key)
}

fn record(event: &Event<'_>) -> RecordId {
    RecordId::of_events(event.source, subject(event).as_deref())
}

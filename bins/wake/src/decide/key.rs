//! One key of a record: a condition or an occurrence, when it came and when it was told.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;
use shared::reading::Severity;

use super::{
    Condition, Entry, Ms,
    fields::{Fields, Rest},
};

/// A key with the character of its scope.
pub(super) type Name = Arc<str>;

/// The first character of the keys that end with a revision, and of those that don't.
pub(super) const REVISION: char = '=';
pub(super) const NEVER: char = '~';

/// A name without the character of its scope.
pub(super) fn plain(name: &str) -> &str {
    name.strip_prefix([REVISION, NEVER]).unwrap_or(name)
}

/// Why a key is due, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Trigger {
    /// It was told, and nobody said that he had read it.
    Unconfirmed,
    /// It waits for nothing.
    Immediate,
    /// It has waited as long as anything may.
    MaxWait,
    /// A wait would not be remembered.
    StoreFailed,
    /// It is new.
    Changed,
    /// It still holds.
    Repeat,
}

impl Trigger {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Unconfirmed => "unconfirmed",
            Self::Immediate => "immediate",
            Self::MaxWait => "max_wait",
            Self::StoreFailed => "store_failed",
            Self::Changed => "changed",
            Self::Repeat => "repeat",
        }
    }
}

/// Where a key stands. Every key stands in exactly one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// It is told with the next line. The time is its `since`.
    Due(Trigger),
    /// It is told as soon as its record is judged. The time is its `since`.
    Loud,
    /// It waits, until its revision ends or for ever. The time is its `since`.
    Held { forever: bool },
    /// It was told and is silent. The time is the end of its mask.
    Masked,
    /// It was told and is not there any more. The time is when it is forgotten.
    Gone,
}

/// What is remembered of a key.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) since: Ms,
    pub(super) told: Option<Ms>,
    pub(super) told_as: Severity,
    pub(super) severity: Severity,
    pub(super) condition: Condition,
    pub(super) brief: Box<str>,
    /// The revision that an event gave it.
    pub(super) revision: Option<Box<str>>,
    /// In how many whole looks running it was missing.
    pub(super) absent: u8,
    pub(super) active: bool,
    /// It came with a new revision.
    pub(super) fresh: bool,
    pub(super) due: Option<Trigger>,
    /// There is no room for it: it is told once, at once, and forgotten.
    pub(super) passing: bool,
    pub(super) rest: Rest,
}

impl Key {
    pub(super) fn new(since: Ms, severity: Severity, condition: Condition, brief: &str) -> Self {
        Self {
            since,
            told: None,
            told_as: Severity::Wake,
            severity,
            condition,
            brief: brief.into(),
            revision: None,
            absent: 0,
            active: true,
            fresh: false,
            due: None,
            passing: false,
            rest: Rest::default(),
        }
    }

    /// Gives it another urgency; what is due and urgent now is due for that.
    pub(super) fn set_severity(&mut self, severity: Severity) {
        self.severity = severity;
        if severity == Severity::Immediate {
            self.due = self.due.map(|due| due.min(Trigger::Immediate));
        }
    }

    /// Told with less urgency than it has.
    pub(super) fn is_escalated(&self) -> bool {
        self.told_as == Severity::Wake && self.severity == Severity::Immediate
    }

    /// Told so long ago that it is told again. A stamp in the future counts as long ago.
    pub(super) fn has_outlived_its_mask(&self, now: Ms, repeat: Ms) -> bool {
        self.told.is_some_and(|told| told > now || now - told >= repeat)
    }

    /// Told, and silent at `now`.
    pub(super) fn is_masked(&self, now: Ms, repeat: Ms) -> bool {
        let is_over = self.has_outlived_its_mask(now, repeat);
        self.told.is_some() && !is_over && !self.is_escalated()
    }

    /// What is told once leaves no mask.
    pub(super) fn is_forgotten_once_told(&self) -> bool {
        self.passing || self.condition != Condition::Raised
    }

    /// Where it stands, and at which time there.
    pub(super) fn place(&self, name: &str, repeat: Ms) -> (Place, Ms) {
        match (self.due, self.told) {
            (Some(trigger), _) => (Place::Due(trigger), self.since),
            (None, None) if self.severity == Severity::Immediate || self.passing => {
                (Place::Loud, self.since)
            }
            (None, None) => (Place::Held { forever: name.starts_with(NEVER) }, self.since),
            (None, Some(told)) if !self.active => (Place::Gone, told.saturating_add(repeat)),
            (None, Some(_)) if self.is_escalated() => (Place::Masked, 0),
            (None, Some(told)) => (Place::Masked, told.saturating_add(repeat)),
        }
    }

    /// As it is told.
    pub(super) fn entry(&self, name: &str) -> Entry {
        Entry {
            key: plain(name).to_owned(),
            severity: self.severity,
            condition: self.condition,
            since: self.since,
            repeat: self.told.is_some(),
            brief: self.brief.to_string(),
        }
    }

    /// Reads one of a state; none if it is no object.
    pub(super) fn read(raw: &RawValue) -> Option<Self> {
        let mut fields = Fields::of(raw)?;
        let condition: Option<Box<str>> = fields.get("condition");
        Some(Self {
            // The first call tells what time it is; until then everything is in the future.
            since: fields.get("since_ms").unwrap_or(Ms::MAX),
            told: fields.take("told_ms"),
            told_as: fields.get("told_as").unwrap_or(Severity::Wake),
            severity: fields.get("severity").unwrap_or(Severity::Wake),
            condition: match condition.as_deref() {
                Some("once") => Condition::Once,
                Some("cleared") => Condition::Cleared,
                _ => Condition::Raised,
            },
            brief: fields.take("brief"),
            revision: fields.take("revision"),
            absent: fields.take("absent"),
            active: fields.get("active").unwrap_or(true),
            fresh: fields.take("fresh"),
            due: fields.take("due"),
            passing: fields.take("passing"),
            rest: fields.rest(),
        })
    }

    /// As it is written in a record of events, or of readings.
    pub(super) fn written(&self, of_events: bool) -> impl Serialize {
        Written { key: self, of_events }
    }
}

struct Written<'a> {
    key: &'a Key,
    of_events: bool,
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { key, of_events } = *self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("since_ms", &key.since)?;
        if let Some(told) = key.told {
            map.serialize_entry("told_ms", &told)?;
            map.serialize_entry("told_as", &key.told_as)?;
        }
        map.serialize_entry("severity", &key.severity)?;
        if of_events {
            map.serialize_entry("condition", key.condition.word())?;
        }
        map.serialize_entry("brief", &key.brief)?;
        if let Some(revision) = &key.revision {
            map.serialize_entry("revision", revision)?;
        }
        if !of_events {
            map.serialize_entry("absent", &key.absent)?;
        }
        map.serialize_entry("active", &key.active)?;
        if !of_events {
            map.serialize_entry("fresh", &key.fresh)?;
        }
        if let Some(due) = key.due {
            map.serialize_entry("due", &due)?;
        }
        if key.passing {
            map.serialize_entry("passing", &true)?;
        }
        for (name, raw) in key.rest.iter() {
            map.serialize_entry(name, raw)?;
        }
        map.end()
    }
}

//! What is remembered of one subject of one source.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;
use shared::reading::FaultKind;

use super::{
    Decision, Ms, Reason, RecordId,
    fields::{Fields, Rest},
    key::Name,
};

/// A record without its keys.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) id: RecordId,
    pub(super) revision: Box<str>,
    /// The last wake with entries; followers wait for each other from then on.
    pub(super) group: Option<Ms>,
    /// That wake told something that outlives revisions.
    pub(super) group_sticky: bool,
    /// Of readings only.
    pub(super) seen: Option<Box<Seen>>,
    pub(super) note: Option<Box<Note>>,
    pub(super) outcome: Option<Box<Outcome>>,
    /// When something of it came last.
    pub(super) input: Ms,
    /// There is no room for it: it is forgotten as soon as it is told.
    pub(super) passing: bool,
    /// When it is judged, and tidied, though nothing comes. Not part of the state.
    pub(super) judged: Option<Ms>,
    pub(super) tidied: Option<Ms>,
    pub(super) rest: Rest,
}

impl Record {
    pub(super) fn new(id: RecordId, input: Ms) -> Self {
        let seen = (!id.is_of_events()).then(Box::default);
        Self {
            id,
            revision: Box::default(),
            group: None,
            group_sticky: false,
            seen,
            note: None,
            outcome: None,
            input,
            passing: false,
            judged: None,
            tidied: None,
            rest: Rest::default(),
        }
    }

    /// Reads one of a state, but for its keys.
    pub(super) fn read(id: RecordId, fields: &mut Fields<'_>) -> Self {
        let seen = (!id.is_of_events()).then(|| Box::new(Seen::read(fields)));
        Self {
            revision: fields.take("revision"),
            group: fields.take("group_ms"),
            group_sticky: fields.take("group_sticky"),
            note: fields.object("note").and_then(Note::read).map(Box::new),
            outcome: fields.object("outcome").and_then(Outcome::read).map(Box::new),
            input: fields.get("input_ms").unwrap_or(Ms::MAX),
            passing: fields.take("passing"),
            seen,
            ..Self::new(id, 0)
        }
    }

    /// Writes all but the keys and the unknown fields.
    pub(super) fn write<M: SerializeMap>(&self, to: &mut M) -> Result<(), M::Error> {
        to.serialize_entry("revision", &self.revision)?;
        if let Some(seen) = &self.seen {
            to.serialize_entry("fingerprint", &seen.fingerprint)?;
            to.serialize_entry("pending", &seen.pending)?;
        }
        to.serialize_entry("group_ms", &self.group)?;
        to.serialize_entry("group_sticky", &self.group_sticky)?;
        if let Some(seen) = &self.seen {
            to.serialize_entry("unseen", &seen.unseen)?;
            to.serialize_entry("skipped_ms", &seen.skipped)?;
            to.serialize_entry("blind", &seen.blind)?;
            let told = Some(&seen.error_told).filter(|told| !told.is_empty());
            to.serialize_entry("error_told", &told)?;
            to.serialize_entry("quiet", &seen.quiet)?;
            to.serialize_entry("stall", &seen.stall)?;
        }
        to.serialize_entry("note", &self.note)?;
        to.serialize_entry("outcome", &self.outcome)?;
        to.serialize_entry("input_ms", &self.input)?;
        if self.passing {
            to.serialize_entry("passing", &true)?;
        }
        Ok(())
    }

    /// The group is over at `now`. A stamp in the future counts as one long ago.
    pub(super) fn is_open_to_news(&self, now: Ms, interval: Ms) -> bool {
        self.group.is_none_or(|group| group > now || now - group >= interval)
    }

    pub(super) fn close_group(&mut self) {
        (self.group, self.group_sticky) = (None, false);
    }
}

/// What is remembered of the looks at a subject.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) fingerprint: Box<str>,
    pub(super) pending: Option<u64>,
    /// How many attempted looks running were not whole.
    pub(super) unseen: u64,
    /// Since when nobody was asked.
    pub(super) skipped: Option<Ms>,
    /// It was told that the subject is not seen.
    pub(super) blind: bool,
    /// The errors that were told.
    pub(super) error_told: Vec<FaultKind>,
    /// How many whole looks there were without a wake.
    pub(super) quiet: u64,
    pub(super) stall: Streak,
    /// The keys that are there, or were until the last whole look.
    pub(super) present: BTreeSet<Name>,
}

impl Seen {
    fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            fingerprint: fields.take("fingerprint"),
            pending: fields.take("pending"),
            unseen: fields.take("unseen"),
            skipped: fields.take("skipped_ms"),
            blind: fields.take("blind"),
            error_told: fields.take("error_told"),
            quiet: fields.take("quiet"),
            stall: fields.object("stall").map(Streak::read).unwrap_or_default(),
            present: BTreeSet::new(),
        }
    }
}

/// Looks running that said the same and gave nothing to tell.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Streak {
    pub(super) count: u64,
    #[serde(rename = "start_ms")]
    pub(super) start: Option<Ms>,
    /// It was told of this streak.
    pub(super) told: bool,
    /// How often it was told since the subject was last quiet.
    pub(super) trips: u32,
    #[serde(flatten)]
    rest: Rest,
}

impl Streak {
    fn read(mut fields: Fields<'_>) -> Self {
        Self {
            count: fields.take("count"),
            start: fields.take("start_ms"),
            told: fields.take("told"),
            trips: fields.take("trips"),
            rest: fields.rest(),
        }
    }

    pub(super) fn end(&mut self) {
        (self.count, self.start, self.told) = (0, None, false);
    }
}

/// A verdict without entries that waits to be printed.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Note {
    #[serde(serialize_with = "word")]
    pub(super) decision: Decision,
    #[serde(serialize_with = "text")]
    pub(super) reason: Reason,
    /// What follows the noun and the subject.
    pub(super) text: String,
    #[serde(rename = "at_ms")]
    pub(super) at: Ms,
    #[serde(flatten)]
    rest: Rest,
}

impl Note {
    pub(super) fn new(decision: Decision, reason: Reason, text: String, at: Ms) -> Self {
        Self { decision, reason, text, at, rest: Rest::default() }
    }

    pub(super) fn is_stop(&self) -> bool {
        self.decision > Decision::WakeActionable
    }

    /// The graver, the lower.
    pub(super) fn rank(&self) -> u8 {
        match &self.reason {
            _ if self.is_stop() => 0,
            reason if *reason == Reason::BLIND => 2,
            reason if *reason == Reason::STALL => 3,
            reason if *reason == Reason::NEW_REVISION => 4,
            reason if *reason == Reason::FLOOR => 5,
            _ => 1,
        }
    }

    fn read(mut fields: Fields<'_>) -> Option<Self> {
        let decision = Decision::of(&fields.take::<String>("decision"));
        Some(Self {
            decision: decision.filter(|decision| decision.is_printed())?,
            reason: Reason::new(&fields.get::<String>("reason")?),
            text: fields.take("text"),
            at: fields.take("at_ms"),
            rest: fields.rest(),
        })
    }
}

/// The end of a subject, or of the watch.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// How it ended.
    #[serde(serialize_with = "word")]
    pub decision: Decision,
    /// Why.
    #[serde(serialize_with = "text")]
    pub reason: Reason,
    /// When.
    #[serde(rename = "at_ms")]
    pub at: Ms,
    /// The line that told it; none until then.
    pub claim: Option<String>,
    /// That line, of a watch.
    pub line: Option<String>,
    #[serde(flatten)]
    rest: Rest,
}

impl Outcome {
    pub(super) fn new(decision: Decision, reason: Reason, at: Ms) -> Self {
        Self { decision, reason, at, claim: None, line: None, rest: Rest::default() }
    }

    pub(super) fn read(mut fields: Fields<'_>) -> Option<Self> {
        let decision = Decision::of(&fields.take::<String>("decision"));
        Some(Self {
            decision: decision.filter(|decision| *decision > Decision::WakeActionable)?,
            reason: Reason::new(&fields.take::<String>("reason")),
            at: fields.take("at_ms"),
            claim: fields.take("claim"),
            line: fields.take("line"),
            rest: fields.rest(),
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn word<S: Serializer>(decision: &Decision, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(decision.word())
}

fn text<S: Serializer>(reason: &Reason, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(reason.as_str())
}

/// A key, or a verdict without entries, that a line told.
#[derive(Debug, Clone)]
pub(super) struct Stamp {
    pub(super) record: RecordId,
    /// With the character of its scope; without one it is the reason of a verdict.
    pub(super) key: Name,
}

impl Stamp {
    pub(super) fn read(raw: &RawValue) -> Option<Self> {
        let (record, key): (String, String) = serde_json::from_str(raw.get()).ok()?;
        Some(Self { record: RecordId(record.into()), key: key.into() })
    }
}

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (self.record.as_str(), &*self.key).serialize(to)
    }
}

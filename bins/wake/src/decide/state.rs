//! The state of a watch: all that delivery needs, and no fact of any subject. Version 1.

use std::fmt;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;
use shared::{line::digest, tail::Mark};

use super::{
    Ms, RecordId, View,
    fields::{Fields, Rest, Sound},
    key::{Key, NEVER, Name, REVISION},
    parts::{Counters, Emitting, Guard, Ids, InFlight, Spent},
    record::{Outcome, Record},
    records::{Records, Slot},
};

/// The version that is written and read.
const VERSION: u64 = 1;
/// Among so many of the newest lines a claim is looked for: each costs a digest.
const ANSWERED: usize = 100_000;

/// All that a watch remembers. It is written by its `Serialize`.
#[derive(Debug, Clone)]
pub struct State {
    /// The name of the watch; empty: it has none.
    pub watch: String,
    /// When it was created.
    pub created: Ms,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// The line that was to be printed when the state was written.
    pub emitting: Option<Emitting>,
    /// The claim that was not answered yet.
    pub in_flight: Option<InFlight>,
    /// What the watch has cost.
    pub spent: Spent,
    /// What may still be printed at once.
    pub guard: Guard,
    /// How far the acknowledgements were read.
    pub acks: Option<Mark>,
    /// What came.
    pub counters: Counters,
    pub(super) nonce: String,
    pub(super) seq: u64,
    pub(super) ids: Ids,
    pub(super) records: Records,
    rest: Rest,
}

/// Why a text is no state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// It is no JSON object.
    Malformed(String),
    /// It is of another version, which stands here as it is written.
    Version(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(cause) => write!(out, "not a JSON object: {cause}"),
            Self::Version(found) => {
                write!(out, "its version is {found}, this program reads {VERSION}")
            }
        }
    }
}

impl State {
    /// A new watch. `nonce` is 16 random hex digits.
    #[must_use]
    pub fn new(watch: &str, nonce: &str, created: Ms) -> Self {
        Self {
            watch: watch.to_owned(),
            created,
            outcome: None,
            emitting: None,
            in_flight: None,
            spent: Spent::default(),
            guard: Guard::default(),
            acks: None,
            counters: Counters::default(),
            nonce: nonce.to_owned(),
            seq: 0,
            ids: Ids::default(),
            records: Records::default(),
            rest: Rest::default(),
        }
    }

    /// Begins a new watch with the old masks: nothing is spent, and no end is remembered.
    pub fn rearm(&mut self, now: Ms) {
        (self.created, self.spent) = (now, Spent::default());
        (self.outcome, self.emitting, self.in_flight) = (None, None, None);
        for slot in self.records.all().collect::<Vec<_>>() {
            if self.records.record_mut(slot).outcome.take().is_none() {
                continue;
            }
            self.records.record_mut(slot).note = None;
            for name in self.records.names(slot) {
                let terminal = shared::reading::Severity::Terminal;
                if self.records.key(slot, &name).is_some_and(|key| key.severity == terminal) {
                    self.records.drop_key(slot, &name);
                }
            }
        }
    }

    /// Whether a line with this claim was printed, and not too long ago to be answered.
    #[must_use]
    pub fn knows(&self, claim: &str) -> bool {
        (1..=self.seq).rev().take(ANSWERED).any(|seq| self.claim(seq) == claim)
    }

    pub(super) fn claim(&self, seq: u64) -> String {
        digest(format!("{}:{seq}", self.nonce).as_bytes())
    }

    /// What is remembered of each subject.
    pub fn subjects(&self) -> impl Iterator<Item = (&RecordId, View)> {
        self.records.all().map(|slot| (&self.records.record(slot).id, self.view(slot, usize::MAX)))
    }

    /// What is remembered of a record, at most `most` keys of each sort.
    pub(super) fn view(&self, slot: Slot, most: usize) -> View {
        self.view_of(slot, most, |_| true)
    }

    /// The same of those keys that no line tells now.
    pub(super) fn silent(&self, slot: Slot, most: usize) -> View {
        self.view_of(slot, most, |key| key.due.is_none())
    }

    fn view_of(&self, slot: Slot, most: usize, is_shown: impl Fn(&Key) -> bool) -> View {
        let record = self.records.record(slot);
        let mut view = View { next_at: record.judged, ..View::default() };
        for (name, key) in self.records.keys(slot).filter(|(_, key)| is_shown(key)) {
            let waits = key.told.is_none() || key.due.is_some();
            let (list, beyond) = if waits {
                (&mut view.held, &mut view.held_beyond)
            } else {
                (&mut view.masked, &mut view.masked_beyond)
            };
            if list.len() < most {
                list.push(key.entry(name));
            } else {
                *beyond += 1;
            }
        }
        view
    }

    /// Reads a state. Of what has a wrong type only that field or key is lost.
    ///
    /// # Errors
    ///
    /// A text of another version is refused: the caller must leave it as it is.
    pub fn from_json(text: &str) -> Result<Self, Refused> {
        let malformed = |err: serde_json::Error| Refused::Malformed(err.to_string());
        let Sound = serde_json::from_str(text).map_err(malformed)?;
        let mut fields: Fields<'_> = serde_json::from_str(text).map_err(malformed)?;
        let version: Option<&RawValue> = fields.raw("version");
        if version.is_none_or(|version| version.get() != VERSION.to_string()) {
            let found = version.map_or("missing", RawValue::get);
            return Err(Refused::Version(shared::text::head(found, 40).to_owned()));
        }
        // Claims must not come back: without their number they are given another beginning.
        let claims = fields.get::<u64>("seq").zip(fields.get::<String>("nonce"));
        let claims = claims.filter(|(_, nonce)| !nonce.is_empty());
        let (seq, nonce) = claims.unwrap_or_else(|| (0, digest(text.as_bytes())));
        let mut records = Records::default();
        for (id, raw) in fields.object("subjects").into_iter().flat_map(Fields::entries) {
            read_record(&mut records, &id, raw);
        }
        Ok(Self {
            watch: fields.take("watch"),
            // The first call tells what time it is.
            created: fields.get("created_ms").unwrap_or(Ms::MAX),
            outcome: fields.object("outcome").and_then(Outcome::read),
            emitting: fields.object("emitting").and_then(Emitting::read),
            in_flight: fields.object("in_flight").and_then(InFlight::read),
            spent: fields.object("spent").map(Spent::read).unwrap_or_default(),
            guard: fields.object("guard").map(Guard::read).unwrap_or_default(),
            acks: fields.take("acks"),
            counters: fields.object("counters").map(Counters::read).unwrap_or_default(),
            nonce,
            seq,
            ids: Ids::read(&fields.list("ids")),
            records,
            rest: fields.rest(),
        })
    }
}

fn read_record(records: &mut Records, id: &str, raw: &RawValue) {
    let bars = id.matches('|').count();
    if !((id.starts_with("r|") && bars >= 3) || (id.starts_with("e|") && bars >= 2)) {
        return;
    }
    let Some(mut fields) = Fields::of(raw) else { return };
    let keys = fields.object("keys");
    let mut record = Record::read(RecordId(id.into()), &mut fields);
    record.rest = fields.rest();
    let slot = records.add(record);
    for (name, raw) in keys.into_iter().flat_map(Fields::entries) {
        if !name.starts_with([REVISION, NEVER]) {
            continue;
        }
        let Some(key) = Key::read(raw) else { continue };
        let name = Name::from(name);
        let is_there = key.active || key.told.is_some();
        if let Some(seen) = records.record_mut(slot).seen.as_mut().filter(|_| is_there) {
            seen.present.insert(name.clone());
        }
        records.put_key(slot, name, key);
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("version", &VERSION)?;
        map.serialize_entry("watch", &self.watch)?;
        map.serialize_entry("nonce", &self.nonce)?;
        map.serialize_entry("created_ms", &self.created)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("outcome", &self.outcome)?;
        map.serialize_entry("emitting", &self.emitting)?;
        map.serialize_entry("in_flight", &self.in_flight)?;
        map.serialize_entry("spent", &self.spent)?;
        map.serialize_entry("guard", &self.guard)?;
        map.serialize_entry("acks", &self.acks)?;
        map.serialize_entry("ids", &self.ids)?;
        map.serialize_entry("counters", &self.counters)?;
        map.serialize_entry("subjects", &Subjects(&self.records))?;
        for (name, raw) in self.rest.iter() {
            map.serialize_entry(name, raw)?;
        }
        map.end()
    }
}

struct Subjects<'a>(&'a Records);

impl Serialize for Subjects<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let records = self.0;
        let all = records.all().map(|slot| (records.record(slot), Subject(records, slot)));
        to.collect_map(all.map(|(record, subject)| (record.id.as_str(), subject)))
    }
}

/// A record with its keys.
struct Subject<'a>(&'a Records, Slot);

impl Serialize for Subject<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let record = self.0.record(self.1);
        let mut map = to.serialize_map(None)?;
        record.write(&mut map)?;
        map.serialize_entry("keys", &Keys(self.0, self.1))?;
        for (name, raw) in record.rest.iter() {
            map.serialize_entry(name, raw)?;
        }
        map.end()
    }
}

struct Keys<'a>(&'a Records, Slot);

impl Serialize for Keys<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let of_events = self.0.record(self.1).id.is_of_events();
        to.collect_map(self.0.keys(self.1).map(|(name, key)| (&**name, key.written(of_events))))
    }
}

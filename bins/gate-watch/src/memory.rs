//! What was said, as it outlives the process.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shared::{clock::Now, file::Stamp};

use crate::{
    content::{Facts, moment},
    digest,
    event::Version,
    name::Name,
    seen::File,
};

/// The version of the cursor file.
pub const VERSION: u32 = 1;

/// All that is remembered between looks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// A whole look was taken: what opens from then on is told.
    pub based: bool,
    /// The folder of open gates was there.
    pub listed: bool,
    /// The last look that changed this memory, in seconds since 1970.
    pub looked_at: i64,
    /// The gates in the folder of open ones, as they were last judged.
    #[serde(with = "pairs")]
    pub gates: BTreeMap<Name, Gate>,
    /// Every name that was seen among the records, but for gates that opened again.
    pub records: BTreeSet<Name>,
    /// Gates that were told as resolved without a record: one that comes later is no news.
    pub gone: BTreeSet<Name>,
}

/// What is remembered of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// It is open; else its own content says that it is answered.
    pub open: bool,
    /// Its long wait was told.
    pub waited: bool,
    /// The hash of its content as JSON.
    pub digest: u64,
    /// The hash of its `created_at`.
    pub created: Option<u64>,
    /// The file's state when it was last judged.
    pub version: Version,
    /// The hash of its stamp; `None` when that counts as different next time.
    #[serde(skip)]
    stamp: Option<u64>,
    /// When it was asked, in milliseconds since boot: below zero for before.
    #[serde(skip)]
    asked_ms: Option<i64>,
}

impl Gate {
    /// A gate as `file` shows it for the first time.
    #[must_use]
    pub fn new(file: &File, now: &Now) -> Self {
        let mut gate = Self {
            open: false,
            waited: false,
            digest: 0,
            created: None,
            version: Version::default(),
            stamp: None,
            asked_ms: None,
        };
        gate.update(file, now);
        gate
    }

    /// Takes over what `file` shows. Of what can't be read, the time of asking stays.
    pub fn update(&mut self, file: &File, now: &Now) {
        self.version = version(&file.stamp);
        self.stamp = (!file.young).then(|| stamp_hash(&file.stamp));
        let facts = match &file.said {
            None => return,
            Some(Ok(read)) => Some(&read.facts),
            Some(Err(_)) => None,
        };
        self.open = facts.is_none_or(|facts| !facts.answered);
        self.digest = said_hash(file);
        self.created = facts.and_then(created_hash).or(self.created);
        let asked = facts.and_then(asked_at).unwrap_or_else(|| modified_at(&file.stamp));
        self.asked_ms.get_or_insert_with(|| boot_ms(asked, now));
    }

    /// Whether the file has been read in this state.
    #[must_use]
    pub fn knows(&self, stamp: &Stamp) -> bool {
        self.stamp == Some(stamp_hash(stamp))
    }

    /// Whether what `file` says means the same as what is remembered.
    #[must_use]
    pub fn agrees(&self, file: &File) -> bool {
        self.digest == said_hash(file)
    }

    /// Whether `facts` are of another gate of the same name.
    #[must_use]
    pub fn is_other(&self, facts: &Facts) -> bool {
        matches!((self.created, created_hash(facts)), (Some(was), Some(is)) if was != is)
    }

    /// For how long it has been open. Suspends count; steps of the clock don't.
    #[must_use]
    pub fn age(&self, now: &Now) -> Duration {
        let asked = self.asked_ms.unwrap_or_else(|| millis(now.boot));
        Duration::from_millis(u64::try_from(millis(now.boot) - asked).unwrap_or(0))
    }
}

/// The state of a file with this stamp, as events name it.
#[must_use]
pub fn version(stamp: &Stamp) -> Version {
    let clamped = stamp.modified_ns.clamp(i64::MIN.into(), i64::MAX.into());
    Version { modified_ns: i64::try_from(clamped).unwrap_or(0), size: stamp.size }
}

/// When the file was last written.
#[must_use]
pub fn modified_at(stamp: &Stamp) -> Timestamp {
    Timestamp::from_nanosecond(stamp.modified_ns).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn asked_at(facts: &Facts) -> Option<Timestamp> {
    moment(facts.created_at.as_ref()?)
}

fn created_hash(facts: &Facts) -> Option<u64> {
    facts.created_at.as_ref().map(|text| digest::of_bytes(text.as_bytes()))
}

/// The hash of a file's content, or of why it has none.
fn said_hash(file: &File) -> u64 {
    match &file.said {
        Some(Ok(read)) => read.facts.digest,
        Some(Err(flaw)) => digest::of_bytes(&[0, *flaw as u8]),
        None => 0,
    }
}

fn stamp_hash(stamp: &Stamp) -> u64 {
    let (device, inode) = stamp.file;
    let mut bytes = Vec::with_capacity(56);
    bytes.extend([device, inode, stamp.size].into_iter().flat_map(u64::to_le_bytes));
    bytes.extend([stamp.modified_ns, stamp.changed_ns].into_iter().flat_map(i128::to_le_bytes));
    digest::of_bytes(&bytes)
}

/// A moment of wall time, on the clock that counts from boot; none lies in the future.
fn boot_ms(moment: Timestamp, now: &Now) -> i64 {
    let ago = now.wall.as_millisecond().saturating_sub(moment.as_millisecond()).max(0);
    millis(now.boot).saturating_sub(ago)
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// A map as a list of pairs: the keys of a JSON object can't be any bytes.
mod pairs {
    use super::{BTreeMap, Deserialize as _, Deserializer, Gate, Name, Serializer};

    pub(super) fn serialize<S: Serializer>(
        gates: &BTreeMap<Name, Gate>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        out.collect_seq(gates)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<Name, Gate>, D::Error> {
        Vec::<(Name, Gate)>::deserialize(from).map(|pairs| pairs.into_iter().collect())
    }
}

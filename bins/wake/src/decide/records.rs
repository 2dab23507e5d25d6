//! All records and their keys, with ordered sets of what is due, what waits and until when, so
//! that no input walks over all of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
};

use super::{
    Ms, RecordId,
    key::{Key, Name, Place},
    record::Record,
};

/// A record's number while the program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(u32);

/// Where a key stands, and at which time.
type Spot = (Slot, Place, Ms, Name);

/// Records and their keys.
#[derive(Debug, Clone)]
pub(super) struct Records {
    slots: BTreeMap<RecordId, Slot>,
    all: BTreeMap<Slot, Record>,
    keys: BTreeMap<(Slot, Name), Key>,
    next: u32,
    /// What a number without a record stands for.
    nobody: Record,

    /// How long a mask lasts.
    repeat: Ms,
    spots: BTreeSet<Spot>,
    timers: Agenda,
    chores: Agenda,
    /// Those with something to print.
    ready: BTreeSet<Slot>,
}

impl Default for Records {
    fn default() -> Self {
        Self {
            slots: BTreeMap::new(),
            all: BTreeMap::new(),
            keys: BTreeMap::new(),
            next: 0,
            nobody: Record::new(RecordId("".into()), 0),
            repeat: 0,
            spots: BTreeSet::new(),
            timers: Agenda::default(),
            chores: Agenda::default(),
            ready: BTreeSet::new(),
        }
    }
}

impl Records {
    /// Orders what was read from a state; `repeat` is how long a mask lasts.
    pub(super) fn arrange(&mut self, repeat: Ms) {
        self.repeat = repeat;
        let spots = self.keys.iter().map(|((slot, name), key)| {
            let (place, at) = key.place(name, repeat);
            (*slot, place, at, name.clone())
        });
        self.spots = spots.collect();
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// All records, by name.
    pub(super) fn all(&self) -> impl Iterator<Item = Slot> {
        self.slots.values().copied()
    }

    pub(super) fn find(&self, id: &RecordId) -> Option<Slot> {
        self.slots.get(id).copied()
    }

    pub(super) fn add(&mut self, record: Record) -> Slot {
        let slot = Slot(self.next);
        self.next = self.next.wrapping_add(1);
        self.slots.insert(record.id.clone(), slot);
        self.all.insert(slot, record);
        slot
    }

    pub(super) fn remove(&mut self, slot: Slot) {
        for name in self.names(slot) {
            self.drop_key(slot, &name);
        }
        if let Some(record) = self.all.remove(&slot) {
            self.slots.remove(&record.id);
        }
        self.timers.put(slot, None);
        self.chores.put(slot, None);
        self.ready.remove(&slot);
    }

    pub(super) fn record(&self, slot: Slot) -> &Record {
        self.all.get(&slot).unwrap_or(&self.nobody)
    }

    pub(super) fn record_mut(&mut self, slot: Slot) -> &mut Record {
        self.all.get_mut(&slot).unwrap_or(&mut self.nobody)
    }

    pub(super) fn key(&self, slot: Slot, name: &Name) -> Option<&Key> {
        self.keys.get(&(slot, name.clone()))
    }

    /// The keys of a record, by name.
    pub(super) fn keys(&self, slot: Slot) -> impl Iterator<Item = (&Name, &Key)> {
        let all = self.keys.range((slot, Name::from(""))..);
        all.take_while(move |((of, _), _)| *of == slot).map(|((_, name), key)| (name, key))
    }

    pub(super) fn names(&self, slot: Slot) -> Vec<Name> {
        self.keys(slot).map(|(name, _)| name.clone()).collect()
    }

    pub(super) fn has_keys(&self, slot: Slot) -> bool {
        self.keys(slot).next().is_some()
    }

    /// The names of a record that begin with `scope`.
    pub(super) fn scope(&self, slot: Slot, scope: char) -> Vec<Name> {
        let all = self.keys.range((slot, Name::from(scope.to_string()))..);
        let fits = |(of, name): &(Slot, Name)| *of == slot && name.starts_with(scope);
        all.map(|(at, _)| at).take_while(|at| fits(at)).map(|(_, name)| name.clone()).collect()
    }

    pub(super) fn put_key(&mut self, slot: Slot, name: Name, key: Key) {
        self.drop_key(slot, &name);
        let (place, at) = key.place(&name, self.repeat);
        self.spots.insert((slot, place, at, name.clone()));
        self.keys.insert((slot, name), key);
    }

    /// Changes a key, and says whether it is there.
    pub(super) fn edit(&mut self, slot: Slot, name: &Name, change: impl FnOnce(&mut Key)) -> bool {
        let Some(key) = self.keys.get_mut(&(slot, name.clone())) else { return false };
        let (place, at) = key.place(name, self.repeat);
        change(key);
        let moved = key.place(name, self.repeat);
        if moved != (place, at) {
            self.spots.remove(&(slot, place, at, name.clone()));
            self.spots.insert((slot, moved.0, moved.1, name.clone()));
        }
        true
    }

    pub(super) fn drop_key(&mut self, slot: Slot, name: &Name) -> Option<Key> {
        let key = self.keys.remove(&(slot, name.clone()))?;
        let (place, at) = key.place(name, self.repeat);
        self.spots.remove(&(slot, place, at, name.clone()));
        Some(key)
    }

    /// What stands in a place of a record, the earliest first.
    pub(super) fn at(&self, slot: Slot, place: Place) -> impl Iterator<Item = (Ms, &Name)> {
        let all = self.spots.range((slot, place, 0, Name::from(""))..);
        all.take_while(move |(of, here, ..)| (*of, *here) == (slot, place))
            .map(|(_, _, at, name)| (*at, name))
    }

    /// The time of the earliest in a place.
    pub(super) fn first(&self, slot: Slot, place: Place) -> Option<Ms> {
        self.at(slot, place).next().map(|(at, _)| at)
    }

    /// The keys of a record that are due, and why; the strongest reason first.
    pub(super) fn due(&self, slot: Slot) -> impl Iterator<Item = (super::key::Trigger, &Name)> {
        let begin = (slot, Place::Due(super::key::Trigger::Unconfirmed), 0, Name::from(""));
        self.spots.range(begin..).map_while(move |(of, place, _, name)| match place {
            Place::Due(trigger) if *of == slot => Some((*trigger, name)),
            _ => None,
        })
    }

    /// Whether something of a record waits to be told.
    pub(super) fn holds(&self, slot: Slot) -> bool {
        let begin = (slot, Place::Due(super::key::Trigger::Unconfirmed), 0, Name::from(""));
        let first = self.spots.range(begin..).next();
        first.is_some_and(|(of, place, ..)| *of == slot && *place < Place::Masked)
    }

    /// The told keys of a record whose mask has fallen at `now`. A stamp in the future, the last
    /// in its place, counts as one long ago.
    pub(super) fn unmasked(&self, slot: Slot, now: Ms) -> Vec<Name> {
        let begin = (slot, Place::Masked, 0, Name::from(""));
        let end = (slot, Place::Gone, 0, Name::from(""));
        let masked = self.spots.range((Bound::Included(begin), Bound::Excluded(end)));
        let ahead = now.saturating_add(self.repeat);
        let later = masked.clone().rev().take_while(|(_, _, at, _)| *at > ahead);
        let before = masked.take_while(|(_, _, at, _)| *at <= now);
        before.chain(later).map(|(.., name)| name.clone()).collect()
    }

    /// When the first mask of a record falls, seen from `now`.
    pub(super) fn unmasks_at(&self, slot: Slot, now: Ms) -> Option<Ms> {
        let begin = (slot, Place::Masked, 0, Name::from(""));
        let end = (slot, Place::Gone, 0, Name::from(""));
        let mut masked = self.spots.range((Bound::Included(begin), Bound::Excluded(end)));
        let last = masked.clone().next_back().map(|spot| spot.2)?;
        let is_ahead = last > now.saturating_add(self.repeat);
        if is_ahead { Some(now) } else { masked.next().map(|spot| spot.2) }
    }

    pub(super) fn set_timer(&mut self, slot: Slot, at: Option<Ms>) {
        self.timers.put(slot, at);
    }

    pub(super) fn set_chore(&mut self, slot: Slot, at: Option<Ms>) {
        self.chores.put(slot, at);
    }

    pub(super) fn set_ready(&mut self, slot: Slot, is_ready: bool) {
        if is_ready {
            self.ready.insert(slot);
        } else {
            self.ready.remove(&slot);
        }
    }

    pub(super) fn ready(&self) -> &BTreeSet<Slot> {
        &self.ready
    }

    pub(super) fn next_timer(&self) -> Option<Ms> {
        self.timers.first()
    }

    pub(super) fn timer(&self, slot: Slot) -> Option<Ms> {
        self.timers.of.get(&slot).copied()
    }

    /// The records to judge at `now`, the earliest first.
    pub(super) fn timers_due(&self, now: Ms) -> Vec<Slot> {
        self.timers.due(now)
    }

    /// The records to tidy at `now`.
    pub(super) fn chores_due(&self, now: Ms) -> Vec<Slot> {
        self.chores.due(now)
    }
}

/// One time for each record that has one, in order.
#[derive(Debug, Clone, Default)]
struct Agenda {
    order: BTreeSet<(Ms, Slot)>,
    of: BTreeMap<Slot, Ms>,
}

impl Agenda {
    fn put(&mut self, slot: Slot, at: Option<Ms>) {
        let before = match at {
            Some(at) => self.of.insert(slot, at),
            None => self.of.remove(&slot),
        };
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.order.remove(&(before, slot));
        }
        if let Some(at) = at {
            self.order.insert((at, slot));
        }
    }

    fn first(&self) -> Option<Ms> {
        self.order.first().map(|(at, _)| *at)
    }

    fn due(&self, now: Ms) -> Vec<Slot> {
        self.order.iter().take_while(|(at, _)| *at <= now).map(|(_, slot)| *slot).collect()
    }
}

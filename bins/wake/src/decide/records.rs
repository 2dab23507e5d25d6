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

/// A record's number while the program runs: its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(u32);

impl Slot {
    fn at(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// Where a key stands, and at which time.
type Spot = (Slot, Place, Ms, Name);

/// Records and their keys.
#[derive(Debug, Clone)]
pub(super) struct Records {
    slots: BTreeMap<RecordId, Slot>,
    list: Vec<Option<Record>>,
    /// Places in the list that are empty.
    free: Vec<Slot>,
    keys: BTreeMap<(Slot, Name), Key>,
    /// What a number without a record stands for.
    nobody: Record,

    /// How long a mask lasts.
    repeat: Ms,
    spots: BTreeSet<Spot>,
    /// When records are judged, and tidied, though nothing comes.
    timers: BTreeSet<(Ms, Slot)>,
    chores: BTreeSet<(Ms, Slot)>,
    /// Those with something to print.
    ready: BTreeSet<Slot>,
}

impl Default for Records {
    fn default() -> Self {
        Self {
            slots: BTreeMap::new(),
            list: Vec::new(),
            free: Vec::new(),
            keys: BTreeMap::new(),
            nobody: Record::new(RecordId("".into()), 0),
            repeat: 0,
            spots: BTreeSet::new(),
            timers: BTreeSet::new(),
            chores: BTreeSet::new(),
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
        self.slots.len()
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
        let slot = self.free.pop().unwrap_or_else(|| {
            self.list.push(None);
            Slot(u32::try_from(self.list.len() - 1).unwrap_or(u32::MAX))
        });
        self.slots.insert(record.id.clone(), slot);
        if let Some(place) = self.list.get_mut(slot.at()) {
            *place = Some(record);
        }
        slot
    }

    pub(super) fn remove(&mut self, slot: Slot) {
        for name in self.names(slot) {
            self.drop_key(slot, &name);
        }
        self.set_timer(slot, None);
        self.set_chore(slot, None);
        self.ready.remove(&slot);
        if let Some(record) = self.list.get_mut(slot.at()).and_then(Option::take) {
            self.slots.remove(&record.id);
            self.free.push(slot);
        }
    }

    pub(super) fn record(&self, slot: Slot) -> &Record {
        self.list.get(slot.at()).and_then(Option::as_ref).unwrap_or(&self.nobody)
    }

    pub(super) fn record_mut(&mut self, slot: Slot) -> &mut Record {
        self.list.get_mut(slot.at()).and_then(Option::as_mut).unwrap_or(&mut self.nobody)
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
        let before = std::mem::replace(&mut self.record_mut(slot).judged, at);
        shift(&mut self.timers, slot, before, at);
    }

    pub(super) fn set_chore(&mut self, slot: Slot, at: Option<Ms>) {
        let before = std::mem::replace(&mut self.record_mut(slot).tidied, at);
        shift(&mut self.chores, slot, before, at);
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
        self.timers.first().map(|(at, _)| *at)
    }

    /// The records to judge at `now`, the earliest first.
    pub(super) fn timers_due(&self, now: Ms) -> Vec<Slot> {
        due(&self.timers, now)
    }

    /// The records to tidy at `now`.
    pub(super) fn chores_due(&self, now: Ms) -> Vec<Slot> {
        due(&self.chores, now)
    }
}

/// Moves a record from one time to another.
fn shift(agenda: &mut BTreeSet<(Ms, Slot)>, slot: Slot, before: Option<Ms>, at: Option<Ms>) {
    if before == at {
        return;
    }
    if let Some(before) = before {
        agenda.remove(&(before, slot));
    }
    if let Some(at) = at {
        agenda.insert((at, slot));
    }
}

fn due(agenda: &BTreeSet<(Ms, Slot)>, now: Ms) -> Vec<Slot> {
    agenda.iter().take_while(|(at, _)| *at <= now).map(|(_, slot)| *slot).collect()
}

//! The table: what was said of an item, what it is now, and what is to be said. Pure.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    rc::Rc,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use shared::{clock::Now, text};

use crate::{
    clocks::{Gap, wall_ns},
    event::{
        Ending, Event, Flaw, HeartbeatInvalid, HeartbeatRecovered, HeartbeatWarning, Previous,
        Severity,
    },
    lease::{End, Lease},
    rules::{Rules, remaining_seconds},
    store::{Item, Store},
};

/// The most bytes of a value that is no lease.
const VALUE: usize = 64;

/// What was said and still stands, by the names of the items.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Leases near their end or past it.
    pub leases: BTreeMap<Rc<str>, SaidLease>,
    /// Leases that can't be read.
    pub flaws: BTreeMap<Rc<str>, SaidFlaw>,
    /// The places of elements that are no items.
    pub strangers: BTreeSet<usize>,
}

/// What was said of a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaidLease {
    /// The item's id.
    pub id: Rc<str>,
    /// The session that held it.
    pub owner: Rc<str>,
    /// The end of the lease.
    pub lease: Rc<str>,
    /// How near that was.
    pub severity: Severity,
}

/// What was said of a lease that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaidFlaw {
    /// The item's id.
    pub id: Rc<str>,
    /// What is wrong.
    pub reason: Flaw,
    /// The value, as far as it is told.
    pub value: Option<Rc<str>>,
}

/// Items whose severity changed while nobody could be expected to renew, by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held(BTreeMap<Rc<str>, Hold>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Hold {
    owner: Rc<str>,
    lease: Rc<str>,
    until: Duration,
}

/// A store that was read whole, and when.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// The store.
    pub store: &'a Store,
    /// Whether it may be half of a commit, whose writer died.
    pub wal_pending: bool,
    /// The clocks.
    pub now: &'a Now,
}

/// What comes of a store.
#[derive(Debug, Default)]
pub struct Verdict {
    /// What is to be said: recoveries by key, then the rest in file order.
    pub events: Vec<Event>,
    /// How long it is to the next moment at which time alone changes something.
    pub next: Option<Duration>,
}

impl Held {
    /// Holds back the items whose severity changed within `gap`.
    pub fn hold(&mut self, gap: Gap, rules: &Rules, store: &Store) {
        for item in store.items.iter().filter(|item| item.is_implementing()) {
            if let Lease::Until(end, lease) = &item.lease
                && rules.window(*end).changed_within(gap.from, gap.to)
            {
                let (owner, lease) = (item.owner.clone(), lease.clone());
                self.0.insert(item.name().clone(), Hold { owner, lease, until: gap.until });
            }
        }
    }
}

/// Compares what was said with what is seen, and brings the former up to date.
pub fn judge(said: &mut Said, held: &mut Held, rules: &Rules, sight: Sight<'_>) -> Verdict {
    let mut judge = Judge { said, held, rules, sight, next: None };
    let mut recovered = judge.departures();
    let mut events = Vec::new();
    let mut strangers = judge.strangers().into_iter().peekable();
    for item in sight.store.items.iter().filter(|item| item.is_implementing()) {
        while let Some(stranger) = strangers.next_if(|stranger| stranger.item_index < item.index) {
            events.push(Event::HeartbeatInvalid(stranger));
        }
        let (over, event) = judge.item(item);
        recovered.extend(over);
        events.extend(event);
    }
    events.extend(strangers.map(Event::HeartbeatInvalid));
    recovered.retain(|_| rules.tell_recovered);
    recovered.sort_by_cached_key(HeartbeatRecovered::key);
    events.splice(0..0, recovered.into_iter().map(Event::HeartbeatRecovered));
    Verdict { events, next: judge.next }
}

struct Judge<'a> {
    said: &'a mut Said,
    held: &'a mut Held,
    rules: &'a Rules,
    sight: Sight<'a>,
    next: Option<Duration>,
}

impl Judge<'_> {
    /// What was said of items that are not implementing any longer.
    fn departures(&mut self) -> Vec<HeartbeatRecovered> {
        if self.said.leases.is_empty() && self.said.flaws.is_empty() && self.held.0.is_empty() {
            return Vec::new();
        }
        let present: HashMap<&str, &Item> =
            self.sight.store.items.iter().map(|item| (&**item.name(), item)).collect();
        let stays = |name: &str| present.get(name).is_some_and(|item| item.is_implementing());
        self.held.0.retain(|name, _| stays(name));
        let leases: Vec<_> = self.said.leases.extract_if(.., |name, _| !stays(name)).collect();
        let flaws: Vec<_> = self.said.flaws.extract_if(.., |name, _| !stays(name)).collect();
        let leases =
            leases.into_iter().map(|(name, said)| (name, said.id, Previous::from(said.severity)));
        let flaws = flaws.into_iter().map(|(name, said)| (name, said.id, Previous::Invalid));
        leases
            .chain(flaws)
            .map(|(name, id, previous)| {
                let item = present.get(&*name).copied();
                self.recovered(name, id, previous, departure(item), item)
            })
            .collect()
    }

    /// Elements that are no items, each told once.
    fn strangers(&mut self) -> Vec<HeartbeatInvalid> {
        let present: BTreeSet<usize> = self.sight.store.strangers.iter().copied().collect();
        let new: Vec<usize> = present.difference(&self.said.strangers).copied().collect();
        self.said.strangers = present;
        new.into_iter()
            .map(|index| HeartbeatInvalid {
                name: format!("#{index}").into(),
                work_item_id: Rc::default(),
                lease_expires_at: None,
                reason: Flaw::ItemNotObject,
                owner_session_id: Rc::default(),
                item_index: index,
                wal_pending: self.sight.wal_pending,
                duplicate: false,
                store_revision: self.sight.store.revision,
                cut: false,
            })
            .collect()
    }

    /// An item that is implementing: what is over, and what is to be said.
    fn item(&mut self, item: &Item) -> (Vec<HeartbeatRecovered>, Option<Event>) {
        let Lease::Until(end, lease) = &item.lease else {
            return (Vec::new(), self.flaw(item));
        };
        let name = item.name();
        let mut over = Vec::new();
        if let Some(said) = self.said.flaws.remove(name) {
            let (name, ending) = (name.clone(), Ending::Repaired);
            over.push(self.recovered(name, said.id, Previous::Invalid, ending, Some(item)));
        }
        if let Some(healthy) = self.healthy(item, *end, lease) {
            over.push(healthy);
            return (over, None);
        }
        (over, self.standing(item, *end, lease))
    }

    /// The lease can't be read: told once per value. What was said of it before stays.
    fn flaw(&mut self, item: &Item) -> Option<Event> {
        let reason = match &item.lease {
            Lease::Malformed(text) if !text.is_empty() => Flaw::LeaseMalformed,
            Lease::NotString(_) => Flaw::LeaseNotString,
            Lease::Absent | Lease::Malformed(_) | Lease::Until(..) => Flaw::LeaseMissing,
        };
        let whole = item.lease.text();
        let value = whole.map(|text| Rc::from(text::head(text, VALUE)));
        let said = SaidFlaw { id: item.id.clone(), reason, value: value.clone() };
        let before = self.said.flaws.insert(item.name().clone(), said);
        if before.is_some_and(|before| before.reason == reason && before.value == value) {
            return None;
        }
        Some(Event::HeartbeatInvalid(HeartbeatInvalid {
            name: item.name().clone(),
            work_item_id: item.id.clone(),
            cut: whole.map(|text| text.len()) > value.as_ref().map(|text| text.len()),
            lease_expires_at: value,
            reason,
            owner_session_id: item.owner.clone(),
            item_index: item.index,
            wal_pending: self.sight.wal_pending,
            duplicate: item.duplicate,
            store_revision: self.sight.store.revision,
        }))
    }

    /// What was said is over, because another record gives the item time. A record that is healthy
    /// only because the clock moved is no news: what was said of it stays said.
    fn healthy(&mut self, item: &Item, end: End, lease: &Rc<str>) -> Option<HeartbeatRecovered> {
        if self.rules.window(end).severity(wall_ns(self.sight.now)).is_some() {
            return None;
        }
        let said = self.said.leases.get(item.name())?;
        let ending = if said.owner != item.owner {
            Ending::OwnerChanged
        } else if said.lease != *lease {
            Ending::Renewed
        } else {
            return None;
        };
        let said = self.said.leases.remove(item.name())?;
        let name = item.name().clone();
        Some(self.recovered(name, said.id, said.severity.into(), ending, Some(item)))
    }

    /// The lease is near its end or past it, or will be.
    fn standing(&mut self, item: &Item, end: End, lease: &Rc<str>) -> Option<Event> {
        let wall = wall_ns(self.sight.now);
        let window = self.rules.window(end);
        let resumed = match self.holds(item, lease) {
            Some(left) if !left.is_zero() => {
                self.look_in(Some(left));
                return None;
            }
            hold => hold.is_some(),
        };
        self.look_in(window.next(wall));
        let severity = window.severity(wall)?;
        let before = self.said.leases.get(item.name());
        let renewed = match before {
            None => false,
            // Of one record the severity only grows; less of it is a clock that moved back.
            Some(said) if said.owner == item.owner && said.lease == *lease => {
                if severity <= said.severity {
                    return None;
                }
                false
            }
            Some(said) => said.owner == item.owner && said.severity == severity,
        };
        let said = SaidLease {
            id: item.id.clone(),
            owner: item.owner.clone(),
            lease: lease.clone(),
            severity,
        };
        self.said.leases.insert(item.name().clone(), said);
        if renewed && !self.rules.emit_renewals {
            return None;
        }
        Some(Event::HeartbeatWarning(HeartbeatWarning {
            name: item.name().clone(),
            work_item_id: item.id.clone(),
            lease_expires_at: lease.clone(),
            remaining_seconds: remaining_seconds(end, wall),
            severity,
            owner_session_id: item.owner.clone(),
            lease_naive: end.naive,
            renewed,
            resumed,
            wal_pending: self.sight.wal_pending,
            duplicate: item.duplicate,
            item_index: item.id.is_empty().then_some(item.index),
            store_revision: self.sight.store.revision,
        }))
    }

    /// How long the item is held back still; `None` if it isn't. A hold that is over, or whose
    /// record is another, is forgotten.
    fn holds(&mut self, item: &Item, lease: &Rc<str>) -> Option<Duration> {
        let hold = self.held.0.get(item.name())?;
        let same = hold.owner == item.owner && hold.lease == *lease;
        let left = hold.until.saturating_sub(self.sight.now.monotonic);
        if !same || left.is_zero() {
            self.held.0.remove(item.name());
        }
        same.then_some(left)
    }

    fn look_in(&mut self, span: Option<Duration>) {
        self.next = [self.next, span].into_iter().flatten().min();
    }

    fn recovered(
        &self,
        name: Rc<str>,
        work_item_id: Rc<str>,
        previous_severity: Previous,
        reason: Ending,
        item: Option<&Item>,
    ) -> HeartbeatRecovered {
        HeartbeatRecovered {
            name,
            work_item_id,
            reason,
            previous_severity,
            status: item.and_then(|item| item.status.clone()),
            owner_session_id: item.map(|item| item.owner.clone()),
            lease_expires_at: item.and_then(|item| item.lease.text().cloned()),
            wal_pending: self.sight.wal_pending,
            store_revision: self.sight.store.revision,
        }
    }
}

/// How an item that was implementing left.
fn departure(item: Option<&Item>) -> Ending {
    match item.map(|item| item.status.as_deref()) {
        None => Ending::Removed,
        Some(Some("done")) => Ending::Done,
        Some(Some("ready" | "pending")) => Ending::Requeued,
        Some(_) => Ending::Released,
    }
}

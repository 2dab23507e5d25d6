//! What is worth saying of what a look found: pure, but for the memory it keeps.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use jiff::Timestamp;
use shared::{
    clock::Now,
    health::Health,
    session::{Look, Pass},
    watch::Change,
};

use crate::{
    event::{Asked, Event, Resolution, Resolved, Waiting},
    memory::{Gate, Memory, version},
    name::Name,
    probe::{Interest, open_folder},
    readings::Found,
    seen::{Listing, Record, Seen},
    sight::{Sight, View},
    verdict::{Case, Notice, Verdict, next_try},
};

mod turn;
mod wanted;

use turn::{Rank, Turn};
use wanted::Wanted;

/// How long a commit of the state may take.
const COMMIT: Duration = Duration::from_secs(2);

/// What the command line asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    /// Tell what is open at the start.
    pub emit_current: bool,
    /// Tell once of a gate that is open this long.
    pub warn_after: Option<Duration>,
    /// Print all that holds at every look, not what changed.
    pub readings: bool,
}

/// What a look came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// What to say of the program itself.
    pub health: Vec<Health>,
    /// What to say of the gates.
    pub events: Vec<Event>,
    /// What holds, where that is asked for.
    pub found: Option<Found>,
    /// How the look went.
    pub look: Look,
    /// When to look again, on the monotonic clock.
    pub due: Option<Duration>,
}

/// Compares looks with what was said.
#[derive(Debug, Clone)]
pub struct Judge {
    rules: Rules,
    memory: Memory,
    sight: Sight,
    /// What was noticed and is not to be told yet.
    notices: BTreeMap<Name, Notice>,
    /// Records from before are no news.
    since: Option<Timestamp>,
    /// The folder of open gates was seen to go.
    went: bool,
    /// The last look saw everything, and nothing of it is left to tell.
    rests: bool,
    /// When the next gate will have waited long, on the boot clock.
    waits_until: Option<Duration>,
}

impl Judge {
    /// Begins with what was remembered. Without a memory the first whole look is the baseline.
    #[must_use]
    pub fn new(rules: Rules, sight: Sight, memory: Memory) -> Self {
        let since = Timestamp::from_second(memory.looked_at).ok().filter(|_| memory.based);
        Self {
            rules,
            memory,
            sight,
            notices: BTreeMap::new(),
            since,
            went: false,
            rests: false,
            waits_until: None,
        }
    }

    /// What is to outlive the process.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Takes what went by before a look at `dir`: a gate that was removed and made again between
    /// two looks is another one.
    pub fn note(&mut self, dir: &Path, pass: &Pass) {
        let open = open_folder(dir);
        self.since.get_or_insert(pass.now.wall);
        for change in &pass.changes.list {
            let Change::Removed(path) = change else { continue };
            self.went |= open.starts_with(path);
            let name = path.file_name().filter(|_| path.parent() == Some(&open));
            let Some(name) = name.and_then(Name::new) else { continue };
            if self.is_open(&name) {
                let fresh = Notice::new(pass.now.monotonic, false);
                self.notices.entry(name).or_insert(fresh).removed = true;
            }
        }
    }

    /// What a look comes to that would find what the last one did; `None` when one is due.
    #[must_use]
    pub fn rest(&self, now: &Now) -> Option<Decided> {
        let is_due = self.waits_until.is_some_and(|until| until <= now.boot);
        (self.rests && !is_due && !self.rules.readings).then(|| Decided {
            health: Vec::new(),
            events: Vec::new(),
            found: None,
            look: Look::Whole,
            due: self.next_wait(now),
        })
    }

    /// What a look that is about to be taken has to read; with `all`, every gate.
    #[must_use]
    pub fn interest<'a>(&'a self, all: bool, now: &'a Now) -> impl Interest + use<'a> {
        Wanted { judge: self, all, now }
    }

    /// Judges a look at `dir`, and takes over what is told of it.
    pub fn decide(&mut self, dir: &Path, seen: &Seen, now: &Now) -> Decided {
        let went = std::mem::take(&mut self.went);
        let sighted = self.sight.judge(dir, seen, self.memory.listed, went, now);
        let (mut events, look, due) = match sighted.view {
            View::Clear => self.compare(seen, now),
            View::Returning(due) => (Vec::new(), Look::Settling, Some(due)),
            View::Blind(due) => (Vec::new(), Look::Blind, due),
        };
        if sighted.view != View::Clear {
            // What comes back is compared with the last good list, not with how it went.
            self.notices.clear();
        }
        if !seen.has_dir && !self.memory.based {
            // Where there is no folder no gate is open: those that come with it are new.
            self.memory.based = true;
            self.memory.looked_at = now.timestamp().as_second();
        }
        self.rests = look == Look::Whole;
        let (mut health, mut found) = (sighted.blind_health, None);
        if self.rules.readings {
            // A failed reading says it all.
            health.clear();
            let is_told = sighted.view == View::Clear && look != Look::Settling;
            if is_told || sighted.blindness.is_some() || !events.is_empty() {
                found = Some(Found::new(&self.memory, seen, &events, sighted.blindness));
            }
            events.clear();
        }
        health.extend(sighted.record_health);
        Decided { health, events, found, look, due }
    }

    /// Compares a look that saw the open gates with what was said of them.
    fn compare(&mut self, seen: &Seen, now: &Now) -> (Vec<Event>, Look, Option<Duration>) {
        let is_first = !std::mem::replace(&mut self.memory.based, true);
        let was_listed = self.memory.listed;
        self.memory.listed |= seen.open.found().is_some();
        let mut turn = Turn::new(seen, now);
        turn.changed = is_first || was_listed != self.memory.listed;
        for name in self.names(seen) {
            self.settle(&mut turn, name, is_first);
        }
        self.wait(&mut turn);
        if turn.changed {
            self.memory.looked_at = now.timestamp().as_second();
        }
        let due = turn.due.into_iter().chain(self.next_wait(now)).min();
        self.notices = turn.notices;
        let look = match &seen.records {
            _ if !self.notices.is_empty() => Look::Settling,
            Listing::Refused(_) => Look::Blind,
            Listing::Absent | Listing::Listed { .. } => Look::Whole,
        };
        turn.lines.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        (turn.lines.into_iter().map(|(_, _, event)| event).collect(), look, due)
    }

    /// Every name of which there may be something to say.
    fn names(&self, seen: &Seen) -> BTreeSet<Name> {
        let read = seen.open.found().into_iter().flatten();
        let read = read.filter(|(_, file)| file.said.is_some()).map(|(name, _)| name);
        let gone = self.memory.gates.keys().filter(|name| seen.open.get(name).is_none());
        let records = seen.records.found().into_iter().flat_map(BTreeMap::keys);
        let records =
            records.filter(|name| self.is_open(name) || !self.memory.records.contains(*name));
        read.chain(gone).chain(records).cloned().collect()
    }

    /// Tells what there is to say of one name, or notices it until that is due.
    fn settle(&mut self, turn: &mut Turn<'_>, name: Name, is_first: bool) {
        let case = self.case(turn.seen, &name, is_first);
        let verdict = case.verdict();
        let mut notice = case.noticed.unwrap_or(Notice::new(turn.now.monotonic, is_first));
        notice.removed |= verdict == Verdict::Gone;
        notice.opened |= verdict == Verdict::Opened;
        let is_silent = notice.initial && !self.rules.emit_current && !self.rules.readings;
        let patience = case.patience(verdict);
        let commit = (turn.seen.in_transaction && !is_silent).then_some(COMMIT);
        let due = notice.since + patience.into_iter().chain(commit).max().unwrap_or_default();
        if verdict.is_told() && due > turn.now.monotonic {
            let retry = patience.and_then(|_| next_try(notice.since, turn.now.monotonic));
            turn.due = turn.due.into_iter().chain(retry).chain([due]).min();
            turn.notices.insert(name, notice);
            return;
        }
        match verdict {
            Verdict::Unread => {}
            Verdict::Same | Verdict::Closed => self.follow(turn, name),
            Verdict::Opened => self.open(turn, name, (!is_silent).then_some(notice.initial)),
            Verdict::Changed => self.change(turn, &name),
            Verdict::Reopened => {
                self.end(turn, &name, Resolution::Unrecorded);
                self.open(turn, name, Some(false));
            }
            Verdict::Recorded | Verdict::Answered => self.end(turn, &name, Resolution::Recorded),
            Verdict::Gone if matches!(turn.seen.records, Listing::Refused(_)) => {
                self.end(turn, &name, Resolution::Unknown);
            }
            Verdict::Gone => self.end(turn, &name, Resolution::Unrecorded),
            Verdict::Late => self.pass_by(turn, name),
        }
    }

    /// A name as it was said and as it is.
    fn case<'a>(&'a self, seen: &'a Seen, name: &Name, is_first: bool) -> Case<'a> {
        let Memory { gates, records, gone, .. } = &self.memory;
        Case {
            gate: gates.get(name),
            has_ended: records.contains(name) || gone.contains(name),
            noticed: self.notices.get(name).copied(),
            file: seen.open.get(name),
            is_recorded: self.is_recorded(seen, name),
            record: seen.records.get(name).and_then(Record::file),
            since: self.since.filter(|_| !is_first),
        }
    }

    /// Whether the name is among the records, or was when they could last be listed.
    fn is_recorded(&self, seen: &Seen, name: &Name) -> bool {
        match &seen.records {
            Listing::Refused(_) => self.memory.records.contains(name),
            Listing::Absent => false,
            Listing::Listed { found, .. } => found.contains_key(name),
        }
    }

    fn is_open(&self, name: &Name) -> bool {
        self.memory.gates.get(name).is_some_and(|gate| gate.open)
    }

    /// Takes over what there is nothing to say of.
    fn follow(&mut self, turn: &mut Turn<'_>, name: Name) {
        let is_recorded = self.is_recorded(turn.seen, &name);
        let file = turn.seen.open.get(&name).filter(|file| !is_recorded && file.said.is_some());
        let before = self.memory.gates.get(&name).map(|gate| gate.version);
        match (file, self.memory.gates.get_mut(&name)) {
            (Some(file), Some(gate)) => gate.update(file, turn.now),
            (Some(file), None) => {
                self.memory.gates.insert(name.clone(), Gate::new(file, turn.now));
            }
            (None, _) => drop(self.memory.gates.remove(&name)),
        }
        turn.changed |= before != self.memory.gates.get(&name).map(|gate| gate.version);
        turn.changed |= is_recorded && self.memory.records.insert(name);
    }

    /// A gate is open. `told` says whether it was open at the start; `None`: not worth a line.
    fn open(&mut self, turn: &mut Turn<'_>, name: Name, told: Option<bool>) {
        let Some(file) = turn.seen.open.get(&name) else { return };
        if let Some(initial) = told {
            let asked = Asked {
                initial,
                wal_pending: turn.seen.in_transaction,
                ..Asked::new(&name, version(&file.stamp), file.texts())
            };
            turn.say(Rank::Opened, &name, Event::GateOpened(asked));
        }
        self.memory.records.remove(&name);
        self.memory.gone.remove(&name);
        self.memory.gates.insert(name, Gate::new(file, turn.now));
        turn.changed = true;
    }

    fn change(&mut self, turn: &mut Turn<'_>, name: &Name) {
        let (file, gate) = (turn.seen.open.get(name), self.memory.gates.get_mut(name));
        let (Some(file), Some(gate)) = (file, gate) else { return };
        let asked = Asked {
            wal_pending: turn.seen.in_transaction,
            ..Asked::new(name, version(&file.stamp), file.texts())
        };
        turn.say(Rank::Changed, name, Event::GateChanged(asked));
        gate.update(file, turn.now);
    }

    /// A gate is no longer open.
    fn end(&mut self, turn: &mut Turn<'_>, name: &Name, resolution: Resolution) {
        let record = turn.seen.records.get(name);
        let file = turn.seen.open.get(name);
        let evidence = match resolution {
            Resolution::Recorded => record.and_then(Record::file).or(file),
            Resolution::Unrecorded | Resolution::Unknown => None,
        };
        let known = self.memory.gates.remove(name).map(|gate| gate.version).unwrap_or_default();
        let state = evidence.map_or(known, |file| version(&file.stamp));
        let texts = evidence.and_then(|file| file.texts().ok()).unwrap_or_default();
        let resolved = Resolved {
            wal_pending: turn.seen.in_transaction,
            ..Resolved::new(name, state, resolution, texts)
        };
        turn.say(Rank::Resolved, name, Event::GateResolved(resolved));
        if record.is_some() {
            self.memory.records.insert(name.clone());
            return;
        }
        self.memory.gone.insert(name.clone());
        if let (Resolution::Recorded, Some(file)) = (resolution, file) {
            self.memory.gates.insert(name.clone(), Gate::new(file, turn.now));
        }
    }

    /// A gate opened and was answered between two looks.
    fn pass_by(&mut self, turn: &mut Turn<'_>, name: Name) {
        let record = turn.seen.records.get(&name).and_then(Record::file);
        let Some(record) = record else { return };
        let (state, said) = (version(&record.stamp), record.texts());
        let wal_pending = turn.seen.in_transaction;
        let texts = said.clone().unwrap_or_default();
        let asked = Asked { late: true, wal_pending, ..Asked::new(&name, state, said) };
        let resolved = Resolved::new(&name, state, Resolution::Recorded, texts);
        let resolved = Resolved { late: true, wal_pending, ..resolved };
        // Of a pair that is told at once, the order is that of its events.
        turn.say(Rank::Opened, &name, Event::GateOpened(asked));
        turn.say(Rank::Opened, &name, Event::GateResolved(resolved));
        self.memory.gates.remove(&name);
        self.memory.records.insert(name);
    }

    /// Tells which gates have been open for long.
    fn wait(&mut self, turn: &mut Turn<'_>) {
        self.waits_until = None;
        let Some(limit) = self.rules.warn_after else { return };
        let gates = self.memory.gates.iter_mut();
        for (name, gate) in gates.filter(|(_, gate)| gate.open && !gate.waited) {
            let age = gate.age(turn.now);
            if age < limit {
                let until = turn.now.boot + limit.saturating_sub(age);
                self.waits_until = self.waits_until.into_iter().chain([until]).min();
                continue;
            }
            let file = turn.seen.open.get(name).filter(|_| !turn.notices.contains_key(name));
            let Some(file) = file else { continue };
            let texts = file.texts().unwrap_or_default();
            let waiting = Waiting::new(name, version(&file.stamp), age.as_secs(), texts);
            turn.say(Rank::Waiting, name, Event::GateWaiting(waiting));
            gate.waited = true;
        }
    }

    /// When a gate will have waited long, on the monotonic clock.
    fn next_wait(&self, now: &Now) -> Option<Duration> {
        self.waits_until.map(|until| now.monotonic + until.saturating_sub(now.boot))
    }
}

#[cfg(test)]
mod tests;

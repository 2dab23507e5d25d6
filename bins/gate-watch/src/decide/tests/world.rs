//! A state folder that is all in memory, and the judge that looks at it.

use std::{collections::BTreeMap, path::Path, time::Duration};

use shared::{
    clock::Now,
    file::Stamp,
    health::Health,
    session::Pass,
    watch::{Change, Changes},
};

use crate::{
    content::{Content, Facts},
    decide::{Decided, Judge, Rules},
    event::{Asked, Event},
    memory::Memory,
    name::Name,
    probe::{Interest as _, open_folder},
    seen::{File, Listing, Read, Record, Seen},
    sight::Sight,
};

pub(super) const DIR: &str = "/s";
pub(super) const OLD: &str = r#"{"created_at":"2026-04-07T12:00:00Z","question":"old?"}"#;
pub(super) const ASKED: &str = r#"{"created_at":"2026-04-08T14:00:00Z","question":"Drop it?"}"#;
pub(super) const ANSWER: &str = r#"{"created_at":"2026-04-08T14:00:00Z","state":"resolved",
    "resolution":{"chosen_option":"drop it","resolved_at":"2026-04-08T14:10:00Z"}}"#;

/// A state folder, its clocks, and the judge that looks at it.
pub(super) struct World {
    pub(super) judge: Judge,
    pub(super) rules: Rules,
    pub(super) open: BTreeMap<Name, (String, Stamp)>,
    pub(super) records: BTreeMap<Name, (String, Stamp)>,
    pub(super) changes: Vec<Change>,
    pub(super) has_dir: bool,
    pub(super) folder: Option<u64>,
    pub(super) refused: bool,
    pub(super) records_refused: bool,
    pub(super) in_transaction: bool,
    pub(super) now: Now,
    pub(super) health: Vec<String>,
    pub(super) last: Option<Decided>,
}

pub(super) fn name(id: &str) -> Name {
    Name::new(format!("{id}.json").as_ref()).unwrap()
}

impl World {
    pub(super) fn new(rules: Rules) -> Self {
        let now = Now {
            wall: "2026-04-08T14:10:00Z".parse().unwrap(),
            boot: Duration::from_secs(100_000),
            monotonic: Duration::from_secs(100_000),
        };
        Self {
            judge: Judge::new(rules, Sight::new(false, Duration::from_secs(10)), Memory::default()),
            rules,
            open: BTreeMap::new(),
            records: BTreeMap::new(),
            changes: Vec::new(),
            has_dir: true,
            folder: Some(1),
            refused: false,
            records_refused: false,
            in_transaction: false,
            now,
            health: Vec::new(),
            last: None,
        }
    }

    /// A world with one old gate, which the first look takes as it is.
    pub(super) fn with_old() -> Self {
        let mut world = Self::new(Rules::default());
        world.put("OLD", OLD);
        assert_eq!(world.look(), "");
        world
    }

    pub(super) fn stamp(&self, text: &str) -> Stamp {
        let ns = self.now.wall.as_nanosecond();
        let size = text.len() as u64;
        Stamp { file: (1, 1), size, modified_ns: ns, changed_ns: ns }
    }

    pub(super) fn put(&mut self, id: &str, text: &str) {
        self.after(1);
        self.open.insert(name(id), (text.to_owned(), self.stamp(text)));
        self.changes.push(Change::Touched(open_folder(Path::new(DIR)).join(name(id).as_os_str())));
    }

    pub(super) fn unlink(&mut self, id: &str) {
        self.after(1);
        if self.open.remove(&name(id)).is_some() {
            let path = open_folder(Path::new(DIR)).join(name(id).as_os_str());
            self.changes.push(Change::Removed(path));
        }
    }

    pub(super) fn record(&mut self, id: &str, text: &str) {
        self.after(1);
        self.records.insert(name(id), (text.to_owned(), self.stamp(text)));
    }

    /// Lets time pass, in milliseconds.
    pub(super) fn after(&mut self, millis: u64) {
        let time = Duration::from_millis(millis);
        self.now.monotonic += time;
        self.now.boot += time;
        self.now.wall += time;
    }

    /// Starts the program again, with what it remembered.
    pub(super) fn restart(&mut self) {
        let text = serde_json::to_string(self.judge.memory()).unwrap();
        let memory = serde_json::from_str(&text).unwrap();
        self.judge = Judge::new(self.rules, Sight::new(false, Duration::from_secs(10)), memory);
        self.changes.clear();
        self.health.clear();
    }

    /// Looks once. The lines, in short.
    pub(super) fn look(&mut self) -> String {
        let list = std::mem::take(&mut self.changes);
        let changes = Changes { list, overflowed: false };
        let pass = Pass { now: self.now, changes, full: false };
        self.judge.note(Path::new(DIR), &pass);
        let seen = self.seen();
        let decided = self.judge.decide(Path::new(DIR), &seen, &self.now);
        self.health.extend(decided.health.iter().map(short_health));
        let lines: Vec<String> = decided.events.iter().map(short).collect();
        self.last = Some(decided);
        lines.join(", ")
    }

    /// What the probe would see.
    pub(super) fn seen(&self) -> Seen {
        let wall_ns = self.now.wall.as_nanosecond();
        let interest = self.judge.interest(false, &self.now);
        let read = |(text, stamp): &(String, Stamp), tells: &dyn Fn(&Facts) -> bool| {
            let said = Content::parse(text).map(|content| {
                let facts = content.facts();
                let texts = tells(&facts).then(|| Box::new(content.texts()));
                Read { facts, texts }
            });
            File { stamp: *stamp, young: stamp.is_young(wall_ns), said: Some(said) }
        };
        let folder = self.folder.filter(|_| self.has_dir);
        let open = listing(folder, self.refused, &self.open, |name, gate| {
            let file = read(gate, &|facts| interest.tells(name, facts));
            let said = file.said.filter(|_| interest.reads(name, &gate.1));
            File { said, ..file }
        });
        let records = listing(folder, self.records_refused, &self.records, |name, record| {
            if interest.reads_record(name) {
                Record::Read(read(record, &|_| true))
            } else {
                Record::Unread
            }
        });
        Seen { has_dir: self.has_dir, open, records, in_transaction: self.in_transaction }
    }

    /// When the last look wants the next one, in milliseconds from now.
    pub(super) fn due_ms(&self) -> Option<u128> {
        let due = self.last.as_ref().unwrap().due?;
        Some(due.saturating_sub(self.now.monotonic).as_millis())
    }

    pub(super) fn health(&mut self) -> String {
        std::mem::take(&mut self.health).join(", ")
    }
}

fn listing<T>(
    folder: Option<u64>,
    is_refused: bool,
    files: &BTreeMap<Name, (String, Stamp)>,
    look: impl Fn(&Name, &(String, Stamp)) -> T,
) -> Listing<T> {
    match folder {
        None => Listing::Absent,
        Some(_) if is_refused => Listing::Refused("no".to_owned()),
        Some(inode) => {
            let found = files.iter().map(|(name, file)| (name.clone(), look(name, file))).collect();
            Listing::Listed { folder: (1, inode), found }
        }
    }
}

fn flags<const N: usize>(flags: [(&str, bool); N]) -> String {
    flags.into_iter().filter(|(_, set)| *set).fold(String::new(), |all, (word, _)| all + " " + word)
}

pub(super) fn short(event: &Event) -> String {
    let asked = |word: &str, asked: &Asked| {
        let set = [("initial", asked.initial), ("late", asked.late), ("wal", asked.wal_pending)];
        let flaw = asked.content_error.map_or(String::new(), |flaw| format!(" {flaw:?}"));
        format!("{word} {}{}{flaw}", asked.gate_id, flags(set))
    };
    match event {
        Event::GateOpened(gate) => asked("opened", gate),
        Event::GateChanged(gate) => asked("changed", gate),
        Event::GateWaiting(gate) => format!("waiting {} {}", gate.gate_id, gate.waiting_seconds),
        Event::GateResolved(gate) => {
            let set = [("late", gate.late), ("wal", gate.wal_pending)];
            format!("resolved {} {:?}{}", gate.gate_id, gate.resolution, flags(set))
        }
    }
}

fn short_health(health: &Health) -> String {
    match health {
        Health::MonitorDegraded { reason, .. } => format!("degraded {reason}"),
        Health::MonitorRecovered { reason, .. } => format!("recovered {reason}"),
        other => format!("{other:?}"),
    }
}

pub(super) fn question(world: &World) -> Option<String> {
    match world.last.as_ref().unwrap().events.first()? {
        Event::GateOpened(asked) | Event::GateChanged(asked) => {
            asked.question.as_ref().map(|text| text.as_str().to_owned())
        }
        Event::GateWaiting(waiting) => {
            waiting.question.as_ref().map(|text| text.as_str().to_owned())
        }
        Event::GateResolved(resolved) => {
            resolved.chosen_option.as_ref().map(|text| text.as_str().to_owned())
        }
    }
}

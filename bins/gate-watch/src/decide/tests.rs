//! The page's table, and properties, over a world that is all in memory.

use std::{collections::BTreeMap, path::Path, time::Duration};

use jiff::{Timestamp, ToSpan as _};
use proptest::prelude::*;
use shared::{
    clock::Now,
    file::Stamp,
    health::Health,
    session::{Look, Pass},
    watch::{Change, Changes},
};

use super::*;
use crate::{
    content::{Content, Flaw},
    probe::{File, Read},
};

const DIR: &str = "/s";
const OLD: &str = r#"{"created_at":"2026-04-07T12:00:00Z","question":"old?"}"#;
const ASKED: &str = r#"{"created_at":"2026-04-08T14:00:00Z","question":"Drop it?"}"#;
const ANSWER: &str = r#"{"created_at":"2026-04-08T14:00:00Z","state":"resolved",
    "resolution":{"chosen_option":"drop it","resolved_at":"2026-04-08T14:10:00Z"}}"#;

/// A state folder, its clocks, and the judge that looks at it.
struct World {
    judge: Judge,
    rules: Rules,
    open: BTreeMap<Name, (String, Stamp)>,
    records: BTreeMap<Name, (String, Stamp)>,
    changes: Vec<Change>,
    has_dir: bool,
    folder: Option<u64>,
    refused: bool,
    records_refused: bool,
    in_transaction: bool,
    now: Now,
    health: Vec<String>,
    last: Option<Decided>,
}

fn name(id: &str) -> Name {
    Name::new(format!("{id}.json").as_ref()).unwrap()
}

impl World {
    fn new(rules: Rules) -> Self {
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
    fn with_old() -> Self {
        let mut world = Self::new(Rules::default());
        world.put("OLD", OLD);
        assert_eq!(world.look(), "");
        world
    }

    fn stamp(&self, text: &str) -> Stamp {
        let ns = self.now.wall.as_nanosecond();
        let size = text.len() as u64;
        Stamp { file: (1, 1), size, modified_ns: ns, changed_ns: ns }
    }

    fn put(&mut self, id: &str, text: &str) {
        self.after(1);
        self.open.insert(name(id), (text.to_owned(), self.stamp(text)));
        self.changes.push(Change::Touched(open_folder(Path::new(DIR)).join(name(id).as_os_str())));
    }

    fn unlink(&mut self, id: &str) {
        self.after(1);
        if self.open.remove(&name(id)).is_some() {
            let path = open_folder(Path::new(DIR)).join(name(id).as_os_str());
            self.changes.push(Change::Removed(path));
        }
    }

    fn record(&mut self, id: &str, text: &str) {
        self.after(1);
        self.records.insert(name(id), (text.to_owned(), self.stamp(text)));
    }

    /// Lets time pass, in milliseconds.
    fn after(&mut self, millis: u64) {
        let time = Duration::from_millis(millis);
        self.now.monotonic += time;
        self.now.boot += time;
        self.now.wall += time;
    }

    /// Starts the program again, with what it remembered.
    fn restart(&mut self) {
        let text = serde_json::to_string(self.judge.memory()).unwrap();
        let memory = serde_json::from_str(&text).unwrap();
        self.judge = Judge::new(self.rules, Sight::new(false, Duration::from_secs(10)), memory);
        self.changes.clear();
    }

    /// Looks once. The lines, in short.
    fn look(&mut self) -> String {
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
    fn seen(&self) -> Seen {
        let wall_ns = self.now.wall.as_nanosecond();
        let interest = self.judge.interest(false, &self.now);
        let read = |name: &Name, (text, stamp): &(String, Stamp), reads: bool| {
            let said = reads.then(|| {
                Content::parse(text).map(|content| {
                    let facts = content.facts();
                    let texts = interest.tells(name, &facts) || stamp.file.0 == 0;
                    Read { texts: texts.then(|| Box::new(content.texts())), facts }
                })
            });
            File { stamp: *stamp, young: stamp.is_young(wall_ns), said }
        };
        let folder = self.folder.filter(|_| self.has_dir);
        let listed = |at: u64| (1, at);
        let open = match folder {
            None => Listing::Absent,
            Some(_) if self.refused => Listing::Refused("no".to_owned()),
            Some(at) => {
                let gates = self.open.iter();
                let file = |(name, gate): (&Name, &(String, Stamp))| {
                    (name.clone(), read(name, gate, interest.reads(name, &gate.1)))
                };
                Listing::Listed { folder: listed(at), found: gates.map(file).collect() }
            }
        };
        let records = match folder {
            None => Listing::Absent,
            Some(_) if self.records_refused => Listing::Refused("no".to_owned()),
            Some(at) => {
                let record = |(name, (text, stamp)): (&Name, &(String, Stamp))| {
                    let found = if interest.reads_record(name) {
                        let said = Content::parse(text).map(|content| {
                            let texts = Some(Box::new(content.texts()));
                            Read { facts: content.facts(), texts }
                        });
                        let young = stamp.is_young(wall_ns);
                        Record::Read(File { stamp: *stamp, young, said: Some(said) })
                    } else {
                        Record::Unread
                    };
                    (name.clone(), found)
                };
                let found = self.records.iter().map(record).collect();
                Listing::Listed { folder: listed(at), found }
            }
        };
        Seen { has_dir: self.has_dir, open, records, in_transaction: self.in_transaction }
    }

    /// When the last look wants the next one, in milliseconds from now.
    fn due_ms(&self) -> Option<u128> {
        let due = self.last.as_ref().unwrap().due?;
        Some(due.saturating_sub(self.now.monotonic).as_millis())
    }

    fn health(&mut self) -> String {
        std::mem::take(&mut self.health).join(", ")
    }
}

fn flags<const N: usize>(flags: [(&str, bool); N]) -> String {
    flags.into_iter().filter(|(_, set)| *set).fold(String::new(), |all, (word, _)| all + " " + word)
}

fn short(event: &Event) -> String {
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

fn question(world: &World) -> Option<String> {
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

#[test]
fn g01_a_gate_that_goes_without_a_record_is_unrecorded() {
    let mut world = World::with_old();
    world.put("NEW", ASKED);
    world.unlink("OLD");
    assert_eq!(world.look(), "opened NEW");
    assert_eq!(question(&world).unwrap(), "Drop it?");
    assert_eq!(world.last.as_ref().unwrap().look, Look::Settling);
    world.after(249);
    assert_eq!(world.look(), "");
    world.after(1);
    assert_eq!(world.look(), "resolved OLD Unrecorded");
    world.after(10_000);
    assert_eq!(world.look(), "");
    assert_eq!(world.last.as_ref().unwrap().look, Look::Whole);
    world.record("OLD", ANSWER);
    assert_eq!(world.look(), "", "a record that comes later is no news");
}

#[test]
fn g02_a_record_is_the_answer_whether_the_gate_is_gone_or_not() {
    let mut world = World::with_old();
    world.record("OLD", ANSWER);
    assert_eq!(world.look(), "resolved OLD Recorded");
    assert_eq!(question(&world).unwrap(), "drop it");
    world.unlink("OLD");
    assert_eq!(world.look(), "");

    let mut world = World::with_old();
    world.unlink("OLD");
    assert_eq!(world.look(), "");
    world.record("OLD", ANSWER);
    assert_eq!(world.look(), "resolved OLD Recorded", "within the time it has");
    world.after(1000);
    assert_eq!(world.look(), "");
}

#[test]
fn g02_a_record_that_is_being_written_is_waited_for() {
    let mut world = World::with_old();
    world.record("OLD", "");
    assert_eq!(world.look(), "");
    world.record("OLD", ANSWER);
    assert_eq!(world.look(), "resolved OLD Recorded");
    assert_eq!(question(&world).unwrap(), "drop it");
}

#[test]
fn g03_a_gate_answered_between_two_looks_is_told_late() {
    let mut world = World::with_old();
    world.put("NEW", ASKED);
    world.unlink("NEW");
    world.record("NEW", ASKED);
    assert_eq!(world.look(), "opened NEW late, resolved NEW Recorded late");
    world.after(1000);
    assert_eq!(world.look(), "");
    world.restart();
    world.record("THEN", ANSWER);
    assert_eq!(world.look(), "opened THEN late, resolved THEN Recorded late");
}

#[test]
fn g03_a_gate_answered_while_a_commit_held_it_is_told_whatever_its_record_says() {
    let mut world = World::with_old();
    world.in_transaction = true;
    world.put("NEW", ASKED);
    assert_eq!(world.look(), "");
    world.unlink("NEW");
    world.record("NEW", r#"{"resolution":{"resolved_at":"2026-01-01T00:00:00Z"}}"#);
    world.in_transaction = false;
    assert_eq!(world.look(), "opened NEW late, resolved NEW Recorded late");
}

#[test]
fn g04_old_records_are_no_news() {
    let mut world = World::new(Rules { emit_current: true, ..Rules::default() });
    world.put("BOTH", ASKED);
    world.record("BOTH", ANSWER);
    assert_eq!(world.look(), "");
    for at in 0..30 {
        world.record(&format!("R{at}"), r#"{"resolution":{"resolved_at":"2026-04-01T00:00:00Z"}}"#);
    }
    assert_eq!(world.look(), "");
    let restored = name("RESTORED");
    let mut stamp = world.stamp(ANSWER);
    stamp.modified_ns -= 3_600_000_000_000;
    world.records.insert(restored, ("{}".to_owned(), stamp));
    assert_eq!(world.look(), "", "without a time of its own its file's counts");
}

#[test]
fn g05_removed_and_made_again_is_another_gate() {
    let mut world = World::with_old();
    world.unlink("OLD");
    world.put("OLD", OLD);
    assert_eq!(world.look(), "resolved OLD Unrecorded, opened OLD");
    world.after(1000);
    assert_eq!(world.look(), "");
    world.put("OLD", ASKED);
    assert_eq!(world.look(), "resolved OLD Unrecorded, opened OLD", "created_at differs");
    world.open.remove(&name("OLD"));
    assert_eq!(world.look(), "", "nobody told of a removal, but a look saw it");
    world.put("OLD", ASKED);
    assert_eq!(world.look(), "resolved OLD Unrecorded, opened OLD");
}

#[test]
fn g06_content_counts_as_json() {
    let mut world = World::with_old();
    world.put("OLD", OLD);
    assert_eq!(world.look(), "", "touched");
    world.put("OLD", "{ \"question\" : \"old?\",\n \"created_at\": \"2026-04-07T12:00:00Z\" }\n");
    assert_eq!(world.look(), "", "written anew");
    world.put("OLD", r#"{"created_at":"2026-04-07T12:00:00Z","question":"new?"}"#);
    assert_eq!(world.look(), "changed OLD");
    assert_eq!(question(&world).unwrap(), "new?");
    world.put("OLD", r#"{"state":"resolved","resolution":{"chosen_option":"yes"}}"#);
    assert_eq!(world.look(), "resolved OLD Recorded");
    assert_eq!(question(&world).unwrap(), "yes");
    world.unlink("OLD");
    assert_eq!(world.look(), "");
    world.record("OLD", ANSWER);
    assert_eq!(world.look(), "");
}

#[test]
fn g06_an_answer_that_is_taken_back_opens_the_gate_again() {
    let mut world = World::with_old();
    world.put("OLD", r#"{"state":"resolved"}"#);
    assert_eq!(world.look(), "resolved OLD Recorded");
    world.put("OLD", OLD);
    assert_eq!(world.look(), "opened OLD");
}

#[test]
fn g06_a_gate_that_is_written_in_place_is_waited_for() {
    let mut world = World::with_old();
    world.put("OLD", "");
    assert_eq!(world.look(), "");
    assert_eq!(world.due_ms(), Some(50));
    world.after(400);
    assert_eq!(world.look(), "");
    world.put("OLD", OLD);
    assert_eq!(world.look(), "");
    world.put("OLD", "{");
    assert_eq!(world.look(), "");
    world.after(1000);
    assert_eq!(world.look(), "changed OLD Malformed");
    world.put("OLD", ASKED);
    assert_eq!(world.look(), "resolved OLD Unrecorded, opened OLD", "another created_at");
}

#[test]
fn g07_a_folder_that_is_gone_is_no_answer() {
    let mut world = World::with_old();
    world.put("NEW", ASKED);
    assert_eq!(world.look(), "opened NEW");
    world.unlink("NEW");
    assert_eq!(world.look(), "", "the first file of rm -rf");
    world.folder = None;
    assert_eq!(world.look(), "");
    assert_eq!(world.due_ms(), Some(2000));
    world.after(2000);
    assert_eq!(world.look(), "");
    assert_eq!(world.health(), "degraded gates_missing");
    world.after(3000);
    world.folder = Some(2);
    assert_eq!(world.look(), "");
    assert_eq!(world.last.as_ref().unwrap().look, Look::Settling);
    world.put("NEW", ASKED);
    world.unlink("OLD");
    world.after(1000);
    assert_eq!(world.look(), "");
    assert_eq!(world.health(), "");
    world.after(1000);
    assert_eq!(world.look(), "");
    assert_eq!(world.health(), "recovered gates_missing");
    world.after(250);
    assert_eq!(world.look(), "resolved OLD Unrecorded");
    assert_eq!(world.health(), "");
}

#[test]
fn g07_a_folder_that_is_soon_back_says_nothing() {
    for missing in [true, false] {
        let mut world = World::with_old();
        world.folder = None;
        world.changes.push(Change::Removed(open_folder(Path::new(DIR))));
        if missing {
            world.look();
        }
        world.after(1000);
        world.folder = Some(1);
        world.put("NEW", ASKED);
        assert_eq!(world.look(), "", "{missing}");
        world.after(2000);
        assert_eq!(world.look(), "opened NEW");
        assert_eq!(world.health(), "");
    }
}

#[test]
fn g07_a_state_folder_that_is_gone_is_its_own_reason() {
    let mut world = World::with_old();
    world.has_dir = false;
    world.look();
    world.after(2000);
    world.look();
    assert_eq!(world.health(), "degraded state_dir_missing");
    world.has_dir = true;
    world.folder = None;
    world.look();
    assert_eq!(world.health(), "recovered state_dir_missing, degraded gates_missing");
    world.folder = Some(3);
    world.look();
    world.after(2000);
    assert_eq!(world.look(), "");
    assert_eq!(world.health(), "recovered gates_missing");
}

#[test]
fn g08_gates_in_a_folder_that_appears_later_are_told() {
    for has_dir in [true, false] {
        let mut world = World::new(Rules::default());
        (world.folder, world.has_dir) = (None, has_dir);
        assert_eq!(world.look(), "");
        (world.folder, world.has_dir) = (Some(1), true);
        world.put("NEW", ASKED);
        assert_eq!(world.look(), "opened NEW");
        assert_eq!(world.health(), "");
    }
}

#[test]
fn g08_a_state_folder_that_never_comes_is_told_after_a_minute() {
    let mut world = World::new(Rules::default());
    (world.folder, world.has_dir) = (None, false);
    world.look();
    assert_eq!(world.due_ms(), Some(60_000));
    world.after(59_999);
    world.look();
    assert_eq!(world.health(), "");
    world.after(1);
    world.look();
    assert_eq!(world.health(), "degraded state_dir_missing");
    world.has_dir = true;
    world.look();
    assert_eq!(world.health(), "recovered state_dir_missing", "no gate is open");
}

#[test]
fn g09_the_baseline_is_told_where_that_is_asked_for() {
    let mut world = World::new(Rules { emit_current: true, ..Rules::default() });
    for id in ["B", "A", "C"] {
        world.put(id, ASKED);
    }
    assert_eq!(world.look(), "opened A initial, opened B initial, opened C initial");
    assert_eq!(world.look(), "");

    let mut world = World::new(Rules::default());
    world.put("A", "");
    assert_eq!(world.look(), "", "being written at the start");
    world.put("A", ASKED);
    assert_eq!(world.look(), "");
    world.put("B", ASKED);
    assert_eq!(world.look(), "opened B");
}

#[test]
fn g12_a_gate_without_content_is_told_all_the_same() {
    let mut world = World::with_old();
    world.put("NEW", "");
    assert_eq!(world.look(), "");
    assert_eq!(world.due_ms(), Some(50));
    world.after(100);
    assert_eq!(world.look(), "");
    assert_eq!(world.due_ms(), Some(50));
    world.after(50);
    assert_eq!(world.look(), "");
    assert_eq!(world.due_ms(), Some(100));
    world.after(100);
    assert_eq!(world.look(), "opened NEW Empty");
    world.put("NEW", ASKED);
    assert_eq!(world.look(), "changed NEW");

    world.put("SLOW", "");
    assert_eq!(world.look(), "");
    world.after(100);
    world.put("SLOW", ASKED);
    assert_eq!(world.look(), "opened SLOW");
    assert_eq!(question(&world).unwrap(), "Drop it?");
}

#[test]
fn g13_nothing_is_told_in_the_middle_of_a_commit() {
    let mut world = World::with_old();
    world.in_transaction = true;
    world.put("NEW", ASKED);
    assert_eq!(world.look(), "");
    assert_eq!(world.due_ms(), Some(2000));
    world.after(40);
    world.in_transaction = false;
    assert_eq!(world.look(), "opened NEW");

    world.in_transaction = true;
    world.record("OLD", ANSWER);
    world.unlink("OLD");
    assert_eq!(world.look(), "");
    world.after(1999);
    assert_eq!(world.look(), "");
    world.after(1);
    assert_eq!(world.look(), "resolved OLD Recorded wal");
    world.put("NEXT", ASKED);
    assert_eq!(world.look(), "");
    world.after(2000);
    assert_eq!(world.look(), "opened NEXT wal");
}

#[test]
fn g14_what_cannot_be_listed_is_blindness() {
    let mut world = World::with_old();
    world.refused = true;
    world.unlink("OLD");
    assert_eq!(world.look(), "");
    assert_eq!(world.last.as_ref().unwrap().look, Look::Blind);
    assert_eq!(world.health(), "degraded gates_unreadable");
    world.refused = false;
    world.records_refused = true;
    assert_eq!(world.look(), "");
    assert_eq!(world.health(), "recovered gates_unreadable, degraded resolved_unreadable");
    world.after(250);
    assert_eq!(world.look(), "resolved OLD Unknown");
    world.records_refused = false;
    world.record("OLD", ANSWER);
    assert_eq!(world.look(), "");
    assert_eq!(world.health(), "recovered resolved_unreadable");
}

#[test]
fn g16_the_difference_is_told_after_a_restart() {
    let mut world = World::with_old();
    world.put("STAYS", ASKED);
    assert_eq!(world.look(), "opened STAYS");
    world.after(60_000);
    world.put("NEW", ASKED);
    world.record("OLD", ANSWER);
    world.unlink("OLD");
    world.restart();
    assert_eq!(world.look(), "resolved OLD Recorded, opened NEW");
    world.restart();
    assert_eq!(world.look(), "");
}

#[test]
fn g17_a_long_wait_is_told_once() {
    let day = Some(Duration::from_hours(24));
    let mut world = World::new(Rules { warn_after: day, ..Rules::default() });
    let asked = world.now.wall - 25.hours();
    world.put("A", &format!(r#"{{"created_at":"{asked}","question":"q"}}"#));
    assert_eq!(world.look(), "waiting A 90000");
    assert_eq!(question(&world).unwrap(), "q");
    assert_eq!(world.look(), "");
    world.restart();
    assert_eq!(world.look(), "");

    // No time of asking: the file's. A suspend counts, a step of the clock doesn't.
    world.put("B", "{}");
    assert_eq!(world.look(), "opened B");
    assert_eq!(world.due_ms(), Some(86_400_000));
    world.now.wall += 100.hours();
    assert_eq!(world.look(), "");
    world.now.boot += Duration::from_hours(23);
    assert_eq!(world.look(), "");
    assert_eq!(world.due_ms(), Some(3_600_000));
    assert!(world.judge.rest(&world.now).is_some());
    world.now.boot += Duration::from_hours(1);
    assert!(world.judge.rest(&world.now).is_none());
    assert_eq!(world.look(), "waiting B 86400");
    world.unlink("B");
    world.put("B", "{}");
    assert_eq!(world.look(), "resolved B Unrecorded, opened B");
    world.after(86_400_000);
    assert_eq!(world.look(), "waiting B 86400", "another gate waits anew");
}

#[test]
fn lines_are_ordered_by_kind_and_name() {
    let mut world = World::new(Rules::default());
    for id in ["b", "a", "d", "c"] {
        world.put(id, OLD);
    }
    world.look();
    world.put("f", ASKED);
    world.put("e", ASKED);
    world.record("d", ANSWER);
    world.record("a", ANSWER);
    world.put("b", r#"{"created_at":"2026-04-07T12:00:00Z"}"#);
    assert_eq!(
        world.look(),
        "resolved a Recorded, resolved d Recorded, opened e, opened f, changed b"
    );
}

#[test]
fn readings_have_all_that_holds() {
    let warn_after = Some(Duration::from_hours(1));
    let mut world = World::new(Rules { warn_after, readings: true, ..Rules::default() });
    world.put("A", OLD);
    world.put("B", ASKED);
    assert_eq!(world.look(), "");
    let found = |world: &World| {
        let found = world.last.as_ref().unwrap().found.as_ref().unwrap();
        serde_json::to_string(&(&found.entries, &found.error)).unwrap()
    };
    assert_eq!(
        found(&world),
        concat!(
            r#"[[{"key":"gate:A","severity":"immediate","resets_on":"revision","brief":"old?"},"#,
            r#"{"key":"gate-waiting:A","severity":"wake","resets_on":"revision","brief":"still open: old?"},"#,
            r#"{"key":"gate:B","severity":"immediate","resets_on":"revision","brief":"Drop it?"}],null]"#,
        )
    );
    world.record("B", ANSWER);
    world.unlink("A");
    world.look();
    assert!(found(&world).starts_with(
        r#"[[{"key":"resolved:B","severity":"immediate","resets_on":"never","brief":"answered: drop it"},{"key":"gate:A","#
    ));
    world.after(250);
    world.look();
    assert!(found(&world).contains(r#""key":"resolved:A""#));
    world.look();
    assert_eq!(found(&world), "[[],null]");
    world.folder = None;
    world.look();
    assert_eq!(world.last.as_ref().unwrap().found, None);
    world.after(2000);
    world.look();
    assert!(found(&world).contains(r#""kind":"transient","reason":"gates_missing""#));
    assert_eq!(world.health(), "");
}

/// What can happen between two looks.
#[derive(Debug, Clone)]
enum Step {
    Put(u8, u8),
    Unlink(u8),
    Record(u8, u8),
    Unrecord(u8),
    Folder(bool),
    Refuse(bool),
    RefuseRecords(bool),
    Transaction(bool),
    Pass(u16),
    Restart,
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    let id = 0..3u8;
    prop_oneof![
        4 => (id.clone(), 0..5u8).prop_map(|(id, text)| Step::Put(id, text)),
        3 => id.clone().prop_map(Step::Unlink),
        2 => (id.clone(), 0..5u8).prop_map(|(id, text)| Step::Record(id, text)),
        1 => id.prop_map(Step::Unrecord),
        1 => any::<bool>().prop_map(Step::Folder),
        1 => any::<bool>().prop_map(Step::Refuse),
        1 => any::<bool>().prop_map(Step::RefuseRecords),
        1 => any::<bool>().prop_map(Step::Transaction),
        3 => (0..3000u16).prop_map(Step::Pass),
        1 => Just(Step::Restart),
        6 => Just(Step::Look),
    ]
}

fn text(at: u8) -> &'static str {
    [OLD, ASKED, ANSWER, "", r#"{"question":"x"}"#][usize::from(at)]
}

/// What a reader of the lines believes: which gates are open. Panics on a line that can't be.
fn believe(world: &World, open: &mut BTreeSet<String>) {
    for event in &world.last.as_ref().unwrap().events {
        match event {
            Event::GateOpened(gate) => {
                assert!(open.insert(gate.gate_id.clone()), "doubled: {}", short(event));
            }
            Event::GateResolved(gate) => {
                assert!(open.remove(&gate.gate_id), "not open: {}", short(event));
            }
            Event::GateChanged(gate) => assert!(open.contains(&gate.gate_id)),
            Event::GateWaiting(gate) => assert!(open.contains(&gate.gate_id)),
        }
    }
}

fn take(world: &mut World, step: &Step) {
    match *step {
        Step::Put(id, at) if world.folder.is_some() => world.put(&id.to_string(), text(at)),
        Step::Unlink(id) => world.unlink(&id.to_string()),
        Step::Record(id, at) => world.record(&id.to_string(), text(at)),
        Step::Unrecord(id) => drop(world.records.remove(&name(&id.to_string()))),
        Step::Folder(there) => world.folder = there.then_some(1),
        Step::Refuse(on) => world.refused = on,
        Step::RefuseRecords(on) => world.records_refused = on,
        Step::Transaction(on) => world.in_transaction = on,
        Step::Pass(millis) => world.after(millis.into()),
        Step::Restart => world.restart(),
        Step::Put(..) | Step::Look => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens, once it is over a reader knows exactly which gates are open, and no line
    /// said what was said already.
    #[test]
    fn a_reader_knows_what_is_open(steps in proptest::collection::vec(step(), 0..40)) {
        let warn_after = Some(Duration::from_secs(5));
        let mut world = World::new(Rules { emit_current: true, warn_after, readings: false });
        let mut open = BTreeSet::new();
        for step in steps {
            take(&mut world, &step);
            if matches!(step, Step::Look) {
                world.look();
                believe(&world, &mut open);
            }
        }
        (world.folder, world.refused, world.records_refused) = (Some(1), false, false);
        world.in_transaction = false;
        for _ in 0..4 {
            world.look();
            believe(&world, &mut open);
            world.after(2500);
        }
        world.look();
        prop_assert_eq!(world.last.as_ref().unwrap().look, Look::Whole);
        prop_assert!(world.last.as_ref().unwrap().events.is_empty());
        let actual = world.open.iter().filter(|(name, (text, _))| {
            !world.records.contains_key(*name)
                && Content::parse(text).map_or_else(|_: Flaw| true, |content| !content.facts().answered)
        });
        let actual: BTreeSet<String> = actual.map(|(name, _)| name.id()).collect();
        prop_assert_eq!(open, actual);
        // Every blindness that was told is over.
        let degraded = world.health.iter().filter(|line| line.starts_with("degraded")).count();
        let recovered = world.health.iter().filter(|line| line.starts_with("recovered")).count();
        prop_assert!(degraded >= recovered);
        prop_assert!(!BLIND.iter().any(|reason| world.health.iter().rev()
            .find(|line| line.ends_with(reason)).is_some_and(|line| line.starts_with("degraded"))) || degraded > recovered);
    }
}

const BLIND: [&str; 3] = ["state_dir_missing", "gates_missing", "gates_unreadable"];

#[test]
fn a_cursor_of_another_time_still_names_what_passed_by() {
    let mut world = World::with_old();
    let looked_at = Timestamp::from_second(world.judge.memory().looked_at).unwrap();
    assert_eq!(looked_at, "2026-04-08T14:10:00Z".parse::<Timestamp>().unwrap());
    world.after(5_000);
    assert_eq!(world.look(), "");
    assert_eq!(
        world.judge.memory().looked_at,
        looked_at.as_second(),
        "a look that changed nothing does not write the cursor"
    );
}

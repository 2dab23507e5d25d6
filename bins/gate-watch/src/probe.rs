//! Looks at the gate folders and reads what has not been read before: the only input of the
//! program.
//!
//! An open gate's folder is listed before the records: who answers writes the record first, so a
//! gate on its way is seen twice rather than not at all.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, DirEntry},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use shared::{
    file::{self, Stamp, Unread},
    session::Pass,
    watch,
};

use crate::{
    content::{Content, Facts, Flaw, LIMIT, text_of},
    name::Name,
    seen::{File, Listing, Read, Record, Seen},
};

/// The most names of a folder.
const NAMES: usize = 100_000;
/// The file that is there while a commit of the state is going on.
const COMMIT: &str = ".pending-tx.json";

/// What a look has to read.
pub trait Interest {
    /// Whether the gate's content is wanted, given the state of its file.
    fn reads(&self, name: &Name, stamp: &Stamp) -> bool;
    /// Whether what the gate says will be told, too.
    fn tells(&self, name: &Name, facts: &Facts) -> bool;
    /// Whether the content of this gate's record is wanted.
    fn reads_record(&self, name: &Name) -> bool;
}

/// The folder of open gates in a state folder.
#[must_use]
pub fn open_folder(dir: &Path) -> PathBuf {
    dir.join("human-gates/open")
}

/// The folders in which a state folder's gates, records and commits come and go.
#[must_use]
pub fn folders(dir: &Path) -> [PathBuf; 3] {
    [dir.to_owned(), open_folder(dir), dir.join("human-gates/resolved")]
}

/// Whether a file of these folders is one that is looked at.
#[must_use]
pub fn reads(path: &Path) -> bool {
    let named = |name: &OsStr| name == COMMIT || Name::new(name).is_some() && is_gates(path);
    path.file_name().is_some_and(named)
}

/// Whether the file lies where gates and their records do.
fn is_gates(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    folder.is_some_and(|name| name == "open" || name == "resolved")
}

/// Looks, and knows when there is nothing to look at.
#[derive(Debug, Default)]
pub struct Probe {
    /// The folders' stamps at the last look.
    last: Option<[Option<Stamp>; 3]>,
    /// The system does not tell of every change: gates are links, or others write them.
    has_blind_spots: bool,
}

impl Probe {
    /// Whether a look would find what the last one did: the system told of no change, and the
    /// folders are as they were.
    #[must_use]
    pub fn is_quiet(&self, dir: &Path, pass: &Pass) -> bool {
        let told = pass.full || pass.changes.overflowed || !pass.changes.list.is_empty();
        !told && !self.has_blind_spots && self.last.as_ref() == Some(&stamps(dir))
    }

    /// Looks at the gates of `dir`. `wall` is now.
    pub fn look(&mut self, dir: &Path, wall: Timestamp, interest: &impl Interest) -> Seen {
        let before = stamps(dir);
        let has_dir = dir.is_dir();
        let wall_ns = wall.as_nanosecond();
        let [_, open, resolved] = folders(dir);
        self.has_blind_spots = watch::is_remote(&open).unwrap_or(false);
        let seen = Seen {
            has_dir,
            open: list(&open, |name, entry| {
                let path = entry.path();
                let (stamp, is_shared) = regular(entry, &path)?;
                self.has_blind_spots |= is_shared;
                gate(name, &path, stamp, wall_ns, interest)
            }),
            records: list(&resolved, |name, entry| record(name, entry, wall_ns, interest)),
            in_transaction: fs::symlink_metadata(dir.join(COMMIT)).is_ok(),
        };
        let is_settled = before.iter().flatten().all(|stamp| !stamp.is_young(wall_ns));
        self.last = is_settled.then_some(before);
        seen
    }
}

fn stamps(dir: &Path) -> [Option<Stamp>; 3] {
    folders(dir).map(|folder| fs::metadata(folder).ok().map(|meta| Stamp::of(&meta)))
}

/// Lists the gates of a folder, as `each` sees them.
fn list<T>(dir: &Path, mut each: impl FnMut(&Name, &DirEntry) -> Option<T>) -> Listing<T> {
    let mut listed = || -> io::Result<Listing<T>> {
        let meta = fs::metadata(dir)?;
        let mut found = BTreeMap::new();
        for (count, entry) in fs::read_dir(dir)?.enumerate() {
            if count == NAMES {
                return Ok(Listing::Refused(format!("more than {NAMES} names")));
            }
            let entry = entry?;
            let Some(name) = Name::new(&entry.file_name()) else { continue };
            if let Some(gate) = each(&name, &entry) {
                found.insert(name, gate);
            }
        }
        Ok(Listing::Listed { folder: (meta.dev(), meta.ino()), found })
    };
    match listed() {
        Ok(listing) => listing,
        Err(err) if err.kind() == io::ErrorKind::NotFound => Listing::Absent,
        Err(err) => Listing::Refused(err.to_string()),
    }
}

/// The stamp of a regular file, through links, and whether it can change unseen: under another
/// name, or behind a link.
fn regular(entry: &DirEntry, path: &Path) -> Option<(Stamp, bool)> {
    let mut meta = entry.metadata().ok()?;
    let is_link = meta.is_symlink();
    if is_link {
        meta = fs::metadata(path).ok()?;
    }
    meta.is_file().then(|| (Stamp::of(&meta), is_link || meta.nlink() > 1))
}

fn gate(
    name: &Name,
    path: &Path,
    stamp: Stamp,
    wall_ns: i128,
    interest: &impl Interest,
) -> Option<File> {
    if interest.reads(name, &stamp) {
        return read(path, stamp, wall_ns, |facts| interest.tells(name, facts));
    }
    Some(File { stamp, young: stamp.is_young(wall_ns), said: None })
}

fn record(
    name: &Name,
    entry: &DirEntry,
    wall_ns: i128,
    interest: &impl Interest,
) -> Option<Record> {
    if interest.reads_record(name) {
        let path = entry.path();
        let (stamp, _) = regular(entry, &path)?;
        return read(&path, stamp, wall_ns, |_| true).map(Record::Read);
    }
    let kind = entry.file_type().ok()?;
    let is_file = kind.is_file() || kind.is_symlink() && entry.path().is_file();
    is_file.then_some(Record::Unread)
}

/// Reads a gate's file. `None` when it went away since it was listed.
fn read(path: &Path, listed: Stamp, wall_ns: i128, tells: impl Fn(&Facts) -> bool) -> Option<File> {
    let (stamp, said) = match file::read(path, LIMIT) {
        Ok(content) => {
            let text = text_of(&content.bytes);
            let said = Content::parse(&text).map(|content| {
                let facts = content.facts();
                let texts = tells(&facts).then(|| Box::new(content.texts()));
                Read { facts, texts }
            });
            (content.stamp, said)
        }
        Err(Unread::Absent) => return None,
        Err(Unread::TooLarge) => (listed, Err(Flaw::TooLarge)),
        Err(Unread::Unreadable(_)) => (listed, Err(Flaw::Unreadable)),
        // Its writer is at work.
        Err(Unread::Moving) => (listed, Err(Flaw::Malformed)),
    };
    Some(File { stamp, young: stamp.is_young(wall_ns), said: Some(said) })
}

#[cfg(test)]
mod tests {
    use ::tests::Scene;
    use shared::{clock, watch::Changes};

    use super::*;

    /// Wants everything, or nothing.
    struct All(bool);

    impl Interest for All {
        fn reads(&self, _: &Name, _: &Stamp) -> bool {
            self.0
        }

        fn tells(&self, _: &Name, _: &Facts) -> bool {
            self.0
        }

        fn reads_record(&self, _: &Name) -> bool {
            self.0
        }
    }

    fn scene() -> Scene {
        let scene = Scene::new();
        for folder in ["open", "resolved"] {
            let _ = scene.dir(&format!("human-gates/{folder}"));
        }
        scene.write("human-gates/open/A.json", r#"{"question":"q"}"#);
        scene
    }

    fn quiet_pass() -> Pass {
        Pass { now: clock::now(), changes: Changes::default(), full: false }
    }

    /// Looks once the folders' stamps are old enough to be trusted.
    fn settle(probe: &mut Probe, scene: &Scene) {
        ::tests::eventually("the stamps are old", || {
            let _ = probe.look(&scene.path(), clock::now().wall, &All(true));
            probe.last.is_some()
        });
    }

    #[test]
    fn what_is_not_wanted_is_not_read() {
        let scene = scene();
        scene.write("human-gates/resolved/B.json", "{}");
        let wall = clock::now().wall;
        let seen = Probe::default().look(&scene.path(), wall, &All(false));
        let gates = seen.open.found().unwrap();
        assert!(gates.len() == 1 && gates.values().all(|file| file.said.is_none()));
        assert!(seen.records.found().unwrap().values().all(|record| *record == Record::Unread));
        let seen = Probe::default().look(&scene.path(), wall, &All(true));
        let gate = seen.open.found().unwrap().values().next().unwrap();
        assert_eq!(gate.texts().unwrap().question.unwrap().as_str(), "q");
        assert!(gate.young);
        assert!(!seen.in_transaction && seen.has_dir);
    }

    #[test]
    fn nothing_new_is_quiet() {
        let (scene, mut probe) = (scene(), Probe::default());
        let dir = scene.path();
        assert!(!probe.is_quiet(&dir, &quiet_pass()), "before the first look");
        settle(&mut probe, &scene);
        assert!(probe.is_quiet(&dir, &quiet_pass()));
        assert!(!probe.is_quiet(&dir, &Pass { full: true, ..quiet_pass() }));
        let changes = Changes { overflowed: true, ..Changes::default() };
        assert!(!probe.is_quiet(&dir, &Pass { changes, ..quiet_pass() }));
        scene.write("human-gates/resolved/B.json", "{}");
        assert!(!probe.is_quiet(&dir, &quiet_pass()), "a folder has another stamp");
    }

    #[test]
    fn gates_that_can_change_unseen_are_never_quiet() {
        for hard in [true, false] {
            let (scene, mut probe) = (scene(), Probe::default());
            scene.write("elsewhere", "{}");
            let (from, to) = (scene.join("elsewhere"), scene.join("human-gates/open/B.json"));
            if hard {
                fs::hard_link(from, to).unwrap();
            } else {
                std::os::unix::fs::symlink(from, to).unwrap();
            }
            settle(&mut probe, &scene);
            assert!(!probe.is_quiet(&scene.path(), &quiet_pass()));
        }
    }

    #[test]
    fn a_missing_folder_is_not_an_empty_one() {
        let scene = Scene::new();
        let seen = Probe::default().look(&scene.path(), clock::now().wall, &All(true));
        assert_eq!((&seen.open, seen.has_dir), (&Listing::Absent, true));
        let seen = Probe::default().look(&scene.join("x"), clock::now().wall, &All(true));
        assert_eq!((&seen.open, seen.has_dir), (&Listing::Absent, false));
        scene.write("human-gates", "a file");
        let seen = Probe::default().look(&scene.path(), clock::now().wall, &All(true));
        assert!(matches!(seen.open, Listing::Refused(_)));
    }
}

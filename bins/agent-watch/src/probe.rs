//! What a look at an item sees: metadata only. No result, progress or feed file is ever opened.

use std::{
    collections::BTreeMap,
    fs, io,
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::fs::MetadataExt as _,
    },
    path::Path,
};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, statat};
use sha2::{Digest as _, Sha256};
use shared::{
    file::Stamp,
    pidfile::{self, Held},
    process::Hold,
    roster::Key,
};

use crate::{
    cpu,
    item::{Item, Life},
    seen::{Fate, Named, Progress, ResultSeen, Seen, Signal, Version, Wants},
};

/// The most entries of a progress directory.
const ENTRIES: usize = 4096;

/// What is kept of an item between looks.
#[derive(Debug, Default)]
struct Kept {
    instance: String,
    held: Option<Held>,
    stamp: Option<Stamp>,
    named: Option<Named>,
    written_ns: Option<i128>,
}

/// Looks at items.
#[derive(Debug)]
pub struct Probe {
    kept: BTreeMap<Key, Kept>,
    pidfds: bool,
}

impl Default for Probe {
    fn default() -> Self {
        let ours = Hold::open(std::process::id());
        let pidfds = ours.is_ok_and(|found| found.is_some_and(|(hold, _)| hold.fd().is_some()));
        Self { kept: BTreeMap::new(), pidfds }
    }
}

impl Probe {
    /// Whether processes can be held.
    #[must_use]
    pub fn pidfds(&self) -> bool {
        self.pidfds
    }

    /// Forgets what is not among `items`, or whose process no longer matters.
    pub fn keep(&mut self, items: &BTreeMap<Key, Item>) {
        self.kept.retain(|key, kept| {
            let item = items.get(key).filter(|item| item.life < Life::Ready);
            item.is_some_and(|item| item.entry.spec.instance == kept.instance)
        });
    }

    /// What becomes readable when a process that is waited for ends.
    #[must_use]
    pub fn ends(&self, items: &BTreeMap<Key, Item>) -> Vec<BorrowedFd<'_>> {
        self.living(items).filter_map(Held::fd).collect()
    }

    /// Whether a process is waited for that has to be looked at to know its end.
    #[must_use]
    pub fn has_unheld(&self, items: &BTreeMap<Key, Item>) -> bool {
        self.living(items).any(|held| held.fd().is_none())
    }

    /// The processes that live, of items that are not over: the end of any other is old news, and
    /// would be readable for ever.
    fn living<'a>(&'a self, items: &BTreeMap<Key, Item>) -> impl Iterator<Item = &'a Held> {
        let lives = |key: &Key| {
            let item = items.get(key).filter(|item| item.life < Life::Ready);
            item.and_then(|item| item.known).is_some_and(|known| known.exited.is_none())
        };
        self.kept
            .iter()
            .filter(move |(key, _)| lives(key))
            .filter_map(|(_, kept)| kept.held.as_ref())
    }

    /// Looks at `item`, of whose result the system told `signals`, or nothing.
    pub fn look(
        &mut self,
        key: &Key,
        item: &Item,
        wants: Wants,
        signals: Option<Vec<Signal>>,
    ) -> Seen {
        let spec = &item.entry.spec;
        let path = Path::new(&spec.result_path);
        // What lies behind a link is changed where nobody watches.
        let watched = signals.is_some() && !path.is_symlink();
        let signals = signals.unwrap_or_default();
        let seen = Seen { signals, watched, ..Seen::only(result(path)) };
        if item.life >= Life::Ready {
            return seen;
        }
        let kept = self.kept.entry(key.clone()).or_default();
        kept.instance.clone_from(&spec.instance);
        let fate = kept.held.as_ref().map(fate);
        let named = match &spec.pid_file {
            None => Named::None,
            Some(file) => kept.name(Path::new(file), fate, wants.pid_file, self.pidfds),
        };
        let known = item.known.filter(|known| known.exited.is_none()).map(|known| known.who);
        let pid = match named {
            Named::Alive(who) => Some(known.unwrap_or(who).pid),
            _ => known.map(|who| who.pid),
        };
        let closed = item.result.closed.is_some();
        Seen {
            ending: closed && pid.is_some_and(cpu::is_ending),
            fate: fate.filter(|_| item.known.is_some()),
            named,
            written_ns: kept.written_ns,
            progress: wants.progress.then(|| progress(&spec.progress)),
            cpu: pid.filter(|_| wants.cpu).and_then(cpu::of),
            tree: pid.filter(|_| wants.tree).and_then(cpu::of_tree),
            ..seen
        }
    }
}

impl Kept {
    /// What the pid file says, read again when it changed, when its process is gone, and `anyway`.
    fn name(&mut self, path: &Path, fate: Option<Fate>, anyway: bool, fds: bool) -> Named {
        let stamp = fs::metadata(path).ok().map(|meta| Stamp::of(&meta));
        let lives = fate == Some(Fate::Alive);
        if let Some(named) = self.named
            && stamp == self.stamp
            && lives
            && !anyway
        {
            return named;
        }
        self.stamp = stamp;
        let read = pidfile::read(path, fds);
        let recorded = match &read {
            pidfile::Named::Alive(held) => held.recorded,
            pidfile::Named::Gone(who, _) => who.start_ticks.is_some(),
            _ => false,
        };
        self.written_ns = self.stamp.filter(|_| !recorded).map(|stamp| stamp.modified_ns);
        let named = match read {
            pidfile::Named::Missing => Named::Missing,
            pidfile::Named::Invalid => Named::Useless("pid_file_invalid"),
            pidfile::Named::Stale => Named::Useless("pid_file_stale"),
            pidfile::Named::OtherNamespace => Named::Useless("pid_namespace"),
            pidfile::Named::Gone(who, reason) => Named::Gone(who, reason),
            pidfile::Named::Alive(held) => {
                let who = held.who;
                if !lives {
                    self.held = Some(held);
                }
                Named::Alive(who)
            }
        };
        self.named = Some(named);
        named
    }
}

fn fate(held: &Held) -> Fate {
    match held.fate() {
        pidfile::Fate::Alive => Fate::Alive,
        pidfile::Fate::Exited(status) => Fate::Exited(status),
        pidfile::Fate::Reused => Fate::Reused,
    }
}

/// What the result's path shows.
#[must_use]
pub fn result(path: &Path) -> ResultSeen {
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() => ResultSeen::File(version(&Stamp::of(&meta))),
        Err(err) if err.kind() == io::ErrorKind::PermissionDenied => ResultSeen::Unreadable,
        Err(_) if path.parent().is_some_and(|dir| !dir.is_dir()) => ResultSeen::NoFolder,
        Ok(_) | Err(_) => ResultSeen::Absent,
    }
}

fn version(stamp: &Stamp) -> Version {
    Version { file: stamp.file, size: stamp.size, mtime_ns: stamp.modified_ns }
}

/// The stamps of all progress paths; of a directory also those of its entries.
fn progress(paths: &[String]) -> Progress {
    let mut hash = Sha256::new();
    let mut newest: Option<(i128, String)> = None;
    let mut note = |path: &str, ino: u64, size: u64, ns: i128| {
        hash.update(path.as_bytes());
        hash.update(ino.to_le_bytes());
        hash.update(size.to_le_bytes());
        hash.update(ns.to_le_bytes());
        if newest.as_ref().is_none_or(|(at, _)| *at < ns) {
            newest = Some((ns, path.to_owned()));
        }
    };
    for path in paths {
        let Ok(meta) = fs::metadata(path) else { continue };
        note(path, meta.ino(), meta.len(), Stamp::of(&meta).modified_ns);
        if !meta.is_dir() {
            continue;
        }
        let Ok(dir) = folder(path) else { continue };
        let Ok(entries) = Dir::read_from(&dir) else { continue };
        let children =
            entries.flatten().filter(|entry| ![c".", c".."].contains(&entry.file_name()));
        for entry in children.take(ENTRIES) {
            let name = entry.file_name();
            let Ok(stat) = statat(dir.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let ns = i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec);
            let path = format!("{path}/{}", name.to_string_lossy());
            note(&path, stat.st_ino, stat.st_size.unsigned_abs(), ns);
        }
    }
    let digest = hash.finalize();
    let stamp = digest.iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
    Progress { stamp, newest }
}

fn folder(path: &str) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    openat(rustix::fs::CWD, path, flags, Mode::empty())
}

#[cfg(test)]
mod tests;

//! inotify on the folders of what is watched, filtered by name, with the kinds that tell how a
//! result came to be whole.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{AccessKind, AccessMode, ModifyKind, RenameMode},
};
use shared::{wait::Bell, watch::is_limit};

use crate::seen::Signal;

/// How many signals of a result are kept between two looks; later ones replace the last.
const KEPT: usize = 64;

/// What is to be watched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Results, whose signals are kept.
    pub results: BTreeSet<PathBuf>,
    /// Other files whose changes are worth a look.
    pub names: BTreeSet<PathBuf>,
    /// Folders whose every entry counts.
    pub folders: BTreeSet<PathBuf>,
}

impl Wanted {
    fn is_within(&self, other: &Self) -> bool {
        self.results.is_subset(&other.results)
            && self.names.is_subset(&other.names)
            && self.folders.is_subset(&other.folders)
    }

    /// The folders that have to be watched for it.
    fn dirs(&self) -> BTreeSet<PathBuf> {
        let parents = self.results.iter().chain(&self.names).filter_map(|path| path.parent());
        parents.chain(self.folders.iter().map(PathBuf::as_path)).map(Path::to_owned).collect()
    }
}

/// What happened to each result, in order.
pub type Signals = BTreeMap<PathBuf, Vec<Signal>>;

#[derive(Debug)]
struct Filed {
    bell: Bell,
    wanted: Wanted,
    dirs: BTreeSet<PathBuf>,
    signals: Signals,
    /// Folders that went, and took their watch along.
    lost: BTreeSet<PathBuf>,
    overflowed: bool,
}

/// Watches names.
#[derive(Debug)]
pub struct Eyes {
    filed: Arc<Mutex<Filed>>,
    watcher: Option<RecommendedWatcher>,
    dirs: BTreeMap<PathBuf, (u64, u64)>,
    blind: bool,
    refusal: Option<String>,
}

impl Eyes {
    /// Watches nothing yet; with `blind` it never will.
    #[must_use]
    pub fn new(bell: Bell, blind: bool) -> Self {
        let filed = Filed {
            bell,
            wanted: Wanted::default(),
            dirs: BTreeSet::new(),
            signals: BTreeMap::new(),
            lost: BTreeSet::new(),
            overflowed: false,
        };
        let filed = Arc::new(Mutex::new(filed));
        Self { filed, watcher: None, dirs: BTreeMap::new(), blind, refusal: None }
    }

    /// Whether only the sweep sees.
    #[must_use]
    pub fn are_shut(&self) -> bool {
        self.watcher.is_none()
    }

    /// Why the system refuses to watch something, while it does.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Whether the system tells what happens to this path.
    #[must_use]
    pub fn watch(&self, path: &Path) -> bool {
        path.parent().is_some_and(|dir| self.dirs.contains_key(dir))
    }

    /// Watches exactly this. True when something was not watched before, so that what happened to
    /// it meanwhile is to be looked for.
    pub fn arm(&mut self, wanted: &Wanted) -> bool {
        if self.blind {
            return false;
        }
        self.refusal = None;
        if self.watcher.is_none() {
            match notify::recommended_watcher(handler(&self.filed)) {
                Ok(watcher) => self.watcher = Some(watcher),
                Err(err) => {
                    self.refusal = Some(err.to_string());
                    return false;
                }
            }
        }
        let dirs = wanted.dirs();
        let (lost, mut new) = {
            let mut filed = lock(&self.filed);
            let new = !wanted.is_within(&filed.wanted);
            if filed.wanted != *wanted {
                filed.wanted.clone_from(wanted);
                filed.dirs.clone_from(&dirs);
                filed.signals.retain(|path, _| wanted.results.contains(path));
            }
            (std::mem::take(&mut filed.lost), new)
        };
        let stale = self.dirs.keys().filter(|dir| !dirs.contains(*dir) || lost.contains(*dir));
        for dir in stale.cloned().collect::<Vec<_>>() {
            self.forget(&dir);
        }
        for dir in &dirs {
            new |= self.watch_dir(dir);
        }
        new
    }

    /// What happened to results since the last call.
    #[must_use]
    pub fn signals(&self) -> Signals {
        std::mem::take(&mut lock(&self.filed).signals)
    }

    /// What happened to `result` before this call and had not been filed when the signals were
    /// taken: the watcher's thread answers after it has filed what the system told before it was
    /// asked, unless it is just answering, so that it is asked twice.
    #[must_use]
    pub fn late(&mut self, result: &Path) -> Vec<Signal> {
        if let Some(watcher) = &mut self.watcher {
            for _ in 0..2 {
                std::thread::yield_now();
                let _ = watcher.configure(notify::Config::default());
            }
        }
        lock(&self.filed).signals.remove(result).unwrap_or_default()
    }

    /// Whether events were lost since the last call.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        std::mem::take(&mut lock(&self.filed).overflowed)
    }

    /// True when it wasn't watched before. A folder made anew is another one: the watch on the old
    /// one stays silent.
    fn watch_dir(&mut self, dir: &Path) -> bool {
        let Ok(identity) = fs::metadata(dir).map(|meta| (meta.dev(), meta.ino())) else {
            self.forget(dir);
            return false;
        };
        if self.dirs.get(dir) == Some(&identity) {
            return false;
        }
        self.forget(dir);
        let Some(watcher) = &mut self.watcher else { return false };
        match watcher.watch(dir, RecursiveMode::NonRecursive) {
            Ok(()) => {
                self.dirs.insert(dir.to_owned(), identity);
                return true;
            }
            Err(err) if is_limit(&err) => self.refusal = Some(err.to_string()),
            // One that may be entered but not read, or that went meanwhile: the sweep sees it.
            Err(_) => {}
        }
        false
    }

    fn forget(&mut self, dir: &Path) {
        if self.dirs.remove(dir).is_some()
            && let Some(watcher) = &mut self.watcher
        {
            // A folder that is gone has taken its watch along.
            let _ = watcher.unwatch(dir);
        }
    }
}

fn lock(filed: &Mutex<Filed>) -> MutexGuard<'_, Filed> {
    filed.lock().unwrap_or_else(PoisonError::into_inner)
}

fn handler(filed: &Arc<Mutex<Filed>>) -> impl FnMut(notify::Result<Event>) + use<> {
    let filed = Arc::clone(filed);
    move |event| {
        let mut filed = lock(&filed);
        if filed.file(event) {
            filed.bell.ring();
        }
    }
}

impl Filed {
    /// Files an event; true when it is worth a look.
    fn file(&mut self, event: notify::Result<Event>) -> bool {
        let event = match event {
            Ok(event) if !event.need_rescan() => event,
            _ => {
                self.overflowed = true;
                return true;
            }
        };
        // Both halves of a rename come by themselves as well.
        if matches!(event.kind, EventKind::Modify(ModifyKind::Name(RenameMode::Both))) {
            return false;
        }
        let mut concerns = false;
        for path in &event.paths {
            concerns |= if self.wanted.results.contains(path) {
                self.signal(path, event.kind)
            } else {
                !is_read(event.kind) && self.matters(path, event.kind)
            };
        }
        concerns
    }

    /// Keeps what an event tells of a result.
    fn signal(&mut self, result: &Path, kind: EventKind) -> bool {
        let signal = match kind {
            EventKind::Create(_) | EventKind::Modify(ModifyKind::Data(_)) => Signal::Written,
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => Signal::Closed,
            EventKind::Access(AccessKind::Open(_)) => Signal::Opened,
            EventKind::Modify(ModifyKind::Name(RenameMode::To)) => Signal::Renamed,
            other => return !is_read(other),
        };
        let signals = self.signals.entry(result.to_owned()).or_default();
        if signals.last() != Some(&signal) {
            signals.truncate(KEPT - 1);
            signals.push(signal);
        }
        true
    }

    fn matters(&mut self, path: &Path, kind: EventKind) -> bool {
        let gone = matches!(
            kind,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From))
        );
        let watched = self.dirs.contains(path);
        if watched && gone {
            self.lost.insert(path.to_owned());
        }
        let inside = path.parent().is_some_and(|dir| self.wanted.folders.contains(dir));
        watched || inside || self.wanted.names.contains(path)
    }
}

/// Reads are events too, our own included; waking for them would never end.
fn is_read(kind: EventKind) -> bool {
    matches!(kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write))
}

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
use shared::wait::Bell;

use crate::item::Signal;

/// How many signals of a result are kept between two looks; later ones replace the last.
const KEPT: usize = 64;

#[derive(Debug)]
struct Filed {
    bell: Bell,
    results: BTreeMap<PathBuf, Vec<Signal>>,
    names: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
    overflowed: bool,
}

/// Watches names.
#[derive(Debug)]
pub struct Eyes {
    filed: Arc<Mutex<Filed>>,
    watcher: Option<RecommendedWatcher>,
    folders: BTreeMap<PathBuf, (u64, u64)>,
    /// Why the system refuses, while it does.
    pub refusal: Option<String>,
}

impl Eyes {
    /// Watches nothing yet; with `blind` it never will.
    #[must_use]
    pub fn new(bell: Bell, blind: bool) -> Self {
        let filed = Filed {
            bell,
            results: BTreeMap::new(),
            names: BTreeSet::new(),
            folders: BTreeSet::new(),
            overflowed: false,
        };
        let mut eyes = Self {
            filed: Arc::new(Mutex::new(filed)),
            watcher: None,
            folders: BTreeMap::new(),
            refusal: None,
        };
        if !blind {
            match notify::recommended_watcher(handler(&eyes.filed)) {
                Ok(watcher) => eyes.watcher = Some(watcher),
                Err(err) => eyes.refusal = Some(err.to_string()),
            }
        }
        eyes
    }

    /// Whether only the sweep sees.
    #[must_use]
    pub fn are_shut(&self) -> bool {
        self.watcher.is_none()
    }

    /// Watches exactly these: results, other names, and folders whose every entry counts.
    pub fn arm(
        &mut self,
        results: &BTreeSet<PathBuf>,
        names: &BTreeSet<PathBuf>,
        open: &BTreeSet<PathBuf>,
    ) {
        if self.watcher.is_none() {
            return;
        }
        {
            let mut filed = lock(&self.filed);
            filed.results.retain(|path, _| results.contains(path));
            for path in results {
                filed.results.entry(path.clone()).or_default();
            }
            if filed.names != *names {
                filed.names.clone_from(names);
            }
            if filed.folders != *open {
                filed.folders.clone_from(open);
            }
        }
        let parents = results.iter().chain(names).filter_map(|path| path.parent());
        let wanted: BTreeSet<PathBuf> =
            parents.chain(open.iter().map(PathBuf::as_path)).map(Path::to_owned).collect();
        let stale: Vec<PathBuf> =
            self.folders.keys().filter(|dir| !wanted.contains(*dir)).cloned().collect();
        for dir in stale {
            self.forget(&dir);
        }
        self.refusal = None;
        for dir in wanted {
            self.watch(&dir);
        }
    }

    /// What happened to `result` since the last call, in order.
    #[must_use]
    pub fn signals(&self, result: &Path) -> Vec<Signal> {
        lock(&self.filed).results.get_mut(result).map(std::mem::take).unwrap_or_default()
    }

    /// Whether events were lost since the last call.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        std::mem::take(&mut lock(&self.filed).overflowed)
    }

    /// A folder made anew is another one: the watch on the old one stays silent.
    fn watch(&mut self, dir: &Path) {
        let Ok(identity) = fs::metadata(dir).map(|meta| (meta.dev(), meta.ino())) else {
            self.forget(dir);
            return;
        };
        if self.folders.get(dir) == Some(&identity) {
            return;
        }
        self.forget(dir);
        let Some(watcher) = &mut self.watcher else { return };
        match watcher.watch(dir, RecursiveMode::NonRecursive) {
            Ok(()) => drop(self.folders.insert(dir.to_owned(), identity)),
            Err(err) => self.refusal = Some(err.to_string()),
        }
    }

    fn forget(&mut self, dir: &Path) {
        if self.folders.remove(dir).is_some()
            && let Some(watcher) = &mut self.watcher
        {
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
        if file(&mut filed, event) {
            filed.bell.ring();
        }
    }
}

/// Files an event; true when it is worth a look.
fn file(filed: &mut Filed, event: notify::Result<Event>) -> bool {
    let event = match event {
        Ok(event) if !event.need_rescan() => event,
        _ => {
            filed.overflowed = true;
            return true;
        }
    };
    // Both halves of a rename come by themselves as well.
    if matches!(event.kind, EventKind::Modify(ModifyKind::Name(RenameMode::Both))) {
        return false;
    }
    let opens = matches!(event.kind, EventKind::Access(AccessKind::Open(_)));
    let reads = matches!(event.kind, EventKind::Access(kind)
        if kind != AccessKind::Close(AccessMode::Write));
    let signal = match event.kind {
        EventKind::Create(_) | EventKind::Modify(ModifyKind::Data(_)) => Some(Signal::Written),
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => Some(Signal::Closed),
        EventKind::Access(AccessKind::Open(_)) => Some(Signal::Opened),
        EventKind::Modify(ModifyKind::Name(RenameMode::To)) => Some(Signal::Renamed),
        _ => None,
    };
    let mut concerns = false;
    for path in &event.paths {
        if let Some(signals) = filed.results.get_mut(path) {
            concerns |= !reads || opens;
            if let Some(signal) = signal.filter(|signal| signals.last() != Some(signal)) {
                if signals.len() == KEPT {
                    signals.pop();
                }
                signals.push(signal);
            }
        } else if !reads {
            let inside = path.parent().is_some_and(|dir| filed.folders.contains(dir));
            // The watched folder itself went: its successor is looked for.
            let folder = filed.results.keys().any(|result| result.parent() == Some(path));
            concerns |= inside || folder || filed.names.contains(path);
        }
    }
    concerns
}

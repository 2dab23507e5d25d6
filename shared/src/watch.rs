//! What changed in a few folders: inotify or kqueue through `notify`, or nothing but the sweep.
//!
//! Changes are hints for when to look and what went by between two looks; only the look decides.
//! Folders are watched, never files, so that a file replaced by rename is the normal case. For a
//! folder that doesn't exist, the nearest existing parent is watched.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use nix::libc;
use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{AccessKind, AccessMode, ModifyKind, RenameMode},
};

pub use crate::process::is_remote;
use crate::wait::Bell;

mod mark;

use mark::Mark;

/// How many changes are kept between two looks. More count as an overflow.
const KEPT: usize = 65_536;
/// How long after a refusal the system is asked again.
pub const RETRY: Duration = Duration::from_mins(1);
/// How long our thread may take to file what the system told.
const FILING: Duration = Duration::from_secs(1);

/// Something that happened to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It appeared, or its content or metadata changed.
    Touched(PathBuf),
    /// It was deleted or moved away.
    Removed(PathBuf),
    /// It got another name; `Removed` and `Touched` of the halves come before.
    Renamed {
        /// The name it had.
        from: PathBuf,
        /// The name it has.
        to: PathBuf,
    },
}

/// What went by since the last look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// In the order of their happening.
    pub list: Vec<Change>,
    /// Some were lost: only a whole look knows.
    pub overflowed: bool,
}

#[derive(Debug, Default)]
struct Queue {
    changes: Changes,
    wanted: Vec<PathBuf>,
    /// Which files of the wanted folders matter; none: all do.
    reads: Option<fn(&Path) -> bool>,
    lost: BTreeSet<PathBuf>,
    /// The path of the mark, and how often it came.
    mark: Option<PathBuf>,
    marks: u64,
}

impl Queue {
    /// Whether the path lies in a wanted folder, or on the way to one.
    fn concerns(&self, path: &Path) -> bool {
        let reads = || self.reads.is_none_or(|reads| reads(path));
        let mut wanted = self.wanted.iter();
        wanted.any(|dir| dir.starts_with(path) || path.starts_with(dir) && reads())
    }

    fn push(&mut self, change: Change) {
        if self.changes.list.last() == Some(&change) {
            return;
        }
        if self.changes.list.len() == KEPT {
            self.changes.overflowed = true;
            self.changes.list.clear();
        }
        self.changes.list.push(change);
    }
}

/// Watches the folders that [`Watch::arm`] is given.
#[derive(Debug)]
pub struct Watch {
    bell: Arc<Mutex<Bell>>,
    queue: Arc<Mutex<Queue>>,
    /// Rung when a mark has come.
    marked: Arc<Condvar>,
    mark: Option<Mark>,
    watcher: Option<RecommendedWatcher>,
    roots: BTreeMap<PathBuf, (u64, u64)>,
    asked_at: Option<Duration>,
    refusal: Option<String>,
    poll_only: bool,
}

impl Watch {
    /// Watches nothing yet, and with `poll_only` never will.
    #[must_use]
    pub fn new(bell: Bell, poll_only: bool) -> Self {
        Self {
            bell: Arc::new(Mutex::new(bell)),
            queue: Arc::default(),
            marked: Arc::default(),
            mark: None,
            watcher: None,
            roots: BTreeMap::new(),
            asked_at: None,
            refusal: None,
            poll_only,
        }
    }

    /// Passes over the files in the folders for which `reads` is false.
    pub fn only(&mut self, reads: fn(&Path) -> bool) {
        lock(&self.queue).reads = Some(reads);
    }

    /// Sees to it that `folders` (absolute), or their nearest existing parents, are watched, and
    /// nothing else. To be called before each look: a folder made anew is a new one to the system.
    /// `now` is on the monotonic clock.
    pub fn arm(&mut self, folders: &[PathBuf], now: Duration) {
        if self.poll_only || self.asked_at.is_some_and(|asked| now < asked + RETRY) {
            return;
        }
        self.asked_at = None;
        if let Err(cause) = self.rearm(folders) {
            self.watcher = None;
            self.mark = None;
            self.roots.clear();
            self.asked_at = Some(now);
            self.refusal = Some(cause);
        } else {
            self.refusal = None;
        }
    }

    /// Why the system refuses to tell of changes, while it does.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Whether nothing but the sweep sees changes.
    #[must_use]
    pub fn is_polling(&self) -> bool {
        self.watcher.is_none()
    }

    /// What went by since the last call.
    #[must_use]
    pub fn take(&mut self) -> Changes {
        std::mem::take(&mut lock(&self.queue).changes)
    }

    /// What went by since the last call, all that happened before this one: what the system has
    /// told and our thread has not filed yet is waited for. An overflow is left for
    /// [`Watch::take`].
    #[must_use]
    pub fn catch_up(&mut self) -> Vec<Change> {
        self.settle();
        std::mem::take(&mut lock(&self.queue).changes.list)
    }

    /// Waits until our thread has filed what the system told so far.
    fn settle(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        if self.mark.is_none() {
            self.mark = Mark::new();
            lock(&self.queue).mark = self.mark.as_ref().map(|mark| mark.path().to_owned());
            let mut watch = |mark: &Mark| watcher.watch(mark.path(), RecursiveMode::NonRecursive);
            self.mark.take_if(|mark| watch(mark).is_err());
        }
        let Some(mark) = &self.mark else {
            // The thread answers after it has filed what it was told before it was asked, unless it
            // is just answering: so it gets the time to go round, and is asked twice.
            for _ in 0..2 {
                std::thread::yield_now();
                let _ = watcher.configure(notify::Config::default());
            }
            return;
        };
        let queue = lock(&self.queue);
        let (before, left) = (queue.marks, mark.leave());
        let is_late =
            |queue: &mut Queue| left.is_ok() && queue.marks == before && !queue.changes.overflowed;
        drop(self.marked.wait_timeout_while(queue, FILING, is_late));
    }

    fn rearm(&mut self, folders: &[PathBuf]) -> Result<(), String> {
        let lost = {
            let mut queue = lock(&self.queue);
            if queue.wanted != folders {
                queue.wanted = folders.to_vec();
            }
            std::mem::take(&mut queue.lost)
        };
        for root in lost {
            self.forget(&root);
        }
        let mut kept = BTreeSet::new();
        for folder in folders {
            kept.insert(self.watch_nearest(folder)?);
        }
        let stale: Vec<PathBuf> =
            self.roots.keys().filter(|root| !kept.contains(*root)).cloned().collect();
        for root in stale {
            self.forget(&root);
        }
        Ok(())
    }

    /// Watches `folder` or the nearest parent that can be watched, and says which. It looks again
    /// after each step, because the folder may have been made in between.
    fn watch_nearest(&mut self, folder: &Path) -> Result<PathBuf, String> {
        let mut refused = BTreeSet::new();
        // Bounded: a folder that comes and goes faster than we look is left to the sweep.
        for _ in 0..64 {
            let near = folder.ancestors().find(|dir| dir.is_dir() && !refused.contains(*dir));
            let Some(near) = near else { break };
            match self.watch(near) {
                Ok(())
                    if folder
                        .ancestors()
                        .take_while(|dir| *dir != near)
                        .any(|dir| dir.is_dir() && !refused.contains(dir)) => {}
                Ok(()) => return Ok(near.to_owned()),
                Err(err) => {
                    if is_limit(&err) {
                        return Err(err.to_string());
                    }
                    refused.insert(near.to_owned());
                }
            }
        }
        Ok(folder.to_owned())
    }

    fn watch(&mut self, dir: &Path) -> notify::Result<()> {
        let identity = fs::metadata(dir).map(|meta| (meta.dev(), meta.ino()))?;
        if self.roots.get(dir) == Some(&identity) {
            return Ok(());
        }
        self.forget(dir);
        if self.watcher.is_none() {
            self.watcher = Some(notify::recommended_watcher(self.handler())?);
        }
        if let Some(watcher) = &mut self.watcher {
            watcher.watch(dir, RecursiveMode::NonRecursive)?;
        }
        self.roots.insert(dir.to_owned(), identity);
        Ok(())
    }

    fn handler(&self) -> impl FnMut(notify::Result<Event>) + use<> {
        let (queue, bell, marked) =
            (Arc::clone(&self.queue), Arc::clone(&self.bell), Arc::clone(&self.marked));
        move |event| {
            let mut queue = lock(&queue);
            let marks = queue.marks;
            let is_news = note(&mut queue, event);
            if queue.marks != marks || queue.changes.overflowed {
                marked.notify_all();
            }
            drop(queue);
            if is_news {
                lock(&bell).ring();
            }
        }
    }

    fn forget(&mut self, root: &Path) {
        if self.roots.remove(root).is_some()
            && let Some(watcher) = &mut self.watcher
        {
            // A folder that is gone has taken its watch along.
            let _ = watcher.unwatch(root);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the system has no more watches to give, as opposed to a folder that can't be watched.
#[must_use]
pub fn is_limit(err: &notify::Error) -> bool {
    match &err.kind {
        notify::ErrorKind::MaxFilesWatch => true,
        notify::ErrorKind::Io(err) => matches!(
            err.raw_os_error(),
            Some(libc::ENOSPC | libc::EMFILE | libc::ENFILE | libc::ENOMEM)
        ),
        _ => false,
    }
}

/// Files an event, and says whether it is worth a look.
fn note(queue: &mut Queue, event: notify::Result<Event>) -> bool {
    let event = match event {
        Ok(event) if !event.need_rescan() => event,
        _ => {
            queue.changes.overflowed = true;
            return true;
        }
    };
    if queue.mark.is_some() && queue.mark.as_ref() == event.paths.first() {
        queue.marks += 1;
        return false;
    }
    let gone = match event.kind {
        // Reads are events too, our own included; waking for them would never end.
        EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write) => return false,
        EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From)) => true,
        _ => false,
    };
    if let (EventKind::Modify(ModifyKind::Name(RenameMode::Both)), [from, to]) =
        (event.kind, &*event.paths)
    {
        let concerns = queue.concerns(from) || queue.concerns(to);
        if concerns {
            queue.push(Change::Renamed { from: from.clone(), to: to.clone() });
        }
        return concerns;
    }
    let mut concerns = false;
    for path in event.paths.into_iter().filter(|path| queue.concerns(path)).collect::<Vec<_>>() {
        concerns = true;
        if gone {
            queue.lost.insert(path.clone());
            queue.push(Change::Removed(path));
        } else {
            queue.push(Change::Touched(path));
        }
    }
    concerns
}

#[cfg(test)]
mod tests;

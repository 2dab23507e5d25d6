//! Looks at the state folder.

use std::{
    fs::{self, File, Metadata},
    io::Read as _,
    path::{Path, PathBuf},
};

use shared::{
    clock::Now,
    file::{self, Stamp, Unread},
    session::Pass,
    watch::Change,
};

use crate::{
    clocks::wall_ns,
    store::{Refusal, Store},
};

const STORE: &str = "work-items.json";
const WAL: &str = ".pending-tx.json";
const LIMIT: u64 = 64 << 20;

/// What a look found.
#[derive(Debug)]
pub struct Seen<'a> {
    /// The store, or why there is none.
    pub store: Result<&'a Store, Blind>,
    /// The record of a transaction that is going on, or whose writer died.
    pub wal: Option<Wal>,
}

/// Why there is no store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blind {
    /// What kind of trouble it is.
    pub trouble: Trouble,
    /// The path, then the cause.
    pub detail: String,
}

/// Kinds of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// There is no state folder.
    NoFolder,
    /// There is no file.
    NoStore,
    /// The file can't be read.
    Unreadable,
    /// What it holds is no store. Its writer may be at work.
    Invalid,
}

impl Trouble {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::NoFolder, Self::NoStore, Self::Unreadable, Self::Invalid];

    /// Its name in `monitor_degraded`.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoFolder => "state_dir_missing",
            Self::NoStore => "store_missing",
            Self::Unreadable => "store_unreadable",
            Self::Invalid => "store_invalid",
        }
    }
}

/// The record of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wal {
    /// Device and inode.
    pub file: (u64, u64),
    /// When it was written, in nanoseconds since 1970.
    pub modified_ns: i128,
}

/// Looks, and keeps what it read for as long as the file stays as it is.
#[derive(Debug, Default)]
pub struct Probe {
    known: Option<Known>,
}

#[derive(Debug)]
struct Known {
    path: PathBuf,
    stamp: Stamp,
    is_young: bool,
    store: Store,
}

impl Probe {
    /// Looks at the store in `folder`.
    pub fn look(&mut self, folder: &Path, pass: &Pass) -> Seen<'_> {
        let path = folder.join(STORE);
        let trusted = only_others(&pass.changes.list, &path);
        let known = self.known.take();
        let known = known.filter(|known| !pass.full && known.is_current(&path, trusted));
        let read = known.map_or_else(|| Known::read(path, &pass.now), Ok);
        // Looked for after the store was read: a transaction that began before can't be missed.
        let wal = fs::symlink_metadata(folder.join(WAL)).ok().map(|meta| Wal::of(&meta));
        let store = match read {
            Ok(known) => Ok(&self.known.insert(known).store),
            Err(blind) if folder.is_dir() => Err(blind),
            Err(_) => {
                let detail = format!("{}: no such folder", folder.display());
                Err(Blind { trouble: Trouble::NoFolder, detail })
            }
        };
        Seen { store, wal }
    }
}

/// Whether a file of the state folder is one that is looked at.
#[must_use]
pub fn reads(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == STORE || name == WAL)
}

impl Wal {
    fn of(meta: &Metadata) -> Self {
        let Stamp { file, modified_ns, .. } = Stamp::of(meta);
        Self { file, modified_ns }
    }
}

impl Known {
    /// Whether the file is as it was read. A young stamp proves that only to those who trust that
    /// nothing happened to the file.
    fn is_current(&self, path: &Path, trusted: bool) -> bool {
        let stamp = || fs::metadata(path).map(|meta| Stamp::of(&meta));
        let is_proof = trusted || !self.is_young;
        self.path == path && is_proof && stamp().is_ok_and(|stamp| stamp == self.stamp)
    }

    /// Reads the store at `path`, again if it moved meanwhile.
    fn read(path: PathBuf, now: &Now) -> Result<Self, Blind> {
        let blind = |trouble, cause: &str| Blind {
            trouble,
            detail: format!("{}: {cause}", path.display()),
        };
        for _ in 0..3 {
            let (file, meta) = file::open(&path).map_err(|why| match why {
                Unread::Absent => blind(Trouble::NoStore, "no such file"),
                Unread::Unreadable(cause) => blind(Trouble::Unreadable, &cause),
                Unread::TooLarge | Unread::Moving => blind(Trouble::Unreadable, "unreadable"),
            })?;
            if meta.len() > LIMIT {
                return Err(blind(Trouble::Unreadable, "larger than 64 MiB"));
            }
            let read = Store::read((&file).take(LIMIT));
            let Some(stamp) = unmoved(&file, &meta) else { continue };
            let store = read.map_err(|why| match why {
                Refusal::Io(err) => blind(Trouble::Unreadable, &err.to_string()),
                Refusal::Content(cause) => blind(Trouble::Invalid, &cause),
            })?;
            return Ok(Self { is_young: stamp.is_young(wall_ns(now)), path, stamp, store });
        }
        Err(blind(Trouble::Invalid, "it keeps changing while it is read"))
    }
}

/// Whether something changed beside `store`, and it was not touched: its writers prepare their
/// files there, and a store that was read a moment ago need not be read again for that.
fn only_others(changes: &[Change], store: &Path) -> bool {
    let is_other =
        |path: &PathBuf| path.parent() == store.parent() && path.file_name() != store.file_name();
    !changes.is_empty()
        && changes.iter().all(|change| match change {
            Change::Touched(path) | Change::Removed(path) => is_other(path),
            Change::Renamed { from, to } => is_other(from) && is_other(to),
        })
}

/// The stamp of `file`, unless it changed since `before`.
fn unmoved(file: &File, before: &Metadata) -> Option<Stamp> {
    let (before, after) = (Stamp::of(before), Stamp::of(&file.metadata().ok()?));
    (before.size == after.size && before.modified_ns == after.modified_ns).then_some(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_beside_the_store_leave_it_alone() {
        let store = Path::new("/p/state/work-items.json");
        let touched = |path: &str| Change::Touched(path.into());
        let renamed = |from: &str, to: &str| Change::Renamed { from: from.into(), to: to.into() };
        let wal = || Change::Removed("/p/state/.pending-tx.json".into());
        assert!(only_others(&[touched("/p/state/work-items.json.tmp"), wal()], store));
        assert!(only_others(&[renamed("/p/state/a", "/p/state/b")], store));
        for changes in [
            // Nothing at all: a sweep, a boundary, another try.
            &[][..],
            &[wal(), touched("/p/state/work-items.json")],
            &[renamed("/p/state/work-items.json.tmp", "/p/state/work-items.json")],
            &[touched("/p/state")],
            &[Change::Removed("/p".into())],
        ] {
            assert!(!only_others(changes, store), "{changes:?}");
        }
    }
}

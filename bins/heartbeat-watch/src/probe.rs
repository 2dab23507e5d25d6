//! Looks at the state folder.

use std::{
    fs::{self, File, Metadata},
    io::Read as _,
    path::{Path, PathBuf},
};

use shared::{
    clock::Now,
    file::{self, Stamp, Unread},
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
    /// Looks at the store in `folder`; `full` reads it whatever its stamp says.
    pub fn look(&mut self, folder: &Path, full: bool, now: &Now) -> Seen<'_> {
        let path = folder.join(STORE);
        let known = self.known.take().filter(|known| !full && known.is_current(&path));
        let read = known.map_or_else(|| Known::read(path, now), Ok);
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

impl Wal {
    fn of(meta: &Metadata) -> Self {
        let Stamp { file, modified_ns, .. } = Stamp::of(meta);
        Self { file, modified_ns }
    }
}

impl Known {
    fn is_current(&self, path: &Path) -> bool {
        let stamp = || fs::metadata(path).map(|meta| Stamp::of(&meta));
        self.path == path && !self.is_young && stamp().is_ok_and(|stamp| stamp == self.stamp)
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

/// The stamp of `file`, unless it changed since `before`.
fn unmoved(file: &File, before: &Metadata) -> Option<Stamp> {
    let (before, after) = (Stamp::of(before), Stamp::of(&file.metadata().ok()?));
    (before.size == after.size && before.modified_ns == after.modified_ns).then_some(after)
}

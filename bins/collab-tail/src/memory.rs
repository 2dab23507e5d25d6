//! What is remembered of one board between two looks, and between two processes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, Serializer};
use shared::{
    exit::{Error, Reason},
    file::{self, Stamp},
    store,
};

use crate::{
    content::Content,
    hash::{Hash, hex},
    names::Route,
    parser::State,
    trouble::Trouble,
};

/// The version of the files that this program writes and reads.
const VERSION: u32 = 1;
/// The most bytes of one.
const LIMIT: u64 = 1 << 30;

/// What is remembered of a board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    version: u32,
    /// Its canonical path. One that isn't text is told apart by the name of the file alone.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// The links by which it was named.
    #[serde(serialize_with = "as_texts")]
    pub spellings: BTreeSet<PathBuf>,
    /// The file that was read; 0 when none ever was.
    pub device: u64,
    /// The same.
    pub inode: u64,
    /// Of the file when it was read, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// The same.
    pub ctime_ns: i64,
    /// What was read.
    #[serde(flatten)]
    pub content: Content,
    /// What is known after the last whole line.
    #[serde(flatten)]
    pub state: State,
    /// How many bytes the last line had, if it had no newline.
    pub waiting: u64,
    /// With `--repeats heading`: how often each event heading stands there (by half its hash).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurrences: Option<BTreeMap<String, Count>>,
    /// The mode that it was read in.
    pub route: Route,
    /// The names that it was read for.
    pub names: Vec<String>,
    /// Since when it is missing, in nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent_since: Option<i64>,
    /// What was told of it and not taken back.
    pub raised: BTreeSet<Trouble>,
    /// How many events of each kind were told of it: part of their `id`.
    pub counts: BTreeMap<String, u64>,
}

/// How often an event heading stands on a board.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// In the part that was read.
    pub now: u32,
    /// At most, ever.
    pub most: u32,
}

impl Memory {
    /// Of a board that nobody looked at.
    #[must_use]
    pub fn of(path: &Path, route: Route, names: &[String]) -> Self {
        Self {
            version: VERSION,
            path: path.to_owned(),
            spellings: BTreeSet::new(),
            device: 0,
            inode: 0,
            mtime_ns: 0,
            ctime_ns: 0,
            content: Content::default(),
            state: State::default(),
            waiting: 0,
            occurrences: None,
            route,
            names: names.to_vec(),
            absent_since: None,
            raised: BTreeSet::new(),
            counts: BTreeMap::new(),
        }
    }

    /// Whether a file was read: there is a baseline.
    #[must_use]
    pub fn has_baseline(&self) -> bool {
        self.inode != 0
    }

    /// Remembers which file was read.
    pub fn set_stamp(&mut self, stamp: &Stamp) {
        (self.device, self.inode) = stamp.file;
        self.mtime_ns = saturate(stamp.modified_ns);
        self.ctime_ns = saturate(stamp.changed_ns);
    }

    /// Counts an event of the kind, and says which one it is.
    pub fn count(&mut self, kind: &str) -> u64 {
        let count = self.counts.entry(kind.to_owned()).or_default();
        *count += 1;
        *count
    }
}

fn as_text<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

fn as_texts<S: Serializer>(paths: &BTreeSet<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

/// Nanoseconds that fit the file.
#[must_use]
pub fn saturate(ns: i128) -> i64 {
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}

/// The name of a board's file: the first 32 hex digits of the SHA-256 of its canonical path.
#[must_use]
pub fn key(path: &Path) -> String {
    hex(&Hash::of(&[path.as_os_str().as_bytes()]).half())
}

/// The folder of the boards' files.
#[derive(Debug, Clone)]
pub struct Shelf {
    dir: PathBuf,
}

impl Shelf {
    /// Of a listener's folder.
    #[must_use]
    pub fn new(listener_dir: &Path) -> Self {
        Self { dir: listener_dir.join("boards") }
    }

    /// Reads all that is there, by key.
    ///
    /// # Errors
    ///
    /// A file that isn't one of ours is refused and left as it is: to begin afresh would lose or
    /// repeat mail.
    pub fn load(&self) -> Result<BTreeMap<String, Memory>, Error> {
        let mut found = BTreeMap::new();
        if !store::exists(&self.dir)? {
            return Ok(found);
        }
        store::check_private(&self.dir)?;
        let entries = fs::read_dir(&self.dir).map_err(|err| Error::io("list", &self.dir, &err))?;
        for entry in entries {
            let path = entry.map_err(|err| Error::io("list", &self.dir, &err))?.path();
            // What a killed process left half written was never the state.
            if path.extension().is_some_and(|extension| extension == "json")
                && let Some(key) = path.file_stem().and_then(|stem| stem.to_str())
            {
                found.insert(key.to_owned(), load(&path)?);
            }
        }
        Ok(found)
    }

    /// Whether it holds anything, whatever it is.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn is_empty(&self) -> Result<bool, Error> {
        if !store::exists(&self.dir)? {
            return Ok(true);
        }
        let mut entries =
            fs::read_dir(&self.dir).map_err(|err| Error::io("list", &self.dir, &err))?;
        Ok(entries.next().is_none())
    }

    /// Where the file of `key` is.
    #[must_use]
    pub fn path(&self, key: &str) -> PathBuf {
        self.dir.join(format!("{key}.json"))
    }

    /// The bytes that [`Shelf::write`] writes.
    ///
    /// # Errors
    ///
    /// A path that isn't text.
    pub fn bytes(memory: &Memory) -> std::io::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(memory)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Replaces the file of `key`.
    ///
    /// # Errors
    ///
    /// Those of the file system; the old file is then as it was.
    pub fn write(&self, key: &str, bytes: &[u8]) -> std::io::Result<()> {
        if !self.dir.is_dir() {
            store::make_private(&self.dir).map_err(std::io::Error::other)?;
        }
        shared::cursor::replace(&self.path(key), bytes)
    }

    /// Removes the file of `key`.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn remove(&self, key: &str) -> std::io::Result<()> {
        fs::remove_file(self.path(key))
    }
}

fn load(path: &Path) -> Result<Memory, Error> {
    #[derive(Deserialize)]
    struct Head {
        version: u64,
    }
    let refused = |cause: String| {
        let message = format!("unable to use {}: {cause}", path.display());
        Error::new(Reason::Runtime, "state_failed", message)
    };
    let read = file::read_if_there(path, LIMIT).map_err(|err| Error::io("read", path, &err))?;
    let bytes = read.ok_or_else(|| refused("it is gone".to_owned()))?;
    let head: Head = serde_json::from_slice(&bytes).map_err(|err| refused(err.to_string()))?;
    if head.version != u64::from(VERSION) {
        return Err(refused(format!(
            "its version is {}, this program reads {VERSION}",
            head.version
        )));
    }
    serde_json::from_slice(&bytes).map_err(|err| refused(err.to_string()))
}

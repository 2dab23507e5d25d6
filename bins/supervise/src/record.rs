//! What is written down of a monitor: who it is, where its lines begin, how it ended.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::Path,
};

use serde::{Deserialize, Serialize};
use shared::{
    clock, cursor,
    exit::{Error, Reason},
    file::{self, Unread},
    process::Identity,
    text,
};

use crate::{keeper::log::appending, place::Home};

/// The version of the record.
const VERSION: u32 = 1;
/// How much of the end of `ends.ndjson` is read: some 400 ends.
const ENDS: u64 = 64 << 10;
/// The most bytes of a record: a long command line fits.
const LIMIT: u64 = 4 << 20;

/// Who runs, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    version: u32,
    /// The monitor's name.
    pub name: String,
    /// This run, of all runs there ever were: 64 hex digits from the system's random source.
    pub instance: String,
    /// The keeper.
    pub keeper: Identity,
    /// The monitor, as it was last started.
    pub monitor: Identity,
    /// Its command line.
    pub argv: Vec<String>,
    /// The folder it runs in.
    pub cwd: String,
    /// When the run began, RFC 3339.
    pub started_at: String,
    /// When it was proven.
    pub ready_at: Option<String>,
    /// How often it was started again.
    pub restarts: u32,
    /// How often within an hour it may be.
    pub restart: u32,
    /// Whether it may end by itself.
    pub ends: bool,
    /// Where this run begins in the log, in bytes since the first line there ever was.
    pub run_start: u64,
}

impl Record {
    /// The record of a run that begins; the rest is empty.
    #[must_use]
    pub fn new(
        name: &str,
        instance: &str,
        keeper: Identity,
        monitor: Identity,
        run_start: u64,
    ) -> Self {
        Self {
            version: VERSION,
            name: name.to_owned(),
            instance: instance.to_owned(),
            keeper,
            monitor,
            argv: Vec::new(),
            cwd: String::new(),
            started_at: String::new(),
            ready_at: None,
            restarts: 0,
            restart: 0,
            ends: false,
            run_start,
        }
    }

    /// The first 12 digits of the instance: what callers hold.
    #[must_use]
    pub fn task_id(&self) -> &str {
        text::head(&self.instance, 12)
    }

    /// Reads the record of `home`. `None`: there is none.
    ///
    /// # Errors
    ///
    /// One that is empty, cut short, binary or of another version is refused and left as it is:
    /// whoever it speaks of must not be signalled or forgotten.
    pub fn load(home: &Home) -> Result<Option<Self>, Error> {
        let path = home.record();
        let content = match file::read(&path, LIMIT) {
            Ok(content) => content,
            Err(Unread::Absent) => return Ok(None),
            Err(Unread::TooLarge) => return Err(refused(&path, "it is too large")),
            Err(Unread::Moving) => return Err(refused(&path, "it keeps changing")),
            Err(Unread::Unreadable(cause)) => return Err(refused(&path, &cause)),
        };
        let versioned: Versioned = serde_json::from_slice(&content.bytes)
            .map_err(|err| refused(&path, &format!("it is no record of ours ({err})")))?;
        if versioned.version != u64::from(VERSION) {
            let cause = format!("its version is {}, not {VERSION}", versioned.version);
            return Err(refused(&path, &cause));
        }
        let record = serde_json::from_slice(&content.bytes);
        record.map(Some).map_err(|err| refused(&path, &format!("it is no record of ours ({err})")))
    }

    /// Writes it whole or not at all.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn save(&self, home: &Home) -> io::Result<()> {
        cursor::replace(&home.record(), &serde_json::to_vec(self)?)
    }
}

#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

fn refused(path: &Path, cause: &str) -> Error {
    let message = format!("unable to use {}: {cause}; it is left as it is", path.display());
    Error::new(Reason::Runtime, "record_refused", message)
}

/// Why a run, or one start of it, ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// By itself.
    Exited,
    /// On purpose.
    Stopped,
    /// It died too often to be started again.
    GaveUp,
    /// It was never proven.
    StartFailed,
    /// Its keeper was killed.
    KeeperLost,
    /// Another command took its name.
    Replaced,
}

/// A line of `ends.ndjson`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// When, RFC 3339.
    pub at: String,
    /// Whose.
    pub instance: String,
    /// Why.
    pub reason: EndReason,
    /// The exit code; none when a signal killed it, or nobody saw.
    pub exit_code: Option<i32>,
    /// The signal that killed it.
    pub exit_signal: Option<i32>,
    /// How long it ran.
    pub ran_seconds: u64,
}

impl End {
    /// An end that nobody saw, of a run of unknown length.
    #[must_use]
    pub fn new(instance: &str, reason: EndReason) -> Self {
        Self {
            at: clock::now().timestamp().to_string(),
            instance: instance.to_owned(),
            reason,
            exit_code: None,
            exit_signal: None,
            ran_seconds: 0,
        }
    }

    /// Notes for whoever held the lock before us, and could not, that its run is over.
    pub fn note_lost(home: &Home, record: &Record) {
        if Self::of(home, &record.instance).is_none() {
            let _ = Self::new(&record.instance, EndReason::KeeperLost).add(home);
        }
    }

    /// Whether the monitor of `record` has ended as it was meant to.
    #[must_use]
    pub fn is_meant(&self, record_ends: bool) -> bool {
        matches!(self.reason, EndReason::Stopped | EndReason::Replaced)
            || record_ends && self.exit_code == Some(0)
    }

    /// Adds the line.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn add(&self, home: &Home) -> io::Result<()> {
        let mut file = appending().open(home.ends())?;
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        file.write_all(&line)
    }

    /// The last end of the run `instance`: the last line that is whole and speaks of it. Starts
    /// that failed since have lines of their own.
    #[must_use]
    pub fn of(home: &Home, instance: &str) -> Option<Self> {
        let (file, meta) = file::open(&home.ends()).ok()?;
        let begin = meta.len().saturating_sub(ENDS);
        let mut end = vec![0; usize::try_from(meta.len() - begin).ok()?];
        let n = file.read_at(&mut end, begin).ok()?;
        let lines = end[..n].split(|byte| *byte == b'\n');
        let mut ends = lines.rev().filter_map(|line| serde_json::from_slice::<Self>(line).ok());
        ends.find(|end| end.instance == instance)
    }
}

/// What the keeper counts, for those who look.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Lines written to the log by this run.
    pub lines: u64,
    /// Lines that were too long, or that a full disk had no room for.
    pub lines_dropped: u64,
    /// When the last line came.
    pub last_line_at: Option<String>,
    /// When the monitor last gave a watchdog notice.
    pub watchdog_at: Option<String>,
    /// Why lines can't be written at the moment.
    pub log_error: Option<String>,
}

impl Counters {
    /// Every state of the file has this size, so that a full disk still takes it.
    const SIZE: usize = 512;

    /// Opens the file for a new run.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn open(home: &Home) -> io::Result<std::fs::File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.custom_flags(nix::libc::O_NONBLOCK).open(home.counters())
    }

    /// Writes them in place.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn write(&self, file: &std::fs::File) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(self)?;
        bytes.resize(Self::SIZE - 1, b' ');
        bytes.push(b'\n');
        file.write_all_at(&bytes, 0)
    }

    /// Reads them; a torn state is read again.
    #[must_use]
    pub fn read(home: &Home) -> Self {
        for _ in 0..3 {
            let content = file::read(&home.counters(), 4096).ok();
            if let Some(counters) =
                content.and_then(|content| serde_json::from_slice(&content.bytes).ok())
            {
                return counters;
            }
        }
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let scene = tempfile::tempdir().unwrap();
        let home = Home::at(scene.path().join("gate"));
        home.make().unwrap();
        (scene, home)
    }

    fn record() -> Record {
        let who = shared::process::look(std::process::id()).unwrap().unwrap().0;
        let mut record = Record::new("gate", &"ab".repeat(32), who.clone(), who, 9);
        record.argv = ["sh", "-c", "a \"b\"\n"].map(str::to_owned).to_vec();
        record
    }

    #[test]
    fn a_record_comes_back_as_it_was() {
        let (_scene, home) = home();
        assert_eq!(Record::load(&home).unwrap(), None);
        record().save(&home).unwrap();
        assert_eq!(Record::load(&home).unwrap(), Some(record()));
        assert_eq!(record().task_id(), "abababababab");
    }

    #[test]
    fn a_record_that_is_not_ours_is_refused_and_left() {
        let (_scene, home) = home();
        let good = serde_json::to_string(&record()).unwrap();
        for bad in [
            String::new(),
            good[..good.len() / 2].to_owned(),
            "\0\0\0\0".to_owned(),
            "[]".to_owned(),
            "{\"version\":1}".to_owned(),
            good.replace("\"version\":1", "\"version\":2"),
        ] {
            cursor::replace(&home.record(), bad.as_bytes()).unwrap();
            let err = Record::load(&home).unwrap_err();
            assert_eq!((err.reason(), err.word()), (Reason::Runtime, "record_refused"), "{bad}");
            assert!(err.to_string().contains("record.json"), "{err}");
            assert_eq!(fs::read_to_string(home.record()).unwrap(), bad);
        }
    }

    #[test]
    fn the_last_end_counts_though_a_later_one_is_cut_short() {
        let (_scene, home) = home();
        assert_eq!(End::of(&home, &"ab".repeat(32)), None);
        let end = |code| End {
            at: "2026-01-01T00:00:00Z".to_owned(),
            instance: "ab".repeat(32),
            reason: EndReason::Exited,
            exit_code: Some(code),
            exit_signal: None,
            ran_seconds: 1,
        };
        for code in 0..50 {
            end(code).add(&home).unwrap();
        }
        assert_eq!(End::of(&home, &"ab".repeat(32)), Some(end(49)));
        End::new("other", EndReason::StartFailed).add(&home).unwrap();
        assert_eq!(End::of(&home, &"ab".repeat(32)), Some(end(49)));
        let mut text = fs::read(home.ends()).unwrap();
        text.truncate(text.len() - 10);
        cursor::replace(&home.ends(), &text).unwrap();
        assert_eq!(End::of(&home, "other"), None);
        assert_eq!(End::of(&home, &"ab".repeat(32)), Some(end(49)));
    }
}

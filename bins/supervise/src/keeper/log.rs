//! The monitor's lines on disk: whole, rotated, and remembered for a while when the disk is full.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::Path,
};

use serde::{Deserialize, Serialize};
use shared::file;

use crate::place::Home;

/// How much is kept for a disk that has no room at the moment.
const WAITING: usize = 1 << 20;
/// How much of stderr is kept on disk, and how much more is let in before it is trimmed.
const STDERR: usize = 256 << 10;
const STDERR_SLACK: usize = 64 << 10;

/// Which file begins where: `log.json`. Positions count from the first byte there ever was, across
/// rotation. It is replaced after each rotation and before the next, so it is late by one at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct LogPlace {
    /// The position of the first byte of the file `inode`.
    base: u64,
    /// The file that was `log.ndjson`.
    inode: u64,
}

/// The log of a monitor.
#[derive(Debug)]
pub struct Log {
    home: Home,
    file: File,
    size: u64,
    place: LogPlace,
    max: u64,
    waiting: Vec<u8>,
    lost_bytes: u64,
    error: Option<String>,
}

impl Log {
    /// Opens the log for a new run behind what is there.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn open(home: &Home, max: u64) -> io::Result<Self> {
        let file = open(&home.log())?;
        let meta = file.metadata()?;
        let place = LogPlace { base: base_of(home, meta.ino()), inode: meta.ino() };
        note(home, place)?;
        Ok(Self {
            home: home.clone(),
            file,
            size: meta.size(),
            place,
            max,
            waiting: Vec::new(),
            lost_bytes: 0,
            error: None,
        })
    }

    /// Why lines can't be written.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Whether lines wait for room.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// What a full disk cost since the last call, in bytes.
    pub fn take_lost(&mut self) -> Option<u64> {
        let can_tell = self.lost_bytes > 0 && self.waiting.is_empty();
        can_tell.then(|| std::mem::take(&mut self.lost_bytes))
    }

    /// Where the next line goes, in bytes since the first line there ever was.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.place.base + self.size
    }

    /// Writes a whole line, or keeps it for when there is room; false when it had to be dropped.
    pub fn add(&mut self, line: &[u8]) -> bool {
        self.retry();
        if self.waiting.is_empty() && self.write(line) {
            return true;
        }
        let fits = self.waiting.len() + line.len() <= WAITING;
        if fits {
            self.waiting.extend(line);
        } else {
            self.lost_bytes += line.len() as u64;
        }
        fits
    }

    /// Tries what waits once more.
    pub fn retry(&mut self) {
        while !self.waiting.is_empty() {
            let end = memchr::memchr(b'\n', &self.waiting).map_or(self.waiting.len(), |at| at + 1);
            let line: Vec<u8> = self.waiting[..end].to_vec();
            if !self.write(&line) {
                return;
            }
            self.waiting.drain(..end);
        }
    }

    /// True when the whole line is in the file; else nothing of it is.
    fn write(&mut self, line: &[u8]) -> bool {
        if self.size > 0
            && self.size + line.len() as u64 > self.max
            && let Err(err) = self.rotate()
        {
            self.error = Some(err.to_string());
        }
        let written = match self.file.write(line) {
            Ok(n) if n == line.len() => Ok(()),
            Ok(_) => Err(io::Error::from_raw_os_error(nix::libc::ENOSPC)),
            Err(err) => Err(err),
        };
        match written {
            Ok(()) => {
                self.size += line.len() as u64;
                self.error = None;
                true
            }
            Err(err) => {
                // A reader takes whole lines only, so the piece is harmless until it goes.
                let _ = self.file.set_len(self.size);
                self.error = Some(err.to_string());
                false
            }
        }
    }

    /// The new file is there before the old one moves: a full disk leaves all as it is.
    fn rotate(&mut self) -> io::Result<()> {
        let new = self.home.dir().join("log.new");
        let _ = fs::remove_file(&new);
        let file = open(&new)?;
        let inode = file.metadata()?.ino();
        fs::rename(self.home.log(), self.home.old_log())?;
        fs::rename(new, self.home.log())?;
        self.place = LogPlace { base: self.place.base + self.size, inode };
        (self.file, self.size) = (file, 0);
        note(&self.home, self.place)
    }
}

/// The position of the first byte of `log.ndjson`, which is the file `inode`. If that isn't the
/// file noted, it was rotated since, and the one noted is the old log.
#[must_use]
pub fn base_of(home: &Home, inode: u64) -> u64 {
    let noted = file::read(&home.log_place(), 4096).ok();
    let noted: Option<LogPlace> =
        noted.and_then(|content| serde_json::from_slice(&content.bytes).ok());
    match noted {
        None => 0,
        Some(noted) if noted.inode == inode => noted.base,
        Some(noted) => noted.base + fs::metadata(home.old_log()).map_or(0, |meta| meta.size()),
    }
}

fn note(home: &Home, place: LogPlace) -> io::Result<()> {
    shared::cursor::replace(&home.log_place(), &serde_json::to_vec(&place)?)
}

/// How a file is opened that grows. What is no file keeps nobody waiting.
pub(crate) fn appending() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).custom_flags(nix::libc::O_NONBLOCK);
    options
}

fn open(path: &Path) -> io::Result<File> {
    appending().open(path)
}

/// The end of what a monitor says on stderr.
#[derive(Debug)]
pub struct Stderr {
    home: Home,
    tail: Vec<u8>,
}

impl Stderr {
    /// Goes on behind what earlier runs said.
    #[must_use]
    pub fn new(home: &Home) -> Self {
        Self { home: home.clone(), tail: Vec::new() }
    }

    /// Adds what was said. A disk that has no room loses it: nobody waits for complaints.
    pub fn add(&mut self, said: &[u8]) {
        self.tail.extend(said);
        self.tail.drain(..self.tail.len().saturating_sub(4096));
        let path = self.home.stderr();
        let Ok(mut file) = open(&path) else { return };
        let _ = file.write_all(said);
        let too_large =
            file.metadata().is_ok_and(|meta| meta.size() > (STDERR + STDERR_SLACK) as u64);
        if too_large && let Ok(all) = fs::read(&path) {
            let cut = all.len().saturating_sub(STDERR);
            let begin = memchr::memchr(b'\n', &all[cut..]).map_or(cut, |at| cut + at + 1);
            let _ = shared::cursor::replace(&path, &all[begin..]);
        }
    }

    /// Its last `count` lines of this run, in one.
    #[must_use]
    pub fn last_lines(&self, count: usize) -> String {
        let text = String::from_utf8_lossy(&self.tail);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(count)..].join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let scene = tempfile::tempdir().unwrap();
        let home = Home::at(scene.path().join("m"));
        home.make().unwrap();
        (scene, home)
    }

    #[test]
    fn positions_go_on_across_rotation_and_runs() {
        let (_scene, home) = home();
        let mut log = Log::open(&home, 10).unwrap();
        assert_eq!((log.place.base, log.end()), (0, 0));
        for _ in 0..3 {
            assert!(log.add(b"12345\n"));
        }
        assert_eq!((log.place.base, log.end()), (12, 18));
        let noted = log.place;
        drop(log);
        let mut again = Log::open(&home, 10).unwrap();
        assert_eq!((again.place, again.end()), (noted, 18));

        // A keeper that was killed between a rotation and its being noted.
        again.add(b"67890\n");
        note(&home, noted).unwrap();
        let late = Log::open(&home, 10).unwrap();
        assert_eq!((late.place.base, late.end()), (18, 24));
    }

    #[test]
    fn a_log_that_somebody_cut_has_no_hole() {
        let (_scene, home) = home();
        let mut log = Log::open(&home, 100).unwrap();
        assert!(log.add(b"12345\n"));
        OpenOptions::new().write(true).truncate(true).open(home.log()).unwrap();
        assert!(log.add(b"67890\n"));
        assert_eq!(fs::read(home.log()).unwrap(), b"67890\n");
    }

    #[test]
    fn a_line_longer_than_the_log_is_written_all_the_same() {
        let (_scene, home) = home();
        let mut log = Log::open(&home, 4).unwrap();
        assert!(log.add(b"123456789\n") && log.add(b"x\n"));
        assert_eq!(fs::read(home.old_log()).unwrap(), b"123456789\n");
        assert_eq!(fs::read(home.log()).unwrap(), b"x\n");
    }

    #[test]
    fn stderr_keeps_its_end() {
        let (_scene, home) = home();
        let mut stderr = Stderr::new(&home);
        let line = "x".repeat(99) + "\n";
        for _ in 0..5000 {
            stderr.add(line.as_bytes());
        }
        stderr.add(b"the cause\n\n");
        let kept = fs::read_to_string(home.stderr()).unwrap();
        assert!(kept.len() <= STDERR + STDERR_SLACK + 100 && kept.ends_with("the cause\n\n"));
        assert!(kept.starts_with("xxx"));
        assert_eq!(stderr.last_lines(1), "the cause");
    }
}

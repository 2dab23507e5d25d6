//! Follows a file by its name: what is appended, in whole lines and once, through renaming,
//! deletion, replacement, truncation and rewriting.
//!
//! A pass is [`Tail::look`], then [`Tail::piece`] until there is none. Each call of `piece` says
//! that the one before was dealt with, which is what [`Tail::mark`] remembers. What a line means
//! is nothing to this module.
//!
//! Where a name points to another file than before, the one that is held is read to its end, then
//! those that had the name in between (found by how they were renamed), then the new one.

mod find;
mod guard;
mod held;
mod read;
#[cfg(test)]
mod tests;
mod trail;

use std::{
    collections::VecDeque,
    ops::Range,
    path::{Path, PathBuf},
    time::Duration,
};

pub use guard::Mark;
use held::Held;
use read::{Step, Turn};
use trail::Trail;

use crate::{
    folder,
    watch::{Change, Changes},
};

/// The most files followed after they lost the name, and the most opened in one look.
const MOST_FILES: usize = 64;
/// The most reads of one look, so that signals and timers get their turn.
const MOST_READS: usize = 64;

/// Where a file that is there at the start is read from. One that appears later is read from its
/// beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// From its beginning.
    Beginning,
    /// From so many whole lines before its end; a line half written then comes whole.
    Lines(u64),
    /// From where an earlier run was; else from its beginning, with a notice.
    Mark(Mark),
    /// From its beginning with a notice, because an earlier run's mark is lost.
    Unknown,
}

/// What is at the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// A file that can be read.
    There,
    /// Nothing.
    Absent,
    /// Something that can't be read, and why.
    Unreadable(String),
}

/// Why reading begins at a beginning, where something may have been missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The file has fewer bytes than were read.
    Truncated,
    /// The file has another content before the offset.
    Rewritten,
    /// A file that had the name is gone.
    RotatedAway,
    /// Nobody knows where an earlier run was.
    MarkLost,
}

/// A piece of what was followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Whole lines, none of them beyond the limit.
    Lines {
        /// Where the first begins.
        offset: u64,
        /// The lines, newlines included.
        bytes: &'a [u8],
    },
    /// A line beyond the limit.
    TooLong {
        /// Where it begins.
        offset: u64,
        /// Its length, newline included.
        bytes: u64,
    },
    /// NULs at the beginning of a file, where a writer kept its position through a truncation.
    Nuls {
        /// How many.
        bytes: u64,
    },
    /// The last piece of a file that lost the name, without a newline.
    Unended {
        /// Where it begins.
        offset: u64,
        /// The piece.
        bytes: &'a [u8],
    },
    /// Reading begins at a beginning.
    Reset(Reset),
}

/// A notice that reading begins at a beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reset {
    /// Why.
    pub why: Why,
    /// How far reading had come.
    pub previous_offset: u64,
    /// How many bytes the file has.
    pub size: u64,
    /// The file's inode.
    pub inode: u64,
}

/// A file followed by its name.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    /// The path, and where it is a symbolic link, its target.
    names: Vec<PathBuf>,
    /// The link was turned, so that another folder is to be watched.
    is_elsewhere: bool,
    limit: usize,
    /// Until the first look at a file.
    start: Option<Start>,
    looked: bool,
    /// What was at the name at the start and couldn't be opened.
    sighted: Option<((u64, u64), u64)>,
    /// In the order of having the name; the first is being read, the last has it now.
    files: VecDeque<Held>,
    /// Those that lost the name, and until when they are followed.
    old: Vec<(Held, Duration)>,
    trail: Trail,
    /// A file that had the name was missed; said before the next one's first line.
    missed: bool,
    last_offset: u64,
    buf: Vec<u8>,
    /// What of `buf` was read and not handed out.
    ready: Range<usize>,
    joined: Vec<u8>,
    turn: Turn,
    reads_left: usize,
    now: Duration,
    trouble: Option<String>,
}

impl Tail {
    /// Follows `path` (absolute). A line of more than `limit` bytes, its newline not counted, is
    /// skipped.
    #[must_use]
    pub fn new(path: PathBuf, start: Start, limit: usize) -> Self {
        Self {
            names: vec![path.clone()],
            is_elsewhere: false,
            path,
            limit,
            start: Some(start),
            looked: false,
            sighted: None,
            files: VecDeque::new(),
            old: Vec::new(),
            trail: Trail::default(),
            missed: false,
            last_offset: 0,
            buf: Vec::new(),
            ready: 0..0,
            joined: Vec::new(),
            turn: Turn::Over,
            reads_left: 0,
            now: Duration::ZERO,
            trouble: None,
        }
    }

    /// The name.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folders to watch: the name's, and where it is a symbolic link, its target's.
    #[must_use]
    pub fn folders(&mut self) -> Vec<PathBuf> {
        self.resolve();
        let mut folders: Vec<PathBuf> =
            self.names.iter().filter_map(|name| name.parent()).map(Path::to_owned).collect();
        folders.dedup();
        folders
    }

    /// Finds the target of a symbolic link. True when that is another one than before.
    fn resolve(&mut self) -> bool {
        let target = self.path.is_symlink().then(|| folder::canonical(&self.path));
        let is_new = self.names.get(1) != target.as_ref();
        self.names.truncate(1);
        self.names.extend(target);
        is_new
    }

    /// Begins a look, after `changes` in the folders. `catch_up` gives the changes since, all
    /// that happened before it was called; it is asked only when another file has the name.
    /// `now` is on the monotonic clock.
    pub fn look(
        &mut self,
        changes: &Changes,
        now: Duration,
        catch_up: impl FnMut() -> Vec<Change>,
    ) -> Name {
        self.now = now;
        self.reads_left = MOST_READS;
        self.trouble = None;
        self.trail.note(&changes.list, &self.names);
        if self.is_behind() {
            return Name::There;
        }
        self.is_elsewhere = self.resolve();
        self.turn = Turn::Old(0);
        self.find(changes.overflowed, catch_up)
    }

    /// Whether there is more than this look has read: another is due at once.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        self.turn != Turn::Over
    }

    /// Why reading failed in this look, if it did.
    #[must_use]
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// When another look is due though nothing changed, on the monotonic clock.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        if self.is_behind() || self.is_elsewhere || !self.trail.is_empty() {
            return Some(self.now);
        }
        self.old.iter().map(|(_, until)| *until).min()
    }

    /// How far the file at the name was dealt with, for [`Start::Mark`] of a later run. `None`
    /// when that is not known, or the file is being rewritten.
    #[must_use]
    pub fn mark(&self) -> Option<Mark> {
        match (self.files.front(), &self.start) {
            (Some(held), _) => held.mark(),
            (None, Some(Start::Mark(mark))) => Some(mark.clone()),
            (None, Some(_)) => None,
            // What comes is new.
            (None, None) => Some(Mark::beginning()),
        }
    }

    /// The next piece of this look, the one before being dealt with.
    pub fn piece(&mut self) -> Option<Piece<'_>> {
        Some(match self.step()? {
            Step::Lines(offset, range) => Piece::Lines { offset, bytes: &self.buf[range] },
            Step::Joined(offset) => Piece::Lines { offset, bytes: &self.joined },
            Step::TooLong(offset, bytes) => Piece::TooLong { offset, bytes },
            Step::Nuls(bytes) => Piece::Nuls { bytes },
            Step::Unended(offset) => Piece::Unended { offset, bytes: &self.joined },
            Step::Reset(reset) => Piece::Reset(reset),
        })
    }
}

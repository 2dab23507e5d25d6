//! What a look at an item may see.

use shared::pidfile::{Status, Who};

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// Device and inode.
    pub file: (u64, u64),
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub mtime_ns: i128,
}

/// What inotify told of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// It was made or written to.
    Written,
    /// Its writer closed it.
    Closed,
    /// Somebody opened it.
    Opened,
    /// It was renamed into place.
    Renamed,
}

/// What the result's path shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultSeen {
    /// Nothing, or no regular file.
    Absent,
    /// Nothing, nor its folder.
    NoFolder,
    /// It may not be looked at.
    Unreadable,
    /// A file.
    File(Version),
}

/// What the process that is known came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It lives.
    Alive,
    /// It ended.
    Exited(Option<Status>),
    /// Its number belongs to another.
    Reused,
}

/// What the pid file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// None is named for this item.
    None,
    /// It isn't there.
    Missing,
    /// It is no use, for this reason.
    Useless(&'static str),
    /// Its process is gone.
    Gone(Who, &'static str),
    /// Its process lives.
    Alive(Who),
}

/// What moves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// A digest of every stamp.
    pub stamp: u64,
    /// The newest change, in nanoseconds since 1970, and where.
    pub newest: Option<(i128, String)>,
}

/// What a look saw of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The result.
    pub result: ResultSeen,
    /// What happened to it since the last look, in order.
    pub signals: Vec<Signal>,
    /// Whether the system tells what happens to it.
    pub watched: bool,
    /// What became of the process that is known.
    pub fate: Option<Fate>,
    /// It has begun to end, which matters once its result is closed.
    pub ending: bool,
    /// What the pid file says.
    pub named: Named,
    /// When it was written, in nanoseconds since 1970, unless it says when its process started.
    pub written_ns: Option<i128>,
    /// The progress paths, when they were looked at.
    pub progress: Option<Progress>,
    /// CPU time of the process, in ticks, and its state, when that was asked for.
    pub cpu: Option<(u64, char)>,
    /// CPU time of it and its descendants.
    pub tree: Option<u64>,
}

impl Seen {
    /// A look that found only this, and did not look for the process or what moves.
    #[must_use]
    pub fn only(result: ResultSeen) -> Self {
        Self {
            result,
            signals: Vec::new(),
            watched: false,
            fate: None,
            ending: false,
            named: Named::None,
            written_ns: None,
            progress: None,
            cpu: None,
            tree: None,
        }
    }
}

/// What the next look is to see beside the result and the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wants {
    /// The pid file, even if its stamp is the same.
    pub pid_file: bool,
    /// The progress paths.
    pub progress: bool,
    /// The process's CPU time.
    pub cpu: bool,
    /// Its descendants' too.
    pub tree: bool,
}

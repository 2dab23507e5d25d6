//! Takes hold of the process that a pid file names, so that its number can't be given to another
//! unnoticed.

use std::{
    io::{self, Read as _},
    os::{fd::BorrowedFd, unix::fs::MetadataExt as _},
    path::Path,
};

use rustix::io::Errno;
use serde::Deserialize;

pub use crate::process::{Status, has_status, started_ms as start_ms};
use crate::{
    file::{self, Unread},
    process::{self, Hold, State},
};

/// How much of a pid file is read.
const LIMIT: u64 = 4096;
/// The largest pid of Linux, and of all others.
const LAST_PID: u32 = 4_194_304;

/// A process as it is told of: its number and when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Who {
    /// Its pid.
    pub pid: u32,
    /// When it started: see [`process::Identity`].
    pub start_ticks: Option<u64>,
}

/// A process that is held.
#[derive(Debug)]
pub struct Held {
    /// Which.
    pub who: Who,
    /// Whether the file says when it started, too.
    pub recorded: bool,
    hold: Hold,
}

/// What a pid file says.
#[derive(Debug)]
pub enum Named {
    /// There is none.
    Missing,
    /// It names no process.
    Invalid,
    /// The process it names began after it was written.
    Stale,
    /// It was written in another pid namespace.
    OtherNamespace,
    /// The process it names is gone, for this reason. Its start is what the file says of it.
    Gone(Who, &'static str),
    /// It names this one, which lives.
    Alive(Held),
}

#[derive(Deserialize)]
struct Record {
    pid: u32,
    start_ticks: u64,
    boot_id: String,
    pid_ns: u64,
    time_ns: u64,
}

/// Reads `path`. With `fds` the process is held by a descriptor.
#[must_use]
pub fn read(path: &Path, fds: bool) -> Named {
    let mut bytes = Vec::new();
    let (file, written) = match file::open(path) {
        Ok(opened) => opened,
        Err(Unread::Absent) => return Named::Missing,
        Err(_) => return Named::Invalid,
    };
    if file.take(LIMIT).read_to_end(&mut bytes).is_err() {
        return Named::Invalid;
    }
    let Ok(text) = str::from_utf8(&bytes) else { return Named::Invalid };
    if let Ok(record) = serde_json::from_str::<Record>(text) {
        return of_record(&record, fds);
    }
    let first = text.lines().next().unwrap_or_default().trim();
    if first.is_empty() || !first.bytes().all(|byte| byte.is_ascii_digit()) {
        return Named::Invalid;
    }
    let Ok(pid) = first.parse() else { return Named::Invalid };
    let mtime_ms = written.mtime() * 1000 + written.mtime_nsec() / 1_000_000;
    match seize(pid, fds) {
        Seized::Alive(held) => {
            let began_ms = start_ms(held.hold.identity().start_ticks);
            let is_stale = began_ms.is_some_and(|began| began > mtime_ms + 1000);
            if is_stale { Named::Stale } else { Named::Alive(held) }
        }
        Seized::Gone(_) => Named::Gone(Who { pid, start_ticks: None }, "exited"),
        Seized::NoPid => Named::Invalid,
    }
}

fn of_record(record: &Record, fds: bool) -> Named {
    let who = Who { pid: record.pid, start_ticks: Some(record.start_ticks) };
    let Ok(ours) = process::ourselves() else { return Named::Invalid };
    if ours.boot_id != record.boot_id {
        return Named::Gone(who, "rebooted");
    }
    if ours.pid_namespace != record.pid_ns {
        return Named::OtherNamespace;
    }
    let comparable = process::time_namespace().is_ok_and(|ours| ours == record.time_ns);
    match seize(record.pid, fds) {
        Seized::Alive(held)
            if comparable && held.hold.identity().start_ticks != record.start_ticks =>
        {
            Named::Gone(who, "pid_reused")
        }
        Seized::Alive(held) => Named::Alive(Held { recorded: true, ..held }),
        Seized::Gone(start) if comparable && start.is_some_and(|at| at != record.start_ticks) => {
            Named::Gone(who, "pid_reused")
        }
        Seized::Gone(_) => Named::Gone(who, "exited"),
        Seized::NoPid => Named::Invalid,
    }
}

enum Seized {
    Alive(Held),
    Gone(Option<u64>),
    NoPid,
}

/// Takes hold of process `pid`, which has to be a number that a process can have.
fn seize(pid: u32, fds: bool) -> Seized {
    if pid == 0 || pid > LAST_PID {
        return Seized::NoPid;
    }
    let opened = match Hold::open(pid) {
        Ok(opened) if fds => Ok(opened),
        // A thread, which is no process.
        Err(err) if is_thread(&err) => return Seized::NoPid,
        _ => Hold::by_number(pid),
    };
    match opened {
        Ok(Some((hold, State::Alive))) => {
            let who = Who { pid, start_ticks: Some(hold.identity().start_ticks) };
            Seized::Alive(Held { who, recorded: false, hold })
        }
        Ok(Some((hold, State::Zombie))) => Seized::Gone(Some(hold.identity().start_ticks)),
        Ok(None) | Err(_) => Seized::Gone(None),
    }
}

/// Whether `pidfd_open(2)` was given a thread, before or since Linux 6.9.
fn is_thread(err: &io::Error) -> bool {
    let codes = [Errno::INVAL, Errno::NOENT].map(|code| Some(code.raw_os_error()));
    codes.contains(&err.raw_os_error())
}

/// What became of a process that was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It lives.
    Alive,
    /// It ended, with this status if that can be had.
    Exited(Option<Status>),
    /// Its number belongs to another.
    Reused,
}

impl Held {
    /// What to poll for its end; `None`: it has to be looked at.
    #[must_use]
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.hold.fd()
    }

    /// What became of it.
    #[must_use]
    pub fn fate(&self) -> Fate {
        if self.hold.fd().is_some() {
            return if self.hold.has_ended() { Fate::Exited(self.status()) } else { Fate::Alive };
        }
        match process::look(self.who.pid) {
            Ok(Some((seen, _))) if seen != *self.hold.identity() => Fate::Reused,
            Ok(None | Some((_, State::Zombie))) => Fate::Exited(None),
            _ => Fate::Alive,
        }
    }

    /// How it ended, once its parent has taken note, if the system tells others of it.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        self.hold.status()
    }
}

/// Takes as many descriptors as this user may have: one goes to each process.
///
/// # Errors
///
/// Those of `setrlimit(2)`.
pub fn raise_limit() -> io::Result<()> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limit.maximum, ..limit };
    Ok(setrlimit(Resource::Nofile, raised)?)
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;
    use crate::{cursor, run};

    #[test]
    fn what_is_no_pid_is_told() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("pid");
        assert!(matches!(read(&path, true), Named::Missing));
        for text in ["", "0", "-1", "abc", "12 34", "4194305", &"9".repeat(1 << 20), "{}"] {
            cursor::replace(&path, text.as_bytes()).unwrap();
            assert!(matches!(read(&path, true), Named::Invalid), "{text:.20}");
        }
    }

    #[test]
    fn a_process_is_held_until_its_end() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("pid");
        let has_fds = Hold::open(std::process::id()).unwrap().unwrap().0.fd().is_some();
        for fds in [true, false] {
            let mut child = run::command("cat").stdin(Stdio::piped()).spawn().unwrap();
            cursor::replace(&path, child.id().to_string().as_bytes()).unwrap();
            let Named::Alive(held) = read(&path, fds) else { panic!("not held") };
            assert_eq!((held.fate(), held.fd().is_some()), (Fate::Alive, fds && has_fds));
            drop(child.stdin.take());
            while held.fate() == Fate::Alive {}
            assert!(matches!(held.fate(), Fate::Exited(None)), "nobody has reaped it");
            assert!(matches!(read(&path, fds), Named::Gone(_, "exited")), "a zombie is dead");
            child.wait().unwrap();
            assert!(matches!(held.fate(), Fate::Exited(_)));
            assert!(held.status().is_none_or(|status| status == Status::Code(0)));
        }
    }
}

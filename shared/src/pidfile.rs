//! Takes hold of the process that a pid file names, so that its number can't be given to another
//! unnoticed.

use std::{
    io::{self, Read as _},
    os::{
        fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd},
        unix::fs::MetadataExt as _,
    },
    path::Path,
};

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::Deserialize;

use crate::{
    file::{self, Unread},
    process::{self, Identity, State},
};

/// How much of a pid file is read.
const LIMIT: u64 = 4096;
/// The largest pid of Linux.
const LAST_PID: u32 = 4_194_304;

/// A process as it is told of: its number and when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Who {
    /// Its pid.
    pub pid: u32,
    /// When it started, in clock ticks since boot.
    pub start_ticks: Option<u64>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// A process that is held.
#[derive(Debug)]
pub struct Held {
    /// Which.
    pub who: Who,
    identity: Identity,
    fd: Option<OwnedFd>,
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
    /// The process it names is gone, for this reason.
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
    match hold(pid, fds) {
        Hold::Alive(held) => {
            let began_ms = start_ms(held.identity.start_ticks);
            let is_stale = began_ms.is_some_and(|began| began > mtime_ms + 1000);
            if is_stale { Named::Stale } else { Named::Alive(held) }
        }
        Hold::Gone(start_ticks) => Named::Gone(Who { pid, start_ticks }, "exited"),
        Hold::NoPid => Named::Invalid,
    }
}

fn of_record(record: &Record, fds: bool) -> Named {
    let who = Who { pid: record.pid, start_ticks: Some(record.start_ticks) };
    let Ok(Some((ours, _))) = process::look(std::process::id()) else { return Named::Invalid };
    if ours.boot_id != record.boot_id {
        return Named::Gone(who, "rebooted");
    }
    if ours.pid_namespace != record.pid_ns {
        return Named::OtherNamespace;
    }
    let comparable = process::time_namespace().is_ok_and(|ours| ours == record.time_ns);
    match hold(record.pid, fds) {
        Hold::Alive(held) if comparable && held.identity.start_ticks != record.start_ticks => {
            Named::Gone(who, "pid_reused")
        }
        Hold::Alive(held) => Named::Alive(held),
        Hold::Gone(start) if comparable && start.is_some_and(|at| at != record.start_ticks) => {
            Named::Gone(who, "pid_reused")
        }
        Hold::Gone(_) => Named::Gone(who, "exited"),
        Hold::NoPid => Named::Invalid,
    }
}

enum Hold {
    Alive(Held),
    Gone(Option<u64>),
    NoPid,
}

/// Opens, then reads the start, then trusts: what was opened can't be another's meanwhile.
fn hold(pid: u32, fds: bool) -> Hold {
    let number = i32::try_from(pid).ok().filter(|_| pid <= LAST_PID).and_then(Pid::from_raw);
    let Some(number) = number else { return Hold::NoPid };
    let fd = match pidfd_open(number, PidfdFlags::empty()) {
        Ok(fd) => Some(fd).filter(|_| fds),
        Err(rustix::io::Errno::SRCH) => return Hold::Gone(None),
        // A thread, which is no process.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOENT) => return Hold::NoPid,
        Err(_) => None,
    };
    match process::look(pid) {
        Ok(Some((identity, state))) => {
            if state == State::Zombie {
                return Hold::Gone(Some(identity.start_ticks));
            }
            let who = Who { pid, start_ticks: Some(identity.start_ticks) };
            Hold::Alive(Held { who, identity, fd })
        }
        _ => Hold::Gone(None),
    }
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
        self.fd.as_ref().map(|fd| fd.as_fd())
    }

    /// What became of it.
    #[must_use]
    pub fn fate(&self) -> Fate {
        if let Some(fd) = &self.fd {
            let mut fds = [nix::poll::PollFd::new(fd.as_fd(), nix::poll::PollFlags::POLLIN)];
            let over = nix::poll::poll(&mut fds, nix::poll::PollTimeout::ZERO).is_ok_and(|n| n > 0);
            return if over { Fate::Exited(self.status()) } else { Fate::Alive };
        }
        match process::look(self.who.pid) {
            Ok(Some((seen, _))) if seen != self.identity => Fate::Reused,
            Ok(None | Some((_, State::Zombie))) => Fate::Exited(None),
            _ => Fate::Alive,
        }
    }

    /// How it ended, once its parent has taken note (`PIDFD_GET_INFO`, Linux 6.15).
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        let fd = self.fd.as_ref()?;
        let mut info = Info { mask: EXIT, rest: [0; 13], exit_code: 0 };
        // SAFETY: the request carries the size of the struct, which the kernel fills.
        #[expect(unsafe_code, reason = "neither std, nix nor rustix has this call")]
        let done = unsafe { nix::libc::ioctl(fd.as_raw_fd(), GET_INFO, &raw mut info) };
        if done != 0 || info.mask & EXIT == 0 {
            return None;
        }
        let status = info.exit_code;
        let signal = status & 0x7f;
        Some(if signal == 0 { Status::Code((status >> 8) & 0xff) } else { Status::Signal(signal) })
    }
}

/// Whether the kernel can tell how the process of somebody else ended.
#[must_use]
pub fn has_status() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (numbers.next(), numbers.next()) >= (Some(6), Some(15))
}

/// `struct pidfd_info` of `linux/pidfd.h`, in its first size of 64 bytes.
#[repr(C)]
struct Info {
    mask: u64,
    rest: [u32; 13],
    exit_code: i32,
}

const EXIT: u64 = 1 << 3;
/// `_IOWR(0xFF, 11, struct pidfd_info)`.
const GET_INFO: nix::libc::Ioctl = 0xC040_FF0B_u32 as nix::libc::Ioctl;

/// Clock ticks per second in `/proc`: the same on every architecture that we build for.
pub const HERTZ: u64 = 100;

/// Milliseconds since 1970 at which a process started whose field 22 is `ticks`.
#[must_use]
pub fn start_ms(ticks: u64) -> Option<i64> {
    let now = crate::clock::now();
    let since_boot = i64::try_from(ticks.checked_mul(1000)? / HERTZ).ok()?;
    let up = i64::try_from(now.boot.as_millis()).ok()?;
    Some(now.wall.as_millisecond() - up + since_boot)
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
        for fds in [true, false] {
            let mut child = run::command("cat").stdin(Stdio::piped()).spawn().unwrap();
            cursor::replace(&path, child.id().to_string().as_bytes()).unwrap();
            let Named::Alive(held) = read(&path, fds) else { panic!("not held") };
            assert_eq!((held.fate(), held.fd().is_some()), (Fate::Alive, fds));
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

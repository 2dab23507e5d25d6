//! Systems without pidfds, subreapers, signals at the parent's death or `/proc`: macOS.
//!
//! A process is looked at through ps(1), whose starts are whole seconds, and its number is
//! compared right before it is signalled instead of held. Nothing here is safe against a number
//! that goes to another within the second, or between the comparison and the signal.

pub(crate) mod family;
pub(crate) mod files;
pub(crate) mod notice;
mod ps;

use std::{
    fs, io,
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    process::Command,
    thread,
    time::Duration,
};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, test_kill_process, waitid},
    time::ClockId,
};

use super::{Hold, Identity, State, Status};
use crate::{clock, wait};

/// There is one clock for both: macOS's counts suspends.
pub(crate) const BOOT: ClockId = ClockId::Monotonic;
/// How often a family that is being ended is looked at: each time is a run of ps.
pub const STEP: Duration = Duration::from_millis(100);
/// How often a process that is not our child is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Looks at process `pid`. `None`: there is no such process.
///
/// # Errors
///
/// When ps(1) can't be run, which says nothing of the process.
pub fn look(pid: u32) -> io::Result<Option<(Identity, State)>> {
    if number(pid).is_none() {
        return Ok(None);
    }
    Ok(ps::one(pid)?.map(|(state, start)| (identity(pid, start), state)))
}

/// Its start is a point in time, so it tells boots apart. (The boot's own time would not: it moves
/// with the clock.)
fn identity(pid: u32, start: u64) -> Identity {
    Identity { pid, start_ticks: start, boot_id: String::new(), pid_namespace: 0 }
}

fn number(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// There are no time namespaces.
///
/// # Errors
///
/// None.
pub fn time_namespace() -> io::Result<u64> {
    Ok(0)
}

/// Milliseconds since 1970 at which a process of that start began.
#[must_use]
pub fn started_ms(start_ticks: u64) -> Option<i64> {
    i64::try_from(start_ticks).ok()?.checked_mul(1000)
}

/// There is none.
#[derive(Debug)]
pub(super) enum Handle {}

impl Handle {
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    pub(super) fn open(_: Pid) -> Result<Option<Self>, Errno> {
        Ok(None)
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        match *self {}
    }

    pub(super) fn signal(&self, _: Signal) -> Result<(), Errno> {
        match *self {}
    }

    pub(super) fn status(&self) -> Option<Status> {
        match *self {}
    }
}

/// Whether the system can tell how the process of somebody else ended.
#[must_use]
pub fn has_status() -> bool {
    false
}

/// A descriptor that is readable once process `pid` has ended; at once if there is none. A thread
/// waits for a child, and looks once a second at who is none.
///
/// # Errors
///
/// For want of descriptors or threads.
pub fn end_of(pid: u32) -> io::Result<OwnedFd> {
    let (ours, theirs) = UnixStream::pair()?;
    if let Some(number) = number(pid)
        && test_kill_process(number) != Err(Errno::SRCH)
    {
        let until_end = move || await_end(pid, number, &theirs);
        thread::Builder::new().name("end".to_owned()).spawn(until_end)?;
    }
    Ok(ours.into())
}

/// Returns when the process has ended, or nobody has the other end of `asked` any more.
fn await_end(pid: u32, number: Pid, asked: &UnixStream) {
    loop {
        match waitid(WaitId::Pid(number), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(_) => return,
            Err(Errno::INTR) => {}
            // No child of ours.
            Err(_) => break,
        }
    }
    let mut hold = None;
    loop {
        match &hold {
            Some(hold) if Hold::has_ended(hold) => return,
            Some(_) => {}
            None => match Hold::by_number(pid) {
                Ok(None) => return,
                Ok(Some((found, _))) => hold = Some(found),
                // Not gone for all we know.
                Err(_) => {}
            },
        }
        if wait::until_readable(asked.as_fd(), clock::monotonic() + LOOK).unwrap_or(true) {
            return;
        }
    }
}

/// What loses its parent is init's: there is no way to have it.
///
/// # Errors
///
/// None.
pub fn adopt_orphans() -> io::Result<()> {
    Ok(())
}

/// Nothing ends the child of a process that is killed. It finds its pipes closed.
pub(crate) fn dies_with_us(_command: &mut Command) {}

/// Sees to it that what we start from now on gets no descriptor of ours but the standard ones:
/// whoever started us may have left a lock or a pipe open that would live on in a child.
///
/// # Errors
///
/// When they can't be listed.
pub fn bequeath_nothing() -> io::Result<()> {
    for entry in fs::read_dir("/dev/fd")? {
        let number = entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        if let Some(number) = number.filter(|number| *number > 2) {
            // SAFETY: nothing is closed; a number that is free by now is refused.
            #[expect(unsafe_code, reason = "a list has numbers, no descriptors")]
            let _ = unsafe { nix::libc::fcntl(number, nix::libc::F_SETFD, nix::libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

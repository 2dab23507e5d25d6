//! A hold on a process, which the next owner of its number can't take over unnoticed.

use std::{io, os::fd::BorrowedFd, time::Duration};

use rustix::{
    io::Errno,
    process::{Pid, Signal, kill_process, test_kill_process},
};

use super::{Identity, State, Status, is_alive, look, system::Handle};
use crate::{clock, wait};

/// The first wait of those who have to look for an end, and the longest.
const FIRST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(1);

/// A process that is held: by a handle, where the system has such, else by who it is, which is
/// then compared again before each signal.
#[derive(Debug)]
pub struct Hold {
    identity: Identity,
    handle: Option<Handle>,
}

impl Hold {
    /// Takes hold of process `pid`, and says what it is doing. `None`: there is no such process.
    ///
    /// # Errors
    ///
    /// What is no process (a thread), what can't be looked at, and want of descriptors.
    pub fn open(pid: u32) -> io::Result<Option<(Self, State)>> {
        let Some(number) = number(pid) else { return Ok(None) };
        // Opened first, then looked at: what is compared with a record can't be another's by then.
        let handle = match Handle::open(number) {
            Ok(handle) => handle,
            Err(Errno::SRCH) => return Ok(None),
            Err(err) => return Err(err.into()),
        };
        Ok(look(pid)?.map(|(identity, state)| (Self { identity, handle }, state)))
    }

    /// The same without a handle.
    ///
    /// # Errors
    ///
    /// As [`look`].
    pub fn by_number(pid: u32) -> io::Result<Option<(Self, State)>> {
        Ok(look(pid)?.map(|(identity, state)| (Self { identity, handle: None }, state)))
    }

    /// Takes hold of the very process that is meant. `None`: it has ended, or can't be held.
    #[must_use]
    pub fn of(recorded: &Identity) -> Option<Self> {
        let (hold, state) = Self::open(recorded.pid).ok()??;
        (state == State::Alive && hold.identity == *recorded).then_some(hold)
    }

    /// Takes it for granted that what was just seen is who it is.
    #[cfg(not(all(target_os = "linux", not(doorbell_plain))))]
    pub(super) fn seen(identity: Identity) -> Self {
        Self { identity, handle: None }
    }

    /// Who it is.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What to poll for its end; `None`: it has to be looked at.
    #[must_use]
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.handle.as_ref().map(Handle::fd)
    }

    /// Sends it a signal; false when it has ended.
    ///
    /// # Errors
    ///
    /// When we may not.
    pub fn signal(&self, signal: Signal) -> io::Result<bool> {
        let sent = match (&self.handle, number(self.identity.pid)) {
            (Some(handle), _) => handle.signal(signal),
            // Compared as late as can be; a number that can't be looked at is not signalled.
            (None, Some(number)) if self.is_there()? => kill_process(number, signal),
            (None, _) => Err(Errno::SRCH),
        };
        match sent {
            Ok(()) => Ok(true),
            Err(Errno::SRCH) => Ok(false),
            Err(err) => Err(err.into()),
        }
    }

    fn is_there(&self) -> io::Result<bool> {
        Ok(look(self.identity.pid)?.is_some_and(|(seen, _)| seen == self.identity))
    }

    /// Whether it has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        if let Some(fd) = self.fd() {
            return wait::until_readable(fd, Duration::ZERO).unwrap_or(false);
        }
        // The cheap question first.
        let is_gone = number(self.identity.pid)
            .is_none_or(|number| test_kill_process(number) == Err(Errno::SRCH));
        is_gone || !is_alive(&self.identity)
    }

    /// Waits until it has ended (true), or `due` (on the monotonic clock) passes.
    ///
    /// # Errors
    ///
    /// Those of poll(2).
    pub fn ends_by(&self, due: Duration) -> io::Result<bool> {
        if let Some(fd) = self.fd() {
            return wait::until_readable(fd, due);
        }
        let mut step = FIRST;
        while !self.has_ended() {
            let now = clock::monotonic();
            if now >= due {
                return Ok(false);
            }
            wait::until(due.min(now + step))?;
            step = LONGEST.min(step * 2);
        }
        Ok(true)
    }

    /// How it ended, once its parent has taken note. `None` where nobody but the parent is told.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        self.handle.as_ref()?.status()
    }
}

fn number(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

//! The one place a program sleeps: until a deadline, a change, input, or a reason to stop.

use std::{
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    time::Duration,
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};

use crate::{clock, process, service::Service, signals};

/// Standard output, which is open in every program: the runtime sees to it at the start.
#[expect(unsafe_code, reason = "std has no constant for it, and a handle would not outlive a list")]
// SAFETY: descriptor 1 is never closed.
pub(crate) const STDOUT: BorrowedFd<'static> = unsafe { BorrowedFd::borrow_raw(1) };

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// The deadline passed.
    Due,
    /// Somebody rang the [`Bell`]. A burst is one wake.
    Rung,
    /// One of the descriptors waited for is ready.
    Ready,
    /// There is no more reason to run.
    Stop(Stop),
}

/// Why a program that was not done has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// SIGTERM, SIGINT or SIGHUP.
    Signal,
    /// The last reader of stdout went away.
    ReaderGone,
    /// The process named by `--parent-pid` ended.
    ParentGone,
}

impl Stop {
    /// The word that `monitor_stopped` uses.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Signal => "signal",
            Self::ReaderGone => "reader_gone",
            Self::ParentGone => "parent_gone",
        }
    }
}

/// Wakes the [`Waiter`] from another thread.
#[derive(Debug)]
pub struct Bell(UnixStream);

impl Bell {
    /// Rings. Ringing twice before the waiter answers is one wake.
    pub fn ring(&mut self) {
        // Full means that a byte is waiting already.
        let _ = self.0.write(b"x");
    }
}

/// Waits on stop signals, stdout's reader, the parent, a bell, one descriptor and a timer at once.
#[derive(Debug)]
pub struct Waiter {
    stop: UnixStream,
    rung: UnixStream,
    bell: UnixStream,
    parent: Option<OwnedFd>,
    end: Option<Duration>,
    service: Service,
}

impl Waiter {
    /// Takes over the stop signals of this process. `parent` is the process to end with.
    ///
    /// # Errors
    ///
    /// Only for want of descriptors. A parent that is gone already is no error: the first wait
    /// answers [`Stop::ParentGone`].
    pub fn new(parent: Option<u32>) -> io::Result<Self> {
        let (rung, bell) = UnixStream::pair()?;
        rung.set_nonblocking(true)?;
        bell.set_nonblocking(true)?;
        let parent = parent.map(process::end_of).transpose()?;
        let service = Service::from_env();
        Ok(Self { stop: signals::stop()?, rung, bell, parent, end: None, service })
    }

    /// When (on the monotonic clock) this run is over whatever happens, so that nobody waits for a
    /// child beyond it.
    pub fn end_by(&mut self, end: Option<Duration>) {
        self.end = end;
    }

    /// That end.
    pub(crate) fn end(&self) -> Option<Duration> {
        self.end
    }

    /// The service manager, which wants to hear from us while we wait for a child.
    pub(crate) fn service(&self) -> &Service {
        &self.service
    }

    /// A bell for another thread to ring.
    ///
    /// # Errors
    ///
    /// Only for want of descriptors.
    pub fn bell(&self) -> io::Result<Bell> {
        self.bell.try_clone().map(Bell)
    }

    /// Blocks until there is something to do, or `due` (on the monotonic clock) passes.
    /// A reason to stop outranks the others, then any of `inputs`, then the bell.
    ///
    /// # Errors
    ///
    /// Those of poll(2), which no program outlives.
    pub fn wait<'fd>(
        &mut self,
        due: Option<Duration>,
        inputs: impl IntoIterator<Item = BorrowedFd<'fd>>,
    ) -> io::Result<Wake> {
        let inputs: Vec<BorrowedFd<'fd>> = inputs.into_iter().collect();
        let mut fds = self.stops();
        let stops = fds.len();
        fds.push(PollFd::new(self.rung.as_fd(), PollFlags::POLLIN));
        fds.extend(inputs.iter().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)));
        if !polled(&mut fds, due)? {
            return Ok(Wake::Due);
        }
        if let Some(at) = fds[..stops].iter().position(is_hit) {
            return Ok(Wake::Stop([Stop::Signal, Stop::ReaderGone, Stop::ParentGone][at]));
        }
        if fds[stops + 1..].iter().any(is_hit) {
            return Ok(Wake::Ready);
        }
        self.answer();
        Ok(Wake::Rung)
    }

    /// What to poll for a reason to stop, for those who wait elsewhere (for a child to end).
    /// Any of them that [`is_hit`] is one. The order is that of [`Stop`].
    pub(crate) fn stops(&self) -> Vec<PollFd<'_>> {
        let mut fds = vec![
            PollFd::new(self.stop.as_fd(), PollFlags::POLLIN),
            // No event asked for: reports only that the reader is gone.
            PollFd::new(STDOUT, PollFlags::empty()),
        ];
        fds.extend(self.parent.iter().map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN)));
        fds
    }

    /// Blocks until a write of at most 4096 bytes to stdout does not block. `Some` is why there
    /// will be no such moment. A signal leaves a slow reader `patience` for the line begun.
    ///
    /// # Errors
    ///
    /// Those of poll(2).
    pub fn writable(&self, patience: Option<Duration>) -> io::Result<Option<Stop>> {
        let mut fds = if patience.is_none() { self.stops() } else { Vec::new() };
        let stops = fds.len();
        fds.push(PollFd::new(STDOUT, PollFlags::POLLOUT));
        // A reader that takes nothing holds up neither the end of the run nor a stop.
        let due = patience.map(|patience| clock::monotonic() + patience).or(self.end);
        if !polled(&mut fds, due)? {
            return Ok(Some(Stop::Signal));
        }
        let events = fds[stops].revents().unwrap_or(PollFlags::POLLERR);
        if events.intersects(PollFlags::POLLERR | PollFlags::POLLHUP | PollFlags::POLLNVAL) {
            return Ok(Some(Stop::ReaderGone));
        }
        if events.contains(PollFlags::POLLOUT) {
            return Ok(None);
        }
        let signal = fds.first().is_some_and(is_hit);
        Ok(Some(if signal { Stop::Signal } else { Stop::ParentGone }))
    }

    /// Blocks for `time`, or until there is a reason to stop (true), between two tries of what
    /// somebody else holds up.
    ///
    /// # Errors
    ///
    /// Those of poll(2).
    pub fn rest(&self, time: Duration) -> io::Result<bool> {
        polled(&mut self.stops(), Some(clock::monotonic() + time))
    }

    fn answer(&mut self) {
        let mut burst = [0; 256];
        while matches!(self.rung.read(&mut burst), Ok(n) if n == burst.len()) {}
    }
}

/// Waits until `fd` is readable (true) or `due` (on the monotonic clock) passes, whoever asks us
/// to stop meanwhile: for the last moments of a program.
///
/// # Errors
///
/// Those of poll(2).
pub fn until_readable(fd: BorrowedFd<'_>, due: Duration) -> io::Result<bool> {
    polled(&mut [PollFd::new(fd, PollFlags::POLLIN)], Some(due))
}

/// Waits until `due` (on the monotonic clock), whoever asks us to stop meanwhile.
///
/// # Errors
///
/// Those of poll(2).
pub fn until(due: Duration) -> io::Result<()> {
    polled(&mut [], Some(due)).map(drop)
}

/// Whether poll(2) found something on a descriptor, trouble included.
pub(crate) fn is_hit(fd: &PollFd<'_>) -> bool {
    fd.any().unwrap_or(true)
}

/// Polls until one of `fds` is ready (true) or `due` passes (false).
pub(crate) fn polled(fds: &mut [PollFd<'_>], due: Option<Duration>) -> io::Result<bool> {
    loop {
        match poll(fds, timeout(due)) {
            Ok(0) if due.is_some_and(|due| clock::monotonic() >= due) => return Ok(false),
            // Longer waits than poll(2) can say are waited for in pieces.
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return Ok(true),
            Err(err) => return Err(err.into()),
        }
    }
}

/// Whole milliseconds, rounded up: a wait never ends early and so never spins.
fn timeout(due: Option<Duration>) -> PollTimeout {
    let Some(due) = due else { return PollTimeout::NONE };
    let left = due.saturating_sub(clock::monotonic());
    let millis = left.as_nanos().div_ceil(1_000_000);
    i32::try_from(millis).map_or(PollTimeout::MAX, |millis| {
        PollTimeout::try_from(millis).unwrap_or(PollTimeout::MAX)
    })
}

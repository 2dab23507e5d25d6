//! One run: its voice on stdout, its timers, its reasons to end; the same in both directions.

use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    os::fd::BorrowedFd,
    time::Duration,
};

use shared::{
    clock::{self, Now},
    exit::{Error, Reason},
    health::Health,
    line::{Event, Speaker},
    service::Service,
    stdout::Stdout,
    wait::{Waiter, Wake},
};

use crate::{
    args::Common,
    decide::{malformed::Malformed, tries::Tries},
};

/// What a wait came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// There may be something to do.
    Go,
    /// The input is ready.
    Input,
    /// Somebody asks us to stop, or nobody reads.
    Stop,
    /// `--max-runtime` passed.
    MaxRuntime,
}

/// One run.
#[derive(Debug)]
pub struct Run {
    /// Signals, the reader, the parent, the bell.
    pub waiter: Waiter,
    /// Standard output.
    pub out: Stdout,
    /// The connections.
    pub tries: Tries,
    /// The lines that were dropped.
    pub malformed: Malformed,
    speaker: Speaker,
    service: Service,
    ends_at: Option<Duration>,
    is_ready: bool,
}

impl Run {
    /// Takes over the signals.
    ///
    /// # Errors
    ///
    /// Only for want of descriptors.
    pub fn new(common: &Common) -> Result<Self, Error> {
        let mut waiter =
            Waiter::new(common.parent_pid).map_err(Error::on("take over the signals"))?;
        let ends_at = common.max_runtime.map(|after| clock::monotonic() + after);
        waiter.end_by(ends_at);
        let program = "relay";
        let source = common.source.clone().unwrap_or_else(|| program.to_owned());
        Ok(Self {
            waiter,
            out: Stdout::default(),
            tries: Tries::default(),
            malformed: Malformed::default(),
            speaker: Speaker { program, source, subject: common.stream.clone() },
            service: Service::from_env(),
            ends_at,
            is_ready: false,
        })
    }

    /// Tells the service manager that the run goes as it should, once.
    pub fn ready(&mut self) {
        if !self.is_ready {
            self.is_ready = true;
            self.service.ready();
        }
    }

    /// Says what the program has to say of itself.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn say<E: Event>(
        &mut self,
        events: impl IntoIterator<Item = E>,
        now: &Now,
    ) -> Result<(), Error> {
        for event in events {
            let line = self.speaker.line(&event, now.timestamp()).map_err(unwritable)?;
            self.out.add(&line, &self.waiter).map_err(unwritable)?;
            self.out.flush(&self.waiter).map_err(unwritable)?;
        }
        Ok(())
    }

    /// Prints a line of others.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn print(&mut self, line: &[u8]) -> Result<(), Error> {
        self.out.add(line, &self.waiter).map_err(unwritable)
    }

    /// Writes what was printed.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.out.flush(&self.waiter).map_err(unwritable)
    }

    /// Says what lines were dropped, when that is due.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn notice(&mut self, now: &Now) -> Result<(), Error> {
        let notice = self.malformed.notice(now.monotonic);
        self.say(notice, now)
    }

    /// Waits for an answer of the network, for `input`, for `due`.
    ///
    /// # Errors
    ///
    /// Those of poll(2).
    pub fn wait(
        &mut self,
        due: Option<Duration>,
        input: Option<BorrowedFd<'_>>,
    ) -> Result<Turn, Error> {
        let watchdog = self.service.watchdog_interval().map(|every| clock::monotonic() + every);
        let timers = [due, self.tries.due(), self.malformed.due(), self.ends_at, watchdog];
        let due = timers.into_iter().flatten().min();
        let wake = self.waiter.wait(due, input).map_err(Error::on("wait"))?;
        self.service.watchdog();
        Ok(match wake {
            Wake::Stop(_) => Turn::Stop,
            _ if self.ends_at.is_some_and(|at| at <= clock::monotonic()) => Turn::MaxRuntime,
            Wake::Ready => Turn::Input,
            Wake::Due | Wake::Rung => Turn::Go,
        })
    }

    /// Says the last things of a run that ends well.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn end(&mut self, turn: Turn) -> Result<(), Error> {
        let now = clock::now();
        let rest = self.malformed.rest();
        self.say(rest, &now)?;
        let stopped = (turn == Turn::MaxRuntime).then(|| Health::stopped("max_runtime", &now));
        self.say(stopped, &now)
    }

    /// Says that the run ends with `err`: its reader may not see stderr.
    pub fn failed(&mut self, err: &Error) {
        if err.reason() != Reason::Usage {
            let now = clock::now();
            let rest = self.malformed.rest();
            let failed = Health::failed(err.word(), &err.to_string(), err.reason() as u8, &now);
            // An output that can't be written is perhaps the error itself.
            let _ = self.say(rest, &now).and_then(|()| self.say([failed], &now));
        }
    }
}

/// Any number, for [`Tries::down`].
#[must_use]
pub fn chance() -> u64 {
    // Its keys are drawn at random, and another pair each time.
    RandomState::new().build_hasher().finish()
}

fn unwritable(err: std::io::Error) -> Error {
    Error::new(Reason::Runtime, "stdout_unwritable", format!("unable to write to stdout: {err}"))
}

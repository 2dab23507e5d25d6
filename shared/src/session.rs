//! One run of a source: its voice on stdout, its health, its flags, and its one place to pause.
//!
//! A program's loop stays in its `main.rs`: [`Session::pass`], look, decide, [`Session::tell`],
//! remember, [`Session::pause`]. This module knows no event of any program.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use crate::{
    cli::{self, Running},
    clock::{self, Now},
    exit::{self, Ended, Error},
    health::{Extent, Reasons},
    line::Speaker,
    stdout::Stdout,
    sweep::Sweep,
    wait::Waiter,
    watch::{self, Change, Changes, Watch},
};

mod rest;
mod voice;

/// What a program is, apart from its flags.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// Whether it says when its watch begins and ends unless told otherwise.
    pub announces: bool,
    /// What it does not see, for `monitor_armed`.
    pub not_covered: &'static [&'static str],
}

impl Program {
    /// Parses the command line, runs `run` in a session, and reports how it ended.
    pub fn main<A: clap::Parser>(
        &self,
        running: impl FnOnce(&A) -> &Running,
        run: impl FnOnce(&A, &mut Session) -> Result<Ended, Error>,
    ) -> ExitCode {
        match cli::parse::<A>(self.name) {
            Ok(args) => self.attend(running(&args), |session| run(&args, session)),
            Err(code) => code,
        }
    }

    /// Runs `run` in a session, and reports how it ended: for a program whose command line says
    /// more than how to watch.
    pub fn attend(
        &self,
        running: &Running,
        run: impl FnOnce(&mut Session) -> Result<Ended, Error>,
    ) -> ExitCode {
        let outcome = Session::new(*self, running)
            .map_err(Error::on("take over the signals"))
            .and_then(|mut session| run(&mut session).inspect_err(|err| session.say_failed(err)));
        exit::report(self.name, outcome)
    }
}

/// What a look came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Everything was seen.
    Whole,
    /// Something could not be seen.
    Blind,
    /// Something is being written; the next look will tell.
    Settling,
}

/// What a look is to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    /// The clocks, read once for the whole pass.
    pub now: Now,
    /// What went by since the last pass.
    pub changes: Changes,
    /// Read everything again, whatever the stamps say.
    pub full: bool,
}

/// One run of a source.
#[derive(Debug)]
pub struct Session {
    program: Program,
    running: Running,
    speaker: Speaker,
    waiter: Waiter,
    watch: Watch,
    out: Stdout,
    reasons: Reasons,
    started: Duration,
    spoke: Duration,
    sweep: Sweep,
    pass_began: Duration,
    had_news: bool,
    armed: bool,
    extent: Option<Extent>,
    holes: Vec<&'static str>,
}

impl Session {
    fn new(program: Program, running: &Running) -> std::io::Result<Self> {
        let mut waiter = Waiter::new(running.parent_pid)?;
        let now = clock::monotonic();
        let limits = [running.wait, running.max_runtime].into_iter().flatten();
        waiter.end_by(limits.min().map(|limit| now + limit));
        let watch = Watch::new(waiter.bell()?, running.poll_only);
        let source = running.source.clone().unwrap_or_else(|| program.name.to_owned());
        Ok(Self {
            program,
            running: running.clone(),
            speaker: Speaker { program: program.name, source, subject: String::new() },
            waiter,
            watch,
            out: Stdout::default(),
            reasons: Reasons::default(),
            started: now,
            spoke: now,
            sweep: Sweep::default(),
            pass_began: now,
            had_news: false,
            armed: false,
            extent: None,
            holes: program.not_covered.to_vec(),
        })
    }

    /// Names what is watched: part of every `id`, so it has to be canonical.
    pub fn set_subject(&mut self, subject: &str) {
        subject.clone_into(&mut self.speaker.subject);
    }

    /// What `monitor_armed` tells beside what is watched, and what is not covered as things are.
    pub fn set_extent(&mut self, extent: Extent, holes: &[&'static str]) {
        if !self.armed {
            self.extent = Some(extent);
            self.holes = [self.program.not_covered, holes].concat();
        }
    }

    /// Makes [`Session::pause`] end at least every `interval`.
    pub fn sweep_every(&mut self, interval: Duration) {
        self.sweep.every(interval, clock::monotonic());
    }

    /// For those who wait elsewhere, for a child to end.
    #[must_use]
    pub fn waiter(&self) -> &Waiter {
        &self.waiter
    }

    /// Lets nobody wait for a child beyond `end` (on the monotonic clock).
    pub fn end_children_by(&mut self, end: Duration) {
        let known = self.waiter.end();
        self.waiter.end_by(Some(known.map_or(end, |known| known.min(end))));
    }

    /// Whether nothing but the sweep sees changes.
    #[must_use]
    pub fn is_polling(&self) -> bool {
        self.watch.is_polling()
    }

    /// Says that it is ready, before the first pass ends: for a program that is ready once it
    /// knows what it remembers.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn ready(&mut self) -> Result<(), Error> {
        self.complete(&clock::now())
    }

    /// Begins a pass: watches `folders` (absolute; for a missing one its nearest parent), takes
    /// what went by, reads the clocks. To be followed by a look, so that nothing falls between.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn pass(&mut self, folders: &[PathBuf]) -> Result<Pass, Error> {
        let now = clock::now();
        self.pass_began = now.monotonic;
        if !self.running.once {
            self.watch.arm(folders, now.monotonic);
        }
        self.mind_remote(folders, &now);
        let changes = self.watch.take();
        let refusal = self.watch.refusal().map(ToOwned::to_owned);
        let limit = match refusal {
            Some(cause) => self.reasons.degrade("watch_limit", &cause, watch::RETRY, &now),
            None => self.reasons.recover("watch_limit", &now),
        };
        let overflow = changes.overflowed.then(|| {
            self.reasons.degrade("watch_overflow", "changes came too fast", Duration::ZERO, &now)
        });
        self.say_health(&now, limit.into_iter().chain(overflow.flatten()))?;
        let full = self.sweep.is_full() || changes.overflowed || self.watch.is_polling();
        Ok(Pass { now, changes, full })
    }

    /// Wakes for no other files in the folders than those of which `reads` is true.
    pub fn watch_only(&mut self, reads: fn(&Path) -> bool) {
        self.watch.only(reads);
    }

    /// What went by since the pass began, all that happened before this call: for a look that has
    /// to know what came before what it sees.
    #[must_use]
    pub fn catch_up(&mut self) -> Vec<Change> {
        self.watch.catch_up()
    }

    fn mind_remote(&mut self, folders: &[PathBuf], now: &Now) {
        let far = folders.iter().find(|folder| watch::is_remote(folder).unwrap_or(false));
        let Some(far) = far.filter(|_| self.sweep.is_remote(now.monotonic)) else { return };
        let far = far.display();
        let message = format!("{far} is on a file system that others change: looking every 2 s");
        exit::warn(self.program.name, &message);
    }
}

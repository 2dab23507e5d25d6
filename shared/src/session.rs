//! One run of a source: its voice on stdout, its health, its flags, and its one place to pause.
//!
//! A program's loop stays in its `main.rs`: [`Session::pass`], look, decide, [`Session::tell`],
//! remember, [`Session::pause`]. This module knows no event of any program.

use std::{
    ops::ControlFlow,
    os::fd::BorrowedFd,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use serde::Serialize;

use crate::{
    cli::{self, Running},
    clock::{self, Now},
    cursor::Cursor,
    exit::{self, Ended, Error, Reason},
    health::{Extent, Health, Reasons},
    line::{Event, Speaker},
    reading::Reading,
    stdout::Stdout,
    sweep::Sweep,
    wait::{Stop, Waiter, Wake},
    watch::{self, Change, Changes, Watch},
};

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

    /// Tells `health`, then `events`, each in one line, and flushes. Break: nobody listens or we
    /// are asked to stop, so that what was told here must not be remembered.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn tell<E: Event>(
        &mut self,
        now: &Now,
        health: &[Health],
        events: &[E],
    ) -> Result<ControlFlow<Ended>, Error> {
        for event in health {
            self.say(now, event)?;
        }
        for event in events {
            self.say(now, event)?;
            self.had_news |= event.is_news();
        }
        self.flush()
    }

    /// Tells lines that are whole already: those of others, or readings.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn tell_lines<'a>(
        &mut self,
        now: &Now,
        lines: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<ControlFlow<Ended>, Error> {
        for line in lines {
            self.out.add(line, &self.waiter).map_err(unwritable)?;
            self.spoke = now.monotonic;
            self.had_news = true;
        }
        self.flush()
    }

    /// The same, of lines that no `--wait` waits for.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn tell_asides<'a>(
        &mut self,
        now: &Now,
        lines: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<ControlFlow<Ended>, Error> {
        let had_news = self.had_news;
        let told = self.tell_lines(now, lines);
        self.had_news = had_news;
        told
    }

    /// Tells all that one look found, in as many lines as it takes.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn tell_reading(
        &mut self,
        now: &Now,
        reading: &Reading,
    ) -> Result<ControlFlow<Ended>, Error> {
        let lines = reading.lines(&self.speaker, now.timestamp()).map_err(unwritable)?;
        self.tell_lines(now, lines.iter().map(Vec::as_slice))
    }

    /// The envelope's view of who speaks.
    #[must_use]
    pub fn speaker(&self) -> &Speaker {
        &self.speaker
    }

    /// Saves `memory`, after what it remembers was told. A file that can't be written is told
    /// once, and the watch goes on.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn remember<T: Serialize>(
        &mut self,
        now: &Now,
        cursor: Option<&mut Cursor>,
        memory: &T,
    ) -> Result<(), Error> {
        let Some(cursor) = cursor else { return Ok(()) };
        let health = match cursor.save(memory) {
            Ok(()) => self.reasons.recover("cursor_unwritable", now),
            Err(err) => {
                let detail = format!("{}: {err}", cursor.path().display());
                self.reasons.degrade("cursor_unwritable", &detail, Duration::ZERO, now)
            }
        };
        self.say_health(now, health)
    }

    /// Ends a pass that came to `look`, and waits: for a change, for `due` (on the monotonic
    /// clock), for the sweep. Break: the run is over.
    ///
    /// # Errors
    ///
    /// Those of stdout and poll(2).
    pub fn pause(
        &mut self,
        look: Look,
        due: Option<Duration>,
    ) -> Result<ControlFlow<Ended>, Error> {
        self.pause_on(look, due, &[])
    }

    /// The same, which ends as soon as one of `inputs` is readable, too.
    ///
    /// # Errors
    ///
    /// Those of stdout and poll(2).
    pub fn pause_on(
        &mut self,
        look: Look,
        due: Option<Duration>,
        inputs: &[BorrowedFd<'_>],
    ) -> Result<ControlFlow<Ended>, Error> {
        let now = clock::now();
        if let Some(ended) = self.judge(look, &now)? {
            return Ok(ControlFlow::Break(ended));
        }
        self.waiter.service().watchdog();
        if look != Look::Settling {
            self.sweep.looked();
        }
        // A storm of changes costs a third of a core at worst.
        let rest = (now.monotonic.saturating_sub(self.pass_began) * 2).min(Duration::from_secs(1));
        self.sleep(due, now.monotonic + rest, inputs)
    }

    /// Ends a run that has nothing left to watch, after a whole look.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn finish(&mut self, reason: &str, ended: Ended) -> Result<Ended, Error> {
        let now = clock::now();
        self.complete(&now)?;
        self.announce_end(reason, ended, &now)
    }

    fn sleep(
        &mut self,
        due: Option<Duration>,
        rested: Duration,
        inputs: &[BorrowedFd<'_>],
    ) -> Result<ControlFlow<Ended>, Error> {
        let mut rung = false;
        loop {
            let look = rung.then_some(rested);
            let deadline =
                [look, due, self.sweep.due(), self.next_timer()].into_iter().flatten().min();
            let wake =
                self.waiter.wait(deadline, inputs.iter().copied()).map_err(Error::on("wait"))?;
            let now = clock::now();
            match wake {
                Wake::Stop(stop) => return self.stop(stop, &now).map(ControlFlow::Break),
                Wake::Rung => rung = true,
                Wake::Due | Wake::Ready => {}
            }
            let is_ready = wake == Wake::Ready;
            if let Some(ended) = self.run_timers(&now)? {
                return Ok(ControlFlow::Break(ended));
            }
            let passed = |at: Option<Duration>| at.is_some_and(|at| at <= now.monotonic);
            let is_swept = self.sweep.passes(now.monotonic);
            if is_swept || is_ready || passed(due) || (rung && rested <= now.monotonic) {
                return Ok(ControlFlow::Continue(()));
            }
        }
    }

    /// What `--once`, `--wait` and the manager want to know of a look.
    fn judge(&mut self, look: Look, now: &Now) -> Result<Option<Ended>, Error> {
        if look == Look::Whole {
            self.complete(now)?;
        }
        if self.running.once && look != Look::Settling {
            let ended = if look == Look::Whole { Ended::Done } else { Ended::Incomplete };
            return self.announce_end("once", ended, now).map(Some);
        }
        if self.running.wait.is_some() && self.had_news {
            return self.announce_end("result", Ended::Done, now).map(Some);
        }
        Ok(self.out.stop().map(|_| Ended::Done))
    }

    /// Everything was seen.
    fn complete(&mut self, now: &Now) -> Result<(), Error> {
        let recovered = self.reasons.recover("watch_overflow", now);
        self.say_health(now, recovered)?;
        if !self.armed {
            self.armed = true;
            self.waiter.service().ready();
            if self.announces() {
                let armed = {
                    let (extent, watching) = (self.extent.take(), &self.speaker.subject);
                    Health::armed(watching, extent, &self.holes, now)
                };
                self.say_health(now, Some(armed))?;
            }
        }
        Ok(())
    }

    fn next_timer(&self) -> Option<Duration> {
        let since_start = |after: Option<Duration>| after.map(|after| self.started + after);
        [
            since_start(self.running.wait),
            since_start(self.running.max_runtime),
            self.running.alive.map(|after| self.spoke + after),
            self.waiter.service().watchdog_interval().map(|every| clock::monotonic() + every),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Does what is due by the flags; `Some` when that is to end.
    fn run_timers(&mut self, now: &Now) -> Result<Option<Ended>, Error> {
        self.waiter.service().watchdog();
        let ran = now.monotonic.saturating_sub(self.started);
        if self.running.wait.is_some_and(|limit| ran >= limit) {
            return self.announce_end("wait", Ended::NoResult, now).map(Some);
        }
        if self.running.max_runtime.is_some_and(|limit| ran >= limit) {
            // Said without --announce too: it is the signal to arm again.
            self.say_health(now, Some(Health::stopped("max_runtime", now)))?;
            return Ok(Some(Ended::Done));
        }
        let silence = now.monotonic.saturating_sub(self.spoke);
        if self.running.alive.is_some_and(|limit| silence >= limit) {
            self.say_health(now, Some(Health::alive(now)))?;
        }
        Ok(None)
    }

    fn mind_remote(&mut self, folders: &[PathBuf], now: &Now) {
        let far = folders.iter().find(|folder| watch::is_remote(folder).unwrap_or(false));
        let Some(far) = far.filter(|_| self.sweep.is_remote(now.monotonic)) else { return };
        let far = far.display();
        let message = format!("{far} is on a file system that others change: looking every 2 s");
        exit::warn(self.program.name, &message);
    }

    fn announces(&self) -> bool {
        self.running.announce || (self.program.announces && !self.running.no_announce)
    }

    fn stop(&mut self, stop: Stop, now: &Now) -> Result<Ended, Error> {
        if stop == Stop::ReaderGone {
            return Ok(Ended::Done);
        }
        self.announce_end(stop.word(), Ended::Done, now)
    }

    fn announce_end(&mut self, reason: &str, ended: Ended, now: &Now) -> Result<Ended, Error> {
        if self.announces() {
            self.say_health(now, Some(Health::stopped(reason, now)))?;
        }
        Ok(ended)
    }

    /// The last line before an exit that is not 0, unless usage is the cause.
    fn say_failed(&mut self, err: &Error) {
        if err.reason() != Reason::Usage {
            let now = clock::now();
            let failed = Health::failed(err.word(), &err.to_string(), err.reason() as u8, &now);
            let _ = self.say_health(&now, Some(failed));
        }
    }

    fn say_health(
        &mut self,
        now: &Now,
        health: impl IntoIterator<Item = Health>,
    ) -> Result<(), Error> {
        for event in health {
            self.say(now, &event)?;
        }
        self.out.flush(&self.waiter).map_err(unwritable)
    }

    /// One event is one write, so that a reader who wakes on each finds a whole line.
    fn say<E: Event>(&mut self, now: &Now, event: &E) -> Result<(), Error> {
        let line = self.speaker.line(event, now.timestamp()).map_err(unwritable)?;
        self.out.add(&line, &self.waiter).map_err(unwritable)?;
        self.out.flush(&self.waiter).map_err(unwritable)?;
        self.spoke = now.monotonic;
        Ok(())
    }

    fn flush(&mut self) -> Result<ControlFlow<Ended>, Error> {
        self.out.flush(&self.waiter).map_err(unwritable)?;
        Ok(match self.out.stop() {
            Some(_) => ControlFlow::Break(Ended::Done),
            None => ControlFlow::Continue(()),
        })
    }
}

fn unwritable(err: std::io::Error) -> Error {
    Error::new(Reason::Runtime, "stdout_unwritable", format!("unable to write to stdout: {err}"))
}

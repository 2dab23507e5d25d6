//! The keeper: one small process per monitor, its parent, witness and scribe.
//!
//! It holds the lock for as long as it lives, so a monitor is running exactly when its lock is
//! held, however the keeper died. It alone knows the exit code, and reaps: a zombie is never
//! alive.

pub mod ask;
mod birth;
mod end;
pub mod family;
pub mod log;
pub mod monitor;
pub mod notice;
pub mod restart;

use std::{
    convert::Infallible,
    fs::File,
    io::{self, Read as _},
    os::{
        fd::{AsFd as _, BorrowedFd},
        unix::{fs::MetadataExt as _, net::UnixStream},
    },
    rc::Rc,
    time::Duration,
};

use ask::{Answer, Ready, Spec};
use log::{Log, Stderr};
use monitor::Monitor;
use notice::{Ear, Notice};
use restart::Restarts;
use shared::{
    clock,
    lines::{Line, Lines},
    process, signals, text,
    wait::{Waiter, Wake},
};

use crate::{
    event::{Event, LogGap},
    place::Home,
    record::{Counters, End, Record},
};

/// The most bytes of a line that is kept.
const MAX_LINE: usize = 1 << 20;
/// How long a monitor has to end when nobody said how long.
const GRACE: Duration = Duration::from_secs(5);
/// How often a full disk is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// How long a program that says nothing has to live to count as started.
const ALIVE: Duration = Duration::from_millis(100);

/// Runs a keeper: the specification comes on stdin, the answer goes to stdout, and then neither
/// is used any more.
///
/// # Errors
///
/// What kept it from keeping; whoever asked has been told.
pub fn keep() -> io::Result<()> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let spec: Spec = serde_json::from_str(&text)?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let home = Home::at(spec.home.clone());
    let lock = match birth::take_lock(&home) {
        Ok(Some(lock)) => lock,
        Ok(None) => return Answer::Held.give(),
        Err(err) => {
            let failed = format!("unable to lock {}: {err}", home.lock().display());
            return Answer::Failed(failed).give();
        }
    };
    let known = match Record::load(&home) {
        Ok(record) => record,
        Err(err) => return Answer::Failed(err.to_string()).give(),
    };
    if let Some(known) = &known {
        End::note_lost(&home, known);
    }
    let outcome =
        Keeper::start(spec, home, known.is_none()).and_then(|mut keeper| keeper.run(&lock));
    drop(lock);
    match outcome {
        Ok(()) => Ok(()),
        Err(err) => Answer::Failed(err.to_string()).give(),
    }
}

#[derive(Debug)]
struct Keeper {
    spec: Spec,
    home: Home,
    record: Record,
    first_run: bool,
    log: Log,
    stderr: Stderr,
    lines: Lines,
    counters: Counters,
    written: Option<Counters>,
    counted: File,
    ear: Ear,
    waiter: Waiter,
    woken: Rc<UnixStream>,
    monitor: Option<Monitor>,
    restarts: Restarts,
    again_at: Option<Duration>,
    prove_by: Option<Duration>,
    source: String,
    unsaved: bool,
    over: bool,
}

impl Keeper {
    fn start(spec: Spec, home: Home, first_run: bool) -> io::Result<Self> {
        process::adopt_orphans()?;
        let instance = birth::instance()?;
        let woken = Rc::new(signals::child_ends()?);
        let waiter = Waiter::new(spec.parent)?;
        let ear = Ear::open(home.dir(), &instance)?;
        let begun = birth::files(&home, spec.log_max).and_then(|(log, counted)| {
            let (record, monitor) = birth::first(&spec, &instance, &log, &ear)?;
            Ok((log, counted, record, monitor))
        });
        let (log, counted, record, monitor) =
            begun.inspect_err(|_| end::undo(&home, first_run, &instance))?;
        let patience = if spec.ready == Ready::Notify { spec.ready_timeout } else { ALIVE };
        let mut keeper = Self {
            first_run,
            stderr: Stderr::new(&home),
            lines: Lines::new(MAX_LINE),
            counters: Counters::default(),
            written: None,
            restarts: Restarts::new(spec.restart),
            again_at: None,
            prove_by: Some(clock::monotonic() + patience),
            source: birth::source_of(&spec),
            unsaved: false,
            over: false,
            monitor: Some(monitor),
            spec,
            home,
            record,
            log,
            counted,
            ear,
            waiter,
            woken,
        };
        if let Err(err) = keeper.save() {
            keeper.fail(&err.to_string())?;
        }
        Ok(keeper)
    }

    /// Until the monitor has ended for good, or the folder that it is known by is not there any
    /// more: nobody could find it, and the next start would make a second one.
    fn run(&mut self, lock: &File) -> io::Result<()> {
        let inode = lock.metadata()?.ino();
        while !self.over {
            self.turn()?;
            if !self.over && birth::is_forsaken(&self.home, inode) {
                return self.forsaken();
            }
        }
        Ok(())
    }

    fn turn(&mut self) -> io::Result<()> {
        let wake = self.wait()?;
        self.pass_on();
        self.hear()?;
        if self.over {
            return Ok(());
        }
        if let Wake::Stop(stop) = wake {
            return self.stop(stop);
        }
        if self.monitor.as_mut().is_some_and(|monitor| monitor.family.leader_has_ended()) {
            self.has_died()?;
        }
        if self.over {
            return Ok(());
        }
        let now = clock::monotonic();
        if self.prove_by.is_some_and(|due| due <= now) {
            match self.spec.ready {
                Ready::Notify => self.fail("it did not say that it is ready in time")?,
                Ready::Alive => self.proven()?,
            }
        }
        if self.again_at.is_some_and(|due| due <= now) {
            self.start_again();
        }
        self.mind_log();
        self.count();
        Ok(())
    }

    fn wait(&mut self) -> io::Result<Wake> {
        let mut inputs: Vec<BorrowedFd<'_>> = vec![self.woken.as_fd(), self.ear.ready()];
        inputs.extend(self.monitor.iter().flat_map(Monitor::pipes));
        let waits_for_room = self.log.is_waiting() || self.unsaved;
        let retry = waits_for_room.then(|| clock::monotonic() + RETRY);
        let due = [self.prove_by, self.again_at, retry].into_iter().flatten().min();
        let wake = self.waiter.wait(due, inputs);
        family::empty(&self.woken);
        wake
    }

    /// Passes on what the monitor printed.
    fn pass_on(&mut self) {
        let Some(monitor) = &mut self.monitor else { return };
        let (log, lines, counters) = (&mut self.log, &mut self.lines, &mut self.counters);
        let mut seen = false;
        let printed = |bytes: &[u8]| {
            let Ok(()) = lines.feed::<Infallible>(bytes, |line| {
                seen = true;
                let kept = matches!(line, Line::Whole(line) if log.add(line));
                counters.lines += u64::from(kept);
                counters.lines_dropped += u64::from(!kept);
                Ok(())
            });
        };
        monitor.read(printed, |bytes| self.stderr.add(bytes));
        if seen {
            self.counters.last_line_at = Some(clock::now().timestamp().to_string());
        }
    }

    /// Tries what a full disk had no room for, and tells what it cost.
    fn mind_log(&mut self) {
        self.unsaved = self.unsaved && self.save().is_err();
        self.log.retry();
        if let Some(lost_bytes) = self.log.take_lost() {
            let gap =
                LogGap { monitor: self.spec.name.clone(), lost_bytes, position: self.log.end() };
            self.say(&Event::LogGap(gap), &clock::now());
        }
    }

    fn hear(&mut self) -> io::Result<()> {
        let Some(pid) = self.monitor.as_ref().map(|monitor| monitor.identity.pid) else {
            return Ok(());
        };
        while let Some(notice) = self.ear.hear(pid) {
            match notice {
                Notice::Ready if self.prove_by.is_some() => self.proven()?,
                Notice::Watchdog => {
                    self.counters.watchdog_at = Some(clock::now().timestamp().to_string());
                }
                Notice::Ready | Notice::Other => {}
            }
        }
        Ok(())
    }

    /// The monitor is proven: that is written down, read back, and answered.
    fn proven(&mut self) -> io::Result<()> {
        self.prove_by = None;
        if self.record.ready_at.is_some() {
            return Ok(());
        }
        self.record.ready_at = Some(clock::now().timestamp().to_string());
        // What a full disk will have no room for later is on it from here on.
        self.count();
        if let Err(err) = self.save() {
            return self.fail(&err.to_string());
        }
        match Record::load(&self.home) {
            Ok(Some(record)) if record == self.record => Answer::Proven.give(),
            _ => self.fail("the record can't be read back"),
        }
    }

    fn save(&self) -> io::Result<()> {
        self.record.save(&self.home).map_err(|err| {
            io::Error::other(format!("unable to write {}: {err}", self.home.record().display()))
        })
    }

    /// Writes the counters, if they have changed. A disk that fails them now gets them later.
    fn count(&mut self) {
        self.counters.log_error = self.log.error().map(|text| text::head(text, 80).to_owned());
        let is_written = self.written.as_ref() == Some(&self.counters);
        if !is_written && self.counters.write(&self.counted).is_ok() {
            self.written = Some(self.counters.clone());
        }
    }
}

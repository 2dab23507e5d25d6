//! The keeper: one small process per monitor, its parent, witness and scribe.
//!
//! It holds the lock for as long as it lives, so a monitor is running exactly when its lock is
//! held, however the keeper died. It alone knows the exit code, and reaps: a zombie is never
//! alive.

pub mod ask;
pub mod family;
pub mod log;
pub mod monitor;
pub mod notice;
pub mod restart;

use std::{
    convert::Infallible,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsFd as _, BorrowedFd},
        unix::{fs::OpenOptionsExt as _, net::UnixStream},
    },
    time::Duration,
};

use ask::{Answer, Ready, Spec, StopRequest};
use family::Fate;
use log::{Log, Stderr};
use monitor::Monitor;
use notice::{Ear, Notice};
use restart::Restarts;
use shared::{
    clock::{self, Now},
    lines::{Line, Lines},
    process, signals, text,
    wait::{Stop, Waiter, Wake},
};

use crate::{
    event::{Event, LogGap, MonitorFailed, line_as},
    place::Home,
    record::{Counters, End, EndReason, Record},
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
    let lock = match take_lock(&home) {
        Ok(Some(lock)) => lock,
        Ok(None) => return answer(&Answer::Held),
        Err(err) => return answer(&Answer::Failed(format!("unable to lock: {err}"))),
    };
    let known = match Record::load(&home) {
        Ok(record) => record,
        Err(err) => return answer(&Answer::Failed(err.to_string())),
    };
    let outcome = Keeper::start(spec, home, known.as_ref()).and_then(|mut keeper| keeper.run());
    drop(lock);
    match outcome {
        Ok(()) => Ok(()),
        Err(err) => answer(&Answer::Failed(err.to_string())),
    }
}

/// The lock, or `None` when another keeper has it. Those who only look hold it for a moment, so
/// it is tried for a while unless the recorded keeper is alive.
fn take_lock(home: &Home) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(home.lock())?;
    let due = clock::monotonic() + Duration::from_millis(200);
    let (nobody, _open) = UnixStream::pair()?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(err)) => return Err(err),
            Err(TryLockError::WouldBlock) => {}
        }
        let now = clock::monotonic();
        let keeper = Record::load(home).ok().flatten().map(|record| record.keeper);
        if now >= due || keeper.is_some_and(|keeper| process::is_alive(&keeper)) {
            return Ok(None);
        }
        shared::wait::until_readable(nobody.as_fd(), now + Duration::from_millis(2))?;
    }
}

/// Answers, and lets go of whoever waits for it. A second answer goes nowhere.
fn answer(answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    let _ = io::stdout().write_all(&line);
    let _ = io::stdout().flush();
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    nix::unistd::dup2_stdout(&nothing)?;
    nix::unistd::dup2_stdin(&nothing)?;
    Ok(())
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
    woken: UnixStream,
    monitor: Option<Monitor>,
    restarts: Restarts,
    again_at: Option<Duration>,
    prove_by: Option<Duration>,
    source: String,
    unsaved: bool,
    over: bool,
}

impl Keeper {
    fn start(spec: Spec, home: Home, known: Option<&Record>) -> io::Result<Self> {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        let instance = random_instance()?;
        let woken = signals::child_ends()?;
        let waiter = Waiter::new(spec.parent)?;
        let ear = Ear::open(&instance)?;
        let log = Log::open(&home, spec.log_max)?;
        let mut options = OpenOptions::new();
        let counted = options.write(true).create(true).truncate(true).mode(0o600);
        let counted = counted.open(home.counters())?;
        let monitor = Monitor::start(&spec, &ear).map_err(|err| {
            undo(&home, known.is_none(), &instance);
            let program = spec.argv.first().map_or("", String::as_str);
            io::Error::other(format!("unable to run {program}: {err}"))
        })?;
        let record = record(&spec, &instance, &monitor, &log)?;
        let patience = if spec.ready == Ready::Notify { spec.ready_timeout } else { ALIVE };
        let mut keeper = Self {
            first_run: known.is_none(),
            stderr: Stderr::new(&home),
            lines: Lines::new(MAX_LINE),
            counters: Counters::default(),
            written: None,
            restarts: Restarts::new(spec.restart),
            again_at: None,
            prove_by: Some(clock::monotonic() + patience),
            source: source_of(&spec),
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

    /// Until the monitor has ended for good.
    fn run(&mut self) -> io::Result<()> {
        while !self.over {
            self.turn()?;
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
        if self.monitor.as_ref().is_some_and(|monitor| monitor.family.leader_has_ended()) {
            self.has_died()?;
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
        family::empty(&mut self.woken);
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
            Ok(Some(record)) if record == self.record => answer(&Answer::Proven),
            _ => self.fail("the record can't be read back"),
        }
    }

    fn save(&self) -> io::Result<()> {
        self.record.save(&self.home).map_err(|err| {
            io::Error::other(format!("unable to write {}: {err}", self.home.record().display()))
        })
    }

    /// The leader has ended by itself.
    fn has_died(&mut self) -> io::Result<()> {
        let Some(fate) = self.end_family(GRACE) else { return Ok(()) };
        if self.record.ready_at.is_none() {
            return self.fail(&ended_early(fate));
        }
        self.prove_by = None;
        if self.spec.ends && fate.code == Some(0) {
            self.end_with(EndReason::Exited, fate);
            return Ok(());
        }
        let now = clock::now();
        self.say_failed(fate, &now);
        if let Some(pause) = self.restarts.died(now.monotonic) {
            self.note_end(EndReason::Exited, fate);
            self.again_at = Some(now.monotonic + pause);
            return Ok(());
        }
        let gave_up = self.restarts.is_wanted();
        self.end_with(if gave_up { EndReason::GaveUp } else { EndReason::Exited }, fate);
        Ok(())
    }

    fn start_again(&mut self) {
        self.again_at = None;
        self.record.restarts += 1;
        match Monitor::start(&self.spec, &self.ear) {
            Ok(monitor) => {
                self.record.monitor = monitor.identity.clone();
                self.monitor = Some(monitor);
            }
            Err(err) => {
                self.stderr.add(format!("unable to start it again: {err}\n").as_bytes());
                let now = clock::monotonic();
                self.again_at = self.restarts.died(now).map(|pause| now + pause);
                if self.again_at.is_none() {
                    self.end_with(EndReason::GaveUp, Fate { code: None, signal: None });
                }
            }
        }
        self.unsaved = true;
    }

    /// Somebody asked for the end: `stop`, the process we are to end with, or the one that waits
    /// for a monitor not yet proven.
    fn stop(&mut self, stop: Stop) -> io::Result<()> {
        if self.record.ready_at.is_none() {
            let why = if stop == Stop::ReaderGone {
                "nobody waits for it any more"
            } else {
                "it was stopped"
            };
            return self.fail(why);
        }
        let request = fs::read(self.home.stop_request()).ok();
        let request: Option<StopRequest> =
            request.and_then(|text| serde_json::from_slice(&text).ok());
        let request = request.filter(|request| request.instance == self.record.instance);
        let grace = request.as_ref().map_or(GRACE, |request| request.grace);
        let fate = self.end_family(grace).unwrap_or(Fate { code: None, signal: None });
        let replaced = request.is_some_and(|request| request.replaced);
        self.end_with(if replaced { EndReason::Replaced } else { EndReason::Stopped }, fate);
        let _ = fs::remove_file(self.home.stop_request());
        Ok(())
    }

    /// The monitor can't be proven: it is ended, and what was made for it goes.
    fn fail(&mut self, why: &str) -> io::Result<()> {
        self.over = true;
        let _ = self.end_family(GRACE);
        let said = self.stderr.last_lines(3);
        undo(&self.home, self.first_run, &self.record.instance);
        let detail = if said.is_empty() { why.to_owned() } else { format!("{why}: {said}") };
        answer(&Answer::Failed(detail))
    }

    /// Ends the monitor and all that it started, and takes in the last that they say.
    fn end_family(&mut self, grace: Duration) -> Option<Fate> {
        let family = self.monitor.as_ref()?.family;
        let mut woken = self.woken.try_clone().ok()?;
        let fate = family.end(grace, &mut woken, || self.pass_on());
        self.monitor = None;
        let lines = std::mem::replace(&mut self.lines, Lines::new(MAX_LINE));
        if lines.pending() > 0 {
            self.counters.lines_dropped += 1;
        }
        self.mind_log();
        self.count();
        Some(fate)
    }

    fn say_failed(&mut self, fate: Fate, now: &Now) {
        let detail = self.stderr.last_lines(1);
        let event = MonitorFailed::new(fate.code, fate.signal, &detail, now);
        self.say(&Event::MonitorFailed(event), now);
    }

    /// Says something in the monitor's name.
    fn say(&mut self, event: &Event, now: &Now) {
        if let Ok(line) = line_as(&self.source, event, now) {
            let kept = self.log.add(&line);
            self.counters.lines += u64::from(kept);
        }
    }

    /// The run is over.
    fn end_with(&mut self, reason: EndReason, fate: Fate) {
        self.over = true;
        self.note_end(reason, fate);
    }

    fn note_end(&mut self, reason: EndReason, fate: Fate) {
        let now = clock::now();
        let started: Option<jiff::Timestamp> = self.record.started_at.parse().ok();
        let ran = started.map_or(0, |started| now.wall.duration_since(started).as_secs());
        let end = End {
            at: now.timestamp().to_string(),
            instance: self.record.instance.clone(),
            reason,
            exit_code: fate.code,
            exit_signal: fate.signal,
            ran_seconds: ran.unsigned_abs(),
        };
        let _ = end.add(&self.home);
        self.count();
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

/// The record of a run that begins.
fn record(spec: &Spec, instance: &str, monitor: &Monitor, log: &Log) -> io::Result<Record> {
    let keeper = process::look(std::process::id())?;
    let (keeper, _) = keeper.ok_or_else(|| io::Error::other("there is no /proc"))?;
    let cwd = std::env::current_dir()?.to_string_lossy().into_owned();
    let mut record = Record::new(&spec.name, instance, keeper, monitor.identity.clone(), log.end());
    (record.argv, record.cwd) = (spec.argv.clone(), cwd);
    (record.restart, record.ends) = (spec.restart, spec.ends);
    record.started_at = clock::now().timestamp().to_string();
    Ok(record)
}

/// Undoes a start that failed: of a name that was never proven, nothing stays.
fn undo(home: &Home, first_run: bool, instance: &str) {
    if first_run {
        for path in [
            home.record(),
            home.log(),
            home.log_place(),
            home.stderr(),
            home.counters(),
            home.ends(),
        ] {
            let _ = fs::remove_file(path);
        }
        return;
    }
    let now = clock::now();
    let end = End {
        at: now.timestamp().to_string(),
        instance: instance.to_owned(),
        reason: EndReason::StartFailed,
        exit_code: None,
        exit_signal: None,
        ran_seconds: 0,
    };
    let _ = end.add(home);
}

fn ended_early(fate: Fate) -> String {
    match (fate.code, fate.signal) {
        (Some(code), _) => format!("it exited with {code} before it was ready"),
        (_, Some(signal)) => format!("signal {signal} killed it before it was ready"),
        _ => "it ended before it was ready".to_owned(),
    }
}

/// The name that a monitor gives itself, else the one it has here.
fn source_of(spec: &Spec) -> String {
    let given = spec.argv.iter().enumerate().rev().find_map(|(at, arg)| {
        let inline = arg.strip_prefix("--source=").map(str::to_owned);
        inline.or_else(|| (arg == "--source").then(|| spec.argv.get(at + 1).cloned())?)
    });
    given.unwrap_or_else(|| spec.name.clone())
}

fn random_instance() -> io::Result<String> {
    let mut bytes = [0_u8; 32];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    if filled < bytes.len() {
        return Err(io::Error::other("no random numbers"));
    }
    Ok(bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}")))
}

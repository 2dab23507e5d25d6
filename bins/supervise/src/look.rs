//! Looks at a monitor without touching it: is it running, and if not, how did it end.

use std::{
    fs::{self, TryLockError},
    io,
    os::unix::fs::OpenOptionsExt as _,
    time::Duration,
};

use serde::Serialize;
use shared::{
    clock::{self, Now},
    exit::Error,
    process::{self, Identity},
    wait,
};

use crate::{
    place::Home,
    record::{Counters, End, EndReason, Record},
};

/// Whether a monitor runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Life {
    /// Its lock is held, by the keeper that the record names.
    Running(Record),
    /// Its lock is held, but not by whom the record names, or there is no record yet.
    Held(Option<Record>),
    /// Its lock is free.
    Dead(Record),
    /// Nothing of it is known.
    Unknown,
}

/// Looks at the monitor of `home`.
///
/// # Errors
///
/// A record that can't be used.
pub fn life(home: &Home) -> Result<Life, Error> {
    // The lock first: a keeper that starts meanwhile writes its record after it has the lock.
    let held = is_held(home).map_err(|err| Error::io("look at", &home.lock(), &err))?;
    let record = Record::load(home)?;
    Ok(match record {
        Some(record) if held && process::is_alive(&record.keeper) => Life::Running(record),
        record if held => Life::Held(record),
        Some(record) => Life::Dead(record),
        None => Life::Unknown,
    })
}

/// Whether a keeper holds the lock. Looking takes a shared lock for a moment, which hinders no
/// other who looks, and a keeper that starts tries again.
fn is_held(home: &Home) -> io::Result<bool> {
    let lock = match open_lock(home) {
        Ok(lock) => lock,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(err) => return Err(err),
    };
    match lock.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(err)) => Err(err),
    }
}

/// The lock of `home`. What is no file keeps nobody waiting.
///
/// # Errors
///
/// Those of the file system.
pub fn open_lock(home: &Home) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).custom_flags(nix::libc::O_NONBLOCK).open(home.lock())
}

/// Waits a moment before another look.
///
/// # Errors
///
/// Those of poll(2).
pub fn moment() -> io::Result<()> {
    wait::until(clock::monotonic() + Duration::from_millis(2))
}

/// A row of `status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The monitor.
    pub name: String,
    /// The first 12 digits of its instance.
    pub task_id: String,
    /// Whether it runs.
    pub alive: bool,
    /// Whether it may end by itself.
    pub ends: bool,
    /// Whether it was proven.
    pub ready: bool,
    /// Its pid, while it runs; none while it waits to be started again.
    pub pid: Option<u32>,
    /// How it ended, when it did; it may wait to be started again.
    pub exit_code: Option<i32>,
    /// The signal that killed it.
    pub exit_signal: Option<i32>,
    /// Why it ended.
    pub end_reason: Option<EndReason>,
    /// When the run began.
    pub started_at: String,
    /// How long it has run, or ran; 0 if nobody saw its end.
    pub uptime_seconds: u64,
    /// How often it was started again.
    pub restarts: u32,
    /// Lines it printed.
    pub lines: u64,
    /// Lines that were too long, or had no room.
    pub lines_dropped: u64,
    /// When the last one came.
    pub last_line_at: Option<String>,
    /// How long ago it gave a watchdog notice.
    pub watchdog_age_seconds: Option<u64>,
    /// Where its lines are.
    pub log: String,
    /// Why lines can't be written.
    pub log_error: Option<String>,
    /// Which run this is.
    #[serde(skip)]
    pub instance: String,
}

impl Status {
    /// Whether it was stopped, or ended by itself as it may.
    #[must_use]
    pub fn has_ended_as_meant(&self) -> bool {
        let on_purpose = matches!(self.end_reason, Some(EndReason::Stopped | EndReason::Replaced));
        on_purpose || self.ends && self.exit_code == Some(0)
    }
}

/// The row of the monitor of `home`. `None`: there is no such monitor, or it is only being started.
///
/// # Errors
///
/// A record that can't be used.
pub fn status(name: &str, home: &Home, now: &Now) -> Result<Option<Status>, Error> {
    let (record, alive) = match life(home)? {
        Life::Running(record) => (record, true),
        Life::Dead(record) | Life::Held(Some(record)) => (record, false),
        Life::Held(None) | Life::Unknown => return Ok(None),
    };
    let counters = Counters::read(home);
    // Between a death and the next start there is a keeper, but no monitor.
    let is_there = alive && process::is_alive(&record.monitor);
    let end = if is_there { None } else { End::of(home, &record.instance) };
    let reason = end.as_ref().map(|end| end.reason);
    let since = |at: &str| {
        let at: Option<jiff::Timestamp> = at.parse().ok();
        at.map_or(0, |at| u64::try_from(now.wall.duration_since(at).as_secs()).unwrap_or(0))
    };
    Ok(Some(Status {
        name: name.to_owned(),
        task_id: record.task_id().to_owned(),
        alive,
        ends: record.ends,
        ready: is_there && record.ready_at.is_some(),
        pid: is_there.then_some(record.monitor.pid),
        exit_code: end.as_ref().and_then(|end| end.exit_code),
        exit_signal: end.as_ref().and_then(|end| end.exit_signal),
        end_reason: reason.or((!alive).then_some(EndReason::KeeperLost)),
        uptime_seconds: match &end {
            _ if alive => since(&record.started_at),
            Some(end) => end.ran_seconds,
            None => 0,
        },
        started_at: record.started_at,
        restarts: record.restarts,
        lines: counters.lines,
        lines_dropped: counters.lines_dropped,
        last_line_at: counters.last_line_at,
        watchdog_age_seconds: counters.watchdog_at.filter(|_| alive).map(|at| since(&at)),
        log: home.log().to_string_lossy().into_owned(),
        log_error: counters.log_error,
        instance: record.instance,
    }))
}

/// What of a recorded process is not so: the reason of a `state_conflict`.
#[must_use]
pub fn difference(recorded: &Identity) -> &'static str {
    match process::look(recorded.pid) {
        Err(_) => "not_visible",
        Ok(None) => "no_such_process",
        Ok(Some((seen, _))) if seen.boot_id != recorded.boot_id => "boot_differs",
        Ok(Some((seen, _))) if seen.pid_namespace != recorded.pid_namespace => {
            "pid_namespace_differs"
        }
        Ok(Some((seen, _))) if seen.start_ticks != recorded.start_ticks => "start_time_differs",
        Ok(Some(_)) => "ended",
    }
}

//! How a keeper begins: its lock, and the record of its run.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::PathBuf,
    time::Duration,
};

use shared::{clock, process};

use super::{ask::Spec, log::Log, monitor::Monitor, notice::Ear};
use crate::{
    look,
    place::Home,
    record::{Counters, Record},
};

/// The lock, or `None` when another keeper has it. Those who only look hold it for a moment, so
/// it is tried for a while unless the recorded keeper is alive.
pub(super) fn take_lock(home: &Home) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(home.lock())?;
    let due = clock::monotonic() + Duration::from_millis(200);
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
        look::moment()?;
    }
}

/// Whether `inode` is no longer the lock of `home`. What can't be looked at says nothing.
pub(super) fn is_forsaken(home: &Home, inode: u64) -> bool {
    match fs::metadata(home.lock()) {
        Ok(meta) => meta.ino() != inode,
        Err(err) => err.kind() == io::ErrorKind::NotFound,
    }
}

/// The log and the counters.
pub(super) fn files(home: &Home, log_max: u64) -> io::Result<(Log, File)> {
    let on = |path: PathBuf| {
        move |err| io::Error::other(format!("unable to write {}: {err}", path.display()))
    };
    let log = Log::open(home, log_max).map_err(on(home.log()))?;
    Ok((log, Counters::open(home).map_err(on(home.counters()))?))
}

/// The record of a run that begins, and its monitor.
pub(super) fn first(
    spec: &Spec,
    instance: &str,
    log: &Log,
    ear: &Ear,
) -> io::Result<(Record, Monitor)> {
    // What can fail without a monitor does so before there is one.
    let begun = record(spec, instance, log).and_then(|mut record| {
        let monitor = Monitor::start(spec, instance, ear)?;
        record.monitor = monitor.identity.clone();
        Ok((record, monitor))
    });
    begun.map_err(|err| {
        let program = spec.argv.first().map_or("", String::as_str);
        io::Error::other(format!("unable to run {program}: {err}"))
    })
}

/// The record of a run that begins. Until there is a monitor, the keeper stands for it.
fn record(spec: &Spec, instance: &str, log: &Log) -> io::Result<Record> {
    let keeper = process::ourselves()?;
    let cwd = std::env::current_dir()?.to_string_lossy().into_owned();
    let mut record = Record::new(&spec.name, instance, keeper.clone(), keeper, log.end());
    (record.argv, record.cwd) = (spec.argv.clone(), cwd);
    (record.restart, record.ends) = (spec.restart, spec.ends);
    record.started_at = clock::now().timestamp().to_string();
    Ok(record)
}

/// The name that a monitor gives itself, else the one it has here.
pub(super) fn source_of(spec: &Spec) -> String {
    let given = spec.argv.iter().enumerate().rev().find_map(|(at, arg)| {
        let inline = arg.strip_prefix("--source=").map(str::to_owned);
        inline.or_else(|| (arg == "--source").then(|| spec.argv.get(at + 1).cloned())?)
    });
    given.unwrap_or_else(|| spec.name.clone())
}

/// A name that no other run ever had: 64 hex digits.
pub(super) fn instance() -> io::Result<String> {
    let bytes: [u8; 32] = process::random()?;
    Ok(bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}")))
}

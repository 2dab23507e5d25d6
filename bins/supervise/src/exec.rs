//! Writes down who a process is, and becomes the command: pid and start time survive exec, so the
//! record is never stale at birth.

use std::{
    ffi::OsString,
    io,
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Command, Stdio},
};

use serde::Serialize;
use shared::{
    cursor,
    exit::{self, Error, Reason},
    process, run,
};

#[derive(Serialize)]
struct Pidfile {
    pid: u32,
    start_ticks: u64,
    boot_id: String,
    pid_ns: u64,
    time_ns: u64,
}

/// Records this process in `record` and becomes `argv`. Comes back only when that fails.
#[must_use]
pub fn exec(record: &Path, argv: &[OsString]) -> Error {
    if let Err(err) = write(record) {
        exit::warn("supervise", &format!("unable to write {}: {err}", record.display()));
    }
    let Some((program, flags)) = argv.split_first() else { return Error::usage("no command") };
    let mut command: Command = run::replacement(program);
    command.args(flags).stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    let err = command.exec();
    let reason =
        if err.kind() == io::ErrorKind::NotFound { Reason::Missing } else { Reason::Runtime };
    Error::new(reason, "exec_failed", format!("unable to run {}: {err}", program.display()))
}

fn write(record: &Path) -> io::Result<()> {
    let who = process::ourselves()?;
    let time_ns = process::time_namespace()?;
    let pidfile = Pidfile {
        pid: who.pid,
        start_ticks: who.start_ticks,
        boot_id: who.boot_id,
        pid_ns: who.pid_namespace,
        time_ns,
    };
    let mut text = serde_json::to_vec(&pidfile)?;
    text.push(b'\n');
    cursor::replace(record, &text)
}

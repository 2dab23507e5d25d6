//! Stops monitors: the keeper is proven to be the recorded one, then asked, then waited for.

use std::{os::fd::OwnedFd, time::Duration};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use shared::{
    clock, cursor,
    exit::{Error, Reason},
    process::{self, Identity},
    wait::{self, Waiter},
};

use crate::{
    event::StateConflict,
    keeper::ask::StopRequest,
    leftover,
    look::{self, Life},
    place::Home,
    record::Record,
    start::Refusal,
};

/// How long a monitor has between TERM and KILL unless told otherwise.
pub const GRACE: Duration = Duration::from_secs(5);
/// How much longer than that the keeper may take.
const KEEPER: Duration = Duration::from_secs(8);

/// Stops `monitors` (name and folder) at the same time, and says which of them ran. What doesn't
/// agree with its record is neither signalled nor forgotten.
///
/// # Errors
///
/// The first conflict or failure; the others are stopped all the same.
pub fn stop(
    monitors: &[(String, Home)],
    grace: Duration,
    replaced: bool,
    _waiter: &mut Waiter,
) -> Result<Vec<String>, Refusal> {
    let mut asked = Vec::new();
    let mut refusal = None;
    let mut stopped = Vec::new();
    for (name, home) in monitors {
        match ask(home, grace, replaced) {
            Ok(Asked::Keeper(keeper)) => asked.push((name, keeper)),
            Ok(Asked::Leftover) => stopped.push(name.clone()),
            Ok(Asked::Nobody) => {}
            Err(err) => refusal = refusal.or(Some(err)),
        }
    }
    let due = clock::monotonic() + grace + KEEPER;
    for (name, keeper) in asked {
        match wait::until_readable(std::os::fd::AsFd::as_fd(&keeper), due) {
            Ok(true) => stopped.push(name.clone()),
            _ => refusal = refusal.or(Some(stuck(name).into())),
        }
    }
    refusal.map_or(Ok(stopped), Err)
}

/// Who was asked to end.
enum Asked {
    /// The keeper; the descriptor tells of its own end.
    Keeper(OwnedFd),
    /// What a monitor had left whose keeper was killed; it is gone now.
    Leftover,
    /// Nothing was there.
    Nobody,
}

/// Asks the keeper of `home` to end its monitor.
fn ask(home: &Home, grace: Duration, replaced: bool) -> Result<Asked, Refusal> {
    let record = match look::life(home)? {
        Life::Running(record) => record,
        Life::Held(Some(record)) => {
            let reason = look::difference(&record.keeper);
            return Err(Refusal::Conflict(conflict(&record, reason, "not_signaled")));
        }
        // A keeper that has no record yet is still being started, and whoever starts it has it.
        Life::Dead(record) if leftover::end(home, &record, grace) => return Ok(Asked::Leftover),
        Life::Held(None) | Life::Dead(_) | Life::Unknown => return Ok(Asked::Nobody),
    };
    let Some(keeper) = prove(&record.keeper) else {
        return Err(Refusal::Conflict(conflict(
            &record,
            look::difference(&record.keeper),
            "not_signaled",
        )));
    };
    let request = StopRequest { instance: record.instance.clone(), grace, replaced };
    let text = serde_json::to_vec(&request).map_err(std::io::Error::from);
    let path = home.stop_request();
    // On a disk without room it gets the keeper's own grace.
    let _ = text.and_then(|text| cursor::replace(&path, &text));
    match pidfd_send_signal(&keeper, Signal::TERM) {
        // It ended in this moment.
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(Asked::Keeper(keeper)),
        Err(err) => Err(Error::on("ask the keeper to stop")(err.into()).into()),
    }
}

/// A handle on the recorded process. It is opened before the comparison, so between the two the
/// number can't go to another.
#[must_use]
pub fn prove(recorded: &Identity) -> Option<OwnedFd> {
    let pid = i32::try_from(recorded.pid).ok().and_then(Pid::from_raw)?;
    let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    process::is_alive(recorded).then_some(handle)
}

/// What is said when record and world don't agree.
#[must_use]
pub fn conflict(record: &Record, reason: &'static str, action: &'static str) -> StateConflict {
    StateConflict {
        monitor: record.name.clone(),
        pid: record.keeper.pid,
        reason,
        action,
        preserved: true,
    }
}

fn stuck(name: &str) -> Error {
    Error::new(
        Reason::Runtime,
        "stop_failed",
        format!("unable to stop {name}: its keeper does not end"),
    )
}

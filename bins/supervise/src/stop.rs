//! Stops monitors: the keeper is proven to be the recorded one, then asked, then waited for.

use std::{fs::File, time::Duration};

use rustix::process::Signal;
use shared::{
    clock, cursor,
    exit::{Error, Reason},
    process::{Hold, STEP},
    wait::{Waiter, Wake},
};

use crate::{
    event::StateConflict,
    keeper::ask::StopRequest,
    leftover,
    look::{self, Life},
    place::Home,
    record::{End, EndReason, Record},
    start::Refusal,
};

/// How long a monitor has between TERM and KILL unless told otherwise.
pub const GRACE: Duration = Duration::from_secs(5);
/// How much longer than that the keeper may take.
const KEEPER: Duration = Duration::from_secs(8);

/// Stops `monitors` (name and folder) at the same time, and says which of them ran. What doesn't
/// agree with its record is neither signalled nor forgotten. With a `waiter`, whoever wants us to
/// end ends the waiting, not the stopping.
///
/// # Errors
///
/// The first conflict or failure; the others are stopped all the same.
pub fn stop(
    monitors: &[(String, Home)],
    grace: Duration,
    replaced: bool,
    mut waiter: Option<&mut Waiter>,
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
        let ended = match waiter.as_deref_mut() {
            Some(waiter) => ends_by(&keeper, due, waiter),
            None => keeper.ends_by(due),
        };
        match ended {
            Ok(true) => stopped.push(name.clone()),
            _ => refusal = refusal.or(Some(unended(name, due).into())),
        }
    }
    refusal.map_or(Ok(stopped), Err)
}

/// Whether `keeper` ends before `due` passes and before somebody wants us to end.
fn ends_by(keeper: &Hold, due: Duration, waiter: &mut Waiter) -> std::io::Result<bool> {
    while !keeper.has_ended() {
        let step = keeper.fd().map_or_else(|| clock::monotonic() + STEP, |_| due);
        let wake = waiter.wait(Some(due.min(step)), keeper.fd())?;
        if matches!(wake, Wake::Stop(_)) || clock::monotonic() >= due {
            return Ok(keeper.has_ended());
        }
    }
    Ok(true)
}

/// Who was asked to end.
enum Asked {
    /// The keeper, which ends when its monitor has.
    Keeper(Hold),
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
        Life::Dead(record) => {
            let found = leftover::end(home, &record, grace);
            note_stopped(home, &record);
            return Ok(if found { Asked::Leftover } else { Asked::Nobody });
        }
        Life::Held(None) | Life::Unknown => return Ok(Asked::Nobody),
    };
    let Some(keeper) = Hold::of(&record.keeper) else {
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
    // One that ended in this moment has stopped, too.
    keeper.signal(Signal::TERM).map_err(Error::on("ask the keeper to stop"))?;
    Ok(Asked::Keeper(keeper))
}

/// Notes that a death was taken note of: from here on the monitor counts as stopped. It is the
/// keeper's to write, so the lock is taken; one that is just starting has its own end to tell.
fn note_stopped(home: &Home, record: &Record) {
    let Ok(lock) = File::open(home.lock()) else { return };
    let is_same = || Record::load(home).is_ok_and(|now| now.as_ref() == Some(record));
    if lock.try_lock().is_err() || !is_same() {
        return;
    }
    End::note_lost(home, record);
    if let Some(end) = End::of(home, &record.instance)
        && !end.is_meant(record.ends)
    {
        let at = clock::now().timestamp().to_string();
        let _ = End { at, reason: EndReason::Stopped, ..end }.add(home);
    }
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

fn unended(name: &str, due: Duration) -> Error {
    let is_late = clock::monotonic() >= due;
    let cause =
        if is_late { "its keeper does not end" } else { "nobody waits for its end any more" };
    Error::new(Reason::Runtime, "stop_failed", format!("unable to stop {name}: {cause}"))
}

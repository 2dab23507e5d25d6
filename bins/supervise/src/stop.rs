//! Stops monitors: the keeper is proven to be the recorded one, then asked, then waited for.

use std::time::Duration;

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
/// How long a keeper that begins or ends may disagree with its record.
const SETTLE: Duration = Duration::from_secs(1);

/// Stops `monitors` (name and folder) at the same time, and says which of them ran, and which
/// conflicts and failures there were. What doesn't agree with its record is neither signalled nor
/// forgotten. With a `waiter`, whoever wants us to end ends the waiting, not the stopping.
#[must_use]
pub fn stop(
    monitors: &[(String, Home)],
    grace: Duration,
    replaced: bool,
    mut waiter: Option<&mut Waiter>,
) -> (Vec<String>, Vec<Refusal>) {
    let (mut asked, mut stopped, mut refusals) = (Vec::new(), Vec::new(), Vec::new());
    for (name, home) in monitors {
        match ask(home, grace, replaced) {
            Ok(Asked::Keeper(keeper)) => asked.push((name, keeper)),
            Ok(Asked::Leftover) => stopped.push(name.clone()),
            Ok(Asked::Nobody) => {}
            Err(refusal) => refusals.push(refusal),
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
            _ => refusals.push(unended(name, due).into()),
        }
    }
    (stopped, refusals)
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

/// Asks the keeper of `home` to end its monitor. One that begins or ends in this moment holds the
/// lock while the record speaks of another or of nobody, so what disagrees is looked at again.
fn ask(home: &Home, grace: Duration, replaced: bool) -> Result<Asked, Refusal> {
    let due = clock::monotonic() + SETTLE;
    loop {
        let record = match look::life(home)? {
            Life::Running(record) => match Hold::of(&record.keeper) {
                Some(keeper) => return Ok(tell(home, &record, keeper, grace, replaced)?),
                None => record,
            },
            Life::Held(Some(record)) => record,
            Life::Dead(record) => {
                let found = leftover::end(home, &record, grace);
                note_stopped(home, &record);
                return Ok(if found { Asked::Leftover } else { Asked::Nobody });
            }
            // A keeper that has no record yet is still being started, and whoever starts it has it.
            Life::Held(None) | Life::Unknown => return Ok(Asked::Nobody),
        };
        if clock::monotonic() >= due {
            let reason = look::difference(&record.keeper);
            return Err(Refusal::Conflict(conflict(&record, reason, "not_signaled")));
        }
        look::moment().map_err(Error::on("wait"))?;
    }
}

/// Tells `keeper`, which is proven to be the one of `record`.
fn tell(
    home: &Home,
    record: &Record,
    keeper: Hold,
    grace: Duration,
    replaced: bool,
) -> Result<Asked, Error> {
    let request = StopRequest { instance: record.instance.clone(), grace, replaced };
    let text = serde_json::to_vec(&request).map_err(std::io::Error::from);
    let path = home.stop_request();
    // On a disk without room it gets the keeper's own grace.
    let _ = text.and_then(|text| cursor::replace(&path, &text));
    // One that ended in this moment has stopped, too; one that stands still (SIGSTOP) goes on, or
    // it would never hear of it.
    for signal in [Signal::TERM, Signal::CONT] {
        keeper.signal(signal).map_err(Error::on("ask the keeper to stop"))?;
    }
    Ok(Asked::Keeper(keeper))
}

/// Notes that a death was taken note of: from here on the monitor counts as stopped. It is the
/// keeper's to write, so the lock is taken; one that is just starting has its own end to tell.
fn note_stopped(home: &Home, record: &Record) {
    let Ok(lock) = look::open_lock(home) else { return };
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

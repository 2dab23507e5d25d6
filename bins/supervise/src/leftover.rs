//! What a monitor left behind whose keeper was killed.
//!
//! Where the kernel ends the monitor with its keeper, nobody ends what the monitor had started.
//! Such a process still carries the run's instance in its environment, which is no accident: 64
//! random digits. That, seen through a hold on the process, is proof enough to end it.

use std::time::Duration;

use rustix::process::Signal;
use shared::{clock, process};

use crate::{
    place::Home,
    record::{End, Record},
};

/// Ends what is left of the last run of `home`, if its keeper was lost; true when there was
/// something.
#[must_use]
pub fn end(home: &Home, record: &Record, grace: Duration) -> bool {
    if End::of(home, &record.instance).is_some() {
        return false;
    }
    let mut found = false;
    // What is killed may have started another meanwhile; after a few rounds it is left.
    for signal in [Signal::TERM, Signal::KILL, Signal::KILL] {
        let left = process::left_by(&record.monitor, &record.instance);
        found |= !left.is_empty();
        for process in &left {
            let _ = process.signal(signal);
        }
        let due = clock::monotonic()
            + if signal == Signal::TERM { grace } else { Duration::from_secs(1) };
        for process in &left {
            let _ = process.ends_by(due);
        }
    }
    found
}

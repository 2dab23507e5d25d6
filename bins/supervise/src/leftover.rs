//! What a monitor left behind whose keeper was killed.
//!
//! The kernel ends the monitor with its keeper, but nobody ends what the monitor had started.
//! Such a process still carries the run's instance in its environment, which is no accident: 64
//! random digits. That, seen through a handle on the process, is proof enough to end it.

use std::{
    fs,
    os::fd::{AsFd as _, OwnedFd},
    time::Duration,
};

use memchr::memmem;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use shared::{clock, wait};

use crate::{
    place::Home,
    record::{End, Record},
};

/// Ends what is left of the last run of `home`, if its keeper was lost; true when there was
/// something.
#[must_use]
pub fn end(home: &Home, record: &Record, grace: Duration) -> bool {
    if End::last(home).is_some_and(|end| end.instance == record.instance) {
        return false;
    }
    let mut found = false;
    // What is killed may have started another meanwhile; after a few rounds it is left.
    for signal in [Signal::TERM, Signal::KILL, Signal::KILL] {
        let left = carriers(&record.instance);
        found |= !left.is_empty();
        for process in &left {
            let _ = pidfd_send_signal(process, signal);
        }
        let due = clock::monotonic()
            + if signal == Signal::TERM { grace } else { Duration::from_secs(1) };
        for process in &left {
            let _ = wait::until_readable(process.as_fd(), due);
        }
    }
    found
}

/// Handles on all processes whose environment names the instance.
fn carriers(instance: &str) -> Vec<OwnedFd> {
    let needle = format!("NOTIFY_SOCKET=@doorbell/{instance}\0");
    let carries = |pid: i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        memmem::find(&environment, needle.as_bytes()).is_some()
    };
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| carries(*pid))
        .filter_map(|pid| {
            pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok().map(|handle| (pid, handle))
        })
        // Looked at again, now that the number can't go to another.
        .filter(|(pid, _)| carries(*pid))
        .map(|(_, handle)| handle)
        .collect()
}

//! What a process costs, for benches.

use std::{fs, process::Child};

use crate::eventually;

/// Resident memory of a process now, in KiB.
#[must_use]
pub fn resident_kib(pid: u32) -> u64 {
    status(pid, "VmRSS:")
}

/// The most it ever had.
#[must_use]
pub fn peak_kib(pid: u32) -> u64 {
    status(pid, "VmHWM:")
}

fn status(pid: u32, field: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Milliseconds of CPU of a process so far, of all its threads.
#[must_use]
pub fn cpu_ms(pid: u32) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().map(Result::unwrap);
    let of = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0)
    };
    tasks.map(of).sum::<f64>() / 1e6
}

/// Voluntary context switches of all threads (wake-ups), and CPU ticks (10 ms each).
#[must_use]
pub fn activity(pid: u32) -> (u64, u64) {
    let mut switches = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task")).unwrap().map(Result::unwrap) {
        let text = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        switches += line.and_then(|rest| rest.trim().parse::<u64>().ok()).unwrap_or(0);
    }
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let rest = stat.rsplit(')').next().unwrap_or_default();
    let ticks =
        rest.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum();
    (switches, ticks)
}

/// The most memory that `child` had until its end, which has to be a good one, in KiB.
#[must_use]
pub fn peak_of(mut child: Child) -> u64 {
    let (mut peak, mut status) = (0, None);
    eventually("the program ends", || {
        peak = peak.max(peak_kib(child.id()));
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert!(status.unwrap().success());
    peak
}

/// Waits until a process has had nothing to do for a while.
pub fn rests(pid: u32) {
    let (mut last, mut same) = (activity(pid), 0);
    eventually("it rests", || {
        let now = activity(pid);
        same = if now == last { same + 1 } else { 0 };
        last = now;
        same == 50
    });
}

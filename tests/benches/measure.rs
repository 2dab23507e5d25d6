//! Clocks, medians and the table.

use std::{
    fs,
    process::Command,
    time::{Duration, Instant},
};

use tests::command;

/// The time `work` takes.
#[expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
pub(crate) fn time(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

/// An instant to measure from.
#[expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

/// The value that `percent` of the samples don't pass.
pub(crate) fn percentile(samples: &mut [Duration], percent: usize) -> Duration {
    samples.sort_unstable();
    samples[(samples.len() * percent / 100).min(samples.len() - 1)]
}

/// The median.
pub(crate) fn median(samples: &mut [Duration]) -> Duration {
    percentile(samples, 50)
}

/// Whether a foreign tool is there.
pub(crate) fn has(tool: &str) -> bool {
    command("sh").args(["-c", &format!("command -v {tool} >/dev/null")]).status().unwrap().success()
}

/// Resident memory of a process now, in KiB.
pub(crate) fn resident_kib(pid: u32) -> u64 {
    status(pid, "VmRSS:")
}

/// The most it ever had.
pub(crate) fn peak_kib(pid: u32) -> u64 {
    status(pid, "VmHWM:")
}

fn status(pid: u32, field: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Milliseconds of CPU of a process so far, of all its threads.
pub(crate) fn cpu_ms(pid: u32) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().map(Result::unwrap);
    let of = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0)
    };
    tasks.map(of).sum::<f64>() / 1e6
}

/// Voluntary context switches of all threads (wake-ups), and CPU ticks (10 ms each).
pub(crate) fn activity(pid: u32) -> (u64, u64) {
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

/// Runs `command` to its end; panics when it fails.
pub(crate) fn done(command: &mut Command) {
    let out = command.output().unwrap();
    assert!(out.status.success(), "{command:?}: {}", String::from_utf8_lossy(&out.stderr));
}

/// Milliseconds with a width that fits them.
pub(crate) fn ms(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}

/// `a` is so many times `b`.
pub(crate) fn ratio(a: Duration, b: Duration) -> String {
    format!("{:.2} x", a.as_secs_f64() / b.as_secs_f64().max(1e-9))
}

/// Rows of: what, ours, the other's, ratio, what is to be reached.
#[derive(Debug, Default)]
pub(crate) struct Table(Vec<[String; 5]>);

impl Table {
    pub(crate) fn row(&mut self, what: &str, ours: &str, other: &str, ratio: &str, bar: &str) {
        println!("{what}: {ours} ({other}) {ratio}");
        self.0.push([what, ours, other, ratio, bar].map(str::to_owned));
    }

    pub(crate) fn print(&self) {
        let head = ["what", "doorbell", "other", "ratio", "to reach"].map(str::to_owned);
        let width = |at: usize| {
            self.0.iter().chain([&head]).map(|row| row[at].chars().count()).max().unwrap_or(0)
        };
        let widths = [0, 1, 2, 3, 4].map(width);
        let print = |row: &[String; 5]| {
            let cells: Vec<String> =
                row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            println!("| {} |", cells.join(" | "));
        };
        println!();
        print(&head);
        print(&widths.map(|width| "-".repeat(width)));
        self.0.iter().for_each(print);
    }
}

//! Clocks, medians and the table.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use tests::command;
pub(crate) use tests::cost::{activity, cpu_ms, peak_kib, resident_kib};

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

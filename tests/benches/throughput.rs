//! Megabytes a second.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use tests::{built_release, command, root};

use crate::measure::{Table, has, median, ratio, time};

const RUNS: usize = 5;

/// A folder for large inputs, below the target folder.
fn folder() -> PathBuf {
    let dir = root().join("target/bench/state");
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Runs a shell pipeline; its failure is ours.
fn shell(script: &str, args: &[&Path]) -> Command {
    let mut shell = command("bash");
    shell.args(["-o", "pipefail", "-c", script, "bash"]).args(args);
    shell
}

/// Alternating runs of several pipelines; the median of each.
fn alternate(commands: &mut [Command]) -> Vec<Duration> {
    let mut samples = vec![Vec::new(); commands.len()];
    for _ in 0..RUNS {
        for (command, samples) in commands.iter_mut().zip(&mut samples) {
            samples.push(time(|| assert!(command.status().unwrap().success(), "{command:?}")));
        }
    }
    samples.iter_mut().map(|samples| median(samples)).collect()
}

fn speed(bytes: u64, time: Duration) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a figure for a person")]
    let mb = bytes as f64 / 1e6;
    format!("{:.0} MB/s", mb / time.as_secs_f64())
}

/// A journal of 1 GiB: lines of 150 to 400 bytes with escapes in them, 1 in 100 wanted.
fn journal(path: &Path, bytes: u64) {
    if path.metadata().is_ok_and(|meta| meta.len() >= bytes) {
        return;
    }
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    let (mut written, mut n) = (0, 0_u64);
    while written < bytes {
        // A small linear congruence: the same journal in every run.
        let noise = n.wrapping_mul(6_364_136_223_846_793_005).rotate_left(29);
        let event = if n.is_multiple_of(100) { "state_committed" } else { "mutation_applied" };
        let summary =
            "changed the \\\"state\\\" of it ".repeat(usize::try_from(1 + noise % 9).unwrap());
        let line = format!(
            "{{\"event\":\"{event}\",\"timestamp\":\"2026-04-08T14:09:58.588456Z\",\"revision\":{n},\"request_id\":\"{noise:016x}\",\"mutations\":[\"work-items.json\"],\"summary\":\"{summary}\"}}\n"
        );
        out.write_all(line.as_bytes()).unwrap();
        written += line.len() as u64;
        n += 1;
    }
    out.flush().unwrap();
}

/// Catching up with a journal, beside grep and jq.
pub(crate) fn event_tail(table: &mut Table) {
    let dir = folder();
    let file = dir.join("events.ndjson");
    journal(&file, 1 << 30);
    let size = file.metadata().unwrap().len();
    let tail = PathBuf::from(built_release("event-tail").get_program());
    let ours =
        r#""$1" --state-dir "$2" --filter state_committed --from-start --once | cat >/dev/null"#;
    let theirs = r#"LC_ALL=C grep -F '"event":"state_committed"' "$1" | cat >/dev/null"#;
    let mut both = [shell(ours, &[&tail, &dir]), shell(theirs, &[&file])];
    let times = alternate(&mut both);
    table.row(
        "event-tail: 1 GiB, 1 line in 100 wanted",
        &speed(size, times[0]),
        &format!("grep -F {}", speed(size, times[1])),
        &ratio(times[0], times[1]),
        "<= 1 x the time of grep",
    );
    if has("jq") {
        let cut = dir.with_file_name("cut");
        std::fs::create_dir_all(&cut).unwrap();
        let small = cut.join("events.ndjson");
        journal(&small, 32 << 20);
        let size = small.metadata().unwrap().len();
        let theirs = r#"jq -c 'select(.event=="state_committed")' "$1" | cat >/dev/null"#;
        let times = alternate(&mut [shell(ours, &[&tail, &cut]), shell(theirs, &[&small])]);
        let other = format!("jq {}", speed(size, times[1]));
        table.row(
            "event-tail: 32 MiB of it",
            &speed(size, times[0]),
            &other,
            &ratio(times[0], times[1]),
            "",
        );
    }
}

/// A shuffled mix of events of every kind, padded to 300 bytes on average.
fn mix(path: &Path, bytes: u64) {
    let lines: Vec<String> = ["heartbeat_warning", "gate_opened", "state_committed", "branch_divergence", "ci_status", "pr_state", "collab_mail", "monitor_degraded", "result_ready", "reading"]
        .iter()
        .enumerate()
        .map(|(n, event)| {
            let text = "some words of \\\"it\\\", ".repeat(3 + n % 5);
            format!(
                "{{\"event\":\"{event}\",\"timestamp\":\"2026-04-08T14:10:00Z\",\"source\":\"{event}-watch\",\"severity\":\"expired\",\"status\":\"completed\",\"conclusion\":\"success\",\"state\":\"OPEN\",\"count\":{n},\"list\":[1,{{\"a\":null}}],\"text\":\"{text}\",\"key\":\"k:{n}\",\"condition\":\"raised\",\"id\":\"c2a5e81f0b7d3946\"}}\n"
            )
        })
        .collect();
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    let (mut written, mut n) = (0, 0_u64);
    while written < bytes {
        let noise = n.wrapping_mul(6_364_136_223_846_793_005) >> 33;
        let line = &lines[usize::try_from(noise).unwrap() % lines.len()];
        out.write_all(line.as_bytes()).unwrap();
        written += line.len() as u64;
        n += 1;
    }
    out.flush().unwrap();
}

/// Adding an urgency to every line, beside jq.
pub(crate) fn classify(table: &mut Table) {
    let dir = folder();
    let (large, small) = (dir.with_file_name("mix"), dir.with_file_name("mix-cut"));
    mix(&large, 400 << 20);
    mix(&small, 8 << 20);
    let classify = PathBuf::from(built_release("classify").get_program());
    let ours = r#""$1" <"$2" | cat >/dev/null"#;
    let size = large.metadata().unwrap().len();
    let times = alternate(&mut [shell(ours, &[&classify, &large])]);
    let alone = speed(size, times[0]);
    if has("jq") {
        let small_size = small.metadata().unwrap().len();
        let theirs = r#"jq -c '.urgency="info"' "$1" | cat >/dev/null"#;
        let jq = alternate(&mut [shell(theirs, &[&small])]);
        #[expect(clippy::cast_precision_loss, reason = "a figure for a person")]
        let scaled = jq[0].mul_f64(size as f64 / small_size as f64);
        let other = format!("jq {}", speed(small_size, jq[0]));
        let faster = format!("{:.0} x as fast", scaled.as_secs_f64() / times[0].as_secs_f64());
        table.row("classify: stream", &alone, &other, &faster, ">= 200 MB/s, >= 20 x");
    } else {
        table.row("classify: stream", &alone, "no jq here", "", ">= 200 MB/s");
    }
}

//! Figures of `wake`, beside the same filter written for `jq`: `cargo bench -p wake`.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measurement"
)]

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{BufWriter, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use tests::{Manager, Scene, command, cost::peak_of, pause};

const LINES: usize = 2_000_000;
/// `jq` gets fewer: its rate is what counts.
const JQ_LINES: usize = 200_000;
const KEYS: usize = 100_000;
const STARTS: usize = 100;

/// What is raised and was not told before is told; what clears may be told again.
const FILTER: &str = r#"
foreach inputs as $e ({told: {}, out: null};
  ($e.source + "|" + ($e.subject // "") + "|" + ($e.key // "")) as $key
  | if $e.urgency == "info" then .out = null
    elif $e.condition == "cleared" then .out = null | del(.told[$key])
    elif .told[$key] then .out = null
    else .told[$key] = true | .out = {event: "wake", text: $e.text, key: $e.key} end;
  .out // empty)
"#;

fn main() {
    let scene = Scene::new();
    throughput(&scene);
    memory(&scene);
    start();
}

fn wake(scene: &Scene, watch: &str) -> Command {
    let mut wake = command(env!("CARGO_BIN_EXE_wake"));
    wake.args(["--watch", watch]).env("DOORBELL_STORE", scene.join("store"));
    wake.stdout(Stdio::null());
    wake
}

/// 90 of 100 lines are context, 9 raise again what is told, one raises something new.
fn line(n: usize, into: &mut String) {
    let (urgency, key, fresh) = match n % 100 {
        0 => ("warning", n / 100, true),
        at if at % 11 == 0 => ("warning", n / 100 / 2, false),
        _ => ("info", n, false),
    };
    let pad = if fresh { "new" } else { "old" };
    into.clear();
    write!(
        into,
        r#"{{"event":"lease_low","timestamp":"2026-04-08T14:10:00Z","source":"leases","work_item_id":"WI-{key:07}","remaining_seconds":{},"state":"{pad}","lease_expires_at":"2026-04-08T14:15:00Z","text":"lease of WI-{key:07} expires in 300 s","key":"lease:WI-{key:07}","condition":"raised","id":"{n:016x}","urgency":"{urgency}"}}"#,
        n % 300,
    )
    .unwrap();
    into.push('\n');
}

fn throughput(scene: &Scene) {
    let (all, few) = (scene.join("all"), scene.join("few"));
    let size = written(&all, LINES);
    written(&few, JQ_LINES);
    println!("{LINES} lines of {} bytes", size / LINES);
    let begun = Instant::now();
    let peak = peak_of(wake(scene, "rate").stdin(File::open(&all).unwrap()).spawn().unwrap());
    rate("wake", LINES, begun.elapsed(), Some(peak));

    let begun = Instant::now();
    let mut jq = command("jq");
    jq.args(["-cn", FILTER]).stdin(File::open(few).unwrap()).stdout(Stdio::null());
    if let Ok(jq) = jq.spawn() {
        let peak = peak_of(jq);
        rate("the same filter in jq", JQ_LINES, begun.elapsed(), Some(peak));
    }
    fs::remove_file(all).unwrap();
}

fn written(path: &Path, lines: usize) -> usize {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let (mut text, mut size) = (String::new(), 0);
    for n in 0..lines {
        line(n, &mut text);
        size += text.len();
        file.write_all(text.as_bytes()).unwrap();
    }
    size
}

/// The input stays open until everything that waits was told in one line.
fn memory(scene: &Scene) {
    for (watch, records) in [("one", 1), ("many", KEYS)] {
        let mut child = wake(scene, watch).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = BufWriter::new(child.stdin.take().unwrap());
        let feeder = std::thread::spawn(move || {
            for n in 0..KEYS {
                let subject = n % records;
                let rest = r#""condition":"raised","urgency":"warning""#;
                writeln!(
                    stdin,
                    r#"{{"event":"x","source":"s","subject":"subject-{subject:06}","key":"{n:060}","text":"{n:0100}",{rest}}}"#
                )
                .unwrap();
            }
            stdin.flush().unwrap();
            // After a burst the next line leaves two seconds later.
            pause(Duration::from_secs(4));
        });
        let peak = peak_of(child);
        feeder.join().unwrap();
        let what = format!("{KEYS} keys in {records} records");
        println!("{what:<36} {:.1} MB", peak as f64 * 1.024e-3);
    }
}

/// From the start to readiness, which is told right before stdin is read.
fn start() {
    let mut times: Vec<Duration> = (0..STARTS)
        .map(|_| {
            let scene = Scene::new();
            let manager = Manager::listen(&scene);
            let mut command = wake(&scene, "w");
            manager.manage(&mut command);
            let begun = Instant::now();
            let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
            manager.ready();
            let time = begun.elapsed();
            drop(child.stdin.take());
            assert!(child.wait().unwrap().success());
            time
        })
        .collect();
    times.sort_unstable();
    let (median, most) = (times[STARTS / 2], times[STARTS - 1]);
    println!("{:<36} median {median:.1?}, at most {most:.1?}", "start, to the first read of stdin");
}

fn rate(what: &str, lines: usize, time: Duration, peak: Option<u64>) {
    let rate = lines as f64 / time.as_secs_f64();
    let peak = peak.map_or(String::new(), |kib| format!(", {:.1} MB", kib as f64 * 1.024e-3));
    println!("{what:<36} {:6.2} s, {rate:8.0} lines/s{peak}", time.as_secs_f64());
}

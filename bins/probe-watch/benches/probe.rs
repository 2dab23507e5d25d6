//! Figures of `probe-watch`: `cargo bench -p probe-watch`. This executable is its own probe, so
//! that no shell's start is measured.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement"
)]

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader, Read as _},
    process::{Command, Stdio},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::Value;
use tests::{Scene, command, cost, pause};

const ROW: &str = r#"{"protocol":1,"kind":"basin","target_pattern":".+","min_interval_seconds":1}"#;
const STARTS: usize = 100;
const SUBJECTS: usize = 50;
/// How long the program is watched while it has nothing to do.
const REST: Duration = Duration::from_secs(10);

fn main() {
    match env::args().nth(1).as_deref() {
        Some("describe") => describe(),
        Some("observe") => observe(),
        _ => measure(),
    }
}

fn measure() {
    let scene = Scene::new();
    let [own, starts] = [own_start, start].map(|one| {
        let mut spans: Vec<Duration> = (0..STARTS).map(|_| one(&scene)).collect();
        spans.sort_unstable();
        [spans[0], spans[STARTS / 2]].map(|span| span.as_secs_f64() * 1e3)
    });
    println!("of {STARTS}:                 least   median");
    println!("start of the probe alone   {:5.2}    {:5.2} ms", own[0], own[1]);
    println!("start to describe          {:5.2}    {:5.2} ms (bound: 3 ms)", starts[0], starts[1]);
    let (invocations, wakes) = look(&scene);
    println!("a look at {SUBJECTS} subjects: {invocations} invocations (bound: 2)");
    println!("wake-ups in {} s between two looks: {wakes} (bound: 0)", REST.as_secs());
}

fn program(scene: &Scene) -> Command {
    let mut program = command(env!("CARGO_BIN_EXE_probe-watch"));
    program.arg("--probe").arg(env::current_exe().unwrap()).args(["--emit", "readings"]);
    program.current_dir(scene.path()).env("DOORBELL_STORE", scene.join("store"));
    program
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

/// From before the start of the program to the beginning of the probe that describes itself.
fn start(scene: &Scene) -> Duration {
    stamped(scene, program(scene).args(["--once", "s"]))
}

/// What of that is the probe's own.
fn own_start(scene: &Scene) -> Duration {
    stamped(scene, command(env::current_exe().unwrap()).arg("describe").current_dir(scene.path()))
}

fn stamped(scene: &Scene, command: &mut Command) -> Duration {
    let begun = now();
    let status = command.stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
    let stamp = fs::read_to_string(scene.join("described")).unwrap();
    Duration::from_nanos(stamp.parse().unwrap()).checked_sub(begun).unwrap()
}

/// The invocations of one look at all subjects, and how often the program then wakes up.
fn look(scene: &Scene) -> (usize, u64) {
    let calls = scene.dir("calls");
    for call in fs::read_dir(&calls).unwrap() {
        fs::remove_file(call.unwrap().path()).unwrap();
    }
    let mut program = program(scene);
    program.args((0..SUBJECTS).map(|n| format!("s{n}"))).stdout(Stdio::piped());
    let mut child = program.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (0..SUBJECTS).for_each(|_| drop(lines.next().unwrap().unwrap()));
    let invocations = fs::read_dir(&calls).unwrap().count();
    cost::rests(child.id());
    let (before, _) = cost::activity(child.id());
    pause(REST);
    let wakes = cost::activity(child.id()).0 - before;
    child.kill().unwrap();
    child.wait().unwrap();
    (invocations, wakes)
}

fn describe() {
    fs::write("described", now().as_nanos().to_string()).unwrap();
    println!("{ROW}");
}

fn observe() {
    fs::create_dir_all("calls").unwrap();
    fs::write(format!("calls/{}", std::process::id()), "").unwrap();
    let mut request = String::new();
    io::stdin().read_to_string(&mut request).unwrap();
    let request: Value = serde_json::from_str(&request).unwrap();
    for subject in request["subjects"].as_array().unwrap() {
        println!("{{\"subject\":{}}}", subject["id"]);
    }
}

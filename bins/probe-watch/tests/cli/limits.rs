//! A probe that hangs, floods or leaves something running.

use std::fs;

use nix::sys::signal::Signal;
use tests::{Running, eventually};

use crate::world::{PROBE, World, error, is_alive};

/// Starts a child and hangs; both are named in files.
const HANG: &str = "sleep 1000 & echo $! >child; echo $$ >self.tmp; mv self.tmp self; sleep 1000";

/// Whether nothing is left of a probe that ran [`HANG`].
fn is_gone(world: &World) -> bool {
    ["child", "self"]
        .iter()
        .all(|name| !is_alive(&fs::read_to_string(world.scene.join(name)).unwrap()))
}

fn hanging(world: &World, args: &[&str]) -> Running {
    let running = world.start(&[&["A", "--emit", "readings"], args].concat());
    eventually("the probe hangs", || world.scene.join("self").exists());
    running
}

#[test]
fn p05_the_deadline_ends_the_probe_and_what_it_started() {
    let world = World::new(&format!(
        "echo '{{\"subject\":\"A\"}}'; printf '{{\"subject\":\"B\"}}'; {HANG}"
    ));
    let mut running = world.start(&["A", "B", "--emit", "readings", "--call-timeout", "2"]);
    assert_eq!(error(&running.event("reading")), ["none"; 2]);
    assert_eq!(error(&running.event("reading")), ["transient", "timeout"]);
    eventually("nothing is left", || is_gone(&world));
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn a_probe_that_ignores_term_is_killed() {
    let world = World::new(&format!("trap '' TERM; {HANG}"));
    let mut running = world.start(&["A", "--emit", "readings", "--call-timeout", "1"]);
    assert_eq!(error(&running.event("reading")), ["transient", "timeout"]);
    eventually("nothing is left", || is_gone(&world));
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn a_probe_that_is_late_may_clean_up_and_say_so() {
    let world = World::new(
        "trap 'echo \"cleaning up\"; echo \"cleaning up\" >&2; echo >clean; exit' TERM\nsleep 1000 & wait",
    );
    let mut running = world.start(&["A", "--emit", "readings", "--call-timeout", "1"]);
    assert_eq!(error(&running.event("reading")), ["transient", "timeout"]);
    assert!(world.scene.join("clean").exists());
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn what_a_probe_leaves_running_ends_with_it() {
    let world =
        World::new("sleep 1000 & echo $! >child; echo $$ >self; echo '{\"subject\":\"A\"}'");
    assert_eq!(world.look(&["A"]).code, Some(0));
    eventually("nothing is left", || is_gone(&world));
}

#[test]
fn a_stop_ends_the_probe_too() {
    let world = World::new(HANG);
    let ended = hanging(&world, &[]).stop();
    assert_eq!((ended.code, ended.lines.len(), &*ended.stderr), (Some(0), 0, ""));
    eventually("nothing is left", || is_gone(&world));
}

#[test]
fn a_probe_does_not_outlive_a_program_that_was_killed() {
    let world = World::new("echo $$ >self.tmp; mv self.tmp self; exec sleep 1000");
    let running = hanging(&world, &[]);
    running.signal(Signal::SIGKILL);
    eventually("the probe ends", || {
        !is_alive(&fs::read_to_string(world.scene.join("self")).unwrap())
    });
}

#[test]
fn the_program_goes_on_while_a_probe_hangs() {
    let world = World::new(HANG);
    let mut running = hanging(&world, &["--alive", "0.1", "--max-runtime", "3"]);
    let _ = running.event("monitor_alive");
    let ended = running.end();
    let last = ended.lines.last().unwrap();
    assert_eq!((ended.code, last["reason"].as_str()), (Some(0), Some("max_runtime")));
    eventually("nothing is left", || is_gone(&world));
}

#[test]
fn p26_output_without_end_is_stopped() {
    let world = World::new("exec yes");
    let mut running = world.start(&["A", "--emit", "readings", "--call-timeout", "300"]);
    assert_eq!(error(&running.event("reading")), ["transient", "missing_result"]);
    let status = fs::read_to_string(format!("/proc/{}/status", running.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 64 << 10, "{peak} KiB");
    let ended = running.stop();
    assert!(ended.stderr.contains("it printed more than 4194304 bytes"), "{}", ended.stderr);
}

#[test]
fn p26_complaints_without_end_are_stopped_at_the_deadline() {
    let world = World::new("echo '{\"subject\":\"A\"}'; exec yes >&2");
    let mut running = world.start(&["A", "B", "--emit", "readings", "--call-timeout", "1"]);
    assert_eq!(error(&running.event("reading")), ["none"; 2]);
    assert_eq!(error(&running.event("reading")), ["transient", "timeout"]);
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn p06_a_probe_that_was_removed_is_told() {
    let world = World::saying(&[r#"{"subject":"A"}"#]);
    let link = world.scene.join("link");
    std::os::unix::fs::symlink(PROBE, &link).unwrap();
    let mut running = world.start(&["A", "--probe", "./link", "--emit", "readings"]);
    assert_eq!(error(&running.event("reading")), ["none"; 2]);
    fs::remove_file(&link).unwrap();
    let last = loop {
        let reading = running.event("reading");
        if !reading["error"].is_null() {
            break reading;
        }
    };
    assert_eq!(error(&last)[0], "setup");
    assert_eq!(running.end().code, Some(3));
}

#[test]
fn a_long_request_reaches_a_probe_that_does_not_read_it() {
    let facts = format!(r#""facts":{{"a":"{}"}}"#, "x".repeat(900));
    let targets: Vec<String> = (0..25).map(|n| format!("{n:02}/{}", "t".repeat(190))).collect();
    let lines: Vec<String> =
        targets.iter().map(|target| format!(r#"{{"subject":"{target}",{facts}}}"#)).collect();
    let world = World::saying(&[&lines.join("\n")]);
    world.scene.replace("observe", "cat answers/last");
    let targets: Vec<&str> = targets.iter().map(|target| &**target).collect();
    let mut running = world.start(&[&targets[..], &["--emit", "readings"]].concat());
    for _ in 0..50 {
        assert_eq!(error(&running.event("reading")), ["none"; 2]);
    }
    assert_eq!(running.stop().code, Some(0));
}

//! What every program of the suite keeps.

use std::{
    fs,
    io::Write as _,
    process::{Child, Stdio},
    time::Duration,
};

use serde_json::json;
use tests::{Manager, Running, Scene, command, documented, eventually, pause};

use super::support::{EXE, feed, keys, look, say, state, wake, words};

#[test]
fn flags_are_documented() {
    documented(<wake::args::Args as clap::CommandFactory>::command());
}

#[test]
fn help_goes_to_stdout() {
    for args in [&["--help"][..], &["-h"], &["--version"], &["ack", "--help"], &["status", "-h"]] {
        let out = command(EXE).args(args).output().unwrap();
        assert_eq!((out.status.code(), out.stderr.len()), (Some(0), 0), "{args:?}");
        assert!(!out.stdout.is_empty());
    }
}

fn refused(args: &[&str], names: &[&str]) {
    let out = command(EXE).args(args).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(1), 0), "{args:?}: {said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("wake: fatal: unable to "), "{said}");
    assert!(names.iter().all(|name| said.contains(name)), "{args:?}: {said}");
}

#[test]
fn bad_flags_are_usage_errors() {
    refused(&["--burst=0"], &["--burst", "1..=1000"]);
    refused(&["--burst=1001"], &["--burst"]);
    refused(&["--refill=0"], &["--refill", "0.001 to 2592000"]);
    refused(&["--max-wait=0"], &["--max-wait"]);
    refused(&["--max-wait=31d"], &["--max-wait"]);
    refused(&["--pending-gate=maybe"], &["--pending-gate", "on", "off"]);
    refused(&["--stall=no"], &["--stall", "warn", "stop"]);
    refused(&["--stall-looks=0"], &["--stall-looks"]);
    refused(&["--floor=0"], &["--floor", "off"]);
    refused(&["--watch=../x"], &["--watch"]);
    refused(&["--watch=x", "stray"], &[]);
    refused(&["ack", "--result=busy", "--claim=0123456789abcdef"], &["--watch"]);
    refused(&["ack", "--acks=a", "--result=busy", "--claim=x"], &["--claim", "16"]);
    refused(&["ack", "--acks=a", "--claim=0123456789abcdef"], &["--result"]);
    let spent = ["ack", "--acks=a", "--claim=0123456789abcdef", "--result=busy", "--tokens-in=1"];
    refused(&spent, &["--tokens-in", "completed"]);
    refused(&["status"], &["--watch"]);
}

#[test]
fn b5_bounds_are_at_least_one_or_unlimited() {
    refused(&["--max-wakes=0"], &["--max-wakes", "1 to", "unlimited"]);
    refused(&["--max-errors=-1"], &["--max-errors"]);
    refused(&["--max-lifetime=0"], &["--max-lifetime", "unlimited"]);
    refused(&["--max-tokens=9"], &["--max-tokens", "--acks"]);
    let scene = Scene::new();
    let bounds = ["--max-wakes=unlimited", "--max-tokens=unlimited", "--max-lifetime=unlimited"];
    assert_eq!(feed(&scene, &bounds, &[]).code, Some(0));
    let acks = scene.join("acks").display().to_string();
    assert_eq!(feed(&scene, &["--max-tokens=9", "--acks", &acks], &[]).code, Some(0));
}

#[test]
fn x8_hostile_numbers_are_refused_with_the_range_or_counted() {
    for bad in ["1e309", "NaN", "-1", "9".repeat(400).as_str()] {
        refused(&[&format!("--group-interval={bad}")], &["--group-interval", "0 to 2592000"]);
    }
    let scene = Scene::new();
    let huge = look("s", &json!({"pending": 1})).replace(":1", &format!(":1{}", "0".repeat(400)));
    let ended = feed(&scene, &["--watch=w"], &[huge, keys("s", &["k"])]);
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 1));
    let counters = &state(&scene, "w")["counters"];
    assert_eq!((&counters["malformed"], &counters["lines"]), (&1.into(), &1.into()));
}

#[test]
fn x23_knobs_that_contradict_each_other_are_named_with_both_numbers() {
    refused(&["--repeat-interval=200"], &["--group-interval 240s", "--repeat-interval 200s"]);
    refused(
        &["--group-interval=0", "--max-wait=60", "--repeat-interval=60"],
        &["--max-wait 60s", "--repeat-interval 60s"],
    );
    refused(&["--group-wait=7h"], &["--group-wait 25200s", "--repeat-interval 21600s"]);
}

#[test]
fn b1_the_end_of_a_run_is_not_the_end_of_the_watch() {
    let scene = Scene::new();
    let mut running = Running::start(&mut wake(&scene, &["--watch=w", "--max-runtime=0.2"]));
    let _stdin = running.stdin().unwrap();
    assert_eq!(running.event("monitor_stopped")["reason"], "max_runtime");
    assert_eq!(running.end().code, Some(0));
    assert!(state(&scene, "w")["outcome"].is_null());
    assert_eq!(words(&feed(&scene, &["--watch=w"], &[keys("s", &["k"])]).lines, "event"), ["wake"]);
}

fn orphan(scene: &Scene, args: &[&str]) -> Child {
    let mut child = wake(scene, args).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    child
}

#[test]
fn x15_a_reader_that_leaves_ends_it_while_nothing_comes() {
    let scene = Scene::new();
    for args in [&[][..], &["--watch=w"]] {
        let mut child = orphan(&scene, args);
        let _stdin = child.stdin.take();
        let mut status = None;
        eventually("it follows its reader", || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        assert_eq!(status.unwrap().code(), Some(0));
    }
}

#[test]
fn a_signal_ends_it() {
    let scene = Scene::new();
    let mut running = Running::ready(&scene, &mut wake(&scene, &["--watch=w"]));
    let _stdin = running.stdin().unwrap();
    let ended = running.stop();
    assert_eq!((ended.code, ended.lines.len(), &*ended.stderr), (Some(0), 0, ""));
}

#[test]
fn it_ends_with_its_parent() {
    let scene = Scene::new();
    let mut parent = command("sleep").arg("1000").spawn().unwrap();
    let pid = parent.id().to_string();
    let mut running = Running::ready(&scene, &mut wake(&scene, &["--parent-pid", &pid]));
    let _stdin = running.stdin().unwrap();
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn it_is_ready_once_the_state_is_loaded() {
    let scene = Scene::new();
    let manager = Manager::listen(&scene);
    let mut command = wake(&scene, &["--watch=w"]);
    manager.manage(&mut command);
    let mut running = Running::start(&mut command);
    drop(running.stdin());
    manager.ready();
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn a_wait_ends_with_the_first_line_or_without_one() {
    let scene = Scene::new();
    let mut running = Running::start(&mut wake(&scene, &["--wait=30", "--verbose"]));
    let mut stdin = running.stdin().unwrap();
    let quiet = look("s", &json!({"status": "pending"}));
    say(&mut stdin, std::slice::from_ref(&quiet));
    running.event("verdict");
    say(&mut stdin, &[keys("s", &["k"])]);
    running.event("wake");
    assert_eq!(running.end().code, Some(0));

    let mut running = Running::start(&mut wake(&scene, &["--wait=0.2"]));
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, std::slice::from_ref(&quiet));
    let ended = running.end();
    assert_eq!((ended.code, ended.lines.len()), (Some(3), 0));
    assert_eq!(feed(&scene, &["--wait=30"], &[quiet]).code, Some(3));
    assert_eq!(feed(&scene, &["--wait=30"], &[keys("s", &["k"])]).code, Some(0));
}

#[test]
fn silence_can_be_filled() {
    let scene = Scene::new();
    let mut running = Running::start(&mut wake(&scene, &["--alive=0.1"]));
    let _stdin = running.stdin().unwrap();
    for _ in 0..2 {
        running.event("monitor_alive");
    }
    assert_eq!(running.stop().code, Some(0));
}

/// How often the threads of a process gave up the processor by themselves.
fn switches(pid: u32) -> Vec<String> {
    let mut seen = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task")).unwrap() {
        let text = fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let line = text.lines().find(|line| line.starts_with("voluntary_ctxt_switches"));
        seen.push(line.unwrap().to_owned());
    }
    seen
}

#[test]
fn x24_it_sleeps_while_nothing_comes_and_nothing_is_due() {
    let scene = Scene::new();
    let args = ["--watch=w", "--group-wait=1000", "--group-interval=1000"];
    let mut running = Running::ready(&scene, &mut wake(&scene, &args));
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &[keys("s", &["held"])]);
    eventually("the state is written", || state(&scene, "w")["counters"]["lines"] == 1);
    let sleeps = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", running.pid())).unwrap();
        stat.rsplit(')').next().unwrap().trim_start().starts_with('S')
    };
    eventually("it sleeps", sleeps);
    let before = switches(running.pid());
    // Time itself is the fixture.
    pause(Duration::from_secs(2));
    assert_eq!(switches(running.pid()), before);
    stdin.flush().unwrap();
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn a_folder_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    let folder = scene.dir("store/wake/w");
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    let ended = feed(&scene, &["--watch=w"], &[]);
    assert_eq!((ended.code, &ended.lines[0]["event"]), (Some(4), &"monitor_failed".into()));
}

//! How it starts, stops, and takes its flags.

use std::process::Stdio;

use serde_json::json;
use tests::{Running, command, eventually};

use crate::world::{EXE, Once, World};

#[test]
fn help_is_the_same_in_both_spellings() {
    let short = command(EXE).arg("-h").output().unwrap();
    let long = command(EXE).arg("--help").output().unwrap();
    assert_eq!((short.status.code(), &short.stdout), (Some(0), &long.stdout));
    assert!(String::from_utf8(short.stdout).unwrap().contains("--interval"));
    let version = command(EXE).arg("--version").output().unwrap();
    assert!(version.stdout.starts_with(b"branch-divergence "));
}

#[test]
fn d16_a_bad_flag_ends_with_1_and_says_what_is_allowed() {
    let world = World::new();
    for (args, word) in [
        (&["--interval", "0"][..], "1 to 86400"),
        (&["--interval", "x"], "1 to 86400"),
        (&["--interval", "0.5"], "1 to 86400"),
        (&["--threshold", "0"], "1 to 1000000"),
        (&["--step", "1000001"], "1 to 1000000"),
        (&["--fetch-timeout", "0"], "1 to 3600"),
        (&["--emit", "x"], "readings"),
        (&["--remote="], "remote"),
        (&["--cursor="], "--cursor"),
        (&["--once", "--wait", "1"], "--wait"),
        (&["--nonsense"], "--nonsense"),
        (&["positional"], "positional"),
    ] {
        let mut program = world.on("checkout", args);
        let once = Once::of(&mut program);
        assert_eq!((once.code, once.lines.len()), (Some(1), 0), "{args:?}");
        assert_eq!(once.stderr.lines().count(), 1, "{args:?}: {}", once.stderr);
        assert!(once.stderr.contains(word), "{args:?}: {}", once.stderr);
    }
    let accepted = world.once("checkout", &["--threshold", "08", "--interval", "08"]);
    assert_eq!((accepted.code, &*accepted.stderr), (Some(0), ""));
}

#[test]
fn a_signal_or_a_reader_that_left_ends_it_with_0() {
    let world = World::new();
    world.advance(6);
    let mut program = world.start(&["--announce"]);
    program.event("branch_divergence");
    let armed = program.event("monitor_armed");
    let watching = world.path("checkout").display().to_string();
    assert_eq!(armed["watching"], *watching);
    assert_eq!(
        armed["not_covered"],
        json!(["other branches and remotes", "uncommitted work", "pushes between two asks"])
    );
    let ended = program.stop();
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    assert_eq!(
        (&ended.lines[0]["event"], &ended.lines[0]["reason"]),
        (&json!("monitor_stopped"), &json!("signal"))
    );

    let mut program = world.on("checkout", &[]);
    let mut child = program.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    let mut status = None;
    eventually("it ends with its reader", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().code(), Some(0));
}

#[test]
fn it_ends_with_its_time_and_says_so() {
    let world = World::new();
    let ended = Running::start(&mut world.on("checkout", &["--max-runtime", "1"])).end();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 1));
    assert_eq!(ended.lines[0]["reason"], "max_runtime");
}

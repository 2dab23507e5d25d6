//! The program as its users run it.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use tests::{Running, Scene, command, documented};

const EXE: &str = env!("CARGO_BIN_EXE_nudge");
const STALLED: &str = r#"{"event":"stalled","source":"w","agent":"a","step":"5","instance":"i","key":"agent:a/5:stalled","condition":"raised","id":"c2a5e81f0b7d3946"}"#;

fn nudge(args: &[&str]) -> Command {
    let mut nudge = command(EXE);
    nudge.args(["--after=0.3"]).args(args).stdin(Stdio::piped());
    nudge
}

#[test]
fn flags_are_documented() {
    documented(<nudge::args::Args as clap::CommandFactory>::command());
}

#[test]
fn bad_flags_are_usage_errors() {
    for args in
        [&["--max", "0"][..], &["--max", "101"], &["--on", "A b"], &["--after", "0"], &["x"]]
    {
        assert_eq!(command(EXE).args(args).output().unwrap().status.code(), Some(1), "{args:?}");
    }
}

#[test]
fn lines_pass_as_they_are_at_any_length() {
    let mut running = Running::start(&mut nudge(&[]));
    let mut stdin = running.stdin().unwrap();
    let long =
        format!("{{\"event\":\"stalled\",\"id\":\"1\",\"x\":\"{}\"}}\n", "y".repeat(200_000));
    for line in ["not JSON \u{1}\r\n", "\n", &long, "{\"a\": 1.0}\n"] {
        stdin.write_all(line.as_bytes()).unwrap();
        assert_eq!(running.raw(), *line);
    }
    stdin.write_all(b"no newline").unwrap();
    drop(stdin);
    assert_eq!(running.raw(), "no newline");
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn an_event_is_said_three_times_and_drained() {
    let mut running = Running::start(&mut nudge(&["--drain"]));
    let mut stdin = running.stdin().unwrap();
    writeln!(stdin, "{STALLED}").unwrap();
    drop(stdin);
    running.event("stalled");
    for count in 1..=3 {
        let said = running.event("nudge_repeat");
        assert_eq!((&said["nudge_count"], &said["final"]), (&count.into(), &(count == 3).into()));
        assert_eq!(said["key"], "nudge:agent:a/5:stalled");
    }
    assert_eq!(running.end().code, Some(0));
    let mut brief = Running::start(&mut nudge(&[]));
    writeln!(brief.stdin().unwrap(), "{STALLED}").unwrap();
    assert_eq!(brief.end().lines.len(), 1);
}

#[test]
fn an_answer_from_the_registry_or_the_input_ends_it() {
    let scene = Scene::new();
    let ack = "{\"ack\":\"stalled\",\"agent\":\"a\"}\n";
    scene.write("items", ack);
    let acks = scene.join("items").display().to_string();
    let mut running = Running::ready(&scene, &mut nudge(&["--drain", "--acks", &acks]));
    let mut stdin = running.stdin().unwrap();
    writeln!(stdin, "{STALLED}").unwrap();
    drop(stdin);
    running.event("stalled");
    running.event("nudge_repeat");
    scene.append("items", ack);
    assert_eq!(running.end().code, Some(0));
    let mut running = Running::start(&mut nudge(&["--drain"]));
    write!(running.stdin().unwrap(), "{STALLED}\n{ack}").unwrap();
    assert_eq!(running.end().lines.len(), 1);
}

#[test]
fn what_waits_outlives_the_process() {
    let scene = Scene::new();
    let store = scene.join("store").display().to_string();
    let mut first = Running::start(&mut nudge(&["--store", &store, "--after=30"]));
    writeln!(first.stdin().unwrap(), "{STALLED}").unwrap();
    assert_eq!(first.end().code, Some(0));
    let mut second = Running::start(&mut nudge(&["--store", &store, "--drain"]));
    let mut stdin = second.stdin().unwrap();
    writeln!(stdin, "{STALLED}").unwrap();
    second.event("stalled");
    writeln!(stdin, "{{\"ack\":\"stalled\",\"id\":\"c2a5e81f0b7d3946\"}}").unwrap();
    drop(stdin);
    assert!(second.end().lines.is_empty());
}

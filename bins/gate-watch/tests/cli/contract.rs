//! What every program promises.

use std::process::Stdio;

use nix::sys::signal::Signal;
use tests::{Running, command};

use crate::world::{World, short};

fn bare() -> std::process::Command {
    command(env!("CARGO_BIN_EXE_gate-watch"))
}

#[test]
fn help_and_version_are_on_stdout() {
    for flag in ["-h", "--help", "--version"] {
        let out = bare().arg(flag).output().unwrap();
        assert_eq!(out.status.code(), Some(0));
        assert!(out.stderr.is_empty() && !out.stdout.is_empty());
    }
}

#[test]
fn wrong_usage_is_one_line_that_says_what_is_allowed() {
    for (line, word) in [
        (&["--poll-interval", "0"][..], "0.05 to 86400"),
        (&["--poll-interval", "abc"], "0.05 to 86400"),
        (&["--poll-interval", "NaN"], "0.05 to 86400"),
        (&["--warn-after", "0.9"], "1 to 31622400"),
        (&["--warn-after="], "1 to 31622400"),
        (&["--state-dir", ""], "--state-dir"),
        (&["--state-dir", "--once"], "--state-dir"),
        (&["--emit", "all"], "readings"),
        (&["--nonsense"], "--nonsense"),
        (&["positional"], "positional"),
        (&["--once", "--wait", "1"], "--wait"),
    ] {
        let out = bare().args(line).output().unwrap();
        assert_eq!(out.status.code(), Some(1), "{line:?}");
        assert!(out.stdout.is_empty());
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(said.starts_with("gate-watch: fatal: ") && said.contains(word), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn signals_end_it_with_0() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let world = World::new();
        let running = world.start(&[]);
        running.signal(signal);
        let ended = running.end();
        assert_eq!((ended.code, ended.signal), (Some(0), None));
        assert_eq!(short(&ended.lines[0]), "monitor_stopped signal");
        assert!(ended.stderr.is_empty());
    }
}

#[test]
fn a_reader_that_leaves_ends_it() {
    let world = World::new();
    let mut child = world.command(&[]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut code = None;
    tests::eventually("it ends", || {
        code = child.try_wait().unwrap().map(|status| status.code());
        code.is_some()
    });
    assert_eq!(code, Some(Some(0)));
}

#[test]
fn wait_ends_with_the_first_event_or_without_one() {
    let world = World::new();
    let out = world.run(&["--wait", "0.2"]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(3), 0));
    let mut running = Running::start(&mut world.command(&["--wait", "1h", "--announce"]));
    let _ = running.event("monitor_armed");
    world.ask("HDR-001");
    let ended = running.end();
    assert_eq!(ended.code, Some(0));
    assert_eq!(short(&ended.lines[0]), "gate_opened HDR-001");
}

#[test]
fn source_names_the_speaker_and_not_the_id() {
    let world = World::new();
    world.ask("HDR-001");
    let line = |flags: &[&str]| {
        let out = world.run(&[&["--once", "--emit-current"], flags].concat());
        tests::lines(&out.stdout).remove(0)
    };
    let (plain, named) = (line(&[]), line(&["--source", "gates"]));
    assert_eq!((&plain["source"], &named["source"]), (&"gate-watch".into(), &"gates".into()));
    assert_eq!(plain["id"], named["id"]);
}

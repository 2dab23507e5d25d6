//! Many changes, and changes that nobody told of.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader, Read as _},
    process::Stdio,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tests::{Running, eventually, lines};

use crate::world::{World, before_marker, gate, short};

#[test]
fn g15_after_lost_changes_the_listings_differ_exactly() {
    let world = World::new();
    for at in 0..20 {
        world.ask(&format!("OLD-{at:02}"));
    }
    let mut running = world.start(&["--poll-interval", "24h"]);
    running.freeze();
    for at in 0..20_000 {
        let path = world.open(format!("X-{at}.json"));
        fs::File::create(&path).unwrap();
        fs::remove_file(&path).unwrap();
    }
    for at in 0..10 {
        world.ask(&format!("NEW-{at}"));
        fs::remove_file(world.open(format!("OLD-{at:02}.json"))).unwrap();
    }
    running.thaw();
    let mut seen = BTreeSet::new();
    while seen.len() < 22 {
        let line = short(&running.line());
        assert!(seen.insert(line.clone()), "twice: {line}");
    }
    let mut want: BTreeSet<String> = (0..10)
        .flat_map(|at| {
            [format!("gate_opened NEW-{at}"), format!("gate_resolved OLD-{at:02} unrecorded")]
        })
        .collect();
    want.extend(["degraded", "recovered"].map(|word| format!("monitor_{word} watch_overflow")));
    assert_eq!(seen, want);
    world.ask("M");
    assert_eq!(short(&running.line()), "gate_opened M");
}

#[test]
fn gw01_a_gate_that_comes_while_it_starts_is_told_once() {
    for _ in 0..30 {
        let world = World::new();
        let mut running = Running::start(&mut world.command(&["--emit-current"]));
        for at in 0..20 {
            world.ask(&format!("G-{at:02}"));
        }
        let mut seen: Vec<String> =
            (0..20).map(|_| running.event("gate_opened")["gate_id"].to_string()).collect();
        seen.sort();
        let want: Vec<String> = (0..20).map(|at| format!("\"G-{at:02}\"")).collect();
        assert_eq!(seen, want);
        assert!(before_marker(&world, &mut running, "M").is_empty());
    }
}

#[test]
fn every_gate_of_a_burst_is_told_once() {
    let world = World::new();
    let mut running = world.start(&[]);
    for at in 0..500 {
        world.ask(&format!("G-{at:03}"));
    }
    let mut opened: Vec<String> = (0..500).map(|_| short(&running.line())).collect();
    opened.sort();
    let want: Vec<String> = (0..500).map(|at| format!("gate_opened G-{at:03}")).collect();
    assert_eq!(opened, want);
    for at in 0..500 {
        world.answer(&format!("G-{at:03}"));
    }
    let mut ended: Vec<String> = (0..500).map(|_| short(&running.line())).collect();
    ended.sort();
    let want: Vec<String> =
        (0..500).map(|at| format!("gate_resolved G-{at:03} recorded")).collect();
    assert_eq!(ended, want);
}

#[test]
fn killed_at_any_moment_it_loses_no_gate() {
    let world = World::new();
    let cursor = world.scene.join("cursor").display().to_string();
    let mut told = BTreeSet::new();
    let run = || Running::start(&mut world.command(&["--emit-current", "--cursor", &cursor]));
    for at in 0..20 {
        let mut running = run();
        for part in 0..5 {
            world.scene.write(&format!("state/human-gates/open/K-{at:02}-{part}.json"), gate("K"));
        }
        // The kill comes after none, one, two or three of its lines.
        for line in (0..at % 4).map(|_| running.line()) {
            let _ = told.insert(line["gate_id"].as_str().unwrap().to_owned());
        }
        for line in running.kill() {
            let _ = told.insert(line["gate_id"].as_str().unwrap().to_owned());
        }
    }
    let mut running = run();
    world.ask("LAST");
    while !told.contains("LAST") {
        let _ = told.insert(running.event("gate_opened")["gate_id"].as_str().unwrap().to_owned());
    }
    assert_eq!(told.len(), 101);
}

#[test]
fn xx_04_what_a_reader_that_stood_still_never_got_is_told_at_the_next_start() {
    const GATES: usize = 2_000;
    let world = World::new();
    for at in 0..GATES {
        world.ask(&format!("G-{at:04}"));
    }
    let cursor = world.scene.join("cursor").display().to_string();
    let flags = ["--emit-current", "--announce", "--cursor", &*cursor];
    let mut child = world.command(&flags).stdout(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    reader.read_line(&mut text).unwrap();
    // The pipe is full long before it has told them all.
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGTERM).unwrap();
    eventually("it ends", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    reader.read_to_string(&mut text).unwrap();
    assert!(text.ends_with("}\n"), "the last line is torn");
    let first = lines(text.as_bytes());
    assert!(first.len() < GATES);
    let rest = lines(&world.run(&["--once", "--emit-current", "--cursor", &cursor]).stdout);
    let ids = first.iter().chain(&rest).filter_map(|line| line["gate_id"].as_str());
    let told: BTreeSet<&str> = ids.collect();
    assert_eq!(told.len(), GATES, "{} lines, then {}", first.len(), rest.len());
}

#[test]
fn more_names_than_any_project_has_are_refused_in_bounded_memory() {
    let world = World::new();
    for at in 0..=100_000 {
        fs::File::create(world.open(format!("{at}"))).unwrap();
    }
    let out = world.run(&["--once"]);
    assert_eq!(out.status.code(), Some(4));
    assert!(String::from_utf8(out.stdout).unwrap().contains("more than 100000 names"));
}

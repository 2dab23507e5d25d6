//! What was said outlives the process.

use std::fs;

use serde_json::Value;
use tests::{Running, lines};

use crate::world::{World, before_marker, gate, short};

fn cursor(world: &World) -> String {
    world.scene.join("memory/gates.json").display().to_string()
}

fn once(world: &World) -> Vec<String> {
    let out = world.run(&["--once", "--cursor", &cursor(world)]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    lines(&out.stdout).iter().map(short).collect()
}

#[test]
fn g16_the_difference_is_told_and_nothing_else() {
    let world = World::new();
    for id in ["HDR-001", "HDR-002"] {
        world.ask(id);
    }
    let mut running = world.start(&["--cursor", &cursor(&world)]);
    world.ask("HDR-003");
    let first = running.event("gate_opened");
    assert!(before_marker(&world, &mut running, "M").is_empty());
    // What was told is remembered once the next look is over.
    fs::remove_file(world.open("M.json")).unwrap();
    assert_eq!(short(&running.line()), "gate_resolved M unrecorded");
    world.ask("N");
    assert_eq!(short(&running.line()), "gate_opened N");
    let _ = running.kill();
    world.ask("HDR-004");
    world.answer("HDR-001");
    let told = once(&world);
    let want = ["gate_resolved HDR-001 recorded", "gate_opened HDR-004"];
    // The last line before the kill may not have been remembered: told twice, never lost.
    let again: Vec<&String> = told.iter().filter(|line| *line != "gate_opened N").collect();
    assert_eq!(again, want.iter().collect::<Vec<_>>());
    assert!(once(&world).is_empty());

    // Without a cursor what stands is told again, with the same id.
    let out = world.run(&["--once", "--emit-current"]);
    let again: Vec<Value> =
        lines(&out.stdout).into_iter().filter(|line| line["gate_id"] == "HDR-003").collect();
    assert_eq!(again[0]["id"], first["id"]);
}

#[test]
fn g03_a_gate_answered_while_nobody_looked_is_told_late() {
    let world = World::new();
    assert!(once(&world).is_empty());
    world.ask("HDR-001");
    world.answer("HDR-001");
    let old = gate("HDR-000").replace("null", r#"{"resolved_at":"2020-01-01T00:00:00Z"}"#);
    world.scene.write("state/human-gates/resolved/HDR-000.json", old);
    assert_eq!(once(&world), ["gate_opened HDR-001 late", "gate_resolved HDR-001 recorded late"]);
    assert!(once(&world).is_empty());
}

#[test]
fn a_gate_that_went_while_nobody_looked_is_unrecorded_even_with_once() {
    let world = World::new();
    world.ask("HDR-001");
    assert!(once(&world).is_empty());
    fs::remove_file(world.open("HDR-001.json")).unwrap();
    assert_eq!(once(&world), ["gate_resolved HDR-001 unrecorded"]);
}

#[test]
fn folders_that_are_gone_at_the_start_are_no_answer() {
    let world = World::new();
    world.ask("HDR-001");
    assert!(once(&world).is_empty());
    fs::rename(world.state().join("human-gates"), world.scene.join("away")).unwrap();
    let out = world.run(&["--once", "--cursor", &cursor(&world)]);
    assert_eq!(out.status.code(), Some(4));
    let told: Vec<String> = lines(&out.stdout).iter().map(short).collect();
    assert_eq!(told, ["monitor_degraded gates_missing"]);
    fs::rename(world.scene.join("away"), world.state().join("human-gates")).unwrap();
    assert!(once(&world).is_empty());
}

#[test]
fn a_damaged_cursor_skips_nothing() {
    for damage in ["", "{\"version\":1,", "\0\0\0"] {
        let world = World::new();
        world.ask("HDR-001");
        let _ = world.scene.dir("memory");
        world.scene.write("memory/gates.json", damage);
        let out = world.run(&["--once", "--cursor", &cursor(&world)]);
        assert_eq!(out.status.code(), Some(0));
        let told: Vec<String> = lines(&out.stdout).iter().map(short).collect();
        assert_eq!(told, ["gate_opened HDR-001 initial"]);
        assert_eq!(String::from_utf8(out.stderr).unwrap().lines().count(), 1);
        assert!(once(&world).is_empty());
    }
}

#[test]
fn another_cursor_is_refused_and_left_as_it_is() {
    let world = World::new();
    assert!(once(&world).is_empty());
    let text = fs::read_to_string(cursor(&world)).unwrap();
    for (was, is) in
        [("\"version\":1", "\"version\":9"), ("gate-watch", "event-tail"), ("/state\"", "/other\"")]
    {
        let other = text.replacen(was, is, 1);
        assert_ne!(other, text);
        world.scene.write("memory/gates.json", &other);
        let out = world.run(&["--once", "--cursor", &cursor(&world)]);
        assert_eq!(out.status.code(), Some(4), "{is}");
        assert_eq!(fs::read_to_string(cursor(&world)).unwrap(), other);
        assert!(
            String::from_utf8(out.stderr).unwrap().starts_with("gate-watch: fatal: unable to use")
        );
    }
    world.scene.write("memory/gates.json", &text);
    let mut holder =
        Running::start(&mut world.command(&["--cursor", &cursor(&world), "--announce"]));
    let _ = holder.event("monitor_armed");
    let out = world.run(&["--once", "--cursor", &cursor(&world)]);
    assert_eq!(out.status.code(), Some(4));
    assert!(String::from_utf8(out.stderr).unwrap().contains(&holder.pid().to_string()));
}

#[test]
fn a_cursor_in_what_is_watched_is_wrong_usage() {
    let world = World::new();
    let _ = world.scene.dir("x/.git");
    for place in ["state/gates.json", "state/sub/gates.json", "x/.git/gates.json"] {
        let path = world.scene.join(place).display().to_string();
        let out = world.run(&["--once", "--cursor", &path]);
        assert_eq!(out.status.code(), Some(1), "{place}");
        assert!(out.stdout.is_empty());
        assert!(!world.scene.join(place).exists());
    }
}

#[test]
fn a_cursor_that_becomes_unwritable_is_told_and_the_watch_goes_on() {
    let world = World::new();
    let mut running = world.start(&["--cursor", &cursor(&world)]);
    let (here, away) = (world.scene.join("memory"), world.scene.join("elsewhere"));
    fs::rename(&here, &away).unwrap();
    world.ask("HDR-001");
    assert_eq!(short(&running.line()), "gate_opened HDR-001");
    assert_eq!(short(&running.line()), "monitor_degraded cursor_unwritable");
    world.ask("HDR-002");
    assert_eq!(short(&running.line()), "gate_opened HDR-002");
    fs::rename(&away, &here).unwrap();
    world.ask("HDR-003");
    let mut seen = [short(&running.line()), short(&running.line())];
    seen.sort();
    assert_eq!(seen, ["gate_opened HDR-003", "monitor_recovered cursor_unwritable"]);
    assert_eq!(running.stop().code, Some(0));
    assert!(once(&world).is_empty());
}

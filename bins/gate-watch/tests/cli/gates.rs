//! Which gates are told, and how.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::symlink},
    time::Duration,
};

use tests::{Running, lines, pause};

use crate::world::{World, before_marker, gate, record, short, until};

#[test]
fn g01_a_new_gate_is_told_and_one_that_goes_is_unrecorded() {
    let world = World::new();
    world.ask("HDR-001");
    let mut running = world.start(&[]);
    world.ask("HDR-002");
    let line = running.event("gate_opened");
    assert_eq!(line["gate_id"], "HDR-002");
    assert_eq!(line["file"], "HDR-002.json");
    assert_eq!(line["question"], "Is it HDR-002?");
    assert_eq!(line["blocking"], true);
    assert_eq!(line["blocked_work_items"], serde_json::json!(["WI-1"]));
    assert_eq!(line["key"], "gate:HDR-002");
    fs::remove_file(world.open("HDR-001.json")).unwrap();
    assert_eq!(short(&running.line()), "gate_resolved HDR-001 unrecorded");
    assert!(before_marker(&world, &mut running, "M").is_empty());
}

#[test]
fn g02_the_writers_own_order_gives_one_recorded_answer() {
    let world = World::new();
    world.ask("HDR-001");
    let mut running = world.start(&[]);
    world.answer("HDR-001");
    let line = running.event("gate_resolved");
    assert_eq!(short(&line), "gate_resolved HDR-001 recorded");
    assert_eq!(line["chosen_option"], "drop HDR-001");
    assert_eq!(line["unblocked_work_items"], serde_json::json!(["WI-1"]));
    assert_eq!(line["condition"], "cleared");
    assert!(before_marker(&world, &mut running, "M").is_empty());
}

#[test]
fn g03_a_gate_that_is_answered_at_once_is_told_all_the_same() {
    let world = World::new();
    let mut running = world.start(&[]);
    world.ask("HDR-001");
    pause(Duration::from_millis(1));
    fs::rename(world.open("HDR-001.json"), world.resolved("HDR-001.json")).unwrap();
    for (event, line) in [("gate_opened", running.line()), ("gate_resolved", running.line())] {
        assert_eq!((&line["event"], &line["gate_id"]), (&event.into(), &"HDR-001".into()));
    }

    running.freeze();
    world.ask("HDR-002");
    pause(Duration::from_millis(1));
    fs::rename(world.open("HDR-002.json"), world.resolved("HDR-002.json")).unwrap();
    running.thaw();
    assert_eq!(short(&running.line()), "gate_opened HDR-002 late");
    assert_eq!(short(&running.line()), "gate_resolved HDR-002 recorded late");
    assert!(before_marker(&world, &mut running, "M").is_empty());
}

#[test]
fn g04_restored_records_and_a_gate_in_both_folders_say_nothing() {
    let world = World::new();
    world.ask("HDR-001");
    world.scene.write("state/human-gates/resolved/HDR-001.json", record("HDR-001"));
    let mut running = world.start(&["--emit-current"]);
    let old = record("OLD").replace(&tests::from_now(0)[..4], "2020");
    for at in 0..30 {
        world.scene.write(&format!("state/human-gates/resolved/OLD-{at}.json"), &old);
    }
    assert!(before_marker(&world, &mut running, "M").is_empty());
}

#[test]
fn g05_a_gate_that_is_removed_and_made_again_is_another() {
    let world = World::new();
    world.ask("HDR-001");
    let mut running = world.start(&[]);
    for _ in 0..20 {
        fs::remove_file(world.open("HDR-001.json")).unwrap();
        world.scene.write("state/human-gates/open/HDR-001.json", gate("HDR-001"));
        assert_eq!(short(&running.line()), "gate_resolved HDR-001 unrecorded");
        assert_eq!(short(&running.line()), "gate_opened HDR-001");
    }
    assert!(before_marker(&world, &mut running, "M").is_empty());
}

#[test]
fn g06_content_is_compared_as_json() {
    let world = World::new();
    world.ask("HDR-001");
    world.ask("HDR-002");
    let mut running = world.start(&[]);
    fs::File::open(world.open("HDR-001.json"))
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH)
        .unwrap();
    assert!(before_marker(&world, &mut running, "M1").is_empty());
    let value: serde_json::Value = serde_json::from_str(&gate("HDR-001")).unwrap();
    let indented = serde_json::to_string_pretty(&value).unwrap();
    world.scene.write("state/human-gates/open/HDR-001.json", indented);
    assert!(before_marker(&world, &mut running, "M2").is_empty());
    let other = gate("HDR-001").replace("Is it", "Was it");
    world.scene.replace("state/human-gates/open/HDR-001.json", other);
    let line = running.event("gate_changed");
    assert_eq!(line["question"], "Was it HDR-001?");
    assert_eq!(line["condition"], "raised");
    world.scene.write("state/human-gates/open/HDR-002.json", record("HDR-002"));
    let line = running.event("gate_resolved");
    assert_eq!(short(&line), "gate_resolved HDR-002 recorded");
    assert_eq!(line["chosen_option"], "drop HDR-002");
    assert!(before_marker(&world, &mut running, "M3").is_empty());
}

#[test]
fn g08_gates_are_told_whatever_is_made_first() {
    for at in 0..50 {
        let world = World::empty();
        let mut running = world.start(&[]);
        world.make();
        if at % 2 == 0 {
            world.scene.write("state/human-gates/open/HDR-001.json", gate("HDR-001"));
        } else {
            world.ask("HDR-001");
        }
        assert_eq!(short(&running.line()), "gate_opened HDR-001");
        assert_eq!(running.stop().code, Some(0));
    }
}

#[test]
fn g08_a_state_folder_that_is_not_there_yet_is_waited_for() {
    let world = World::empty();
    fs::remove_dir(world.state()).unwrap();
    let mut running = Running::start(&mut world.command(&["--alive", "0.1"]));
    // It lives, so it has looked.
    let _ = running.event("monitor_alive");
    world.make();
    world.ask("HDR-001");
    let mut seen = until(&mut running, "gate_opened HDR-001");
    seen.retain(|line| line != "monitor_alive");
    assert_eq!(seen, ["gate_opened HDR-001"]);
}

#[test]
fn g09_the_baseline_is_told_only_where_asked_for() {
    let world = World::new();
    for id in ["HDR-001", "HDR-002", "HDR-003"] {
        world.ask(id);
    }
    let mut plain = world.start(&[]);
    assert!(before_marker(&world, &mut plain, "M").is_empty());
    fs::remove_file(world.open("M.json")).unwrap();

    let told = ["HDR-001", "HDR-002", "HDR-003"].map(|id| format!("gate_opened {id} initial"));
    let mut current = Running::start(&mut world.command(&["--emit-current"]));
    for line in &told {
        assert_eq!(short(&current.line()), *line);
    }
    let once = world.run(&["--once"]);
    assert_eq!((once.status.code(), once.stdout.len()), (Some(0), 0));
    let once = world.run(&["--once", "--emit-current"]);
    assert_eq!(once.status.code(), Some(0));
    assert_eq!(lines(&once.stdout).iter().map(short).collect::<Vec<_>>(), told);
    assert!(once.stderr.is_empty());
}

#[test]
fn g10_names_are_exact() {
    let world = World::new();
    let ids: [&[u8]; 7] =
        [b"a b", b"a\nb", b"a\tb", b"a\"b", b"-n", "\u{2028}".as_bytes(), b"\xff\xfe"];
    for id in ids {
        let file = [id, b".json"].concat();
        fs::copy(file_of(&world), world.open(OsStr::from_bytes(&file))).unwrap();
    }
    let out = world.run(&["--once", "--emit-current"]);
    let raw = String::from_utf8(out.stdout.clone()).unwrap();
    assert!(!raw.contains('\u{2028}') && raw.lines().count() == 7, "{raw}");
    let mut found: Vec<String> = lines(&out.stdout)
        .iter()
        .map(|line| line["gate_id"].as_str().unwrap().to_owned())
        .collect();
    let mut want: Vec<String> =
        ids.iter().map(|id| String::from_utf8_lossy(id).into_owned()).collect();
    found.sort();
    want.sort();
    assert_eq!(found, want);
    let hex: Vec<_> =
        lines(&out.stdout).into_iter().filter(|line| !line["file_hex"].is_null()).collect();
    assert_eq!(hex.len(), 1);
    assert_eq!(hex[0]["file_hex"], "fffe2e6a736f6e");
}

fn file_of(world: &World) -> std::path::PathBuf {
    world.scene.write("gate", gate("x"));
    world.scene.join("gate")
}

#[test]
fn g11_only_regular_files_are_gates() {
    let world = World::new();
    for name in ["x.tmp", "notes.md"] {
        world.scene.write(&format!("state/human-gates/open/{name}"), gate("x"));
    }
    fs::create_dir(world.open("D.json")).unwrap();
    nix::unistd::mkfifo(&world.open("p.json"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    symlink("nowhere", world.open("l.json")).unwrap();
    symlink(file_of(&world), world.open("link.json")).unwrap();
    let out = world.run(&["--once", "--emit-current"]);
    assert_eq!(out.status.code(), Some(0));
    let found: Vec<String> = lines(&out.stdout).iter().map(short).collect();
    assert_eq!(found, ["gate_opened link initial"]);
}

#[test]
fn g11_a_link_is_followed_by_the_sweep() {
    let world = World::new();
    let target = file_of(&world);
    symlink(&target, world.open("link.json")).unwrap();
    let mut running = world.start(&["--poll-interval", "0.05"]);
    fs::remove_file(&target).unwrap();
    assert_eq!(short(&running.line()), "gate_resolved link unrecorded");
    world.scene.write("gate", gate("y"));
    let line = running.event("gate_opened");
    assert_eq!(line["question"], "Is it y?");
    world.scene.write("gate", gate("z"));
    assert_eq!(running.event("gate_changed")["question"], "Is it z?");
}

#[test]
fn g12_content_that_comes_late_is_waited_for_and_none_is_told() {
    let world = World::new();
    let mut running = world.start(&[]);
    world.scene.write("state/human-gates/open/SLOW.json", "");
    pause(Duration::from_millis(30));
    world.scene.write("state/human-gates/open/SLOW.json", gate("SLOW"));
    let line = running.event("gate_opened");
    assert_eq!(line["question"], "Is it SLOW?");
    assert!(line["content_error"].is_null());
    world.scene.write("state/human-gates/open/EMPTY.json", "");
    assert_eq!(short(&running.line()), "gate_opened EMPTY empty");
    world.scene.replace("state/human-gates/open/BIG.json", vec![b' '; 2 << 20]);
    assert_eq!(short(&running.line()), "gate_opened BIG too_large");
    world.scene.replace("state/human-gates/open/LIST.json", "[1]");
    assert_eq!(short(&running.line()), "gate_opened LIST not_object");
    world.scene.replace("state/human-gates/open/CUT.json", "{\"question\":\"");
    assert_eq!(short(&running.line()), "gate_opened CUT malformed");
    world.scene.write("state/human-gates/open/EMPTY.json", gate("EMPTY"));
    assert_eq!(running.event("gate_changed")["question"], "Is it EMPTY?");
}

#[test]
fn g13_a_commit_is_waited_for() {
    let world = World::new();
    world.scene.write("state/.pending-tx.json", "{}");
    let mut running = world.start(&[]);
    world.ask("HDR-001");
    pause(Duration::from_millis(40));
    fs::remove_file(world.state().join(".pending-tx.json")).unwrap();
    assert_eq!(short(&running.line()), "gate_opened HDR-001");
    world.scene.write("state/.pending-tx.json", "{}");
    world.ask("HDR-002");
    assert_eq!(short(&running.line()), "gate_opened HDR-002 wal_pending");
}

#[test]
fn g17_a_long_wait_is_told_once() {
    let world = World::new();
    let asked = gate("HDR-001").replace("2026-04-08T14:00:00Z", &tests::from_now(-25 * 3600));
    world.scene.replace("state/human-gates/open/HDR-001.json", asked);
    let out = world.run(&["--once", "--warn-after", "24h"]);
    let line = lines(&out.stdout).pop().unwrap();
    assert_eq!(line["event"], "gate_waiting");
    assert!(line["waiting_seconds"].as_u64().unwrap() >= 90_000);
    assert_eq!(line["key"], "gate-waiting:HDR-001");
    assert_eq!(line["question"], "Is it HDR-001?");

    let mut running = Running::start(&mut world.command(&["--warn-after", "24h"]));
    assert_eq!(short(&running.line()), "gate_waiting HDR-001");
    assert!(before_marker(&world, &mut running, "M").is_empty());

    let now = gate("HDR-002").replace("2026-04-08T14:00:00Z", &tests::from_now(0));
    world.scene.replace("state/human-gates/open/HDR-002.json", now);
    let flags = ["--warn-after", "2s", "--poll-interval", "24h"];
    let mut soon = Running::start(&mut world.command(&flags));
    let mut seen = until(&mut soon, "gate_waiting HDR-002");
    seen.sort();
    assert_eq!(seen, ["gate_waiting HDR-001", "gate_waiting HDR-002", "gate_waiting M"]);
}

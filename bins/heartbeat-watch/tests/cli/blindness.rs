//! Files that can't be read, and what is half written.

use std::{
    fs::{self, File},
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    time::Duration,
};

use serde_json::json;
use shared::clock;
use tests::{Running, command, eventually, lines, pause};

use crate::world::{
    EXE, STORE, WAL, World, health, item, recovered, silent_end, store, warned, with_status,
};

#[test]
fn h15_a_store_cut_short_for_a_moment_is_no_event() {
    let world = World::new();
    let near = item("WI-1", 300);
    let whole = store(std::slice::from_ref(&near));
    world.scene.replace(STORE, &whole);
    let mut running = world.start(&[]);
    warned(&mut running, "WI-1", "warning");
    world.scene.write(STORE, &whole[..100]);
    pause(Duration::from_millis(30));
    world.scene.write(STORE, &whole);
    world.commit(&[near, item("marker", 300)]);
    warned(&mut running, "marker", "warning");
    silent_end(running);
}

#[test]
fn h15_a_store_that_stays_broken_is_told_once() {
    let world = World::new();
    let near = [item("WI-1", 300)];
    let whole = store(&near);
    world.commit(&near);
    let mut running = world.start(&[]);
    warned(&mut running, "WI-1", "warning");
    let two = format!("{whole}\n{whole}");
    for broken in ["", &"\0".repeat(4096), &two, r#"{"items":{}}"#, "[]", &whole[..100]] {
        world.scene.write(STORE, broken);
        let line = health(&mut running, "monitor_degraded", "store_invalid");
        let detail = line["detail"].as_str().unwrap();
        assert!(detail.contains("work-items.json: "), "{detail}");
        assert_eq!(line["retry_in_seconds"], 60);
        world.commit(&near);
        health(&mut running, "monitor_recovered", "store_invalid");
    }
    silent_end(running);
}

#[test]
fn h16_a_store_that_is_deleted_hides_its_items() {
    let world = World::new();
    world.commit(&[item("WI-1", -60)]);
    let mut running = world.start(&[]);
    warned(&mut running, "WI-1", "expired");
    world.remove(STORE);
    health(&mut running, "monitor_degraded", "store_missing");
    world.commit(&[with_status("WI-1", "done")]);
    health(&mut running, "monitor_recovered", "store_missing");
    recovered(&mut running, "WI-1", "done");
    silent_end(running);
}

#[test]
fn h17_a_transaction_is_waited_for() {
    let world = World::new();
    let mut running = world.start_ready(&[]);
    world.scene.write(WAL, "{}");
    world.commit(&[item("WI-1", 300)]);
    pause(Duration::from_secs(1));
    assert!(running.so_far().is_empty());
    world.remove(WAL);
    let line = warned(&mut running, "WI-1", "warning");
    assert_eq!(line.get("wal_pending"), None, "{line}");
    silent_end(running);
}

#[test]
fn h17_a_transaction_whose_writer_died_is_waited_for_no_longer_than_five_seconds() {
    let world = World::new();
    world.commit(&[item("WI-1", 300)]);
    world.scene.write(WAL, "{}");
    // Left behind a moment ago: told when it is five seconds old.
    let mut now = world.start(&[]);
    let begun = clock::monotonic();
    assert_eq!(warned(&mut now, "WI-1", "warning")["wal_pending"], true);
    assert!(clock::monotonic() > begun + Duration::from_secs(3));
    silent_end(now);
    // An hour old: told at once.
    let file = File::options().write(true).open(world.scene.join(WAL)).unwrap();
    let written = file.metadata().unwrap().modified().unwrap();
    file.set_modified(written - Duration::from_hours(1)).unwrap();
    let lines = lines(&world.once(&[]).stdout);
    assert_eq!((lines.len(), &lines[0]["wal_pending"]), (1, &json!(true)));
}

#[test]
fn h19_what_is_no_readable_file_is_told_and_never_waited_for() {
    let world = World::new();
    let path = world.scene.join(STORE);
    assert!(command("mkfifo").arg(&path).status().unwrap().success());
    let out = world.once(&[]);
    assert_eq!(out.status.code(), Some(4));
    assert_eq!(lines(&out.stdout)[0]["reason"], "store_unreadable");
    fs::remove_file(&path).unwrap();

    fs::create_dir(&path).unwrap();
    let out = world.once(&[]);
    assert_eq!(
        (out.status.code(), &lines(&out.stdout)[0]["reason"]),
        (Some(4), &json!("store_unreadable"))
    );
    fs::remove_dir(&path).unwrap();

    File::create(&path).unwrap().set_len((64 << 20) + 1).unwrap();
    let line = &lines(&world.once(&[]).stdout)[0];
    assert!(line["detail"].as_str().unwrap().ends_with("larger than 64 MiB"), "{line}");
    fs::remove_file(&path).unwrap();

    world.commit(&[item("WI-1", 300)]);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let mut nobody = command(world.scene.copy_of(EXE));
    nobody.current_dir(world.scene.path()).args(["--state-dir", "state"]).uid(65534).gid(65534);
    let mut running = Running::start(&mut nobody);
    let line = health(&mut running, "monitor_degraded", "store_unreadable");
    assert!(line["detail"].as_str().unwrap().contains("Permission denied"), "{line}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    health(&mut running, "monitor_recovered", "store_unreadable");
    warned(&mut running, "WI-1", "warning");
    silent_end(running);
}

#[test]
fn h19_a_symbolic_link_is_followed_and_its_target_looked_at_by_the_sweep() {
    let world = World::new();
    world.scene.replace("real.json", store(&[item("WI-1", 300)]));
    std::os::unix::fs::symlink("../real.json", world.scene.join(STORE)).unwrap();
    let mut running = world.start(&["--poll-interval", "0.2"]);
    warned(&mut running, "WI-1", "warning");
    world.scene.replace("real.json", store(&[item("WI-1", 3600)]));
    recovered(&mut running, "WI-1", "renewed");
    silent_end(running);
}

#[test]
fn depth_size_and_odd_bytes_are_no_trouble() {
    let world = World::new();
    let lease = tests::from_now(300);
    let deep = format!("{}{}", "[".repeat(300_000), "]".repeat(300_000));
    let mut text = format!(
        "\u{feff}{{\"deep\":{deep},\"n\":1e999,\"items\":[{{\"id\":\"A\",\"deep\":{deep},\"status\":\"implementing\",\
         \"lease_expires_at\":\"{lease}\",\"owner_session_id\":\""
    )
    .into_bytes();
    text.extend(b"s\xff1\"}]}\r\n");
    world.scene.replace(STORE, text);
    let out = world.once(&[]);
    let line = &lines(&out.stdout)[0];
    assert_eq!((out.status.code(), &line["owner_session_id"]), (Some(0), &json!("s\u{fffd}1")));
}

#[test]
fn many_changes_at_once_cost_no_line() {
    let world = World::new();
    let mut running = world.start_ready(&[]);
    for n in 0..2000 {
        world.scene.write(&format!("state/other-{}", n % 7), "x");
        if n % 20 == 0 {
            world.commit(&[item("WI-1", if n % 40 == 0 { 300 } else { 3600 })]);
        }
    }
    world.commit(&[item("WI-1", 3600), item("marker", 300)]);
    // Whatever was seen in between, warnings and recoveries alternate, and the end is right.
    let mut raised = false;
    loop {
        let line = running.line();
        if line["work_item_id"] == "marker" {
            break;
        }
        assert_eq!(line["event"] == "heartbeat_warning", !raised, "{line}");
        raised = !raised;
    }
    assert!(!raised);
    silent_end(running);
}

#[test]
fn idle_it_sleeps() {
    let world = World::new();
    world.commit(&[item("WI-1", 3600)]);
    let running = world.start_ready(&[]);
    let ticks = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", running.pid())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let switches = || {
        let status = fs::read_to_string(format!("/proc/{}/status", running.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    eventually("it settles", || {
        let before = switches();
        pause(Duration::from_millis(300));
        switches() == before
    });
    let before = (ticks(), switches());
    pause(Duration::from_secs(2));
    assert_eq!((ticks(), switches()), before);
    silent_end(running);
}

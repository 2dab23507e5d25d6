//! How it runs and ends, and what it never does.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use serde_json::json;
use tests::{command, eventually, lines};

use crate::world::{
    EXE, STORE, WAL, World, health, item, ready, recovered, stderr, warned, with_lease, with_status,
};

#[test]
fn h22_bad_values_exit_1_and_name_the_range() {
    let world = World::new();
    for value in ["0", "-1", "abc", "1e99", "", "NaN", "0.04", "86401", "inf"] {
        let out = world.once(&[&format!("--poll-interval={value}")]);
        let text = stderr(&out);
        assert_eq!((out.status.code(), &*out.stdout), (Some(1), &b""[..]), "{value:?}: {text}");
        assert!(value.is_empty() || text.contains("0.05 to 86400 seconds"), "{value:?}: {text}");
        assert!(text.starts_with("heartbeat-watch: fatal: unable to "), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    for (args, range) in [
        (&["--warn-before", "721h"][..], "1 to 2592000 seconds"),
        (&["--warn-before", "x"], "1 to 2592000 seconds"),
        (&["--warn-before", "0.5"], "1 to 2592000 seconds"),
        (&["--grace", "86401"], "to 86400 seconds"),
        (&["--grace", "-1"], ""),
        (&["--emit", "x"], "events, readings"),
        (&["--state-dir", ""], ""),
        (&["--state-dir=-x"], "hyphen"),
        (&["--cursor="], ""),
        (&["--cursor", "--once"], ""),
        (&["--source", "a b"], "letters"),
        (&["--parent-pid", "x"], ""),
        (&["state"], ""),
        (&["--unknown"], ""),
        (&["--once", "--wait", "1"], ""),
    ] {
        let out = world.program(args).output().unwrap();
        assert_eq!(
            (out.status.code(), &*out.stdout),
            (Some(1), &b""[..]),
            "{args:?}: {}",
            stderr(&out)
        );
        assert!(stderr(&out).contains(range), "{args:?}: {}", stderr(&out));
    }
    for value in ["1.5", "08", "2m", "0.05", "24h"] {
        assert_eq!(
            world.once(&["--poll-interval", "0", "--interval", value]).status.code(),
            Some(1)
        );
        assert_eq!(
            world.once(&["--interval", "7", "--poll-interval", value]).status.code(),
            Some(0)
        );
    }
}

#[test]
fn help_is_on_stdout_and_names_every_flag() {
    for flag in ["-h", "--help"] {
        let out = command(EXE).arg(flag).output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        assert_eq!((out.status.code(), &*out.stderr), (Some(0), &b""[..]));
        assert!(text.contains("--warn-before <D>") && text.contains("--no-recovered"), "{text}");
    }
}

#[test]
fn h23_nothing_is_written_below_the_state_folder_and_nothing_is_started() {
    let world = World::new();
    let trace = world.scene.join("trace");
    let mut strace = command("strace");
    // Detached, so that the pid that is known is the program's.
    strace.args(["-D", "-f", "-q", "-o"]).arg(&trace);
    strace.args(["-e", "trace=%file,%process,ftruncate,fchmod,fchown,futimesat,flock,fcntl"]);
    strace.arg(EXE).args([
        "--state-dir",
        "state",
        "--cursor",
        "own/cursor",
        "--poll-interval",
        "1",
    ]);
    let mut running = ready(&world.scene, strace.current_dir(world.scene.path()));

    world.commit(&[item("A", 1), with_lease("B", json!("tomorrow")), json!(7)]);
    let before = world.scene.tree();
    warned(&mut running, "A", "warning");
    running.event("heartbeat_invalid");
    running.event("heartbeat_invalid");
    warned(&mut running, "A", "expired");
    let watched = |tree: Vec<String>| -> Vec<String> {
        tree.into_iter().filter(|line| line.contains("/state")).collect()
    };
    assert_eq!(watched(world.scene.tree()), watched(before));
    world.scene.write(WAL, "{}");
    world.commit(&[with_status("A", "done")]);
    world.remove(WAL);
    recovered(&mut running, "B", "removed");
    recovered(&mut running, "A", "done");
    world.scene.write(STORE, "");
    health(&mut running, "monitor_degraded", "store_invalid");
    world.remove(STORE);
    health(&mut running, "monitor_degraded", "store_missing");
    world.commit(&[]);
    health(&mut running, "monitor_recovered", "store_missing");
    health(&mut running, "monitor_recovered", "store_invalid");
    assert_eq!(running.stop().code, Some(0));

    let mut text = String::new();
    eventually("the trace is complete", || {
        text = fs::read_to_string(&trace).unwrap_or_default();
        text.contains("+++ exited with 0 +++")
    });
    let started = |line: &&str| {
        line.contains("execve(")
            || line.contains("fork(")
            || line.contains("clone") && !line.contains("CLONE_THREAD")
    };
    // The one execve is its own.
    assert_eq!(text.lines().filter(started).count(), 1, "{text}");
    let below = format!("{}/state/", world.scene.path().display());
    let touched: Vec<&str> = text.lines().filter(|line| line.contains(&below)).collect();
    assert!(!touched.is_empty());
    let reading = |line: &&&str| {
        line.contains("stat")
            || line.contains("inotify")
            || line.contains("readlink")
            || line.contains("openat(") && line.contains("O_RDONLY") && !line.contains("O_CREAT")
    };
    let others: Vec<&&str> = touched.iter().filter(|line| !reading(line)).collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn wait_ends_with_the_first_event_or_with_3() {
    let world = World::new();
    let out = world.program(&["--wait", "0.3"]).output().unwrap();
    assert_eq!((out.status.code(), &*out.stdout), (Some(3), &b""[..]));
    world.commit(&[item("WI-1", -60), item("WI-2", 300)]);
    let out = world.program(&["--wait", "20"]).output().unwrap();
    assert_eq!((out.status.code(), lines(&out.stdout).len()), (Some(0), 2));
    // Health doesn't count.
    fs::remove_dir_all(world.scene.join("state")).unwrap();
    world.scene.write("state", "");
    let out = world.program(&["--wait", "0.3"]).output().unwrap();
    assert_eq!(out.status.code(), Some(3));
}

#[test]
fn announced_it_says_what_it_does_not_cover() {
    let world = World::new();
    let mut running = world.start(&["--announce", "--source", "leases"]);
    let line = running.event("monitor_armed");
    assert_eq!(
        line["not_covered"],
        json!([
            "items that are not implementing",
            "an owner that renews and does no work",
            "writers with wrong clocks"
        ])
    );
    assert_eq!(line["source"], "leases");
    assert_eq!(line["watching"], format!("{}/state", world.scene.path().display()));
    let ended = running.stop();
    assert_eq!((ended.code, &ended.lines[0]["event"]), (Some(0), &json!("monitor_stopped")));
}

#[test]
fn every_line_has_its_keys_in_order_and_the_source_does_not_change_the_id() {
    let world = World::new();
    world.commit(&[item("WI-1", -60)]);
    let plain = world.once(&[]).stdout;
    let named = world.once(&["--source", "lease"]).stdout;
    assert_eq!(lines(&plain)[0]["id"], lines(&named)[0]["id"]);
    let text = String::from_utf8(plain).unwrap();
    let keys: Vec<&str> = text.split('"').skip(1).step_by(2).collect();
    let order = [
        "event",
        "timestamp",
        "source",
        "work_item_id",
        "lease_expires_at",
        "remaining_seconds",
        "severity",
        "owner_session_id",
        "store_revision",
        "key",
        "condition",
        "id",
    ];
    let places: Vec<_> = order.iter().map(|key| keys.iter().position(|have| have == key)).collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{text}");
}

#[test]
fn a_thousand_items_are_read_in_little_memory() {
    let world = World::new();
    let items: Vec<_> = (0..1000)
        .map(|n| {
            let mut item = item(&format!("WI-{n:04}"), if n % 20 == 0 { 300 } else { 3600 });
            item["notes"] = json!("x".repeat(1200));
            item
        })
        .collect();
    world.commit(&items);
    let mut running = ready(&world.scene, &mut world.program(&[]));
    for n in 0..50 {
        warned(&mut running, &format!("WI-{:04}", n * 20), "warning");
    }
    let status = fs::read_to_string(format!("/proc/{}/status", running.pid())).unwrap();
    let peak = status.lines().find(|line| line.starts_with("RssAnon")).unwrap();
    let kib: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kib < 1400, "the store must not be in memory as a whole: {peak}");
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn a_reader_that_pauses_gets_every_line() {
    let world = World::new();
    let items: Vec<_> = (0..3000).map(|n| item(&format!("WI-{n}"), -60)).collect();
    world.commit(&items);
    let out = command("sh")
        .args(["-c", r#""$0" --state-dir state --once | (sleep 0.5; cat)"#])
        .arg(world.scene.copy_of(EXE))
        .current_dir(world.scene.path())
        .output()
        .unwrap();
    assert_eq!(lines(&out.stdout).len(), 3000);
}

#[test]
fn xx_01_a_reader_that_has_seen_enough_ends_it_in_silence() {
    let world = World::new();
    let items: Vec<_> = (0..10_000).map(|n| item(&format!("WI-{n}"), -60)).collect();
    world.commit(&items);
    let mut program = world.program(&[]);
    let mut child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(lines(first.as_bytes())[0]["work_item_id"], "WI-0");
    eventually("it ends", || child.try_wait().unwrap().is_some());
    let out = child.wait_with_output().unwrap();
    assert_eq!((out.status.code(), stderr(&out)), (Some(0), String::new()));
}

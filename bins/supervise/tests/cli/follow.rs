//! Following: every line once, whole, across rotation.

use std::{fs, process::Stdio};

use serde_json::Value;
use tests::{Running, eventually};

use crate::scene::{LASTING, Store, kill, number};

#[test]
fn a_run_is_replayed_from_its_first_line_and_then_streamed() {
    let store = Store::new();
    let script = "echo '{\"event\":\"a\"}'; until [ -e go ]; do sleep 0.01; done; echo '{\"event\":\"b\"}'; sleep 1000";
    store.start("gate", &["sh", "-c", script]);
    let mut first = store.start_running(&["follow", "gate"]);
    first.event("a");
    let mut new = Running::ready(&store.scene, &mut store.supervise(&["follow", "gate", "--new"]));
    store.scene.write("world/go", "");
    first.event("b");
    new.event("b");
    store.done(&["stop", "gate"]);
    assert_eq!((first.end().code, new.end().code), (Some(0), Some(0)));

    // Another run begins behind the lines of this one.
    store.start("gate", &["sh", "-c", "echo '{\"event\":\"c\"}'; sleep 1000"]);
    let mut again = store.start_running(&["follow", "all"]);
    again.event("c");
    assert_eq!(again.stop().code, Some(0));
}

#[test]
fn a_killed_keeper_is_told_by_who_follows() {
    let store = Store::new();
    store.start("gate", LASTING);
    let mut follow = store.start_running(&["follow", "gate"]);
    let record: Value =
        serde_json::from_slice(&fs::read(store.home("gate").record()).unwrap()).unwrap();
    kill(number(&record["keeper"]["pid"]));
    let failed = follow.event("monitor_failed");
    assert_eq!((&failed["source"], &failed["reason"]), (&"gate".into(), &"keeper_lost".into()));
    assert_eq!(follow.end().code, Some(0));
}

/// 30,000 lines as fast as they come, the log rotated under a follower and two who check.
#[test]
fn no_line_is_lost_or_doubled_by_rotation() {
    let store = Store::new();
    let script = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); echo \"{\\\"event\\\":\\\"x\\\",\\\"n\\\":$i}\"; done; sleep 1000";
    store.done(&["start", "gate", "--ready=alive", "--log-max=400K", "--", "sh", "-c", script]);
    let mut follow = store.supervise(&["follow", "gate"]);
    let mut follow = Running::start(&mut follow);
    let mut checked = [Vec::new(), Vec::new()];
    let mut check = |store: &Store, at: usize| {
        let reader = format!("--reader=r{at}");
        let report = store.done(&["check", &reader]);
        for line in
            report["info"].as_array().unwrap().iter().chain(report["warning"].as_array().unwrap())
        {
            assert_eq!(line["event"], "x", "{line}");
            checked[at].push(number(&line["n"]));
        }
        checked[at].len()
    };
    let mut n = 0;
    while n < 30_000 {
        let line = follow.event("x");
        n += 1;
        assert_eq!(number(&line["n"]), n);
        if n % 5000 == 0 {
            check(&store, 0);
            check(&store, 1);
        }
    }
    assert!(store.home("gate").old_log().exists());
    for at in [0, 1] {
        eventually("the rest is reported", || check(&store, at) >= 30_000);
    }
    for seen in checked {
        assert!(seen.iter().copied().eq(1..=30_000), "{} lines", seen.len());
    }
    drop(follow);
}

#[test]
fn a_reader_far_behind_is_told_what_it_missed() {
    let store = Store::new();
    let script = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo \"{\\\"event\\\":\\\"x\\\",\\\"n\\\":$i}\"; done; touch done; sleep 1000";
    store.done(&["start", "gate", "--ready=alive", "--log-max=8K", "--", "sh", "-c", script]);
    eventually("all is printed", || number(&store.status("gate")["lines"]) == 3000);
    let mut follow = store.start_running(&["follow", "gate"]);
    let gap = follow.event("log_gap");
    assert_eq!((&gap["monitor"], &gap["condition"]), (&"gate".into(), &"once".into()));
    let mut n = number(&follow.event("x")["n"]);
    assert!(number(&gap["lost_bytes"]) > 0 && n > 1);
    while n < 3000 {
        n += 1;
        assert_eq!(number(&follow.event("x")["n"]), n);
    }
}

#[test]
fn a_reader_that_leaves_ends_it() {
    let store = Store::new();
    store.start("gate", LASTING);
    let mut follow = store.supervise(&["follow", "gate"]);
    let mut child = follow.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_line_that_is_too_long_is_counted() {
    let store = Store::new();
    let script =
        "head -c 2000000 /dev/zero | tr '\\0' x; echo; echo '{\"event\":\"x\"}'; sleep 1000";
    store.start("gate", &["sh", "-c", script]);
    let mut follow = store.start_running(&["follow", "gate"]);
    follow.event("x");
    eventually("it is counted", || store.status("gate")["lines_dropped"] == 1);
}

#[test]
fn the_table_is_for_a_person() {
    let store = Store::new();
    let empty = store.run(&["status", "--table"]);
    assert!(String::from_utf8(empty.stdout).unwrap().ends_with("no monitors here\n"));
    store.start("gate", LASTING);
    let out = store.run(&["status", "--table"]);
    let text = String::from_utf8(out.stdout).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|row| row.split_whitespace().collect()).collect();
    assert_eq!((rows[0][0], rows[1][0], rows[1][1]), ("NAME", "gate", "running"));
    let mut watch = Running::start(&mut store.supervise(&["status", "--table", "--watch"]));
    for _ in 0..2 {
        while !watch.raw().contains("\x1b[H\x1b[JNAME") {}
    }
    watch.signal(nix::sys::signal::Signal::SIGINT);
}

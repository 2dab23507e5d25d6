//! The page's table against the real program, with short windows: what a row tells, and that it
//! tells nothing else. Where a row needs that something comes before a window is over, the window
//! is long, so that a busy machine changes nothing.

use std::{
    io::Write as _,
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tests::{eventually, pause};

use crate::{
    cli::stage::{Stage, keep_writing, killed, writer},
    *,
};

#[test]
fn a_renamed_result_is_ready_at_once_and_its_going_is_told() {
    let mut stage = Stage::new(&["--settle=1h"]);
    let _agent = stage.busy(",\"timeout_sec\":1200");
    stage.renamed();
    stage.says(&["result_ready settled=rename"]);
    fs::remove_file(stage.scene.join("a.md")).unwrap();
    stage.says(&["result_removed"]);
    stage.ends();
}

#[test]
fn a_result_written_in_place_is_ready_after_its_close() {
    for rest in [0, 400] {
        let mut stage = Stage::new(&["--settle=1h", "--settle-open=1h"]);
        let _agent = stage.busy("");
        let mut file = stage.result();
        file.write_all(b"one\n").unwrap();
        pause(Duration::from_millis(rest));
        file.write_all(b"two\n").unwrap();
        drop(file);
        let ready = next(&mut stage.watch, "result_ready");
        assert_eq!((&ready["settled"], &ready["size"]), (&"close".into(), &8.into()));
        stage.ends();
    }
}

#[test]
fn without_inotify_a_result_is_ready_once_it_is_quiet() {
    let mut stage = Stage::polling(&["--settle=1"]);
    let _agent = stage.busy("");
    let stop = AtomicBool::new(false);
    let path = stage.scene.join("a.md");
    let size = std::thread::scope(|scope| {
        let writer = scope.spawn(|| keep_writing(&path, &stop));
        pause(Duration::from_millis(1300));
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    let ready = next(&mut stage.watch, "result_ready");
    assert_eq!((&ready["settled"], ready["size"].as_u64()), (&"quiet".into(), Some(size)));
    stage.ends();
}

#[test]
fn a_stream_that_is_never_closed_waits_longer() {
    let mut stage = Stage::new(&["--settle=0.001", "--settle-open=0.3"]);
    let _agent = stage.busy("");
    let mut file = stage.result();
    file.write_all(b"more\n").unwrap();
    stage.says(&["result_ready settled=quiet"]);
    stage.ends();
    let mut stage = Stage::new(&["--settle=0.001", "--settle-open=1h"]);
    let _agent = stage.busy("");
    let mut file = stage.result();
    file.write_all(b"more\n").unwrap();
    pause(Duration::from_millis(300));
    stage.ends();
}

#[test]
fn an_empty_result_is_none_until_it_is_filled() {
    let mut stage = Stage::polling(&[]);
    let _agent = stage.busy("");
    stage.scene.write("a.md", "");
    pause(Duration::from_millis(400));
    stage.scene.write("a.md", "done\n");
    stage.says(&["result_ready settled=quiet"]);
    stage.ends();
}

#[test]
fn a_redirect_is_progress_once() {
    let mut stage = Stage::new(&["--idle-stall=0.4"]);
    let agent = Agent::start(&stage.scene, "a");
    stage.register(&pid_file(&stage.scene, "a"));
    drop(stage.result());
    stage.says(&["stalled episode=1 evidence=files"]);
    agent.end();
    stage.says(&["recovered by=exit episode=1", &killed("empty")]);
    stage.ends();
}

#[test]
fn silence_is_a_stall_until_a_result() {
    let mut stage = Stage::new(&["--idle-stall=0.3"]);
    let _agent = stage.busy("");
    stage.says(&["stalled episode=1 evidence=files"]);
    stage.renamed();
    stage.says(&["recovered by=result episode=1", "result_ready settled=rename"]);
    stage.ends();
}

#[test]
fn progress_ends_a_stall_and_silence_begins_another() {
    // No sweep comes: what moves after a stall is watched at once.
    let mut stage = Stage::new(&["--idle-stall=0.3"]);
    let _agent = stage.busy("");
    stage.says(&["stalled episode=1 evidence=files"]);
    stage.scene.append("log", "y");
    stage.says(&["recovered by=progress episode=1", "stalled episode=2 evidence=files"]);
    stage.scene.append("items", "{\"op\":\"unregister\",\"agent\":\"a\",\"step\":\"5\"}\n");
    stage.says(&["recovered by=removed episode=2", "item_removed reason=unregister"]);
}

#[test]
fn an_exit_ends_a_stall() {
    let mut stage = Stage::new(&["--idle-stall=0.3"]);
    let agent = stage.busy("");
    stage.says(&["stalled episode=1 evidence=files"]);
    agent.end();
    stage.says(&["recovered by=exit episode=1", &killed("absent")]);
    stage.ends();
}

#[test]
fn a_stall_without_evidence_comes_once() {
    let mut stage = Stage::new(&["--idle-stall=0.2"]);
    let _agent = Agent::start(&stage.scene, "a");
    stage.register(&pid_file(&stage.scene, "a"));
    stage.says(&["stalled episode=1 evidence=none"]);
    pause(Duration::from_millis(500));
    stage.scene.append("items", "{\"op\":\"unregister\",\"agent\":\"a\",\"step\":\"5\"}\n");
    stage.says(&["recovered by=removed episode=1", "item_removed reason=unregister"]);
}

#[test]
fn after_an_exit_no_time_runs_out() {
    let mut stage = Stage::new(&[]);
    let mut sh = command("sh");
    let mut agent =
        Agent::of(&stage.scene, "a", sh.args(["-c", "read -r end; exit 3"]).stdin(Stdio::piped()));
    stage.register(&(stage.evidence() + ",\"timeout_sec\":2"));
    drop(agent.stdin.take());
    agent.wait().unwrap();
    let died = stage.watch.event("process_died");
    assert_eq!(died["result"], "absent");
    if shared::pidfile::has_status() {
        assert_eq!(died["exit_code"], 3);
    }
    // The limit passes.
    pause(Duration::from_millis(2200));
    stage.ends();
}

#[test]
fn a_result_within_the_grace_is_no_death() {
    let mut stage = Stage::new(&["--death-grace=30"]);
    let agent = stage.busy("");
    agent.end();
    pause(Duration::from_millis(100));
    stage.renamed();
    stage.says(&["result_ready settled=rename"]);
    stage.ends();
}

#[test]
fn a_result_after_a_death_counts() {
    let mut stage = Stage::new(&[]);
    let agent = stage.busy("");
    agent.end();
    stage.says(&[&killed("absent")]);
    stage.renamed();
    stage.says(&["result_ready settled=rename after_death=true"]);
    stage.ends();
}

#[test]
fn what_an_exit_closes_depends_on_how_it_ended() {
    let known = shared::pidfile::has_status();
    let mut stage = Stage::new(&["--settle=0.3", "--death-grace=0.3", "--settle-open=1h"]);
    let agent = writer(&mut stage, "exit 0");
    agent.end();
    let torn = if known { killed("partial") } else { "result_ready settled=exit".to_owned() };
    stage.says(&[&torn]);
    stage.ends();

    let settle = if known { "--settle=1h" } else { "--settle=0.3" };
    let mut stage = Stage::new(&[settle, "--death-grace=30", "--settle-open=1h"]);
    let mut agent = writer(&mut stage, "exit 0");
    drop(agent.stdin.take());
    agent.wait().unwrap();
    stage.says(&["result_ready settled=exit"]);
    stage.ends();

    // Nobody has reaped it, so that its status isn't known.
    let mut stage = Stage::new(&["--settle=0.3", "--death-grace=30", "--settle-open=1h"]);
    let mut agent = writer(&mut stage, "exit 0");
    drop(agent.stdin.take());
    stage.says(&["result_ready settled=exit"]);
    agent.wait().unwrap();
    stage.ends();
}

#[test]
fn another_process_may_write_on_after_the_death() {
    let mut stage = Stage::polling(&["--settle=1"]);
    let mut agent = stage.busy("");
    let (stop, path) = (AtomicBool::new(false), stage.scene.join("a.md"));
    std::thread::scope(|scope| {
        scope.spawn(|| keep_writing(&path, &stop));
        eventually("it writes", || path.metadata().is_ok_and(|meta| meta.len() > 0));
        agent.kill().unwrap();
        let died = next(&mut stage.watch, "process_died");
        assert_eq!(died["result"], "partial");
        stop.store(true, Ordering::Relaxed);
    });
    stage.says(&["result_ready settled=quiet after_death=true"]);
    stage.ends();
}

#[test]
fn a_pid_file_rewritten_after_a_death_is_a_new_process() {
    let mut stage = Stage::new(&[]);
    let agent = stage.busy("");
    let old = agent.id();
    agent.end();
    stage.says(&[&killed("absent")]);
    let agent = Agent::start(&stage.scene, "a");
    let replaced = stage.watch.event("process_replaced");
    assert_eq!((&replaced["pid"], &replaced["previous_pid"]), (&agent.id().into(), &old.into()));
    agent.end();
    stage.says(&[&killed("absent")]);
    stage.ends();
}

#[test]
fn a_pid_file_that_never_comes_stops_no_clock() {
    let mut stage = Stage::new(&["--margin=50"]);
    stage.register(&(pid_file(&stage.scene, "a") + ",\"timeout_sec\":2"));
    stage.says(&["item_degraded reason=pid_file_missing", "timeout_imminent", "timeout_exceeded"]);
    stage.renamed();
    let restored = "item_restored reason=pid_file_missing by=end";
    stage.says(&[restored, "result_ready settled=rename"]);
    stage.ends();
}

#[test]
fn a_late_registration_knows_what_has_passed() {
    let mut stage = Stage::new(&["--margin=50"]);
    let started = |before: f64, limit: f64| {
        format!(",\"started_at_epoch\":{:.3},\"timeout_sec\":{limit}", epoch(before))
    };
    let _agent = stage.busy(&started(1300.0, 1200.0));
    stage.says(&["timeout_exceeded"]);
    stage.ends();
    let mut stage = Stage::new(&["--margin=50"]);
    let _agent = stage.busy(&started(1100.0, 1103.0));
    stage.says(&["timeout_imminent", "timeout_exceeded"]);
    stage.ends();
    let mut stage = Stage::new(&[]);
    age(&stage.scene, "log", 300);
    let _agent = stage.busy(&started(400.0, 1200.0));
    let stalled = stage.watch.event("stalled");
    assert!((300..400).contains(&stalled["idle_sec"].as_i64().unwrap()), "{stalled}");
}

#[test]
fn what_was_there_before_is_no_result() {
    let mut stage = Stage::new(&[]);
    stage.scene.write("a.md", "old");
    age(&stage.scene, "a.md", 3600);
    let _agent = stage.busy("");
    stage.says(&["result_stale"]);
    assert!(command("chmod").arg("600").arg(stage.scene.join("a.md")).status().unwrap().success());
    stage.renamed();
    stage.says(&["result_ready settled=rename"]);
    stage.ends();
}

#[test]
fn a_limit_that_is_also_the_silence_is_told_as_both() {
    let mut stage = Stage::new(&["--margin=10", "--idle-stall=2"]);
    age(&stage.scene, "log", 60);
    let _agent = stage.busy(&format!(",\"started_at_epoch\":{:.6},\"timeout_sec\":2", epoch(0.0)));
    stage.says(&["timeout_imminent", "stalled episode=1 evidence=files", "timeout_exceeded"]);
    stage.renamed();
    stage.says(&["recovered by=result episode=1", "result_ready settled=rename"]);
    stage.ends();
}

#[test]
fn progress_without_a_limit_says_nothing() {
    let mut stage = Stage::new(&["--idle-stall=1.5"]);
    let _agent = stage.busy("");
    for _ in 0..100 {
        stage.scene.append("log", "y");
        pause(Duration::from_millis(25));
    }
    stage.ends();
}

#[test]
fn a_watch_that_stood_still_says_so_and_counts_anew() {
    let mut stage = Stage::new(&["--poll-interval=0.1", "--idle-stall=1h"]);
    let _agent = stage.busy("");
    stage.watch.freeze();
    pause(Duration::from_millis(1500));
    stage.watch.thaw();
    let mut gap = stage.watch.event("clock_gap");
    while gap["gap_sec"] == 0 {
        gap = stage.watch.event("clock_gap");
    }
    assert_eq!((&gap["suspended_sec"], &gap["key"]), (&0.into(), &"clock".into()));
    stage.ends();
}

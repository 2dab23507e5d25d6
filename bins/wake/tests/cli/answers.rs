//! Lines that are acknowledged.

use std::process::Output;

use serde_json::{Value, json};
use tests::{Ended, Running, Scene, command, eventually};

use super::support::{EXE, feed, keys, look, say, state, wake, words};

fn answer(claim: &Value, more: &Value) -> String {
    let mut line = json!({"ack": "wake", "claim": claim});
    if let (Some(line), Value::Object(more)) = (line.as_object_mut(), more) {
        line.extend(more.clone());
    }
    format!("{line}\n")
}

fn result(claim: &Value, word: &str) -> String {
    answer(claim, &json!({"result": word}))
}

/// A watch whose lines are acknowledged in `acks`.
fn acked(scene: &Scene, more: &[&str]) -> Running {
    let acks = scene.join("acks").display().to_string();
    let args = [&["--watch=w", "--acks", &acks, "--busy-retry=0.3"], more].concat();
    Running::ready(scene, &mut wake(scene, &args))
}

fn ack(scene: &Scene, args: &[&str]) -> Output {
    let mut program = command(EXE);
    program.arg("ack").args(args).env("DOORBELL_STORE", scene.join("store"));
    program.output().unwrap()
}

#[test]
fn a1_one_claim_is_in_flight() {
    let scene = Scene::new();
    let mut running = acked(&scene, &["--group-interval=0"]);
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &[keys("s", &["a"])]);
    let first = running.event("wake");
    say(&mut stdin, &[keys("s", &["a", "b"]), keys("t", &["c"])]);
    eventually("the lines are judged", || state(&scene, "w")["counters"]["lines"] == 3);
    assert!(running.so_far().is_empty());
    scene.append("acks", result(&first["claim"], "completed"));
    let second = running.event("wake");
    assert_eq!((&second["reason"], &second["subjects"]), (&"folded".into(), &2.into()));
    assert_ne!(second["claim"], first["claim"]);
}

#[test]
fn a2_a_busy_reader_gets_the_same_line_again_without_a_second_charge() {
    let scene = Scene::new();
    let mut running = acked(&scene, &[]);
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &[keys("s", &["k"])]);
    let first = running.raw();
    let line: Value = serde_json::from_str(&first).unwrap();
    scene.append("acks", result(&line["claim"], "busy"));
    // No input: the timer fires.
    assert_eq!(running.raw(), first);
    eventually("the line is done with", || state(&scene, "w")["emitting"].is_null());
    assert_eq!(state(&scene, "w")["spent"]["wakes"], 1);
}

#[test]
fn a4_a_claim_that_nobody_confirms_is_told_anew() {
    let scene = Scene::new();
    let mut running = acked(&scene, &["--ack-timeout=0.3"]);
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &[keys("s", &["k"])]);
    let first = running.event("wake");
    let second = running.event("wake");
    assert_eq!(second["reason"], "unconfirmed");
    assert_ne!(first["claim"], second["claim"]);
    let known = super::support::history(&scene, "w");
    let lost = known.iter().find(|note| note["what"] == "unconfirmed").unwrap();
    assert_eq!(lost["claim"], first["claim"]);
}

#[test]
fn a5_a_reader_that_is_gone_ends_the_watch() {
    let scene = Scene::new();
    let mut running = acked(&scene, &[]);
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &[keys("s", &["k"])]);
    let first = running.event("wake");
    scene.append("acks", result(&first["claim"], "unavailable"));
    let last = running.raw();
    let line: Value = serde_json::from_str(&last).unwrap();
    let verdict = (&line["decision"], &line["reason"], &line["ends"]);
    assert_eq!(verdict, (&"stop_blocked".into(), &"reader_unavailable".into(), &"watch".into()));
    assert_eq!(running.end().code, Some(0));
    let mut again = Running::start(&mut wake(&scene, &["--watch=w"]));
    let _stdin = again.stdin().unwrap();
    assert_eq!(again.raw(), last);
    assert_eq!(again.end().code, Some(0));
}

#[test]
fn a6_tokens_count_once() {
    let scene = Scene::new();
    let mut running = acked(&scene, &[]);
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &[keys("s", &["k"])]);
    let first = running.event("wake");
    let spent = json!({"result": "completed", "tokens_in": 7, "tokens_out": 2});
    let done = answer(&first["claim"], &spent);
    scene.append("acks", format!("{done}{done}"));
    say(&mut stdin, &[keys("t", &["k"])]);
    let second = running.event("wake");
    scene.append("acks", result(&second["claim"], "dispatched"));
    eventually("the last is read", || state(&scene, "w")["in_flight"]["stage"] == "dispatched");
    let spent = &state(&scene, "w")["spent"];
    assert_eq!((&spent["tokens_in"], &spent["tokens_out"]), (&7.into(), &2.into()));
    assert_eq!(spent["tokens_known"], true);
}

#[test]
fn a7_tokens_that_are_not_told_are_not_known() {
    let scene = Scene::new();
    let mut running = acked(&scene, &[]);
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &[keys("s", &["k"])]);
    let first = running.event("wake");
    scene.append("acks", result(&first["claim"], "completed"));
    eventually("the answer is booked", || state(&scene, "w")["spent"]["tokens_known"] == false);
}

/// A watch that was stopped with a line in flight: the line, and its claim.
fn interrupted(scene: &Scene) -> (String, Value) {
    let mut running = acked(scene, &[]);
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &[keys("s", &["k"])]);
    let line = running.raw();
    let claim = serde_json::from_str::<Value>(&line).unwrap()["claim"].clone();
    let Ended { code, lines, .. } = running.stop();
    assert_eq!((code, lines.len()), (Some(0), 0));
    (line, claim)
}

#[test]
fn a8_a_signal_keeps_what_is_in_flight() {
    let scene = Scene::new();
    let (_, claim) = interrupted(&scene);
    assert_eq!(state(&scene, "w")["in_flight"]["claim"], claim);
}

#[test]
fn a9_what_became_due_while_nobody_watched_comes_at_once() {
    let scene = Scene::new();
    let (line, claim) = interrupted(&scene);
    let mut known = state(&scene, "w");
    known["in_flight"]["stage"] = "busy".into();
    known["in_flight"]["resend_ms"] = 1.into();
    known["in_flight"]["deadline_ms"] = Value::Null;
    scene.write("store/wake/w/state.json", known.to_string());
    let mut again = acked(&scene, &["--busy-retry=1000"]);
    let _stdin = again.stdin().unwrap();
    assert_eq!(again.raw(), line);
    assert_eq!(again.stop().code, Some(0));
    assert_eq!(state(&scene, "w")["in_flight"]["claim"], claim);
}

#[test]
fn an_answer_that_came_while_nobody_watched_counts() {
    let scene = Scene::new();
    let (line, claim) = interrupted(&scene);
    scene.append("acks", result(&claim, "busy"));
    let mut again = acked(&scene, &[]);
    let _stdin = again.stdin().unwrap();
    assert_eq!(again.raw(), line);
    assert_eq!(again.stop().code, Some(0));
}

#[test]
fn a10_an_unknown_claim_is_ignored_with_one_warning() {
    let scene = Scene::new();
    let mut running = acked(&scene, &[]);
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &[keys("s", &["k"])]);
    let first = running.event("wake");
    let unknown = result(&"0123456789abcdef".into(), "unavailable");
    scene.append("acks", format!("{unknown}{unknown}{}", result(&first["claim"], "dispatched")));
    eventually("the last is read", || state(&scene, "w")["in_flight"]["stage"] == "dispatched");
    let ended = running.stop();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 0));
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);

    let out = ack(&scene, &["--watch=w", "--claim=0123456789abcdef", "--result=busy"]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(3), 0));
    let out = ack(&scene, &["--watch=none", "--claim=0123456789abcdef", "--result=busy"]);
    assert_eq!(out.status.code(), Some(3));
}

#[test]
fn a11_the_file_is_shared_with_others() {
    let scene = Scene::new();
    scene.write("acks", "{\"ack\":\"stalled\",\"agent\":\"a\"}\nrubb");
    let mut running = acked(&scene, &[]);
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &[keys("s", &["k"])]);
    let first = running.event("wake");
    let done = answer(&first["claim"], &json!({"result": "completed", "tokens_in": 5}));
    let (head, tail) = done.split_at(30);
    let nudge = "{\"ack\":\"process_died\",\"claim\":\"x\",\"agent\":\"a\"}\n";
    scene.append("acks", format!("ish\n{nudge}\u{0}\n{head}"));
    say(&mut stdin, &[look("t", &json!({"status": "pending"}))]);
    eventually("the line is judged", || state(&scene, "w")["counters"]["lines"] == 2);
    assert_eq!(state(&scene, "w")["spent"]["tokens_in"], 0);
    scene.append("acks", tail);
    eventually("the answer is read", || state(&scene, "w")["spent"]["tokens_in"] == 5);

    // A file that takes its place is read from its beginning.
    say(&mut stdin, &[keys("u", &["k"])]);
    let second = running.event("wake");
    let done = answer(&second["claim"], &json!({"result": "completed", "tokens_in": 3}));
    scene.replace("acks", &done);
    eventually("the new file is read", || state(&scene, "w")["spent"]["tokens_in"] == 8);
    let ended = running.stop();
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
}

#[test]
fn a_file_that_cannot_be_read_is_told_until_it_can() {
    let scene = Scene::new();
    let folder = scene.dir("acks");
    let mut running = acked(&scene, &[]);
    let blind = running.event("monitor_degraded");
    assert_eq!(blind["reason"], "acks_unreadable");
    assert!(blind["detail"].as_str().unwrap().contains("acks: "), "{blind}");
    std::fs::remove_dir(&folder).unwrap();
    assert_eq!(running.event("monitor_recovered")["reason"], "acks_unreadable");
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &[keys("s", &["k"])]);
    let first = running.event("wake");
    scene.append("acks", result(&first["claim"], "unavailable"));
    assert_eq!(running.event("wake")["reason"], "reader_unavailable");
}

#[test]
fn an_answer_goes_into_a_regular_file() {
    let scene = Scene::new();
    let fifo = scene.join("acks").display().to_string();
    assert!(command("mkfifo").arg(&fifo).status().unwrap().success());
    let out = ack(&scene, &["--acks", &fifo, "--claim=0123456789abcdef", "--result=busy"]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(4), 0));
    let want = format!("wake: fatal: unable to append to {fifo}: not a regular file\n");
    assert_eq!(String::from_utf8_lossy(&out.stderr), want);
}

#[test]
fn a12_a_turn_that_waits_for_a_person_ends_the_watch() {
    let scene = Scene::new();
    let mut running = acked(&scene, &[]);
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &[keys("s", &["k"])]);
    let first = running.event("wake");
    let stalled = json!({"result": "completed", "disposition": "approval_stall"});
    scene.append("acks", answer(&first["claim"], &stalled));
    assert_eq!(running.event("wake")["reason"], "approval_stall");
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn an_answer_is_one_line_in_the_file_of_the_watch() {
    let scene = Scene::new();
    let acks = scene.join("store/wake/w/acks.ndjson").display().to_string();
    let mut running = Running::ready(&scene, &mut wake(&scene, &["--watch=w", "--acks", &acks]));
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &[keys("s", &["k"])]);
    let first = running.event("wake");
    let claim = first["claim"].as_str().unwrap();
    let spent = ["--tokens-in=5200", "--tokens-out=410", "--disposition=success"];
    let args = [&["--watch=w", "--claim", claim, "--result=completed"][..], &spent].concat();
    let out = ack(&scene, &args);
    assert_eq!((out.status.code(), out.stdout.len(), out.stderr.len()), (Some(0), 0, 0));
    eventually("the answer is booked", || state(&scene, "w")["spent"]["tokens_out"] == 410);
    let text = std::fs::read_to_string(&acks).unwrap();
    let want = format!(
        r#"{{"ack":"wake","claim":"{claim}","result":"completed","tokens_in":5200,"tokens_out":410,"disposition":"success"}}"#
    );
    assert_eq!(text, want + "\n");
    drop(stdin);
    assert!(running.end().lines.is_empty());
    let other = scene.join("other").display().to_string();
    let out = ack(&scene, &["--acks", &other, "--claim", claim, "--result=approval_stall"]);
    assert_eq!(out.status.code(), Some(1));
    let out = ack(&scene, &["--acks", &other, "--claim", claim, "--result=busy"]);
    assert_eq!(out.status.code(), Some(0));
    let told = feed(&scene, &["--watch=v"], &[keys("s", &["k"])]).lines;
    assert_eq!(words(&told, "event"), ["wake"]);
}

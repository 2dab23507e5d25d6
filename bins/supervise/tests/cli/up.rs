//! `up`: the main job, in the foreground.

use std::{fs, process::Command};

use serde_json::Value;
use tests::{Running, built, eventually, from_now, git};

use crate::scene::{Store, kill, number};

fn world() -> Store {
    let store = Store::new();
    git::level_repository(&store.scene);
    let _ = store.scene.dir("world/.agent-atelier/human-gates/open");
    store
}

fn up(store: &Store) -> Command {
    let mut up = built("supervise");
    store.lead(&mut up);
    up.args(["up", "--scope=lane"]);
    up
}

#[test]
fn the_main_job_is_live_and_classified() {
    let store = world();
    let scene = &store.scene;
    let mut running = Running::ready(scene, &mut up(&store));

    scene.replace("world/.agent-atelier/human-gates/open/HDR-1.json", r#"{"question":"Ship it?"}"#);
    let gate = running.event("gate_opened");
    assert_eq!((&gate["source"], &gate["urgency"]), (&"gate".into(), &"immediate".into()));

    let lease = from_now(-5);
    scene.replace(
        "world/.agent-atelier/work-items.json",
        format!(
            r#"{{"items":[{{"id":"WI-1","status":"implementing","lease_expires_at":"{lease}"}}]}}"#
        ),
    );
    let expired = running.event("heartbeat_warning");
    assert_eq!(
        (&expired["source"], &expired["urgency"]),
        (&"heartbeat".into(), &"immediate".into())
    );

    scene.append(
        "world/.agent-atelier/events.ndjson",
        "{\"event\":\"state_committed\",\"revision\":1}\n",
    );
    let line = running.raw();
    assert_eq!(line, "{\"event\":\"state_committed\",\"revision\":1,\"urgency\":\"info\"}\n");

    git::push_commits(scene, 6);
    // A commit made and taken back moves HEAD twice; what counts is where it ends.
    git::git(scene, &["-C", "world", "fetch", "--quiet", "origin"]);
    git::git(scene, &["-C", "world", "reset", "--quiet", "--hard", "HEAD~6"]);
    assert_eq!(running.stop().code, Some(0));
    store.none_left();
}

#[test]
fn a_divergence_that_stands_is_told_at_the_start() {
    let store = world();
    git::push_commits(&store.scene, 6);
    git::git(&store.scene, &["-C", "world", "reset", "--quiet", "--hard", "HEAD~6"]);
    let mut running = Running::ready(&store.scene, &mut up(&store));
    let behind = running.event("branch_divergence");
    assert_eq!((&behind["source"], &behind["commits_behind"]), (&"divergence".into(), &6.into()));
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn a_monitor_that_is_killed_is_told_and_the_others_go_on() {
    let store = world();
    let mut running = Running::ready(&store.scene, &mut up(&store));
    kill(number(&store.status("heartbeat")["pid"]));
    let failed = running.event("monitor_failed");
    assert_eq!((&failed["source"], &failed["exit_signal"]), (&"heartbeat".into(), &9.into()));
    assert_eq!(failed["urgency"], "immediate");
    store.scene.replace("world/.agent-atelier/human-gates/open/HDR-1.json", "{}");
    running.event("gate_opened");
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn a_monitor_that_can_not_run_is_named_and_the_others_go_on() {
    let store = Store::new();
    let _ = store.scene.dir("world/.agent-atelier/human-gates/open");
    let mut command = up(&store);
    let mut running =
        Running::ready(&store.scene, command.env("GIT_CEILING_DIRECTORIES", store.scene.path()));
    store.scene.replace("world/.agent-atelier/human-gates/open/HDR-1.json", "{}");
    running.event("gate_opened");
    let ended = running.stop();
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("warning: unable to start divergence"), "{}", ended.stderr);
}

#[test]
fn what_ran_before_runs_on_and_what_it_started_does_not() {
    let store = world();
    let folder = built("supervise");
    let gate = std::path::Path::new(folder.get_program()).with_file_name("gate-watch");
    store.done(&["start", "other", "--ready=alive", "--", "sleep", "1000"]);
    assert!(gate.exists());
    let running = Running::ready(&store.scene, &mut up(&store));
    assert_eq!(store.done(&["status"])["monitors"].as_array().unwrap().len(), 5);
    assert_eq!(running.stop().code, Some(0));
    let alive: Vec<Value> = store.done(&["status"])["monitors"].as_array().unwrap().clone();
    let alive: Vec<&Value> =
        alive.iter().filter(|row| row["alive"] == true).map(|row| &row["name"]).collect();
    assert_eq!(alive, ["other"]);
}

#[test]
fn nothing_outlives_a_kill() {
    let store = world();
    let running = Running::ready(&store.scene, &mut up(&store));
    assert!(store.processes().len() >= 9, "{:?}", store.processes());
    let _: Vec<Value> = running.kill();
    store.none_left();
}

#[test]
fn a_reader_that_leaves_ends_it() {
    let store = world();
    let manager = tests::Manager::listen(&store.scene);
    let mut command = up(&store);
    manager.manage(&mut command);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    manager.ready();
    drop(child.stdout.take());
    let mut code = None;
    eventually("it ends", || {
        code = child.try_wait().unwrap();
        code.is_some()
    });
    assert_eq!(code.unwrap().code(), Some(0));
    assert!(fs::read_dir(store.path()).is_ok());
}

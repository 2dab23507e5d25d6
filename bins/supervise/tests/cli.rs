//! `supervise` from the outside, with the real monitors.

use std::{fs, path::PathBuf, process::Command};

use clap::CommandFactory as _;
use nix::sys::signal::{Signal, kill};
use serde_json::Value;
use supervise::args::Args;
use tests::{Running, Scene, built, command, documented, eventually, from_now, git};

#[test]
fn flags_are_documented() {
    documented(Args::command());
}

/// A repository that is level with its remote, in `world`, with a state folder of its own.
fn repository(scene: &Scene) {
    git::level_repository(scene);
    let _ = scene.dir("world/.agent-atelier/human-gates/open");
}

fn up(scene: &Scene) -> Command {
    let mut up = built("supervise");
    up.arg("up").current_dir(scene.join("world"));
    git::blind(&mut up, scene);
    up
}

/// The processes started by `parent`, by program name.
fn children(parent: u32) -> Vec<(String, i32)> {
    let list = format!("/proc/{parent}/task/{parent}/children");
    let pids = fs::read_to_string(list).unwrap_or_default();
    pids.split_whitespace()
        .filter_map(|pid| {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
            Some((name.trim().to_owned(), pid.parse().ok()?))
        })
        .collect()
}

fn none_left(pids: &[(String, i32)]) {
    for (name, pid) in pids {
        eventually(&format!("{name} is gone"), || {
            fs::read_to_string(format!("/proc/{pid}/comm")).map_or(true, |now| now.trim() != name)
        });
    }
}

#[test]
fn the_main_job_is_live_and_classified() {
    let scene = Scene::new();
    repository(&scene);
    let mut running = Running::ready(&scene, &mut up(&scene));

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

    git::push_commits(&scene, 6);
    git::git(&scene, &["-C", "world", "reset", "--quiet", "--hard", "HEAD~6"]);
    let behind = running.event("branch_divergence");
    assert_eq!((&behind["source"], &behind["commits_behind"]), (&"divergence".into(), &6.into()));

    let pids = children(running.pid());
    assert_eq!(pids.len(), 5, "{pids:?}");
    assert_eq!(running.stop().code, Some(0));
    none_left(&pids);
}

#[test]
fn a_monitor_that_is_killed_is_told_and_the_others_go_on() {
    let scene = Scene::new();
    repository(&scene);
    let mut running = Running::ready(&scene, &mut up(&scene));
    let victims = children(running.pid());
    let (_, pid) = victims.iter().find(|(name, _)| name == "heartbeat-watch").unwrap();
    kill(nix::unistd::Pid::from_raw(*pid), Signal::SIGKILL).unwrap();
    let failed = running.event("monitor_failed");
    assert_eq!(failed["source"], "heartbeat");
    assert_eq!((&failed["reason"], &failed["exit_signal"]), (&"signaled".into(), &9.into()));
    assert_eq!(failed["urgency"], "immediate");

    scene.replace("world/.agent-atelier/human-gates/open/HDR-1.json", "{}");
    running.event("gate_opened");
    assert_eq!(running.stop().code, Some(0));
    none_left(&victims);
}

#[test]
fn a_monitor_that_can_not_run_is_told_and_the_others_go_on() {
    let scene = Scene::new();
    let _ = scene.dir("world/.agent-atelier/human-gates/open");
    let mut running =
        Running::ready(&scene, up(&scene).env("GIT_CEILING_DIRECTORIES", scene.path()));
    let own = running.event("monitor_failed");
    assert_eq!((&own["source"], &own["exit_code"]), (&"divergence".into(), &2.into()));
    let ours = running.event("monitor_failed");
    assert_eq!((&ours["reason"], &ours["exit_code"]), (&"exited".into(), &2.into()));
    scene.replace("world/.agent-atelier/human-gates/open/HDR-1.json", "{}");
    running.event("gate_opened");
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn nothing_outlives_a_kill() {
    let scene = Scene::new();
    repository(&scene);
    let running = Running::ready(&scene, &mut up(&scene));
    let pids = children(running.pid());
    assert_eq!(pids.len(), 5, "{pids:?}");
    let _: Vec<Value> = running.kill();
    none_left(&pids);
}

#[test]
fn a_missing_program_is_named_and_nothing_is_left_behind() {
    let scene = Scene::new();
    repository(&scene);
    let alone = scene.dir("alone");
    let whole = built("supervise");
    let folder = PathBuf::from(whole.get_program());
    let folder = folder.parent().unwrap();
    for name in ["supervise", "classify", "heartbeat-watch"] {
        fs::copy(folder.join(name), alone.join(name)).unwrap();
    }
    let out = command(alone.join("supervise")).arg("up").output().unwrap();
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(4), "{stderr}");
    let gate = alone.join("gate-watch");
    assert!(
        stderr.starts_with(&format!("supervise: fatal: unable to start {}: ", gate.display())),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1);
}

#[test]
fn usage_errors_exit_1() {
    for args in
        [&["up", "--min", "high"][..], &["up", "--state-dir", ""], &[], &["down"], &["up", "x"]]
    {
        let out = built("supervise").args(args).output().unwrap();
        assert_eq!(out.status.code(), Some(1), "{args:?}");
        assert_eq!(String::from_utf8(out.stderr).unwrap().lines().count(), 1, "{args:?}");
    }
}

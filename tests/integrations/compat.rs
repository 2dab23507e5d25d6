//! The older scripts' names: each runs the program that took its place, with the flags it had.

use std::{path::Path, process::Output};

use tests::{Scene, built, command, git, lines, tools};

use crate::{integration, names, path};

/// Calls an older script in `world`, which is a repository.
fn call(scene: &Scene, script: &str, args: &[&str]) -> Output {
    let mut shell = command(integration("compat").join(script));
    git::blind(&mut shell, scene);
    let world = scene.dir("world");
    shell.args(args).current_dir(world).env("PATH", path());
    shell.env("DOORBELL_STORE", scene.join("store")).output().unwrap()
}

fn callers() -> Vec<String> {
    let names = names(integration("compat")).into_iter();
    names.filter(|name| Path::new(name).extension().is_some_and(|suffix| suffix == "sh")).collect()
}

#[test]
fn each_caller_is_the_program_of_its_name() {
    let scene = Scene::new();
    let mut seen = Vec::new();
    for script in callers() {
        let tool = script.strip_suffix(".sh").unwrap();
        if tool == "collab-monitor" {
            continue;
        }
        assert!(tools().iter().any(|known| known == tool), "{script}");
        let out = call(&scene, &script, &["--version"]);
        let version = built(tool).arg("--version").output().unwrap().stdout;
        assert_eq!((out.stdout, &*out.stderr), (version, &b""[..]), "{script}");
        seen.push(script);
    }
    assert_eq!(seen.len(), 6, "{seen:?}");
}

/// The calls that the older monitors command made, each for one look at a world with one fact.
#[test]
fn the_older_calls_still_work() {
    let scene = Scene::new();
    git::level_repository(&scene);
    let _ = scene.dir("world/.agent-atelier/human-gates/open");
    scene.write("world/.agent-atelier/human-gates/open/HDR-1.json", "{}");
    scene.write("world/.agent-atelier/events.ndjson", "{\"event\":\"state_committed\"}\n");
    scene.write(
        "world/.agent-atelier/work-items.json",
        r#"{"revision":1,"items":[{"id":"WI-1","status":"implementing","owner_session_id":"s","lease_expires_at":"2020-01-01T00:00:00Z"}]}"#,
    );
    let state = scene.join("world/.agent-atelier");
    let state = state.to_str().unwrap();
    git::git(&scene, &["-C", "world", "checkout", "--quiet", "--detach"]);
    git::push_commits(&scene, 6);
    git::git(&scene, &["-C", "world", "checkout", "--quiet", "HEAD~6"]);
    for (script, args, event) in [
        (
            "heartbeat-watch.sh",
            &["--state-dir", state, "--poll-interval", "60", "--once"][..],
            "heartbeat_warning",
        ),
        ("gate-watch.sh", &["--state-dir", state, "--once", "--emit-current"], "gate_opened"),
        (
            "event-tail.sh",
            &["--state-dir", state, "--filter", "state_committed", "--once", "--from-start"],
            "state_committed",
        ),
        (
            "branch-divergence.sh",
            &["--base", "main", "--interval", "300", "--threshold", "5", "--once"],
            "branch_divergence",
        ),
    ] {
        let out = call(&scene, script, args);
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert_eq!((out.status.code(), &*stderr), (Some(0), ""), "{script}");
        assert_eq!(lines(&out.stdout)[0]["event"], event, "{script}");
    }
    for args in [&["--run-id", "1", "--help"][..], &["--pr", "2", "--help"]] {
        assert!(call(&scene, "ci-status.sh", args).status.success(), "{args:?}");
    }
}

#[test]
fn the_loop_over_pull_requests_prints_its_line() {
    // Only the events know of readiness: the refusal shows that text was asked for.
    let out = call(&Scene::new(), "pr-state-watch.sh", &["729", "--ready"]);
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(1));
    assert!(stderr.contains("print as text what --ready"), "{stderr}");
}

#[test]
fn the_collab_monitor_is_found_under_both_names() {
    let scene = Scene::new();
    for script in ["collab-monitor", "collab-monitor.sh"] {
        let out = call(&scene, script, &["status", "@lead"]);
        assert_eq!(out.status.code(), Some(1), "{script}");
        assert_eq!(out.stdout, b"NOT_RUNNING name=@lead\n", "{script}");
    }
}

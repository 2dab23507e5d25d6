//! `spawn`: the four monitors of an orchestration, or those of a manifest.

use serde_json::json;
use tests::{
    built, eventually, git,
    github::{self, GitHub, Reply},
    lines,
};

use crate::scene::{Store, refused};

/// A store whose world is a repository that is level with its remote. The programs lie beside
/// `supervise` only in the folder where all are built.
fn world() -> (Store, String) {
    let store = Store::new();
    git::level_repository(&store.scene);
    let _ = store.scene.dir("world/.agent-atelier/human-gates/open");
    (store, built("supervise").get_program().to_str().unwrap().to_owned())
}

fn run(store: &Store, supervise: &str, args: &[&str]) -> std::process::Output {
    let mut command = tests::command(supervise);
    store.lead(&mut command);
    command.args(&args[..1]).arg("--scope=lane").args(&args[1..]).output().unwrap()
}

#[test]
fn the_four_are_spawned_once_and_remember_across_runs() {
    let (store, supervise) = world();
    store.scene.write("world/.agent-atelier/human-gates/open/HDR-1.json", "{}");
    let answer = lines(&run(&store, &supervise, &["spawn"]).stdout).remove(0);
    let ids = answer["spawned"].as_object().unwrap();
    assert_eq!(ids.len(), 4, "{answer}");
    assert!(answer.get("already_running").is_none());
    let again = lines(&run(&store, &supervise, &["spawn"]).stdout).remove(0);
    assert_eq!((&again["spawned"], &again["already_running"]), (&answer["spawned"], &true.into()));

    let report = lines(&run(&store, &supervise, &["check"]).stdout).remove(0);
    assert_eq!(report["immediate"][0]["gate_id"], "HDR-1");
    assert_eq!(report["immediate"][0]["source"], "gate");
    assert_eq!(report["healthy_monitors"].as_array().unwrap().len(), 4);

    // What was told stays told: the open gate is no news for the next run.
    run(&store, &supervise, &["stop", "all"]);
    run(&store, &supervise, &["spawn"]);
    let report = lines(&run(&store, &supervise, &["check"]).stdout).remove(0);
    assert_eq!(report["immediate"].as_array().unwrap().len(), 0, "{report}");
}

#[test]
fn one_that_can_not_start_is_named_and_the_others_stay() {
    let store = Store::new();
    let _ = store.scene.dir("world/.agent-atelier");
    let supervise = built("supervise").get_program().to_str().unwrap().to_owned();
    let mut command = tests::command(&supervise);
    store.lead(&mut command);
    command.env("GIT_CEILING_DIRECTORIES", store.scene.path());
    let out = command.args(["spawn", "--scope=lane"]).output().unwrap();
    refused(&out, 4, "divergence");
    assert_eq!(lines(&out.stdout)[0]["spawned"].as_object().unwrap().len(), 3);
}

#[test]
fn each_that_can_not_start_is_named() {
    let store = Store::new();
    store.scene.write(
        "world/monitors.json",
        r#"[{"name":"one","command":"exit 1"},{"name":"two","command":"exit 2"}]"#,
    );
    let out = store.run(&["spawn", "--manifest=monitors.json"]);
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(4), "{stderr}");
    assert!(stderr.contains("unable to start one") && stderr.contains("unable to start two"));
}

#[test]
fn a_manifest_is_spawned_as_it_is() {
    let store = Store::new();
    store.scene.write(
        "world/monitors.json",
        r#"[{"name":"one","command":"echo '{\"event\":\"x\"}'; sleep 1000","description":"d"},{"name":"two","command":"sleep 1000","when":"always"}]"#,
    );
    let answer = store.done(&["spawn", "--manifest=monitors.json"]);
    assert_eq!(answer["spawned"].as_object().unwrap().len(), 2, "{answer}");
    assert_eq!(store.status("two")["alive"], true);
    let mut follow = store.start_running(&["follow", "one"]);
    follow.event("x");
}

/// A world whose remote is on GitHub.
fn ci_repository(store: &Store) {
    git::level_repository(&store.scene);
    let url = "https://github.com/o/n";
    git::git(&store.scene, &["-C", "world", "remote", "set-url", "origin", url]);
}

#[test]
fn spawn_ci_tells_how_a_run_ended_and_ends() {
    let store = Store::new();
    ci_repository(&store);
    let github = GitHub::start(&store.scene);
    let run = github::run(7, "completed", Some("failure"));
    github.on("/repos/o/n/actions/runs/7", [Reply::json(&run)]);
    let mut command = store.supervise(&["spawn-ci", "--run-id=7"]);
    github.connect(&mut command);
    let out = command.output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let answer = lines(&out.stdout).remove(0);
    assert_eq!((&answer["monitor"], &answer["target"]), (&"ci-status".into(), &"7".into()));
    eventually("it ends", || store.status("ci-status")["alive"] == false);
    let report = store.done(&["check"]);
    assert_eq!(report["immediate"][0]["conclusion"], "failure", "{report}");
    assert_eq!((&report["ended"][0], &report["dead_monitors"]), (&"ci-status".into(), &json!([])));
}

#[test]
fn a_target_of_spawn_ci_is_watched_once() {
    let store = Store::new();
    let github = GitHub::start(&store.scene);
    ci_repository(&store);
    for id in [7, 8] {
        let run = github::run(id, "in_progress", None);
        github.on(&format!("/repos/o/n/actions/runs/{id}"), [Reply::json(&run)]);
    }
    let spawn_ci = |id: u32| {
        let mut command = store.supervise(&["spawn-ci", &format!("--run-id={id}")]);
        github.connect(&mut command);
        let out = command.output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        lines(&out.stdout).remove(0)
    };
    assert_eq!(spawn_ci(7)["monitor"], "ci-status");
    let second = spawn_ci(8);
    assert_eq!(second["monitor"], "ci-status-8");
    store.done(&["stop", "ci-status"]);
    let again = spawn_ci(8);
    assert_eq!((&again["monitor"], &again["task_id"]), (&second["monitor"], &second["task_id"]));
}

#[test]
fn spawn_ci_needs_gh() {
    let store = Store::new();
    let mut command = store.supervise(&["spawn-ci", "--pr=42"]);
    refused(&command.env("PATH", store.scene.path()).output().unwrap(), 2, "gh");
}

//! `spawn`: the four monitors of an orchestration, or those of a manifest.

use tests::{built, git, lines};

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

#[test]
fn spawn_ci_needs_gh() {
    let store = Store::new();
    let mut command = store.supervise(&["spawn-ci", "--pr=42"]);
    refused(&command.env("PATH", store.scene.path()).output().unwrap(), 2, "gh");
}

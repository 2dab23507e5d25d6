//! How it starts, ends, and takes its flags.

use serde_json::json;
use tests::{
    Running, Scene, command,
    github::{Reply, quiet, run},
    lines,
};

use crate::world::{EXE, RUN, World, runs, states};

#[test]
fn help_is_the_same_in_both_spellings() {
    let short = command(EXE).arg("-h").output().unwrap();
    let long = command(EXE).arg("--help").output().unwrap();
    assert_eq!((short.status.code(), &short.stdout), (Some(0), &long.stdout));
    assert!(String::from_utf8(short.stdout).unwrap().contains("--interval"));
}

#[test]
fn a_wrong_command_line_ends_with_1_and_asks_nobody() {
    let world = World::new();
    for (args, word) in [
        (&[][..], "--run-id"),
        (&["--pr", "1", "--run-id", "2"], "--run-id"),
        (&["--pr", "042"], "number of a pull request"),
        (&["--run-id", "https://github.com/o/n/actions/runs/1/job/9"], "nothing after it"),
        (&["--commit", "HEAD"], "40 digits"),
        (&["--pr", "1", "--poll-interval", "0"], "0.05 to 86400"),
        (&["--pr", "1", "--once", "--wait", "1"], "--wait"),
        (&["--run-id", "1", "--required"], "--required"),
        (&["--pr", "1", "--nonsense"], "--nonsense"),
    ] {
        let mut program = command(EXE);
        world.github.connect(&mut program);
        let ended = Running::start(program.args(args)).end();
        assert_eq!((ended.code, ended.lines.len()), (Some(1), 0), "{args:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        assert!(ended.stderr.contains(word), "{args:?}: {}", ended.stderr);
    }
    assert!(world.github.asked().is_empty());
}

#[test]
fn once_is_one_look_at_each() {
    let world = World::new();
    world.github.on(RUN, runs(&[("in_progress", None)]));
    let once = world.end(&["--run-id=123", "--once"]);
    assert_eq!((once.code, once.lines.len()), (Some(0), 1));
    assert_eq!(world.github.asked().len(), 1);
}

#[test]
fn wait_ends_with_the_first_line() {
    let world = World::new();
    world.github.on(RUN, runs(&[("in_progress", None)]));
    let waited = world.end(&["--run-id=123", "--wait", "20"]);
    assert_eq!((waited.code, waited.lines.len()), (Some(0), 1));
}

#[test]
fn readiness_comes_before_the_end() {
    let world = World::new();
    world.github.on(RUN, runs(&[("completed", Some("success"))]));
    let mut program = world.program(&["--run-id=123", "--announce"]);
    let ended = Running::ready(&world.scene, &mut program).end();
    let events: Vec<_> = ended.lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["ci_status", "monitor_armed", "monitor_stopped"]);
    assert_eq!(
        (&ended.lines[1]["watching"], &ended.lines[2]["reason"]),
        (&json!("github.com/o/n"), &json!("decided"))
    );
}

#[test]
fn a_cursor_keeps_what_was_said() {
    let world = World::new();
    let cursor = world.scene.join("cursor").display().to_string();
    let args = ["--run-id=123", "--cursor", &cursor];
    world.github.on(RUN, runs(&[("in_progress", None)]));
    let mut first = world.start(&args);
    let said = first.event("ci_status");
    assert!(first.stop().lines.is_empty());
    // While nobody looked it was decided.
    world.github.on(RUN, runs(&[("completed", Some("failure"))]));
    let second = world.end(&args);
    assert_eq!(states(&second.lines), [("completed".to_owned(), "failure".to_owned())]);
    assert_ne!(second.lines[0]["id"], said["id"]);
    // It was said: there is nothing more to say, and the code is the same.
    let mut third = world.program(&args);
    let third = Running::start(third.arg("--exit-code")).end();
    assert_eq!((third.code, third.lines.len()), (Some(10), 0));
}

#[test]
fn a_cursor_of_another_repository_or_process_is_refused() {
    let world = World::new();
    world.github.on(RUN, runs(&[("in_progress", None)]));
    let cursor = world.scene.join("cursor").display().to_string();
    let mut first = world.start(&["--run-id=123", "--cursor", &cursor]);
    first.event("ci_status");
    let second = world.end(&["--run-id=123", "--cursor", &cursor]);
    assert_eq!((second.code, &second.lines[0]["reason"]), (Some(4), &json!("cursor_refused")));
    assert_eq!(first.stop().code, Some(0));
    let other = world.end(&["--run-id=123", "--cursor", &cursor, "--repo", "github.com/a/b"]);
    assert_eq!(other.code, Some(4), "{}", other.stderr);
}

#[test]
fn a_broken_cursor_is_a_warning() {
    let world = World::new();
    world.github.on(RUN, runs(&[("completed", Some("success"))]));
    world.scene.write("cursor", "{\"version\":1,");
    let cursor = world.scene.join("cursor").display().to_string();
    let ended = world.end(&["--run-id=123", "--cursor", &cursor]);
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 1));
    assert!(ended.stderr.starts_with("ci-status: warning: "), "{}", ended.stderr);
}

#[test]
fn a_store_that_cannot_be_used_costs_a_warning() {
    let world = World::new();
    world.scene.write("file", "");
    let limit = Reply::status(429, &json!({"message": "slow down"})).header("Retry-After", "1");
    let done = Reply::json(&run(123, "completed", Some("success")));
    world.github.on(RUN, [limit, done]);
    let store = world.scene.join("file").display().to_string();
    let ended = world.end(&["--run-id=123", "--store", &store]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("warning: unable to"), "{}", ended.stderr);
    assert_eq!(world.github.statuses(RUN), [429, 200]);
}

#[test]
fn the_poll_interval_has_two_names() {
    let world = World::new();
    world.github.on(RUN, runs(&[("completed", Some("success"))]));
    let mut program = command(EXE);
    world.github.connect(&mut program);
    let out = program.args(["--repo=o/n", "--run-id=123", "--interval", "5m"]).output().unwrap();
    assert_eq!((out.status.code(), lines(&out.stdout).len()), (Some(0), 1));
}

/// What the suite's contract runs: something to which nothing happens.
#[test]
fn where_nothing_happens_nothing_is_said() {
    for (args, code) in [(&["--once"][..], 0), (&["--wait", "0.5"], 3)] {
        let scene = Scene::new();
        let mut program = command(EXE);
        quiet(&scene, &mut program);
        let ended = Running::start(program.current_dir(scene.path()).args(args)).end();
        assert_eq!(
            (ended.code, ended.lines.len(), &*ended.stderr),
            (Some(code), 0, ""),
            "{args:?}"
        );
    }
    // The configuration is found by HOME alone.
    let scene = Scene::new();
    let mut program = command(EXE);
    quiet(&scene, &mut program);
    let mut bare = command(EXE);
    tests::git::blind(&mut bare, &scene);
    for name in ["GH_TOKEN", "GITHUB_TOKEN", "GH_CONFIG_DIR", "GH_HOST"] {
        bare.env_remove(name);
    }
    let ended = Running::start(bare.args(program.get_args()).arg("--once")).end();
    assert_eq!((ended.code, ended.lines.len(), &*ended.stderr), (Some(0), 0, ""));
}

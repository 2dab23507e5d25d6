//! How it starts, ends, and takes its flags.

use nix::sys::signal::Signal;
use serde_json::json;
use tests::{
    Running, Scene, command, eventually,
    github::{Reply, quiet},
};

use crate::world::{EXE, World, states};

#[test]
fn help_is_the_same_in_both_spellings() {
    let short = command(EXE).arg("-h").output().unwrap();
    let long = command(EXE).arg("--help").output().unwrap();
    assert_eq!((short.status.code(), &short.stdout), (Some(0), &long.stdout));
}

#[test]
fn a_wrong_command_line_ends_with_1_and_asks_nobody() {
    let world = World::with([1]);
    for (args, word) in [
        (&[][..], "N|URL"),
        (&["0"], "number of a pull request"),
        (&["1", "--emit", "all"], "readings"),
        (&["1", "--poll-interval", "0"], "0.05 to 86400"),
        (&["1", "--format", "text", "--ready"], "--ready"),
        (&["1", "--format", "text", "--emit", "readings"], "--emit readings"),
        (&["1", "--once", "--wait", "1"], "--wait"),
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
fn without_gh_or_a_login_it_ends_with_2() {
    let world = World::with([1]);
    let empty = world.scene.dir("empty");
    let ended = Running::start(world.program(&["1"]).env("PATH", empty)).end();
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("gh not found in PATH"), "{}", ended.stderr);
    assert_eq!(ended.lines[0]["event"], "monitor_failed");
    let mut program = world.program(&["1"]);
    world.github.log_out(&mut program);
    let ended = Running::start(&mut program).end();
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("gh auth login --hostname github.com"), "{}", ended.stderr);
}

#[test]
fn a_gh_that_hangs_delays_no_end() {
    let world = World::new();
    world.github.on_documents(|_| Reply::never());
    let running = world.start(&["1"]);
    eventually("gh hangs", || !world.github.asked().is_empty());
    running.signal(Signal::SIGTERM);
    let ended = running.end();
    assert_eq!((ended.code, &*ended.stderr, ended.lines.len()), (Some(0), "", 0));
}

#[test]
fn a_cursor_keeps_what_was_told() {
    let world = World::with([729]);
    let cursor = world.scene.join("cursor").display().to_string();
    let args = ["729", "--ready", "--cursor", &cursor];
    let mut first = world.start(&args);
    first.event("pr_state");
    assert_eq!(first.stop().code, Some(0));
    let mut again = world.program(&args);
    let again = Running::start(again.arg("--once")).end();
    assert_eq!((again.code, again.lines.len()), (Some(0), 0));
    // While nobody looked it was approved; then it is merged.
    world.change(729, &[("reviewDecision", json!("APPROVED"))]);
    let mut third = world.program(&args);
    let third = Running::start(third.arg("--once")).end();
    assert_eq!(states(&third.lines), ["OPEN/APPROVED"]);
    world.change(729, &[("state", json!("MERGED"))]);
    let last = world.end(&args);
    assert_eq!(states(&last.lines), ["MERGED/APPROVED"]);
    // It is over: nobody is asked any more.
    let before = world.github.asked().len();
    let over = world.end(&args);
    assert_eq!((over.code, over.lines.len(), world.github.asked().len()), (Some(0), 0, before));
}

#[test]
fn a_degraded_look_tells_the_state_and_nothing_that_it_cannot_see() {
    let world = World::with([729]);
    world.change(729, &[("reviewDecision", json!("APPROVED"))]);
    let mut running = world.start(&["729"]);
    running.event("pr_state");
    world.github.on_documents(|_| {
        Reply::json(&json!({"data": null, "errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}))
    });
    let hash = "a".repeat(40);
    let of = |state: &str, merged: bool| {
        Reply::json(
            &json!({"state": state, "merged": merged, "html_url": "https://github.com/o/n/pull/729",
            "head": {"sha": hash}, "base": {"ref": "main"}, "mergeable": true, "mergeable_state": "clean"}),
        )
    };
    world
        .github
        .on("/repos/o/n/pulls/729", [of("open", false), of("open", false), of("closed", true)]);
    let path = format!("/repos/o/n/commits/{hash}/status?per_page=100");
    world.github.on(&path, [Reply::json(&json!({"state": "pending", "statuses": []}))]);
    assert_eq!(running.event("monitor_degraded")["reason"], "rate_limited");
    let ended = running.end();
    assert_eq!(states(&ended.lines), ["MERGED/APPROVED"]);
    assert_eq!((ended.code, &ended.lines[0]["degraded"]), (Some(0), &json!(true)));
}

#[test]
fn readiness_comes_with_the_first_whole_look() {
    let world = World::with([729]);
    let mut program = world.program(&["729", "--announce"]);
    let mut running = Running::ready(&world.scene, &mut program);
    running.event("pr_state");
    assert_eq!(running.event("monitor_armed")["watching"], "github.com/o/n");
    let ended = world.merge(running);
    assert_eq!(ended.lines.last().unwrap()["reason"], "ended");
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

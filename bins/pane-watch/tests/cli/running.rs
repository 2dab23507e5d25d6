//! How it is run, and what it leaves alone.

use std::{collections::BTreeSet, fs};

use nix::sys::signal::{Signal, kill};
use tests::{Running, command, documented};

use crate::world::{World, bare, next};

#[test]
fn flags_are_documented() {
    documented(<pane_watch::args::Args as clap::CommandFactory>::command());
}

#[test]
fn bad_flags_are_usage_errors() {
    for args in [
        &["--lead", "1"][..],
        &["--lead", "%"],
        &["--known", "0"],
        &["--scope", "all"],
        &["--poll-interval", "0"],
        &["--call-timeout", "-1"],
        &["--untracked-after", "x"],
        &["-L", "a/b"],
        &["%0"],
    ] {
        let out = bare().args(args).output().unwrap();
        assert_eq!((out.status.code(), out.stdout.len()), (Some(1), 0), "{args:?}");
    }
    assert_eq!(
        bare().arg("-h").output().unwrap().stdout,
        bare().arg("--help").output().unwrap().stdout
    );
}

#[test]
fn armed_it_says_what_it_watches_and_what_not() {
    let world = World::new();
    world.idle();
    let mut watch = world.watch(&["--announce", "--baseline", "--items", &world.path("items")]);
    let armed = watch.event("monitor_armed");
    assert_eq!((&armed["watching"], &armed["items"]), (&world.tmux.socket().into(), &2.into()));
    assert_eq!(armed["mechanisms"], serde_json::json!(["inotify", "pidfd", "poll"]));
    let holes = [
        "other tmux servers",
        "programs inside a nested tmux",
        "windows outside the scope",
        "what a pane shows",
    ];
    assert_eq!(armed["not_covered"], serde_json::json!(holes));
    assert_eq!(watch.stop().lines[0]["reason"], "signal");
    let mut watch = world.watch(&[
        "--announce",
        "--baseline",
        "--poll-only",
        "--no-pidfd",
        "--items",
        &world.path("items"),
    ]);
    let armed = watch.event("monitor_armed");
    assert_eq!(armed["mechanisms"], serde_json::json!(["poll"]));
    assert_eq!(armed["not_covered"].as_array().unwrap().last().unwrap(), "no inotify: sweep only");
}

#[test]
fn a_wait_ends_with_the_first_event() {
    let world = World::new();
    let out = world.command(&["--baseline", "--wait=0.2"]).output().unwrap();
    assert_eq!((out.status.code(), out.stdout.len()), (Some(3), 0));
    let watch = world.watch(&["--wait=25"]);
    let pane = world.idle();
    let ended = watch.end();
    assert_eq!((ended.code, &ended.lines[0]["pane"]), (Some(0), &(*pane).into()));
}

#[test]
fn g9_the_end_of_the_reader_is_the_end() {
    let world = World::new();
    let mut watch = world.command(&["--baseline"]);
    let (reader, writer) = std::io::pipe().unwrap();
    let mut watch = watch.stdout(writer).spawn().unwrap();
    drop(reader);
    let mut code = None;
    tests::eventually("it ends", || {
        code = watch.try_wait().unwrap().map(|status| status.code());
        code.is_some()
    });
    assert_eq!(code, Some(Some(0)));
}

/// A life of a watch under strace: its calls, each after the process that made it.
fn traced(world: &World) -> String {
    let trace = world.scene.join("trace");
    let mut traced = command("strace");
    traced.args(["-f", "-s", "300", "-o"]).arg(&trace);
    traced.args(["-e", "trace=/^(exec|kill|tkill|tgkill|pidfd_s|open|creat|unlink|rename|mkdir)"]);
    let watch = world.command(&["--items", &world.path("items")]);
    traced.arg(watch.get_program()).args(watch.get_args());
    tests::tmux::blind(&mut traced);
    let mut watch = Running::ready(&world.scene, &mut traced);
    let pane = world.idle();
    watch.event("untracked_pane");
    kill(world.tmux.pid_of(&pane), Signal::SIGKILL).unwrap();
    watch.event("pane_gone");
    world.tmux.kill();
    next(&mut watch, "tmux_server_gone");
    assert_eq!(next(&mut watch, "monitor_stopped")["reason"], "server_gone");
    assert_eq!(watch.end().code, Some(0));
    fs::read_to_string(trace).unwrap()
}

#[test]
fn g9_it_asks_with_two_verbs_signals_nobody_and_makes_no_file() {
    let world = World::new();
    let before = world.scene.tree();
    let trace = traced(&world);
    let mut clients = BTreeSet::new();
    for call in trace.lines().filter(|call| call.contains("execve(") && call.contains("\"tmux\"")) {
        assert!(call.contains("\"list-panes\"") || call.contains("\"display-message\""), "{call}");
        clients.insert(call.split_whitespace().next().unwrap());
    }
    assert!(!clients.is_empty());
    for call in trace.lines().filter(|call| call.contains("kill(") && !call.contains(", 0)")) {
        // What is left of a client's own group goes with it; nobody else gets a signal.
        let target = call.split("kill(").nth(1).unwrap().split(',').next().unwrap();
        assert!(target.strip_prefix('-').is_some_and(|group| clients.contains(group)), "{call}");
    }
    for verb in ["O_CREAT", "creat(", "unlink", "rename", "mkdir", "pidfd_send_signal"] {
        assert!(!trace.contains(verb), "{verb}:\n{trace}");
    }
    // The tests themselves put the trace there, and the socket of a service manager.
    let mut after = world.scene.tree();
    after.retain(|entry| !["/trace ", "/manager"].iter().any(|ours| entry.contains(ours)));
    after.retain(|entry| !before.contains(entry));
    assert!(after.iter().all(|entry| entry.contains("/tmux ")), "{after:?}");
}

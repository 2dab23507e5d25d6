//! One server or another, slow, replaced or gone.

use std::os::unix::process::CommandExt as _;

use nix::sys::signal::{Signal, kill};
use tests::{Running, Scene, command, eventually, tmux::Tmux};

use crate::world::{World, bare, next, told};

#[test]
fn g8_two_servers_have_the_same_ids_and_are_told_apart() {
    let world = World::new();
    let other = Tmux::named(&world.scene, "other");
    assert_eq!(world.tmux.pane, other.pane);
    let mut watch = world.watch(&[]);
    let theirs = other.split(&other.pane, "exec sleep 1000");
    let ours = world.idle();
    assert_eq!(theirs, ours);
    let line = watch.event("untracked_pane");
    assert_eq!(
        (&line["pane"], &line["server_pid"]),
        (&(*ours).into(), &world.tmux.pid.as_raw().into())
    );
    assert_eq!(
        (&line["socket"], &line["pid"]),
        (&world.tmux.socket().into(), &world.tmux.pid_of(&ours).as_raw().into())
    );
    other.run(&["kill-pane", "-t", &theirs]);
    drop(other);
    world.tmux.run(&["kill-pane", "-t", &ours]);
    let gone = watch.event("pane_gone");
    assert_eq!(gone["key"], format!("pane:{}/{ours}:gone", world.tmux.pid));
}

#[test]
fn g8_a_server_is_stopped_continued_and_killed() {
    let world = World::new();
    for _ in 0..3 {
        world.idle();
    }
    let mut watch = world.watch(&["--baseline", "--call-timeout=0.5"]);
    kill(world.tmux.pid, Signal::SIGSTOP).unwrap();
    let degraded = watch.event("monitor_degraded");
    assert_eq!(degraded["reason"], "tmux_unresponsive");
    kill(world.tmux.pid, Signal::SIGCONT).unwrap();
    assert_eq!(watch.event("monitor_recovered")["reason"], "tmux_unresponsive");
    world.tmux.kill();
    let gone = next(&mut watch, "tmux_server_gone");
    assert_eq!((&gone["panes"], &gone["server_pid"]), (&4.into(), &world.tmux.pid.as_raw().into()));
    assert!(gone.get("pane").is_none());
    assert_eq!(watch.event("monitor_stopped")["reason"], "server_gone");
    let ended = watch.end();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 0));
}

/// A watch that sees nothing of the moment between two servers.
fn replaced(split: bool) {
    let mut world = World::new();
    let lead = if split {
        world.tmux.run(&["new-window", "-dPF", "#{pane_id}", "exec sleep 1000"])
    } else {
        world.tmux.pane.clone()
    };
    let mut watch = world.watch(&["--baseline", "--lead", &lead]);
    watch.freeze();
    let before = world.tmux.pid;
    world.tmux.kill();
    world.tmux.restart();
    watch.thaw();
    let gone = watch.event("tmux_server_gone");
    assert_eq!(gone["server_pid"], before.as_raw());
    assert_eq!(watch.event("monitor_stopped")["reason"], "server_gone");
    assert_eq!(watch.end().code, Some(0));
}

#[test]
fn g8_another_server_on_the_socket_is_the_end_of_the_first() {
    replaced(false);
}

#[test]
fn g8_another_server_without_the_leads_pane_is_the_end_of_the_first() {
    replaced(true);
}

#[test]
fn g8_a_server_that_loses_all_sessions_has_no_window_left() {
    let world = World::new();
    world.tmux.run(&["set-option", "-g", "exit-empty", "off"]);
    for scope in ["window", "server"] {
        let lead =
            world.tmux.run(&["new-session", "-dPF", "#{pane_id}", "-s", scope, "exec sleep 1000"]);
        let mut watch =
            world.watch(&["--scope", scope, "--lead", &lead, "--baseline", "--no-pidfd"]);
        world.tmux.run(&["kill-session", "-a", "-t", scope]);
        world.tmux.run(&["kill-session", "-t", scope]);
        let gone = next(&mut watch, "known_pane_gone");
        assert_eq!((&gone["role"], &gone["pane"]), (&"lead".into(), &(*lead).into()), "{scope}");
        assert_eq!(next(&mut watch, "monitor_stopped")["reason"], "window_gone");
        assert_eq!(watch.end().code, Some(0));
    }
}

#[test]
fn g8_nothing_is_guessed_and_nothing_missing_is_waited_for() {
    let world = World::new();
    let socket = world.tmux.socket();
    let inside = format!("{socket},{},0", world.tmux.pid);
    let code = |args: &[&str], tmux: Option<&str>| {
        let mut watch = bare();
        if let Some(tmux) = tmux {
            watch.env("TMUX", tmux).env("TMUX_PANE", &world.tmux.pane);
        }
        watch.args(args).arg("--once").output().unwrap().status.code()
    };
    assert_eq!(code(&[], None), Some(1), "no server");
    assert_eq!(code(&["-S", socket], None), Some(1), "no lead outside tmux");
    assert_eq!(code(&["-L", "x"], Some(&inside)), Some(1), "no lead on another server");
    assert_eq!(code(&["-L", "x", "-S", socket, "--lead", "%0"], None), Some(1), "two servers");
    assert_eq!(code(&[], Some(&inside)), Some(0), "inside");
    assert_eq!(code(&["-S", socket], Some(&inside)), Some(0), "inside, by name");
    assert_eq!(code(&["-S", "/none", "--lead", "%0"], None), Some(3), "no such server");
    assert_eq!(code(&["-S", socket, "--lead", "%99"], None), Some(3), "no such pane");
    let mut without = world.command(&["--once"]);
    assert_eq!(without.env("PATH", "/none").output().unwrap().status.code(), Some(2), "no tmux");
}

#[test]
fn a_name_is_a_socket_below_the_users_folder() {
    let scene = Scene::new();
    let folder = format!("tmux-{}", rustix::process::getuid().as_raw());
    let _ = scene.dir(&folder);
    let tmux = Tmux::named(&scene, &format!("{folder}/work"));
    let mut watch = bare();
    watch.env("TMUX_TMPDIR", scene.path()).args(["-L", "work", "--lead", &tmux.pane, "--announce"]);
    let out = watch.arg("--once").output().unwrap();
    let lines = tests::lines(&out.stdout);
    assert_eq!((out.status.code(), &lines[0]["watching"]), (Some(0), &tmux.socket().into()));
}

#[test]
fn a_locale_without_utf_8_makes_no_difference() {
    let world = World::new();
    let pane = world.idle();
    let mut watch = world.command(&["--untracked-after=0.001", "--once"]);
    let out = watch.env("LC_ALL", "C").output().unwrap();
    assert_eq!(told(&tests::lines(&out.stdout)), [("untracked_pane", &*pane)]);
}

#[test]
fn g8_a_refusal_is_no_answer() {
    let world = World::new();
    world.idle();
    let mut watch = world.command(&["--once", "--call-timeout=20"]);
    // As somebody who may not talk to the server.
    let exe = world.scene.join("pane-watch");
    assert!(command("cp").arg(crate::world::EXE).arg(&exe).status().unwrap().success());
    let mut other = command(&exe);
    other.args(watch.get_args()).uid(65_534).gid(65_534);
    let out = other.output().unwrap();
    let lines = tests::lines(&out.stdout);
    assert_eq!((out.status.code(), &lines[0]["reason"]), (Some(4), &"tmux_unresponsive".into()));
    assert_eq!(lines.len(), 1);
    assert_eq!(watch.output().unwrap().status.code(), Some(0));
}

#[test]
fn asked_to_stop_while_a_call_hangs_it_says_nothing() {
    let world = World::new();
    let watch = world.watch(&["--baseline", "--call-timeout=20"]);
    kill(world.tmux.pid, Signal::SIGSTOP).unwrap();
    let children = format!("/proc/{0}/task/{0}/children", watch.pid());
    eventually("a call hangs", || {
        std::fs::read_to_string(&children).is_ok_and(|pids| !pids.trim().is_empty())
    });
    let ended = watch.stop();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 0));
    kill(world.tmux.pid, Signal::SIGCONT).unwrap();
}

#[test]
fn a_server_that_ends_while_nobody_looks_is_told_at_the_next_start() {
    let mut world = World::new();
    world.idle();
    let cursor = world.path("c/cursor");
    let state = ["--cursor", &cursor, "--untracked-after=0.001"];
    assert_eq!(world.once(&state).1.len(), 1);
    world.tmux.kill();
    let (code, lines) = world.once(&state);
    let both = [("tmux_server_gone", ""), ("monitor_stopped", "")];
    assert_eq!((code, &*told(&lines), &lines[0]["panes"]), (Some(0), &both[..], &2.into()));
    assert_eq!(world.once(&state).0, Some(3), "it was told");
    world.tmux.restart();
    assert_eq!(world.once(&state).0, Some(0), "another server is another story");
}

#[test]
fn the_servers_last_pane_is_the_servers_end() {
    let world = World::new();
    let mut watch = Running::ready(&world.scene, world.command(&["--baseline"]).arg("--announce"));
    watch.event("monitor_armed");
    kill(world.tmux.pid_of(&world.tmux.pane), Signal::SIGKILL).unwrap();
    assert_eq!(watch.event("tmux_server_gone")["panes"], 1);
    assert_eq!(watch.event("monitor_stopped")["reason"], "server_gone");
    assert_eq!(watch.end().code, Some(0));
}

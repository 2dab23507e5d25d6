//! What can't be seen is never an answer.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::Path,
};

use tests::{Running, lines};

use crate::world::{World, before_marker, gate, short};

/// A user who may read only what all may.
const NOBODY: u32 = 65_534;

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
}

/// Starts the program as a user without rights, and returns after its first look.
fn start_unprivileged(world: &World, flags: &[&str]) -> Running {
    let mut command = tests::command(world.scene.copy_of(env!("CARGO_BIN_EXE_gate-watch")));
    command.arg("--state-dir").arg(world.state()).args(flags).uid(NOBODY).gid(NOBODY);
    Running::start(&mut command)
}

#[test]
fn g07_folders_that_are_gone_and_back_answer_nothing() {
    let world = World::new();
    for id in ["HDR-001", "HDR-002"] {
        world.ask(id);
    }
    let mut running = world.start(&[]);
    let gates = world.state().join("human-gates");
    fs::remove_dir_all(&gates).unwrap();
    let line = running.event("monitor_degraded");
    assert_eq!(line["reason"], "gates_missing");
    assert!(line["detail"].as_str().unwrap().contains("human-gates/open: "), "{line}");
    world.make();
    for id in ["HDR-001", "HDR-002"] {
        world.ask(id);
    }
    assert_eq!(short(&running.line()), "monitor_recovered gates_missing");
    assert!(before_marker(&world, &mut running, "M").is_empty());

    fs::remove_dir_all(&gates).unwrap();
    assert_eq!(short(&running.line()), "monitor_degraded gates_missing");
    world.make();
    world.ask("HDR-001");
    world.ask("M");
    assert_eq!(short(&running.line()), "monitor_recovered gates_missing");
    assert_eq!(short(&running.line()), "gate_resolved HDR-002 unrecorded");
    assert!(before_marker(&world, &mut running, "M2").is_empty());
}

#[test]
fn g07_folders_that_are_moved_away_and_back_within_the_grace_say_nothing() {
    let world = World::new();
    world.ask("HDR-001");
    let mut running = world.start(&[]);
    let (here, away) = (world.state().join("human-gates"), world.scene.join("away"));
    for _ in 0..5 {
        fs::rename(&here, &away).unwrap();
        fs::rename(&away, &here).unwrap();
    }
    assert!(before_marker(&world, &mut running, "M").is_empty());
    fs::rename(world.state(), &away).unwrap();
    fs::rename(&away, world.state()).unwrap();
    assert!(before_marker(&world, &mut running, "M2").is_empty());
}

#[test]
fn gw05_a_folder_that_is_made_anew_is_watched_anew() {
    let world = World::new();
    let mut running = world.start(&["--poll-interval", "24h"]);
    for _ in 0..50 {
        fs::remove_dir_all(world.open("")).unwrap();
        fs::create_dir(world.open("")).unwrap();
        world.ask("HDR-001");
    }
    assert_eq!(short(&running.line()), "gate_opened HDR-001");
    assert!(before_marker(&world, &mut running, "M").is_empty());
}

#[test]
fn gw14_a_folder_behind_a_link_that_flips_is_compared() {
    let world = World::empty();
    let gates = world.state().join("human-gates");
    for version in ["v1", "v2"] {
        let _ = world.scene.dir(&format!("state/human-gates/{version}"));
    }
    world.scene.write("state/human-gates/v1/A.json", gate("A"));
    world.scene.write("state/human-gates/v1/B.json", gate("B"));
    world.scene.write("state/human-gates/v2/A.json", gate("A").replace("Is", "Was"));
    std::os::unix::fs::symlink("v1", gates.join("open")).unwrap();
    let mut running = world.start(&["--poll-interval", "0.05"]);
    std::os::unix::fs::symlink("v2", gates.join("next")).unwrap();
    fs::rename(gates.join("next"), gates.join("open")).unwrap();
    assert_eq!(short(&running.line()), "gate_changed A");
    assert_eq!(short(&running.line()), "gate_resolved B unrecorded");
}

#[test]
fn g14_folders_without_rights_are_told_and_survived() {
    let world = World::new();
    world.ask("HDR-001");
    world.ask("HDR-002");
    for folder in ["open", "resolved"] {
        chown(world.state().join("human-gates").join(folder), Some(NOBODY), None).unwrap();
    }
    let mut running = start_unprivileged(&world, &["--announce", "--poll-interval", "0.1"]);
    let _ = running.event("monitor_armed");
    mode(&world.open(""), 0o000);
    let line = running.event("monitor_degraded");
    assert_eq!(line["reason"], "gates_unreadable");
    assert!(line["detail"].as_str().unwrap().contains("Permission denied"), "{line}");
    mode(&world.open(""), 0o755);
    assert_eq!(short(&running.line()), "monitor_recovered gates_unreadable");
    mode(&world.resolved(""), 0o000);
    assert_eq!(short(&running.line()), "monitor_degraded resolved_unreadable");
    fs::remove_file(world.open("HDR-001.json")).unwrap();
    assert_eq!(short(&running.line()), "gate_resolved HDR-001 unknown");
    mode(&world.resolved(""), 0o755);
    assert_eq!(short(&running.line()), "monitor_recovered resolved_unreadable");
    world.answer("HDR-002");
    assert_eq!(short(&running.line()), "gate_resolved HDR-002 recorded");
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn g14_a_gate_without_rights_is_told_all_the_same() {
    let world = World::new();
    let mut running = start_unprivileged(&world, &["--announce"]);
    let _ = running.event("monitor_armed");
    world.scene.write("hidden", gate("x"));
    mode(&world.scene.join("hidden"), 0o600);
    fs::rename(world.scene.join("hidden"), world.open("HDR-001.json")).unwrap();
    assert_eq!(short(&running.line()), "gate_opened HDR-001 unreadable");
}

#[test]
fn once_has_no_grace() {
    let world = World::empty();
    let out = world.run(&["--once"]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(0), 0), "an empty folder is whole");
    fs::remove_dir(world.state()).unwrap();
    let out = world.run(&["--once"]);
    assert_eq!(out.status.code(), Some(4));
    let told: Vec<String> = lines(&out.stdout).iter().map(short).collect();
    assert_eq!(told, ["monitor_degraded state_dir_missing"]);
    world.scene.write("state", "a file");
    let out = world.run(&["--once"]);
    assert_eq!(out.status.code(), Some(4));
    let told: Vec<String> = lines(&out.stdout).iter().map(short).collect();
    assert_eq!(told, ["monitor_degraded state_dir_missing"]);

    let world = World::new();
    fs::remove_dir(world.open("")).unwrap();
    world.scene.write("state/human-gates/open", "a file");
    let out = world.run(&["--once"]);
    assert_eq!(out.status.code(), Some(4));
    let told: Vec<String> = lines(&out.stdout).iter().map(short).collect();
    assert_eq!(told, ["monitor_degraded gates_unreadable"]);
}

#[test]
fn nothing_is_written_in_what_is_watched() {
    let world = World::new();
    world.ask("HDR-001");
    world.scene.write("state/.pending-tx.json", "{}");
    let before = world.scene.tree();
    let out = world.run(&["--once", "--emit-current", "--warn-after", "1s"]);
    assert!(!out.stdout.is_empty());
    assert_eq!(world.scene.tree(), before);
}

#[test]
fn a_default_folder_is_found_in_the_main_work_tree() {
    let world = World::empty();
    let scene = &world.scene;
    let tree = scene.dir("tree");
    let _ = scene.dir("main/.git/worktrees/tree");
    let _ = scene.dir("main/.agent-atelier/human-gates/open");
    scene.write("main/.agent-atelier/human-gates/open/A.json", gate("A"));
    scene.write(
        "tree/.git",
        format!("gitdir: {}\n", scene.join("main/.git/worktrees/tree").display()),
    );
    scene.write("main/.git/worktrees/tree/commondir", "../..\n");
    let mut command = tests::command(env!("CARGO_BIN_EXE_gate-watch"));
    let out = command.current_dir(&tree).args(["--once", "--emit-current"]).output().unwrap();
    let told: Vec<String> = lines(&out.stdout).iter().map(short).collect();
    assert_eq!(told, ["gate_opened A initial"]);
    let warning = String::from_utf8(out.stderr).unwrap();
    assert!(warning.contains("main/.agent-atelier") && warning.lines().count() == 1, "{warning}");

    // Given, it is taken as it is.
    let out = command.arg("--state-dir=.agent-atelier").output().unwrap();
    assert_eq!(out.status.code(), Some(4));

    // The nearer one wins, and is waited for beside the other.
    let _ = scene.dir("tree/.agent-atelier");
    let mut command = tests::command(env!("CARGO_BIN_EXE_gate-watch"));
    let out = command.current_dir(&tree).args(["--once", "--emit-current"]).output().unwrap();
    assert_eq!((out.status.code(), out.stdout.len()), (Some(0), 0));
}

#[test]
fn gw08_without_watches_it_polls() {
    let world = World::new();
    world.ask("HDR-001");
    let poller = world.start(&["--poll-only"]);
    let open = fs::read_dir(format!("/proc/{}/fd", poller.pid())).unwrap();
    let open: Vec<String> =
        open.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    // Enough descriptors to list a folder and read a file, too few to be told of changes.
    let mut free = (0..).filter(|number: &u32| !open.contains(&number.to_string()));
    let limit = free.nth(1).unwrap() + 1;
    let mut command = tests::command("sh");
    let limited = format!("ulimit -n {limit}; exec \"$@\"");
    command.args(["-c", &limited, "sh", env!("CARGO_BIN_EXE_gate-watch"), "--state-dir"]);
    command.arg(world.state()).args(["--poll-interval", "0.05", "--announce"]);
    let mut running = Running::start(&mut command);
    let line = running.event("monitor_degraded");
    assert_eq!(line["reason"], "watch_limit");
    assert_eq!(line["retry_in_seconds"], 60);
    let _ = running.event("monitor_armed");
    world.ask("HDR-002");
    assert_eq!(short(&running.line()), "gate_opened HDR-002");
    world.answer("HDR-001");
    assert_eq!(short(&running.line()), "gate_resolved HDR-001 recorded");
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn gw08_when_the_last_watch_is_taken_it_polls() {
    // Of the folders none can be watched, or the first one only.
    for left in [0, 1] {
        let world = World::new();
        let script = format!("echo {left} >/proc/sys/user/max_inotify_watches; exec \"$@\"");
        let mut command = tests::command("unshare");
        command.args(["--user", "--map-root-user", "sh", "-c", &script, "sh"]);
        command.arg(env!("CARGO_BIN_EXE_gate-watch")).arg("--state-dir").arg(world.state());
        let mut running = Running::start(command.args(["--poll-interval", "0.05", "--announce"]));
        let line = running.event("monitor_degraded");
        assert_eq!(
            (&line["reason"], &line["retry_in_seconds"]),
            (&"watch_limit".into(), &60.into())
        );
        let _ = running.event("monitor_armed");
        world.ask("HDR-001");
        assert_eq!(short(&running.line()), "gate_opened HDR-001");
        world.answer("HDR-001");
        assert_eq!(short(&running.line()), "gate_resolved HDR-001 recorded");
        assert_eq!(running.stop().code, Some(0));
    }
}

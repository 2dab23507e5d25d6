//! Which folder is watched, and folders that come and go.

use std::fs;

use serde_json::json;
use tests::{Running, Scene, command, git, lines};

use crate::world::{
    EXE, STORE, World, health, item, ready, recovered, silent_end, stderr, store, warned,
};

/// A repository in `world` with a linked work tree in `linked`.
fn linked_work_tree() -> Scene {
    let scene = Scene::new();
    git::level_repository(&scene);
    git::git(&scene, &["-C", "world", "worktree", "add", "--quiet", "../linked"]);
    scene
}

#[test]
fn h21_a_linked_work_tree_without_the_folder_watches_the_main_one() {
    let scene = linked_work_tree();
    let _ = scene.dir("world/.agent-atelier");
    let _ = scene.dir("linked/deep/below");
    scene.replace("world/.agent-atelier/work-items.json", store(&[item("WI-1", 300)]));
    let below = scene.join("linked/deep/below");
    let out = command(EXE).arg("--once").current_dir(&below).output().unwrap();
    assert_eq!(lines(&out.stdout)[0]["work_item_id"], "WI-1");
    let warning = stderr(&out);
    assert!(warning.starts_with("heartbeat-watch: warning: "), "{warning}");
    assert!(warning.contains("world/.agent-atelier") && warning.lines().count() == 1, "{warning}");

    let given = ["--once", "--state-dir", ".agent-atelier"];
    let out = command(EXE).args(given).current_dir(&below).output().unwrap();
    assert_eq!(out.status.code(), Some(4));
    assert_eq!(
        (lines(&out.stdout)[0]["reason"].clone(), stderr(&out)),
        (json!("state_dir_missing"), String::new())
    );
}

#[test]
fn h21_a_folder_that_appears_in_the_main_work_tree_later_is_found() {
    let scene = linked_work_tree();
    let mut program = command(EXE);
    program.current_dir(scene.join("linked")).args(["--poll-interval", "1"]);
    let mut running = Running::start(&mut program);
    let _ = scene.dir("world/.agent-atelier");
    scene.replace("world/.agent-atelier/work-items.json", store(&[item("WI-1", 300)]));
    warned(&mut running, "WI-1", "warning");
    // The choice stands, though the nearer one appears.
    let _ = scene.dir("linked/.agent-atelier");
    scene.replace("linked/.agent-atelier/work-items.json", store(&[item("WI-2", 300)]));
    scene.replace("world/.agent-atelier/work-items.json", store(&[item("WI-1", 3600)]));
    recovered(&mut running, "WI-1", "renewed");
    let ended = running.stop();
    assert!(ended.lines.is_empty() && ended.stderr.lines().count() == 1, "{ended:?}");
}

#[test]
fn the_nearer_folder_is_watched_if_it_is_there() {
    let scene = linked_work_tree();
    for tree in ["world", "linked"] {
        let _ = scene.dir(&format!("{tree}/.agent-atelier"));
        scene.replace(
            format!("{tree}/.agent-atelier/work-items.json").as_str(),
            store(&[item(tree, 300)]),
        );
    }
    let out = command(EXE).arg("--once").current_dir(scene.join("linked")).output().unwrap();
    assert_eq!(
        (lines(&out.stdout)[0]["work_item_id"].clone(), stderr(&out)),
        (json!("linked"), String::new())
    );
}

#[test]
fn a_folder_that_does_not_exist_yet_is_waited_for() {
    let scene = Scene::new();
    let mut program = command(EXE);
    program.current_dir(scene.path()).args(["--state-dir", "a/b/state"]);
    let mut running = Running::start(&mut program);
    let _ = scene.dir("a/b/state");
    scene.replace("a/b/state/work-items.json", store(&[item("WI-1", 300)]));
    warned(&mut running, "WI-1", "warning");
    silent_end(running);
}

#[test]
fn a_folder_that_is_removed_and_made_again_is_watched_again() {
    let world = World::new();
    let mut markers = vec![item("WI-1", 300)];
    world.commit(&markers);
    let mut running = world.start(&[]);
    warned(&mut running, "WI-1", "warning");
    for n in 0..20 {
        // Back at once: no event, and what was said stays said.
        fs::remove_dir_all(world.scene.join("state")).unwrap();
        let _ = world.scene.dir("state");
        markers.push(item(&format!("marker {n}"), 300));
        world.commit(&markers);
        warned(&mut running, &format!("marker {n}"), "warning");
    }
    silent_end(running);
}

#[test]
fn a_folder_that_is_gone_is_told_after_two_seconds() {
    let world = World::new();
    world.commit(&[item("WI-1", 300)]);
    let mut running = world.start(&[]);
    warned(&mut running, "WI-1", "warning");
    fs::rename(world.scene.join("state"), world.scene.join("away")).unwrap();
    let line = health(&mut running, "monitor_degraded", "state_dir_missing");
    assert!(line["detail"].as_str().unwrap().ends_with("/state: no such folder"), "{line}");
    fs::rename(world.scene.join("away"), world.scene.join("state")).unwrap();
    let line = health(&mut running, "monitor_recovered", "state_dir_missing");
    assert!(line["blind_seconds"].is_u64(), "{line}");
    world.commit(&[item("WI-1", 3600)]);
    recovered(&mut running, "WI-1", "renewed");
    silent_end(running);
}

#[test]
fn one_look_at_an_absent_folder_is_incomplete_and_at_an_empty_one_complete() {
    let world = World::new();
    let out = world.once(&[]);
    assert_eq!((out.status.code(), &*out.stdout, stderr(&out)), (Some(0), &b""[..], String::new()));
    fs::remove_dir(world.scene.join("state")).unwrap();
    let out = world.once(&[]);
    assert_eq!(out.status.code(), Some(4));
    let lines = lines(&out.stdout);
    assert_eq!((lines.len(), &lines[0]["reason"]), (1, &json!("state_dir_missing")));
}

#[test]
fn a_state_folder_behind_a_symbolic_link_has_one_identity() {
    let world = World::new();
    world.commit(&[item("WI-1", -60)]);
    std::os::unix::fs::symlink("state", world.scene.join("link")).unwrap();
    let id = |dir: &str| {
        let mut program = command(EXE);
        program.current_dir(world.scene.path()).args(["--once", "--state-dir", dir]);
        lines(&program.output().unwrap().stdout)[0]["id"].clone()
    };
    assert_eq!(id("state"), id("link"));
    assert_eq!(id("state"), id(&format!("{}/state/", world.scene.path().display())));
}

#[test]
fn polling_sees_what_the_system_does_not_tell() {
    let world = World::new();
    let mut running =
        ready(&world.scene, &mut world.program(&["--poll-only", "--poll-interval", "0.1"]));
    world.commit(&[item("WI-1", 300)]);
    warned(&mut running, "WI-1", "warning");
    world.remove(STORE);
    health(&mut running, "monitor_degraded", "store_missing");
    world.commit(&[item("WI-1", 3600)]);
    health(&mut running, "monitor_recovered", "store_missing");
    recovered(&mut running, "WI-1", "renewed");
    silent_end(running);
}

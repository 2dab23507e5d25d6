//! What was said outlives the process.

use std::fs;

use serde_json::{Value, json};
use tests::{Running, Scene, git, lines};

use crate::world::{World, health, item, recovered, silent_end, stderr, warned, with_lease};

#[test]
fn h18_a_restart_repeats_with_the_same_id_or_with_a_cursor_not_at_all() {
    let world = World::new();
    let expired = item("WI-1", -60);
    world.commit(std::slice::from_ref(&expired));
    let mut running = world.start(&["--cursor", "own/cursor"]);
    let told = warned(&mut running, "WI-1", "expired");
    // Killed once what it said is saved, as soon as a program can be.
    tests::eventually("the cursor is saved", || world.scene.join("own/cursor").exists());
    assert!(running.kill().is_empty());

    let mut plain = world.start(&[]);
    let again = warned(&mut plain, "WI-1", "expired");
    assert_eq!((&again["id"], &again["key"]), (&told["id"], &told["key"]));
    silent_end(plain);

    let mut running = world.start(&["--cursor", "own/cursor"]);
    world.commit(&[expired, item("marker", 300)]);
    warned(&mut running, "marker", "warning");
    silent_end(running);

    // Renewed while nobody looked.
    world.commit(&[item("WI-1", 3600)]);
    let out = world.once(&["--cursor", "own/cursor"]);
    let lines = lines(&out.stdout);
    let reasons: Vec<_> =
        lines.iter().map(|line| (&line["work_item_id"], &line["reason"])).collect();
    assert_eq!(
        reasons,
        [(&json!("WI-1"), &json!("renewed")), (&json!("marker"), &json!("removed"))]
    );
}

#[test]
fn h18_fifty_short_lives_say_everything_once() {
    let world = World::new();
    let mut seen = Vec::new();
    for n in 0..50 {
        let items: Vec<Value> =
            (0..=n).map(|n| with_lease(&n.to_string(), json!("2026-04-08T14:15:00Z"))).collect();
        world.commit(&items);
        let args = ["--cursor", "cursor", "--wait", "20"];
        let out = world.program(&args).output().unwrap();
        assert_eq!(out.status.code(), Some(0));
        seen.extend(
            lines(&out.stdout).iter().map(|line| line["work_item_id"].as_str().unwrap().to_owned()),
        );
    }
    assert_eq!(seen, (0..50).map(|n| n.to_string()).collect::<Vec<_>>());
}

#[test]
fn a_cursor_that_is_damaged_is_one_warning_and_everything_is_told() {
    let world = World::new();
    world.commit(&[item("WI-1", -60)]);
    for broken in ["", "{\"version\":1,\"pro", "nonsense"] {
        world.scene.write("cursor", broken);
        let out = world.once(&["--cursor", "cursor"]);
        assert_eq!(lines(&out.stdout).len(), 1, "{broken}");
        let warning = stderr(&out);
        assert!(
            warning.starts_with("heartbeat-watch: warning: unable to recall cursor: "),
            "{warning}"
        );
        assert_eq!(warning.lines().count(), 1, "{warning}");
        assert_eq!(world.once(&["--cursor", "cursor"]).stdout, b"");
    }
}

#[test]
fn a_cursor_of_another_version_or_folder_is_refused_and_left_as_it_is() {
    let world = World::new();
    world.commit(&[item("WI-1", -60)]);
    assert_eq!(world.once(&["--cursor", "cursor"]).status.code(), Some(0));
    let ours = fs::read_to_string(world.scene.join("cursor")).unwrap();
    let path = format!("{}/state", world.scene.path().display());
    assert!(ours.contains(&path), "{ours}");
    for foreign in [
        ours.replace("\"version\":1", "\"version\":2"),
        ours.replace("heartbeat-watch", "gate-watch"),
        ours.replace(&path, "/elsewhere"),
    ] {
        world.scene.write("cursor", &foreign);
        let out = world.once(&["--cursor", "cursor"]);
        assert_eq!(out.status.code(), Some(4));
        let line = &lines(&out.stdout)[0];
        assert_eq!(
            (&line["event"], &line["reason"]),
            (&json!("monitor_failed"), &json!("cursor_refused"))
        );
        assert!(stderr(&out).starts_with("heartbeat-watch: fatal: unable to use the cursor"));
        assert_eq!(fs::read_to_string(world.scene.join("cursor")).unwrap(), foreign);
    }
}

#[test]
fn a_cursor_has_one_user() {
    let world = World::new();
    let running = world.start_ready(&["--cursor", "cursor"]);
    let out = world.once(&["--cursor", "cursor"]);
    assert_eq!(out.status.code(), Some(4));
    assert!(
        stderr(&out).contains(&format!("process {} holds it", running.pid())),
        "{}",
        stderr(&out)
    );
    silent_end(running);
    assert_eq!(world.once(&["--cursor", "cursor"]).status.code(), Some(0));
}

#[test]
fn a_cursor_among_what_is_watched_or_in_a_git_folder_is_a_usage_error() {
    let world = World::new();
    let scene = Scene::new();
    git::level_repository(&scene);
    let in_git = scene.join("world/.git/cursor");
    for cursor in
        ["state/cursor", "./state/deep/er/cursor", "state/../state/x", in_git.to_str().unwrap()]
    {
        let before = world.scene.tree();
        let out = world.once(&["--cursor", cursor]);
        assert_eq!((out.status.code(), &*out.stdout), (Some(1), &b""[..]), "{cursor}");
        assert!(stderr(&out).contains("it lies in"), "{}", stderr(&out));
        assert_eq!(world.scene.tree(), before);
    }
    assert!(!in_git.exists());
}

#[test]
fn a_cursor_that_cannot_be_written_is_told_and_the_watch_goes_on() {
    let world = World::new();
    let mut running: Running = world.start_ready(&["--cursor", "own/cursor"]);
    fs::rename(world.scene.join("own"), world.scene.join("away")).unwrap();
    world.commit(&[item("WI-1", 300)]);
    warned(&mut running, "WI-1", "warning");
    health(&mut running, "monitor_degraded", "cursor_unwritable");
    fs::rename(world.scene.join("away"), world.scene.join("own")).unwrap();
    world.commit(&[item("WI-1", 3600)]);
    recovered(&mut running, "WI-1", "renewed");
    health(&mut running, "monitor_recovered", "cursor_unwritable");
    silent_end(running);
}

//! When the remote is asked, and what is remembered from one run to the next.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::json;
use tests::{Running, eventually};

use crate::world::{Once, World};

fn cursor(world: &World) -> String {
    world.path("memory/cursor").display().to_string()
}

#[test]
fn a_cursor_remembers_what_was_said() {
    let world = World::new();
    let file = cursor(&world);
    world.advance(6);
    let first = world.once("checkout", &["--cursor", &file]);
    assert_eq!(first.event()["commits_behind"], 6);
    let mode = |path: &str| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);

    let second = world.once("checkout", &["--cursor", &file]);
    assert_eq!((second.code, second.lines.len()), (Some(0), 0));
    // Without it the same line comes again, with the same identity.
    assert_eq!(world.once("checkout", &[]).event()["id"], first.event()["id"]);

    world.git("checkout", &["fetch", "-q"]);
    world.git("checkout", &["merge", "-q", "--ff-only", "origin/main"]);
    let third = world.once("checkout", &["--cursor", &file]);
    assert_eq!(third.event()["event"], "branch_divergence_cleared");
    assert_eq!(third.event()["previous"], 6);
}

#[test]
fn a_base_rewritten_between_two_runs_is_told() {
    let world = World::new();
    let file = cursor(&world);
    world.advance(6);
    world.once("checkout", &["--cursor", &file]).event();
    world.git("up", &["commit", "-q", "--amend", "--allow-empty", "-m", "another"]);
    world.advance(0);
    let again = world.once("checkout", &["--cursor", &file]);
    assert_eq!(again.event()["base_rewritten"], true);
}

#[test]
fn a_cursor_of_another_checkout_is_refused_and_a_broken_one_is_not() {
    let world = World::new();
    let file = cursor(&world);
    world.advance(6);
    world.once("checkout", &["--cursor", &file]).event();
    let kept = fs::read(&file).unwrap();
    world.git(".", &["clone", "-q", "remote.git", "second"]);
    let refused = world.once("second", &["--cursor", &file]);
    assert_eq!((refused.code, &refused.lines[0]["reason"]), (Some(4), &json!("cursor_refused")));
    assert_eq!(fs::read(&file).unwrap(), kept);

    world.scene.write("memory/cursor", "{\"version\":");
    let told = world.once("checkout", &["--cursor", &file]);
    assert_eq!(told.event()["commits_behind"], 6);
    assert_eq!(told.stderr.lines().count(), 1, "{}", told.stderr);
}

#[test]
fn a_cursor_in_the_git_folder_is_a_usage_error() {
    let world = World::new();
    world.git("checkout", &["worktree", "add", "-q", "-b", "linked", "../linked"]);
    for (dir, file) in [
        ("checkout", "checkout/.git/cursor"),
        ("linked", "checkout/.git/deep/cursor"),
        ("linked", "checkout/.git/worktrees/linked/cursor"),
    ] {
        let before = world.scene.tree();
        let once = world.once(dir, &["--cursor", world.path(file).to_str().unwrap()]);
        assert_eq!((once.code, once.lines.len()), (Some(1), 0), "{once:?}");
        assert_eq!(before, world.scene.tree());
    }
}

#[test]
fn a_cursor_that_can_no_longer_be_written_is_told_and_the_watch_goes_on() {
    let world = World::new();
    let file = cursor(&world);
    world.advance(6);
    let mut program = world.start(&["--interval", "1", "--cursor", &file]);
    program.event("branch_divergence");
    eventually("it is saved", || fs::exists(&file).unwrap());
    fs::remove_dir_all(world.path("memory")).unwrap();
    world.advance(1);
    assert_eq!(program.event("branch_divergence")["commits_behind"], 7);
    assert_eq!(program.event("monitor_degraded")["reason"], "cursor_unwritable");
    let _ = world.scene.dir("memory");
    world.advance(1);
    assert_eq!(program.event("branch_divergence")["commits_behind"], 8);
    assert_eq!(program.event("monitor_recovered")["reason"], "cursor_unwritable");
}

#[test]
fn readings_say_all_that_holds_at_each_look() {
    let world = World::new();
    world.advance(15);
    let mut program = world.start(&["--emit", "readings", "--interval", "1"]);
    let first = program.event("reading");
    assert_eq!(
        (&first["subject"], &first["kind"]),
        (&json!("origin/main"), &json!("branch-divergence"))
    );
    assert_eq!((&first["look"], &first["complete"]), (&json!(1), &json!(true)));
    let entry = &first["entries"][0];
    assert_eq!(
        (&entry["key"], &entry["severity"]),
        (&json!("divergence:origin/main"), &json!("immediate"))
    );
    assert_eq!(entry["resets_on"], "revision");
    assert_eq!(program.event("reading")["look"], 2);

    fs::rename(world.path("remote.git"), world.path("away.git")).unwrap();
    let failed = loop {
        let reading = program.event("reading");
        if !reading["error"].is_null() {
            break reading;
        }
    };
    assert_eq!((&failed["complete"], &failed["entries"]), (&json!(false), &json!([])));
    assert_eq!(failed["error"]["kind"], "transient");
    assert_eq!(failed["error"]["reason"], "remote_unreachable");
}

#[test]
fn without_a_watch_the_sweep_sees_the_checkout_move() {
    let world = World::new();
    world.advance(6);
    let mut program = world.start(&["--poll-only", "--interval", "1"]);
    program.event("branch_divergence");
    world.git("checkout", &["fetch", "-q"]);
    world.git("checkout", &["merge", "-q", "--ff-only", "origin/main"]);
    program.event("branch_divergence_cleared");
}

#[test]
fn a_change_of_the_checkout_counts_though_the_remote_is_gone() {
    let world = World::new();
    world.advance(6);
    let mut program = Running::start(&mut world.on("checkout", &["--interval", "2"]));
    program.event("branch_divergence");
    world.git("checkout", &["fetch", "-q"]);
    fs::rename(world.path("remote.git"), world.path("away.git")).unwrap();
    program.event("monitor_degraded");
    world.git("checkout", &["merge", "-q", "--ff-only", "origin/main"]);
    program.event("branch_divergence_cleared");
    let once = Once::of(&mut world.on("checkout", &["--once"]));
    assert_eq!(once.degraded().0, "remote_unreachable");
}

#[test]
fn a_wait_ends_with_the_first_event_or_with_3() {
    let world = World::new();
    let ended = world.start(&["--wait", "1"]).end();
    assert_eq!((ended.code, ended.lines.len()), (Some(3), 0));
    let program = world.start(&["--wait", "1h", "--interval", "1"]);
    world.advance(6);
    let ended = program.end();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 1));
    assert_eq!(ended.lines[0]["commits_behind"], 6);
}

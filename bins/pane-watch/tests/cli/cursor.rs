//! What was told outlives the process.

use std::fs;

use tests::tmux::Tmux;

use crate::world::{World, told};

#[test]
fn a_pane_that_went_meanwhile_is_gone_and_nothing_is_told_twice() {
    let world = World::new();
    let (stays, goes) = (world.idle(), world.idle());
    let cursor = world.path("c/cursor");
    let state = ["--cursor", &cursor, "--untracked-after=0.001"];
    let (_, lines) = world.once(&state);
    assert_eq!(told(&lines), [("untracked_pane", &*stays), ("untracked_pane", &*goes)]);
    assert_eq!(world.once(&state), (Some(0), Vec::new()));
    world.tmux.run(&["kill-pane", "-t", &goes]);
    let comes = world.idle();
    let (_, lines) = world.once(&state);
    assert_eq!(told(&lines), [("untracked_pane", &*comes), ("pane_gone", &*goes)]);
    assert_eq!(lines[0]["preexisting"], false, "it was not there at the first sweep");
    assert_eq!(world.once(&state), (Some(0), Vec::new()));
    // Without the file all that stands is told again, with the same id.
    let (_, again) = world.once(&["--untracked-after=0.001"]);
    assert_eq!(told(&again), [("untracked_pane", &*stays), ("untracked_pane", &*comes)]);
    assert_eq!(again[1]["id"], lines[0]["id"]);
}

#[test]
fn a_lead_that_went_is_told_once_and_its_window_watched_on() {
    let world = World::new();
    let pane = world.idle();
    let cursor = world.path("c/cursor");
    let state = ["--cursor", &cursor, "--baseline", "--untracked-after=0.001"];
    assert_eq!(world.once(&state), (Some(0), Vec::new()));
    world.tmux.run(&["kill-pane", "-t", &world.tmux.pane]);
    assert_eq!(told(&world.once(&state).1), [("known_pane_gone", &*world.tmux.pane)]);
    let late = world.tmux.split(&pane, "exec sleep 1000");
    assert_eq!(told(&world.once(&state).1), [("untracked_pane", &*late)]);
    // A lead that was never seen is no lead that went.
    assert_eq!(world.once(&["--cursor", &cursor, "--lead", "%4242"]).0, Some(3));
}

#[test]
fn a_cursor_of_another_server_is_refused_and_a_damaged_one_replaced() {
    let world = World::new();
    let pane = world.idle();
    let cursor = world.path("c/cursor");
    let state = ["--cursor", &cursor, "--untracked-after=0.001"];
    assert_eq!(world.once(&state).0, Some(0));
    let kept = fs::read(world.scene.join("c/cursor")).unwrap();
    let other = Tmux::named(&world.scene, "other");
    assert_eq!(world.once(&["--cursor", &cursor, "-S", other.socket()]).0, Some(4));
    assert_eq!(fs::read(world.scene.join("c/cursor")).unwrap(), kept);
    world.scene.write("c/cursor", "{");
    let out = world.command(&state).arg("--once").output().unwrap();
    assert_eq!(told(&tests::lines(&out.stdout)), [("untracked_pane", &*pane)]);
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(stderr.contains("is damaged") && stderr.lines().count() == 1, "{stderr}");
}

//! Scopes, and windows that are switched, linked and moved.

use nix::sys::signal::{Signal, kill};
use tests::eventually;

use crate::world::{World, next, told};

/// A new window that the user then looks at: its first pane.
fn new_window(world: &World) -> String {
    world.tmux.run(&["new-window", "-t", "0:", "-PF", "#{pane_id}", "exec sleep 1000"])
}

/// A new session: its first pane.
fn new_session(world: &World, name: &str) -> String {
    let new = ["new-session", "-dPF", "#{pane_id}", "-s", name, "exec sleep 1000"];
    world.tmux.run(&new)
}

#[test]
fn g8_the_user_switches_windows_and_nothing_is_told() {
    let world = World::new();
    let own = world.idle();
    let mut watch = world.watch(&["--baseline"]);
    let lead_window = world.tmux.show(&world.tmux.pane, "#{window_id}");
    for _ in 0..3 {
        let other = new_window(&world);
        world.tmux.run(&["select-window", "-t", &lead_window]);
        world.tmux.run(&["select-window", "-t", &other]);
    }
    // The same panes are looked at still.
    world.tmux.run(&["kill-pane", "-t", &own]);
    assert_eq!(watch.event("pane_gone")["pane"], *own);
}

#[test]
fn g8_the_scope_says_how_far_it_looks() {
    let world = World::new();
    let beside = world.idle();
    let window = new_window(&world);
    let session = new_session(&world, "other");
    for (scope, panes) in [
        ("window", &[&beside][..]),
        ("session", &[&beside, &window]),
        ("server", &[&beside, &window, &session]),
    ] {
        let (code, lines) = world.once(&["--scope", scope, "--untracked-after=0.001"]);
        let wanted: Vec<(&str, &str)> =
            panes.iter().map(|pane| ("untracked_pane", &***pane)).collect();
        assert_eq!((code, told(&lines)), (Some(0), wanted), "{scope}");
        assert!(lines.iter().all(|line| line["preexisting"] == true));
        assert!(world.once(&["--scope", scope, "--lead", "%99"]).0 == Some(3), "{scope}");
    }
}

#[test]
fn g8_a_linked_window_has_each_pane_once() {
    let world = World::new();
    let pane = world.idle();
    let other = new_session(&world, "other");
    let window = world.tmux.show(&pane, "#{window_id}");
    world.tmux.run(&["link-window", "-s", &window, "-t", "other:7"]);
    for scope in ["window", "session", "server"] {
        let (_, lines) =
            world.once(&["--scope", scope, "--known", &other, "--untracked-after=0.001"]);
        assert_eq!(told(&lines), [("untracked_pane", &*pane)], "{scope}");
    }
    // Linked and unlinked while it is watched, its panes stay what they were.
    let mut watch = world.watch(&["--scope=server", "--known", &other, "--baseline"]);
    world.tmux.run(&["unlink-window", "-t", "other:7"]);
    world.tmux.run(&["link-window", "-s", &window, "-t", "other:8"]);
    world.tmux.run(&["kill-pane", "-t", &pane]);
    assert_eq!(watch.event("pane_gone")["pane"], *pane);
}

#[test]
fn g8_a_window_that_switches_sessions_is_followed() {
    let world = World::new();
    let pane = world.idle();
    let other = new_session(&world, "other");
    let window = world.tmux.show(&pane, "#{window_id}");
    new_window(&world);
    for scope in ["window", "session"] {
        let mut watch = world.watch(&["--scope", scope, "--baseline"]);
        world.tmux.run(&["move-window", "-s", &window, "-t", "other:7"]);
        world.tmux.run(&["move-window", "-s", &window, "-t", "0:7"]);
        world.tmux.run(&["move-window", "-s", &window, "-t", "other:7"]);
        let marker = world.idle();
        let mut line = watch.line();
        // In the scope of a session the other window of its new one comes into sight.
        if line["pane"] == *other {
            assert_eq!((scope, &line["event"]), ("session", &"untracked_pane".into()));
            line = watch.line();
        }
        assert_eq!((&line["event"], &line["pane"]), (&"untracked_pane".into(), &(*marker).into()));
        world.tmux.run(&["kill-pane", "-t", &marker]);
        next(&mut watch, "pane_gone");
        assert!(watch.stop().lines.is_empty());
        world.tmux.run(&["move-window", "-s", &window, "-t", "0:7"]);
    }
}

#[test]
fn g8_a_pane_that_leaves_the_scope_is_dropped_and_no_news_when_it_comes_back() {
    let world = World::new();
    let pane = world.idle();
    let mut watch = world.watch(&["--cursor", &world.path("c/cursor")]);
    assert_eq!(watch.event("untracked_pane")["pane"], *pane);
    world.tmux.run(&["break-pane", "-d", "-s", &pane]);
    let is_away = || {
        let text = std::fs::read_to_string(world.scene.join("c/cursor")).unwrap_or_default();
        text.contains("\"is_away\":true")
    };
    eventually("it is away", is_away);
    world.tmux.run(&["join-pane", "-d", "-s", &pane, "-t", &world.tmux.pane]);
    eventually("it is back", || !is_away());
    world.tmux.run(&["kill-pane", "-t", &pane]);
    assert_eq!(watch.event("pane_gone")["pane"], *pane);
}

#[test]
fn g8_after_the_lead_the_window_is_watched_and_then_nothing() {
    let world = World::new();
    new_session(&world, "other");
    let pane = world.idle();
    let mut watch = world.watch(&["--baseline"]);
    world.tmux.run(&["kill-pane", "-t", &world.tmux.pane]);
    let gone = watch.event("known_pane_gone");
    assert_eq!((&gone["role"], &gone["pane"]), (&"lead".into(), &(*world.tmux.pane).into()));
    let late = world.tmux.split(&pane, "exec sleep 1000");
    assert_eq!(watch.event("untracked_pane")["pane"], *late);
    let window = world.tmux.show(&pane, "#{window_id}");
    world.tmux.run(&["kill-window", "-t", &window]);
    let mut ended = vec![watch.event("pane_gone"), watch.event("pane_gone")];
    ended.sort_by_key(|line| line["pane"].to_string());
    assert_eq!(told(&ended), [("pane_gone", &*pane), ("pane_gone", &*late)]);
    assert_eq!(watch.event("monitor_stopped")["reason"], "window_gone");
    assert_eq!(watch.end().code, Some(0));
}

#[test]
fn g8_a_lead_that_dies_and_is_kept_is_known_gone_once() {
    let world = World::new();
    world.tmux.run(&["set-option", "-g", "remain-on-exit", "on"]);
    let mut watch = world.watch(&[]);
    let pid = world.tmux.pid_of(&world.tmux.pane);
    kill(pid, Signal::SIGKILL).unwrap();
    assert_eq!(watch.event("known_pane_gone")["role"], "lead");
    world.tmux.run(&["respawn-pane", "-t", &world.tmux.pane, "exec sleep 1000"]);
    let marker = world.idle();
    assert_eq!(watch.event("untracked_pane")["pane"], *marker);
}

//! Panes end.

use nix::sys::signal::{Signal, kill};
use serde_json::Value;
use tests::{eventually, tmux::Tmux};

use crate::world::{World, next};

/// A pane that ends with `code` once it was seen and told of; what is told of its end.
fn end(remain: &str, code: i64) -> (String, Vec<Value>) {
    let world = World::new();
    world.tmux.run(&["set-option", "-g", "remain-on-exit", remain]);
    let mut watch = world.watch(&[]);
    let go = world.scene.join("go");
    let pane =
        world.split(&format!("until [ -e {} ]; do sleep 0.02; done; exit {code}", go.display()));
    assert_eq!(watch.event("untracked_pane")["pane"], *pane);
    world.scene.write("go", "");
    let mut lines = vec![watch.line()];
    let marker = world.idle();
    loop {
        let line = watch.line();
        if line["pane"] == *marker {
            return (pane, lines);
        }
        lines.push(line);
    }
}

/// tmux keeps a pane that did not fail when it has not learnt of the code in time.
fn is_kept_in_doubt(line: &Value) -> bool {
    line["event"] == "pane_dead" && line.get("exit_status").is_none_or(|status| *status == 0)
}

#[test]
fn g8_a_pane_is_gone_without_remain_on_exit() {
    let (pane, lines) = end("off", 0);
    let [gone] = &*lines else { panic!("{lines:?}") };
    assert_eq!((&gone["event"], &gone["pane"]), (&"pane_gone".into(), &(*pane).into()));
    assert_eq!((&gone["process_alive"], &gone["tracked"]), (&false.into(), &false.into()));
}

#[test]
fn g8_a_pane_is_dead_with_remain_on_exit() {
    let (pane, lines) = end("on", 0);
    let [dead] = &*lines else { panic!("{lines:?}") };
    assert_eq!((&dead["event"], &dead["pane"]), (&"pane_dead".into(), &(*pane).into()));
    assert_eq!((&dead["type"], &dead["tracked"]), (&"watchdog".into(), &false.into()));
    // A busy server may not know the code in time; it is then left out.
    assert!(dead["exit_status"].as_i64().is_none_or(|status| status == 0), "{dead}");
}

#[test]
fn g8_a_pane_that_did_not_fail_is_gone_where_failed_ones_remain() {
    let (_, lines) = end("failed", 0);
    let [first, ..] = &*lines else { panic!("{lines:?}") };
    assert!(first["event"] == "pane_gone" || is_kept_in_doubt(first), "{first}");
}

#[test]
fn g8_a_pane_that_failed_is_dead_where_failed_ones_remain() {
    let (pane, lines) = end("failed", 3);
    let [dead] = &*lines else { panic!("{lines:?}") };
    assert_eq!((&dead["event"], &dead["pane"]), (&"pane_dead".into(), &(*pane).into()));
    assert!(dead["exit_status"].as_i64().is_none_or(|status| status == 3), "{dead}");
}

#[test]
fn g8_a_pane_killed_by_a_signal_says_which() {
    let world = World::new();
    world.tmux.run(&["set-option", "-g", "remain-on-exit", "on"]);
    let mut watch = world.watch(&[]);
    let pane = world.idle();
    watch.event("untracked_pane");
    kill(world.tmux.pid_of(&pane), Signal::SIGKILL).unwrap();
    let dead = watch.event("pane_dead");
    assert!(dead["exit_signal"].as_i64().is_none_or(|signal| signal == 9), "{dead}");
    assert!(
        dead["exit_status"].is_null()
            && dead["died_at"].as_str().is_none_or(|at| at.ends_with('Z'))
    );
    // The corpse that is taken away is gone, which is another event.
    world.tmux.run(&["kill-pane", "-t", &pane]);
    assert_eq!(watch.event("pane_gone")["pane"], *pane);
}

/// Respawns `pane` until its process is another one.
fn respawn(tmux: &Tmux, pane: &str) {
    let before = tmux.pid_of(pane);
    tmux.run(&["respawn-pane", "-k", "-t", pane, "exec sleep 1000"]);
    eventually("another process", || tmux.pid_of(pane) != before);
}

#[test]
fn g8_respawned_twice_a_pane_has_an_event_for_each_incarnation() {
    let world = World::new();
    let mut watch = world.watch(&[]);
    let pane = world.idle();
    let mut seen = vec![watch.event("untracked_pane")];
    for _ in 0..2 {
        respawn(&world.tmux, &pane);
        seen.push(watch.event("untracked_pane"));
    }
    for (n, line) in seen.iter().enumerate() {
        assert_eq!(line["pane"], *pane);
        assert!(
            seen[..n].iter().all(|other| other["pid"] != line["pid"] && other["id"] != line["id"])
        );
    }
    assert_eq!(seen[2]["pid"], world.tmux.pid_of(&pane).as_raw());
}

#[test]
fn g8_a_program_that_survives_its_pane_is_alive() {
    let world = World::new();
    let mark = world.scene.join("up");
    let mut watch = world.watch(&[]);
    // tmux ends the process group of a pane with HUP.
    let shell = format!("trap '' HUP; : >{}; while :; do sleep 1; done", mark.display());
    let pane = world.split(&shell);
    eventually("it ignores HUP", || mark.exists());
    watch.event("untracked_pane");
    let pid = world.tmux.pid_of(&pane);
    world.tmux.run(&["kill-pane", "-t", &pane]);
    let gone = watch.event("pane_gone");
    kill(pid, Signal::SIGKILL).unwrap();
    assert_eq!((&gone["process_alive"], &gone["pid"]), (&true.into(), &pid.as_raw().into()));
}

#[test]
fn g8_a_killed_pane_whose_process_obeys_is_not_alive() {
    let world = World::new();
    let mut watch = world.watch(&[]);
    for _ in 0..5 {
        let pane = world.idle();
        next(&mut watch, "untracked_pane");
        world.tmux.run(&["kill-pane", "-t", &pane]);
        assert_eq!(watch.event("pane_gone")["process_alive"], false);
    }
}

#[test]
fn without_pidfds_the_sweep_finds_the_same() {
    let world = World::new();
    let mut watch = world.watch(&["--no-pidfd"]);
    let pane = world.idle();
    assert_eq!(watch.event("untracked_pane")["pane"], *pane);
    kill(world.tmux.pid_of(&pane), Signal::SIGKILL).unwrap();
    assert_eq!(watch.event("pane_gone")["pane"], *pane);
}

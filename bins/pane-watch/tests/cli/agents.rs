//! Panes that agents run in.

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tests::{Running, eventually};

use crate::world::{World, next, told};

impl World {
    fn tracking(&self, args: &[&str]) -> Running {
        let items = self.path("items");
        self.watch(&[args, &["--items", &items]].concat())
    }

    /// A shell that starts a program, notes its pid in `name`, and outlives it when `keep` says
    /// how: the pane and the program.
    fn agent(&self, name: &str, keep: &str) -> (String, Pid) {
        let file = self.scene.join(name);
        let shown = file.display();
        let shell = format!(
            "sh -c 'echo $$ >{shown}.new; mv {shown}.new {shown}; exec sleep 1000'; {keep}"
        );
        let pane = self.split(&shell);
        eventually("the agent runs", || file.exists());
        let pid = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
        (pane, Pid::from_raw(pid))
    }

    fn pid_field(&self, name: &str) -> String {
        format!(r#","pid_file":"{}""#, self.path(name))
    }
}

#[test]
fn g8_a_pane_is_tracked_by_its_id_its_process_a_parent_or_its_terminal() {
    let world = World::new();
    // By a parent: a shell with more than one command stays.
    let (shell, _) = world.agent("parent.pid", "true");
    // By its own process: exec replaces the shell.
    let own = world.scene.join("own.pid");
    let exec = world.split(&format!("echo $$ >{}; exec sleep 1000", own.display()));
    // By the terminal: the program is nobody's child any more.
    let tty = world.scene.join("tty.pid");
    let stray = world.split(&format!("(sleep 1000 & echo $! >{}); exec sleep 1000", tty.display()));
    let named = world.idle();
    let nobodys = world.idle();
    for file in [&own, &tty] {
        eventually("the pid is noted", || {
            std::fs::read_to_string(file).is_ok_and(|pid| pid.ends_with('\n'))
        });
    }
    for name in ["parent", "own", "tty"] {
        world.register(name, &world.pid_field(&format!("{name}.pid")));
    }
    world.register("id", &format!(r#","pane":"{named}""#));
    let mut watch = world.tracking(&[]);
    // The sweep that told of the other left those alone.
    assert_eq!(watch.event("untracked_pane")["pane"], *nobodys);
    for (pane, agent) in [(&shell, "parent"), (&exec, "own"), (&stray, "tty"), (&named, "id")] {
        world.tmux.run(&["kill-pane", "-t", pane]);
        let gone = watch.event("pane_gone");
        assert_eq!((&gone["pane"], &gone["tracked"]), (&(**pane).into(), &true.into()));
        assert_eq!((&gone["agent"], &gone["step"]), (&agent.into(), &"1".into()));
    }
    let survivor = std::fs::read_to_string(&tty).unwrap().trim().parse().unwrap();
    let _ = kill(Pid::from_raw(survivor), Signal::SIGKILL);
}

#[test]
fn g8_a_pane_whose_shell_outlives_the_agent_is_told_after_thirty_seconds() {
    let world = World::new();
    let (pane, agent) = world.agent("pid", "exec sleep 1000");
    world.register("executor", &format!(r#"{},"pane":"{pane}""#, world.pid_field("pid")));
    let mut watch = world.tracking(&["--alive=5"]);
    kill(agent, Signal::SIGKILL).unwrap();
    let told = next(&mut watch, "pane_outlived_agent");
    assert_eq!(
        (&told["pane"], &told["agent"], &told["step"]),
        (&(*pane).into(), &"executor".into(), &"1".into())
    );
    assert_eq!(told["agent_pid"], agent.as_raw());
    assert!(told["since_sec"].as_u64().is_some_and(|since| since >= 30), "{told}");
}

#[test]
fn g8_a_pane_that_an_item_names_is_followed_wherever_it_is() {
    let world = World::new();
    let away = ["new-window", "-dt", "0:", "-PF", "#{pane_id}", "exec sleep 1000"];
    // One that never was in the scope, one that leaves it, and one that nobody has.
    let (first, second) = (world.tmux.run(&away), world.idle());
    world.register("first", &format!(r#","pane":"{first}""#));
    world.register("second", &format!(r#","pane":"{second}""#));
    world.register("third", r#","pane":"%4242""#);
    let mut watch = world.tracking(&[]);
    world.tmux.run(&["break-pane", "-d", "-s", &second]);
    let marker = world.idle();
    assert_eq!(watch.event("untracked_pane")["pane"], *marker);
    for (pane, agent) in [(&first, "first"), (&second, "second")] {
        world.tmux.run(&["kill-pane", "-t", pane]);
        let gone = watch.event("pane_gone");
        assert_eq!((&gone["pane"], &gone["agent"]), (&(**pane).into(), &agent.into()));
    }
}

#[test]
fn an_item_that_is_unregistered_leaves_its_pane_to_nobody() {
    let world = World::new();
    let pane = world.idle();
    world.register("executor", &format!(r#","pane":"{pane}""#));
    let mut watch = world.tracking(&[]);
    world.scene.append("items", "{\"op\":\"unregister\",\"agent\":\"executor\",\"step\":\"1\"}\n");
    let line = watch.event("untracked_pane");
    assert_eq!((&line["pane"], &line["preexisting"]), (&(*pane).into(), &true.into()));
}

#[test]
fn g5_what_the_registry_said_before_is_history() {
    let world = World::new();
    let (first, second) = (world.idle(), world.idle());
    world.register("first", &format!(r#","pane":"{first}""#));
    world.scene.append("items", "{\"shutdown_request\":true}\nnonsense\n");
    world.register("second", &format!(r#","pane":"{second}""#));
    let mut watch = world.tracking(&["--announce"]);
    let lost = next(&mut watch, "untracked_pane");
    assert_eq!(lost["pane"], *first, "its item fell with the shutdown");
    world.scene.append("items", "{\"shutdown_request\":true}\n");
    let stopped = watch.line();
    let stopped = if stopped["event"] == "monitor_armed" { watch.line() } else { stopped };
    assert_eq!(stopped["reason"], "shutdown_request", "{second} is told of by nobody");
    assert_eq!(watch.end().code, Some(0));
}

#[test]
fn g5_a_registry_that_vanishes_takes_no_item_along() {
    let world = World::new();
    let pane = world.idle();
    world.register("executor", &format!(r#","pane":"{pane}""#));
    let mut watch = world.tracking(&[]);
    std::fs::remove_file(world.scene.join("items")).unwrap();
    assert_eq!(watch.event("monitor_degraded")["reason"], "items_missing");
    let marker = world.idle();
    assert_eq!(watch.event("untracked_pane")["pane"], *marker);
    world.register("writer", &format!(r#","pane":"{marker}""#));
    assert_eq!(watch.event("monitor_recovered")["reason"], "items_missing");
    world.tmux.run(&["kill-pane", "-t", &pane]);
    assert_eq!(watch.event("pane_gone")["agent"], "executor");
    world.tmux.run(&["kill-pane", "-t", &marker]);
    assert_eq!(watch.event("pane_gone")["agent"], "writer");
}

#[test]
fn what_is_no_registry_ends_it_with_4() {
    let world = World::new();
    let _ = world.scene.dir("items");
    let (code, lines) = world.once(&["--items", &world.path("items")]);
    assert_eq!((code, told(&lines)), (Some(4), vec![("monitor_failed", "")]));
}

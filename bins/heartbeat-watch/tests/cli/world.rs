//! A state folder, what a test puts into it, and the program that watches it.

use std::{
    fs,
    process::{Command, Output},
};

use serde_json::{Value, json};
use tests::{Manager, Running, Scene, command, from_now};

pub(crate) const EXE: &str = env!("CARGO_BIN_EXE_heartbeat-watch");
pub(crate) const STORE: &str = "state/work-items.json";
pub(crate) const WAL: &str = "state/.pending-tx.json";

/// A scene with a state folder, `state`.
pub(crate) struct World {
    pub(crate) scene: Scene,
}

impl World {
    pub(crate) fn new() -> Self {
        let scene = Scene::new();
        let _ = scene.dir("state");
        Self { scene }
    }

    /// The program, watching the state folder.
    pub(crate) fn program(&self, args: &[&str]) -> Command {
        let mut command = command(EXE);
        command.current_dir(self.scene.path()).args(["--state-dir", "state"]).args(args);
        command
    }

    /// The program, started; whether it has looked is for its lines to say.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        Running::start(&mut self.program(args))
    }

    /// The program after its first complete look.
    pub(crate) fn start_ready(&self, args: &[&str]) -> Running {
        ready(&self.scene, &mut self.program(args))
    }

    pub(crate) fn once(&self, args: &[&str]) -> Output {
        self.program(args).arg("--once").output().unwrap()
    }

    /// Commits these items, as the state's writers do.
    pub(crate) fn commit(&self, items: &[Value]) {
        self.scene.replace(STORE, store(items));
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.scene.join(name)).unwrap();
    }
}

/// Starts `command`, and returns once it is ready.
pub(crate) fn ready(scene: &Scene, command: &mut Command) -> Running {
    let manager = Manager::listen(scene);
    manager.manage(command);
    let running = Running::start(command);
    manager.ready();
    running
}

pub(crate) fn store(items: &[Value]) -> String {
    json!({"revision": 41, "updated_at": "2026-04-08T14:09:58Z", "items": items}).to_string()
}

/// An implementing item of session `s1` whose lease ends in so many seconds.
pub(crate) fn item(id: &str, seconds: i64) -> Value {
    with_lease(id, json!(from_now(seconds)))
}

pub(crate) fn with_lease(id: &str, lease: Value) -> Value {
    json!({"id": id, "title": "t", "status": "implementing", "owner_session_id": "s1", "lease_expires_at": lease})
}

pub(crate) fn with_status(id: &str, status: &str) -> Value {
    json!({"id": id, "status": status, "owner_session_id": null, "lease_expires_at": null})
}

/// The next event is a warning of this item.
pub(crate) fn warned(running: &mut Running, id: &str, severity: &str) -> Value {
    let line = running.event("heartbeat_warning");
    assert_eq!(
        (&line["work_item_id"], &line["severity"]),
        (&json!(id), &json!(severity)),
        "{line}"
    );
    line
}

/// The next event is a recovery of this item.
pub(crate) fn recovered(running: &mut Running, id: &str, reason: &str) -> Value {
    let line = running.event("heartbeat_recovered");
    assert_eq!((&line["work_item_id"], &line["reason"]), (&json!(id), &json!(reason)), "{line}");
    line
}

/// The next event says that the program can't see, or sees again.
pub(crate) fn health(running: &mut Running, name: &str, reason: &str) -> Value {
    let line = running.event(name);
    assert_eq!(line["reason"], reason, "{line}");
    line
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Ends it, and says that nothing more was said.
pub(crate) fn silent_end(running: Running) {
    let ended = running.stop();
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    assert!(ended.lines.is_empty(), "{:?}", ended.lines);
}

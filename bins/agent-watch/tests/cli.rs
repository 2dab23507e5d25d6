//! The program as its users run it: real processes, real files, real signals.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

mod cli {
    mod flags;
    mod limits;
    mod metadata;
    mod processes;
    mod registry;
    mod results;
    mod scenarios;
    mod stage;
}

use std::{
    fs,
    ops::{Deref, DerefMut},
    process::{Child, Command},
};

use serde_json::Value;
use tests::{Running, Scene, command};

const EXE: &str = env!("CARGO_BIN_EXE_agent-watch");

/// A watch on `items` with windows that are over soon, and sweeps that never come.
fn watch(scene: &Scene) -> Command {
    let mut watch = command(EXE);
    watch.arg("--items").arg(scene.join("items")).arg("--no-announce");
    watch.args(["--settle=0.3", "--death-grace=0.1", "--pid-grace=0.2", "--poll-interval=1h"]);
    watch
}

/// The line of an item whose result is `AGENT.md`.
fn line(scene: &Scene, agent: &str, more: &str) -> String {
    let result = scene.join(format!("{agent}.md"));
    format!(
        "{{\"agent\":\"{agent}\",\"step\":\"5\",\"result_path\":\"{}\"{more}}}\n",
        result.display()
    )
}

fn pid_file(scene: &Scene, name: &str) -> String {
    format!(",\"pid_file\":\"{}\"", scene.join(format!("{name}.pid")).display())
}

/// A process that ends with its test.
#[derive(Debug)]
struct Agent(Child);

impl Agent {
    /// Lives until it is killed; its pid file is `NAME.pid`.
    fn start(scene: &Scene, name: &str) -> Self {
        Self::of(scene, name, command("sleep").arg("1000"))
    }

    /// Runs `command`.
    fn of(scene: &Scene, name: &str, command: &mut Command) -> Self {
        let child = command.spawn().unwrap();
        scene.replace(&format!("{name}.pid"), child.id().to_string());
        Self(child)
    }

    /// Kills it; its parent takes note.
    fn end(self) {
        drop(self);
    }
}

impl Deref for Agent {
    type Target = Child;
    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Agent {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The next line of this event; others are skipped.
fn next(watch: &mut Running, name: &str) -> Value {
    loop {
        let line = watch.line();
        if line["event"] == name {
            return line;
        }
    }
}

/// Sets the mtime of a file so many seconds back.
fn age(scene: &Scene, name: &str, seconds: u32) {
    let mut touch = command("touch");
    touch.args(["-d", &format!("-{seconds} sec")]).arg(scene.join(name));
    assert!(touch.status().unwrap().success());
}

/// Seconds since 1970, less this many.
fn epoch(before: f64) -> f64 {
    #[expect(clippy::disallowed_methods, reason = "fixtures lie at now less something")]
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64() - before
}

/// What `supervise exec --record` writes of a process, changed.
fn record(pid: u32, change: impl Fn(&mut Value)) -> String {
    let (who, _) = shared::process::look(pid).unwrap().unwrap();
    let mut record = serde_json::json!({
        "pid": pid, "start_ticks": who.start_ticks, "boot_id": who.boot_id,
        "pid_ns": who.pid_namespace, "time_ns": shared::process::time_namespace().unwrap(),
    });
    change(&mut record);
    record.to_string()
}

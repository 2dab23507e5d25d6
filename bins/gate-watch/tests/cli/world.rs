//! A state folder, and the program that watches it.

use std::{
    ffi::OsStr,
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::Value;
use tests::{Running, Scene, command};

/// A state folder of its own.
pub(crate) struct World {
    pub(crate) scene: Scene,
}

impl World {
    /// With both gate folders, empty.
    pub(crate) fn new() -> Self {
        let world = Self::empty();
        world.make();
        world
    }

    /// Without anything below the state folder.
    pub(crate) fn empty() -> Self {
        let scene = Scene::new();
        let _ = scene.dir("state");
        Self { scene }
    }

    /// Makes both gate folders.
    pub(crate) fn make(&self) {
        for folder in ["open", "resolved"] {
            let _ = self.scene.dir(&format!("state/human-gates/{folder}"));
        }
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.scene.join("state")
    }

    pub(crate) fn open(&self, file: impl AsRef<OsStr>) -> PathBuf {
        self.state().join("human-gates/open").join(file.as_ref())
    }

    pub(crate) fn resolved(&self, file: impl AsRef<OsStr>) -> PathBuf {
        self.state().join("human-gates/resolved").join(file.as_ref())
    }

    /// The program, on this state folder.
    pub(crate) fn command(&self, flags: &[&str]) -> Command {
        let mut command = command(env!("CARGO_BIN_EXE_gate-watch"));
        command.arg("--state-dir").arg(self.state()).args(flags);
        command
    }

    /// Starts it, and returns after its first look.
    pub(crate) fn start(&self, flags: &[&str]) -> Running {
        let mut running = Running::start(self.command(flags).arg("--announce"));
        let _ = running.event("monitor_armed");
        running
    }

    pub(crate) fn run(&self, flags: &[&str]) -> Output {
        self.command(flags).output().unwrap()
    }

    /// Opens a gate as the state's writers do: under another name in the same folder, then renamed.
    pub(crate) fn ask(&self, id: &str) {
        self.scene.replace(&format!("state/human-gates/open/{id}.json"), gate(id));
    }

    /// Answers a gate as they do: the record first, then the open gate goes.
    pub(crate) fn answer(&self, id: &str) {
        self.scene.replace(&format!("state/human-gates/resolved/{id}.json"), record(id));
        fs::remove_file(self.open(format!("{id}.json"))).unwrap();
    }
}

/// A gate's content.
pub(crate) fn gate(id: &str) -> String {
    format!(
        r#"{{"id":"{id}","created_at":"2026-04-08T14:00:00Z","state":"open","question":"Is it {id}?","blocking":true,"blocked_work_items":["WI-1"],"resolution":null}}"#
    )
}

/// A record's content, answered just now.
pub(crate) fn record(id: &str) -> String {
    let now = tests::from_now(0);
    format!(
        r#"{{"id":"{id}","created_at":"2026-04-08T14:00:00Z","state":"resolved","question":"Is it {id}?","unblocked_work_items":["WI-1"],"resolution":{{"chosen_option":"drop {id}","resolved_at":"{now}"}}}}"#
    )
}

/// A line in short: its event, its gate, and what is set.
pub(crate) fn short(line: &Value) -> String {
    let text = |key: &str| line[key].as_str().map(str::to_owned);
    let flags = ["initial", "late", "wal_pending"];
    let flags = flags.into_iter().filter(|key| line[*key] == true).map(str::to_owned);
    let words = ["gate_id", "reason", "resolution", "content_error"];
    let words = words.into_iter().filter_map(text);
    let event = text("event").into_iter();
    event.chain(words).chain(flags).collect::<Vec<_>>().join(" ")
}

/// The next lines, in short, up to `last`.
pub(crate) fn until(running: &mut Running, last: &str) -> Vec<String> {
    let mut seen = Vec::new();
    while seen.last().is_none_or(|line| line != last) {
        seen.push(short(&running.line()));
    }
    seen
}

/// Asks for a marker, and returns the lines before its own: silence is that there are none.
pub(crate) fn before_marker(world: &World, running: &mut Running, marker: &str) -> Vec<String> {
    world.ask(marker);
    let mut seen = until(running, &format!("gate_opened {marker}"));
    seen.pop();
    seen
}

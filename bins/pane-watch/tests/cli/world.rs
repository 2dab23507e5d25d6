//! A tmux server, and the program that watches it.

use std::process::Command;

use serde_json::Value;
use tests::{
    Running, Scene, command,
    tmux::{Tmux, blind},
};

pub(crate) const EXE: &str = env!("CARGO_BIN_EXE_pane-watch");

/// A server with the lead's pane.
pub(crate) struct World {
    // Ended before the folder goes, in which its socket is.
    pub(crate) tmux: Tmux,
    pub(crate) scene: Scene,
}

impl World {
    pub(crate) fn new() -> Self {
        let scene = Scene::new();
        Self { tmux: Tmux::start(&scene), scene }
    }

    /// A pane beside the lead's.
    pub(crate) fn split(&self, shell: &str) -> String {
        self.tmux.split(&self.tmux.pane, shell)
    }

    /// A pane that does nothing for long.
    pub(crate) fn idle(&self) -> String {
        self.split("exec sleep 1000")
    }

    /// Starts the watch, and returns once it has looked.
    pub(crate) fn watch(&self, args: &[&str]) -> Running {
        Running::ready(&self.scene, &mut self.command(args))
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut watch = bare();
        watch.args(["-S", self.tmux.socket(), "--lead", &self.tmux.pane]);
        watch.args(["--poll-interval=0.3", "--untracked-after=0.05"]).args(args);
        watch
    }

    /// One look: the exit code and the lines.
    pub(crate) fn once(&self, args: &[&str]) -> (Option<i32>, Vec<Value>) {
        let out = self.command(args).arg("--once").output().unwrap();
        (out.status.code(), tests::lines(&out.stdout))
    }

    /// A path of the scene, as an argument.
    pub(crate) fn path(&self, name: &str) -> String {
        self.scene.join(name).display().to_string()
    }

    /// Registers an agent.
    pub(crate) fn register(&self, agent: &str, more: &str) {
        let line = format!(r#"{{"agent":"{agent}","step":"1","result_path":"/r/{agent}"{more}}}"#);
        self.scene.append("items", line + "\n");
    }
}

/// The program, outside any tmux.
pub(crate) fn bare() -> Command {
    let mut watch = command(EXE);
    blind(&mut watch);
    watch
}

/// The next event of this name, whatever comes before it.
pub(crate) fn next(watch: &mut Running, name: &str) -> Value {
    loop {
        let line = watch.line();
        if line["event"] == name {
            return line;
        }
    }
}

/// The event and the pane of each line.
pub(crate) fn told(lines: &[Value]) -> Vec<(&str, &str)> {
    fn text<'a>(line: &'a Value, key: &str) -> &'a str {
        line[key].as_str().unwrap_or_default()
    }
    lines.iter().map(|line| (text(line, "event"), text(line, "pane"))).collect()
}

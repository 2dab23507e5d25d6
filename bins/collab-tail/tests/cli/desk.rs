//! A listener's desk: boards and a store in a folder of their own, and looks at them.

use std::{
    fs::File,
    path::PathBuf,
    process::Command,
    time::{Duration, SystemTime},
};

use serde_json::Value;
use tests::{Running, Scene, command, lines};

/// Boards in `boards/`, the store in `store/`.
pub(crate) struct Desk {
    pub(crate) scene: Scene,
}

/// What one look said.
#[derive(Debug, Clone)]
pub(crate) struct Look {
    pub(crate) code: Option<i32>,
    pub(crate) lines: Vec<Value>,
    pub(crate) stderr: String,
}

/// A heading that is mail.
pub(crate) fn h(what: &str) -> String {
    format!("### @worker → @lead — {what}\n")
}

impl Desk {
    pub(crate) fn new() -> Self {
        let scene = Scene::new();
        let _ = scene.dir("boards");
        Self { scene }
    }

    pub(crate) fn write(&self, board: &str, text: impl AsRef<[u8]>) {
        self.scene.write(&format!("boards/{board}"), text);
    }

    pub(crate) fn append(&self, board: &str, text: impl AsRef<[u8]>) {
        self.scene.append(&format!("boards/{board}"), text);
    }

    pub(crate) fn replace(&self, board: &str, text: impl AsRef<[u8]>) {
        self.scene.replace(&format!("boards/{board}"), text);
    }

    pub(crate) fn remove(&self, board: &str) {
        std::fs::remove_file(self.scene.join(format!("boards/{board}"))).unwrap();
    }

    pub(crate) fn path(&self, board: &str) -> String {
        self.scene.join(format!("boards/{board}")).display().to_string()
    }

    /// Makes a board look as if it had stood for so long.
    pub(crate) fn age(&self, board: &str, age: Duration) {
        let file = File::options().append(true).open(self.path(board)).unwrap();
        #[expect(clippy::disallowed_methods, reason = "a fixture that lies in the past")]
        file.set_modified(SystemTime::now() - age).unwrap();
    }

    /// The program, standing in the boards' folder.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut program = command(env!("CARGO_BIN_EXE_collab-tail"));
        program
            .current_dir(self.scene.join("boards"))
            .env("DOORBELL_STORE", self.scene.join("store"));
        program.args(args);
        program
    }

    /// One look, with these arguments.
    pub(crate) fn look(&self, args: &[&str]) -> Look {
        let out = self.command(args).arg("--once").output().unwrap();
        let stderr = String::from_utf8(out.stderr).unwrap();
        Look { code: out.status.code(), lines: lines(&out.stdout), stderr }
    }

    /// One look of `@lead` at `b`.
    pub(crate) fn look_b(&self) -> Look {
        self.look(&["@lead", "b"])
    }
}

impl Look {
    pub(crate) fn of(&self, event: &str) -> Vec<&Value> {
        self.lines.iter().filter(|line| line["event"] == event).collect()
    }

    pub(crate) fn texts(&self, event: &str) -> Vec<String> {
        self.of(event).iter().map(|line| line["text"].as_str().unwrap().to_owned()).collect()
    }

    /// Mail, without the newline.
    pub(crate) fn mail(&self) -> Vec<String> {
        self.texts("collab_mail")
    }

    /// The warnings: reason and condition.
    pub(crate) fn warnings(&self) -> Vec<(String, String)> {
        let word = |line: &Value, key: &str| line[key].as_str().unwrap().to_owned();
        self.of("watch_warn")
            .iter()
            .map(|line| (word(line, "reason"), word(line, "condition")))
            .collect()
    }

    /// Nothing was said and all was seen.
    pub(crate) fn is_silent(&self) -> bool {
        self.code == Some(0) && self.lines.is_empty() && self.stderr.is_empty()
    }
}

/// The same, as it is printed.
pub(crate) fn line(what: &str) -> String {
    h(what).trim_end().to_owned()
}

/// The `id` of each mail.
pub(crate) fn ids(lines: &[Value]) -> Vec<String> {
    let mail = lines.iter().filter(|line| line["event"] == "collab_mail");
    mail.map(|line| line["id"].as_str().unwrap().to_owned()).collect()
}

/// A path in the listener's folder.
pub(crate) fn store(desk: &Desk, name: &str) -> PathBuf {
    desk.scene.join(format!("store/collab-tail/lead/{name}"))
}

/// A watch that is ready.
pub(crate) fn ready(desk: &Desk, args: &[&str]) -> Running {
    Running::ready(&desk.scene, &mut desk.command(args))
}

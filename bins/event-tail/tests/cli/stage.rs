//! A scene with a journal in it.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use tests::{Manager, Running, Scene, command};

/// The name of the journal below the scene.
pub(crate) const JOURNAL: &str = "state/events.ndjson";

/// The line that the state's writer appends with its `n`-th commit.
pub(crate) fn line(n: u32) -> String {
    format!(
        "{{\"event\":\"state_committed\",\"revision\":{n},\"timestamp\":\"2026-01-01T00:00:00Z\"}}\n"
    )
}

/// Several of them.
pub(crate) fn some(numbers: impl IntoIterator<Item = u32>) -> String {
    numbers.into_iter().map(line).collect()
}

/// A state folder, and the program that watches it.
pub(crate) struct Stage {
    pub(crate) scene: Scene,
}

impl Stage {
    /// A state folder without a journal.
    pub(crate) fn new() -> Self {
        let scene = Scene::new();
        let _ = scene.dir("state");
        Self { scene }
    }

    /// A state folder with this journal.
    pub(crate) fn with(journal: impl AsRef<[u8]>) -> Self {
        let stage = Self::new();
        stage.scene.write(JOURNAL, journal);
        stage
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.scene.join(JOURNAL)
    }

    pub(crate) fn append(&self, text: impl AsRef<[u8]>) {
        self.scene.append(JOURNAL, text);
    }

    /// Renames the journal.
    pub(crate) fn rotate(&self, to: &str) {
        fs::rename(self.journal(), self.scene.join(to)).unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = command(env!("CARGO_BIN_EXE_event-tail"));
        command.arg("--state-dir").arg(self.scene.join("state")).args(args);
        command
    }

    /// Starts the program, and returns once it has looked.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        let manager = Manager::listen(&self.scene);
        let mut command = self.command(args);
        manager.manage(&mut command);
        let running = Running::start(&mut command);
        manager.ready();
        fs::remove_dir_all(self.scene.join("manager")).unwrap();
        running
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs it with `--once`; what it printed.
    pub(crate) fn once(&self, args: &[&str]) -> String {
        let output = self.run(&[args, &["--once"]].concat());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The next line has to be a commit of this number.
pub(crate) fn expect(running: &mut Running, n: u32) {
    assert_eq!(running.raw(), line(n));
}

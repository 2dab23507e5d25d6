//! A program and its GitHub.

use std::process::Command;

use serde_json::Value;
use tests::{
    Ended, Running, Scene, command,
    github::{GitHub, Reply, run},
};

/// Where the program lies.
pub(crate) const EXE: &str = env!("CARGO_BIN_EXE_ci-status");
/// The path of run 123.
pub(crate) const RUN: &str = "/repos/o/n/actions/runs/123";

/// A stand-in for GitHub, and a folder.
pub(crate) struct World {
    pub(crate) scene: Scene,
    pub(crate) github: GitHub,
}

impl World {
    pub(crate) fn new() -> Self {
        let scene = Scene::new();
        let github = GitHub::start(&scene);
        Self { scene, github }
    }

    /// The program with `args`, on the repository `o/n`.
    pub(crate) fn program(&self, args: &[&str]) -> Command {
        let mut program = command(EXE);
        self.github.connect(&mut program);
        program.current_dir(self.scene.path());
        program.args(["--repo", "github.com/o/n", "--poll-interval", "0.1"]).args(args);
        program
    }

    pub(crate) fn start(&self, args: &[&str]) -> Running {
        Running::start(&mut self.program(args))
    }

    /// Runs the program to its end.
    pub(crate) fn end(&self, args: &[&str]) -> Ended {
        self.start(args).end()
    }
}

/// Replies for the states of run 123.
pub(crate) fn runs(states: &[(&str, Option<&str>)]) -> Vec<Reply> {
    states.iter().map(|(status, conclusion)| Reply::json(&run(123, status, *conclusion))).collect()
}

/// Status and conclusion of each `ci_status`.
pub(crate) fn states(lines: &[Value]) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap_or("null").to_owned();
    lines
        .iter()
        .filter(|line| line["event"] == "ci_status")
        .map(|line| (word(&line["status"]), word(&line["conclusion"])))
        .collect()
}

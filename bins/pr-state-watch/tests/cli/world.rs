//! A program and its GitHub.

use std::{
    collections::BTreeMap,
    process::Command,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tests::{
    Ended, Running, Scene, command,
    github::{GitHub, check, pull},
};

/// Where the program lies.
pub(crate) const EXE: &str = env!("CARGO_BIN_EXE_pr-state-watch");
/// The head of every pull request, unless a test says otherwise.
pub(crate) const HEAD: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// What is said of each pull request.
type Pulls = Arc<Mutex<BTreeMap<u64, Value>>>;

/// A stand-in for GitHub with pull requests, and a folder.
pub(crate) struct World {
    pub(crate) scene: Scene,
    pub(crate) github: GitHub,
    pulls: Pulls,
}

impl World {
    /// Without pull requests.
    pub(crate) fn new() -> Self {
        let scene = Scene::new();
        let github = GitHub::start(&scene);
        let pulls = Pulls::default();
        let known = Arc::clone(&pulls);
        github.on_pulls(move |number| known.lock().unwrap().get(&number).cloned());
        Self { scene, github, pulls }
    }

    /// With open ones of these numbers, which have one green check.
    pub(crate) fn with(numbers: impl IntoIterator<Item = u64>) -> Self {
        let world = Self::new();
        for number in numbers {
            world.set(number, open(number));
        }
        world
    }

    /// Says this of a pull request from now on.
    pub(crate) fn set(&self, number: u64, pull: Value) {
        self.pulls.lock().unwrap().insert(number, pull);
    }

    /// Changes what is said of one.
    pub(crate) fn change(&self, number: u64, change: &[(&str, Value)]) {
        let mut pulls = self.pulls.lock().unwrap();
        for (name, value) in change {
            pulls.get_mut(&number).unwrap()[*name] = value.clone();
        }
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

    /// Merges pull request 729 and waits for the end that this is.
    pub(crate) fn merge(&self, running: Running) -> Ended {
        self.change(729, &[("state", json!("MERGED"))]);
        running.end()
    }
}

/// An open pull request with one green check.
pub(crate) fn open(number: u64) -> Value {
    pull(number, HEAD, &[check("test", "COMPLETED", "SUCCESS")])
}

/// `STATE/DECISION` of each line.
pub(crate) fn states(lines: &[Value]) -> Vec<String> {
    let word = |value: &Value| value.as_str().unwrap_or("null").to_owned();
    lines
        .iter()
        .map(|line| format!("{}/{}", word(&line["state"]), word(&line["review_decision"])))
        .collect()
}

//! A store and a work tree of their own.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::Value;
use supervise::place::{Home, Place};
use tests::{Running, Scene, built, eventually, lines};

/// Whether the means are weaker than Linux's.
pub(crate) const PLAIN: bool = cfg!(not(all(target_os = "linux", not(doorbell_plain))));

/// A command that lives until it is told to end.
pub(crate) const LASTING: &[&str] = &["sleep", "1000"];

pub(crate) struct Store {
    pub(crate) scene: Scene,
}

impl Store {
    pub(crate) fn new() -> Self {
        let scene = Scene::new();
        let _ = scene.dir("world");
        Self { scene }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.scene.join("store")
    }

    pub(crate) fn home(&self, name: &str) -> Home {
        Place::new(Some(&self.path()), Some("lane")).unwrap().home(name)
    }

    /// The program with its siblings beside it.
    pub(crate) fn supervise(&self, args: &[&str]) -> Command {
        let mut supervise = built("supervise");
        self.lead(&mut supervise);
        let (verb, rest) = args.split_first().unwrap();
        supervise.arg(verb).arg("--scope=lane").args(rest);
        supervise
    }

    /// Gives a command the store and the folder.
    pub(crate) fn lead(&self, command: &mut Command) {
        command.env("DOORBELL_STORE", self.path()).current_dir(self.scene.join("world"));
        tests::git::blind(command, &self.scene);
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.supervise(args).output().unwrap()
    }

    /// Runs what has to work, and returns its one line.
    pub(crate) fn done(&self, args: &[&str]) -> Value {
        let out = self.run(args);
        let stderr = String::from_utf8_lossy(&out.stderr);
        assert_eq!((out.status.code(), &*stderr), (Some(0), ""), "{args:?}");
        let mut printed = lines(&out.stdout);
        assert_eq!(printed.len(), 1, "{printed:?}");
        printed.remove(0)
    }

    /// Starts a command that says nothing of its readiness.
    pub(crate) fn start(&self, name: &str, argv: &[&str]) -> Value {
        self.done(&[&["start", name, "--ready=alive", "--"], argv].concat())
    }

    pub(crate) fn start_running(&self, args: &[&str]) -> Running {
        Running::start(&mut self.supervise(args))
    }

    pub(crate) fn status(&self, name: &str) -> Value {
        self.done(&["status", name])["monitors"][0].clone()
    }

    /// The command lines of all processes that know this store.
    pub(crate) fn processes(&self) -> Vec<String> {
        let needle = format!("DOORBELL_STORE={}\0", self.path().display());
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
            let dir = entry.path();
            let environment = fs::read(dir.join("environ")).unwrap_or_default();
            if memchr::memmem::find(&environment, needle.as_bytes()).is_some() {
                let line = fs::read(dir.join("cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                found.push(format!("{} {line}", dir.display()));
            }
        }
        found
    }

    /// Waits until nothing that knows this store runs.
    pub(crate) fn none_left(&self) {
        eventually("nothing is left", || self.processes().is_empty());
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.run(&["stop", "all", "--grace=0.2"]);
        if !std::thread::panicking() {
            self.none_left();
        }
    }
}

/// Whether process `pid` is there and no zombie.
pub(crate) fn lives(pid: u64) -> bool {
    let pid = u32::try_from(pid).unwrap();
    let found = shared::process::look(pid).unwrap();
    found.is_some_and(|(_, state)| state == shared::process::State::Alive)
}

pub(crate) fn kill(pid: u64) {
    let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
}

pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// What an error has to be: this code, and one line on stderr that says `words`.
pub(crate) fn refused(out: &Output, code: i32, words: &str) {
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(code), "{stderr}");
    assert!(
        stderr.starts_with("supervise: fatal: unable to ") && stderr.contains(words),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

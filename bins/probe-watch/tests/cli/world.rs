//! A probe, and a folder in which it finds what to say.

use std::{fs, process::Command};

use serde_json::Value;
use tests::{Ended, Running, Scene, command};

/// Where the program lies.
pub(crate) const EXE: &str = env!("CARGO_BIN_EXE_probe-watch");
/// The probe.
pub(crate) const PROBE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/probe");
/// A row whose targets are their own identities.
pub(crate) const ROW: &str = r#"{"protocol":1,"kind":"basin","target_pattern":"[A-Za-z0-9$()/. -]+","min_interval_seconds":1}"#;
/// The same, which has to be asked for them.
pub(crate) const ASKED: &str = r#"{"protocol":1,"kind":"basin","min_interval_seconds":1}"#;

/// How every probe begins: the request is kept, and `$n` is its number.
const BEGIN: &str = "
n=$(($(ls requests | wc -l) + 1)); cat >.request.$$; mv .request.$$ requests/$(printf %04d $n)-$$
";

/// A folder with a probe's files.
pub(crate) struct World {
    pub(crate) scene: Scene,
}

impl World {
    /// With a probe that runs `observe`.
    pub(crate) fn new(observe: &str) -> Self {
        let world = Self { scene: Scene::new() };
        let _ = world.scene.dir("requests");
        world.scene.write("row", ROW);
        world.observe(observe);
        world
    }

    /// With a probe that says `answers` one after the other; the last one stays.
    pub(crate) fn saying(answers: &[&str]) -> Self {
        let world = Self::new("cat answers/$n 2>/dev/null || cat answers/last");
        let _ = world.scene.dir("answers");
        for (at, answer) in answers.iter().enumerate() {
            world.scene.write(&format!("answers/{}", at + 1), format!("{answer}\n"));
        }
        world.scene.write("answers/last", format!("{}\n", answers.last().unwrap()));
        world
    }

    /// From now on the probe runs this.
    pub(crate) fn observe(&self, observe: &str) {
        self.scene.replace("observe", format!("{BEGIN}{observe}"));
    }

    /// The program with `args`.
    pub(crate) fn program(&self, args: &[&str]) -> Command {
        let mut program = command(EXE);
        program.current_dir(self.scene.path()).env("DOORBELL_STORE", self.scene.join("store"));
        program.args(["--probe", PROBE, "--poll-interval", "1"]).args(args);
        program
    }

    pub(crate) fn start(&self, args: &[&str]) -> Running {
        Running::start(&mut self.program(args))
    }

    /// Runs the program to its end.
    pub(crate) fn end(&self, args: &[&str]) -> Ended {
        self.start(args).end()
    }

    /// One look, as readings.
    pub(crate) fn look(&self, args: &[&str]) -> Ended {
        self.end(&[args, &["--emit", "readings", "--once"]].concat())
    }

    /// What the probe was asked, in order.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let entries = fs::read_dir(self.scene.join("requests")).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.iter().map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).collect()
    }
}

/// The kind and the reason of a reading's error.
pub(crate) fn error(reading: &Value) -> [&str; 2] {
    ["kind", "reason"].map(|name| reading["error"][name].as_str().unwrap_or("none"))
}

/// Whether process `pid` runs. One that has ended may wait for whoever adopted it.
pub(crate) fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !matches!(rest.trim().chars().next(), None | Some('Z' | 'X')))
}

//! A running watch with one item, and what it says of it.

use std::{
    fs::File,
    io::Write as _,
    path::Path,
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tests::{eventually, pause};

use crate::*;

/// A running watch with one item, `a`.
pub(crate) struct Stage {
    pub(crate) scene: Scene,
    pub(crate) watch: Running,
}

impl Stage {
    /// The watch, with windows of 200 ms and sweeps that don't matter.
    pub(crate) fn new(flags: &[&str]) -> Self {
        let scene = Scene::new();
        scene.write("log", "x");
        let mut watch = command(EXE);
        watch.arg("--items").arg(scene.join("items")).args(["--no-announce", "--settle=0.2"]);
        watch.args(["--death-grace=0.2", "--pid-grace=0.2", "--poll-interval=1h"]).args(flags);
        let watch = Running::ready(&scene, &mut watch);
        Self { scene, watch }
    }

    /// The same without inotify.
    pub(crate) fn polling(flags: &[&str]) -> Self {
        Self::new(&[&["--poll-only", "--poll-interval=0.05"], flags].concat())
    }

    /// Registers the item, with these members.
    pub(crate) fn register(&mut self, more: &str) {
        self.scene.append("items", line(&self.scene, "a", more));
        next(&mut self.watch, "item_registered");
    }

    /// Registers it with a process that lives and a progress path, and gives the process.
    pub(crate) fn busy(&mut self, more: &str) -> Agent {
        let agent = Agent::start(&self.scene, "a");
        self.register(&(self.evidence() + more));
        agent
    }

    pub(crate) fn evidence(&self) -> String {
        let log = self.scene.join("log");
        pid_file(&self.scene, "a") + &format!(",\"progress_paths\":[\"{}\"]", log.display())
    }

    pub(crate) fn result(&self) -> File {
        File::create(self.scene.join("a.md")).unwrap()
    }

    pub(crate) fn renamed(&self) {
        self.scene.replace("a.md", "done\n");
    }

    /// These come next, and nothing between; gaps are the machine's.
    #[track_caller]
    pub(crate) fn says(&mut self, want: &[&str]) {
        for want in want {
            assert_eq!(self.next(), *want);
        }
    }

    pub(crate) fn next(&mut self) -> String {
        loop {
            let line = self.watch.line();
            if line["event"] != "clock_gap" {
                return shown(&line);
            }
        }
    }

    /// Nothing else came: the end of the item is the next that is told.
    #[track_caller]
    pub(crate) fn ends(mut self) {
        self.scene.append("items", "{\"op\":\"unregister\",\"agent\":\"a\",\"step\":\"5\"}\n");
        self.says(&["item_removed reason=unregister"]);
    }
}

/// An event and what matters of it.
fn shown(line: &Value) -> String {
    let mut shown = line["event"].as_str().unwrap().to_owned();
    let keys =
        ["settled", "after_death", "reason", "result", "exit_signal", "by", "episode", "evidence"];
    for key in keys {
        let value = &line[key];
        if !value.is_null() && value != false && value != "exited" {
            shown.extend([" ", key, "=", value.to_string().trim_matches('"')]);
        }
    }
    shown
}

/// The death of a process that was killed, with this result.
pub(crate) fn killed(result: &str) -> String {
    let signal = if shared::pidfile::has_status() { " exit_signal=9" } else { "" };
    format!("process_died result={result}{signal}")
}

/// An agent that writes to its result in place, then does `then` once its stdin ends.
pub(crate) fn writer(stage: &mut Stage, then: &str) -> Agent {
    let script = format!("exec 3>\"$1\"; echo part >&3; read -r end; {then}");
    let mut sh = command("sh");
    sh.args(["-c", &script, "sh"]).arg(stage.scene.join("a.md")).stdin(Stdio::piped());
    let agent = Agent::of(&stage.scene, "a", &mut sh);
    stage.register(&stage.evidence());
    eventually("it has written", || {
        stage.scene.join("a.md").metadata().is_ok_and(|meta| meta.len() > 0)
    });
    agent
}

/// Writes to a file every 10 ms until `stop`; gives its size.
pub(crate) fn keep_writing(path: &Path, stop: &AtomicBool) -> u64 {
    let mut file = File::create(path).unwrap();
    let mut size = 0;
    while !stop.load(Ordering::Relaxed) {
        file.write_all(b"more\n").unwrap();
        size += 5;
        pause(Duration::from_millis(10));
    }
    size
}

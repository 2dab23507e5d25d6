//! The monitors, as an orchestrator runs them: started, followed, and started again when they died.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tests::{Running, built_release, eventually, git, lines};

use crate::{
    Dice,
    world::{BOARDS, PULLS, World, fact_of},
};

/// A monitor and what it told.
pub(crate) struct Monitor {
    pub(crate) name: &'static str,
    words: Vec<String>,
    follower: Option<Running>,
    pub(crate) kills: usize,
    /// Each fact, and the ids of the lines that told it.
    pub(crate) told: BTreeMap<String, Vec<String>>,
    /// Lines that are about the monitor itself, by event.
    pub(crate) health: BTreeMap<String, usize>,
    /// Resident KiB of the first run and the last, each when it had been up for a while.
    pub(crate) resident: (u64, u64),
}

pub(crate) struct Fleet {
    env: BTreeMap<String, String>,
    cwd: PathBuf,
    store: PathBuf,
    pub(crate) monitors: Vec<Monitor>,
    /// Processes that were still there after the stop.
    pub(crate) left: Vec<String>,
}

impl Fleet {
    pub(crate) fn start(world: &World) -> Self {
        let mut probe = built_release("supervise");
        world.github.connect(&mut probe);
        git::blind(&mut probe, &world.scene);
        let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
        let env = probe.get_envs().filter_map(|(k, v)| Some((text(k), text(v?)))).collect();
        let scene = &world.scene;
        let mut fleet = Self {
            env,
            cwd: scene.join("world"),
            store: scene.join("store"),
            monitors: Vec::new(),
            left: Vec::new(),
        };
        for (name, words) in monitors(&scene.path()) {
            let (follower, kills, resident) = (None, 0, (0, 0));
            let (told, health) = (BTreeMap::new(), BTreeMap::new());
            fleet.monitors.push(Monitor { name, words, follower, kills, told, health, resident });
            fleet.start_one(fleet.monitors.len() - 1);
        }
        fleet
    }

    fn supervise(&self, words: &[&str]) -> Command {
        let mut supervise = built_release("supervise");
        supervise
            .args(&words[..1])
            .arg("--scope=soak")
            .args(&words[1..])
            .envs(&self.env)
            .current_dir(&self.cwd);
        supervise
    }

    fn start_one(&mut self, at: usize) {
        let monitor = &self.monitors[at];
        let mut start = self.supervise(&["start", monitor.name, "--log-max=64K", "--"]);
        let program = built_release(&monitor.words[0]);
        let out = start.arg(program.get_program()).args(&monitor.words[1..]).output().unwrap();
        assert!(out.status.success(), "{}: {}", monitor.name, String::from_utf8_lossy(&out.stderr));
        let follower = Running::start(&mut self.supervise(&["follow", monitor.name]));
        self.monitors[at].follower = Some(follower);
    }

    /// Takes in what was told until now.
    pub(crate) fn listen(&mut self) {
        for monitor in &mut self.monitors {
            if let Some(follower) = &mut monitor.follower {
                let lines = follower.so_far();
                monitor.take(&lines);
            }
        }
    }

    /// Kills a monitor or its keeper on the spot, and starts it again.
    pub(crate) fn kill_one(&mut self, dice: &mut Dice) -> String {
        let at = usize::try_from(dice.below(self.monitors.len() as u64)).unwrap();
        let who = if dice.below(2) == 0 { "monitor" } else { "keeper" };
        let name = self.monitors[at].name;
        self.weigh(at);
        let pid = self.record(name)[who]["pid"].to_string();
        assert!(tests::command("kill").args(["-9", &pid]).status().unwrap().success());
        eventually("the death is seen", || {
            let out = self.supervise(&["status", name]).output().unwrap();
            lines(&out.stdout)[0]["monitors"][0]["alive"] == false
        });
        let ended = self.monitors[at].follower.take().unwrap().end();
        self.monitors[at].take(&ended.lines);
        self.monitors[at].kills += 1;
        self.start_one(at);
        format!("{who} of {name} killed")
    }

    fn record(&self, name: &str) -> Value {
        let path = self.store.join("supervise/soak").join(name).join("record.json");
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    /// Notes what a monitor and its keeper hold.
    fn weigh(&mut self, at: usize) {
        let record = self.record(self.monitors[at].name);
        let pid = |who: &str| u32::try_from(record[who]["pid"].as_u64().unwrap()).unwrap();
        let kib = resident_kib(pid("monitor")) + resident_kib(pid("keeper"));
        let (first, last) = &mut self.monitors[at].resident;
        *first = if *first == 0 { kib } else { *first };
        *last = kib;
    }

    /// Stops all, and looks for what is left.
    pub(crate) fn stop(&mut self) {
        (0..self.monitors.len()).for_each(|at| self.weigh(at));
        let out = self.supervise(&["stop", "all"]).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        for monitor in &mut self.monitors {
            let ended = monitor.follower.take().unwrap().end();
            monitor.take(&ended.lines);
        }
        self.left = with_store(&self.store);
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let _ = self.supervise(&["stop", "all", "--grace=1"]).output();
    }
}

impl Monitor {
    fn take(&mut self, lines: &[Value]) {
        for line in lines {
            if let Some(fact) = fact_of(line) {
                let id = line["id"].as_str().unwrap_or_default().to_owned();
                self.told.entry(fact).or_default().push(id);
            } else if let Some(event) = line["event"].as_str() {
                *self.health.entry(event.to_owned()).or_default() += 1;
            }
        }
    }
}

/// Each monitor's name and words. All remember what they have told, agent-watch apart, whose
/// agents are few: it tells again, under the same ids.
fn monitors(scene: &Path) -> Vec<(&'static str, Vec<String>)> {
    let path = |name: &str| scene.join(name).display().to_string();
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let remembering = |name: &str, text: &str| {
        let mut words = words(text);
        words.push(format!("--cursor={}", path(&format!("cursors/{name}"))));
        words
    };
    let state = format!("--state-dir {}", path("world/state"));
    let mut mail = words("collab-tail @lead");
    mail.extend((0..BOARDS).map(|n| path(&format!("boards/{n}.md"))));
    let mut pulls = remembering("pulls", "pr-state-watch --repo github.com/o/n --poll-interval=1s");
    pulls.extend((1..=PULLS).map(|n| n.to_string()));
    let divergence = "branch-divergence --poll-interval=2s --threshold=1";
    vec![
        ("heartbeat", remembering("heartbeat", &format!("heartbeat-watch {state}"))),
        ("gate", remembering("gate", &format!("gate-watch {state} --emit-current"))),
        ("events", remembering("events", &format!("event-tail {state}"))),
        ("divergence", remembering("divergence", divergence)),
        ("mail", mail),
        ("pulls", pulls),
        ("agents", words(&format!("agent-watch --items {}", path("agents/items")))),
    ]
}

fn resident_kib(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Processes that carry this store in their environment.
fn with_store(store: &Path) -> Vec<String> {
    let wanted = format!("DOORBELL_STORE={}", store.display());
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let carries = |entry: &fs::DirEntry| {
        let environ = fs::read(entry.path().join("environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|pair| pair == wanted.as_bytes())
    };
    let name =
        |entry: fs::DirEntry| fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
    entries.filter(carries).map(name).collect()
}

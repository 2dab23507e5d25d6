//! The work that is watched, and a record of all that happened in it.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt::Write as _,
    fs,
    os::unix::fs::PermissionsExt as _,
    process::Child,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tests::{
    Scene, built_release, command, from_now, git,
    github::{GitHub, Reply, answer, check, pull},
};

use crate::Dice;

pub(crate) const BOARDS: u64 = 50;
pub(crate) const AGENTS: usize = 50;
pub(crate) const PULLS: u64 = 20;
/// How long a state stays before it changes again: longer than any blindness that is made here.
const HOLD: Duration = Duration::from_secs(12);

/// Something that happened: the monitor that has to tell it, and what it has to tell.
pub(crate) type Fact = (&'static str, String);

pub(crate) struct World {
    pub(crate) scene: Scene,
    pub(crate) github: GitHub,
    pub(crate) facts: BTreeSet<Fact>,
    /// Those of a time when nothing could be written.
    pub(crate) on_full_disk: BTreeSet<Fact>,
    pub(crate) disk_is_full: bool,
    /// Whether the store has a disk of its own, that can be filled.
    pub(crate) has_small_disk: bool,
    pub(crate) github_fails: Arc<Mutex<bool>>,
    pulls: Arc<Mutex<BTreeMap<u64, Value>>>,
    approved: VecDeque<(u64, Duration)>,
    next_pull: u64,
    gates: VecDeque<(u64, Duration)>,
    items: VecDeque<(Value, Duration)>,
    agents: Vec<Option<Child>>,
    pushed: Duration,
    counts: [u64; 5],
}

impl World {
    pub(crate) fn new() -> Self {
        let scene = Scene::new();
        git::level_repository(&scene);
        git::git(&scene, &["clone", "--quiet", "--branch", "main", "remote", "other"]);
        let _ = scene.dir("world/state/human-gates/open");
        for dir in ["boards", "agents", "cursors"] {
            let _ = scene.dir(dir);
        }
        let has_small_disk = mount_store(&scene);
        scene.write("world/state/events.ndjson", "");
        scene.write("world/state/work-items.json", store(&VecDeque::new()));
        for board in 0..BOARDS {
            scene.write(&format!("boards/{board}.md"), "# board\n");
        }
        let github = GitHub::start(&scene);
        let head = "a".repeat(40);
        let open = |n| (n, pull(n, &head, &[check("test", "COMPLETED", "SUCCESS")]));
        let pulls: Arc<Mutex<BTreeMap<u64, Value>>> =
            Arc::new(Mutex::new((1..=PULLS).map(open).collect()));
        let github_fails = Arc::new(Mutex::new(false));
        let (known, fails) = (Arc::clone(&pulls), Arc::clone(&github_fails));
        github.on_documents(move |body| {
            if *fails.lock().unwrap() {
                return Reply::status(502, &json!({"message": "Server Error"}));
            }
            let known = known.lock().unwrap();
            Reply::json(&answer(body, |variables| known.get(&variables.number).cloned()))
        });
        let mut world = Self {
            scene,
            github,
            facts: BTreeSet::new(),
            on_full_disk: BTreeSet::new(),
            disk_is_full: false,
            has_small_disk,
            github_fails,
            pulls,
            approved: VecDeque::new(),
            next_pull: 1,
            gates: VecDeque::new(),
            items: VecDeque::new(),
            agents: Vec::new(),
            pushed: Duration::ZERO,
            counts: [0; 5],
        };
        world.hire();
        // The first look at each pull request says how it stands.
        (1..=PULLS).for_each(|n| world.happened("pulls", format!("{n} OPEN NONE")));
        world
    }

    /// One agent per process, all registered before the watch begins.
    fn hire(&mut self) {
        let mut items = String::new();
        for n in 0..AGENTS {
            self.agents.push(Some(self.agent(n)));
            let path =
                |end: &str| self.scene.join(format!("agents/{n}.{end}")).display().to_string();
            let item = json!({"agent": format!("a{n}"), "step": "1", "result_path": path("md"),
                "pid_file": path("pid"), "idle_stall_seconds": 86_400});
            writeln!(items, "{item}").unwrap();
        }
        self.scene.write("agents/items", items);
    }

    /// Every other one leaves its bare number, as most do, and not the record that tells it from
    /// others of that number.
    fn agent(&self, n: usize) -> Child {
        let file = format!("agents/{n}.pid");
        let sleep = ["sleep", "100000"];
        if n.is_multiple_of(2) {
            let mut agent = built_release("supervise");
            agent.args(["exec", "--record"]).arg(self.scene.join(file));
            return agent.arg("--").args(sleep).spawn().unwrap();
        }
        let child = command(sleep[0]).arg(sleep[1]).spawn().unwrap();
        self.scene.replace(&file, child.id().to_string());
        child
    }

    fn happened(&mut self, monitor: &'static str, what: String) {
        let facts = if self.disk_is_full { &mut self.on_full_disk } else { &mut self.facts };
        facts.insert((monitor, what));
    }

    fn count(&mut self, of: usize) -> u64 {
        self.counts[of] += 1;
        self.counts[of]
    }

    /// Something happens, or nothing.
    pub(crate) fn step(&mut self, dice: &mut Dice, now: Duration) {
        match dice.below(8) {
            0 => self.open_gate(now),
            1 | 2 => self.post(dice),
            3 | 4 => self.append(),
            5 => self.lease(dice, now),
            6 => self.end_an_agent(dice, now),
            _ => self.review(now),
        }
        self.let_go(now);
    }

    fn open_gate(&mut self, now: Duration) {
        let n = self.count(0);
        let name = format!("world/state/human-gates/open/G-{n}.json");
        self.scene.replace(&name, r#"{"question":"Which?","blocking":true}"#);
        self.gates.push_back((n, now));
        self.happened("gate", format!("opened G-{n}"));
    }

    fn post(&mut self, dice: &mut Dice) {
        let n = self.count(1);
        let board = format!("boards/{}.md", dice.below(BOARDS));
        self.scene.append(&board, format!("### @worker → @lead — report {n}\n"));
        self.happened("mail", format!("report {n}"));
    }

    fn append(&mut self) {
        let n = self.count(2);
        let line = format!("{{\"event\":\"state_committed\",\"revision\":{n}}}\n");
        self.scene.append("world/state/events.ndjson", line);
        self.happened("events", format!("revision {n}"));
    }

    /// The journal goes aside and a new one begins.
    pub(crate) fn rotate(&self) {
        let journal = self.scene.join("world/state/events.ndjson");
        fs::rename(&journal, journal.with_extension("ndjson.1")).unwrap();
        self.scene.write("world/state/events.ndjson", "");
    }

    fn lease(&mut self, dice: &mut Dice, now: Duration) {
        let n = self.count(3);
        let left = i64::try_from(2 + dice.below(4)).unwrap();
        let item = json!({"id": format!("WI-{n}"), "title": "t", "status": "implementing",
            "owner_session_id": "s", "lease_expires_at": from_now(left)});
        self.items.push_back((item, now));
        self.commit();
        self.happened("heartbeat", format!("WI-{n} expired"));
    }

    fn commit(&self) {
        self.scene.replace("world/state/work-items.json", store(&self.items));
    }

    /// Now and then an agent is done, or dies.
    fn end_an_agent(&mut self, dice: &mut Dice, now: Duration) {
        let ended = self.agents.iter().filter(|agent| agent.is_none()).count();
        if now.as_secs() < ended as u64 * 2 {
            return;
        }
        let Some(n) = self.agents.iter().position(Option::is_some) else { return };
        let mut child = self.agents[n].take().unwrap();
        if dice.below(2) == 0 {
            self.scene.replace(&format!("agents/{n}.md"), "done");
            self.happened("agents", format!("a{n} result_ready"));
        } else {
            self.happened("agents", format!("a{n} process_died"));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// A pull request is approved; the last one stays open, so that the watch goes on.
    fn review(&mut self, now: Duration) {
        if self.next_pull < PULLS && now.as_secs() > self.next_pull * 3 {
            let n = self.next_pull;
            self.next_pull += 1;
            self.change(n, "reviewDecision", "APPROVED");
            self.approved.push_back((n, now));
            self.happened("pulls", format!("{n} OPEN APPROVED"));
        }
    }

    fn change(&self, pull: u64, field: &str, value: &str) {
        self.pulls.lock().unwrap().get_mut(&pull).unwrap()[field] = json!(value);
    }

    /// What has held for long enough ends.
    fn let_go(&mut self, now: Duration) {
        while let Some((n, _)) = self.gates.pop_front_if(|(_, since)| *since + HOLD <= now) {
            let name = format!("world/state/human-gates/open/G-{n}.json");
            fs::remove_file(self.scene.join(name)).unwrap();
            self.happened("gate", format!("resolved G-{n}"));
        }
        let before = self.items.len();
        self.items.retain(|(_, since)| *since + HOLD * 2 > now);
        if self.items.len() < before {
            self.commit();
        }
        while let Some((n, _)) = self.approved.pop_front_if(|(_, since)| *since + HOLD <= now) {
            self.change(n, "state", "MERGED");
            self.happened("pulls", format!("{n} MERGED APPROVED"));
        }
        if self.pushed + HOLD <= now {
            self.pushed = now;
            self.push();
        }
    }

    /// Somebody else pushes a commit.
    fn push(&mut self) {
        let n = self.count(4);
        git::git(&self.scene, &["-C", "other", "commit", "--quiet", "--allow-empty", "-m", "next"]);
        git::git(&self.scene, &["-C", "other", "push", "--quiet", "origin", "HEAD:main"]);
        self.happened("divergence", format!("behind {n}"));
    }

    /// Ends all agents that are left.
    pub(crate) fn finish(&mut self) {
        for n in 0..AGENTS {
            if let Some(mut child) = self.agents[n].take() {
                child.kill().unwrap();
                child.wait().unwrap();
                self.happened("agents", format!("a{n} process_died"));
            }
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if self.has_small_disk {
            let _ = command("umount").arg("--lazy").arg(self.scene.join("store")).output();
        }
        for mut child in self.agents.iter_mut().filter_map(Option::take) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Gives the store a disk of 8 MB, where that is allowed.
fn mount_store(scene: &Scene) -> bool {
    let store = scene.dir("store");
    fs::set_permissions(&store, fs::Permissions::from_mode(0o700)).unwrap();
    let mut mount = command("mount");
    mount.args(["-t", "tmpfs", "-o", "size=8m,mode=700", "none"]).arg(store);
    mount.output().is_ok_and(|out| out.status.success())
}

fn store(items: &VecDeque<(Value, Duration)>) -> String {
    let items: Vec<&Value> = items.iter().map(|(item, _)| item).collect();
    json!({"revision": 1, "items": items}).to_string()
}

/// What a monitor's line says of the world; nothing for those of its health and the like.
pub(crate) fn fact_of(line: &Value) -> Option<String> {
    let text = |name: &str| line[name].as_str().unwrap_or_default();
    Some(match text("event") {
        "gate_opened" => format!("opened {}", text("gate_id")),
        "gate_resolved" => format!("resolved {}", text("gate_id")),
        "collab_mail" => text("text").rsplit_once(" — ")?.1.to_owned(),
        "state_committed" => format!("revision {}", line["revision"]),
        "heartbeat_warning" if text("severity") == "expired" => {
            format!("{} expired", text("work_item_id"))
        }
        "result_ready" | "process_died" => format!("{} {}", text("agent"), text("event")),
        "pr_state" => format!("{} {} {}", line["pr"], text("state"), text("review_decision")),
        "branch_divergence" => format!("behind {}", line["commits_behind"]),
        _ => return None,
    })
}

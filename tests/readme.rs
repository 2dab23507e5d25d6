//! Every command of the README, run as it stands there.

#[expect(dead_code, reason = "the tests of relay do more with a server")]
#[path = "../bins/relay/tests/cli/server.rs"]
mod server;

use std::{
    fs,
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::Command,
    sync::{Arc, Mutex},
};

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use serde_json::{Value, json};
use server::Server;
use tests::{
    Running, Scene, built, command, eventually, git,
    github::{GitHub, check, pull},
    root,
};

/// What tells each block of commands from the others, and so which of the tests below run it.
const BLOCKS: [&str; 10] = [
    "cargo build",
    "mkdir",
    "tests/run",
    "up --min",
    "spawn &&",
    "pr-state-watch",
    "collab-tail",
    "agent-watch",
    "relay pub",
    "relay sub",
];

fn blocks() -> Vec<String> {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let parts = text.split("```sh\n").skip(1);
    parts.map(|part| part.split("\n```").next().unwrap().to_owned()).collect()
}

/// The one block that has `mark`.
fn block(mark: &str) -> String {
    let mut found = blocks();
    found.retain(|block| block.contains(mark));
    assert_eq!(found.len(), 1, "{mark}: {found:?}");
    found.remove(0)
}

#[test]
fn every_block_of_commands_has_a_test() {
    for block in blocks() {
        let marks = BLOCKS.iter().filter(|mark| block.contains(**mark)).count();
        assert_eq!(marks, 1, "{block}");
    }
    for mark in BLOCKS {
        let _ = block(mark);
    }
    assert!(root().join(block("tests/run")).exists());
}

/// A repository as a reader of the README has it, and a shell in it.
struct Shell {
    scene: Scene,
    github: GitHub,
    store: &'static str,
}

impl Shell {
    fn new() -> Self {
        let scene = Scene::new();
        git::level_repository(&scene);
        let github = GitHub::start(&scene);
        Self { scene, github, store: "store" }
    }

    /// A shell with all programs on its path, in a process group of its own.
    fn command(&self, text: &str) -> Command {
        let mut shell = command("bash");
        self.github.connect(&mut shell);
        git::blind(&mut shell, &self.scene);
        let path = format!("{}:{}", programs().display(), std::env::var("PATH").unwrap());
        shell.env("PATH", path).env("DOORBELL_STORE", self.scene.join(self.store));
        shell.args(["-c", text]).current_dir(self.scene.join("world")).process_group(0);
        shell
    }

    fn start(&self, text: &str) -> Pipeline {
        Pipeline(Some(Running::start(&mut self.command(text))))
    }

    fn run(&self, text: &str) -> Vec<Value> {
        let out = self.command(text).output().unwrap();
        assert!(out.status.success(), "{text}: {}", String::from_utf8_lossy(&out.stderr));
        tests::lines(&out.stdout)
    }

    /// Makes the state that the monitors prove themselves on.
    fn make_state(&self) {
        let _ = self.scene.dir("world/.agent-atelier/human-gates/open");
        self.scene.write("world/.agent-atelier/work-items.json", r#"{"revision":1,"items":[]}"#);
        self.scene.write("world/.agent-atelier/events.ndjson", "");
    }

    /// Opens gates, one after the other, until `seen` says that it is enough.
    fn open_gates(&self, mut seen: impl FnMut() -> bool) {
        let mut gates = 0;
        eventually("a gate is told", || {
            gates += 1;
            let _ = self.scene.dir("world/.agent-atelier/human-gates/open");
            let name = format!("world/.agent-atelier/human-gates/open/HDR-1{gates}.json");
            self.scene.replace(&name, r#"{"question":"Ship it?","blocking":true}"#);
            tests::pause(std::time::Duration::from_millis(50));
            seen()
        });
    }
}

fn programs() -> PathBuf {
    PathBuf::from(built("supervise").get_program()).parent().unwrap().to_owned()
}

/// All processes of a command, ended together.
struct Pipeline(Option<Running>);

impl Pipeline {
    fn running(&mut self) -> &mut Running {
        self.0.as_mut().unwrap()
    }

    fn has(&mut self, event: &str) -> bool {
        self.running().so_far().iter().any(|line| line["event"] == event)
    }

    fn until(&mut self, event: &str) -> Value {
        loop {
            let line = self.running().line();
            if line["event"] == event {
                return line;
            }
        }
    }

    fn interrupt(mut self) {
        let running = self.0.take().unwrap();
        let group = Pid::from_raw(i32::try_from(running.pid()).unwrap());
        killpg(group, Signal::SIGINT).unwrap();
        let _ = running.end();
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        if let Some(running) = &self.0 {
            let group = Pid::from_raw(i32::try_from(running.pid()).unwrap());
            let _ = killpg(group, Signal::SIGTERM);
        }
    }
}

#[test]
fn the_first_command_watches_and_three_lines_make_events_appear() {
    let shell = Shell::new();
    let first = block("cargo build");
    let up = first.strip_prefix("cargo build && target/debug/").unwrap();
    let mut up = shell.start(up);
    shell.open_gates(|| up.has("gate_opened"));
    let three = block("mkdir");
    assert_eq!(three.lines().count(), 3);
    let (open, resolve) = three.rsplit_once('\n').unwrap();
    shell.run(open);
    let opened = loop {
        let line = up.until("gate_opened");
        if line["gate_id"] == "HDR-1" {
            break line;
        }
    };
    assert_eq!(opened["urgency"], "immediate");
    shell.run(resolve);
    assert_eq!(up.until("gate_resolved")["urgency"], "immediate");
    up.interrupt();
}

#[test]
fn an_orchestrator_sees_what_is_urgent() {
    let shell = Shell::new();
    let mut up = shell.start(&block("up --min"));
    shell.open_gates(|| up.has("gate_opened"));
    up.interrupt();

    shell.make_state();
    let said = shell.run(&block("spawn &&"));
    assert_eq!(said[0]["spawned"].as_object().unwrap().len(), 4);
    assert_eq!(said[1]["dead_monitors"], json!([]));
    shell.run("supervise stop all");
}

#[test]
fn a_lane_of_pull_requests_ends_when_all_are_merged() {
    let shell = Shell::new();
    let head = "a".repeat(40);
    let open = move |number| pull(number, &head, &[check("test", "COMPLETED", "SUCCESS")]);
    let state = Arc::new(Mutex::new("OPEN"));
    let now = Arc::clone(&state);
    shell.github.on_pulls(move |number| {
        let mut pull = open(number);
        pull["state"] = json!(*now.lock().unwrap());
        Some(pull)
    });
    // A minute between two asks is too long for a test.
    let lane = block("pr-state-watch").replace("--ready", "--ready --poll-interval 0.2");
    let mut lane = shell.start(&lane);
    let _ = lane.until("pr_state");
    *state.lock().unwrap() = "MERGED";
    while lane.until("pr_state")["state"] != "MERGED" {}
    assert_eq!(lane.0.take().unwrap().end().code, Some(0));
}

#[test]
fn a_seat_returns_at_the_first_mail() {
    let shell = Shell::new();
    shell.scene.write("world/board.md", "# board\n");
    let mut seat = shell.start(&block("collab-tail"));
    let mut posts = 0;
    eventually("mail is told", || {
        posts += 1;
        shell.scene.append("world/board.md", format!("### @lead → @seat — task {posts}\n"));
        tests::pause(std::time::Duration::from_millis(50));
        seat.has("collab_mail")
    });
    assert_eq!(seat.0.take().unwrap().end().code, Some(0));
}

#[test]
fn a_batch_of_agents_ends_when_all_have() {
    let shell = Shell::new();
    let path = shell.scene.join("world/a1.md");
    let item = json!({"agent": "a1", "step": "1", "result_path": path, "timeout_seconds": 600});
    shell.scene.write("world/agents.ndjson", format!("{item}\n"));
    let mut batch = shell.start(&block("agent-watch"));
    let _ = batch.running().line();
    shell.scene.replace("world/a1.md", "done");
    let _ = batch.until("result_ready");
    assert_eq!(batch.0.take().unwrap().end().code, Some(0));
}

#[test]
fn a_fleet_wakes_a_seat_on_another_host() {
    let mut shell = Shell::new();
    let server = Server::start(&shell.scene);
    let fleet = |text: &str| format!("export NATS_URL={}; {text}", server.url());
    shell.make_state();
    shell.run("supervise spawn");
    let publisher = shell.start(&fleet(&block("relay pub")));
    // The seat is elsewhere: another store.
    shell.store = "seat";
    let reader = fleet(&block("relay sub"));
    let look = fleet("relay sub --stream fleet --durable look --once");
    eventually("the stream is there", || shell.command(&look).output().unwrap().status.success());
    let mut seat = shell.start(&reader);
    shell.open_gates(|| seat.has("wake"));
    drop((seat, publisher));
    shell.store = "store";
    shell.run("supervise stop all");
}

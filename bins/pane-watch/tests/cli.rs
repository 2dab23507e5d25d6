//! The program as its users run it, on tmux servers of its own.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use std::{fs, process::Command};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use tests::{Running, Scene, command, documented, eventually};

const EXE: &str = env!("CARGO_BIN_EXE_pane-watch");

/// A server on a private socket, ended with the test.
struct Server {
    scene: Scene,
    lead: String,
}

impl Server {
    fn new() -> Self {
        let scene = Scene::new();
        let mut server = Self { scene, lead: String::new() };
        let started =
            server.tmux(&["-f", "/dev/null", "new-session", "-dPF", "#{pane_id}", "sleep 1000"]);
        started.trim().clone_into(&mut server.lead);
        server
    }

    fn tmux(&self, args: &[&str]) -> String {
        let mut tmux = command("tmux");
        tmux.env_remove("TMUX").env_remove("TMUX_PANE");
        let out = tmux.arg("-S").arg(self.scene.join("sock")).args(args).output().unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }

    fn split(&self, run: &str) -> String {
        self.tmux(&["split-window", "-t", &self.lead, "-dPF", "#{pane_id}", run]).trim().to_owned()
    }

    fn remain(&self, value: &str) {
        self.tmux(&["set-option", "-g", "remain-on-exit", value]);
    }

    fn pid(&self) -> Pid {
        let pid = self.tmux(&["display-message", "-p", "-t", &self.lead, "#{pid}"]);
        Pid::from_raw(pid.trim().parse().unwrap())
    }

    fn watch(&self, args: &[&str]) -> Running {
        Running::ready(&self.scene, &mut self.command(args))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut watch = command(EXE);
        watch.env_remove("TMUX").env_remove("TMUX_PANE");
        watch.arg("-S").arg(self.scene.join("sock")).args(["--lead", &self.lead]);
        watch
            .args(["--poll-interval=0.3", "--untracked-after=0.1", "--call-timeout=0.5"])
            .args(args);
        watch
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut tmux = command("tmux");
        let _ = tmux.arg("-S").arg(self.scene.join("sock")).arg("kill-server").output();
    }
}

fn next(watch: &mut Running, name: &str) -> Value {
    loop {
        let line = watch.line();
        if line["event"] == name {
            return line;
        }
    }
}

#[test]
fn flags_are_documented() {
    documented(<pane_watch::args::Args as clap::CommandFactory>::command());
}

#[test]
fn nothing_is_guessed() {
    let server = Server::new();
    for args in [&["-L", "x"][..], &[], &["--lead", "1"], &["-L", "x", "-S", "y", "--lead", "%0"]] {
        let mut watch = command(EXE);
        let out = watch.env_remove("TMUX").env_remove("TMUX_PANE").args(args).output().unwrap();
        assert_eq!(out.status.code(), Some(1), "{args:?}");
    }
    let code = |watch: &mut Command| watch.output().unwrap().status.code();
    assert_eq!(code(server.command(&["--lead", "%99"]).arg("--once")), Some(3));
    assert_eq!(code(command(EXE).args(["-S", "/none", "--lead", "%0", "--once"])), Some(3));
    assert_eq!(code(server.command(&["--once"]).env("PATH", "/none")), Some(2));
}

#[test]
fn a_pane_that_ends_is_gone_or_dead() {
    let server = Server::new();
    let mut watch = server.watch(&[]);
    for (round, (remain, code, event)) in [
        ("off", 0, "pane_gone"),
        ("on", 0, "pane_dead"),
        ("failed", 0, "pane_gone"),
        ("failed", 3, "pane_dead"),
    ]
    .into_iter()
    .enumerate()
    {
        server.remain(remain);
        let go = server.scene.join(format!("go{round}"));
        let script = format!("until [ -e {} ]; do sleep 0.02; done; exit {code}", go.display());
        let pane = server.split(&script);
        // It ends only once it was seen.
        while next(&mut watch, "untracked_pane")["pane"] != *pane {}
        server.scene.write(&format!("go{round}"), "");
        // A corpse that is no longer to be kept goes, too; and a server that has not seen the exit
        // code in time keeps a pane that did not fail.
        let kept_in_doubt = |told: &Value| {
            remain == "failed"
                && told["event"] == "pane_dead"
                && told.get("exit_status").is_none_or(|s| *s == 0)
        };
        let mut told = watch.line();
        while told["pane"] != *pane || (told["event"] != event && !kept_in_doubt(&told)) {
            told = watch.line();
        }
        if event == "pane_dead" {
            // A busy server may not know it in time; it is then left out.
            let known = told["exit_status"].as_i64().is_none_or(|told| told == code);
            assert!(known && told["tracked"] == false, "{told}");
        }
    }
}

#[test]
fn other_windows_are_nobodys_business() {
    let server = Server::new();
    let old = server.split("sleep 1000");
    let mut watch = server.watch(&["--known", &old]);
    server.tmux(&["new-window", "-t", "0:", "sleep 1000"]);
    let own = server.split("sleep 1000");
    let told = watch.event("untracked_pane");
    assert_eq!((&told["pane"], &told["preexisting"]), (&(*own).into(), &false.into()));
    server.tmux(&["respawn-pane", "-k", "-t", &own, "sleep 1001"]);
    assert_eq!(watch.event("untracked_pane")["pane"], *own);
    server.tmux(&["kill-pane", "-t", &old]);
    assert_eq!(watch.event("known_pane_gone")["role"], "known");
}

#[test]
fn a_slow_server_is_not_a_dead_one() {
    let server = Server::new();
    for _ in 0..3 {
        server.split("sleep 1000");
    }
    let pid = server.pid();
    let mut watch = server.watch(&["--baseline"]);
    kill(pid, Signal::SIGSTOP).unwrap();
    assert_eq!(watch.event("monitor_degraded")["reason"], "tmux_unresponsive");
    kill(pid, Signal::SIGCONT).unwrap();
    watch.event("monitor_recovered");
    kill(pid, Signal::SIGKILL).unwrap();
    assert_eq!(watch.event("tmux_server_gone")["panes"], 4);
    assert_eq!(watch.end().code, Some(0));
}

#[test]
fn a_pane_belongs_to_the_agent_that_runs_in_it() {
    let server = Server::new();
    let items = server.scene.join("items");
    let pid_file = server.scene.join("pid");
    let run = format!("sh -c 'echo $$ >{}; exec sleep 1000'; true", pid_file.display());
    let mut watch =
        server.watch(&["--untracked-after=0.5", "--items", &items.display().to_string()]);
    let pane = server.split(&run);
    let line = format!(
        "{{\"agent\":\"a\",\"step\":\"1\",\"result_path\":\"/r\",\"pid_file\":\"{}\"}}\n",
        pid_file.display()
    );
    server.scene.append("items", line);
    eventually("the agent runs", || pid_file.metadata().is_ok_and(|meta| meta.len() > 0));
    let other = server.split("sleep 1000");
    assert_eq!(watch.event("untracked_pane")["pane"], *other);
    server.tmux(&["kill-pane", "-t", &pane]);
    let gone = watch.event("pane_gone");
    assert_eq!((&gone["agent"], &gone["tracked"]), (&"a".into(), &true.into()));
    server.scene.append("items", "{\"shutdown_request\":true}\n");
    assert_eq!(watch.end().code, Some(0));
}

#[test]
fn a_program_that_survives_its_pane_is_told() {
    let server = Server::new();
    let mark = server.scene.join("up");
    let mut watch = server.watch(&["--untracked-after=100"]);
    let run = format!("trap '' HUP; echo $$ >{}; while :; do sleep 1; done", mark.display());
    let pane = server.split(&format!("exec sh -c \"{run}\"").replace("$$", "\\$\\$"));
    eventually("it ignores HUP", || mark.metadata().is_ok_and(|meta| meta.len() > 0));
    server.tmux(&["set-option", "-g", "@x", "y"]);
    tests::pause(std::time::Duration::from_millis(700));
    server.tmux(&["kill-pane", "-t", &pane]);
    let gone = watch.event("pane_gone");
    assert_eq!(gone["process_alive"], true);
    let pid = gone["pid"].as_i64().unwrap();
    kill(Pid::from_raw(i32::try_from(pid).unwrap()), Signal::SIGKILL).unwrap();
}

#[test]
fn nothing_but_looking() {
    let server = Server::new();
    let mut traced = command("strace");
    traced.args(["-f", "-s", "300", "-e", "trace=execve,kill,unlink,rename,mkdir", "-o"]);
    traced.arg(server.scene.join("trace"));
    let watch = server.command(&["--max-runtime=1"]);
    traced.arg(watch.get_program()).args(watch.get_args()).env_remove("TMUX");
    assert_eq!(Running::start(&mut traced).end().code, Some(0));
    let trace = fs::read_to_string(server.scene.join("trace")).unwrap();
    for call in trace.lines().filter(|line| line.contains("execve(") && line.contains("tmux")) {
        assert!(call.contains("pane-watch") || call.contains("\"list-panes\""), "{call}");
    }
    assert!(!trace.contains("unlink(") && !trace.contains("mkdir("), "{trace}");
}

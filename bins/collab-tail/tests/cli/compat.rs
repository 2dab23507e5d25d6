//! The older command, on top of the programs: `integrations/compat/collab-monitor`.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::LazyLock,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tests::{built, command, eventually, root};

use crate::desk::{Desk, h};

/// Where the programs are: beside each other, or built now.
static PATH: LazyLock<String> = LazyLock::new(|| {
    let ours = Path::new(env!("CARGO_BIN_EXE_collab-tail")).parent().unwrap();
    let supervise = ours.join("supervise");
    let other =
        if supervise.exists() { supervise } else { built("supervise").get_program().into() };
    let folders = [ours.display().to_string(), other.parent().unwrap().display().to_string()];
    format!("{}:{}", folders.join(":"), env::var("PATH").unwrap())
});

fn monitor(desk: &Desk, args: &[&str]) -> Command {
    // A shell can't take back what it was born to ignore, as whoever is started in the background.
    let mut shell = command("env");
    shell.arg("--default-signal=HUP,INT,QUIT");
    shell.arg(root().join("integrations/compat/collab-monitor"));
    shell.args(args).current_dir(desk.scene.join("boards")).env("PATH", &*PATH);
    shell.env("MONITOR_STATE_DIR", desk.scene.join("state")).env_remove("XDG_STATE_HOME");
    shell
}

fn output(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stdout, .. } = command.output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap())
}

/// What the older command says to these arguments, and its exit code.
fn call(desk: &Desk, args: &[&str]) -> (Option<i32>, String) {
    output(&mut monitor(desk, args))
}

/// Its exit code, once it has ended.
fn exit_code(child: &mut Child) -> Option<i32> {
    let mut status = None;
    eventually("it ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.unwrap().code()
}

/// The value after `key=`.
fn value<'a>(text: &'a str, key: &str) -> &'a str {
    let rest = text.split(&format!("{key}=")).nth(1).unwrap_or_else(|| panic!("no {key}: {text}"));
    rest.split_whitespace().next().unwrap()
}

fn armed(desk: &Desk) -> String {
    let state = desk.scene.join("state/collab-tail/lead");
    format!("MONITOR-ARMED name=@Lead files=1 state={}\nWILL-NOT-CATCH :: ", state.display())
}

#[test]
fn run_once_prints_the_records_and_its_codes_are_the_older_ones() {
    let desk = Desk::new();
    desk.write("b", "");
    let (code, text) = call(&desk, &["run", "--once", "@Lead", "b"]);
    assert_eq!((code, text.starts_with(&armed(&desk)), text.lines().count()), (Some(0), true, 2));
    desk.append("b", h("a") + "### @lead → @worker — y\n```\n");
    let (code, text) = call(&desk, &["run", "--once", "--include-self", "@Lead", "b"]);
    let lines: Vec<&str> = text.lines().skip(2).collect();
    let hash = collab_tail::hash::Hash::of(&[h("a").as_bytes()]);
    let board = desk.path("b");
    assert_eq!(code, Some(1));
    assert_eq!(
        lines[0],
        format!("NEW-FOR-@Lead file={board} hash={hash} :: ### @worker → @lead — a")
    );
    assert!(lines[1].starts_with(&format!("SELF-POST-@Lead file={board} hash=")));
    assert_eq!(lines[2], format!("WATCH-WARN file={board} reason=unclosed-fence action=retry"));
    for (args, env) in [
        (&["run", "--once", "@Lead", "none"][..], None),
        (&["run", "--once", "@..", "b"], None),
        (&["run", "@Lead"], None),
        (&["run", "--once", "--unknown", "@Lead", "b"], None),
        (&["run", "--once", "@Lead", "b"], Some(("POLL_SECONDS", "0"))),
        (&["start", "@Lead", "b"], Some(("START_TIMEOUT_SECONDS", "1.5"))),
        (&["dance", "@Lead"], None),
        (&[], None),
    ] {
        let out = monitor(&desk, args).envs(env).output().unwrap();
        assert_eq!(out.status.code(), Some(2), "{args:?} {env:?}");
        let records = String::from_utf8(out.stdout).unwrap();
        assert!(records.is_empty(), "{records}");
    }
}

#[test]
fn run_ends_as_the_older_one_did() {
    let desk = Desk::new();
    desk.write("b", "");
    for (signal, want) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
        let log = desk.scene.join("log");
        let mut shell = monitor(&desk, &["run", "@Lead", "b"]);
        let mut child = shell.stdout(fs::File::create(&log).unwrap()).spawn().unwrap();
        eventually("it is armed", || fs::read_to_string(&log).unwrap().contains("WILL-NOT-CATCH"));
        assert_eq!(
            call(&desk, &["run", "--once", "@Lead", "b"]),
            (Some(1), "MONITOR-BUSY name=@Lead\n".to_owned())
        );
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
        assert_eq!(exit_code(&mut child), Some(want));
    }
    let mut child = monitor(&desk, &["run", "@Lead", "b"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(exit_code(&mut child), Some(141));
    let ended = monitor(&desk, &["run", "--max-runtime", "0.1", "@Lead", "b"]).output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
}

#[test]
fn what_runs_ends_with_its_shell() {
    let desk = Desk::new();
    desk.write("b", "");
    for signal in [Signal::SIGHUP, Signal::SIGKILL] {
        let log = desk.scene.join("log");
        let mut shell = monitor(&desk, &["run", "@Lead", "b"]);
        let mut child = shell.stdout(fs::File::create(&log).unwrap()).spawn().unwrap();
        eventually("it is armed", || fs::read_to_string(&log).unwrap().contains("WILL-NOT-CATCH"));
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
        assert_eq!(exit_code(&mut child), None);
        eventually("the lock is free", || {
            call(&desk, &["run", "--once", "@Lead", "b"]).0 == Some(0)
        });
    }
}

#[test]
fn a_life_from_start_to_stop() {
    let desk = Desk::new();
    desk.write("b", "");
    for verb in ["follow", "status", "stop"] {
        assert_eq!(call(&desk, &[verb, "@Lead"]), (Some(1), "NOT_RUNNING name=@Lead\n".to_owned()));
    }
    let (code, text) = call(&desk, &["start", "@Lead", "b"]);
    let (pid, log) = (value(&text, "pid").to_owned(), value(&text, "log").to_owned());
    assert_eq!((code, &text), (Some(0), &format!("STARTED name=@Lead pid={pid} log={log}\n")));
    let again = format!("ALREADY_RUNNING name=@Lead pid={pid}\n");
    assert_eq!(call(&desk, &["start", "@Lead", "b"]), (Some(1), again));
    assert_eq!(
        call(&desk, &["status", "@Lead"]),
        (Some(0), format!("RUNNING name=@Lead pid={pid}\n"))
    );
    let followed = desk.scene.join("followed");
    let mut shell = monitor(&desk, &["follow", "@Lead"]);
    let mut follow = shell.stdout(fs::File::create(&followed).unwrap()).spawn().unwrap();
    desk.append("b", h("a"));
    eventually("it is followed", || {
        fs::read_to_string(&followed).unwrap().contains("NEW-FOR-@Lead")
    });
    assert_eq!(
        call(&desk, &["stop", "@Lead"]),
        (Some(0), format!("STOPPED name=@Lead pid={pid}\n"))
    );
    assert_eq!(exit_code(&mut follow), Some(0));
    let text = fs::read_to_string(&followed).unwrap();
    let first = format!("FOLLOWING name=@Lead pid={pid} log={log}\n{}", armed(&desk));
    assert!(text.starts_with(&first), "{text}");
    assert_eq!(call(&desk, &["stop", "@Lead"]).0, Some(1));
}

#[test]
fn an_open_fence_is_no_start_and_leaves_nothing() {
    let desk = Desk::new();
    desk.write("b", "```\n");
    let mut shell = monitor(&desk, &["start", "@Lead", "b"]);
    let (code, text) = output(shell.env("START_TIMEOUT_SECONDS", "1"));
    assert_eq!(code, Some(1));
    assert!(text.starts_with("START_FAILED name=@Lead log=/"), "{text}");
    desk.append("b", "```\n");
    assert_eq!(call(&desk, &["start", "@Lead", "b"]).0, Some(0));
    assert_eq!(call(&desk, &["stop", "@Lead"]).0, Some(0));
}

#[test]
fn a_killed_keeper_is_a_stale_pid() {
    let desk = Desk::new();
    desk.write("b", "");
    let (_, text) = call(&desk, &["start", "@Lead", "b"]);
    let (pid, log) = (value(&text, "pid").to_owned(), PathBuf::from(value(&text, "log")));
    let record = fs::read(log.with_file_name("record.json")).unwrap();
    let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
    let keeper = i32::try_from(record["keeper"]["pid"].as_i64().unwrap()).unwrap();
    kill(Pid::from_raw(keeper), Signal::SIGKILL).unwrap();
    let stale = format!("STALE_PID name=@Lead pid={pid}");
    eventually("it is seen", || {
        call(&desk, &["status", "@Lead"]) == (Some(1), format!("{stale}\n"))
    });
    let cleaned = format!("{stale} action=not-signaled state=cleaned\n");
    assert_eq!(call(&desk, &["stop", "@Lead"]), (Some(1), cleaned));
    assert_eq!(call(&desk, &["start", "@Lead", "b"]).0, Some(0));
    assert_eq!(call(&desk, &["stop", "@Lead"]).0, Some(0));
}

#[test]
fn the_older_memory_is_taken_over_at_the_first_call() {
    let desk = Desk::new();
    desk.write("b", h("a") + &h("b"));
    let _ = desk.scene.dir("state/lead/sizes");
    let told = collab_tail::hash::Hash::of(&[h("a").as_bytes()]);
    desk.scene.write("state/lead/seen.sha256", format!("{told}\n"));
    let board = collab_tail::hash::Hash::of(&[desk.path("b").as_bytes()]);
    desk.scene.write(&format!("state/lead/sizes/{board}.size"), format!("{}\n", h("a").len()));
    let (code, text) = call(&desk, &["run", "--once", "@lead", "b"]);
    assert_eq!((code, text.matches("NEW-FOR-@lead").count()), (Some(0), 1), "{text}");
    assert!(text.ends_with("— b\n"), "{text}");
}

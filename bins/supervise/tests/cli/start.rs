//! Starting and stopping.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _},
    process::Stdio,
};

use nix::sys::signal::Signal;
use tests::{command, eventually, lines};

use crate::scene::{LASTING, PLAIN, Store, lives, number, refused};

#[test]
fn a_monitor_is_started_proven_and_stopped() {
    let store = Store::new();
    let started = store.start("gate", LASTING);
    assert_eq!((&started["monitor"], &started["already_running"]), (&"gate".into(), &false.into()));
    assert_eq!(started["instance"].as_str().unwrap().len(), 64);
    assert!(
        started["instance"].as_str().unwrap().starts_with(started["task_id"].as_str().unwrap())
    );
    assert!(lives(number(&started["pid"])));

    let status = store.status("gate");
    assert_eq!((&status["alive"], &status["ready"]), (&true.into(), &true.into()));
    assert_eq!(status["pid"], started["pid"]);

    let again = store.start("gate", LASTING);
    assert_eq!((&again["already_running"], &again["pid"]), (&true.into(), &started["pid"]));
    let other = store.run(&["start", "gate", "--ready=alive", "--", "sleep", "1"]);
    refused(&other, 4, "command_differs");
    assert_eq!(lines(&other.stdout)[0]["event"], "state_conflict");
    assert!(lives(number(&started["pid"])));

    let stopped = store.done(&["stop", "gate"]);
    assert_eq!((&stopped["changed"], &stopped["stopped"][0]), (&true.into(), &"gate".into()));
    assert!(!lives(number(&started["pid"])));
    let status = store.status("gate");
    assert_eq!((&status["alive"], &status["end_reason"]), (&false.into(), &"stopped".into()));
    assert_eq!(store.done(&["stop", "gate"])["changed"], false);
    refused(&store.run(&["stop", "never-seen"]), 3, "never-seen");
}

#[test]
fn a_stop_can_be_left_and_another_has_less_patience() {
    let store = Store::new();
    let started =
        store.start("gate", &["sh", "-c", "trap '' TERM; echo x; while :; do sleep 1000; done"]);
    eventually("it ignores TERM", || number(&store.status("gate")["lines"]) == 1);
    let patient = store.start_running(&["stop", "gate", "--grace=1h"]);
    eventually("it was asked", || store.home("gate").stop_request().exists());
    patient.signal(Signal::SIGINT);
    let ended = patient.end();
    assert_eq!((ended.code, ended.lines), (Some(4), Vec::<serde_json::Value>::new()));
    assert!(ended.stderr.contains("unable to stop gate"), "{}", ended.stderr);
    assert!(lives(number(&started["pid"])));
    assert_eq!(store.done(&["stop", "gate", "--grace=0.2"])["changed"], true);
    assert!(!lives(number(&started["pid"])));
}

#[test]
fn replace_stops_the_old_one_first() {
    let store = Store::new();
    let old = store.start("gate", LASTING);
    let new = store.done(&["start", "gate", "--ready=alive", "--replace", "--", "sleep", "1001"]);
    assert!(!lives(number(&old["pid"])) && lives(number(&new["pid"])));
    let ends = fs::read_to_string(store.home("gate").ends()).unwrap();
    assert!(ends.contains(r#""reason":"replaced""#), "{ends}");
}

#[test]
fn a_hundred_starts_at_once_make_one_monitor() {
    for count in [20, 100] {
        let store = Store::new();
        let starts: Vec<_> = (0..count)
            .map(|_| {
                let mut start = store.supervise(&["start", "gate", "--ready=alive", "--"]);
                start.args(LASTING).stdout(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let answers: Vec<_> = starts
            .into_iter()
            .map(|start| {
                let out = start.wait_with_output().unwrap();
                assert_eq!(out.status.code(), Some(0));
                lines(&out.stdout).remove(0)
            })
            .collect();
        let first = answers.iter().filter(|answer| answer["already_running"] == false).count();
        assert_eq!(first, 1);
        assert!(answers.iter().all(|answer| answer["pid"] == answers[0]["pid"]));
        let keepers =
            store.processes().iter().filter(|line| line.contains("supervise keep")).count();
        assert_eq!(keepers, 1);
    }
}

#[test]
fn an_interrupted_start_leaves_nothing() {
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let store = Store::new();
        let mut start = store.supervise(&["start", "gate", "--"]);
        let start = tests::Running::start(start.args(LASTING));
        eventually("there is a record", || store.home("gate").record().exists());
        start.signal(signal);
        let ended = start.end();
        assert!(ended.code == Some(4) || ended.signal == Some(9), "{ended:?}");
        store.none_left();
        assert!(!store.home("gate").is_known());
        let again = store.start("gate", LASTING);
        assert_eq!(again["already_running"], false);
    }
}

#[test]
fn what_can_not_be_proven_is_told_and_leaves_nothing() {
    let store = Store::new();
    store.scene.write("world/text", "no program");
    let script = "echo one >&2; echo the cause >&2; exit 3";
    for (flags, argv, words) in [
        (&["--ready=notify"][..], &["/no/such/program"][..], "No such file"),
        (&["--ready=notify"], &["./text"], "Permission denied"),
        (
            &["--ready=notify"],
            &["sh", "-c", script],
            "exited with 3 before it was ready: one; the cause",
        ),
        (&["--ready=alive"], &["sh", "-c", script], "one; the cause"),
        (&["--ready=notify"], &["sh", "-c", "kill -9 $$"], "signal 9 killed it"),
        (&["--ready=notify", "--ready-timeout=0.3"], LASTING, "did not say that it is ready"),
    ] {
        let out = store.run(&[&["start", "gate"], flags, &["--"], argv].concat());
        refused(&out, 4, words);
        assert_eq!(out.stdout, b"");
        store.none_left();
        assert!(!store.home("gate").is_known());
    }
}

#[test]
fn a_failed_start_of_a_known_name_is_remembered() {
    let store = Store::new();
    store.start("gate", LASTING);
    store.done(&["stop", "gate"]);
    refused(&store.run(&["start", "gate", "--", "/no/such/program"]), 4, "No such file");
    let ends = fs::read_to_string(store.home("gate").ends()).unwrap();
    assert!(ends.lines().last().unwrap().contains("start_failed"), "{ends}");
    // It says nothing of the run that there was.
    let status = store.status("gate");
    assert_eq!((&status["alive"], &status["end_reason"]), (&false.into(), &"stopped".into()));
}

#[test]
fn stop_while_start_waits_ends_in_one_state() {
    let store = Store::new();
    let mut start = store.supervise(&["start", "gate", "--"]);
    let start = tests::Running::start(start.args(LASTING));
    eventually("there is a record", || store.home("gate").record().exists());
    let stopped = store.done(&["stop", "gate"]);
    assert_eq!(stopped["changed"], true);
    assert_eq!(start.end().code, Some(4));
    store.none_left();
    assert_eq!(store.start("gate", LASTING)["already_running"], false);
}

#[test]
fn the_caller_gets_its_prompt_back_and_the_monitor_outlives_it() {
    let store = Store::new();
    let supervise = env!("CARGO_BIN_EXE_supervise");
    // A descriptor that the shell left open and locked must not live on in the monitor.
    let script = format!(
        "exec 9>held; flock 9; answer=$({supervise} start gate --scope=lane --ready=alive -- {}); echo \"$answer\"",
        "sleep 1000"
    );
    let mut shell = command("sh");
    shell.args(["-c", &script]);
    store.lead(&mut shell);
    // Its output comes whole only if nothing holds the pipe open.
    let out = shell.output().unwrap();
    let started = lines(&out.stdout).remove(0);
    let pid = number(&started["pid"]);
    assert!(lives(pid));
    let session = |pid: u64| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<String> =
            stat.rsplit(')').next().unwrap().split_whitespace().map(str::to_owned).collect();
        (fields[3].clone(), fields[4].clone())
    };
    let (own, terminal) = session(pid);
    assert_ne!(own, session(u64::from(std::process::id())).0);
    assert_eq!(terminal, "0");
    let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let mut open: Vec<String> =
        open.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    open.sort();
    // A shell may have opened 10 for itself; 9 is the caller's.
    assert!(
        !open.contains(&"9".to_owned()) && open.starts_with(&["0".into(), "1".into()]),
        "{open:?}"
    );
    let held = fs::File::open(store.scene.join("world/held")).unwrap();
    held.try_lock().unwrap();
}

#[test]
fn what_is_written_is_private_whatever_the_callers_mask() {
    let store = Store::new();
    let supervise = env!("CARGO_BIN_EXE_supervise");
    let mut shell = command("sh");
    let script =
        format!("umask 000; {supervise} start gate --scope=lane --ready=alive -- sleep 1000");
    store.lead(shell.args(["-c", &script]));
    assert!(shell.output().unwrap().status.success());
    let mut seen = 0;
    for entry in fs::read_dir(store.home("gate").dir()).unwrap().map(Result::unwrap) {
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{:?} {mode:o}", entry.path());
        seen += 1;
    }
    assert!(seen >= 4);
    let dir = fs::metadata(store.home("gate").dir()).unwrap().permissions().mode();
    assert_eq!(dir & 0o777, 0o700);
}

#[test]
fn a_store_that_others_can_write_is_refused() {
    let store = Store::new();
    let lane = store.path().join("supervise/lane");
    for path in lane.ancestors().take(3) {
        fs::create_dir_all(&lane).unwrap();
        for folder in lane.ancestors().take(3) {
            let mode = if folder == path { 0o777 } else { 0o700 };
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
        }
        for args in [&["status"][..], &["start", "gate", "--", "true"], &["stop", "all"]] {
            refused(&store.run(args), 4, "others can write");
        }
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn scopes_are_apart() {
    let store = Store::new();
    store.start("gate", LASTING);
    let mut other = command(env!("CARGO_BIN_EXE_supervise"));
    store.lead(&mut other);
    let out = other.args(["stop", "all"]).output().unwrap();
    assert_eq!(lines(&out.stdout)[0]["changed"], false);
    assert_eq!(store.status("gate")["alive"], true);
}

#[test]
fn exec_records_the_process_that_runs() {
    let store = Store::new();
    let record = store.scene.join("agent.json");
    let path = record.to_str().unwrap();
    let mut supervise = command(env!("CARGO_BIN_EXE_supervise"));
    store.lead(&mut supervise);
    let out =
        supervise.args(["exec", "--record", path, "--", "sh", "-c", "echo $$"]).output().unwrap();
    let pid: u64 = String::from_utf8(out.stdout).unwrap().trim().parse().unwrap();
    let recorded: serde_json::Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    assert_eq!(recorded["pid"], pid);
    for key in ["start_ticks", "pid_ns", "time_ns"] {
        let has_none = PLAIN && key != "start_ticks";
        assert_eq!(number(&recorded[key]) == 0, has_none, "{recorded}");
    }
    assert_eq!(fs::metadata(&record).unwrap().permissions().mode() & 0o777, 0o600);

    let run = |record: &str, program: &str| {
        let mut supervise = command(env!("CARGO_BIN_EXE_supervise"));
        supervise.args(["exec", "--record", record, "--", program]).output().unwrap()
    };
    let mut supervise = command(env!("CARGO_BIN_EXE_supervise"));
    let odd = OsStr::from_bytes(b"\xff\n");
    supervise.args(["exec", "--record", path, "--", "printf", "%s"]).arg(odd);
    assert_eq!(supervise.output().unwrap().stdout, odd.as_bytes());
    refused(&run(path, "/no/such/program"), 2, "/no/such/program");
    let warned = run("/no/such/folder/record", "true");
    assert_eq!(warned.status.code(), Some(0));
    assert!(
        String::from_utf8_lossy(&warned.stderr).starts_with("supervise: warning: unable to write")
    );
}

#[test]
fn usage_errors_exit_1() {
    let store = Store::new();
    for args in [
        &["start", "gate"][..],
        &["start", "../gate", "--", "true"],
        &["start", "all", "--", "true"],
        &["start", "gate", "--ready=soon", "--", "true"],
        &["start", "gate", "--ready-timeout=0", "--", "true"],
        &["start", "gate", "--log-max=1", "--", "true"],
        &["stop"],
        &["stop", "all", "--grace=-1"],
        &["status", "--watch"],
        &["check", "[]"],
        &["check", "{\"a b\":\"x\"}"],
        &["spawn-ci"],
        &["spawn-ci", "--pr=1", "--run-id=2"],
        &["spawn", "--manifest=/no/such/file"],
        &["up", "--min=high"],
        &["down"],
    ] {
        refused(&store.run(args), 1, "unable to");
    }
}

//! Flags, signals, health.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::Path,
    process::Stdio,
};

use nix::{sys::stat::Mode, unistd::mkfifo};
use tests::{Running, command, eventually, lines};

use crate::stage::{Stage, expect, line, some};

const EXE: &str = env!("CARGO_BIN_EXE_event-tail");

#[test]
fn t15_a_file_without_permission_is_told_and_read_once_it_has_it() {
    let stage = Stage::with(some(1..=2));
    let exe = stage.scene.copy_of(EXE);
    let journal = stage.journal();
    let mode = |mode| fs::set_permissions(&journal, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o000);
    let mut command = command(&exe);
    command.arg("--state-dir").arg(stage.scene.join("state")).uid(65_534).gid(65_534);
    let mut running = Running::start(&mut command);
    let degraded = running.event("monitor_degraded");
    assert_eq!(
        (&degraded["reason"], &degraded["retry_in_seconds"]),
        (&"file_unreadable".into(), &5.into())
    );
    stage.append(line(3));
    mode(0o644);
    let mut seen = [running.line()["event"].clone(), running.line()["event"].clone()];
    seen.sort_by_key(ToString::to_string);
    assert_eq!(seen, ["monitor_recovered", "state_committed"]);
    stage.append(line(4));
    expect(&mut running, 4);
}

#[test]
fn t15_what_is_no_file_is_told_and_never_waited_for() {
    let fifo = |path: &Path| mkfifo(path, Mode::S_IRWXU).unwrap();
    let folder = |path: &Path| fs::create_dir(path).unwrap();
    for make in [&fifo as &dyn Fn(&Path), &folder] {
        let stage = Stage::new();
        make(&stage.journal());
        let output = stage.run(&["--once"]);
        assert_eq!(output.status.code(), Some(4));
        assert_eq!(lines(&output.stdout)[0]["reason"], "file_unreadable");

        let mut running = Running::start(&mut stage.command(&[]));
        assert_eq!(running.event("monitor_degraded")["reason"], "file_unreadable");
        fs::rename(stage.journal(), stage.scene.join("away")).unwrap();
        assert_eq!(running.event("monitor_recovered")["reason"], "file_unreadable");
        stage.append(line(1));
        expect(&mut running, 1);
    }
}

#[test]
fn t16_a_signal_ends_it() {
    use nix::sys::signal::Signal::{SIGHUP, SIGINT, SIGTERM};
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        let stage = Stage::with(line(1));
        let running = stage.start(&["--filter", "state_committed"]);
        running.signal(signal);
        let ended = running.end();
        assert_eq!((ended.code, ended.lines.len(), &*ended.stderr), (Some(0), 0, ""));
    }
}

#[test]
fn t16_a_reader_that_left_ends_it_without_another_line() {
    let stage = Stage::with(line(1));
    let mut command = stage.command(&["--from-start"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    reader.read_line(&mut text).unwrap();
    assert_eq!(text, line(1));
    drop(reader);
    eventually("it ends", || child.try_wait().unwrap().is_some());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}

#[test]
fn t16_a_slow_reader_does_not_keep_it_from_ending() {
    let stage = Stage::with(some(0..20_000));
    let mut command = stage.command(&["--from-start"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    reader.read_line(&mut text).unwrap();
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    eventually("it ends", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn t17_a_wrong_command_line_exits_1() {
    let stage = Stage::with(line(1));
    for args in [
        &["--filter"][..],
        &["--lines", "-1"],
        &["--lines", "2", "--from-start"],
        &["--max-line", "1"],
        &["--poll-interval", "0"],
        &["--nonsense"],
        &["positional"],
    ] {
        let output = stage.run(args);
        assert_eq!((output.status.code(), &*output.stdout), (Some(1), &b""[..]), "{args:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            stderr.starts_with("event-tail: fatal: unable to read the command line: "),
            "{stderr}"
        );
        assert_eq!(stderr.lines().count(), 1);
    }
}

#[test]
fn help_and_version_go_to_stdout() {
    for flag in ["-h", "--help", "--version"] {
        let output = command(EXE).arg(flag).output().unwrap();
        assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
        assert!(String::from_utf8(output.stdout).unwrap().contains("event-tail"));
    }
}

#[test]
fn a_single_look_needs_a_folder_and_no_journal() {
    let stage = Stage::new();
    assert_eq!(stage.once(&[]), "");
    fs::remove_dir(stage.scene.join("state")).unwrap();
    let output = stage.run(&["--once"]);
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(lines(&output.stdout)[0]["reason"], "state_dir_missing");
}

#[test]
fn a_folder_that_goes_away_is_told_and_its_return() {
    let stage = Stage::with(line(1));
    let mut running = stage.start(&[]);
    fs::remove_dir_all(stage.scene.join("state")).unwrap();
    assert_eq!(running.event("monitor_degraded")["reason"], "state_dir_missing");
    let _ = stage.scene.dir("state");
    assert_eq!(running.event("monitor_recovered")["reason"], "state_dir_missing");
    stage.append(line(2));
    expect(&mut running, 2);
}

#[test]
fn a_wait_ends_with_the_first_line_or_without() {
    let stage = Stage::with(line(1));
    let running = stage.start(&["--wait", "20"]);
    stage.append(line(2));
    let ended = running.end();
    assert_eq!((ended.code, &ended.lines[0]["revision"]), (Some(0), &2.into()));
    assert_eq!(stage.run(&["--wait", "0.05"]).status.code(), Some(3));
}

#[test]
fn the_main_work_tree_is_tried_when_the_linked_one_has_no_folder() {
    let stage = Stage::new();
    let tree = |name: &str| stage.scene.dir(name);
    let _ = tree("main/.git/worktrees/linked");
    let (linked, near_main) = (tree("linked"), tree("main/.agent-atelier"));
    let main = stage.scene.join("main");
    stage.scene.write("main/.git/worktrees/linked/commondir", "../..\n");
    let pointer = format!("gitdir: {}/.git/worktrees/linked\n", main.display());
    stage.scene.write("linked/.git", pointer);
    stage.scene.write("main/.agent-atelier/events.ndjson", line(1));
    let run =
        || command(EXE).args(["--once", "--from-start"]).current_dir(&linked).output().unwrap();
    let output = run();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), line(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains(near_main.to_str().unwrap()) && stderr.lines().count() == 1,
        "{stderr}"
    );
    fs::create_dir(linked.join(".agent-atelier")).unwrap();
    let output = run();
    assert_eq!((output.status.code(), output.stdout, output.stderr), (Some(0), vec![], vec![]));
}

#[test]
fn a_watch_is_announced_when_asked_for() {
    let stage = Stage::with(line(1));
    let mut running = stage.start(&["--announce", "--source", "journal"]);
    let armed = running.event("monitor_armed");
    assert_eq!(armed["source"], "journal");
    assert_eq!(armed["not_covered"].as_array().unwrap().len(), 2);
    let ended = running.stop();
    assert_eq!(ended.lines[0]["event"], "monitor_stopped");
}

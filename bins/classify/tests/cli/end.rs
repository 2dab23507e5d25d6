//! How it ends, and what it tells its manager.

use std::{
    fs::File,
    io::{ErrorKind, Write as _},
    os::unix::net::UnixDatagram,
    process::{Command, Stdio},
};

use nix::sys::signal::Signal;
use tests::{PATIENCE, Running, Scene, command, eventually, lines};

use crate::{classify, ended, fed};

const ONE: &[u8] = b"{\"event\":\"gate_opened\"}\n";

#[test]
fn c15_the_verdict_is_the_exit_code_when_asked_for() {
    let (info, warning) = ("{\"event\":\"gate_changed\"}\n", "{\"event\":\"gate_waiting\"}\n");
    let both = format!("{}{warning}", "{\"event\":\"gate_opened\"}\n");
    for (args, input, want) in [
        (&[][..], info, 0),
        (&[], warning, 11),
        (&["--min", "warning"], &both, 10),
        (&["--min", "immediate"], warning, 11),
        (&[], "bad\n", 11),
        (&[], "", 0),
    ] {
        let args = [&["--exit-code"], args].concat();
        assert_eq!(ended(&fed(&mut classify(&args), input)).0, want, "{args:?} {input}");
        assert_eq!(ended(&fed(&mut classify(&args[1..]), input)).0, 0, "{input}");
    }
}

#[test]
fn c16_a_signal_ends_it_with_0_while_it_is_quiet() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut run = Running::start(&mut classify(&["--exit-code"]));
        let mut stdin = run.stdin().unwrap();
        stdin.write_all(ONE).unwrap();
        assert_eq!(run.event("gate_opened")["urgency"], "immediate");
        run.signal(signal);
        let ended = run.end();
        assert_eq!((ended.code, ended.signal, &*ended.stderr), (Some(0), None, ""));
        assert!(ended.lines.is_empty());
    }
}

#[test]
fn c16_malformed_lines_are_told_before_it_ends() {
    let mut run = Running::start(&mut classify(&[]));
    let mut stdin = run.stdin().unwrap();
    stdin.write_all(b"bad\n[1]\n[2]\n").unwrap();
    stdin.write_all(ONE).unwrap();
    assert_eq!(run.event("input_malformed")["count"], 1);
    let _ = run.event("gate_opened");
    run.signal(Signal::SIGTERM);
    let last = run.event("input_malformed");
    assert_eq!(
        (&last["count"], &last["line"], &last["reason"]),
        (&2.into(), &2.into(), &"not_object".into())
    );
    assert_eq!(run.end().code, Some(0));
}

#[test]
fn c16_it_ends_when_nobody_reads() {
    let mut child = classify(&[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    eventually("the program ends", || child.try_wait().unwrap().is_some());
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}

#[test]
fn a_slow_reader_keeps_nobody_from_stopping_it() {
    let mut child = classify(&[]).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || while stdin.write_all(&ONE.repeat(100)).is_ok() {});
    // Its pipe is full once it sleeps in poll(2) and its input has stopped moving.
    let io = format!("/proc/{}/io", child.id());
    let mut before = String::new();
    let mut same = 0;
    eventually("both pipes are full", || {
        let now = std::fs::read_to_string(&io).unwrap();
        same = if now == before { same + 1 } else { 0 };
        before = now;
        same > 20
    });
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap()),
        Signal::SIGTERM,
    )
    .unwrap();
    eventually("the program ends", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    writer.join().unwrap();
}

fn sleeper() -> std::process::Child {
    command("sleep").arg("1000").stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn it_ends_with_the_parent_it_was_given() {
    let mut parent = sleeper();
    let run = Running::start(&mut classify(&["--parent-pid", &parent.id().to_string()]));
    let gone = parent.id().to_string();
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert_eq!(run.end().code, Some(0));
    assert_eq!(Running::start(&mut classify(&["--parent-pid", &gone])).end().code, Some(0));
}

#[test]
fn max_runtime_ends_it_with_a_line() {
    let mut run = Running::start(&mut classify(&["--max-runtime", "0.2"]));
    let stdin = run.stdin();
    let last = run.event("monitor_stopped");
    assert_eq!((&last["reason"], &last["urgency"]), (&"max_runtime".into(), &"warning".into()));
    assert_eq!(run.end().code, Some(0));
    drop(stdin);
    // A flood is no reason to go on.
    let flood = File::open("/dev/zero").unwrap();
    let mut command: Command = classify(&["--max-runtime", "0.2"]);
    let mut run = Running::start(command.stdin(flood));
    assert_eq!(run.line()["event"], "monitor_stopped");
    assert_eq!(run.end().code, Some(0));
}

#[test]
fn what_can_not_be_read_or_written_exits_4() {
    let scene = Scene::new();
    let folder = File::open(scene.path()).unwrap();
    let output = classify(&[]).stdin(folder).output().unwrap();
    let (code, stdout, stderr) = ended(&output);
    assert_eq!(code, 4);
    assert!(
        stderr.starts_with("classify: fatal: unable to read stdin: Is a directory"),
        "{stderr}"
    );
    assert_eq!(lines(stdout.as_bytes())[0]["event"], "monitor_failed");

    scene.write("in", ONE);
    for args in [&[][..], &["--report"], &["--print-rules"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let input = File::open(scene.join("in")).unwrap();
        let output = classify(args).stdin(input).stdout(full).output().unwrap();
        let (code, _, stderr) = ended(&output);
        assert_eq!(code, 4, "{args:?}");
        assert!(
            stderr.starts_with("classify: fatal: unable to write to stdout: No space"),
            "{stderr}"
        );
    }
}

#[test]
fn a_manager_hears_that_it_reads() {
    let scene = Scene::new();
    let path = scene.join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut command = classify(&[]);
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "200000");
    let mut run = Running::start(&mut command);
    let stdin = run.stdin();
    let heard = || {
        let mut words = [0; 64];
        let n = loop {
            match manager.recv(&mut words) {
                Err(err) if err.kind() == ErrorKind::Interrupted => {}
                heard => break heard.unwrap(),
            }
        };
        String::from_utf8(words[..n].to_vec()).unwrap()
    };
    assert_eq!([heard(), heard(), heard()], ["READY=1", "WATCHDOG=1", "WATCHDOG=1"]);
    assert_eq!(run.stop().code, Some(0));
    drop(stdin);
}

#[test]
fn a_report_ends_on_a_signal_too() {
    let mut run = Running::start(&mut classify(&["--report"]));
    let mut stdin = run.stdin().unwrap();
    stdin.write_all(ONE).unwrap();
    let status = format!("/proc/{}/status", run.pid());
    eventually("it handles SIGTERM", || {
        let text = std::fs::read_to_string(&status).unwrap();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & 1 << (Signal::SIGTERM as u64 - 1) != 0
    });
    let ended = run.stop();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 0));
}

/// What `field` of the program's status says, in kilobytes.
fn memory(pid: u32, field: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn memory_stays_flat_in_full_flow() {
    let mut child = classify(&[]).stdout(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let table: String = crate::TABLE.iter().map(|(_, lines)| *lines).collect();
    let hundred = table.repeat(100);
    stdin.write_all(hundred.as_bytes()).unwrap();
    let early = memory(child.id(), "VmHWM");
    for _ in 0..5 {
        stdin.write_all(hundred.as_bytes()).unwrap();
    }
    let late = memory(child.id(), "VmHWM");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(late - early < 256, "{early} kB, then {late} kB");
}

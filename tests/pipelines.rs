//! Programs joined by pipes, as their users join them.

mod agents;

use std::{
    fs,
    process::{Child, Stdio},
};

use nix::sys::signal::Signal;
use serde_json::Value;
use tests::{Running, Scene, built, command, eventually, lines};

fn journal(scene: &Scene, events: usize) {
    let lines: Vec<String> = (0..events)
        .map(|n| format!("{{\"event\":\"state_committed\",\"revision\":{n}}}\n"))
        .collect();
    let _ = scene.dir("state");
    scene.write("state/events.ndjson", lines.concat());
}

fn tail(scene: &Scene) -> std::process::Command {
    let mut tail = built("event-tail");
    tail.arg("--state-dir").arg(scene.join("state")).arg("--from-start");
    tail
}

fn stderr_of(child: Child) -> (Option<i32>, String) {
    let out = child.wait_with_output().unwrap();
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
}

#[test]
fn a_reader_of_one_line_ends_the_whole_pipeline_in_silence() {
    let scene = Scene::new();
    journal(&scene, 10_000);
    // A command that is kept keeps the pipes it was given: each is dropped when it has started.
    let mut source = tail(&scene).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut filter = built("classify")
        .stdin(source.stdout.take().unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let out = command("head").arg("-1").stdin(filter.stdout.take().unwrap()).output().unwrap();
    assert_eq!(lines(&out.stdout)[0]["urgency"], "info");
    for child in [filter, source] {
        assert_eq!(stderr_of(child), (Some(0), String::new()));
    }
}

#[test]
fn several_sources_share_a_pipe_and_no_line_is_torn() {
    let scene = Scene::new();
    journal(&scene, 2_000);
    for n in 0..500 {
        fs::create_dir_all(scene.join("state/human-gates/open")).unwrap();
        scene.write(&format!("state/human-gates/open/HDR-{n}.json"), r#"{"question":"Which?"}"#);
    }
    let (reader, writer) = std::io::pipe().unwrap();
    let mut sources: Vec<Child> = ["event-tail", "gate-watch"]
        .iter()
        .map(|tool| {
            let mut source = built(tool);
            source.arg("--state-dir").arg(scene.join("state")).arg("--once");
            let flag = if *tool == "event-tail" { "--from-start" } else { "--emit-current" };
            source.arg(flag).stdout(writer.try_clone().unwrap()).spawn().unwrap()
        })
        .collect();
    drop(writer);
    let out = built("classify").stdin(reader).output().unwrap();
    let seen = lines(&out.stdout);
    let count = |event: &str| seen.iter().filter(|line| line["event"] == event).count();
    assert_eq!((count("state_committed"), count("gate_opened"), seen.len()), (2_000, 500, 2_500));
    for source in &mut sources {
        assert!(source.wait().unwrap().success());
    }
}

#[test]
fn a_reader_that_stands_still_holds_up_neither_stop_nor_later_lines() {
    let scene = Scene::new();
    journal(&scene, 50_000);
    // Nobody reads: the pipe is full long before the journal is through.
    let stuck = |scene: &Scene| {
        let mut child = tail(scene).stdout(Stdio::piped()).spawn().unwrap();
        let status = format!("/proc/{}/status", child.id());
        eventually("it waits for its reader", || {
            let pipe = child.stdout.as_ref().map(std::os::fd::AsFd::as_fd).unwrap();
            let mut fds = [nix::poll::PollFd::new(pipe, nix::poll::PollFlags::POLLIN)];
            nix::poll::poll(&mut fds, 0_u8).unwrap() == 1
                && fs::read_to_string(&status).unwrap().contains("State:\tS")
        });
        child.stdin.take();
        child
    };
    let mut child = stuck(&scene);
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let whole = lines(&{
        let mut rest = Vec::new();
        std::io::Read::read_to_end(&mut child.stdout.take().unwrap(), &mut rest).unwrap();
        rest
    });
    assert!(whole.iter().enumerate().all(|(n, line)| line["revision"] == n));

    let mut child = stuck(&scene);
    scene.append("state/events.ndjson", "{\"event\":\"state_committed\",\"revision\":50000}\n");
    let mut reader = std::io::BufReader::new(child.stdout.take().unwrap());
    for n in 0..=50_000 {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut reader, &mut line).unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["revision"], n);
    }
    drop(reader);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A harness that ends its monitors and arms them again with the same command.
#[test]
fn fifty_runs_with_a_cursor_tell_every_gate_once() {
    let scene = Scene::new();
    let _ = scene.dir("state/human-gates/open");
    let cursor = scene.join("cursor");
    let mut told = Vec::new();
    for run in 0..50 {
        let mut watch = built("gate-watch");
        watch.arg("--state-dir").arg(scene.join("state")).arg("--cursor").arg(&cursor);
        watch.args(["--emit-current", "--max-runtime", "0.15"]);
        let running = Running::start(&mut watch);
        scene.replace(&format!("state/human-gates/open/HDR-{run}.json"), "{}");
        let ended = running.end();
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        assert_eq!(ended.lines.last().unwrap()["reason"], "max_runtime");
        let opened = ended.lines.iter().filter(|line| line["event"] == "gate_opened");
        told.extend(opened.map(|line| line["gate_id"].as_str().unwrap().to_owned()));
    }
    let out = built("gate-watch")
        .arg("--state-dir")
        .arg(scene.join("state"))
        .arg("--cursor")
        .arg(&cursor)
        .args(["--once"])
        .output()
        .unwrap();
    told.extend(lines(&out.stdout).iter().map(|line| line["gate_id"].as_str().unwrap().to_owned()));
    let mut each = told.clone();
    each.sort();
    each.dedup();
    assert_eq!((told.len(), each.len()), (50, 50));
}

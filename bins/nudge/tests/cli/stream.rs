//! What passes, and how it ends.

use std::{fs, io::Write as _, process::Stdio};

use tests::{Running, Scene, command, documented, eventually};

use crate::world::{ACK, EXE, nudge, pass, stalled, start};

#[test]
fn flags_are_documented() {
    documented(<nudge::args::Args as clap::CommandFactory>::command());
}

#[test]
fn bad_flags_are_usage_errors() {
    for args in [
        &["--max", "0"][..],
        &["--max", "101"],
        &["--on", "A b"],
        &["--on", ""],
        &["--after", "0"],
        &["--acks", ""],
        &["x"],
    ] {
        let out = command(EXE).args(args).output().unwrap();
        assert_eq!((out.status.code(), out.stdout.len()), (Some(1), 0), "{args:?}");
    }
    let help = |flag| command(EXE).arg(flag).output().unwrap().stdout;
    assert_eq!(help("-h"), help("--help"));
}

#[test]
fn lines_pass_as_they_are_at_any_length() {
    let scene = Scene::new();
    let (mut running, mut stdin) = start(&scene, &["--after=60"]);
    let long =
        format!("{{\"event\":\"stalled\",\"id\":\"1\",\"x\":\"{}\"}}\n", "y".repeat(200_000));
    for line in ["not JSON \u{1}\r\n", "\n", &long, "{\"a\": 1.0}\n", "{\"ack\":5}\n", "[]\n"] {
        pass(&mut running, &mut stdin, line);
    }
    stdin.write_all(b"no newline").unwrap();
    drop(stdin);
    assert_eq!(running.raw(), "no newline");
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn a_line_that_is_too_long_opens_nothing_and_is_never_torn() {
    let scene = Scene::new();
    let (mut running, mut stdin) = start(&scene, &["--after=0.05", "--max=1"]);
    pass(&mut running, &mut stdin, &stalled("1"));
    let head = format!("{{\"event\":\"stalled\",\"id\":\"2\",\"x\":\"{}", "y".repeat(100_000));
    stdin.write_all(head.as_bytes()).unwrap();
    // What is due meanwhile waits for the end of the line; a time that passes is the fixture.
    tests::pause(std::time::Duration::from_millis(200));
    stdin.write_all(b"\"}\n").unwrap();
    let mut lines = [running.line(), running.line()];
    lines.sort_by_key(|line| line["event"].to_string());
    assert_eq!(
        (&lines[0]["event"], &lines[0]["original_id"]),
        (&"nudge_repeat".into(), &"1".into())
    );
    assert_eq!(lines[1]["x"].as_str().unwrap().len(), 100_000);
    drop(stdin);
    assert!(running.end().lines.is_empty());
}

#[test]
fn g7_the_end_of_the_input_is_the_end() {
    let mut running = Running::start(&mut nudge(&["--after=60"]));
    let mut stdin = running.stdin().unwrap();
    stdin.write_all(stalled("1").as_bytes()).unwrap();
    drop(stdin);
    let ended = running.end();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 1));
}

#[test]
fn g7_drained_it_says_three_and_ends() {
    let mut running = Running::start(&mut nudge(&["--drain"]));
    let mut stdin = running.stdin().unwrap();
    stdin.write_all(stalled("c2a5e81f0b7d3946").as_bytes()).unwrap();
    drop(stdin);
    running.event("stalled");
    for count in 1..=3 {
        let said = running.event("nudge_repeat");
        assert_eq!((&said["nudge_count"], &said["final"]), (&count.into(), &(count == 3).into()));
        assert_eq!(
            (&said["key"], &said["condition"]),
            (&"nudge:agent:a/5:stalled".into(), &"once".into())
        );
        assert_eq!(
            (&said["original_event"], &said["agent"], &said["step"]),
            (&"stalled".into(), &"a".into(), &"5".into())
        );
        assert_eq!(said["original_id"], "c2a5e81f0b7d3946");
    }
    let ended = running.end();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 0));
}

#[test]
fn a_life_has_its_end_and_says_so() {
    let mut running = Running::start(&mut nudge(&["--max-runtime=0.1"]));
    let stdin = running.stdin();
    assert_eq!(running.event("monitor_stopped")["reason"], "max_runtime");
    assert_eq!(running.end().code, Some(0));
    drop(stdin);
}

#[test]
fn g9_the_end_of_the_reader_is_the_end() {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut child = nudge(&[]).stdout(writer).spawn().unwrap();
    drop(reader);
    let mut code = None;
    eventually("it ends", || {
        code = child.try_wait().unwrap().map(|status| status.code());
        code.is_some()
    });
    assert_eq!(code, Some(Some(0)));
}

/// A life under strace: lines, nudges and answers, and the last word of a shutdown.
#[test]
fn g9_it_opens_nothing_but_its_acknowledgements_and_signals_nobody() {
    let scene = Scene::new();
    scene.write("acks", ACK);
    let acks = scene.join("acks").display().to_string();
    let before = scene.tree();
    let mut traced = command("strace");
    traced.args(["-f", "-s", "300", "-o"]).arg(scene.join("trace"));
    traced.args([
        "-e",
        "trace=/^(open|creat|kill|tkill|tgkill|pidfd|unlink|rename|mkdir|exec|link|symlink)",
    ]);
    traced.args([EXE, "--after=0.1", "--acks", &acks]).stdin(Stdio::piped());
    let mut running = Running::ready(&scene, &mut traced);
    let mut stdin = running.stdin().unwrap();
    pass(&mut running, &mut stdin, &stalled("1"));
    running.event("nudge_repeat");
    assert_eq!(scene.tree().iter().filter(|entry| before.contains(entry)).count(), before.len());
    scene.append("acks", "{\"ack\":\"stalled\",\"id\":\"1\"}\n");
    pass(&mut running, &mut stdin, &stalled("2"));
    while running.event("nudge_repeat")["original_id"] != "2" {}
    drop(stdin);
    assert_eq!(running.end().code, Some(0));
    let trace = fs::read_to_string(scene.join("trace")).unwrap();
    let mut opened = 0;
    // What comes before main is the loader's.
    let ours = trace.lines().skip_while(|line| !line.contains(&acks) || line.contains("execve("));
    // A thread that ended while strace looked is a call without a name.
    for call in ours.filter(|line| line.contains('(') && !line.contains("???(")) {
        assert!(
            call.contains("open") && call.contains(&acks) && call.contains("O_RDONLY"),
            "{call}"
        );
        opened += 1;
    }
    assert!(opened > 0, "strace saw the file opened:\n{trace}");
    for verb in ["O_CREAT", "O_WRONLY", "O_RDWR", "kill(", "pidfd_"] {
        assert!(!trace.contains(verb), "{verb}:\n{trace}");
    }
}

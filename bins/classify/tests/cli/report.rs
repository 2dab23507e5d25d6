//! `--report`.

use std::{fs, io::Write as _, os::unix::process::CommandExt as _};

use serde_json::{Value, json};
use tests::{Running, Scene};

use crate::{classify, clean, ended, fed};

fn report(args: &[&str], input: &str) -> Value {
    let (code, stdout, stderr) = ended(&fed(&mut classify(&[&["--report"], args].concat()), input));
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(stdout.matches('\n').count(), 1, "{stdout}");
    let mut report: Value = serde_json::from_str(&stdout).unwrap();
    assert!(report["checked_at"].as_str().is_some_and(|at| at.len() == 20 && at.ends_with('Z')));
    report.as_object_mut().unwrap().remove("checked_at");
    report
}

fn empty() -> Value {
    json!({"immediate":[],"warning":[],"info":[],"dead_monitors":[],"healthy_monitors":[],"malformed":0,"ended":[]})
}

#[test]
fn c12_a_monitor_without_a_file_is_dead_and_lines_get_the_names() {
    let scene = Scene::new();
    let lines = concat!(
        r#"{"event":"state_committed","timestamp":"2026-04-08T14:09:58.588456Z","revision":41}"#,
        "\n",
        r#"{"event":"tail_skipped","source":"event-tail","count":1.0}"#,
        "\r\n",
        "{bad\n",
        "[1]",
    );
    scene.write("events.ndjson", lines);
    scene.write(
        "h",
        "{\"event\":\"heartbeat_warning\",\"severity\":\"expired\"}\n{\"event\":\"x\"}\n",
    );
    let mut command = classify(&["--report", "heartbeat=h", "gate=g", "events=events.ndjson"]);
    let (code, stdout, stderr) = ended(&fed(command.current_dir(scene.path()), ""));
    assert_eq!(code, 0);
    assert_eq!(
        stderr,
        "classify: warning: unable to read g: No such file or directory (os error 2)\n"
    );
    let rest = stdout.split_once(",\"immediate\"").unwrap().1;
    let want = concat!(
        r#":[{"event":"heartbeat_warning","severity":"expired","source":"heartbeat"}],"#,
        r#""warning":[{"event":"x","source":"heartbeat","unclassified":true},"#,
        r#"{"event":"tail_skipped","source":"events","count":1.0}],"#,
        r#""info":[{"event":"state_committed","timestamp":"2026-04-08T14:09:58.588456Z","revision":41,"source":"events"}],"#,
        r#""dead_monitors":["gate"],"healthy_monitors":["heartbeat","events"],"malformed":2,"ended":[]}"#,
        "\n",
    );
    assert_eq!(rest, want);
}

#[test]
fn c12_what_can_not_be_read_is_dead_and_nothing_hangs() {
    let scene = Scene::new();
    let _ = scene.dir("folder");
    scene.write("secret", "{}\n");
    fs::set_permissions(scene.join("secret"), std::os::unix::fs::PermissionsExt::from_mode(0o000))
        .unwrap();
    nix::unistd::mkfifo(&scene.join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink("h", scene.join("link")).unwrap();
    scene.write("h", "\0\0\0\n\n{\"event\":\"gate_opened\"}");
    let mut command = tests::command(scene.copy_of(env!("CARGO_BIN_EXE_classify")));
    command.args([
        "--report",
        "folder=folder",
        "secret=secret",
        "fifo=fifo",
        "link=link",
        "null=/dev/null",
    ]);
    command.stdin(std::process::Stdio::piped()).current_dir(scene.path()).uid(65534).gid(65534);
    let (code, stdout, _) = ended(&fed(&mut command, ""));
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(code, 0);
    // The pipe belongs to another user too.
    assert_eq!(report["dead_monitors"], json!(["folder", "secret", "fifo"]));
    assert_eq!(report["healthy_monitors"], json!(["link", "null"]));
    assert_eq!(
        (&report["malformed"], &report["immediate"][0]["source"]),
        (&1.into(), &"link".into())
    );
}

#[test]
fn a_pipe_is_read_to_its_end() {
    let scene = Scene::new();
    let fifo = scene.join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let name = format!("gate={}", fifo.display());
    // Nobody writes, and nobody will.
    assert_eq!(report(&[&name], "")["healthy_monitors"], json!(["gate"]));
    let mut writer = fs::OpenOptions::new().read(true).write(true).open(&fifo).unwrap();
    writer.write_all(b"{\"event\":\"gate_").unwrap();
    let mut run = Running::start(&mut classify(&["--report", &name]));
    writer.write_all(b"opened\"}\n").unwrap();
    // It holds the pipe open once it has a descriptor; then the writer may go.
    let fds = format!("/proc/{}/fd", run.pid());
    tests::eventually("the pipe is opened", || {
        let links = fs::read_dir(&fds).unwrap().map(|entry| fs::read_link(entry.unwrap().path()));
        links.flatten().any(|link| link == fifo)
    });
    drop(writer);
    assert_eq!(run.line()["immediate"][0]["event"], "gate_opened");
    assert_eq!(run.end().code, Some(0));
}

#[test]
fn stdin_may_be_one_of_the_inputs() {
    let scene = Scene::new();
    scene.write("h", "{\"event\":\"gate_opened\",\"n\":1}\n");
    let file = format!("b={}", scene.join("h").display());
    let found = report(&["a=-", &file, &file], "{\"event\":\"gate_opened\",\"n\":0}\n");
    let immediate = &found["immediate"];
    assert_eq!(immediate[0], json!({"event":"gate_opened","n":0,"source":"a"}));
    assert_eq!(immediate[2], json!({"event":"gate_opened","n":1,"source":"b"}));
    assert_eq!(found["healthy_monitors"], json!(["a", "b"]));
    // Alone it names nobody.
    let found = report(&[], "{\"event\":\"gate_opened\",\"source\":\"x\"}\n");
    assert_eq!(found["immediate"], json!([{"event":"gate_opened","source":"x"}]));
    assert_eq!(found["healthy_monitors"], json!([]));
}

const STATUS: &str = r#"{"checked_at":"2026-04-08T14:10:00Z","monitors":[
    {"name":"heartbeat","alive":true,"ends":false,"exit_code":null,"exit_signal":null,"end_reason":null},
    {"name":"gate","alive":false,"ends":false,"exit_code":0,"exit_signal":null,"end_reason":"exited"},
    {"name":"events","alive":false,"ends":false,"exit_code":null,"exit_signal":9,"end_reason":"exited"},
    {"name":"ci-status","alive":false,"ends":true,"exit_code":0,"exit_signal":null,"end_reason":"exited"},
    {"name":"divergence","alive":false,"ends":false,"exit_code":null,"exit_signal":15,"end_reason":"stopped"}]}"#;

#[test]
fn c13_a_status_sorts_the_monitors() {
    let scene = Scene::new();
    scene.write("status.json", STATUS);
    let path = scene.join("status.json");
    let args = ["--status", path.to_str().unwrap(), "gate=-"];
    let found = report(&args, "{\"event\":\"gate_opened\"}\n");
    assert_eq!(found["healthy_monitors"], json!(["heartbeat"]));
    assert_eq!(found["dead_monitors"], json!(["gate", "events"]));
    assert_eq!(found["ended"], json!(["ci-status", "divergence"]));
    assert_eq!(found["immediate"][0]["source"], "gate");
    let (code, ..) =
        ended(&fed(&mut classify(&[&["--report", "--exit-code"], &args[..]].concat()), ""));
    assert_eq!(code, 10);

    for text in ["", "{}", "[]", "{\"monitors\":7}"] {
        scene.write("status.json", text);
        let (code, stdout, stderr) =
            ended(&fed(&mut classify(&[&["--report"], &args[..]].concat()), ""));
        assert_eq!((code, &*stdout), (4, ""));
        assert!(stderr.contains(args[1]) && stderr.contains("supervise status"), "{stderr}");
    }
    let (code, _, stderr) = ended(&fed(&mut classify(&["--report", "--status", "/none"]), ""));
    assert_eq!(code, 4);
    assert!(stderr.starts_with("classify: fatal: unable to read /none: No such file"), "{stderr}");
}

#[test]
fn c14_an_empty_input_is_an_empty_report_or_none() {
    assert_eq!(report(&[], ""), empty());
    assert_eq!(clean(&["--report", "--quiet"], ""), "");
    assert_eq!(clean(&["--report", "--quiet", "a=-"], "\n"), "");
    for input in ["{\"event\":\"reading\"}\n", "bad\n"] {
        assert_ne!(clean(&["--report", "--quiet"], input), "");
    }
    let (code, stdout, _) = ended(&fed(&mut classify(&["--report", "--quiet", "a=/none"]), ""));
    assert_eq!(code, 0);
    assert!(stdout.contains(r#""dead_monitors":["a"]"#), "{stdout}");
}

#[test]
fn c15_a_verdict_of_a_report() {
    for (args, input, want) in [
        (&[][..], "{\"event\":\"gate_changed\"}\n", 0),
        (&[], "{}\n", 11),
        (&["--min", "immediate"], "{}\n", 11),
        (&["--min", "immediate"], "{\"event\":\"gate_opened\"}\n", 10),
        (&[], "bad\n", 11),
        (&["a=/none"], "", 10),
        (&["--quiet"], "", 0),
    ] {
        let args = [&["--report", "--exit-code"], args].concat();
        assert_eq!(ended(&fed(&mut classify(&args), input)).0, want, "{args:?} {input}");
    }
}

#[test]
fn a_large_report_leaves_whole() {
    let input = "{\"event\":\"gate_opened\",\"a\":\"xxxxxxxxxxxxxxxxxxxxxxxx\"}\n".repeat(30_000);
    let found = report(&[], &input);
    assert_eq!(found["immediate"].as_array().unwrap().len(), 30_000);
}

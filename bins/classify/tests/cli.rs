//! The program from the outside.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

mod cli {
    mod end;
    mod report;
    mod rules;
    mod stream;
}

use std::{
    io::Write as _,
    process::{Child, Command, Output, Stdio},
    thread,
};

use clap::CommandFactory as _;
use tests::command;

const TABLE: [(&str, &str); 3] = [
    ("immediate", include_str!("data/immediate.ndjson")),
    ("warning", include_str!("data/warning.ndjson")),
    ("info", include_str!("data/info.ndjson")),
];

/// A command that runs the program with a pipe as stdin.
fn classify(args: &[&str]) -> Command {
    let mut command = command(env!("CARGO_BIN_EXE_classify"));
    command.args(args).stdin(Stdio::piped());
    command
}

/// What became of a whole input.
fn fed(command: &mut Command, input: impl AsRef<[u8]>) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    feed(&mut child, input.as_ref());
    child.wait_with_output().unwrap()
}

/// Gives all of `input` from another thread, since neither pipe holds everything.
fn feed(child: &mut Child, input: &[u8]) {
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
    // A program that ends early closes the pipe.
    thread::spawn(move || drop(stdin.write_all(&input)));
}

/// Exit code, stdout and stderr; all as text.
fn ended(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// Runs to the end, which has to be quiet and clean.
fn clean(args: &[&str], input: impl AsRef<[u8]>) -> String {
    let (code, stdout, stderr) = ended(&fed(&mut classify(args), input));
    assert_eq!((code, &*stderr), (0, ""), "{args:?}: {stdout}");
    stdout
}

#[test]
fn flags_are_documented() {
    tests::documented(classify::args::Args::command());
}

#[test]
fn help_and_version_are_on_stdout() {
    assert!(clean(&["--version"], "").starts_with("classify "));
    let help = clean(&["--help"], "");
    assert!(help.contains("Usage: classify"), "{help}");
    assert_eq!(clean(&["-h"], ""), help);
}

#[test]
fn a_bad_command_line_exits_1_and_says_what_is_allowed() {
    for (args, word) in [
        (&["--min", "high"][..], "immediate, warning, info"),
        (&["--min"], "--min"),
        (&["--min", ""], "immediate"),
        (&["--rules", ""], "--rules"),
        (&["--rules", "-"], "not begin with -"),
        (&["--rules", "--min"], "--rules"),
        (&["--max-line", "1"], "4K to 64M"),
        (&["--max-line", "65M"], "4K to 64M"),
        (&["--max-runtime", "0"], "0.001"),
        (&["--parent-pid", "0"], "--parent-pid"),
        (&["--source", "a b"], "letters"),
        (&["--status", "f"], "--report"),
        (&["--quiet"], "--report"),
        (&["gate=f"], "--report"),
        (&["--report", "gate"], "NAME=FILE"),
        (&["--report", "gate="], "NAME=FILE"),
        (&["--report", "a b=f"], "letters"),
        (&["--report", "=f"], "letters"),
        (&["--report", "--print-rules"], "--print-rules"),
        (&["--report", "--max-runtime", "1"], "--max-runtime"),
        (&["--audience", "nobody"], "--audience"),
        (&["--audience", "lead", "--format", "consultant"], "--audience"),
        (&["--seed-only"], "--seed-only"),
        (&["--report", "--format", "lead"], "--format"),
        (&["--once"], "--once"),
    ] {
        let (code, stdout, stderr) = ended(&fed(&mut classify(args), "{}\n"));
        assert_eq!((code, &*stdout), (1, ""), "{args:?}");
        assert!(stderr.starts_with("classify: fatal: ") && stderr.contains(word), "{stderr}");
        assert_eq!(stderr.matches('\n').count(), 1, "{stderr}");
    }
}

#[test]
fn of_a_flag_given_twice_the_last_counts() {
    let passed = clean(&["--min", "immediate", "--min=info"], "{\"event\":\"gate_changed\"}\n");
    assert_eq!(passed, "{\"event\":\"gate_changed\",\"urgency\":\"info\"}\n");
    // The form that a report has may be named.
    let report = clean(&["--report", "--format", "lead", "--format", "ndjson"], "");
    assert!(report.starts_with("{\"checked_at\":"), "{report}");
    // But inputs add up, wherever the flags stand.
    let report = clean(&["--report", "a=/dev/null", "--min", "info", "b=/dev/null"], "");
    assert!(report.contains(r#""healthy_monitors":["a","b"]"#), "{report}");
}

/// What the page gives, in the time zone of the reader.
#[test]
fn a_result_in_a_blind_phase_is_told_without_its_verdict() {
    let line = r#"{"event":"result_ready","timestamp":"2026-04-08T14:10:00Z","source":"agent-watch","agent":"verifier-claude","step":"7","size":9,"verdict":"FAIL","result_path":"/r/v.md","blind":true,"consultant_reporting":"full"}"#;
    for (zone, strict, want) in [
        (
            "UTC",
            false,
            r#"{"event":"agent_complete","step":"7","agent":"verifier-claude","result":"/r/v.md","ts":"14:10","source":"monitor"}"#,
        ),
        (
            "Asia/Seoul",
            true,
            r#"{"event":"agent_complete","step":"7","agent":"verifier-claude","ts":"23:10","source":"monitor"}"#,
        ),
    ] {
        let mut classify = command(env!("CARGO_BIN_EXE_classify"));
        classify.args(["--format", "consultant"]).args(strict.then_some("--blind-strict"));
        classify.env("TZ", zone).stdin(Stdio::piped());
        let mut running = tests::Running::start(&mut classify);
        std::io::Write::write_all(&mut running.stdin().unwrap(), format!("{line}\n").as_bytes())
            .unwrap();
        assert_eq!(running.raw(), format!("{want}\n"));
    }
}

//! The program from the outside, with real servers.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

mod cli {
    mod credentials;
    mod flow;
    mod refusals;
    pub(crate) mod server;
}

use std::{
    fmt::Write as _,
    fs::File,
    process::{Command, Stdio},
};

use clap::CommandFactory as _;
use cli::server::Server;
use serde_json::Value;
use tests::{Scene, command};

/// A command with a store in the scene.
fn relay(scene: &Scene, args: &[&str]) -> Command {
    let mut command = command(env!("CARGO_BIN_EXE_relay"));
    command.args(args).env("DOORBELL_STORE", scene.join("store"));
    command.env_remove("NATS_URL").env_remove("NATS_CREDS");
    command
}

fn publish(scene: &Scene, server: &Server, args: &[&str]) -> Command {
    let mut command = relay(scene, &["pub", "--stream", "fleet", "--server", &server.url()]);
    command.args(args);
    command
}

fn subscribe(scene: &Scene, server: &Server, args: &[&str]) -> Command {
    let mut command = relay(scene, &["sub", "--stream", "fleet", "--durable", "seat"]);
    command.args(["--server", &server.url()]).args(args);
    command
}

/// Publishes `lines`, which has to be quiet and clean.
fn published(scene: &Scene, server: &Server, lines: &str) {
    scene.write("published", lines);
    let mut publisher = publish(scene, server, &["--create"]);
    let out = publisher.stdin(File::open(scene.join("published")).unwrap()).output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let said = (out.status.code(), text(&out.stdout), text(&out.stderr));
    assert_eq!(said, (Some(0), String::new(), String::new()));
}

/// All that the stream has, read by a durable of its own.
fn stored(scene: &Scene, server: &Server, args: &[&str]) -> String {
    let mut sub = relay(scene, &["sub", "--stream", "fleet", "--durable", "all", "--once"]);
    sub.args(["--server", &server.url(), "--from", "all"]).args(args);
    let out = sub.stdin(Stdio::null()).output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!((out.status.code(), stderr), (Some(0), String::new()));
    String::from_utf8(out.stdout).unwrap()
}

/// The same, once more.
fn drained(scene: &Scene, server: &Server, durable: &str) -> String {
    let name = format!("drained-{durable}");
    let mut sub = relay(scene, &["sub", "--stream", "fleet", "--durable", &name, "--once"]);
    let out = sub.args(["--server", &server.url(), "--from", "all"]).output().unwrap();
    String::from_utf8(out.stdout).unwrap()
}

/// Lines of about 100 bytes, every tenth without an `id`.
fn input(count: usize) -> String {
    let mut lines = String::new();
    for n in 0..count {
        let id = if n % 10 == 0 { String::new() } else { format!(r#","id":"{n:016x}""#) };
        let source = n % 7;
        writeln!(
            lines,
            r#"{{"event":"gate_opened","source":"s{source}","n":{n},"text":"0123456789"{id}}}"#
        )
        .unwrap();
    }
    lines
}

fn events(lines: &[Value]) -> Vec<String> {
    lines.iter().map(|line| line["event"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn flags_are_documented() {
    tests::documented(relay::args::Args::command());
}

#[test]
fn help_and_version_are_on_stdout() {
    let scene = Scene::new();
    for args in [&["--help"][..], &["-h"], &["--version"], &["pub", "--help"], &["sub", "-h"]] {
        let out = relay(&scene, args).output().unwrap();
        assert_eq!((out.status.code(), &*out.stderr), (Some(0), &b""[..]), "{args:?}");
        assert!(!out.stdout.is_empty());
    }
}

#[test]
fn a_bad_command_line_exits_1_and_says_what_is_allowed() {
    let scene = Scene::new();
    let publish = ["pub", "--stream", "s"];
    let subscribe = ["sub", "--stream", "s", "--durable", "d"];
    for (first, args, word) in [
        (&[][..], &[][..], ""),
        (&["pub"], &[], "--stream"),
        (&["sub", "--stream", "s"], &[], "--durable"),
        (&["pub", "--stream", "a.b"], &[], "letters"),
        (&["sub", "--stream", "s", "--durable", "a b"], &[], "letters"),
        (&publish, &["--subject", "a.*"], "{host}"),
        (&publish, &["--replicas", "3"], "--create"),
        (&publish, &["--create", "--replicas", "9"], "1..=5"),
        (&publish, &["--max-age", "1h"], "--create"),
        (&publish, &["--spool-max", "1"], "256K"),
        (&publish, &["--spool", ""], "--spool"),
        (&publish, &["--drain-timeout", "0"], "0.001"),
        (&publish, &["--server", "http://a:secret@x"], "nats://HOST:PORT"),
        (&publish, &["--source", "a b"], "letters"),
        (&publish, &["--durable", "d"], "--durable"),
        (&subscribe, &["--subject", "a..b"], "tokens"),
        (&subscribe, &["--from", "0"], "new, all"),
        (&subscribe, &["--from", "yesterday"], "new, all"),
        (&subscribe, &["--batch", "0"], "--batch"),
        (&subscribe, &["--ack-wait", "0.1"], "1 to"),
        (&subscribe, &["--dedup", "f", "--share"], "--share"),
        (&subscribe, &["--max-runtime", "0"], "0.001"),
        (&subscribe, &["--parent-pid", "0"], "--parent-pid"),
        (&subscribe, &["--context", "x"], "--context"),
    ] {
        let out = relay(&scene, first).args(args).stdin(Stdio::null()).output().unwrap();
        let stderr = String::from_utf8(out.stderr).unwrap();
        assert_eq!((out.status.code(), &*out.stdout), (Some(1), &b""[..]), "{args:?}: {stderr}");
        assert!(
            stderr.starts_with("relay: fatal: unable to ") && stderr.contains(word),
            "{stderr}"
        );
        assert!(stderr.matches('\n').count() == 1 && !stderr.contains("secret"), "{stderr}");
    }
}

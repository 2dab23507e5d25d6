//! What the tests have in common.

use std::{
    fs,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tests::{Ended, Running, Scene, command};

pub(crate) const EXE: &str = env!("CARGO_BIN_EXE_wake");

/// The program with its store in the scene.
pub(crate) fn wake(scene: &Scene, args: &[&str]) -> Command {
    let mut wake = command(EXE);
    wake.args(args).env("DOORBELL_STORE", scene.join("store")).stdin(Stdio::piped());
    wake
}

/// Runs it over these lines, to the end of the input.
pub(crate) fn feed(scene: &Scene, args: &[&str], lines: &[String]) -> Ended {
    let mut running = Running::start(&mut wake(scene, args));
    say(&mut running.stdin().unwrap(), lines);
    running.end()
}

/// Writes lines in one write. A program that refuses to run reads none of them.
pub(crate) fn say(stdin: &mut impl std::io::Write, lines: &[String]) {
    let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    if let Err(err) = stdin.write_all(text.as_bytes()) {
        assert_eq!(err.kind(), std::io::ErrorKind::BrokenPipe, "{err}");
    }
}

/// A look at `subject` that found these entries.
pub(crate) fn look(subject: &str, more: &Value) -> String {
    let mut line = json!({
        "event": "reading", "source": "probe-watch", "kind": "basin", "noun": "basin",
        "subject": subject, "facts": {"n": 1},
    });
    if let (Some(line), Value::Object(more)) = (line.as_object_mut(), more) {
        line.extend(more.clone());
    }
    line.to_string()
}

/// One that found these keys.
pub(crate) fn keys(subject: &str, keys: &[&str]) -> String {
    let entries: Vec<Value> = keys.iter().map(|key| json!({"key": key, "brief": "b"})).collect();
    look(subject, &json!({"entries": entries}))
}

/// The state of a watch.
pub(crate) fn state(scene: &Scene, watch: &str) -> Value {
    let path = scene.join(format!("store/wake/{watch}/state.json"));
    serde_json::from_slice(&fs::read(path).unwrap_or_default()).unwrap_or_default()
}

/// The lines of its history.
pub(crate) fn history(scene: &Scene, watch: &str) -> Vec<Value> {
    let path = scene.join(format!("store/wake/{watch}/history.ndjson"));
    tests::lines(&fs::read(path).unwrap())
}

/// The words of one member of some lines.
pub(crate) fn words<'a>(lines: &'a [Value], name: &str) -> Vec<&'a str> {
    lines.iter().map(|line| line[name].as_str().unwrap_or_default()).collect()
}

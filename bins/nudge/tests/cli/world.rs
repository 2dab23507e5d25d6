//! The program, and an event that wants an answer.

use std::{
    io::Write as _,
    process::{ChildStdin, Command, Stdio},
};

use tests::{Running, Scene, command};

pub(crate) const EXE: &str = env!("CARGO_BIN_EXE_nudge");
pub(crate) const ACK: &str = "{\"ack\":\"stalled\",\"agent\":\"a\"}\n";
const STALLED: &str = r#"{"event":"stalled","source":"w","agent":"a","step":"5","instance":"i","key":"agent:a/5:stalled","condition":"raised","id":"ID"}"#;

/// An event that wants an answer, as a line.
pub(crate) fn stalled(id: &str) -> String {
    STALLED.replace("ID", id) + "\n"
}

pub(crate) fn nudge(args: &[&str]) -> Command {
    let mut nudge = command(EXE);
    nudge.args(["--after=0.2"]).args(args).stdin(Stdio::piped());
    nudge
}

/// Starts it, and returns once it reads.
pub(crate) fn start(scene: &Scene, args: &[&str]) -> (Running, ChildStdin) {
    let mut running = Running::ready(scene, &mut nudge(args));
    let stdin = running.stdin().unwrap();
    (running, stdin)
}

/// Sends a line, and returns once it has passed.
pub(crate) fn pass(running: &mut Running, stdin: &mut ChildStdin, line: &str) {
    stdin.write_all(line.as_bytes()).unwrap();
    assert_eq!(running.raw(), *line);
}

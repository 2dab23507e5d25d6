//! A program that runs while the test acts on its world.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    os::unix::process::ExitStatusExt as _,
    process::{Child, ChildStderr, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;

use crate::{Manager, PATIENCE, Scene, eventually};

/// A running program, whose stdout is read line by line. It is killed when dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
}

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code; `None` when a signal killed it.
    pub code: Option<i32>,
    /// The signal that killed it.
    pub signal: Option<i32>,
    /// The lines that nobody had read yet.
    pub lines: Vec<Value>,
    /// All it said on stderr.
    pub stderr: String,
}

impl Running {
    /// Starts `command` with its stdout and stderr in our hands.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        thread::spawn(move || {
            let mut line = Vec::new();
            while stdout.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                let text = String::from_utf8_lossy(&line).into_owned();
                line.clear();
                if tell.send(text).is_err() {
                    return;
                }
            }
        });
        let stderr = child.stderr.take().map(|pipe| thread::spawn(move || all_of(pipe)));
        Self { child, lines, stderr }
    }

    /// Starts `command` and returns once it says that it is ready. The socket it says so on lies
    /// in `scene`, apart from what programs watch there.
    #[must_use]
    pub fn ready(scene: &Scene, command: &mut Command) -> Self {
        let manager = Manager::listen(scene);
        manager.manage(command);
        let running = Self::start(command);
        manager.ready();
        running
    }

    /// The next line with its newline, as it came.
    pub fn raw(&mut self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap_or_else(|err| panic!("no line: {err}"))
    }

    /// The next line as it came, unless none comes for so long.
    pub fn raw_within(&mut self, patience: Duration) -> Option<String> {
        self.lines.recv_timeout(patience).ok()
    }

    /// The next line; panics when none comes.
    pub fn line(&mut self) -> Value {
        let raw = self.raw();
        serde_json::from_str(&raw).unwrap_or_else(|err| panic!("not JSON ({err}): {raw:?}"))
    }

    /// The next line, which has to be this event.
    pub fn event(&mut self, name: &str) -> Value {
        let line = self.line();
        assert_eq!(line["event"], name, "{line}");
        line
    }

    /// The lines that came already.
    pub fn so_far(&mut self) -> Vec<Value> {
        self.lines.try_iter().map(|raw| serde_json::from_str(&raw).unwrap()).collect()
    }

    /// Its pid.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its stdin, when the command asked for a pipe.
    pub fn stdin(&mut self) -> Option<std::process::ChildStdin> {
        self.child.stdin.take()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal).unwrap();
    }

    /// Stops it with SIGSTOP, and returns once it stands.
    pub fn freeze(&self) {
        self.signal(Signal::SIGSTOP);
        let stat = format!("/proc/{}/stat", self.pid());
        eventually("the process stands", || {
            let text = std::fs::read_to_string(&stat).unwrap();
            text.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
        });
    }

    /// Lets it go on.
    pub fn thaw(&self) {
        self.signal(Signal::SIGCONT);
    }

    /// Waits for its end, which has to come by itself.
    #[must_use]
    pub fn end(mut self) -> Ended {
        let mut status = None;
        eventually("the program ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let status = status.unwrap();
        let lines = self.lines.iter().map(|raw| serde_json::from_str(&raw).unwrap()).collect();
        let stderr = self.stderr.take().map(|reader| reader.join().unwrap()).unwrap_or_default();
        Ended { code: status.code(), signal: status.signal(), lines, stderr }
    }

    /// Asks it to stop and waits for its end.
    #[must_use]
    pub fn stop(self) -> Ended {
        self.signal(Signal::SIGTERM);
        self.end()
    }

    /// Kills it on the spot, and returns the lines that nobody had read yet.
    #[must_use]
    pub fn kill(mut self) -> Vec<Value> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.lines.iter().filter_map(|raw| serde_json::from_str(&raw).ok()).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn all_of(mut pipe: ChildStderr) -> String {
    let mut bytes = Vec::new();
    let _ = pipe.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

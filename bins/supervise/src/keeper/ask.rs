//! What a keeper is asked, and what it answers.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    path::PathBuf,
    time::Duration,
};

use serde::{Deserialize, Serialize};

/// What proves that a monitor runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ready {
    /// It says so: `READY=1`.
    Notify,
    /// It was executed and is alive 100 ms later.
    Alive,
}

/// What a keeper is asked to keep.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Spec {
    /// The monitor's folder.
    pub home: PathBuf,
    /// Its name.
    pub name: String,
    /// Its command line.
    pub argv: Vec<String>,
    /// Whether it may end by itself.
    pub ends: bool,
    /// How often within an hour it is started again.
    pub restart: u32,
    /// What proves it.
    pub ready: Ready,
    /// Within which time.
    pub ready_timeout: Duration,
    /// When the log is rotated, in bytes.
    pub log_max: u64,
    /// The process to end with.
    pub parent: Option<u32>,
}

/// What the keeper answers, in one line, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The monitor is proven.
    Proven,
    /// Another keeper has the lock.
    Held,
    /// It could not be proven; nothing of it is left.
    Failed(String),
}

impl Answer {
    /// Answers, and lets go of whoever waits for it. A second answer goes nowhere.
    ///
    /// # Errors
    ///
    /// When there is no `/dev/null` to put in the place of our streams.
    pub fn give(&self) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        let _ = io::stdout().write_all(&line);
        let _ = io::stdout().flush();
        let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
        nix::unistd::dup2_stdout(&nothing)?;
        nix::unistd::dup2_stdin(&nothing)?;
        Ok(())
    }
}

/// How `stop` says how long the monitor has.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StopRequest {
    /// The run that is meant.
    pub instance: String,
    /// How long it has.
    pub grace: Duration,
    /// Whether another command takes its name.
    pub replaced: bool,
}

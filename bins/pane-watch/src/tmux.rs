//! Asks the server. Every listing names a target: without one tmux takes what the user looks at.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use shared::{
    exit::{Error, Reason},
    run::{self, Outcome},
    wait::Waiter,
};

const FORMAT: &str = "#{session_id}\t#{window_id}\t#{pane_id}\t#{pane_pid}\t#{pane_dead}\t#{pane_dead_status}\t#{pane_dead_signal}\t#{pane_dead_time}\t#{pane_tty}\t#{pid}\t#{start_time}";

/// A server is its process and its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Its pid.
    pub pid: u32,
    /// Seconds since 1970.
    pub start: u64,
}

/// A pane as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// `$N`.
    pub session: String,
    /// `@N`.
    pub window: String,
    /// `%N`.
    pub pane: String,
    /// Its process.
    pub pid: u32,
    /// Its process ended, and tmux keeps the pane.
    pub dead: bool,
    /// The exit code, when it did.
    pub status: Option<i64>,
    /// Or the signal.
    pub signal: Option<i64>,
    /// And when, in seconds since 1970.
    pub died: Option<i64>,
    /// Its terminal.
    pub tty: String,
    /// The server.
    pub server: Server,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing {
    /// These panes, each once.
    Panes(Vec<Row>),
    /// The target isn't there, which is an answer.
    NoTarget,
    /// Nor is the server.
    NoServer,
    /// Nobody knows.
    Failed(String),
}

/// The way to a server.
#[derive(Debug)]
pub struct Tmux {
    socket: PathBuf,
    deadline: Duration,
}

impl Tmux {
    /// A call may take `deadline`.
    #[must_use]
    pub fn new(socket: &Path, deadline: Duration) -> Self {
        Self { socket: socket.to_owned(), deadline }
    }

    /// Lists the panes of `target`, which is flags of `list-panes`.
    ///
    /// # Errors
    ///
    /// No tmux.
    pub fn list(&self, target: &[&str], waiter: &Waiter) -> Result<Listing, Error> {
        let mut command = run::command("tmux");
        command.arg("-S").arg(&self.socket).arg("list-panes").args(target).args(["-F", FORMAT]);
        match run::run(&mut command, self.deadline, waiter) {
            Ok(Outcome::Exited { status, stdout, .. }) if status.success() => {
                Ok(Listing::Panes(rows(&String::from_utf8_lossy(&stdout))))
            }
            Ok(Outcome::Exited { stderr, .. }) => Ok(refusal(&String::from_utf8_lossy(&stderr))),
            Ok(Outcome::TimedOut) => Ok(Listing::Failed("no answer in time".to_owned())),
            Ok(Outcome::Stopped) => Ok(Listing::Failed("stopped".to_owned())),
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                let message = "unable to run tmux: it is not installed";
                Err(Error::new(Reason::Missing, "tmux_missing", message))
            }
            Err(err) => Ok(Listing::Failed(err.to_string())),
        }
    }
}

fn refusal(stderr: &str) -> Listing {
    let text = stderr.trim();
    if ["can't find pane", "can't find window", "can't find session"]
        .iter()
        .any(|word| text.contains(word))
    {
        Listing::NoTarget
    } else if text.contains("no server running") || text.contains("No such file or directory") {
        Listing::NoServer
    } else {
        Listing::Failed(text.to_owned())
    }
}

/// A window that is linked twice lists its panes twice.
fn rows(text: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = text.lines().filter_map(row).collect();
    rows.sort_by(|a, b| a.pane.cmp(&b.pane));
    rows.dedup_by(|a, b| a.pane == b.pane);
    rows
}

fn row(line: &str) -> Option<Row> {
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    Some(Row {
        session: next()?.to_owned(),
        window: next()?.to_owned(),
        pane: next()?.to_owned(),
        pid: next()?.parse().ok()?,
        dead: next()? == "1",
        status: next()?.parse().ok(),
        signal: next()?.parse().ok(),
        died: next()?.parse().ok(),
        tty: next()?.to_owned(),
        server: Server { pid: next()?.parse().ok()?, start: next()?.parse().ok()? },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_read_and_linked_panes_count_once() {
        let line = "$0\t@1\t%2\t77\t1\t3\t\t1700000000\t/dev/pts/4\t50\t1600000000";
        let text = format!("{line}\n{}\nnonsense\n", line.replace("$0", "$9"));
        let rows = rows(&text);
        assert_eq!(rows.len(), 1);
        assert_eq!(
            (rows[0].pid, rows[0].dead, rows[0].status, rows[0].signal),
            (77, true, Some(3), None)
        );
        assert_eq!(rows[0].server, Server { pid: 50, start: 1_600_000_000 });
    }

    #[test]
    fn three_answers_are_told_apart() {
        assert_eq!(refusal("can't find pane: %9\n"), Listing::NoTarget);
        for gone in [
            "no server running on /tmp/x",
            "error connecting to /tmp/x (No such file or directory)",
        ] {
            assert_eq!(refusal(gone), Listing::NoServer);
        }
        for odd in ["error connecting to /tmp/x (Permission denied)", "", "lost server"] {
            assert_eq!(refusal(odd), Listing::Failed(odd.to_owned()));
        }
    }
}

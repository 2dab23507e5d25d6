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

/// What a row holds: ids and numbers, never a name or a title, in which a user may put a tab.
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
pub enum Answer<T> {
    /// This.
    Said(T),
    /// The target isn't there, which is an answer.
    NoTarget,
    /// Nor is the server.
    NoServer,
    /// The server ended while it was asked, or so it seems.
    HungUp(String),
    /// Nobody knows, and why.
    Failed(String),
    /// We are asked to stop, or our time is over.
    Stopped,
}

impl<T> Answer<T> {
    fn map<U>(self, read: impl FnOnce(T) -> Option<U>) -> Answer<U> {
        match self {
            Self::Said(it) => read(it)
                .map_or_else(|| Answer::Failed("an answer without form".into()), Answer::Said),
            Self::NoTarget => Answer::NoTarget,
            Self::NoServer => Answer::NoServer,
            Self::HungUp(cause) => Answer::HungUp(cause),
            Self::Failed(cause) => Answer::Failed(cause),
            Self::Stopped => Answer::Stopped,
        }
    }
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

    /// The socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Lists the panes of `target`, which is flags of `list-panes`, each once.
    ///
    /// # Errors
    ///
    /// No tmux.
    pub fn list(&self, target: &[&str], waiter: &Waiter) -> Result<Answer<Vec<Row>>, Error> {
        let args = [&["list-panes"], target, &["-F", FORMAT]].concat();
        Ok(self.call(&args, waiter)?.map(|text| rows(&text)))
    }

    /// Which server answers on the socket.
    ///
    /// # Errors
    ///
    /// No tmux.
    pub fn server(&self, waiter: &Waiter) -> Result<Answer<Server>, Error> {
        let args = ["display-message", "-p", "#{pid}\t#{start_time}"];
        Ok(self.call(&args, waiter)?.map(|text| server(&mut text.trim_end().split('\t'))))
    }

    fn call(&self, args: &[&str], waiter: &Waiter) -> Result<Answer<String>, Error> {
        let mut command = run::command("tmux");
        // Without -u, or a UTF-8 locale, tmux prints an underscore for each tab.
        command.args(["-u", "-S"]).arg(&self.socket).args(args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match run::run(&mut command, self.deadline, waiter) {
            Ok(Outcome::Exited { status, stdout, .. }) if status.success() => {
                Ok(Answer::Said(text(&stdout)))
            }
            Ok(Outcome::Exited { stderr, .. }) => Ok(refusal(&text(&stderr))),
            Ok(Outcome::TimedOut) => Ok(Answer::Failed("no answer in time".to_owned())),
            Ok(Outcome::Stopped) => Ok(Answer::Stopped),
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                let message = "unable to run tmux: it is not installed";
                Err(Error::new(Reason::Missing, "tmux_missing", message))
            }
            Err(err) => Ok(Answer::Failed(err.to_string())),
        }
    }
}

/// tmux always exits with 1; the text tells. A server without sessions has no target at all.
fn refusal<T>(stderr: &str) -> Answer<T> {
    const NO_TARGET: [&str; 4] =
        ["can't find pane", "can't find window", "can't find session", "no current target"];
    const NO_SERVER: [&str; 2] = ["no server running", "No such file or directory"];
    const HUNG_UP: [&str; 2] = ["lost server", "server exited"];
    let text = stderr.trim();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&NO_TARGET) {
        Answer::NoTarget
    } else if has(&NO_SERVER) {
        Answer::NoServer
    } else if has(&HUNG_UP) {
        Answer::HungUp(text.to_owned())
    } else {
        Answer::Failed(text.to_owned())
    }
}

/// A window that is linked twice lists its panes twice.
fn rows(text: &str) -> Option<Vec<Row>> {
    let mut rows = text.lines().map(row).collect::<Option<Vec<Row>>>()?;
    rows.sort_by(|a, b| a.pane.cmp(&b.pane));
    rows.dedup_by(|a, b| a.pane == b.pane);
    Some(rows)
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
        server: server(&mut fields)?,
    })
}

fn server<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Option<Server> {
    Some(Server { pid: fields.next()?.parse().ok()?, start: fields.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "$0\t@1\t%2\t77\t1\t3\t\t1700000000\t/dev/pts/4\t50\t1600000000";

    #[test]
    fn a_listing_is_read_and_linked_panes_count_once() {
        let rows = rows(&format!("{LINE}\n{}\n", LINE.replace("$0", "$9"))).unwrap();
        let [row] = &*rows else { panic!("{rows:?}") };
        assert_eq!((row.pid, row.dead, row.status, row.signal), (77, true, Some(3), None));
        assert_eq!(row.server, Server { pid: 50, start: 1_600_000_000 });
    }

    #[test]
    fn an_answer_without_form_is_none() {
        for text in ["nonsense", &LINE.replace('\t', "_"), &LINE.replace("77", "")] {
            let said = Answer::Said(format!("{LINE}\n{text}\n"));
            assert!(matches!(said.map(|text| rows(&text)), Answer::Failed(_)), "{text}");
        }
    }

    #[test]
    fn three_answers_are_told_apart() {
        for gone in ["can't find pane: %9\n", "can't find window: @9", "no current target"] {
            assert_eq!(refusal::<()>(gone), Answer::NoTarget);
        }
        for gone in [
            "no server running on /tmp/x",
            "error connecting to /tmp/x (No such file or directory)",
        ] {
            assert_eq!(refusal::<()>(gone), Answer::NoServer);
        }
        for odd in ["error connecting to /tmp/x (Permission denied)", ""] {
            assert_eq!(refusal::<()>(odd), Answer::Failed(odd.to_owned()));
        }
        for odd in ["lost server", "server exited unexpectedly"] {
            assert_eq!(refusal::<()>(odd), Answer::HungUp(odd.to_owned()));
        }
    }
}

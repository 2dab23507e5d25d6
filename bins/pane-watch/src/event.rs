//! What it tells.

use serde::Serialize;
use shared::line::{self, Condition, Mark, mark};

use crate::{
    agents::Owner,
    tmux::{Row, Server},
};

/// An event of this program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(missing_docs, reason = "each has the documentation of its struct")]
pub enum Event {
    PaneDead(PaneDead),
    PaneGone(PaneGone),
    UntrackedPane(UntrackedPane),
    PaneOutlivedAgent(PaneOutlivedAgent),
    KnownPaneGone(KnownPaneGone),
    TmuxServerGone(TmuxServerGone),
}

/// `pane_dead`: the process of a pane ended, and tmux keeps the pane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PaneDead {
    /// Which.
    #[serde(flatten)]
    pub pane: Pane,
    /// `watchdog`.
    pub r#type: &'static str,
    /// The exit code; absent: it had none, or tmux doesn't know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i64>,
    /// The signal that ended it; absent as above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_signal: Option<i64>,
    /// When tmux learnt of the end, RFC 3339 in UTC; absent: it doesn't say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub died_at: Option<String>,
    /// Whether an item of the registry had its process there.
    pub tracked: bool,
    /// Whose.
    #[serde(flatten)]
    pub of: Of,
    /// Where it was.
    #[serde(flatten)]
    pub place: Place,
}

/// `pane_gone`: a pane is not there any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PaneGone {
    /// Which.
    #[serde(flatten)]
    pub pane: Pane,
    /// Its process survived its terminal.
    pub process_alive: bool,
    /// The exit code, if tmux kept the pane for a while and knew it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i64>,
    /// The signal that ended it, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_signal: Option<i64>,
    /// Whether an item of the registry had its process there.
    pub tracked: bool,
    /// Whose.
    #[serde(flatten)]
    pub of: Of,
    /// Where it was.
    #[serde(flatten)]
    pub place: Place,
}

/// `untracked_pane`: a pane lives, and nobody's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UntrackedPane {
    /// Which.
    #[serde(flatten)]
    pub pane: Pane,
    /// `watchdog`.
    pub r#type: &'static str,
    /// The first sweep found it.
    pub preexisting: bool,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
}

/// `pane_outlived_agent`: the agent's process ended half a minute ago, and its pane lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PaneOutlivedAgent {
    /// Which.
    #[serde(flatten)]
    pub pane: Pane,
    /// Whose.
    #[serde(flatten)]
    pub of: Of,
    /// The process that ended.
    pub agent_pid: u32,
    /// Whole seconds since its end was seen.
    pub since_sec: u64,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
}

/// `known_pane_gone`: a pane that belongs there was listed, and died or went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KnownPaneGone {
    /// Which.
    #[serde(flatten)]
    pub pane: Pane,
    /// `lead` or `known`.
    pub role: &'static str,
    /// Where it was.
    #[serde(flatten)]
    pub place: Place,
}

/// `tmux_server_gone`: the server ended, or another one answers on its socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TmuxServerGone {
    /// How many panes it had in the scope.
    pub panes: usize,
    /// Its socket.
    pub socket: String,
    /// Its process.
    pub server_pid: u32,
    /// When it started, in seconds since 1970.
    pub server_start: u64,
}

/// A pane and the process that it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pane {
    /// `%N`.
    pub pane: String,
    /// The process.
    pub pid: u32,
}

/// Where a pane is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The server's socket.
    pub socket: String,
    /// The server's process.
    pub server_pid: u32,
    /// When it started, in seconds since 1970.
    pub server_start: u64,
    /// The session, `$N`.
    pub session: String,
    /// The window, `@N`.
    pub window: String,
}

/// Whose pane it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Of {
    /// The agent; absent: nobody's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
}

impl Of {
    /// Of this agent, or of none.
    #[must_use]
    pub fn new(owner: Option<&Owner>) -> Self {
        let of = owner.map(|owner| (owner.agent.clone(), owner.step.clone()));
        let (agent, step) = of.unzip();
        Self { agent, step }
    }
}

impl Pane {
    /// The pane of a row.
    #[must_use]
    pub fn of(row: &Row) -> Self {
        Self { pane: row.pane.clone(), pid: row.pid }
    }
}

impl Place {
    /// Where a row is, on the server at `socket`.
    #[must_use]
    pub fn of(row: &Row, socket: &str) -> Self {
        Self {
            socket: socket.to_owned(),
            server_pid: row.server.pid,
            server_start: row.server.start,
            session: row.session.clone(),
            window: row.window.clone(),
        }
    }
}

/// What identifies an event.
struct Name {
    event: &'static str,
    key: String,
    subject: String,
    /// Server, start and process.
    incarnation: String,
    /// The process of an agent that the pane outlived.
    agent: Option<u32>,
}

impl Name {
    fn of_pane(event: &'static str, what: &str, pane: &Pane, place: &Place) -> Self {
        let subject = format!("{}/{}", place.server_pid, pane.pane);
        Self {
            event,
            key: format!("pane:{subject}:{what}"),
            subject,
            incarnation: format!("{}.{}.{}", place.server_pid, place.server_start, pane.pid),
            agent: None,
        }
    }

    fn discriminator(&self) -> String {
        match self.agent {
            Some(pid) => format!("{}\u{1f}{pid}", self.incarnation),
            None => self.incarnation.clone(),
        }
    }
}

impl Event {
    fn name(&self) -> Name {
        match self {
            Self::PaneDead(it) => Name::of_pane("pane_dead", "dead", &it.pane, &it.place),
            Self::PaneGone(it) => Name::of_pane("pane_gone", "gone", &it.pane, &it.place),
            Self::UntrackedPane(it) => {
                Name::of_pane("untracked_pane", "untracked", &it.pane, &it.place)
            }
            Self::PaneOutlivedAgent(it) => {
                let name = Name::of_pane("pane_outlived_agent", "outlived", &it.pane, &it.place);
                Name { agent: Some(it.agent_pid), ..name }
            }
            Self::KnownPaneGone(it) => {
                Name::of_pane("known_pane_gone", "known", &it.pane, &it.place)
            }
            Self::TmuxServerGone(it) => Name {
                event: "tmux_server_gone",
                key: format!("tmux:{}:gone", it.server_pid),
                subject: it.server_pid.to_string(),
                incarnation: format!("{}.{}.0", it.server_pid, it.server_start),
                agent: None,
            },
        }
    }

    /// What is told when `server` is gone, which had so many `panes`.
    #[must_use]
    pub fn server_gone(server: Server, panes: usize, socket: &str) -> Self {
        let socket = socket.to_owned();
        let Server { pid: server_pid, start: server_start } = server;
        Self::TmuxServerGone(TmuxServerGone { panes, socket, server_pid, server_start })
    }
}

impl line::Event for Event {
    fn mark(&self) -> Mark {
        let name = self.name();
        mark(&name.key, Condition::Once, &[&name.discriminator()])
    }

    fn id(&self) -> Option<String> {
        let name = self.name();
        let last = name.discriminator();
        let parts = ["pane-watch", name.event, &name.subject, &name.incarnation, &last];
        Some(line::digest(parts.join("\u{1f}").as_bytes()))
    }
}

#[cfg(test)]
mod tests;

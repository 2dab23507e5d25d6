//! What it tells.

use serde::Serialize;
use shared::line::{self, Condition, Mark, mark};

use crate::tmux::{Row, Server};

/// An event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Told {
    /// Its name.
    pub event: &'static str,
    /// Which pane; none: the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pane: Option<String>,
    /// Its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// What the event tells.
    #[serde(flatten)]
    pub what: What,
    /// The server's socket.
    pub socket: String,
    /// Its process.
    pub server_pid: u32,
    /// When it started, in seconds since 1970.
    pub server_start: u64,
    /// The session's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The window's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
}

/// The keys of an event.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "pane-watch(1) describes the keys, one by one")]
pub enum What {
    Dead {
        r#type: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_status: Option<i64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_signal: Option<i64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        died_at: Option<String>,
        tracked: bool,
        #[serde(flatten)]
        of: Of,
    },
    Gone {
        process_alive: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_status: Option<i64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_signal: Option<i64>,
        tracked: bool,
        #[serde(flatten)]
        of: Of,
    },
    Untracked {
        r#type: &'static str,
        preexisting: bool,
    },
    Outlived {
        #[serde(flatten)]
        of: Of,
        agent_pid: u32,
        since_sec: u64,
    },
    Known {
        role: &'static str,
    },
    Server {
        panes: usize,
    },
}

/// Whose pane it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Of {
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
}

impl Of {
    /// Of this agent, or of none.
    #[must_use]
    pub fn new(owner: Option<&(String, String)>) -> Self {
        let (agent, step) = owner.cloned().unzip();
        Self { agent, step }
    }
}

impl Told {
    /// An event of a pane.
    #[must_use]
    pub fn pane(event: &'static str, row: &Row, server: &Server, socket: &str, what: What) -> Self {
        Self {
            event,
            pane: Some(row.pane.clone()),
            pid: Some(row.pid),
            what,
            socket: socket.to_owned(),
            server_pid: server.pid,
            server_start: server.start,
            session: Some(row.session.clone()),
            window: Some(row.window.clone()),
        }
    }

    fn subject(&self) -> String {
        match &self.pane {
            Some(pane) => format!("{}/{pane}", self.server_pid),
            None => self.server_pid.to_string(),
        }
    }

    /// Server and process: the incarnation.
    fn instance(&self) -> String {
        format!("{}.{}.{}", self.server_pid, self.server_start, self.pid.unwrap_or(0))
    }

    fn discriminator(&self) -> String {
        match &self.what {
            What::Outlived { agent_pid, .. } => format!("{}\u{1f}{agent_pid}", self.instance()),
            _ => self.instance(),
        }
    }
}

impl line::Event for Told {
    fn mark(&self) -> Mark {
        let what = match self.event {
            "pane_dead" => "dead",
            "untracked_pane" => "untracked",
            "pane_outlived_agent" => "outlived",
            "known_pane_gone" => "known",
            _ => "gone",
        };
        let kind = if self.pane.is_some() { "pane" } else { "tmux" };
        let key = format!("{kind}:{}:{what}", self.subject());
        mark(&key, Condition::Once, &[&self.discriminator()])
    }

    fn id(&self) -> Option<String> {
        let (subject, instance) = (self.subject(), self.instance());
        let parts = ["pane-watch", self.event, &subject, &instance, &self.discriminator()];
        Some(line::digest(parts.join("\u{1f}").as_bytes()))
    }
}

//! What a sweep changes. Pure: what is remembered, what was listed, the time, to what is told.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    event::{Of, Told, What},
    tmux::{Row, Server},
};

/// How long an agent's process is dead before its pane outlives it.
pub const OUTLIVED: Duration = Duration::from_secs(30);
/// When a dead pane without status is looked at again, and how often.
const UNTOLD: u32 = 2;

/// An agent and its step.
pub type Owner = (String, String);

/// What is remembered of a pane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pane {
    /// As it was listed last.
    pub row: Row,
    owner: Option<Owner>,
    dead: bool,
    untracked: bool,
    outlived: bool,
    preexisting: bool,
    looks: u32,
}

/// What is remembered of all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The server.
    pub server: Option<Server>,
    /// By id.
    pub panes: BTreeMap<String, Pane>,
}

/// What became of a pane that is not listed any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// It is elsewhere.
    Moved,
    /// It is gone; whether its process lives.
    Gone(bool),
    /// Nobody knows.
    Unclear,
}

/// What is known beside the listing.
#[expect(missing_debug_implementations, reason = "functions have no form to show")]
pub struct Known<'a> {
    /// Whose pane a row is.
    pub owner: &'a dyn Fn(&Row) -> Option<Owner>,
    /// An agent whose process ended: its pid, and how long ago.
    pub ended: &'a dyn Fn(&Owner) -> Option<(u32, Duration)>,
    /// How long a process has run.
    pub age: &'a dyn Fn(u32) -> Duration,
    /// The lead's pane and our own.
    pub leads: &'a BTreeSet<String>,
    /// Those that belong there.
    pub known: &'a BTreeSet<String>,
    /// The age below which a pane is not yet untracked.
    pub untracked_after: Duration,
    /// Those of the first sweep are not told.
    pub baseline: bool,
    /// The server's socket.
    pub socket: &'a str,
}

/// Takes in a sweep of `rows`. Answers what is told, and whether a look soon may know more.
pub fn sweep(
    memory: &mut Memory,
    rows: &[Row],
    lost: &BTreeMap<String, Lost>,
    first: bool,
    known: &Known<'_>,
) -> (Vec<Told>, bool) {
    let (mut told, mut again) = (Vec::new(), false);
    for row in rows {
        let fresh = memory.panes.get(&row.pane).is_none_or(|pane| pane.row.pid != row.pid);
        if fresh {
            memory.panes.insert(row.pane.clone(), Pane::new(row, first));
        }
        if let Some(pane) = memory.panes.get_mut(&row.pane) {
            pane.row.clone_from(row);
            pane.owner = (known.owner)(row).or(pane.owner.take());
            again |= pane.judge(known, &mut told);
        }
        memory.server = Some(row.server);
    }
    for (id, lost) in lost {
        match lost {
            Lost::Unclear => {}
            Lost::Moved => drop(memory.panes.remove(id)),
            Lost::Gone(alive) => {
                if let Some(pane) = memory.panes.remove(id) {
                    told.extend(pane.gone(*alive, known));
                }
            }
        }
    }
    (told, again)
}

/// What is told when the server is gone.
#[must_use]
pub fn server_gone(memory: &Memory, socket: &str) -> Option<Told> {
    let server = memory.server?;
    Some(Told {
        event: "tmux_server_gone",
        pane: None,
        pid: None,
        what: What::Server { panes: memory.panes.len() },
        socket: socket.to_owned(),
        server_pid: server.pid,
        server_start: server.start,
        session: None,
        window: None,
    })
}

impl Pane {
    fn new(row: &Row, preexisting: bool) -> Self {
        let (owner, dead, untracked, outlived) = (None, false, false, false);
        Self { row: row.clone(), owner, dead, untracked, outlived, preexisting, looks: 0 }
    }

    fn say(&self, event: &'static str, known: &Known<'_>, what: What) -> Told {
        Told::pane(event, &self.row, &self.row.server, known.socket, what)
    }

    fn role(&self, known: &Known<'_>) -> Option<&'static str> {
        if known.leads.contains(&self.row.pane) {
            return Some("lead");
        }
        known.known.contains(&self.row.pane).then_some("known")
    }

    /// Judges a pane that is listed; true when a look soon may know more.
    fn judge(&mut self, known: &Known<'_>, told: &mut Vec<Told>) -> bool {
        if self.row.dead {
            return self.died(known, told);
        }
        if self.role(known).is_some() {
            return false;
        }
        if let Some(owner) = &self.owner {
            if let Some((agent_pid, since)) = (known.ended)(owner)
                && since >= OUTLIVED
                && !self.outlived
            {
                self.outlived = true;
                let of = Of::new(self.owner.as_ref());
                let what = What::Outlived { of, agent_pid, since_sec: since.as_secs() };
                told.push(self.say("pane_outlived_agent", known, what));
            }
        } else if !self.untracked && (known.age)(self.row.pid) >= known.untracked_after {
            self.untracked = true;
            if !(self.preexisting && known.baseline) {
                let preexisting = self.preexisting;
                let what = What::Untracked { r#type: "watchdog", preexisting };
                told.push(self.say("untracked_pane", known, what));
            }
        }
        false
    }

    fn died(&mut self, known: &Known<'_>, told: &mut Vec<Told>) -> bool {
        if self.dead {
            return false;
        }
        let row = &self.row;
        // tmux may know of the end before it knows how.
        if row.status.is_none() && row.signal.is_none() && self.looks < UNTOLD {
            self.looks += 1;
            return true;
        }
        self.dead = true;
        if let Some(role) = self.role(known) {
            told.push(self.say("known_pane_gone", known, What::Known { role }));
            return false;
        }
        let died_at = row.died.and_then(|at| Timestamp::from_second(at).ok());
        let what = What::Dead {
            r#type: "watchdog",
            exit_status: row.status,
            exit_signal: row.signal,
            died_at: died_at.map(|at| at.to_string()),
            tracked: self.owner.is_some(),
            of: Of::new(self.owner.as_ref()),
        };
        told.push(self.say("pane_dead", known, what));
        false
    }

    fn gone(&self, process_alive: bool, known: &Known<'_>) -> Option<Told> {
        if let Some(role) = self.role(known) {
            let what = What::Known { role };
            return (!self.dead).then(|| self.say("known_pane_gone", known, what));
        }
        let what = What::Gone {
            process_alive,
            exit_status: self.row.status,
            exit_signal: self.row.signal,
            tracked: self.owner.is_some(),
            of: Of::new(self.owner.as_ref()),
        };
        Some(self.say("pane_gone", known, what))
    }
}

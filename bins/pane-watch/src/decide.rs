//! What a sweep changes. Pure: what is remembered, what was listed, the time, to what is told.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use shared::clock::Now;

use crate::{
    agents::Owner,
    event::{
        Event, KnownPaneGone, Of, PaneDead, PaneGone, PaneOutlivedAgent, Place, UntrackedPane,
    },
    tmux::{Row, Server},
};

/// How long an agent's process is dead before its pane outlives it.
const OUTLIVED: Duration = Duration::from_secs(30);
/// When a dead pane without status is looked at again; after the last look it is told without.
const STATUS_MS: [u64; 4] = [10, 25, 100, 400];
/// Starts of processes are known to a hundredth of a second.
const TICK: Duration = Duration::from_millis(10);

/// What can be told of an incarnation, each once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Told {
    Dead,
    Untracked,
    /// This process of an agent was outlived.
    Outlived(u32),
}

/// What is remembered of a pane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pane {
    /// As it was listed last.
    pub row: Row,
    /// When its process started, as the system counts.
    pub start: Option<u64>,
    /// It left the scope. It is remembered, since it may come back.
    pub is_away: bool,
    owner: Option<Owner>,
    preexisting: bool,
    told: BTreeSet<Told>,
    /// When it was first listed as dead, on the monotonic clock.
    #[serde(skip)]
    died: Option<Duration>,
}

/// Where the lead's pane was last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Around {
    /// The pane.
    pub lead: String,
    /// Its session.
    pub session: String,
    /// Its window.
    pub window: String,
    /// The pane is gone.
    pub is_left: bool,
}

/// What is remembered of all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The server.
    pub server: Option<Server>,
    /// Where the lead's pane was.
    pub around: Option<Around>,
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
}

/// What a look saw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The panes in the scope, and those that items name.
    pub rows: Vec<Row>,
    /// Those that were there and aren't.
    pub lost: BTreeMap<String, Lost>,
}

/// What is known beside the listing.
pub trait World {
    /// Whose pane a row is.
    fn owner(&self, row: &Row) -> Option<Owner>;
    /// Whether that item still stands.
    fn stands(&self, owner: &Owner) -> bool;
    /// The pid of an agent whose process ended, and since when (on the monotonic clock).
    fn ended(&self, owner: &Owner) -> Option<(u32, Duration)>;
    /// When a process started that lives, as the system counts.
    fn start(&self, pid: u32) -> Option<u64>;
    /// How long ago that was.
    fn age(&self, start: u64, now: &Now) -> Duration;
}

/// The rules of a run.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// The lead's pane.
    pub lead: &'a str,
    /// Those that belong there.
    pub known: &'a BTreeSet<String>,
    /// The age below which a pane is not yet untracked.
    pub untracked_after: Duration,
    /// Those of the first sweep are not told.
    pub baseline: bool,
    /// Nothing is waited for.
    pub once: bool,
    /// The server's socket.
    pub socket: &'a str,
}

/// What a sweep came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What is told.
    pub events: Vec<Event>,
    /// When the next sweep may tell more, on the monotonic clock.
    pub due: Option<Duration>,
}

impl Outcome {
    fn wait(&mut self, until: Duration) {
        self.due = Some(self.due.map_or(until, |due| due.min(until)));
    }
}

/// Takes in what a look saw.
pub fn sweep(
    memory: &mut Memory,
    seen: &Seen,
    world: &impl World,
    rules: &Rules<'_>,
    now: &Now,
) -> Outcome {
    let first = memory.server.is_none();
    let mut outcome = Outcome::default();
    for row in &seen.rows {
        let known = memory.panes.remove(&row.pane).filter(|pane| pane.row.pid == row.pid);
        let mut pane = known.unwrap_or_else(|| Pane::new(row, first));
        pane.row.clone_from(row);
        pane.is_away = false;
        pane.owner = world.owner(row).or(pane.owner.filter(|owner| world.stands(owner)));
        pane.judge(world, rules, now, &mut outcome);
        memory.panes.insert(row.pane.clone(), pane);
        memory.server = Some(row.server);
    }
    for (id, lost) in &seen.lost {
        let Some(mut pane) = memory.panes.remove(id) else { continue };
        match lost {
            Lost::Gone(process_alive) => outcome.events.extend(pane.gone(*process_alive, rules)),
            Lost::Moved => {
                pane.is_away = true;
                memory.panes.insert(id.clone(), pane);
            }
        }
    }
    memory.around = around(memory.around.take(), &seen.rows, rules.lead);
    outcome
}

/// What is told when the server is gone: once, instead of each of its panes.
#[must_use]
pub fn server_gone(memory: &Memory, socket: &str) -> Option<Event> {
    let panes = memory.panes.values().filter(|pane| !pane.is_away).count();
    Some(Event::server_gone(memory.server?, panes, socket))
}

fn around(known: Option<Around>, rows: &[Row], lead: &str) -> Option<Around> {
    let Some(row) = rows.iter().find(|row| row.pane == lead) else {
        let known = known.filter(|around| around.lead == lead);
        return known.map(|around| Around { is_left: true, ..around });
    };
    let (session, window) = (row.session.clone(), row.window.clone());
    Some(Around { lead: lead.to_owned(), session, window, is_left: false })
}

impl Pane {
    fn new(row: &Row, preexisting: bool) -> Self {
        Self {
            row: row.clone(),
            start: None,
            is_away: false,
            owner: None,
            preexisting,
            told: BTreeSet::new(),
            died: None,
        }
    }

    fn here(&self) -> crate::event::Pane {
        crate::event::Pane::of(&self.row)
    }

    fn place(&self, rules: &Rules<'_>) -> Place {
        Place::of(&self.row, rules.socket)
    }

    fn role(&self, rules: &Rules<'_>) -> Option<&'static str> {
        if self.row.pane == rules.lead {
            return Some("lead");
        }
        rules.known.contains(&self.row.pane).then_some("known")
    }

    fn known_gone(&self, role: &'static str, rules: &Rules<'_>) -> Event {
        Event::KnownPaneGone(KnownPaneGone { pane: self.here(), role, place: self.place(rules) })
    }

    /// Judges a pane that is listed.
    fn judge(&mut self, world: &impl World, rules: &Rules<'_>, now: &Now, outcome: &mut Outcome) {
        if self.row.dead {
            return self.judge_dead(rules, now, outcome);
        }
        self.start = self.start.or_else(|| world.start(self.row.pid));
        if self.role(rules).is_some() {
            return;
        }
        match self.owner.clone() {
            Some(owner) => self.judge_tracked(&owner, world, rules, now, outcome),
            None => self.judge_untracked(world, rules, now, outcome),
        }
    }

    fn judge_dead(&mut self, rules: &Rules<'_>, now: &Now, outcome: &mut Outcome) {
        if self.told.contains(&Told::Dead) {
            return;
        }
        if let Some(role) = self.role(rules) {
            self.told.insert(Told::Dead);
            return outcome.events.push(self.known_gone(role, rules));
        }
        // tmux may know of the end before it knows how.
        if self.row.status.is_none() && self.row.signal.is_none() && !rules.once {
            let died = *self.died.get_or_insert(now.monotonic);
            let looks = STATUS_MS.map(|ms| died + Duration::from_millis(ms));
            if let Some(next) = looks.into_iter().find(|look| *look > now.monotonic) {
                return outcome.wait(next);
            }
        }
        self.told.insert(Told::Dead);
        let died_at = self.row.died.and_then(|at| Timestamp::from_second(at).ok());
        outcome.events.push(Event::PaneDead(PaneDead {
            pane: self.here(),
            r#type: "watchdog",
            exit_status: self.row.status,
            exit_signal: self.row.signal,
            died_at: died_at.map(|at| at.to_string()),
            tracked: self.owner.is_some(),
            of: Of::new(self.owner.as_ref()),
            place: self.place(rules),
        }));
    }

    fn judge_tracked(
        &mut self,
        owner: &Owner,
        world: &impl World,
        rules: &Rules<'_>,
        now: &Now,
        outcome: &mut Outcome,
    ) {
        let Some((agent_pid, ended)) = world.ended(owner) else { return };
        if self.told.contains(&Told::Outlived(agent_pid)) {
            return;
        }
        if now.monotonic < ended + OUTLIVED {
            return outcome.wait(ended + OUTLIVED);
        }
        self.told.insert(Told::Outlived(agent_pid));
        outcome.events.push(Event::PaneOutlivedAgent(PaneOutlivedAgent {
            pane: self.here(),
            of: Of::new(Some(owner)),
            agent_pid,
            since_sec: now.monotonic.saturating_sub(ended).as_secs(),
            place: self.place(rules),
        }));
    }

    fn judge_untracked(
        &mut self,
        world: &impl World,
        rules: &Rules<'_>,
        now: &Now,
        outcome: &mut Outcome,
    ) {
        // One whose process has ended is about to be listed as dead, or not at all.
        let Some(start) = self.start.filter(|_| !self.told.contains(&Told::Untracked)) else {
            return;
        };
        let young = rules.untracked_after.saturating_sub(world.age(start, now));
        if !young.is_zero() {
            return outcome.wait(now.monotonic + young + TICK);
        }
        self.told.insert(Told::Untracked);
        if self.preexisting && rules.baseline {
            return;
        }
        outcome.events.push(Event::UntrackedPane(UntrackedPane {
            pane: self.here(),
            r#type: "watchdog",
            preexisting: self.preexisting,
            place: self.place(rules),
        }));
    }

    /// What is told of a pane that went. One that belongs there has been told of its death.
    fn gone(&self, process_alive: bool, rules: &Rules<'_>) -> Option<Event> {
        if let Some(role) = self.role(rules) {
            let is_told = self.told.contains(&Told::Dead);
            return (!is_told).then(|| self.known_gone(role, rules));
        }
        Some(Event::PaneGone(PaneGone {
            pane: self.here(),
            process_alive,
            exit_status: self.row.status,
            exit_signal: self.row.signal,
            tracked: self.owner.is_some(),
            of: Of::new(self.owner.as_ref()),
            place: self.place(rules),
        }))
    }
}

#[cfg(test)]
mod tests;

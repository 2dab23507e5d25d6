//! One look at the server: what is listed, what of that is gone, what lies elsewhere.

use std::{collections::BTreeSet, time::Duration};

use shared::{
    exit::{Error, Reason},
    process::{self, State},
    wait::Waiter,
};

use crate::{
    args::Scope,
    decide::{Around, Lost, Memory, Pane, Seen},
    tmux::{Answer, Row, Tmux},
};

/// After this long a server that seems gone is asked once more, and a process looked at again
/// that seems to survive its pane.
const SURE: Duration = Duration::from_millis(100);

/// What a look came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Sight {
    /// This is there.
    Seen(Seen),
    /// Nothing is left of the window (the session, the server's panes) to look at.
    WindowGone(Seen),
    /// The server is gone.
    ServerGone,
    /// Nobody knows, and why.
    Unclear(String),
    /// We are asked to stop.
    Stopped,
}

/// Why a look ends before it is complete.
enum Cut {
    /// Nobody answers on the socket.
    NoServer,
    /// Somebody did, and then no longer.
    HungUp(String),
    /// It came to this.
    Short(Sight),
    /// The run is over.
    Fatal(Error),
}

impl From<Error> for Cut {
    fn from(err: Error) -> Self {
        Self::Fatal(err)
    }
}

/// Looks.
#[derive(Debug)]
pub struct Probe {
    tmux: Tmux,
    scope: Scope,
    lead: String,
    /// Panes that an item names and this server doesn't have: it never gives an id twice.
    unknown: BTreeSet<String>,
}

impl Probe {
    /// Looks around the pane `lead`.
    #[must_use]
    pub fn new(tmux: Tmux, scope: Scope, lead: &str) -> Self {
        Self { tmux, scope, lead: lead.to_owned(), unknown: BTreeSet::new() }
    }

    /// Looks once; `named` are the panes of items.
    ///
    /// # Errors
    ///
    /// No tmux; no server or lead's pane before anything was seen.
    pub fn look(
        &mut self,
        memory: &Memory,
        named: &BTreeSet<String>,
        waiter: &Waiter,
    ) -> Result<Sight, Error> {
        for last in [false, true] {
            match self.see(memory, named, waiter) {
                Ok(sight) | Err(Cut::Short(sight)) => return Ok(sight),
                Err(Cut::Fatal(err)) => return Err(err),
                Err(Cut::NoServer) if memory.server.is_none() => {
                    let socket = self.tmux.socket().display();
                    return Err(not_found(&format!("unable to find a tmux server at {socket}")));
                }
                Err(Cut::NoServer) if last => {}
                Err(Cut::HungUp(cause)) if last => return Ok(Sight::Unclear(cause)),
                Err(Cut::NoServer | Cut::HungUp(_)) => {
                    if waiter.rest(SURE).map_err(Error::on("wait"))? {
                        return Ok(Sight::Stopped);
                    }
                }
            }
        }
        Ok(Sight::ServerGone)
    }

    fn see(
        &mut self,
        memory: &Memory,
        named: &BTreeSet<String>,
        waiter: &Waiter,
    ) -> Result<Sight, Cut> {
        let around = memory.around.as_ref().filter(|around| around.lead == self.lead);
        let listed = self.list_scope(around, waiter)?;
        let is_gone = listed.is_none();
        let rows = listed.unwrap_or_default();
        if around.is_none() && !rows.iter().any(|row| row.pane == self.lead) {
            return Err(not_found(&format!("unable to find the lead's pane {}", self.lead)).into());
        }
        if let Some(known) = memory.server {
            // A server on which nothing is as it was may be another one.
            let server = match rows.first() {
                Some(row) => row.server,
                None => said(self.tmux.server(waiter)?)?,
            };
            if server != known {
                return Ok(Sight::ServerGone);
            }
        }
        let mut seen = Seen { rows, ..Seen::default() };
        self.find_missing(&mut seen, memory, named, waiter)?;
        if !is_sure(&mut seen, memory, waiter)? {
            return Ok(Sight::Stopped);
        }
        Ok(if is_gone { Sight::WindowGone(seen) } else { Sight::Seen(seen) })
    }

    /// The panes of the scope. `None`: there is no such thing any more.
    fn list_scope(
        &self,
        around: Option<&Around>,
        waiter: &Waiter,
    ) -> Result<Option<Vec<Row>>, Cut> {
        // Once the lead's pane is gone, what was around it is still of interest.
        let lead = around.is_none_or(|around| !around.is_left).then_some(&*self.lead);
        let window = around.map(|around| match self.scope {
            Scope::Session => &*around.session,
            Scope::Window | Scope::Server => &around.window,
        });
        for at in lead.into_iter().chain(window) {
            let target: &[&str] = match self.scope {
                Scope::Window => &["-t", at],
                Scope::Session => &["-s", "-t", at],
                Scope::Server => &["-a"],
            };
            match self.tmux.list(target, waiter)? {
                Answer::NoTarget => {}
                answer => return said(answer).map(Some),
            }
        }
        Ok(None)
    }

    /// Asks for panes that are not listed: those that were, and those that items name.
    fn find_missing(
        &mut self,
        seen: &mut Seen,
        memory: &Memory,
        named: &BTreeSet<String>,
        waiter: &Waiter,
    ) -> Result<(), Cut> {
        let listed: BTreeSet<String> = seen.rows.iter().map(|row| row.pane.clone()).collect();
        let was = memory.panes.iter().filter(|(_, pane)| !pane.is_away).map(|(id, _)| id);
        let wanted: BTreeSet<&String> = was.chain(named).collect();
        for id in wanted {
            if listed.contains(id) || self.unknown.contains(id) {
                continue;
            }
            match self.tmux.list(&["-t", id], waiter)? {
                Answer::NoTarget => match memory.panes.get(id) {
                    Some(pane) => drop(seen.lost.insert(id.clone(), Lost::Gone(survives(pane)))),
                    None => drop(self.unknown.insert(id.clone())),
                },
                answer => match said(answer)?.into_iter().find(|row| row.pane == *id) {
                    Some(row) if named.contains(id) => seen.rows.push(row),
                    _ => drop(seen.lost.insert(id.clone(), Lost::Moved)),
                },
            }
        }
        Ok(())
    }
}

/// Gives a process time to end whose pane was taken from it. False: we are asked to stop.
fn is_sure(seen: &mut Seen, memory: &Memory, waiter: &Waiter) -> Result<bool, Error> {
    let mut rested = false;
    for (id, lost) in seen.lost.iter_mut().filter(|(_, lost)| **lost == Lost::Gone(true)) {
        if !rested && waiter.rest(SURE).map_err(Error::on("wait"))? {
            return Ok(false);
        }
        rested = true;
        *lost = Lost::Gone(memory.panes.get(id).is_some_and(survives));
    }
    Ok(true)
}

/// What was said, or why nothing was.
fn said<T>(answer: Answer<T>) -> Result<T, Cut> {
    Err(match answer {
        Answer::Said(it) => return Ok(it),
        Answer::NoServer => Cut::NoServer,
        Answer::HungUp(cause) => Cut::HungUp(cause),
        Answer::Stopped => Cut::Short(Sight::Stopped),
        Answer::Failed(cause) => Cut::Short(Sight::Unclear(cause)),
        Answer::NoTarget => Cut::Short(Sight::Unclear("no target".to_owned())),
    })
}

fn not_found(message: &str) -> Error {
    Error::new(Reason::NotFound, "no_target", message)
}

fn survives(pane: &Pane) -> bool {
    pane.start.is_some() && start(pane.row.pid) == pane.start
}

/// When a process started that lives: a number that only this start has.
#[must_use]
pub fn start(pid: u32) -> Option<u64> {
    let (identity, state) = process::look(pid).ok()??;
    (state == State::Alive).then_some(identity.start_ticks)
}

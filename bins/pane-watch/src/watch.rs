//! The watch: one look after another, driven by the ends of processes.

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    os::fd::BorrowedFd,
    path::{Path, PathBuf},
    time::Duration,
};

use shared::{
    clock::Now,
    cursor::{Cursor, Found},
    exit::{self, Ended, Error},
    health::{Extent, Health, Reasons},
    pidfile, process,
    session::{Look, Session},
    watch::is_remote,
};

use crate::{
    agents::{Agents, Owner},
    args::Args,
    decide::{Memory, Outcome, Rules, Seen, World, server_gone, sweep},
    ends::Ends,
    event::Event,
    known::Known,
    probe::{self, Probe, Sight},
    tmux::{Row, Tmux},
};

/// All that a run keeps.
#[derive(Debug)]
pub struct Watch {
    args: Args,
    socket: String,
    lead: String,
    known: Known,
    agents: Agents,
    probe: Probe,
    ends: Ends,
    memory: Memory,
    cursor: Option<Cursor>,
    reasons: Reasons,
}

/// What a pass came to.
struct Pass {
    health: Vec<Health>,
    events: Vec<Event>,
    look: Look,
    due: Option<Duration>,
    end: Option<&'static str>,
}

impl Watch {
    /// Prepares a run.
    ///
    /// # Errors
    ///
    /// No server or lead named, a cursor that is refused.
    pub fn new(args: &Args, session: &mut Session) -> Result<Self, Error> {
        let place = args.place()?;
        let socket = place.socket.display().to_string();
        session.set_subject(&socket);
        session.sweep_every(args.poll_interval);
        // More panes than descriptors: the sweep has to do for the rest.
        let _ = pidfile::raise_limit();
        let (cursor, memory) = recall(args, &socket)?;
        let tmux = Tmux::new(&place.socket, args.call_timeout);
        Ok(Self {
            known: Known::new(args, place.own),
            agents: Agents::new(args.items.as_deref(), !args.no_pidfd)?,
            probe: Probe::new(tmux, args.scope, &place.lead),
            ends: Ends::default(),
            lead: place.lead,
            reasons: Reasons::default(),
            args: args.clone(),
            socket,
            memory,
            cursor,
        })
    }

    /// One pass, and the wait for the next.
    ///
    /// # Errors
    ///
    /// No tmux, server or lead at the start; those of stdout and poll(2).
    pub fn pass(&mut self, session: &mut Session) -> Result<ControlFlow<Ended>, Error> {
        let now = session.pass(&self.folders())?.now;
        let (mut health, over) = self.agents.read(self.args.poll_interval, &now)?;
        if over {
            // No look: its items are gone, and nobody wants to hear of their panes.
            return session.finish("shutdown_request", Ended::Done).map(ControlFlow::Break);
        }
        self.agents.look(now.monotonic);
        self.ends.note(now.monotonic);
        let sight = self.probe.look(&self.memory, &self.agents.panes(), session.waiter())?;
        let pass = self.judge(sight, &now);
        health.extend(pass.health);
        if let ControlFlow::Break(ended) = session.tell(&now, &health, &pass.events)? {
            return Ok(ControlFlow::Break(ended));
        }
        session.remember(&now, self.cursor.as_mut(), &self.memory)?;
        if let Some(reason) = pass.end {
            // Nobody asked for this end, so it is said whether or not others are.
            let stopped = [Health::stopped(reason, &now)];
            let told = session.tell::<Event>(&now, &stopped, &[])?;
            return Ok(ControlFlow::Break(told.break_value().unwrap_or(Ended::Done)));
        }
        self.describe(session);
        let due = pass.due.into_iter().chain(self.ends.due(now.monotonic)).min();
        let inputs: Vec<BorrowedFd<'_>> = self.ends.fds().chain(self.agents.fds()).collect();
        session.pause_on(pass.look, due, &inputs)
    }

    fn judge(&mut self, sight: Sight, now: &Now) -> Pass {
        let mut pass = Pass {
            health: Vec::new(),
            events: Vec::new(),
            look: Look::Whole,
            due: None,
            end: None,
        };
        let seen = match sight {
            Sight::Seen(seen) => seen,
            Sight::WindowGone(seen) => {
                pass.end = Some("window_gone");
                seen
            }
            Sight::ServerGone => {
                pass.events.extend(server_gone(&self.memory, &self.socket));
                pass.end = Some("server_gone");
                self.memory = Memory::default();
                return pass;
            }
            Sight::Unclear(cause) => {
                let retry = self.args.poll_interval;
                pass.health.extend(self.reasons.degrade("tmux_unresponsive", &cause, retry, now));
                pass.look = Look::Blind;
                return pass;
            }
            Sight::Stopped => {
                pass.look = Look::Settling;
                return pass;
            }
        };
        pass.health.extend(self.reasons.recover("tmux_unresponsive", now));
        let Outcome { events, due } = self.sweep(&seen, now);
        self.hold(&seen);
        Pass { events, due, ..pass }
    }

    fn sweep(&mut self, seen: &Seen, now: &Now) -> Outcome {
        let rules = Rules {
            lead: &self.lead,
            known: &self.known.read(),
            untracked_after: self.args.untracked_after,
            baseline: self.args.baseline,
            once: self.args.running.once,
            socket: &self.socket,
        };
        sweep(&mut self.memory, seen, &self.agents, &rules, now)
    }

    /// Takes hold of the processes of all panes that live, and of the server.
    fn hold(&mut self, seen: &Seen) {
        if self.args.no_pidfd || self.args.running.once {
            return;
        }
        let alive = seen.rows.iter().filter(|row| !row.dead).map(|row| row.pid);
        let wanted: BTreeSet<u32> =
            alive.chain(self.memory.server.map(|server| server.pid)).collect();
        self.ends.hold(&wanted);
    }

    fn folders(&self) -> Vec<PathBuf> {
        let files = self.known.files().chain(self.agents.registry());
        let all: BTreeSet<PathBuf> = files.filter_map(Path::parent).map(Path::to_owned).collect();
        all.into_iter().collect()
    }

    fn describe(&self, session: &mut Session) {
        let folders = self.folders();
        let (mut mechanisms, mut holes) = (vec!["poll"], Vec::new());
        if !self.args.no_pidfd {
            mechanisms.insert(0, "pidfd");
        }
        if !session.is_polling() {
            mechanisms.insert(0, "inotify");
        } else if !folders.is_empty() {
            holes.push("no inotify: sweep only");
        }
        if folders.iter().any(|folder| is_remote(folder).unwrap_or(false)) {
            holes.push("network file system: sweep only");
        }
        let poll_interval = self.args.poll_interval;
        let items = self.memory.panes.len();
        session.set_extent(Extent { items, poll_interval, mechanisms }, &holes);
    }
}

impl World for Agents {
    fn owner(&self, row: &Row) -> Option<Owner> {
        self.owner(row)
    }

    fn stands(&self, owner: &Owner) -> bool {
        self.stands(owner)
    }

    fn ended(&self, owner: &Owner) -> Option<(u32, Duration)> {
        self.ended(owner)
    }

    fn start(&self, pid: u32) -> Option<u64> {
        probe::start(pid)
    }

    fn age(&self, start: u64, now: &Now) -> Duration {
        // On the wall clock, whose steps its start takes part in.
        let began = process::started_ms(start).unwrap_or(i64::MAX);
        let age = now.wall.as_millisecond().saturating_sub(began);
        Duration::from_millis(age.try_into().unwrap_or(0))
    }
}

fn recall(args: &Args, socket: &str) -> Result<(Option<Cursor>, Memory), Error> {
    let Some(path) = &args.cursor else { return Ok((None, Memory::default())) };
    let (cursor, found) = Cursor::open(path, "pane-watch", socket, 1)?;
    let memory = match found {
        Found::Known(memory) => memory,
        Found::Nothing => Memory::default(),
        Found::Broken => {
            let message = format!("{} is damaged: all that stands is told again", path.display());
            exit::warn("pane-watch", &message);
            Memory::default()
        }
    };
    Ok((Some(cursor), memory))
}

//! The watch: one listing after another, driven by the ends of processes.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    ops::ControlFlow,
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use shared::{
    clock::{self, Now},
    cursor::{Cursor, Found},
    exit::{self, Ended, Error, Reason},
    health::{Extent, Reasons},
    pidfile,
    session::{Look, Session},
};

use crate::{
    agents::{Agents, lost},
    args::{Args, Scope},
    decide::{Known, Lost, Memory, server_gone, sweep},
    event::Told,
    tmux::{Listing, Row, Tmux},
};

/// After the end of a pane's process the server takes its time to know.
const AFTER_MS: [u64; 4] = [10, 25, 100, 400];
/// How often a server is asked that still lists a pane as alive whose process has ended.
const LAGGING: Duration = Duration::from_millis(200);
/// A server that seems gone is asked once more.
const SURE: Duration = Duration::from_millis(100);

/// All that a run keeps.
#[derive(Debug)]
pub struct Watch {
    args: Args,
    tmux: Tmux,
    socket: String,
    lead: String,
    target: Option<Vec<String>>,
    agents: Agents,
    memory: Memory,
    cursor: Option<Cursor>,
    reasons: Reasons,
    ends: BTreeMap<u32, OwnedFd>,
    fired: BTreeSet<u32>,
    first: bool,
    sweeps: Vec<Duration>,
    last_window: Option<(String, String)>,
}

/// What a sweep saw.
enum Sight {
    Rows(Vec<Row>),
    ServerGone,
    WindowGone,
    Unclear(String),
}

impl Watch {
    /// Prepares a run.
    ///
    /// # Errors
    ///
    /// No server or lead named, a cursor that is refused.
    pub fn new(args: &Args, session: &mut Session) -> Result<Self, Error> {
        let (socket, lead) = args.server()?;
        let shown = socket.display().to_string();
        session.set_subject(&shown);
        session.sweep_every(args.poll_interval);
        let _ = pidfile::raise_limit();
        let (mut memory, mut cursor) = (Memory::default(), None);
        if let Some(path) = &args.cursor {
            let (opened, found) = Cursor::open::<Memory>(path, "pane-watch", &shown, 1)?;
            match found {
                Found::Known(known) => memory = known,
                Found::Broken => {
                    exit::warn("pane-watch", &format!("{} is damaged", path.display()));
                }
                Found::Nothing => {}
            }
            cursor = Some(opened);
        }
        let first = memory.server.is_none();
        Ok(Self {
            args: args.clone(),
            tmux: Tmux::new(&socket, args.call_timeout),
            socket: shown,
            lead,
            target: None,
            agents: Agents::new(args.items.as_deref())?,
            memory,
            cursor,
            reasons: Reasons::default(),
            ends: BTreeMap::new(),
            fired: BTreeSet::new(),
            first,
            sweeps: Vec::new(),
            last_window: None,
        })
    }

    /// One pass, and the wait for the next.
    ///
    /// # Errors
    ///
    /// No tmux, server or lead at the start; those of stdout and poll(2).
    pub fn pass(&mut self, session: &mut Session) -> Result<ControlFlow<Ended>, Error> {
        let now = session.pass(&self.folders())?.now;
        self.sweeps.retain(|at| *at > now.monotonic);
        let over = self.agents.read()?;
        self.agents.look();
        self.note_ends(&now);
        let sight = self.sight(session)?;
        let (told, health, look, end) = self.judge(sight, session, &now)?;
        if let ControlFlow::Break(ended) = session.tell(&now, &health, &told)? {
            return Ok(ControlFlow::Break(ended));
        }
        session.remember(&now, self.cursor.as_mut(), &self.memory)?;
        if let Some(reason) = end.or(over.then_some("shutdown_request")) {
            return session.finish(reason, Ended::Done).map(ControlFlow::Break);
        }
        let extent = Extent {
            items: self.memory.panes.len(),
            poll_interval_sec: self.args.poll_interval.as_secs(),
            mechanisms: if self.args.no_pidfd { vec!["poll"] } else { vec!["pidfd", "poll"] },
        };
        session.set_extent(extent, &[]);
        let ages = self.young(&now);
        let due = self.sweeps.iter().copied().chain(self.agents.due()).chain(ages).min();
        let mut inputs: Vec<BorrowedFd<'_>> = self
            .ends
            .iter()
            .filter(|(pid, _)| !self.fired.contains(pid))
            .map(|e| e.1.as_fd())
            .collect();
        if !self.args.no_pidfd {
            inputs.extend(self.agents.held().filter_map(pidfile::Held::fd));
        }
        session.pause_on(look, due, &inputs)
    }

    fn folders(&self) -> Vec<PathBuf> {
        let files = self.args.known_file.iter().map(PathBuf::as_path);
        let absolute = files.filter_map(|path| std::path::absolute(path).ok());
        let all = absolute.chain(self.agents.registry().map(Path::to_owned));
        let mut folders: Vec<PathBuf> =
            all.filter_map(|path| path.parent().map(Path::to_owned)).collect();
        folders.sort();
        folders.dedup();
        folders
    }

    /// Plans the looks that follow the end of a process.
    fn note_ends(&mut self, now: &Now) {
        for (pid, fd) in &self.ends {
            let mut fds = [nix::poll::PollFd::new(fd.as_fd(), nix::poll::PollFlags::POLLIN)];
            let over = nix::poll::poll(&mut fds, nix::poll::PollTimeout::ZERO).is_ok_and(|n| n > 0);
            if over && self.fired.insert(*pid) {
                let after = AFTER_MS.map(|ms| now.monotonic + Duration::from_millis(ms));
                self.sweeps.extend(after);
            }
        }
    }

    fn list(&self, target: &[String], session: &Session) -> Result<Listing, Error> {
        let target: Vec<&str> = target.iter().map(String::as_str).collect();
        self.tmux.list(&target, session.waiter())
    }

    fn sight(&mut self, session: &Session) -> Result<Sight, Error> {
        let target = self.target.clone().unwrap_or_else(|| self.aim(&self.lead));
        let mut listing = self.list(&target, session)?;
        if listing == Listing::NoServer && self.memory.server.is_some() {
            if session.waiter().rest(SURE).map_err(Error::on("wait"))? {
                return Ok(Sight::Unclear("stopped".to_owned()));
            }
            listing = self.list(&target, session)?;
        }
        if listing == Listing::NoTarget && self.target.is_none() && !self.first {
            // The lead's pane is gone; what was around it is still of interest.
            let Some((own, window)) = &self.last_window else { return Ok(Sight::WindowGone) };
            let around = if self.args.scope == Scope::Session { own } else { window };
            let around = self.aim(around);
            self.target = Some(around.clone());
            listing = self.list(&around, session)?;
        }
        let not_found = |message: String| Err(Error::new(Reason::NotFound, "no_target", message));
        Ok(match listing {
            Listing::Panes(rows) => {
                let server = rows.first().map(|row| row.server);
                let known = self.memory.server;
                if known.is_some() && server.is_some() && known != server {
                    return Ok(Sight::ServerGone);
                }
                if let Some(lead) = rows.iter().find(|row| row.pane == self.lead) {
                    self.last_window = Some((lead.session.clone(), lead.window.clone()));
                }
                Sight::Rows(rows)
            }
            Listing::NoServer if self.memory.server.is_none() => {
                return not_found(format!("unable to find a tmux server at {}", self.socket));
            }
            Listing::NoTarget if self.first => {
                return not_found(format!("unable to find the lead's pane {}", self.lead));
            }
            Listing::NoServer => Sight::ServerGone,
            Listing::NoTarget => Sight::WindowGone,
            Listing::Failed(cause) => Sight::Unclear(cause),
        })
    }

    fn aim(&self, at: &str) -> Vec<String> {
        let flags: &[&str] = match self.args.scope {
            Scope::Window => &["-t", at],
            Scope::Session => &["-s", "-t", at],
            Scope::Server => &["-a"],
        };
        flags.iter().map(|flag| (*flag).to_owned()).collect()
    }

    /// Asks for panes that are not listed any more.
    fn lost(
        &self,
        rows: &mut Vec<Row>,
        session: &Session,
    ) -> Result<BTreeMap<String, Lost>, Error> {
        let listed: BTreeSet<String> = rows.iter().map(|row| row.pane.clone()).collect();
        let mut found = BTreeMap::new();
        for (id, pane) in self.memory.panes.iter().filter(|(id, _)| !listed.contains(*id)) {
            let answer = self.list(&["-t".to_owned(), id.clone()], session)?;
            let fate = match answer {
                Listing::Panes(others) => {
                    let its = others.into_iter().find(|row| row.pane == *id);
                    match its {
                        Some(row) if self.agents.names(id) => {
                            rows.push(row);
                            continue;
                        }
                        _ => Lost::Moved,
                    }
                }
                Listing::NoTarget => lost(&pane.row),
                Listing::NoServer | Listing::Failed(_) => Lost::Unclear,
            };
            found.insert(id.clone(), fate);
        }
        Ok(found)
    }

    #[expect(clippy::type_complexity, reason = "what a pass tells, in its parts")]
    fn judge(
        &mut self,
        sight: Sight,
        session: &Session,
        now: &Now,
    ) -> Result<(Vec<Told>, Vec<shared::health::Health>, Look, Option<&'static str>), Error> {
        let mut rows = match sight {
            Sight::Rows(rows) => rows,
            Sight::ServerGone => {
                let told = server_gone(&self.memory, &self.socket).into_iter().collect();
                self.memory = Memory::default();
                return Ok((told, Vec::new(), Look::Whole, Some("server_gone")));
            }
            Sight::WindowGone => {
                let gone = self.lost(&mut Vec::new(), session)?;
                let told = self.sweep(&[], &gone).0;
                return Ok((told, Vec::new(), Look::Whole, Some("window_gone")));
            }
            Sight::Unclear(cause) => {
                let retry = self.args.poll_interval;
                let health = self.reasons.degrade("tmux_unresponsive", &cause, retry, now);
                return Ok((Vec::new(), health.into_iter().collect(), Look::Blind, None));
            }
        };
        let health = self.reasons.recover("tmux_unresponsive", now).into_iter().collect();
        let lost = self.lost(&mut rows, session)?;
        let (told, again) = self.sweep(&rows, &lost);
        if again {
            let after = AFTER_MS.map(|ms| now.monotonic + Duration::from_millis(ms));
            self.sweeps.extend(after.into_iter().take(2));
        }
        self.first = false;
        if !self.hold(&rows) {
            self.sweeps.push(now.monotonic + LAGGING);
        }
        let look = if again && self.args.running.once { Look::Settling } else { Look::Whole };
        Ok((told, health, look, None))
    }

    fn sweep(&mut self, rows: &[Row], lost: &BTreeMap<String, Lost>) -> (Vec<Told>, bool) {
        let mut leads: BTreeSet<String> = [self.lead.clone()].into();
        leads.extend(self.own_pane());
        let mut others: BTreeSet<String> = self.args.known.iter().cloned().collect();
        others.extend(self.args.known_file.iter().filter_map(|path| first_line(path)));
        let agents = &self.agents;
        let known = Known {
            owner: &|row| agents.owner(row),
            ended: &|owner| agents.ended(owner),
            age: &age,
            leads: &leads,
            known: &others,
            untracked_after: self.args.untracked_after,
            baseline: self.args.baseline,
            socket: &self.socket,
        };
        sweep(&mut self.memory, rows, lost, self.first, &known)
    }

    /// Our own pane, if it is on this server.
    fn own_pane(&self) -> Option<String> {
        let tmux = env::var("TMUX").ok()?;
        let ours = tmux.split(',').next() == Some(&*self.socket);
        env::var("TMUX_PANE").ok().filter(|_| ours)
    }

    /// Takes hold of the processes of all panes and of the server. False when the server lists a
    /// pane as alive whose process has ended: nothing else will tell when it knows better.
    fn hold(&mut self, rows: &[Row]) -> bool {
        if self.args.no_pidfd {
            return true;
        }
        let mut wanted: BTreeSet<u32> =
            rows.iter().filter(|row| !row.dead).map(|row| row.pid).collect();
        wanted.extend(self.memory.server.map(|server| server.pid));
        self.ends.retain(|pid, _| wanted.contains(pid));
        self.fired.retain(|pid| wanted.contains(pid));
        for pid in wanted {
            let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
            if let Some(number) = number.filter(|_| !self.ends.contains_key(&pid))
                && let Ok(fd) = pidfd_open(number, PidfdFlags::empty())
            {
                self.ends.insert(pid, fd);
            }
        }
        let is_over = |pid: &u32| self.fired.contains(pid) || !self.ends.contains_key(pid);
        !rows.iter().any(|row| !row.dead && is_over(&row.pid))
    }

    /// When a young pane comes of age.
    fn young(&self, now: &Now) -> Option<Duration> {
        let after = self.args.untracked_after;
        let left =
            self.memory.panes.values().filter_map(|pane| after.checked_sub(age(pane.row.pid)));
        let left = left.filter(|left| !left.is_zero()).min()?;
        // Starts are known to a hundredth of a second.
        Some(now.monotonic + left + Duration::from_millis(10))
    }
}

/// How long a process has run.
fn age(pid: u32) -> Duration {
    let Ok(Some((identity, _))) = shared::process::look(pid) else { return Duration::MAX };
    let began = Duration::from_millis(identity.start_ticks * 1000 / pidfile::HERTZ);
    clock::now().boot.saturating_sub(began)
}

fn first_line(path: &Path) -> Option<String> {
    let content = shared::file::read(path, 4096).ok()?;
    let text = String::from_utf8_lossy(&content.bytes).into_owned();
    let first = text.lines().next()?.trim().to_owned();
    (fs::metadata(path).is_ok() && shared::roster::is_pane(&first)).then_some(first)
}

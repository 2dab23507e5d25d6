//! Whose processes run where: the registry's items, their pid files, and `/proc`.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use shared::{
    clock,
    exit::Error,
    follow::{Follower, Told},
    pidfile::{self, Fate, Held, Named},
    roster::{self, Entry, Place, Roster},
};

use crate::{
    decide::{Lost, Owner},
    tmux::Row,
};

/// How many parents are asked for, at most.
const DEPTH: usize = 64;

#[derive(Debug)]
struct Agent {
    instance: String,
    pane: Option<String>,
    pid_file: Option<String>,
    held: Option<Held>,
    ended: Option<Duration>,
}

/// The agents of the registry.
#[derive(Debug)]
pub struct Agents {
    registry: Option<(PathBuf, Follower)>,
    roster: Roster,
    known: BTreeMap<Owner, Agent>,
}

impl Agents {
    /// Follows `items`, if there is one.
    ///
    /// # Errors
    ///
    /// A working directory that is gone.
    pub fn new(items: Option<&Path>) -> Result<Self, Error> {
        let absolute =
            |path: &Path| std::path::absolute(path).map_err(|err| Error::io("resolve", path, &err));
        let path = items.map(absolute).transpose()?;
        let registry = path.map(|path| (path.clone(), Follower::new(Some(&path))));
        Ok(Self { registry, roster: Roster::default(), known: BTreeMap::new() })
    }

    /// The registry's path.
    #[must_use]
    pub fn registry(&self) -> Option<&Path> {
        self.registry.as_ref().map(|(path, _)| path.as_path())
    }

    /// Reads the registry on; true when it asks for the end.
    ///
    /// # Errors
    ///
    /// A registry that is neither file nor FIFO.
    pub fn read(&mut self) -> Result<bool, Error> {
        let Some((path, follower)) = &mut self.registry else { return Ok(false) };
        let base = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let (mut fold, mut over) = (None, false);
        let roster = &mut self.roster;
        let state = follower.read(&mut |told| match told {
            Told::Restart => fold = Some(Roster::default()),
            Told::Line { offset, text: Some(text), .. } => {
                let place = Place { offset, base: &base, wall: f64::MAX };
                let Ok(entry) = roster::parse(text, place) else { return };
                over |= fold.is_none() && entry == Entry::Shutdown;
                let _ = fold.as_mut().unwrap_or(roster).apply(entry);
            }
            Told::Line { .. } => {}
        });
        state.map_err(|err| Error::io("read the registry", path, &err))?;
        if let Some(fold) = fold {
            self.roster.merge(fold);
        }
        self.renew();
        Ok(over)
    }

    fn renew(&mut self) {
        let items = &self.roster.items;
        self.known.retain(|key, agent| {
            items.get(key).is_some_and(|item| item.spec.instance == agent.instance)
        });
        for (key, item) in items {
            let agent = self.known.entry(key.clone()).or_insert_with(|| Agent {
                instance: item.spec.instance.clone(),
                pane: None,
                pid_file: None,
                held: None,
                ended: None,
            });
            agent.pane.clone_from(&item.spec.pane);
            agent.pid_file.clone_from(&item.spec.pid_file);
        }
    }

    /// Looks at every agent's process.
    pub fn look(&mut self) {
        for agent in self.known.values_mut() {
            let lives = agent.held.as_ref().is_some_and(|held| held.fate() == Fate::Alive);
            if lives {
                continue;
            }
            if let Some(Named::Alive(held)) =
                agent.pid_file.as_deref().map(|file| pidfile::read(Path::new(file), true))
            {
                (agent.held, agent.ended) = (Some(held), None);
            } else if agent.held.is_some() && agent.ended.is_none() {
                agent.ended = Some(clock::monotonic());
            }
        }
    }

    /// The ends of processes that live.
    pub fn held(&self) -> impl Iterator<Item = &Held> {
        self.known.values().filter(|agent| agent.ended.is_none()).filter_map(|a| a.held.as_ref())
    }

    /// Whose pane a row is: by its id, its process, a parent of the agent's, or the terminal.
    #[must_use]
    pub fn owner(&self, row: &Row) -> Option<Owner> {
        let tty = fs::metadata(&row.tty).ok().map(|meta| meta.rdev());
        let fits = |agent: &Agent| {
            if agent.pane.as_deref() == Some(&*row.pane) {
                return true;
            }
            let Some(pid) = agent.held.as_ref().map(|held| held.who.pid) else { return false };
            let mut next = Some(pid);
            for _ in 0..DEPTH {
                let Some(pid) = next.filter(|pid| *pid > 1) else { break };
                if pid == row.pid {
                    return true;
                }
                next = process(pid).map(|(parent, _)| parent);
            }
            tty.is_some_and(|tty| process(pid).is_some_and(|(_, its)| its == tty))
        };
        self.known.iter().find(|(_, agent)| fits(agent)).map(|(owner, _)| owner.clone())
    }

    /// The pid of an agent whose process ended, and how long ago.
    #[must_use]
    pub fn ended(&self, owner: &Owner) -> Option<(u32, Duration)> {
        let agent = self.known.get(owner)?;
        let since = clock::monotonic().saturating_sub(agent.ended?);
        Some((agent.held.as_ref()?.who.pid, since))
    }

    /// When an agent's end will have been long enough ago.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        let ends = self.known.values().filter_map(|agent| agent.ended);
        let now = clock::monotonic();
        ends.map(|at| at + crate::decide::OUTLIVED).filter(|due| *due > now).min()
    }

    /// Whether an item names this pane, so that it is followed wherever it goes.
    #[must_use]
    pub fn names(&self, pane: &str) -> bool {
        self.known.values().any(|agent| agent.pane.as_deref() == Some(pane))
    }
}

/// The parent and the terminal's device of a process.
fn process(pid: u32) -> Option<(u32, u64)> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after = text.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = str::from_utf8(text.get(after..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    // Field 7; the parent was field 4. The kernel's old form of a device number.
    let tty: u64 = fields.nth(2)?.parse().ok()?;
    let (major, minor) = ((tty >> 8) & 0xfff, (tty & 0xff) | ((tty >> 12) & 0xfff00));
    let device = ((major & 0xfff) << 8) | (minor & 0xff) | ((minor & !0xff) << 12);
    Some((parent, if tty == 0 { u64::MAX } else { device }))
}

/// What became of a pane's process that isn't listed any more.
#[must_use]
pub fn lost(row: &Row) -> Lost {
    let alive = shared::process::look(row.pid)
        .is_ok_and(|found| found.is_some_and(|(_, state)| state == shared::process::State::Alive));
    Lost::Gone(alive)
}

//! Whose processes run where: the registry's items, their pid files, and `/proc`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::{fd::BorrowedFd, unix::fs::MetadataExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use shared::{
    clock::Now,
    exit::Error,
    health::Health,
    pidfile::{self, Fate, Held, Named},
    registry::{Registry, Said},
    roster::{self, Entry, Key, Place, Roster},
};

use crate::tmux::Row;

/// How many parents are asked for, at most.
const DEPTH: usize = 64;

/// Whose pane it is: an item of the registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The agent.
    pub agent: String,
    /// Its step.
    pub step: String,
    /// Which run of it.
    pub instance: String,
}

/// What is known of an agent's process.
#[derive(Debug)]
enum Process {
    /// Nothing: no pid file, or one that names no process.
    Unknown,
    /// It lives.
    Alive(Held),
    /// It had this pid, and we have known of its end since then.
    Ended(u32, Duration),
}

#[derive(Debug)]
struct Agent {
    instance: String,
    pane: Option<String>,
    pid_file: Option<PathBuf>,
    process: Process,
    /// Its process and the parents of that, while it lives.
    line: Vec<u32>,
    /// The device of its terminal.
    tty: Option<u64>,
}

/// The agents of the registry.
#[derive(Debug)]
pub struct Agents {
    registry: Option<Registry>,
    base: PathBuf,
    roster: Roster,
    known: BTreeMap<Key, Agent>,
    fds: bool,
}

impl Agents {
    /// Follows the registry `items`, if there is one; `fds`: holds processes by descriptors.
    ///
    /// # Errors
    ///
    /// A working directory that is gone.
    pub fn new(items: Option<&Path>, fds: bool) -> Result<Self, Error> {
        let base = std::env::current_dir().map_err(Error::on("find the working directory"))?;
        let registry = items.map(Registry::new).transpose()?;
        Ok(Self { registry, base, roster: Roster::default(), known: BTreeMap::new(), fds })
    }

    /// The registry's path.
    #[must_use]
    pub fn registry(&self) -> Option<&Path> {
        self.registry.as_ref().map(Registry::path)
    }

    /// Reads the registry on: what there is to say of it, and whether it asks for the end.
    ///
    /// # Errors
    ///
    /// A registry that is neither file nor FIFO, or can't be read at the start.
    pub fn read(&mut self, retry: Duration, now: &Now) -> Result<(Vec<Health>, bool), Error> {
        let Some(registry) = &mut self.registry else { return Ok((Vec::new(), false)) };
        let (mut fold, mut over) = (None, false);
        let (roster, base) = (&mut self.roster, &*self.base);
        let health = registry.read(retry, now, &mut |said| match said {
            Said::History => fold = Some(Roster::default()),
            Said::Line(offset, text) => {
                // Only agent-watch judges lines, a start in the future included.
                let place = Place { offset, base, wall: f64::MAX };
                let Ok(entry) = roster::parse(text, place) else { return };
                over |= fold.is_none() && entry == Entry::Shutdown;
                let _ = fold.as_mut().unwrap_or(roster).apply(entry);
            }
        })?;
        if let Some(fold) = fold {
            self.roster.merge(fold, |_, _| ());
        }
        self.renew();
        Ok((health, over))
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
                process: Process::Unknown,
                line: Vec::new(),
                tty: None,
            });
            agent.pane.clone_from(&item.spec.pane);
            agent.pid_file = item.spec.pid_file.as_ref().map(PathBuf::from);
        }
    }

    /// Looks at every agent's process. `t` is now on the monotonic clock.
    pub fn look(&mut self, t: Duration) {
        for agent in self.known.values_mut() {
            agent.look(self.fds, t);
        }
    }

    /// What becomes readable when a process ends, or more comes from the registry.
    pub fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let held = self.known.values().filter_map(|agent| match &agent.process {
            Process::Alive(held) => held.fd(),
            _ => None,
        });
        held.chain(self.registry.as_ref().and_then(Registry::fd))
    }

    /// Whose pane a row is: by its id, its process, a child of that, or the terminal.
    #[must_use]
    pub fn owner(&self, row: &Row) -> Option<Owner> {
        let tty = fs::metadata(&row.tty).ok().map(|meta| meta.rdev());
        let fits = |agent: &Agent| {
            agent.pane.as_deref() == Some(&*row.pane)
                || agent.line.contains(&row.pid)
                || (tty.is_some() && agent.tty == tty)
        };
        let (key, agent) = self.known.iter().find(|(_, agent)| fits(agent))?;
        let ((name, step), instance) = (key.clone(), agent.instance.clone());
        Some(Owner { agent: name, step, instance })
    }

    /// Whether the item still stands.
    #[must_use]
    pub fn stands(&self, owner: &Owner) -> bool {
        self.agent(owner).is_some()
    }

    /// The pid of an agent whose process ended, and since when that is known.
    #[must_use]
    pub fn ended(&self, owner: &Owner) -> Option<(u32, Duration)> {
        match self.agent(owner)?.process {
            Process::Ended(pid, at) => Some((pid, at)),
            _ => None,
        }
    }

    fn agent(&self, owner: &Owner) -> Option<&Agent> {
        let agent = self.known.get(&(owner.agent.clone(), owner.step.clone()))?;
        (agent.instance == owner.instance).then_some(agent)
    }

    /// The panes that items name, which are followed wherever they are.
    #[must_use]
    pub fn panes(&self) -> BTreeSet<String> {
        self.known.values().filter_map(|agent| agent.pane.clone()).collect()
    }
}

impl Agent {
    fn look(&mut self, fds: bool, t: Duration) {
        let lives = matches!(&self.process, Process::Alive(held) if held.fate() == Fate::Alive);
        if !lives {
            let named = self.pid_file.as_deref().map(|file| pidfile::read(file, fds));
            self.process = match (named, std::mem::replace(&mut self.process, Process::Unknown)) {
                (Some(Named::Alive(held)), _) => Process::Alive(held),
                (_, Process::Alive(held)) => Process::Ended(held.who.pid, t),
                (Some(Named::Gone(who, _)), Process::Unknown) => Process::Ended(who.pid, t),
                (_, known) => known,
            };
        }
        (self.line, self.tty) = match &self.process {
            Process::Alive(held) => lineage(held.who.pid),
            _ => (Vec::new(), None),
        };
    }
}

/// A process and its parents, and the device of its terminal.
fn lineage(pid: u32) -> (Vec<u32>, Option<u64>) {
    let (mut line, mut own) = (Vec::new(), None);
    let mut next = Some(pid);
    while let Some(pid) = next.filter(|pid| *pid > 1 && line.len() < DEPTH) {
        line.push(pid);
        let Some((parent, tty)) = parent_and_tty(pid) else { break };
        own = own.or(Some(tty));
        next = Some(parent);
    }
    (line, own.flatten())
}

fn parent_and_tty(pid: u32) -> Option<(u32, Option<u64>)> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after = text.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = str::from_utf8(text.get(after..)?).ok()?;
    // The state is field 3, the parent 4, the terminal 7.
    let mut fields = rest.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let tty: i32 = fields.nth(2)?.parse().ok()?;
    // A device number of the kernel is one of stat(2), too, but for its sign.
    Some((parent, (tty != 0).then(|| tty.cast_unsigned().into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_its_line() {
        let (line, _) = lineage(std::process::id());
        assert_eq!(line[0], std::process::id());
        assert_eq!(line.get(1).copied(), Some(std::os::unix::process::parent_id()));
    }
}

//! What a child of ours, or a process that we know of, has started.

use std::{collections::BTreeSet, io};

use memchr::memmem;
use rustix::process::Signal;

use super::{identity, ps};
use crate::process::{Hold, Identity, State, is_alive, mark};

/// The family of a process: what descends from it while that can be seen, its process group as
/// long as it isn't reaped, and what carries the run in an environment that can be read. What left
/// the group, lost its parent and hides its environment is missed.
#[derive(Debug, Clone)]
pub struct Strays {
    leader: Identity,
    mark: Vec<u8>,
    seen: Vec<Identity>,
}

impl Strays {
    /// Those of `leader`; `run` is what they carry in their environment.
    #[must_use]
    pub fn of(leader: &Identity, run: &str) -> Self {
        Self { leader: leader.clone(), mark: mark(run), seen: Vec::new() }
    }

    /// Init reaps those that have ended.
    pub fn reap(&mut self) {}

    /// Whether there are none.
    #[must_use]
    pub fn are_gone(&mut self) -> bool {
        self.find().is_ok_and(|found| found.is_empty())
    }

    /// Sends all of them a signal.
    pub fn signal(&mut self, signal: Signal) {
        for stray in self.find().unwrap_or_default() {
            let _ = Hold::seen(stray).signal(signal);
        }
    }

    /// Those that live. One that was found stays known when its parent is gone.
    fn find(&mut self) -> io::Result<Vec<Identity>> {
        let rows = ps::all()?;
        let own = std::process::id();
        let mut kin: BTreeSet<u32> = rows
            .iter()
            .filter(|row| {
                let who = identity(row.pid, row.start);
                who == self.leader || self.seen.contains(&who)
            })
            .map(|row| row.pid)
            .collect();
        // Without its leader a group's number proves nothing.
        let group = kin.contains(&self.leader.pid).then_some(self.leader.pid);
        kin.extend(rows.iter().filter(|row| self.is_member(row, group)).map(|row| row.pid));
        let mut before = 0;
        while kin.len() > before {
            before = kin.len();
            let children = rows.iter().filter(|row| kin.contains(&row.parent));
            let children: Vec<u32> = children.map(|row| row.pid).collect();
            kin.extend(children);
        }
        let alive = rows.iter().filter(|row| row.state == State::Alive && row.pid != own);
        let others = alive.filter(|row| kin.contains(&row.pid) && row.pid != self.leader.pid);
        let found: Vec<Identity> = others.map(|row| identity(row.pid, row.start)).collect();
        self.seen.extend(
            found.iter().filter(|who| !self.seen.contains(who)).cloned().collect::<Vec<_>>(),
        );
        Ok(found)
    }

    fn is_member(&self, row: &ps::Row, group: Option<u32>) -> bool {
        let carries = |words: &[u8]| {
            memmem::find_iter(words, &self.mark).any(|at| {
                let end = words.get(at + self.mark.len());
                end.is_none_or(u8::is_ascii_whitespace)
            })
        };
        group == Some(row.group) || carries(&row.words) && ps::environment(row).is_some_and(carries)
    }
}

/// Holds on all that is left of a family whose parent was killed, `leader` included.
#[must_use]
pub fn left_by(leader: &Identity, run: &str) -> Vec<Hold> {
    let mut found = Strays::of(leader, run).find().unwrap_or_default();
    if is_alive(leader) {
        found.push(leader.clone());
    }
    found.into_iter().map(Hold::seen).collect()
}

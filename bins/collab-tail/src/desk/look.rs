//! What one look needs of the world, and how it can end early.

use std::{io, time::Duration};

use shared::{
    clock::Now,
    exit::Error,
    health::Health,
    wait::{Stop, Waiter},
};

use super::Looked;
use crate::{
    event::Told,
    hash::Hash,
    voice::{Said, Voice},
};

/// What a look needs of the world.
pub(super) struct Look<'a> {
    pub(super) voice: &'a mut Voice,
    pub(super) waiter: &'a Waiter,
    pub(super) now: Now,
    /// Which files it has dealt with.
    pub(super) visited: Vec<(u64, u64)>,
    /// Which boards can't be read.
    pub(super) unseen: Vec<String>,
    pub(super) outcome: Looked,
}

/// Why a look ends early.
pub(super) enum Halt {
    Stop(Stop),
    Stuck,
    Failed(Error),
}

pub(super) type Step<T = ()> = Result<T, Halt>;

impl Look<'_> {
    pub(super) fn tell(&mut self, event: &Told, record: Option<Hash>) -> Step {
        checked(self.voice.tell(event, record, &self.now, self.waiter))
    }

    pub(super) fn say(&mut self, health: &Health) -> Step {
        checked(self.voice.say(health, &self.now, self.waiter))
    }

    /// Tries again what could not be written.
    pub(super) fn retry(&mut self) -> Step {
        checked(self.voice.retry(&self.now, self.waiter))
    }

    pub(super) fn wake_at(&mut self, at: Duration) {
        self.outcome.due = Some(self.outcome.due.map_or(at, |due| due.min(at)));
    }

    pub(super) fn incomplete(&mut self, trouble: &str) {
        self.outcome.complete = false;
        if self.outcome.trouble.is_empty() {
            trouble.clone_into(&mut self.outcome.trouble);
        }
    }
}

fn checked(said: io::Result<Said>) -> Step {
    match said.map_err(|err| Halt::Failed(Error::on("wait for stdout")(err)))? {
        Said::Whole => Ok(()),
        Said::Stuck => Err(Halt::Stuck),
        Said::Stop(stop) => Err(Halt::Stop(stop)),
    }
}

//! Whether the agent's process lives, and what its end means.

use std::time::Duration;

use shared::pidfile::{Status, Who};

use super::{MOMENT, Pass};
use crate::{
    event::What,
    item::{Known, Life},
    seen::{Fate, Named},
};

/// What a pid file can be but the name of a process.
const USELESS: [&str; 3] = ["pid_file_invalid", "pid_file_stale", "pid_namespace"];

impl Pass<'_> {
    /// Takes in what the pid file says.
    pub(super) fn process(&mut self) {
        match self.seen.named {
            Named::Alive(who) => self.named(who),
            Named::Gone(who, reason) if self.item.known.is_none() => {
                self.known(who, reason);
                self.exited(reason);
            }
            _ => {}
        }
        // What was known once is held by itself, whatever becomes of its file.
        let named = self.seen.named;
        let lost = |as_seen: Named| self.item.known.is_none() && named == as_seen;
        let (none, missing) = (lost(Named::None), lost(Named::Missing));
        let useless = USELESS.map(|reason| (reason, lost(Named::Useless(reason))));
        self.wait_to_degrade("no_pid_file", none, Duration::ZERO);
        self.wait_to_degrade("pid_file_missing", missing, self.config.pid_grace);
        for (reason, holds) in useless {
            self.wait_to_degrade(reason, holds, MOMENT);
        }
    }

    fn known(&mut self, who: Who, reason: &'static str) {
        let written_ns = self.seen.written_ns;
        let known = Known { who, written_ns, exited: None, reason, status: None, replayed: false };
        self.item.known = Some(known);
    }

    /// Takes in what became of the process that is known.
    pub(super) fn fate(&mut self) {
        let (Some(known), Some(fate)) = (self.item.known, self.seen.fate) else { return };
        let (reason, status) = match fate {
            Fate::Alive => return,
            Fate::Exited(status) => ("exited", status),
            Fate::Reused => ("pid_reused", None),
        };
        if known.exited.is_none() {
            self.exited(reason);
        }
        if let Some(known) = &mut self.item.known {
            known.status = known.status.or(status);
        }
        self.judge_writer();
    }

    /// The process is known to have ended.
    fn exited(&mut self, reason: &'static str) {
        if let Some(known) = &mut self.item.known {
            (known.exited, known.reason, known.replayed) =
                (Some(self.t), reason, self.item.replayed);
        }
        // The kernel closes a killed writer's file just before its end can be seen: a close that
        // no look has seen stand is taken for that one.
        self.item.result.by_exit |= self.item.result.closed.is_some();
        if self.item.life != Life::Died {
            self.item.life = Life::Dying;
        }
    }

    /// What a killed writer left is not whole.
    fn judge_writer(&mut self) {
        let Some(known) = self.item.known else { return };
        let (Some(Status::Signal(_)), Some(exited)) = (known.status, known.exited) else { return };
        let result = &mut self.item.result;
        let recent = exited.saturating_sub(result.since) < self.config.settle;
        let unseen = !self.seen.watched && result.since <= exited && recent;
        if std::mem::take(&mut result.by_exit) || unseen {
            result.torn = result.version;
        }
    }

    fn named(&mut self, who: Who) {
        let known = self.item.known;
        let other_lives = known.is_some_and(|known| known.exited.is_none() && known.who != who);
        self.wait_to_degrade("pid_changed", other_lives, Duration::ZERO);
        if let Some(known) = self.item.known.as_mut().filter(|known| known.who == who) {
            known.written_ns = self.seen.written_ns;
            return;
        }
        if other_lives {
            return;
        }
        if let Some(known) = known.filter(|_| self.item.life == Life::Died) {
            let what = What::Replaced { pid: who.pid, previous_pid: known.who.pid };
            self.say("process_replaced", what, identity(who, self.seen.written_ns));
        } else if known.is_some() {
            self.recover("exit");
        }
        if known.is_some() {
            // One that has just begun has not been silent yet.
            self.progressed(self.t);
        }
        self.known(who, "exited");
        self.item.life = Life::Running;
    }

    /// Tells a death whose grace is over.
    pub(super) fn death(&mut self) {
        let Some(known) = self.item.known.filter(|_| self.item.life == Life::Dying) else { return };
        let Some(exited) = known.exited else { return };
        if !self.config.once && self.t < exited + self.config.death_grace {
            return;
        }
        self.end("exit");
        self.item.life = Life::Died;
        let result = match self.item.result.version {
            None => "absent",
            Some(version) if version.size == 0 => "empty",
            Some(_) => "partial",
        };
        let (exit_code, exit_signal) = match known.status {
            Some(Status::Code(code)) => (Some(code), None),
            Some(Status::Signal(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        let what = What::Died {
            pid: known.who.pid,
            start_ticks: known.who.start_ticks,
            reason: known.reason,
            exit_code,
            exit_signal,
            result,
            elapsed_sec: self.item.elapsed(self.t).as_secs(),
        };
        // What the first look found is told after the grace, and is a replay all the same.
        self.item.replayed |= known.replayed;
        self.say("process_died", what, identity(known.who, known.written_ns));
    }
}

/// What tells a process from others of its number, in each life of this watch: its start is no
/// longer known to one that begins after its end, unless the pid file says it.
fn identity(who: Who, written_ns: Option<i128>) -> String {
    let start = written_ns.map(|ns| ns.to_string()).or(who.start_ticks.map(|at| at.to_string()));
    format!("{}\u{1f}{}", who.pid, start.unwrap_or_default())
}

//! What a child of ours has started.

use std::fs;

use memchr::memmem;
use nix::{
    sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid},
    unistd::Pid,
};
use rustix::process::{Signal, kill_process};

use crate::process::{Hold, Identity, mark};

/// What the family of a child loses becomes our own child, if we adopt orphans. A child that
/// nobody has reaped keeps its number, so it can be signalled by that, as long as only this
/// module reaps.
#[derive(Debug, Clone)]
pub struct Strays {
    leader: Pid,
}

impl Strays {
    /// Those of `leader`, a child of ours. The run is what they carry in their environment.
    #[must_use]
    pub fn of(leader: &Identity, _run: &str) -> Self {
        Self { leader: Pid::from_raw(i32::try_from(leader.pid).unwrap_or(i32::MAX)) }
    }

    /// Reaps those that have ended.
    pub fn reap(&mut self) {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        // The leader stays unreaped, so that its number, and its group's, stays its own.
        while let Ok(Some(pid)) = waitid(Id::All, flags).map(|status| status.pid())
            && pid != self.leader
        {
            let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn are_gone(&mut self) -> bool {
        let has_ended = |pid: Pid| {
            let reaped = waitpid(pid, Some(WaitPidFlag::WNOHANG));
            matches!(reaped, Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)))
        };
        // What one of them had started becomes ours when it ends, and is on no earlier list.
        loop {
            let mut adopted = self.adopted().peekable();
            if adopted.peek().is_none() {
                return true;
            }
            if !adopted.all(has_ended) {
                return false;
            }
        }
    }

    /// Sends all of them a signal.
    pub fn signal(&mut self, signal: Signal) {
        let numbers = self.adopted().filter_map(|pid| rustix::process::Pid::from_raw(pid.as_raw()));
        for number in numbers {
            let _ = kill_process(number, signal);
        }
    }

    /// Our children but the leader.
    fn adopted(&self) -> impl Iterator<Item = Pid> + use<> {
        let own = std::process::id();
        let list =
            fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
        let pids: Vec<i32> = list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
        let leader = self.leader;
        pids.into_iter().map(Pid::from_raw).filter(move |pid| *pid != leader)
    }
}

/// Holds on all processes that carry `run` in their environment: what is left of a family whose
/// parent was killed.
#[must_use]
pub fn left_by(_leader: &Identity, run: &str) -> Vec<Hold> {
    let needle = [&mark(run)[..], b"\0"].concat();
    let carries = |pid: u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        memmem::find(&environment, &needle).is_some()
    };
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let own = std::process::id();
    pids.filter(|pid| *pid != own && carries(*pid))
        .filter_map(|pid| Some(Hold::open(pid).ok()??.0))
        // Looked at again, now that the number can't go to another.
        .filter(|hold| carries(hold.identity().pid))
        .collect()
}

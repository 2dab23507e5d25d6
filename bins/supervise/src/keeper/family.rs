//! The monitor and all that it started: reaped, and ended without a stranger being hit.
//!
//! The keeper is a subreaper, so whatever loses its parent becomes the keeper's own child. A
//! child that nobody reaped keeps its pid, and a leader that nobody reaped keeps its group: so
//! both can be signalled by number, as long as only this module reaps.

use std::{fs, io, os::unix::net::UnixStream, time::Duration};

use nix::{
    sys::{
        signal::{Signal, kill, killpg},
        wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid},
    },
    unistd::Pid,
};
use shared::{clock, wait};

/// How the monitor ended: its exit code, or the signal that killed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fate {
    /// The exit code.
    pub code: Option<i32>,
    /// The signal.
    pub signal: Option<i32>,
}

/// How long after KILL the kernel is waited for.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// The monitor's process family.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    leader: Pid,
}

impl Family {
    /// The family of `leader`, our child, which leads its own process group.
    #[must_use]
    pub fn new(leader: u32) -> Self {
        Self { leader: Pid::from_raw(i32::try_from(leader).unwrap_or(i32::MAX)) }
    }

    /// Reaps what was adopted, and says whether the leader has ended. The leader stays unreaped,
    /// so that its number stays its own.
    #[must_use]
    pub fn leader_has_ended(self) -> bool {
        loop {
            let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
            match waitid(Id::All, flags).map(|status| status.pid()) {
                Ok(Some(pid)) if pid == self.leader => return true,
                Ok(Some(pid)) => drop(waitpid(pid, Some(WaitPidFlag::WNOHANG))),
                Ok(None) | Err(_) => return false,
            }
        }
    }

    /// Ends the family: TERM, then KILL to what is left after `grace`. `meanwhile` is called
    /// whenever something may have been printed; `woken` is readable when a child has ended.
    pub fn end(self, grace: Duration, woken: &mut UnixStream, mut meanwhile: impl FnMut()) -> Fate {
        let due = clock::monotonic() + grace;
        self.signal(Signal::SIGTERM);
        while !self.is_alone() && clock::monotonic() < due {
            rest(woken, due);
            meanwhile();
            // A child that was adopted since is asked too.
            adopted(self.leader).for_each(|pid| tell(pid, Signal::SIGTERM));
        }
        let due = clock::monotonic() + LAST_WAIT;
        while !self.is_alone() && clock::monotonic() < due {
            self.signal(Signal::SIGKILL);
            rest(woken, due);
            meanwhile();
        }
        meanwhile();
        self.reap()
    }

    /// The leader's group, and those that left the group and lost their parent.
    fn signal(self, signal: Signal) {
        let _ = killpg(self.leader, signal);
        adopted(self.leader).for_each(|pid| tell(pid, signal));
    }

    /// Whether nothing of the family runs: the leader has ended, and there is no other child.
    /// What the leader left has no other parent than us.
    fn is_alone(self) -> bool {
        let others = || {
            adopted(self.leader).filter(|pid| {
                let reaped = waitpid(*pid, Some(WaitPidFlag::WNOHANG));
                !matches!(reaped, Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)))
            })
        };
        self.leader_ended() && others().next().is_none()
    }

    fn leader_ended(self) -> bool {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        !matches!(waitid(Id::Pid(self.leader), flags), Ok(WaitStatus::StillAlive))
    }

    fn reap(self) -> Fate {
        match waitpid(self.leader, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(_, code)) => Fate { code: Some(code), signal: None },
            Ok(WaitStatus::Signaled(_, signal, _)) => {
                Fate { code: None, signal: Some(signal as i32) }
            }
            _ => Fate { code: None, signal: None },
        }
    }
}

/// A child of ours: it may have ended, but its number is its own until it is reaped.
fn tell(pid: Pid, signal: Signal) {
    let _ = kill(pid, signal);
}

/// Our children but the leader: what was adopted.
fn adopted(leader: Pid) -> impl Iterator<Item = Pid> {
    let own = std::process::id();
    let list = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    let pids: Vec<Pid> =
        list.split_whitespace().filter_map(|pid| pid.parse().ok()).map(Pid::from_raw).collect();
    pids.into_iter().filter(move |pid| *pid != leader)
}

/// Waits for a child's end; a grandchild's shows only when it is adopted, hence the short step.
fn rest(woken: &mut UnixStream, due: Duration) {
    use std::os::fd::AsFd as _;
    let step = due.min(clock::monotonic() + Duration::from_millis(20));
    let _ = wait::until_readable(woken.as_fd(), step);
    empty(woken);
}

/// Reads the bytes that woke us.
pub fn empty(woken: &mut UnixStream) {
    let mut bytes = [0; 256];
    while matches!(io::Read::read(woken, &mut bytes), Ok(n) if n == bytes.len()) {}
}

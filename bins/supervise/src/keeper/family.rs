//! The monitor and all that it started: reaped, and ended without a stranger being hit.
//!
//! A leader that nobody reaped keeps its number and its group, so both can be signalled by that, as
//! long as only this module reaps it. What left the group is the system's matter
//! ([`shared::process::Strays`]).

use std::{io, os::unix::net::UnixStream, time::Duration};

use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use shared::{
    clock,
    process::{Identity, STEP, Strays},
    wait,
};

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
#[derive(Debug, Clone)]
pub struct Family {
    leader: Option<Pid>,
    strays: Strays,
}

impl Family {
    /// The family of `leader`, our child, which leads its own process group, in the run
    /// `instance`.
    #[must_use]
    pub fn new(leader: &Identity, instance: &str) -> Self {
        let number = i32::try_from(leader.pid).ok().and_then(Pid::from_raw);
        Self { leader: number, strays: Strays::of(leader, instance) }
    }

    /// Reaps what was adopted, and says whether the leader has ended. The leader stays unreaped,
    /// so that its number stays its own.
    #[must_use]
    pub fn leader_has_ended(&mut self) -> bool {
        self.strays.reap();
        let Some(leader) = self.leader else { return true };
        let flags = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(leader), flags), Ok(None))
    }

    /// Ends the family: TERM, then KILL to what is left after `grace`, which may be shortened until
    /// then. `meanwhile` is called whenever something may have been printed; `woken` is readable
    /// when a child has ended.
    pub fn end(
        &mut self,
        grace: impl Fn() -> Duration,
        woken: &UnixStream,
        mut meanwhile: impl FnMut(),
    ) -> Fate {
        let begun = clock::monotonic();
        self.signal(Signal::TERM);
        while !self.is_gone() && clock::monotonic() < begun + grace() {
            rest(woken, begun + grace());
            meanwhile();
            // One that was lost since is asked too.
            self.strays.signal(Signal::TERM);
        }
        let due = clock::monotonic() + LAST_WAIT;
        while !self.is_gone() && clock::monotonic() < due {
            self.signal(Signal::KILL);
            rest(woken, due);
            meanwhile();
        }
        meanwhile();
        self.reap()
    }

    /// The leader's group, and those that left it. These are found first: with its leader gone, a
    /// family is harder to see.
    fn signal(&mut self, signal: Signal) {
        self.strays.signal(signal);
        if let Some(leader) = self.leader {
            let _ = kill_process_group(leader, signal);
        }
    }

    /// Whether nothing of the family runs.
    fn is_gone(&mut self) -> bool {
        self.leader_has_ended() && self.strays.are_gone()
    }

    fn reap(&self) -> Fate {
        let leader = self.leader.map(|pid| nix::unistd::Pid::from_raw(pid.as_raw_pid()));
        match leader.map(|leader| waitpid(leader, Some(WaitPidFlag::WNOHANG))) {
            Some(Ok(WaitStatus::Exited(_, code))) => Fate { code: Some(code), signal: None },
            Some(Ok(WaitStatus::Signaled(_, signal, _))) => {
                Fate { code: None, signal: Some(signal as i32) }
            }
            _ => Fate { code: None, signal: None },
        }
    }
}

/// Waits for a child's end; a grandchild's shows only when it is looked for, hence the short step.
fn rest(woken: &UnixStream, due: Duration) {
    use std::os::fd::AsFd as _;
    let step = due.min(clock::monotonic() + STEP);
    let _ = wait::until_readable(woken.as_fd(), step);
    empty(woken);
}

/// Reads the bytes that woke us.
pub fn empty(mut woken: &UnixStream) {
    let mut bytes = [0; 256];
    while matches!(io::Read::read(&mut woken, &mut bytes), Ok(n) if n == bytes.len()) {}
}

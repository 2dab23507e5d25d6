//! The ends of the panes' processes and of the server's: a descriptor on each.

use std::{
    collections::{BTreeMap, BTreeSet},
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    time::Duration,
};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use shared::process;

/// When a server is asked again that still lists a process as alive whose end is known.
const AFTER_MS: [u64; 4] = [10, 25, 100, 400];

/// All that are held.
#[derive(Debug, Default)]
pub struct Ends {
    alive: BTreeMap<u32, OwnedFd>,
    over: BTreeMap<u32, Duration>,
}

impl Ends {
    /// Holds the processes `wanted`, and no others. What can't be held the sweep has to find.
    pub fn hold(&mut self, wanted: &BTreeSet<u32>) {
        self.alive.retain(|pid, _| wanted.contains(pid));
        self.over.retain(|pid, _| wanted.contains(pid));
        for pid in wanted.iter().filter(|pid| !self.over.contains_key(pid)) {
            if !self.alive.contains_key(pid)
                && let Ok(end) = process::end_of(*pid)
            {
                self.alive.insert(*pid, end);
            }
        }
    }

    /// Notes which have ended. `t` is now on the monotonic clock.
    pub fn note(&mut self, t: Duration) {
        let mut fds: Vec<PollFd<'_>> =
            self.alive.values().map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN)).collect();
        if !poll(&mut fds, PollTimeout::ZERO).is_ok_and(|hits| hits > 0) {
            return;
        }
        let hits: Vec<bool> = fds.iter().map(|fd| fd.any().unwrap_or(false)).collect();
        let ended: Vec<u32> =
            self.alive.keys().zip(hits).filter_map(|(pid, hit)| hit.then_some(*pid)).collect();
        for pid in ended {
            self.alive.remove(&pid);
            self.over.insert(pid, t);
        }
    }

    /// What becomes readable at an end.
    pub fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.alive.values().map(|fd| fd.as_fd())
    }

    /// When the server is to be asked again after `t`, while it lists what has ended.
    #[must_use]
    pub fn due(&self, t: Duration) -> Option<Duration> {
        self.over.values().map(|ended| after(*ended, t)).min()
    }
}

/// The next look after `t` for what ended at `ended`: soon, then ever later, since a server can
/// lose an end for good (tmux 3.3a with libutempter) and list a zombie as alive.
fn after(ended: Duration, t: Duration) -> Duration {
    let mut steps = AFTER_MS.map(Duration::from_millis).into_iter();
    let mut step = Duration::ZERO;
    while ended + step <= t {
        step = steps.next().unwrap_or(step * 2);
    }
    ended + step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_soon_and_then_ever_later() {
        let ms = Duration::from_millis;
        for (t, next) in [
            (1000, 1010),
            (1009, 1010),
            (1010, 1025),
            (1060, 1100),
            (1100, 1400),
            (1400, 1800),
            (1800, 2600),
            (9000, 13_800),
        ] {
            assert_eq!(after(ms(1000), ms(t)), ms(next), "{t}");
        }
    }

    #[test]
    fn an_end_is_noted_once_and_forgotten_with_its_process() {
        let mut child = ::tests::command("sleep").arg("1000").spawn().unwrap();
        let (pid, t) = (child.id(), Duration::from_secs(5));
        let mut ends = Ends::default();
        ends.hold(&[pid].into());
        ends.note(t);
        assert_eq!((ends.fds().count(), ends.due(t)), (1, None));
        child.kill().unwrap();
        child.wait().unwrap();
        ::tests::eventually("its end is noted", || {
            ends.note(t);
            ends.fds().count() == 0
        });
        assert_eq!(ends.due(t), Some(t + Duration::from_millis(10)));
        ends.hold(&[pid].into());
        assert_eq!(ends.fds().count(), 0);
        ends.hold(&BTreeSet::new());
        assert_eq!(ends.due(t), None);
    }
}

//! When to look though nothing is known to have changed. Pure.

use std::time::Duration;

/// On how many sweeps everything is read again, whatever the stamps say.
const FULL: u32 = 6;
/// The floor sweep where the kernel doesn't tell of what others change.
const REMOTE: Duration = Duration::from_secs(2);

/// The floor sweep. Times are on the monotonic clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sweep {
    interval: Option<Duration>,
    due: Option<Duration>,
    count: u32,
    full: bool,
    remote: bool,
}

impl Default for Sweep {
    /// No sweep, and the first look reads everything.
    fn default() -> Self {
        Self { interval: None, due: None, count: 0, full: true, remote: false }
    }
}

impl Sweep {
    /// Sweeps every `interval` from `now` on.
    pub(crate) fn every(&mut self, interval: Duration, now: Duration) {
        self.interval = Some(interval);
        self.due = Some(now + self.pause(interval));
    }

    /// What is watched lies on a file system that others change. True the first time.
    pub(crate) fn is_remote(&mut self, now: Duration) -> bool {
        self.due = self.due.map(|due| due.min(now + REMOTE));
        !std::mem::replace(&mut self.remote, true)
    }

    /// When the next one is due.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.due
    }

    /// Whether the next look is to read everything.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// A look read what it was to read.
    pub(crate) fn looked(&mut self) {
        self.full = false;
    }

    /// Whether one is due; the next is then planned.
    pub(crate) fn passes(&mut self, now: Duration) -> bool {
        let Some(interval) = self.interval.filter(|_| self.due.is_some_and(|due| due <= now))
        else {
            return false;
        };
        self.due = Some(now + self.pause(interval));
        self.count = self.count.wrapping_add(1);
        self.full |= self.count.is_multiple_of(FULL);
        true
    }

    fn pause(&self, interval: Duration) -> Duration {
        if self.remote { interval.min(REMOTE) } else { interval }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn every_sixth_sweep_reads_everything() {
        let mut sweep = Sweep::default();
        assert!(sweep.is_full());
        sweep.every(seconds(10), seconds(0));
        let mut full = Vec::new();
        for n in 1..=12 {
            sweep.looked();
            assert!(!sweep.passes(seconds(10 * n - 1)));
            assert!(sweep.passes(seconds(10 * n)));
            full.extend(sweep.is_full().then_some(n));
        }
        assert_eq!(full, [6, 12]);
    }

    #[test]
    fn a_remote_folder_is_swept_every_two_seconds() {
        let mut sweep = Sweep::default();
        sweep.every(seconds(60), seconds(0));
        assert!(sweep.is_remote(seconds(1)) && !sweep.is_remote(seconds(1)));
        assert!(sweep.passes(seconds(3)));
        assert_eq!(sweep.due(), Some(seconds(5)));
    }
}

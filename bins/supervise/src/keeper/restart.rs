//! When a monitor that died is started again. Pure.

use std::{collections::VecDeque, time::Duration};

/// Deaths older than this are forgotten.
const WINDOW: Duration = Duration::from_hours(1);
/// The first wait, and the longest.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_mins(1);

/// Remembers deaths.
#[derive(Debug, Clone, Default)]
pub struct Restarts {
    allowed: u32,
    deaths: VecDeque<Duration>,
}

impl Restarts {
    /// At most `allowed` within an hour; 0 is never.
    #[must_use]
    pub fn new(allowed: u32) -> Self {
        Self { allowed, deaths: VecDeque::new() }
    }

    /// It died at `now` (on the monotonic clock): how long to wait before the next start, or
    /// `None` to give up. The wait doubles with each death that is remembered.
    pub fn died(&mut self, now: Duration) -> Option<Duration> {
        while self.deaths.front().is_some_and(|at| *at + WINDOW <= now) {
            self.deaths.pop_front();
        }
        let before = u32::try_from(self.deaths.len()).unwrap_or(u32::MAX);
        if before >= self.allowed {
            return None;
        }
        self.deaths.push_back(now);
        Some(FIRST.saturating_mul(1 << before.min(6)).min(LONGEST))
    }

    /// Whether it was ever meant to be started again.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.allowed > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn the_wait_doubles_up_to_a_minute_and_then_it_gives_up() {
        let mut restarts = Restarts::new(8);
        let waits: Vec<Option<Duration>> = (0..9).map(|n| restarts.died(seconds(n))).collect();
        let want = [1, 2, 4, 8, 16, 32, 60, 60].map(|n| Some(seconds(n)));
        assert_eq!((&waits[..8], waits[8]), (&want[..], None));
    }

    #[test]
    fn an_hour_later_all_is_forgotten() {
        let mut restarts = Restarts::new(1);
        assert_eq!(restarts.died(seconds(10)), Some(seconds(1)));
        assert_eq!(restarts.died(seconds(3609)), None);
        assert_eq!(restarts.died(seconds(3610)), Some(seconds(1)));
    }

    #[test]
    fn none_is_none() {
        assert_eq!(Restarts::new(0).died(seconds(1)), None);
    }
}

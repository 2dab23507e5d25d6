//! The time that the engine is told: the wall time at the start and what has passed since, so
//! that nobody who sets the clock moves a deadline.

use std::time::Duration;

use shared::clock::Now;

use crate::decide::Ms;

/// The engine's time.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    wall: Ms,
    started: Duration,
}

impl Clock {
    /// Begins at `now`.
    #[must_use]
    pub fn new(now: &Now) -> Self {
        let wall = u64::try_from(now.wall.as_millisecond()).unwrap_or(0);
        Self { wall, started: now.monotonic }
    }

    /// Whole milliseconds since 1970.
    #[must_use]
    pub fn ms(&self, now: &Now) -> Ms {
        let passed = now.monotonic.saturating_sub(self.started).as_millis();
        self.wall.saturating_add(Ms::try_from(passed).unwrap_or(Ms::MAX))
    }

    /// When it is `at`, on the monotonic clock. Rounded up: nobody wakes too early.
    #[must_use]
    pub fn monotonic(&self, at: Ms) -> Duration {
        self.started.saturating_add(Duration::from_millis(at.saturating_sub(self.wall)))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn now(wall_s: i64, monotonic_ms: u64) -> Now {
        let monotonic = Duration::from_millis(monotonic_ms);
        Now { wall: Timestamp::from_second(wall_s).unwrap(), boot: monotonic, monotonic }
    }

    #[test]
    fn a_step_of_the_clock_moves_nothing() {
        let clock = Clock::new(&now(1000, 5000));
        assert_eq!(clock.ms(&now(1000, 5000)), 1_000_000);
        assert_eq!(clock.ms(&now(0, 6500)), 1_001_500);
        assert_eq!(clock.monotonic(1_001_500), Duration::from_millis(6500));
        assert_eq!(clock.monotonic(0), Duration::from_secs(5));
    }
}

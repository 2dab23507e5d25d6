//! The only place that reads the time.

use std::time::Duration;

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};

use crate::process::BOOT;

/// One reading of the three clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Wall time, to the nanosecond: what is said. It can be set, in both directions.
    pub wall: Timestamp,
    /// Time since boot that counts suspends: what has passed in the world.
    pub boot: Duration,
    /// Time since boot without suspends: what is waited for.
    pub monotonic: Duration,
}

impl Now {
    /// Wall time cut to the second, so that every line's `timestamp` has the same width.
    #[must_use]
    pub fn timestamp(&self) -> Timestamp {
        let cut = i64::try_from(self.wall.as_nanosecond().div_euclid(1_000_000_000));
        cut.ok().and_then(|second| Timestamp::from_second(second).ok()).unwrap_or(self.wall)
    }
}

/// Reads the clocks.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one clock")]
pub fn now() -> Now {
    Now { wall: Timestamp::now(), boot: read(BOOT), monotonic: monotonic() }
}

/// Time since boot without suspends: the base of every deadline.
#[must_use]
pub fn monotonic() -> Duration {
    read(ClockId::Monotonic)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

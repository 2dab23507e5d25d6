//! Whether time passed as planned: suspends, steps of the clock, stopped processes.

use std::time::Duration;

use shared::clock::Now;

/// A stretch of wall time in which nobody could be expected to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// When it began, in nanoseconds since 1970.
    pub from: i128,
    /// When it ended. Before `from` if the clock was set back.
    pub to: i128,
    /// Until when, on the monotonic clock, what became due in it is held back.
    pub until: Duration,
}

/// The clocks at the last pass, and what to make of those at this one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clocks {
    last: Option<Last>,
    gap: Option<Gap>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Last {
    now: Now,
    planned: Duration,
}

impl Clocks {
    /// A pass begins. Only clocks say that a machine slept: notices of it come late or never.
    pub fn pass(&mut self, poll_interval: Duration, now: &Now) {
        let Some(last) = self.last else { return };
        let limit = (poll_interval * 2).clamp(Duration::from_secs(2), Duration::from_mins(2));
        let boot = now.boot.saturating_sub(last.now.boot);
        let monotonic = now.monotonic.saturating_sub(last.now.monotonic);
        let wall = wall_ns(now) - wall_ns(&last.now);
        let step = wall.saturating_sub_unsigned(boot.as_nanos()).unsigned_abs();
        let slept = boot.saturating_sub(monotonic) > limit;
        let stopped = now.monotonic.saturating_sub(last.planned) > limit;
        if slept || stopped || step > limit.as_nanos() {
            let (from, to) = (wall_ns(&last.now), wall_ns(now));
            let until = now.monotonic + poll_interval.min(Duration::from_mins(1));
            let earlier = self.gap.unwrap_or(Gap { from, to, until });
            self.gap = Some(Gap { from: from.min(earlier.from), to: to.max(earlier.to), until });
        }
    }

    /// The gap since this was asked last.
    pub fn take_gap(&mut self) -> Option<Gap> {
        self.gap.take()
    }

    /// A pass ends; the next is planned for `due` at the latest, on the monotonic clock.
    pub fn plan(&mut self, due: Duration, now: &Now) {
        self.last = Some(Last { now: *now, planned: due });
    }
}

/// Wall time in nanoseconds since 1970.
#[must_use]
pub fn wall_ns(now: &Now) -> i128 {
    now.wall.as_nanosecond()
}

//! When a lease is near its end, and when it has passed it.

use std::time::Duration;

use crate::{event::Severity, lease::End};

const SECOND_NS: i128 = 1_000_000_000;

/// What the flags say about judging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// A lease with less time left is near its end.
    pub warn_before: Duration,
    /// How long after its end a lease is only near its end still.
    pub grace: Duration,
    /// The floor sweep.
    pub poll_interval: Duration,
    /// Tell a lease that moved and is near its end still.
    pub emit_renewals: bool,
    /// Tell recoveries.
    pub tell_recovered: bool,
    /// Wait a while before calling what is missing missing.
    pub patient: bool,
}

/// The two moments that count in the life of a lease, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    warns_at: i128,
    expires_at: i128,
}

impl Rules {
    /// The window of a lease that ends at `end`. Both lease and present count in whole seconds: a
    /// second after its end a lease has -1 seconds left, and has passed it.
    #[must_use]
    pub fn window(&self, end: End) -> Window {
        let end = i128::from(end.second) * SECOND_NS;
        let whole_seconds = nanos(self.warn_before).div_euclid(SECOND_NS)
            + i128::from(self.warn_before.subsec_nanos() > 0);
        Window {
            warns_at: end - (whole_seconds - 1) * SECOND_NS,
            expires_at: end + SECOND_NS + nanos(self.grace),
        }
    }
}

impl Window {
    /// How near the end is at `wall`; `None` is healthy.
    #[must_use]
    pub fn severity(&self, wall: i128) -> Option<Severity> {
        if wall >= self.expires_at {
            Some(Severity::Expired)
        } else {
            (wall >= self.warns_at).then_some(Severity::Warning)
        }
    }

    /// How long it is from `wall` to the next change of severity.
    #[must_use]
    pub fn next(&self, wall: i128) -> Option<Duration> {
        let next = [self.warns_at, self.expires_at].into_iter().find(|at| wall < *at)?;
        u64::try_from(next - wall).ok().map(Duration::from_nanos)
    }

    /// Whether the severity changed after `from` and not after `to`.
    #[must_use]
    pub fn changed_within(&self, from: i128, to: i128) -> bool {
        [self.warns_at, self.expires_at].iter().any(|at| from < *at && *at <= to)
    }
}

/// Whole seconds from `wall` to `end`.
#[must_use]
pub fn remaining_seconds(end: End, wall: i128) -> i64 {
    end.second.saturating_sub(i64::try_from(wall.div_euclid(SECOND_NS)).unwrap_or(i64::MAX))
}

fn nanos(span: Duration) -> i128 {
    i128::try_from(span.as_nanos()).unwrap_or(i128::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        warn_before: Duration::from_mins(10),
        grace: Duration::ZERO,
        poll_interval: Duration::from_mins(1),
        emit_renewals: false,
        tell_recovered: true,
        patient: true,
    };

    fn end(second: i64) -> End {
        End { second, naive: false }
    }

    fn at(seconds: f64) -> i128 {
        #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
        let millis = (seconds * 1000.0) as i128;
        millis * 1_000_000
    }

    #[test]
    fn h02_the_boundaries_lie_at_whole_seconds() {
        let window = RULES.window(end(1000));
        for (wall, severity, remaining) in [
            (400.0, None, 600),
            (400.999, None, 600),
            (401.0, Some(Severity::Warning), 599),
            (1000.999, Some(Severity::Warning), 0),
            (1001.0, Some(Severity::Expired), -1),
        ] {
            assert_eq!(window.severity(at(wall)), severity, "{wall}");
            assert_eq!(remaining_seconds(end(1000), at(wall)), remaining, "{wall}");
        }
        assert_eq!(window.next(at(400.25)), Some(Duration::from_millis(750)));
        assert_eq!(window.next(at(401.0)), Some(Duration::from_mins(10)));
        assert_eq!(window.next(at(1001.0)), None);
    }

    #[test]
    fn parts_of_a_second_count() {
        let grace = Rules { grace: Duration::from_millis(1500), ..RULES }.window(end(1000));
        assert_eq!(grace.severity(at(1002.499)), Some(Severity::Warning));
        assert_eq!(grace.severity(at(1002.5)), Some(Severity::Expired));
        // 998.0 has 2 seconds left, which is not below 1.5.
        let short = Rules { warn_before: Duration::from_millis(1500), ..RULES }.window(end(1000));
        assert_eq!(short.severity(at(998.999)), None);
        assert_eq!(short.severity(at(999.0)), Some(Severity::Warning));
    }

    #[test]
    fn the_last_and_the_first_year_are_far_away() {
        let never = RULES.window(end(253_402_300_799));
        assert_eq!(never.severity(at(1.0e9)), None);
        assert_eq!(RULES.window(end(-62_135_596_800)).severity(at(0.0)), Some(Severity::Expired));
    }

    #[test]
    fn a_change_lies_within_when_it_is_new() {
        let window = RULES.window(end(1000));
        assert!(window.changed_within(at(400.0), at(401.0)));
        assert!(!window.changed_within(at(401.0), at(402.0)));
        assert!(window.changed_within(at(402.0), at(5000.0)));
        assert!(!window.changed_within(at(5000.0), at(402.0)));
    }
}

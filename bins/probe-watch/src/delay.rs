//! How long a subject rests between two looks. Pure.

use std::time::Duration;

/// What the first failure in a row costs.
const FIRST: Duration = Duration::from_secs(15);
/// So many failures in a row are tried again sooner than the cadence; more make it slower.
const HASTY: u32 = 5;

/// The pause from the end of a look to the beginning of the next, after `failures` failed looks
/// in a row at a cadence of `interval`.
#[must_use]
pub fn after(failures: u32, interval: Duration, most: Duration) -> Duration {
    let doubled = |span: Duration, times: u32| {
        span.saturating_mul(1_u32.checked_shl(times).filter(|_| times < 32).unwrap_or(u32::MAX))
    };
    match failures {
        0 => interval,
        1..=HASTY => doubled(FIRST, failures - 1).min(interval),
        _ => doubled(interval, failures - HASTY).min(most),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOST: Duration = Duration::from_hours(6);

    fn seconds(interval: u64, failures: impl Iterator<Item = u32>) -> Vec<u64> {
        let interval = Duration::from_secs(interval);
        failures.map(|failures| after(failures, interval, MOST).as_secs()).collect()
    }

    #[test]
    fn failures_are_hasty_at_first_and_slow_later() {
        let want = [300, 15, 30, 60, 120, 240, 600, 1200, 2400, 4800, 9600, 19200, 21600, 21600];
        assert_eq!(seconds(300, 0..14), want);
    }

    #[test]
    fn e07_delays_count_from_the_end_of_a_look() {
        let pauses = seconds(60, 1..=2);
        assert_eq!([120 + pauses[0], 135 + pauses[1]], [135, 165]);
    }

    proptest! {
        #[test]
        fn a_pause_is_never_longer_than_the_limits(failures: u32, interval in 1_u64..=86_400) {
            let pause = after(failures, Duration::from_secs(interval), MOST);
            let most = MOST.max(Duration::from_secs(interval));
            prop_assert!(pause > Duration::ZERO && pause <= most);
        }
    }
}

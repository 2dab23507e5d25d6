//! When to ask next. Pure.

use std::time::Duration;

use jiff::Timestamp;

use super::class::{Class, Trouble};
use crate::{clock::Now, cooldown};

/// The first wait after a failure, unless the interval is shorter.
const FIRST: Duration = Duration::from_secs(15);
/// The longest wait is so many times the first.
const CEILING: u32 = 20;

/// The interval at which one thing is asked for, stretched while that fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pace {
    interval: Duration,
    failures: u32,
}

impl Pace {
    /// Asks every `interval`.
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        Self { interval, failures: 0 }
    }

    /// The wait after a look that saw.
    pub fn seen(&mut self) -> Duration {
        self.failures = 0;
        self.interval
    }

    /// The wait after a look that failed: until the time that was named; else 15 s, then twice as
    /// long each time, up to 300 s. What only a person can mend waits the longest at once.
    pub fn failed(&mut self, trouble: &Trouble, now: &Now) -> Duration {
        self.failures = self.failures.saturating_add(1);
        if let Some(at) = trouble.retry_at {
            return until(at, now);
        }
        let first = FIRST.min(self.interval);
        let ceiling = first * CEILING;
        if matches!(trouble.class, Class::Authentication | Class::Authorization) {
            return ceiling;
        }
        let doubled = first.saturating_mul(1 << (self.failures - 1).min(16)).min(ceiling);
        let tenth = doubled / 10;
        (doubled.saturating_sub(tenth) + scatter(tenth * 2, now)).clamp(first, ceiling)
    }

    /// The wait for the end of a cooldown, which says nothing of how a look would have gone.
    #[must_use]
    pub fn cooling(&self, until_when: Timestamp, now: &Now) -> Duration {
        until(until_when, now)
    }
}

/// The time to `at`, an hour at most, and a little more, so that not everybody asks at once.
fn until(at: Timestamp, now: &Now) -> Duration {
    let wait = Duration::try_from(at.duration_since(now.wall)).unwrap_or_default();
    let wait = wait.min(cooldown::LONGEST);
    wait + scatter((wait / 8).min(Duration::from_secs(5)), now)
}

/// Some part of `most`, by the fraction of the present second: many programs that fail together
/// don't do so in the same microsecond.
fn scatter(most: Duration, now: &Now) -> Duration {
    let nanos = u64::from(now.wall.subsec_nanosecond().unsigned_abs()) % 1_000_003;
    most.mul_f64(f64::from(u32::try_from(nanos).unwrap_or(0)) / 1_000_003.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    fn trouble(class: Class, retry_at: Option<Timestamp>) -> Trouble {
        Trouble { class, detail: String::new(), retry_at }
    }

    #[test]
    fn failures_double_the_wait_from_15_s_to_300_s() {
        let now = clock::now();
        let mut pace = Pace::new(Duration::from_secs(30));
        let waits: Vec<f64> = (0..7)
            .map(|_| pace.failed(&trouble(Class::Transient, None), &now).as_secs_f64())
            .collect();
        for (wait, want) in waits.iter().zip([15.0, 30.0, 60.0, 120.0, 240.0, 300.0, 300.0]) {
            assert!(
                (wait - want).abs() <= want / 10.0 && (15.0..=300.0).contains(wait),
                "{waits:?}"
            );
        }
        assert_eq!(pace.seen(), Duration::from_secs(30));
        assert!(pace.failed(&trouble(Class::NotFound, None), &now) < Duration::from_secs(17));
    }

    #[test]
    fn a_short_interval_shortens_the_first_wait() {
        let mut pace = Pace::new(Duration::from_secs(1));
        let wait = pace.failed(&trouble(Class::Transient, None), &clock::now());
        assert!((1.0..1.2).contains(&wait.as_secs_f64()), "{wait:?}");
    }

    #[test]
    fn what_a_person_has_to_mend_waits_the_longest_at_once() {
        for class in [Class::Authentication, Class::Authorization] {
            let mut pace = Pace::new(Duration::from_mins(1));
            assert_eq!(pace.failed(&trouble(class, None), &clock::now()), Duration::from_mins(5));
        }
    }

    #[test]
    fn a_time_that_was_named_is_kept_to_and_never_beyond_an_hour() {
        let now = clock::now();
        let at = |seconds: u64| now.wall.checked_add(Duration::from_secs(seconds)).unwrap();
        let mut pace = Pace::new(Duration::from_secs(30));
        let limited = pace.failed(&trouble(Class::RateLimited, Some(at(60))), &now);
        assert!((60.0..=65.0).contains(&limited.as_secs_f64()), "{limited:?}");
        assert!((60.0..=65.0).contains(&pace.cooling(at(60), &now).as_secs_f64()));
        assert!(pace.cooling(at(90_000), &now) <= Duration::from_secs(3605));
        let past = now.wall.checked_sub(Duration::from_secs(9)).unwrap();
        assert_eq!(pace.cooling(past, &now), Duration::ZERO);
    }
}

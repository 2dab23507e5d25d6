//! The malformed lines of a run: the first is told at once, then at most once a minute, and at
//! the end.

use std::time::Duration;

use crate::{
    event::{InputMalformed, Notice},
    head::Fault,
};

/// How long nothing is said after something was.
const QUIET: Duration = Duration::from_mins(1);

/// Counts them.
#[derive(Debug, Default)]
pub struct Malformed {
    untold: Option<InputMalformed>,
    quiet_until: Option<Duration>,
}

impl Malformed {
    /// Counts one.
    pub fn add(&mut self, reason: Fault, line: u64) {
        self.untold.get_or_insert(InputMalformed { reason, count: 0, line }).count += 1;
    }

    /// When there is something to say, on the monotonic clock.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        self.untold.map(|_| self.quiet_until.unwrap_or_default())
    }

    /// What is to be said `now`.
    pub fn notice(&mut self, now: Duration) -> Option<Notice> {
        if self.due()? > now {
            return None;
        }
        self.quiet_until = Some(now + QUIET);
        self.rest()
    }

    /// What was not said yet, at the end.
    pub fn rest(&mut self) -> Option<Notice> {
        self.untold.take().map(Notice::InputMalformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_told_at_once_then_once_a_minute_and_the_rest_at_the_end() {
        let second = Duration::from_secs;
        let mut malformed = Malformed::default();
        assert_eq!((malformed.due(), malformed.notice(second(5))), (None, None));
        malformed.add(Fault::NotJson, 3);
        let told = |reason, count, line| {
            Some(Notice::InputMalformed(InputMalformed { reason, count, line }))
        };
        assert_eq!(malformed.notice(second(5)), told(Fault::NotJson, 1, 3));
        malformed.add(Fault::TooLong, 4);
        malformed.add(Fault::Nul, 9);
        assert_eq!(malformed.due(), Some(second(65)));
        assert_eq!(malformed.notice(second(64)), None);
        assert_eq!(malformed.notice(second(65)), told(Fault::TooLong, 2, 4));
        malformed.add(Fault::NotObject, 12);
        assert_eq!(malformed.rest(), told(Fault::NotObject, 1, 12));
        assert_eq!(malformed.rest(), None);
    }
}

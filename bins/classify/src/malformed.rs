//! Lines that are no events: why, how many, and when to say so.

use std::time::Duration;

use serde::Serialize;
use shared::line::{Condition, Event, Mark, mark};

use crate::json;

/// How long nothing is said after something was.
const QUIET: Duration = Duration::from_mins(1);

/// Why a line is no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is no JSON value.
    NotJson,
    /// It is a JSON value of another type.
    NotObject,
    /// It isn't UTF-8.
    NotUtf8,
    /// It holds a NUL.
    Nul,
    /// It is longer than `--max-line` allows.
    TooLong,
}

/// Why `line`, which is no JSON object, isn't one. A line with several faults has the first of
/// `not_utf8`, `nul`, the others.
#[must_use]
pub fn reason(line: &[u8]) -> Reason {
    if str::from_utf8(line).is_err() {
        Reason::NotUtf8
    } else if line.contains(&0) {
        Reason::Nul
    } else if json::is_value(line) {
        Reason::NotObject
    } else {
        Reason::NotJson
    }
}

/// What the program says itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Notice {
    /// Lines were dropped.
    InputMalformed(InputMalformed),
}

/// `input_malformed`: lines were dropped because they are no JSON objects. The first is told at
/// once, then at most once a minute, and at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct InputMalformed {
    /// Why the first of them was.
    pub reason: Reason,
    /// How many since the last notice.
    pub count: u64,
    /// The number of the first of them, from 1.
    pub line: u64,
}

impl Event for Notice {
    fn mark(&self) -> Mark {
        let Self::InputMalformed(InputMalformed { count, line, .. }) = self;
        mark("input:malformed", Condition::Once, &[&line.to_string(), &count.to_string()])
    }
}

/// The malformed lines of a run.
#[derive(Debug, Default)]
pub struct Malformed {
    untold: Option<InputMalformed>,
    quiet_until: Option<Duration>,
}

impl Malformed {
    /// Counts one.
    pub fn add(&mut self, reason: Reason, line: u64) {
        self.untold.get_or_insert(InputMalformed { reason, count: 0, line }).count += 1;
    }

    /// Whether one was counted, told or not.
    #[must_use]
    pub fn any(&self) -> bool {
        self.untold.is_some() || self.quiet_until.is_some()
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

    fn told(notice: Option<Notice>) -> Option<(Reason, u64, u64)> {
        notice.map(|Notice::InputMalformed(told)| (told.reason, told.count, told.line))
    }

    #[test]
    fn a_line_has_its_first_fault() {
        for (line, want) in [
            (&b"{bad"[..], Reason::NotJson),
            (b"[1]", Reason::NotObject),
            (b"\"x\"", Reason::NotObject),
            (b" null ", Reason::NotObject),
            (b"[1] {}", Reason::NotJson),
            (b"{} {}", Reason::NotJson),
            (b"\xff", Reason::NotUtf8),
            (b"{\"a\":\"\xff\0\"}", Reason::NotUtf8),
            (b"\0", Reason::Nul),
            (b"{\"a\":\"\0\"}", Reason::Nul),
            (b"[\0]", Reason::Nul),
        ] {
            assert_eq!(reason(line), want, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn c06_the_first_is_told_at_once_then_once_a_minute_and_the_rest_at_the_end() {
        let second = Duration::from_secs;
        let mut malformed = Malformed::default();
        assert_eq!((malformed.due(), malformed.any()), (None, false));
        assert_eq!(malformed.notice(second(1)), None);

        malformed.add(Reason::NotJson, 2);
        assert_eq!(told(malformed.notice(second(10))), Some((Reason::NotJson, 1, 2)));
        assert_eq!((malformed.due(), malformed.any()), (None, true));
        for line in 3..8 {
            malformed.add(if line == 3 { Reason::NotObject } else { Reason::Nul }, line);
            assert_eq!(malformed.notice(second(10)), None);
        }
        assert_eq!(malformed.due(), Some(second(70)));
        assert_eq!(malformed.notice(second(69)), None);
        assert_eq!(told(malformed.notice(second(70))), Some((Reason::NotObject, 5, 3)));

        // A minute without any: the next is told at once again.
        malformed.add(Reason::TooLong, 99);
        assert_eq!(malformed.due(), Some(second(130)));
        assert_eq!(told(malformed.notice(second(131))), Some((Reason::TooLong, 1, 99)));
        malformed.add(Reason::NotUtf8, 100);
        assert_eq!(told(malformed.rest()), Some((Reason::NotUtf8, 1, 100)));
        assert_eq!(malformed.rest(), None);
    }
}

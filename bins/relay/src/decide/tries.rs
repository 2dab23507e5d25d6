//! When to connect, and what is said of it.

use std::time::Duration;

use shared::{
    clock::Now,
    exit::{Error, Reason},
    health::{Health, Reasons},
};

use super::{Kind, Trouble};

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);
/// A connection that held this long was a good one: the next failure is a first one.
const GOOD: Duration = Duration::from_secs(30);

const UNREACHABLE: &str = "server_unreachable";
const UNAVAILABLE: &str = "stream_unavailable";
const NOT_STORED: &str = "not_stored";
const TAKEN: &str = "durable_taken";

/// The connections of a run: there is one, one is being made, or one is due.
#[derive(Debug, Default)]
pub struct Tries {
    reasons: Reasons,
    state: State,
    failed: u32,
    was_up: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Due(Duration),
    Trying,
    Up(Duration),
}

impl Default for State {
    fn default() -> Self {
        Self::Due(Duration::ZERO)
    }
}

impl Tries {
    /// Whether to connect now; then it is being done.
    pub fn begin(&mut self, now: Duration) -> bool {
        let due = self.due().is_some_and(|due| due <= now);
        if due {
            self.state = State::Trying;
        }
        due
    }

    /// When to connect, on the monotonic clock.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        if let State::Due(due) = self.state { Some(due) } else { None }
    }

    /// Whether there is a connection.
    #[must_use]
    pub fn is_up(&self) -> bool {
        matches!(self.state, State::Up(_))
    }

    /// Whether the last connection, or try, failed.
    #[must_use]
    pub fn is_down(&self) -> bool {
        !self.is_up() && self.failed > 0
    }

    /// There is a connection, and the stream answered.
    pub fn up(&mut self, now: &Now) -> Vec<Health> {
        self.state = State::Up(now.monotonic);
        self.was_up = true;
        self.recover(&[UNREACHABLE, UNAVAILABLE, TAKEN], now)
    }

    /// The stream does what it is there for: a line was stored, or messages came.
    pub fn proved(&mut self, now: &Now) -> Vec<Health> {
        self.failed = 0;
        self.recover(&[NOT_STORED], now)
    }

    /// The connection, or the try, ended with `trouble`. Chance is any number; it keeps the
    /// many clients of a server from coming back all at once.
    ///
    /// # Errors
    ///
    /// What another try won't mend.
    pub fn down(
        &mut self,
        trouble: &Trouble,
        chance: u64,
        now: &Now,
    ) -> Result<Option<Health>, Error> {
        let detail = &trouble.detail;
        let reason = match trouble.kind {
            Kind::Unauthorized => return Err(fatal(Reason::Missing, "not_authorized", detail)),
            Kind::NoStream => return Err(fatal(Reason::NotFound, "stream_missing", detail)),
            Kind::Unsuitable => return Err(fatal(Reason::Runtime, "unsuitable", detail)),
            Kind::Taken if !self.was_up => return Err(fatal(Reason::Runtime, TAKEN, detail)),
            Kind::TooLong => {
                self.state = State::Due(now.monotonic);
                return Ok(None);
            }
            Kind::Taken => TAKEN,
            Kind::Unreachable => UNREACHABLE,
            Kind::Unavailable => UNAVAILABLE,
            Kind::NotStored => NOT_STORED,
        };
        if let State::Up(since) = self.state
            && now.monotonic.saturating_sub(since) >= GOOD
        {
            self.failed = 0;
        }
        let delay = delay(self.failed, chance);
        self.failed = self.failed.saturating_add(1);
        self.state = State::Due(now.monotonic + delay);
        Ok(self.reasons.degrade(reason, detail, delay, now))
    }

    /// Something of ours doesn't work.
    pub fn degrade(
        &mut self,
        reason: &'static str,
        detail: &str,
        retry_in: Duration,
        now: &Now,
    ) -> Option<Health> {
        self.reasons.degrade(reason, detail, retry_in, now)
    }

    /// It works again.
    pub fn mend(&mut self, reason: &'static str, now: &Now) -> Option<Health> {
        self.reasons.recover(reason, now)
    }

    fn recover(&mut self, reasons: &[&'static str], now: &Now) -> Vec<Health> {
        reasons.iter().filter_map(|reason| self.reasons.recover(reason, now)).collect()
    }
}

fn fatal(reason: Reason, word: &'static str, detail: &str) -> Error {
    Error::new(reason, word, detail)
}

/// 1 s, doubled with each failure up to 30 s, of which chance leaves at least half.
fn delay(failed: u32, chance: u64) -> Duration {
    let whole = FIRST.saturating_mul(1 << failed.min(5)).min(LONGEST);
    let part = u32::try_from(chance % 1000).unwrap_or_default();
    whole / 2 + whole / 2 * part / 999
}

#[cfg(test)]
mod tests {
    use shared::clock;

    use super::*;

    fn at(seconds: u64) -> Now {
        let mut now = clock::now();
        (now.monotonic, now.boot) = (Duration::from_secs(seconds), Duration::from_secs(seconds));
        now
    }

    fn trouble(kind: Kind) -> Trouble {
        Trouble::new(kind, "unable to x")
    }

    #[test]
    fn the_delay_doubles_to_half_a_minute_and_chance_leaves_half() {
        for (failed, seconds) in [(0, 1), (1, 2), (4, 16), (5, 30), (6, 30), (u32::MAX, 30)] {
            let whole = Duration::from_secs(seconds);
            assert_eq!(delay(failed, 999), whole);
            assert_eq!(delay(failed, 1000), whole / 2);
        }
    }

    #[test]
    fn trouble_is_told_once_and_its_end_once() {
        let mut tries = Tries::default();
        assert!(tries.begin(Duration::ZERO) && !tries.begin(Duration::ZERO));
        let unreachable = trouble(Kind::Unreachable);
        assert!(tries.down(&unreachable, 999, &at(1)).unwrap().is_some());
        assert_eq!(tries.due(), Some(Duration::from_secs(2)));
        assert!(tries.is_down() && tries.begin(Duration::from_secs(2)));
        assert!(tries.down(&unreachable, 999, &at(2)).unwrap().is_none());
        assert_eq!(tries.due(), Some(Duration::from_secs(4)));
        assert_eq!(tries.up(&at(5)).len(), 1);
        assert_eq!(tries.up(&at(5)).len(), 0);
        assert!(tries.is_up() && !tries.is_down());
    }

    #[test]
    fn a_good_connection_or_a_stored_line_begins_the_delays_anew() {
        let mut tries = Tries::default();
        for _ in 0..5 {
            tries.down(&trouble(Kind::Unreachable), 999, &at(0)).unwrap();
        }
        tries.up(&at(100));
        tries.down(&trouble(Kind::Unreachable), 999, &at(110)).unwrap();
        assert_eq!(tries.due(), Some(Duration::from_secs(140)));
        tries.up(&at(200));
        tries.down(&trouble(Kind::Unreachable), 999, &at(230)).unwrap();
        assert_eq!(tries.due(), Some(Duration::from_secs(231)));
        tries.up(&at(300));
        tries.down(&trouble(Kind::NotStored), 999, &at(301)).unwrap();
        tries.up(&at(302));
        assert_eq!(tries.proved(&at(303)).len(), 1);
        tries.down(&trouble(Kind::NotStored), 999, &at(304)).unwrap();
        assert_eq!(tries.due(), Some(Duration::from_secs(305)));
    }

    #[test]
    fn what_another_try_does_not_mend_ends_the_run() {
        for (kind, reason) in [
            (Kind::Unauthorized, Reason::Missing),
            (Kind::NoStream, Reason::NotFound),
            (Kind::Unsuitable, Reason::Runtime),
            (Kind::Taken, Reason::Runtime),
        ] {
            let err = Tries::default().down(&trouble(kind), 0, &at(1)).unwrap_err();
            assert_eq!(err.reason(), reason, "{kind:?}");
        }
        // Our own connection of a moment ago may still count as a reader.
        let mut tries = Tries::default();
        tries.up(&at(1));
        assert!(tries.down(&trouble(Kind::Taken), 0, &at(2)).unwrap().is_some());
        assert!(tries.down(&trouble(Kind::TooLong), 0, &at(3)).unwrap().is_none());
        assert_eq!(tries.due(), Some(Duration::from_secs(3)));
    }
}

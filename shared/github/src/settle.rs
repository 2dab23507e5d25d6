//! Early rows alone are a false green: success waits until the set of rows has stood for a while.

use std::time::Duration;

use shared::clock::Now;

/// How long by default.
pub const USUAL: Duration = Duration::from_secs(20);
/// How many looks have to see the same set.
const LOOKS: u32 = 2;

/// Since when a set of rows has stood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settling {
    set: String,
    since: Duration,
    looks: u32,
}

impl Settling {
    /// A look saw `set` of `head`.
    pub fn saw(&mut self, head: &str, set: &str, now: &Now) {
        let set = format!("{head} {set}");
        if self.looks == 0 || self.set != set {
            *self = Self { set, since: now.monotonic, looks: 0 };
        }
        self.looks = self.looks.saturating_add(1);
    }

    /// Whether it has stood for `span`, and was seen twice; without a span it always has.
    #[must_use]
    pub fn is_settled(&self, span: Duration, now: &Now) -> bool {
        span.is_zero() || (self.looks >= LOOKS && now.monotonic >= self.since + span)
    }

    /// When that can be, on the monotonic clock.
    #[must_use]
    pub fn due(&self, span: Duration) -> Duration {
        self.since + span
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Now {
        Now { monotonic: Duration::from_secs(seconds), ..shared::clock::now() }
    }

    #[test]
    fn ci03_a_set_settles_after_20_s_and_two_looks() {
        let mut settling = Settling::default();
        settling.saw("h", "quick", &at(0));
        assert!(!settling.is_settled(USUAL, &at(0)) && settling.is_settled(Duration::ZERO, &at(0)));
        // More rows appear: it starts again.
        settling.saw("h", "all", &at(20));
        assert!(!settling.is_settled(USUAL, &at(20)));
        settling.saw("h", "all", &at(30));
        assert!(!settling.is_settled(USUAL, &at(30)));
        settling.saw("h", "all", &at(40));
        assert!(settling.is_settled(USUAL, &at(40)));
        // Another head starts again too.
        settling.saw("i", "all", &at(41));
        assert!(!settling.is_settled(USUAL, &at(41)));
    }

    #[test]
    fn one_look_is_not_enough_however_long_ago() {
        let mut settling = Settling::default();
        settling.saw("h", "all", &at(0));
        assert!(!settling.is_settled(USUAL, &at(900)));
        settling.saw("h", "all", &at(900));
        assert!(settling.is_settled(USUAL, &at(900)));
    }
}

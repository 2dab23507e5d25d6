//! Counts lines that did not pass, and says when that is told: the first at once, then at most
//! once a minute for each reason, and at the end.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    event::{FILE, SkipReason, TailSkipped},
    filter::Skip,
};

/// How long a reason is silent after it was told.
const SILENCE: Duration = Duration::from_mins(1);

/// What was counted, per reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skips(BTreeMap<SkipReason, Tally>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Tally {
    told: Duration,
    untold: Option<TailSkipped>,
}

impl Skips {
    /// Counts a line; the event, when that is to be told at once. `now` is on the monotonic clock.
    pub fn note(&mut self, skip: Skip, now: Duration) -> Option<TailSkipped> {
        let first = !self.0.contains_key(&skip.reason);
        let tally = self.0.entry(skip.reason).or_default();
        let untold = tally.untold.get_or_insert(TailSkipped {
            file: FILE,
            reason: skip.reason,
            count: 0,
            bytes: 0,
            first_offset: skip.offset,
        });
        untold.count += 1;
        untold.bytes = untold.bytes.saturating_add(skip.bytes);
        if first || now >= tally.told + SILENCE {
            tally.told = now;
            return tally.untold.take();
        }
        None
    }

    /// What is to be told by now.
    pub fn take_due(&mut self, now: Duration) -> Vec<TailSkipped> {
        let due = self.0.values_mut().filter(|tally| now >= tally.told + SILENCE);
        due.filter_map(|tally| {
            tally.told = if tally.untold.is_some() { now } else { tally.told };
            tally.untold.take()
        })
        .collect()
    }

    /// What was not told yet, at the end.
    pub fn take_all(&mut self) -> Vec<TailSkipped> {
        self.0.values_mut().filter_map(|tally| tally.untold.take()).collect()
    }

    /// When something is to be told, on the monotonic clock.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        let waiting = self.0.values().filter(|tally| tally.untold.is_some());
        waiting.map(|tally| tally.told + SILENCE).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(reason: SkipReason, offset: u64) -> Skip {
        Skip { reason, offset, bytes: 10 }
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn told(events: Vec<TailSkipped>) -> Vec<(SkipReason, u64, u64, u64)> {
        events
            .into_iter()
            .map(|event| (event.reason, event.count, event.bytes, event.first_offset))
            .collect()
    }

    #[test]
    fn the_first_is_told_at_once_then_once_a_minute_and_at_the_end() {
        use SkipReason::{Nul, TooLong};
        let mut skips = Skips::default();
        assert_eq!(skips.due(), None);
        assert_eq!(
            told(skips.note(skip(Nul, 5), seconds(1)).into_iter().collect()),
            [(Nul, 1, 10, 5)]
        );
        assert_eq!(skips.due(), None);
        assert_eq!(skips.note(skip(Nul, 20), seconds(2)), None);
        assert_eq!(skips.note(skip(Nul, 30), seconds(30)), None);
        assert_eq!(skips.due(), Some(seconds(61)));
        assert_eq!(
            told(skips.note(skip(TooLong, 40), seconds(30)).into_iter().collect()),
            [(TooLong, 1, 10, 40)]
        );
        assert_eq!(told(skips.take_due(seconds(60))), []);
        assert_eq!(told(skips.take_due(seconds(61))), [(Nul, 2, 20, 20)]);
        assert_eq!(skips.due(), None);
        assert_eq!(skips.note(skip(Nul, 50), seconds(62)), None);
        assert_eq!(
            told(skips.note(skip(Nul, 60), seconds(121)).into_iter().collect()),
            [(Nul, 2, 20, 50)]
        );
        assert_eq!(skips.note(skip(TooLong, 70), seconds(80)), None);
        assert_eq!(told(skips.take_all()), [(TooLong, 1, 10, 70)]);
        assert_eq!(told(skips.take_all()), []);
    }
}

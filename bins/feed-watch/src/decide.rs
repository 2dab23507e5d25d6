//! When a change is told: at the end of its burst. Pure.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use shared::clock::Now;

use crate::event::FeedUpdate;

/// A burst is told after this many times the quiet time, however it goes on.
const LONGEST: u32 = 5;

/// What tells one state of a feed from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Device and inode.
    pub file: (u64, u64),
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970 of the last change of the content.
    pub modified_ns: i64,
    /// The same of content, name or rights.
    pub changed_ns: i64,
}

/// What was seen of a feed: a version, or nothing.
pub type Seen = Option<Version>;

/// What is remembered of every feed: what was told, or was there at the start.
pub type Memory = BTreeMap<String, Seen>;

/// A change that waits for the end of its burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Burst {
    version: Version,
    first: Duration,
    last: Duration,
}

/// All feeds.
#[derive(Debug, Default)]
pub struct Feeds {
    memory: Memory,
    bursts: BTreeMap<String, Burst>,
}

impl Feeds {
    /// Goes on from what is remembered.
    #[must_use]
    pub fn new(memory: Memory) -> Self {
        Self { memory, bursts: BTreeMap::new() }
    }

    /// What outlives the process: what was told, and no burst.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Takes in what a look saw of the feed at `path`. The first look is the beginning; later a
    /// difference is told once it has been quiet for `quiet`.
    pub fn see(
        &mut self,
        path: &str,
        seen: Seen,
        quiet: Duration,
        now: &Now,
    ) -> Option<FeedUpdate> {
        let Some(known) = self.memory.get_mut(path) else {
            self.memory.insert(path.to_owned(), seen);
            return None;
        };
        let Some(version) = seen else {
            // Its going is silent, so that its return, in whatever state, is a change.
            *known = None;
            self.bursts.remove(path);
            return None;
        };
        if *known == Some(version) {
            self.bursts.remove(path);
            return None;
        }
        let t = now.monotonic;
        let burst =
            self.bursts.entry(path.to_owned()).or_insert(Burst { version, first: t, last: t });
        if burst.version != version {
            (burst.version, burst.last) = (version, t);
        }
        if t < end(burst, quiet) {
            return None;
        }
        self.bursts.remove(path);
        *known = Some(version);
        Some(update(path, version))
    }

    /// When the next burst is over.
    #[must_use]
    pub fn due(&self, quiet: Duration) -> Option<Duration> {
        self.bursts.values().map(|burst| end(burst, quiet)).min()
    }
}

fn end(burst: &Burst, quiet: Duration) -> Duration {
    (burst.last + quiet).min(burst.first + quiet * LONGEST)
}

fn update(path: &str, version: Version) -> FeedUpdate {
    let second = version.modified_ns.div_euclid(1_000_000_000);
    let Version { file, size, modified_ns, changed_ns } = version;
    FeedUpdate {
        kind: "feed_update",
        mtime: Timestamp::from_second(second).unwrap_or(Timestamp::MAX).to_string(),
        path: path.to_owned(),
        version: format!("{} {} {size} {modified_ns} {changed_ns}", file.0, file.1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const QUIET: Duration = Duration::from_secs(1);

    fn at(tenths: u64) -> Now {
        let time = Duration::from_millis(tenths * 100);
        Now { wall: Timestamp::UNIX_EPOCH, boot: time, monotonic: time }
    }

    fn version(n: u64) -> Version {
        Version { file: (1, 1), size: n, modified_ns: 5, changed_ns: 5 }
    }

    /// Looks at every tenth of a second; what is seen holds until the next change.
    fn told(plan: &[(u64, Option<u64>)], until: u64) -> Vec<u64> {
        let (mut feeds, mut seen, mut told) = (Feeds::default(), None, Vec::new());
        for tenth in 0..until {
            for (_, next) in plan.iter().filter(|(when, _)| *when == tenth) {
                seen = next.map(version);
            }
            if feeds.see("/f", seen, QUIET, &at(tenth)).is_some() {
                told.push(tenth);
            }
        }
        told
    }

    #[test]
    fn a_burst_is_one_update_after_its_end() {
        assert!(told(&[(0, Some(1))], 50).is_empty());
        assert_eq!(told(&[(0, Some(1)), (3, Some(2)), (9, Some(3))], 50), [19]);
        let endless: Vec<(u64, Option<u64>)> = (1..80).map(|n| (n, Some(n))).collect();
        assert_eq!(told(&endless, 60)[0], 51);
    }

    #[test]
    fn what_appears_is_an_update_and_what_goes_is_silent() {
        assert_eq!(told(&[(5, Some(1))], 50), [15]);
        assert!(told(&[(0, Some(1)), (5, None)], 50).is_empty());
        assert_eq!(told(&[(0, Some(1)), (5, None), (20, Some(1))], 50), [30]);
    }

    #[test]
    fn any_difference_counts_backwards_and_within_a_second_too() {
        let base = version(7);
        for other in [
            Version { file: (2, 1), ..base },
            Version { file: (1, 2), ..base },
            Version { size: 6, ..base },
            Version { modified_ns: 4, ..base },
            Version { changed_ns: 6, ..base },
        ] {
            let mut feeds = Feeds::default();
            for (seen, told) in [(base, false), (base, false), (other, true), (other, false)] {
                let update = feeds.see("/f", Some(seen), Duration::ZERO, &at(0));
                assert_eq!(update.is_some(), told, "{seen:?}");
            }
        }
    }

    #[test]
    fn the_end_of_a_burst_is_waited_for() {
        let mut feeds = Feeds::default();
        feeds.see("/f", Some(version(1)), QUIET, &at(0));
        assert_eq!(feeds.due(QUIET), None);
        feeds.see("/f", Some(version(2)), QUIET, &at(10));
        assert_eq!(feeds.due(QUIET), Some(at(20).monotonic));
        // Looks without a change don't put it off.
        feeds.see("/f", Some(version(2)), QUIET, &at(15));
        assert_eq!(feeds.due(QUIET), Some(at(20).monotonic));
        // A burst is not remembered, so that a restart tells it.
        assert_eq!(feeds.memory()["/f"], Some(version(1)));
        let update = feeds.see("/f", Some(version(2)), QUIET, &at(20)).unwrap();
        assert_eq!((&*update.mtime, feeds.due(QUIET)), ("1970-01-01T00:00:00Z", None));
    }

    proptest! {
        #[test]
        fn the_last_change_is_always_told(
            times in proptest::collection::vec(1_u64..60, 1..10),
        ) {
            let numbered = times.into_iter().zip(2..);
            let mut plan: Vec<(u64, Option<u64>)> =
                numbered.map(|(at, n)| (at, Some(n))).collect();
            plan.sort_unstable();
            plan.insert(0, (0, Some(1)));
            let last = plan.iter().map(|(at, _)| *at).max().unwrap();
            let told = told(&plan, 150);
            prop_assert!(told.iter().any(|at| *at >= last), "{told:?} {last}");
            prop_assert!(told.windows(2).all(|pair| pair[1] - pair[0] >= 10), "{told:?}");
        }
    }
}

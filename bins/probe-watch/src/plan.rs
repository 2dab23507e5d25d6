//! Which subjects are due, and who is asked together. Pure.

use std::{collections::BTreeMap, time::Duration};

use crate::{delay, identity::Subject};

/// Who is due so soon is asked along with those who are due.
const SOON: Duration = Duration::from_secs(5);

/// What a look came to, as far as the next one depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Something was seen.
    Seen,
    /// Nothing was.
    Failed,
    /// Nobody was asked.
    Skipped,
}

/// The cadence of all subjects, which are numbered by their order. Times are monotonic.
#[derive(Debug)]
pub struct Plan {
    slots: Vec<Slot>,
    interval: Duration,
    most: Duration,
}

#[derive(Debug)]
struct Slot {
    host: String,
    state: State,
    /// Not to be asked before, whoever else is.
    barred: Duration,
    failures: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Due(Duration),
    Asked,
    Over,
}

impl Plan {
    /// All are due at `now`; later every `interval`, and after failures at most every `most`.
    #[must_use]
    pub fn new(subjects: &[Subject], interval: Duration, most: Duration, now: Duration) -> Self {
        let slot = |subject: &Subject| Slot {
            host: subject.host.clone(),
            state: State::Due(now),
            barred: now,
            failures: 0,
        };
        Self { slots: subjects.iter().map(slot).collect(), interval, most }
    }

    /// When somebody is due; none when all are asked or over.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        self.slots.iter().filter_map(Slot::due).min()
    }

    /// Whoever is to be asked at `now`, if anybody is: never two hosts together, and at most
    /// `chunk`.
    pub fn take(&mut self, now: Duration, chunk: usize) -> Vec<Vec<usize>> {
        if self.due().is_none_or(|due| due > now) {
            return Vec::new();
        }
        let mut hosts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, slot) in self.slots.iter_mut().enumerate() {
            if slot.barred <= now && slot.due().is_some_and(|due| due <= now + SOON) {
                slot.state = State::Asked;
                hosts.entry(&slot.host).or_default().push(at);
            }
        }
        hosts.values().flat_map(|asked| asked.chunks(chunk.max(1))).map(<[usize]>::to_vec).collect()
    }

    /// A look at subject `at` ended at `end`; the next is not to begin before `barred`. The pause
    /// until then.
    pub fn looked(
        &mut self,
        at: usize,
        outcome: Outcome,
        end: Duration,
        barred: Option<Duration>,
    ) -> Duration {
        let Some(slot) = self.slots.get_mut(at) else { return Duration::ZERO };
        match outcome {
            Outcome::Seen => slot.failures = 0,
            Outcome::Failed => slot.failures = slot.failures.saturating_add(1),
            Outcome::Skipped => {}
        }
        let due = end + delay::after(slot.failures, self.interval, self.most);
        slot.barred = barred.unwrap_or(end);
        slot.state = State::Due(due);
        due.max(slot.barred).saturating_sub(end)
    }

    /// Subject `at` is not looked at again.
    pub fn end(&mut self, at: usize) {
        if let Some(slot) = self.slots.get_mut(at) {
            slot.state = State::Over;
        }
    }
}

impl Slot {
    fn due(&self) -> Option<Duration> {
        match self.state {
            State::Due(due) => Some(due.max(self.barred)),
            State::Asked | State::Over => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn plan(hosts: &[&str]) -> Plan {
        let subject = |(at, host): (usize, &&str)| Subject {
            id: at.to_string(),
            target: at.to_string(),
            host: (*host).to_owned(),
        };
        let subjects: Vec<Subject> = hosts.iter().enumerate().map(subject).collect();
        Plan::new(&subjects, seconds(60), seconds(21_600), seconds(0))
    }

    #[test]
    fn p07_p08_hosts_and_the_limit_make_the_batches() {
        let sizes = |hosts: &[&str]| -> Vec<usize> {
            plan(hosts).take(seconds(0), 25).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(&[""; 50]), [25, 25]);
        assert_eq!(sizes(&[""; 26]), [25, 1]);
        assert_eq!(plan(&["a", "b", "a"]).take(seconds(0), 25), [vec![0, 2], vec![1]]);
    }

    #[test]
    fn who_is_due_soon_is_asked_along_but_not_before_it_may() {
        let mut plan = plan(&["", "", "", ""]);
        plan.take(seconds(0), 25);
        assert_eq!(plan.due(), None);
        plan.looked(0, Outcome::Seen, seconds(10), None);
        plan.looked(1, Outcome::Seen, seconds(15), None);
        plan.looked(2, Outcome::Seen, seconds(16), None);
        plan.looked(3, Outcome::Failed, seconds(10), Some(seconds(71)));
        assert_eq!((plan.due(), plan.take(seconds(69), 25).len()), (Some(seconds(70)), 0));
        assert_eq!(plan.take(seconds(70), 25), [vec![0, 1]]);
        plan.end(2);
        assert_eq!((plan.due(), plan.take(seconds(71), 25)), (Some(seconds(71)), vec![vec![3]]));
    }

    #[test]
    fn p25_the_cadence_counts_from_the_end() {
        let mut plan = plan(&[""]);
        plan.take(seconds(0), 25);
        assert_eq!(plan.looked(0, Outcome::Seen, seconds(40), None), seconds(60));
        assert_eq!(plan.due(), Some(seconds(100)));
    }

    #[test]
    fn only_failures_in_a_row_count_and_skips_are_none() {
        use Outcome::{Failed, Seen, Skipped};
        let mut plan = plan(&[""]);
        let mut next = |outcome| plan.looked(0, outcome, seconds(0), None).as_secs();
        assert_eq!([Failed, Skipped, Failed, Seen, Failed].map(&mut next), [15, 15, 30, 60, 15]);
        let never_before = Some(seconds(1000));
        assert_eq!(plan.looked(0, Failed, seconds(0), never_before), seconds(1000));
    }

    #[test]
    fn x19_e07_looks_at_a_probe_that_always_fails() {
        let mut plan = plan(&[""]);
        let mut looks = Vec::new();
        while let Some(now) = plan.due().filter(|due| *due <= seconds(3600)) {
            looks.push(now.as_secs());
            assert_eq!(plan.take(now, 25).len(), 1);
            plan.looked(0, Outcome::Failed, now, None);
        }
        assert_eq!(looks, [0, 15, 45, 105, 165, 225, 345, 585, 1065, 2025]);
    }

    proptest! {
        #[test]
        fn everybody_who_is_due_is_asked_once(
            hosts in proptest::collection::vec("[ab]?", 1..200),
            chunk in 1_usize..=25,
        ) {
            let hosts: Vec<&str> = hosts.iter().map(|host| &**host).collect();
            let mut plan = plan(&hosts);
            let chunks = plan.take(seconds(0), chunk);
            prop_assert!(chunks.iter().all(|asked| (1..=chunk).contains(&asked.len())));
            prop_assert!(chunks.iter().all(|asked| asked.iter().all(|at| hosts[*at] == hosts[asked[0]])));
            let mut all: Vec<usize> = chunks.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..hosts.len()).collect::<Vec<_>>());
            prop_assert!(plan.take(seconds(9), chunk).is_empty());
        }
    }
}

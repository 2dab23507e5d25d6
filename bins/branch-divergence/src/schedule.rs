//! When to ask the remote, and when to count again without it. Pure.

use std::time::Duration;

use shared::clock::Now;

use crate::{
    distance::Distance,
    failure::{Failure, Trouble},
    probe::{Glance, Scope},
};

/// From the last move of HEAD to a count.
const SETTLED: Duration = Duration::from_millis(500);
/// From the first move of HEAD to a count, however long it keeps moving.
const LATEST: Duration = Duration::from_secs(5);
/// The first wait after a failure that may heal by itself.
const FIRST_RETRY: Duration = Duration::from_secs(15);
/// The least wait after a refused login: a person has to do something, and a key that asks to be
/// touched at each try is worse than no monitor.
const AUTH_RETRY: Duration = Duration::from_mins(15);
/// How long after its last move of HEAD a rebase counts as stopped, not running.
const REBASE_STOPPED: Duration = Duration::from_mins(1);
/// How long a running rebase may hold up an ask.
const HELD_UP: Duration = Duration::from_mins(5);

/// The timetable of one run, on the monotonic clock.
#[derive(Debug, Clone)]
pub struct Schedule {
    interval: Duration,
    ask_at: Duration,
    failures: u32,
    glance: Option<Glance>,
    moves: Option<Moves>,
    moved_at: Duration,
    /// The last look failed for want of something in the repository, so that only a whole ask
    /// can tell what a change there means.
    ask_on_change: bool,
    /// The remote refused the login.
    barred: bool,
}

/// Moves of HEAD that were not looked at yet.
#[derive(Debug, Clone, Copy)]
struct Moves {
    first: Duration,
    last: Duration,
}

impl Moves {
    fn settled(self) -> Duration {
        (self.last + SETTLED).min(self.first + LATEST)
    }
}

impl Schedule {
    /// Asks at once, then every `interval`.
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        Self {
            interval,
            ask_at: Duration::ZERO,
            failures: 0,
            glance: None,
            moves: None,
            moved_at: Duration::ZERO,
            ask_on_change: false,
            barred: false,
        }
    }

    /// What to look at now, if at anything. `can_count` says whether a tip is known.
    pub fn plan(&mut self, glance: Glance, can_count: bool, now: &Now) -> Option<Scope> {
        let now = now.monotonic;
        self.note(glance, now);
        let settled = self.moves.is_some_and(|moves| moves.settled() <= now);
        let settled = settled && !self.is_rebasing();
        let scope = match () {
            () if self.next_ask() <= now => Some(Scope::Remote),
            () if settled && self.ask_on_change => Some(Scope::Remote),
            () if settled && can_count => Some(Scope::Checkout),
            () => None,
        };
        if settled || scope.is_some() {
            self.moves = None;
        }
        scope
    }

    fn note(&mut self, glance: Glance, now: Duration) {
        let Some(last) = self.glance.replace(glance) else { return };
        let Some(glance) = &self.glance else { return };
        if last == *glance {
            return;
        }
        // The end of a rebase is a move of its own: what came before it doesn't count.
        let ended = last.rebasing && !glance.rebasing;
        let first = self.moves.filter(|_| !ended).map_or(now, |moves| moves.first);
        self.moves = Some(Moves { first, last: now });
        self.moved_at = now;
    }

    /// A look ended. How long until the next ask.
    pub fn looked(
        &mut self,
        scope: Scope,
        seen: &Result<Distance, Failure>,
        now: &Now,
    ) -> Duration {
        match (scope, seen) {
            (_, Err(Failure::GivenUp)) | (Scope::Checkout, Ok(_)) => {}
            (Scope::Remote, Ok(_)) => self.asked(None, now),
            (Scope::Remote, Err(Failure::Blind(trouble, _))) => self.asked(Some(*trouble), now),
            (Scope::Checkout, Err(Failure::Blind(trouble, _))) => self.counted(*trouble, now),
        }
        self.ask_at.saturating_sub(now.monotonic)
    }

    fn asked(&mut self, trouble: Option<Trouble>, now: &Now) {
        self.ask_on_change = trouble.is_some_and(Trouble::is_local);
        self.barred = trouble == Some(Trouble::RemoteAuth);
        let wait = match trouble {
            None => jittered(self.interval, now),
            Some(Trouble::BaseMissing | Trouble::HeadUnborn | Trouble::RepositoryGone) => {
                self.interval
            }
            Some(Trouble::RemoteAuth) => self.interval.max(AUTH_RETRY),
            Some(Trouble::RemoteTimeout | Trouble::RemoteUnreachable | Trouble::FetchFailed) => {
                self.back_off()
            }
        };
        if trouble.is_none() {
            self.failures = 0;
        }
        self.ask_at = now.monotonic + wait;
    }

    /// A count without the remote failed. What is missing may have to be asked for, unless a
    /// refused login forbids that.
    fn counted(&mut self, trouble: Trouble, now: &Now) {
        if self.barred {
            return;
        }
        self.ask_on_change |= trouble.is_local();
        if !trouble.is_local() {
            self.ask_at = self.ask_at.min(now.monotonic + self.back_off());
        }
    }

    fn back_off(&mut self) -> Duration {
        let doubled = FIRST_RETRY.saturating_mul(1 << self.failures.min(16));
        self.failures += 1;
        doubled.min(self.interval)
    }

    /// When the next pass is due.
    #[must_use]
    pub fn due(&self) -> Duration {
        let settled = self.moves.filter(|_| !self.is_rebasing()).map(Moves::settled);
        settled.map_or(self.next_ask(), |settled| settled.min(self.next_ask()))
    }

    /// When to ask. A rebase that is running puts it off: its HEAD is nobody's.
    fn next_ask(&self) -> Duration {
        if !self.is_rebasing() || self.ask_at == Duration::ZERO {
            return self.ask_at;
        }
        let stopped = self.moved_at + REBASE_STOPPED;
        self.ask_at.max(stopped.min(self.ask_at + HELD_UP))
    }

    fn is_rebasing(&self) -> bool {
        self.glance.as_ref().is_some_and(|glance| glance.rebasing)
    }
}

/// `interval` and up to a twentieth more or less, so that many monitors of one remote spread.
/// The wall clock's nanoseconds are the die.
fn jittered(interval: Duration, now: &Now) -> Duration {
    let die = now.wall.subsec_nanosecond().unsigned_abs() % 1_000_001;
    interval.mul_f64(0.95 + 0.1 * f64::from(die) / 1_000_000.0)
}

#[cfg(test)]
mod tests {
    use shared::file::Stamp;

    use super::*;

    const ASK: Option<Scope> = Some(Scope::Remote);
    const COUNT: Option<Scope> = Some(Scope::Checkout);
    const REST: Option<Scope> = None;
    const INTERVAL: Duration = Duration::from_mins(5);

    fn at(millis: u64) -> Now {
        let monotonic = Duration::from_secs(1000) + Duration::from_millis(millis);
        Now { wall: "2026-04-08T14:10:00Z".parse().unwrap(), boot: monotonic, monotonic }
    }

    fn glance(head: u64, rebasing: bool) -> Glance {
        let stamp = Stamp { file: (1, head), size: 1, modified_ns: 0, changed_ns: 0 };
        Glance { heads: (vec![Some(stamp)], true), rebasing }
    }

    fn wait(schedule: &mut Schedule, trouble: Option<Trouble>, now: &Now) -> Duration {
        let seen = trouble
            .map_or(Ok(Distance::default()), |trouble| Err(Failure::Blind(trouble, String::new())));
        schedule.looked(Scope::Remote, &seen, now)
    }

    /// A schedule that has asked at 0 with success.
    fn asked() -> Schedule {
        let mut schedule = Schedule::new(INTERVAL);
        assert_eq!(schedule.plan(glance(0, false), false, &at(0)), ASK);
        wait(&mut schedule, None, &at(0));
        schedule
    }

    #[test]
    fn it_asks_at_once_and_from_the_end_of_an_ask_every_interval_give_or_take_a_twentieth() {
        for nanos in [0, 1, 500_000, 1_000_000, 999_999_999] {
            let mut schedule = Schedule::new(INTERVAL);
            assert_eq!(schedule.plan(glance(0, false), false, &at(0)), ASK);
            let mut now = at(20_000);
            now.wall = jiff::Timestamp::new(1_775_657_400, nanos).unwrap();
            let wait = wait(&mut schedule, None, &now);
            assert!((INTERVAL.mul_f64(0.95)..=INTERVAL.mul_f64(1.05)).contains(&wait), "{wait:?}");
            assert_eq!(schedule.due(), now.monotonic + wait);
            assert_eq!(schedule.plan(glance(0, false), true, &at(284_000)), REST);
            assert_eq!(schedule.plan(glance(0, false), true, &at(336_000)), ASK);
        }
    }

    #[test]
    fn failures_back_off_up_to_the_interval_and_a_success_starts_afresh() {
        let mut schedule = asked();
        let mut after = |trouble| wait(&mut schedule, trouble, &at(0)).as_secs();
        let waits = [(); 7].map(|()| after(Some(Trouble::RemoteUnreachable)));
        assert_eq!(waits, [15, 30, 60, 120, 240, 300, 300]);
        after(None);
        assert_eq!(after(Some(Trouble::FetchFailed)), 15);
        assert_eq!(after(Some(Trouble::RemoteTimeout)), 30);
        assert_eq!(after(Some(Trouble::BaseMissing)), 300);
        assert_eq!(after(Some(Trouble::HeadUnborn)), 300);

        let mut quick = Schedule::new(Duration::from_secs(2));
        assert_eq!(wait(&mut quick, Some(Trouble::RemoteTimeout), &at(0)).as_secs(), 2);
    }

    #[test]
    fn d11_after_a_refused_login_nobody_asks_for_a_quarter_of_an_hour() {
        let mut schedule = asked();
        assert_eq!(wait(&mut schedule, Some(Trouble::RemoteAuth), &at(0)).as_secs(), 900);
        // Not for a change either, when there is nothing to count with.
        assert_eq!(schedule.plan(glance(1, false), false, &at(1_000)), REST);
        assert_eq!(schedule.plan(glance(1, false), false, &at(2_000)), REST);
        assert_eq!(schedule.plan(glance(1, false), false, &at(899_000)), REST);
        assert_eq!(schedule.plan(glance(1, false), false, &at(900_000)), ASK);

        let mut slow = Schedule::new(Duration::from_hours(1));
        assert_eq!(wait(&mut slow, Some(Trouble::RemoteAuth), &at(0)).as_secs(), 3600);
    }

    #[test]
    fn d03_a_move_is_counted_half_a_second_after_the_last_one() {
        let mut schedule = asked();
        assert_eq!(schedule.plan(glance(1, false), true, &at(10_000)), REST);
        assert_eq!(schedule.due(), at(10_500).monotonic);
        assert_eq!(schedule.plan(glance(2, false), true, &at(10_400)), REST);
        assert_eq!(schedule.due(), at(10_900).monotonic);
        assert_eq!(schedule.plan(glance(2, false), true, &at(10_600)), REST);
        assert_eq!(schedule.plan(glance(2, false), true, &at(10_900)), COUNT);
        assert_eq!(schedule.plan(glance(2, false), true, &at(20_000)), REST);
    }

    #[test]
    fn a_head_that_never_rests_is_counted_after_five_seconds() {
        let mut schedule = asked();
        let mut counts = Vec::new();
        for tick in 0_u64..100 {
            let now = at(10_000 + tick * 100);
            if schedule.plan(glance(tick + 1, false), true, &now) == COUNT {
                counts.push(tick);
            }
        }
        assert_eq!(counts, [50]);
    }

    #[test]
    fn d15_a_rebase_is_counted_once_half_a_second_after_its_end() {
        let mut schedule = asked();
        for tick in 0_u64..200 {
            let now = at(10_000 + tick * 100);
            assert_eq!(schedule.plan(glance(tick + 1, true), true, &now), REST);
        }
        assert_eq!(schedule.plan(glance(200, false), true, &at(30_000)), REST);
        assert_eq!(schedule.due(), at(30_500).monotonic);
        assert_eq!(schedule.plan(glance(200, false), true, &at(30_500)), COUNT);
        assert_eq!(schedule.plan(glance(200, false), true, &at(40_000)), REST);
    }

    #[test]
    fn a_running_rebase_puts_an_ask_off_and_a_stopped_one_does_not() {
        let mut schedule = Schedule::new(Duration::from_secs(10));
        schedule.plan(glance(0, false), false, &at(0));
        wait(&mut schedule, None, &at(0));
        assert_eq!(schedule.plan(glance(1, true), true, &at(5_000)), REST);
        assert_eq!(schedule.plan(glance(1, true), true, &at(15_000)), REST);
        assert_eq!(schedule.due(), at(65_000).monotonic);
        assert_eq!(schedule.plan(glance(1, true), true, &at(65_000)), ASK);
        wait(&mut schedule, None, &at(65_000));
        assert_eq!(schedule.plan(glance(1, true), true, &at(76_000)), ASK);
        // A rebase that never rests holds it up for five minutes at most.
        wait(&mut schedule, None, &at(76_000));
        let mut asks = (76..400).filter(|second| {
            schedule.plan(glance(second + 1, true), true, &at(second * 1000)) == ASK
        });
        assert!((85 + 300..=87 + 300).contains(&asks.next().unwrap()));
    }

    #[test]
    fn a_count_that_fails_brings_the_next_ask_forward_but_not_after_a_refused_login() {
        let fail = |schedule: &mut Schedule, trouble| {
            let seen = Err(Failure::Blind(trouble, String::new()));
            schedule.looked(Scope::Checkout, &seen, &at(1_000)).as_secs()
        };
        let mut schedule = asked();
        assert_eq!(fail(&mut schedule, Trouble::FetchFailed), 15);
        assert_eq!(fail(&mut schedule, Trouble::RepositoryGone), 15);
        assert_eq!(schedule.plan(glance(1, false), true, &at(2_000)), REST);
        assert_eq!(schedule.plan(glance(1, false), true, &at(2_500)), ASK);

        wait(&mut schedule, Some(Trouble::RemoteAuth), &at(0));
        assert_eq!(fail(&mut schedule, Trouble::FetchFailed), 899);
        assert_eq!(fail(&mut schedule, Trouble::RepositoryGone), 899);
        assert_eq!(schedule.plan(glance(2, false), true, &at(3_000)), REST);
        assert_eq!(schedule.plan(glance(2, false), true, &at(3_500)), COUNT);
    }

    #[test]
    fn the_first_ask_waits_for_no_rebase() {
        let mut schedule = Schedule::new(INTERVAL);
        assert_eq!(schedule.plan(glance(0, true), false, &at(0)), ASK);
    }

    #[test]
    fn what_only_the_repository_lacks_is_asked_again_at_its_change() {
        for trouble in [Trouble::HeadUnborn, Trouble::RepositoryGone] {
            let mut schedule = asked();
            wait(&mut schedule, Some(trouble), &at(0));
            assert_eq!(schedule.plan(glance(1, false), false, &at(1_000)), REST);
            assert_eq!(schedule.plan(glance(1, false), false, &at(1_500)), ASK);
        }
    }
}

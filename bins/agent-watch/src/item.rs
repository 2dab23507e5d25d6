//! An item: what is known of it.

use std::{collections::BTreeMap, time::Duration};

use shared::{
    clock::Now,
    pidfile::{Status, Who},
    roster::Registered,
};

use crate::seen::{Fate, Progress, ResultSeen, Seen, Version, Wants};

/// How long everything is waited for.
#[derive(Debug, Clone)]
pub struct Config {
    /// Quiet time that makes a result whole.
    pub settle: Duration,
    /// The same while somebody holds it open for writing.
    pub settle_open: Duration,
    /// Any non-empty file is a result.
    pub no_settle: bool,
    /// Between an exit and its being told.
    pub death_grace: Duration,
    /// Before a missing pid file is told.
    pub pid_grace: Duration,
    /// Percent of the time limit.
    pub margin: u32,
    /// Silence that makes a stall.
    pub idle_stall: Duration,
    /// Suspended time counts.
    pub count_suspend: bool,
    /// Later versions are told.
    pub rewrites: bool,
    /// Nothing is waited for.
    pub once: bool,
}

/// Whether the agent lives, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Life {
    /// Not known.
    Unknown,
    /// Its process lives.
    Running,
    /// And nothing moves.
    Stalled,
    /// It ended, and its result may still come.
    Dying,
    /// It was told dead.
    Died,
    /// Its result is there.
    Ready,
    /// And was deleted.
    Removed,
}

/// Which of the time limit's marks are passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// None.
    None,
    /// The first.
    Imminent,
    /// The last.
    Exceeded,
}

/// A result that is being looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResultState {
    /// What was there at registration, and counts as absent.
    pub baseline: Option<Version>,
    /// What was there last.
    pub version: Option<Version>,
    /// Since when.
    pub since: Duration,
    /// A writer holds it open, as far as is known.
    pub written: bool,
    /// When it was closed, first and last.
    pub closed: Option<(Duration, Duration)>,
    /// It was renamed into place.
    pub renamed: bool,
    /// The exit closed it.
    pub by_exit: bool,
    /// Its writer was killed: this version is never whole.
    pub torn: Option<Version>,
    /// What was told last, and how many before.
    pub told: Option<(Version, u64)>,
}

impl ResultState {
    /// Whether this is another version than the one that is known.
    #[must_use]
    pub fn is_news(&self, seen: ResultSeen) -> bool {
        matches!(seen, ResultSeen::File(found)
            if self.version != Some(found) && self.baseline != Some(found))
    }
}

/// A process that was taken hold of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Which.
    pub who: Who,
    /// When its pid file was written, in nanoseconds since 1970, unless that says when it started:
    /// what tells it from others of its number after its end, too.
    pub written_ns: Option<i128>,
    /// When it was found dead.
    pub exited: Option<Duration>,
    /// For which reason.
    pub reason: &'static str,
    /// How it ended.
    pub status: Option<Status>,
    /// The first look after a restart found it dead.
    pub replayed: bool,
}

/// Silence, and what is known of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Idle {
    /// Since when.
    pub from: Duration,
    /// What was seen last.
    pub progress: Option<Progress>,
    /// Whether there ever was anything to see.
    pub evidence: bool,
    /// A stall was told, and no end of it.
    pub open: bool,
    /// How many stalls.
    pub episode: u64,
    /// The `id`'s part of the last one.
    pub mark: String,
    /// It stalled without evidence, which is told once.
    pub blindly: bool,
    /// CPU ticks at a time.
    pub cpu: Option<(Duration, u64)>,
    /// The same of the tree.
    pub tree: Option<(Duration, u64)>,
}

/// All that is known of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// As it is registered.
    pub entry: Registered,
    /// The next look is the first after a restart.
    pub replayed: bool,
    /// No look was taken yet.
    pub fresh: bool,
    /// When it was registered, on our clock.
    pub at: Duration,
    /// How long the agent had run then.
    pub ran: Duration,
    /// When it started, in nanoseconds since 1970, and where that is from.
    pub started: (i128, &'static str),
    /// Boot and monotonic time then.
    pub clocks: (Duration, Duration),
    /// The life track.
    pub life: Life,
    /// The timer track.
    pub timer: Timer,
    /// The result.
    pub result: ResultState,
    /// The process.
    pub known: Option<Known>,
    /// Silence.
    pub idle: Idle,
    /// What is degraded, and how often it was.
    pub reasons: BTreeMap<&'static str, (bool, u64)>,
    /// When a reason that holds is to be told.
    pub pending: BTreeMap<&'static str, Duration>,
}

/// The clock that items live by. It runs a century ahead, so that what began before the machine
/// did has a time on it, too.
#[must_use]
pub fn clock(config: &Config, now: &Now) -> Duration {
    CENTURY + if config.count_suspend { now.boot } else { now.monotonic }
}

const CENTURY: Duration = Duration::from_hours(100 * 366 * 24);

impl Item {
    /// An item that is registered now.
    #[must_use]
    pub fn new(
        entry: Registered,
        started: (i128, &'static str),
        replayed: bool,
        config: &Config,
        now: &Now,
    ) -> Self {
        let at = clock(config, now);
        let ran = since(started.0, now);
        let idle = Idle { from: at.saturating_sub(ran), ..Idle::default() };
        Self {
            entry,
            replayed,
            fresh: true,
            at,
            ran,
            started,
            clocks: (now.boot, now.monotonic),
            life: Life::Unknown,
            timer: Timer::None,
            result: ResultState::default(),
            known: None,
            idle,
            reasons: BTreeMap::new(),
            pending: BTreeMap::new(),
        }
    }

    /// How long the agent has run.
    #[must_use]
    pub fn elapsed(&self, t: Duration) -> Duration {
        self.ran + t.saturating_sub(self.at)
    }

    /// The silence that makes a stall.
    #[must_use]
    pub fn stall(&self, config: &Config) -> Duration {
        let own = self.entry.spec.idle_stall.and_then(|sec| Duration::try_from_secs_f64(sec).ok());
        own.unwrap_or(config.idle_stall)
    }

    /// Its time limit.
    #[must_use]
    pub fn limit(&self) -> Option<Duration> {
        self.entry.spec.timeout.and_then(|sec| Duration::try_from_secs_f64(sec).ok())
    }

    /// Whether it came to an end, and whether that is a result.
    #[must_use]
    pub fn terminal(&self) -> Option<bool> {
        match self.life {
            Life::Ready | Life::Removed => Some(true),
            Life::Died => Some(false),
            _ if self.timer == Timer::Exceeded => Some(false),
            _ => None,
        }
    }

    /// Whether a look saw what has a story that it didn't hear: a version that nobody wrote, or an
    /// end, which closes files before it can be seen.
    #[must_use]
    pub fn is_surprised(&self, seen: &Seen) -> bool {
        let lived = self.known.is_some_and(|known| known.exited.is_none());
        let ended = lived && seen.fate.is_some_and(|fate| fate != Fate::Alive);
        let unheard = seen.signals.is_empty() && !self.fresh;
        ended || (unheard && self.result.is_news(seen.result))
    }

    /// What the next look is to see.
    #[must_use]
    pub fn wants(&self, config: &Config, swept: bool, now: &Now) -> Wants {
        let t = clock(config, now);
        let stall = self.stall(config);
        let silent = t.saturating_sub(self.idle.from);
        let due = silent >= stall && self.life == Life::Running;
        let near = self.life == Life::Running && silent + TREE >= stall && stall > TREE;
        let live = matches!(self.life, Life::Unknown | Life::Running | Life::Stalled);
        let progress = live && (swept || self.fresh || due || self.life == Life::Stalled);
        let cpu = live && (self.idle.cpu.is_none() || due || swept);
        Wants { pid_file: swept, progress, cpu, tree: near && (self.idle.tree.is_none() || due) }
    }
}

/// How long before a stall the tree's CPU time is taken.
pub const TREE: Duration = Duration::from_secs(1);

/// Time since a moment of the wall clock, 0 if that lies ahead.
#[must_use]
pub fn since(ns: i128, now: &Now) -> Duration {
    let passed = u64::try_from((now.wall.as_nanosecond() - ns).max(0)).unwrap_or(u64::MAX);
    Duration::from_nanos(passed)
}

//! The pure machine of one item: what is known of it, what a look saw, and the clocks, to what is
//! to be told.

mod due;
mod idle;
mod process;
mod reasons;
mod result;
#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::unchecked_time_subtraction,
    reason = "times of a table are small"
)]
mod table;

use std::time::Duration;

pub use due::due;
use shared::clock::Now;

use crate::{
    event::{ItemEvent, Told, What},
    item::{Config, Item, Life, Timer, clock},
    seen::{ResultSeen, Seen},
};

/// How long a close has to stand without a sign of life from the file or its writer. As long a pid
/// file may make no sense, since whoever writes it in place makes it empty first.
const MOMENT: Duration = Duration::from_millis(100);

/// Takes in what a look saw. What ends the item ends the pass over it.
pub fn step(item: &mut Item, seen: &Seen, config: &Config, now: &Now) -> Vec<Told> {
    let mut pass = Pass::new(item, seen, config, now);
    if !pass.result() {
        pass.process();
        pass.death();
        pass.progress();
        pass.timers();
    }
    let told = pass.told;
    (item.fresh, item.replayed) = (false, false);
    told
}

/// Ends an item that is no longer registered.
pub fn remove(item: &mut Item, reason: &'static str, config: &Config, now: &Now) -> Vec<Told> {
    let seen = Seen::only(ResultSeen::Absent);
    let mut pass = Pass::new(item, &seen, config, now);
    pass.end("removed");
    pass.say("item_removed", What::Reason { reason }, reason.to_owned());
    pass.told
}

/// One pass over one item.
struct Pass<'a> {
    t: Duration,
    item: &'a mut Item,
    seen: &'a Seen,
    config: &'a Config,
    now: &'a Now,
    told: Vec<Told>,
    /// The result moved and isn't ready, which is progress.
    moved: bool,
}

impl<'a> Pass<'a> {
    fn new(item: &'a mut Item, seen: &'a Seen, config: &'a Config, now: &'a Now) -> Self {
        Self { t: clock(config, now), item, seen, config, now, told: Vec::new(), moved: false }
    }

    fn say(&mut self, event: &'static str, what: What, discriminator: String) {
        self.told.push(told(self.item, event, what, discriminator));
    }

    /// Clears what is raised, right before the line that ends the item.
    fn end(&mut self, by: &'static str) {
        self.recover(by);
        self.restore_all();
    }

    fn timers(&mut self) {
        let running = matches!(self.item.life, Life::Unknown | Life::Running | Life::Stalled);
        let Some(limit) = self.item.limit().filter(|_| running) else { return };
        let elapsed = self.item.elapsed(self.t);
        let (event, timer) = if elapsed >= limit {
            ("timeout_exceeded", Timer::Exceeded)
        } else if elapsed >= limit * self.config.margin / 100 {
            ("timeout_imminent", Timer::Imminent)
        } else {
            return;
        };
        if self.item.timer >= timer {
            return;
        }
        self.item.timer = timer;
        let (boot, monotonic) = self.item.clocks;
        let awake = self.now.monotonic.saturating_sub(monotonic);
        let what = What::Timeout {
            elapsed_sec: elapsed.as_secs(),
            timeout_sec: limit.as_secs_f64(),
            suspended_sec: self.now.boot.saturating_sub(boot).saturating_sub(awake).as_secs(),
        };
        self.say(event, what, limit.as_secs_f64().to_string());
    }
}

/// An event of `item`.
#[must_use]
pub fn told(item: &Item, event: &'static str, what: What, discriminator: String) -> Told {
    let spec = &item.entry.spec;
    Told::Item(Box::new(ItemEvent {
        event,
        agent: spec.agent.clone(),
        step: spec.step.clone(),
        what,
        instance: spec.instance.clone(),
        blind: item.entry.blind,
        consultant_reporting: spec.reporting,
        replayed: item.replayed,
        discriminator,
    }))
}

/// RFC 3339 of nanoseconds since 1970.
#[must_use]
pub fn moment(ns: i128) -> String {
    let second = i64::try_from(ns.div_euclid(1_000_000_000)).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(second).unwrap_or(jiff::Timestamp::MAX).to_string()
}

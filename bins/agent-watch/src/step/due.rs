//! When an item has to be looked at though nothing happens.

use std::time::Duration;

use shared::clock::Now;

use super::MOMENT;
use crate::item::{Config, Item, Life, TREE, clock};

/// How often the exit status is asked for.
const ASKED: Duration = Duration::from_millis(50);

/// When the item is to be looked at again, on the monotonic clock.
#[must_use]
pub fn due(item: &Item, config: &Config, now: &Now) -> Option<Duration> {
    let t = clock(config, now);
    let mut dues = settling(item, config);
    if item.life < Life::Ready {
        dues.extend(item.pending.values());
        dues.extend(dying(item, config, t));
        dues.extend(silence(item, config));
        dues.extend(limits(item, config));
    }
    let next = dues.into_iter().filter(|due| *due > t).min()?;
    Some(now.monotonic + next.saturating_sub(t))
}

fn settling(item: &Item, config: &Config) -> Vec<Duration> {
    let result = &item.result;
    let open = item.life < Life::Ready || (config.rewrites && item.life == Life::Ready);
    if !open || result.version.is_none_or(|version| version.size == 0) {
        return Vec::new();
    }
    let quiet = if result.written { config.settle_open } else { config.settle };
    let closed = result.closed.map(|(first, last)| [last + MOMENT, first + config.settle]);
    std::iter::once(result.since + quiet).chain(closed.into_iter().flatten()).collect()
}

fn dying(item: &Item, config: &Config, t: Duration) -> Vec<Duration> {
    let Some((known, exited)) = item.known.and_then(|known| Some((known, known.exited?))) else {
        return Vec::new();
    };
    let mut dues = vec![exited + config.death_grace, exited + config.settle];
    if item.life == Life::Dying && known.status.is_none() {
        dues.push(t + ASKED);
    }
    dues
}

fn silence(item: &Item, config: &Config) -> Vec<Duration> {
    let told = item.idle.blindly && !item.idle.evidence;
    if item.life != Life::Running || told {
        return Vec::new();
    }
    let at = item.idle.from + item.stall(config);
    vec![at.saturating_sub(TREE), at]
}

fn limits(item: &Item, config: &Config) -> Vec<Duration> {
    let counts = matches!(item.life, Life::Unknown | Life::Running | Life::Stalled);
    let Some(limit) = item.limit().filter(|_| counts) else { return Vec::new() };
    let after = |time: Duration| (item.at + time).saturating_sub(item.ran);
    vec![after(limit * config.margin / 100), after(limit)]
}

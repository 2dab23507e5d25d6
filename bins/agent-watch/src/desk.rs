//! The items as the registry has them, and the time that went by without us. Pure.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use shared::{
    clock::Now,
    follow,
    line::digest,
    roster::{self, Effect, Entry, Fault, Key, Place, Roster, Spec},
};

use crate::{
    event::{ClockGap, Rejected, Told, What},
    item::{Config, Item, Life, ResultState, Timer, clock},
    step::{moment, remove, told},
};

/// A suspend that counts as a gap.
const SUSPEND: Duration = Duration::from_secs(2);

/// Which items end the watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// All of them, once they ended.
    All,
    /// The first to end.
    Any,
}

/// What is known of the world when an item is read again after a restart.
pub struct Origin<'a> {
    /// The registry's mtime, in nanoseconds since 1970.
    pub registry_ns: Option<i128>,
    /// The start of the live process that a pid file names.
    pub process_ns: &'a dyn Fn(&str) -> Option<i128>,
}

impl std::fmt::Debug for Origin<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Origin").field("registry_ns", &self.registry_ns).finish_non_exhaustive()
    }
}

/// All items.
#[derive(Debug)]
pub struct Desk {
    /// How long everything is waited for.
    pub config: Config,
    /// The items, by key.
    pub items: BTreeMap<Key, Item>,
    /// What is to be told.
    pub told: Vec<Told>,
    /// Somebody asked for the end.
    pub shutdown: bool,
    base: PathBuf,
    roster: Roster,
    fold: Option<Roster>,
    /// The line of each item in what is folded.
    lines: BTreeMap<Key, u64>,
    /// Of each item that was unregistered, whether it had ended with a result.
    removed: Vec<bool>,
    last: Option<Now>,
}

impl Desk {
    /// No items. `base` is the folder of relative paths.
    #[must_use]
    pub fn new(config: Config, base: PathBuf) -> Self {
        Self {
            config,
            items: BTreeMap::new(),
            told: Vec::new(),
            shutdown: false,
            base,
            roster: Roster::default(),
            fold: None,
            lines: BTreeMap::new(),
            removed: Vec::new(),
            last: None,
        }
    }

    /// Takes in what the registry says. Of a file from its beginning only what stands at its end
    /// counts.
    pub fn take(&mut self, said: follow::Told<'_>, folds: bool, now: &Now) {
        let (number, offset, text) = match said {
            follow::Told::Restart => {
                self.fold = folds.then(Roster::default);
                return;
            }
            follow::Told::Line { number, offset, text } => (number, offset, text),
        };
        let Some(text) = text else {
            return self.reject(number, Fault { field: None, reason: "line_too_long" }, "");
        };
        if text.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "a wall time in seconds")]
        let wall = now.wall.as_millisecond() as f64 / 1e3;
        let place = Place { offset, base: &self.base, wall };
        let entry = roster::parse(text, place);
        let outcome = entry.and_then(|entry| {
            if let Some(fold) = &mut self.fold {
                if let Entry::Item(spec) = &entry {
                    self.lines.insert((spec.agent.clone(), spec.step.clone()), number);
                }
                // Of a file that is read again a line may mean what stands from before.
                let folded = fold.apply(entry.clone()).map(|_| Effect::Nothing);
                return folded.or_else(|fault| match fault.reason {
                    "no_match" => self.roster.apply(entry),
                    _ => Err(fault),
                });
            }
            self.shutdown |= entry == Entry::Shutdown;
            self.roster.apply(entry)
        });
        match outcome {
            Ok(effect) => self.act(effect, None, now),
            Err(fault) => self.reject(number, fault, &digest(text)),
        }
    }

    /// The registry was read to its end. `origin`: for the first time, after a restart.
    pub fn read(&mut self, origin: Option<&Origin<'_>>, now: &Now) {
        let Some(fold) = self.fold.take() else { return };
        let lines = std::mem::take(&mut self.lines);
        let told = &mut self.told;
        let effects = self.roster.merge(fold, |spec, fault| {
            let line = lines.get(&(spec.agent.clone(), spec.step.clone()));
            let number = line.copied().unwrap_or(0);
            told.push(Told::Rejected(Rejected::new(number, fault, spec.digest.clone())));
        });
        for effect in effects {
            self.act(effect, origin, now);
        }
    }

    fn reject(&mut self, number: u64, fault: Fault, digest: &str) {
        self.told.push(Told::Rejected(Rejected::new(number, fault, digest.to_owned())));
    }

    fn act(&mut self, effect: Effect, origin: Option<&Origin<'_>>, now: &Now) {
        match effect {
            Effect::Nothing | Effect::Updated(_, false) | Effect::Blind(_) => self.refresh(),
            Effect::Added(key) => self.add(&key, origin, now),
            Effect::Updated(key, true) => self.update(&key),
            Effect::Removed(key) => {
                if let Some(item) = self.items.remove(&key) {
                    self.removed.push(item.terminal() == Some(true));
                    self.end(item, "unregister", now);
                }
            }
            Effect::Shutdown => {
                for (_, item) in std::mem::take(&mut self.items) {
                    if item.life < Life::Died {
                        self.end(item, "shutdown", now);
                    }
                }
            }
        }
    }

    fn end(&mut self, mut item: Item, reason: &'static str, now: &Now) {
        self.told.extend(remove(&mut item, reason, &self.config, now));
    }

    /// Blind phases are the roster's.
    fn refresh(&mut self) {
        for (key, item) in &mut self.items {
            if let Some(entry) = self.roster.items.get(key) {
                item.entry.blind = entry.blind;
            }
        }
    }

    fn add(&mut self, key: &Key, origin: Option<&Origin<'_>>, now: &Now) {
        let old = self.items.remove(key);
        let replaced = old.is_some();
        if let Some(old) = old {
            self.end(old, "replaced", now);
        }
        let Some(entry) = self.roster.items.get(key).cloned() else { return };
        let started = started(&entry.spec, origin, now);
        let item = Item::new(entry, started, origin.is_some(), &self.config, now);
        self.register(&item, replaced, false);
        self.items.insert(key.clone(), item);
    }

    fn update(&mut self, key: &Key) {
        let Some(entry) = self.roster.items.get(key).cloned() else { return };
        let Some(mut item) = self.items.remove(key) else { return };
        let (old, new) = (&item.entry.spec, &entry.spec);
        if old.timeout != new.timeout {
            item.timer = Timer::None;
        }
        if old.result_path != new.result_path {
            (item.result, item.fresh) = (ResultState::default(), true);
        }
        item.entry = entry;
        self.register(&item, false, true);
        self.items.insert(key.clone(), item);
    }

    fn register(&mut self, item: &Item, replaced: bool, updated: bool) {
        let spec = &item.entry.spec;
        let shares: Vec<String> = self
            .items
            .values()
            .filter(|other| other.life < Life::Ready)
            .map(|other| &other.entry.spec)
            .filter(|other| other.result_path == spec.result_path)
            .map(|other| format!("{}/{}", other.agent, other.step))
            .collect();
        let what = What::Registered {
            timeout_sec: spec.timeout,
            started_at: moment(item.started.0),
            started_from: item.started.1,
            idle_stall_sec: item.stall(&self.config).as_secs_f64(),
            replaced,
            updated,
            shares_result_with: (!shares.is_empty()).then_some(shares),
            pane: spec.pane.clone(),
            pid_file: spec.pid_file.clone(),
            progress_paths: spec.progress.clone(),
            result_path: spec.result_path.clone(),
        };
        self.told.push(told(item, "item_registered", what, spec.digest.clone()));
    }

    /// Notes that a pass begins now that was planned for `planned`, and what that says of the time
    /// between.
    pub fn pass(&mut self, planned: Option<Duration>, poll: Duration, now: &Now) {
        let Some(last) = self.last.replace(*now) else { return };
        let monotonic = now.monotonic.saturating_sub(last.monotonic);
        let boot = now.boot.saturating_sub(last.boot);
        let suspended = boot.saturating_sub(monotonic);
        let late = planned.map_or(Duration::ZERO, |at| now.monotonic.saturating_sub(at));
        let stood = late > poll * 3;
        if suspended < SUSPEND && !stood {
            return;
        }
        let wall = now.wall.as_millisecond() - last.wall.as_millisecond();
        let step = (wall - i64::try_from(boot.as_millis()).unwrap_or(i64::MAX)) / 1000;
        let gap = if stood { suspended + late } else { suspended };
        let said_at = now.timestamp().to_string();
        let gap = ClockGap::new(gap.as_secs(), suspended.as_secs(), step, said_at);
        self.told.push(Told::Gap(gap));
        let t = clock(&self.config, now);
        for item in self.items.values_mut().filter(|_| !self.config.count_suspend || stood) {
            if !item.idle.open {
                (item.idle.from, item.idle.cpu, item.idle.tree) = (t, None, None);
            }
        }
    }

    /// Whether the watch is over, and whether with a result.
    #[must_use]
    pub fn over(&self, until: Until) -> Option<bool> {
        let removed = self.removed.iter().copied().map(Some);
        let ends: Vec<Option<bool>> =
            self.items.values().map(Item::terminal).chain(removed).collect();
        match until {
            Until::All if ends.is_empty() || ends.contains(&None) => None,
            Until::All => Some(ends.iter().all(|end| *end == Some(true))),
            Until::Any => ends.into_iter().flatten().next(),
        }
    }
}

fn started(spec: &Spec, origin: Option<&Origin<'_>>, now: &Now) -> (i128, &'static str) {
    if let Some(at) = spec.started {
        #[expect(clippy::cast_possible_truncation, reason = "it lies before now + 300 s")]
        return ((at * 1e9) as i128, "line");
    }
    let Some(origin) = origin else { return (now.wall.as_nanosecond(), "now") };
    let process = spec.pid_file.as_deref().and_then(origin.process_ns);
    process
        .map(|ns| (ns, "process"))
        .or(origin.registry_ns.map(|ns| (ns, "registry")))
        .unwrap_or((now.wall.as_nanosecond(), "now"))
}

#[cfg(test)]
mod tests;

//! The pure machine: an item, what a look saw of it, and the clocks, to what is to be told.

use std::time::Duration;

use shared::{
    clock::Now,
    pidfile::{Status, Who},
};

use crate::{
    event::{ItemEvent, Told, What},
    item::{
        Config, Fate, Item, Known, Life, Named, Progress, ResultSeen, Seen, Signal, TREE, Timer,
        Version, clock, since,
    },
};

/// After a close, this long without a sign of life from the file or its writer.
const CLOSED: Duration = Duration::from_millis(100);
/// How often the exit status is asked for.
const ASKED: Duration = Duration::from_millis(50);
/// How long a result's folder may be missing while its agent lives.
const NO_FOLDER: Duration = Duration::from_mins(1);
/// A file older than this before the start is not this run's.
const STALE_NS: i128 = 2_000_000_000;
/// CPU time over less than this says little.
const CPU_LEAST: Duration = Duration::from_secs(5);

/// Takes in what a look saw. What ends the item ends the pass over it.
pub fn step(item: &mut Item, seen: &Seen, config: &Config, now: &Now) -> Vec<Told> {
    let mut pass =
        Pass { t: clock(config, now), item, seen, config, now, told: Vec::new(), moved: false };
    if !pass.result() {
        pass.process();
        if !pass.result_ready() {
            pass.death();
            pass.progress();
            pass.timers();
        }
    }
    pass.item.fresh = false;
    let told = pass.told;
    item.replayed = false;
    told
}

/// Ends an item that is no longer registered.
pub fn remove(item: &mut Item, reason: &'static str, config: &Config, now: &Now) -> Vec<Told> {
    let seen = Seen {
        result: ResultSeen::Absent,
        signals: Vec::new(),
        fate: None,
        named: Named::None,
        progress: None,
        cpu: None,
        tree: None,
    };
    let t = clock(config, now);
    let mut pass = Pass { t, item, seen: &seen, config, now, told: Vec::new(), moved: false };
    pass.recover("removed");
    pass.restore_all("end");
    pass.say("item_removed", What::Reason { reason }, reason.to_owned());
    pass.told
}

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

impl Pass<'_> {
    fn say(&mut self, event: &'static str, what: What, discriminator: String) {
        self.told.push(told(self.item, event, what, discriminator));
    }

    // The result.

    /// Looks at the result; true when the item is ready.
    fn result(&mut self) -> bool {
        if self.item.life == Life::Removed {
            return true;
        }
        self.signals();
        self.baseline();
        self.version();
        if self.item.life == Life::Ready {
            self.after_ready();
            return true;
        }
        self.folder();
        self.result_ready()
    }

    fn signals(&mut self) {
        let (t, known) = (self.t, self.item.known);
        let result = &mut self.item.result;
        for signal in &self.seen.signals {
            match signal {
                Signal::Written => {
                    (result.written, result.closed, result.renamed) = (true, None, false);
                    result.by_exit = false;
                }
                Signal::Closed => {
                    (result.written, result.closed) = (false, Some((t, t)));
                    let exited = known.and_then(|known| known.exited);
                    result.by_exit = exited.is_some_and(|at| t.saturating_sub(at) <= CLOSED);
                }
                Signal::Opened => {
                    result.closed = result.closed.map(|(first, _)| (first, t));
                }
                Signal::Renamed => {
                    (result.written, result.closed, result.renamed) = (false, None, true);
                    result.by_exit = false;
                }
            }
        }
    }

    fn baseline(&mut self) {
        let ResultSeen::File(version) = self.seen.result else { return };
        let is_old = version.mtime_ns < self.item.started.0 - STALE_NS;
        if self.item.fresh && is_old && version.size > 0 {
            self.item.result.baseline = Some(version);
            let result_path = self.item.entry.spec.result_path.clone();
            let what = What::Result { mtime: moment(version.mtime_ns), result_path };
            self.say("result_stale", what, String::new());
        }
    }

    /// Takes in the version; a new one of a result that isn't ready is progress.
    fn version(&mut self) {
        let found = match self.seen.result {
            ResultSeen::File(version) if self.item.result.baseline != Some(version) => version,
            ResultSeen::Unreadable => return,
            _ => {
                let result = &mut self.item.result;
                (result.version, result.closed, result.renamed) = (None, None, false);
                return;
            }
        };
        let result = &mut self.item.result;
        if result.version == Some(found) {
            return;
        }
        let age = since(found.mtime_ns, self.now);
        // What moved while nobody looked did so when its mtime says.
        let first = self.item.fresh;
        result.since = if first { self.t.saturating_sub(age) } else { self.t };
        result.version = Some(found);
        self.item.idle.evidence = true;
        if first {
            self.item.idle.from = self.item.idle.from.max(result.since);
        } else {
            self.moved = true;
        }
    }

    fn folder(&mut self) {
        let alive = matches!(self.item.life, Life::Running | Life::Stalled);
        let missing = self.seen.result == ResultSeen::NoFolder && alive && !self.config.once;
        self.wait_to_degrade("result_dir_missing", missing, NO_FOLDER);
        self.wait_to_degrade(
            "unreadable",
            self.seen.result == ResultSeen::Unreadable,
            Duration::ZERO,
        );
    }

    /// A version that may become a result.
    fn candidate(&self) -> Option<Version> {
        let result = &self.item.result;
        result.version.filter(|v| v.size > 0 && result.torn != Some(*v))
    }

    fn settled(&self) -> Option<&'static str> {
        let (t, config, result) = (self.t, self.config, &self.item.result);
        self.candidate()?;
        let known = self.item.known;
        if config.no_settle {
            return Some("quiet");
        }
        if result.renamed {
            return Some("rename");
        }
        if result.by_exit {
            let exited = known.and_then(|known| known.exited)?;
            let coded = matches!(known.and_then(|known| known.status), Some(Status::Code(_)));
            return (coded || t >= exited + config.settle).then_some("exit");
        }
        if let Some((first, last)) = result.closed {
            return (t >= last + CLOSED || t >= first + config.settle).then_some("close");
        }
        let quiet = if result.written { config.settle_open } else { config.settle };
        (t >= result.since + quiet).then_some("quiet")
    }

    fn result_ready(&mut self) -> bool {
        let Some((settled, version)) = self.settled().zip(self.candidate()) else { return false };
        let after_death = self.item.life == Life::Died;
        self.recover("result");
        self.restore_all("end");
        self.item.life = Life::Ready;
        self.say_ready(settled, version, after_death, 0);
        true
    }

    fn say_ready(&mut self, settled: &'static str, version: Version, late: bool, rewrite: u64) {
        self.item.result.told = Some((version, rewrite));
        let what = What::Ready {
            elapsed_sec: self.item.elapsed(self.t).as_secs(),
            size: version.size,
            mtime: moment(version.mtime_ns),
            settled,
            after_death: late,
            rewrite,
            result_path: self.item.entry.spec.result_path.clone(),
        };
        self.say("result_ready", what, rewrite.to_string());
    }

    fn after_ready(&mut self) {
        let Some((told, rewrite)) = self.item.result.told else { return };
        if matches!(self.seen.result, ResultSeen::Absent | ResultSeen::NoFolder) {
            let result_path = self.item.entry.spec.result_path.clone();
            self.item.life = Life::Removed;
            let what = What::Result { mtime: moment(told.mtime_ns), result_path };
            self.say("result_removed", what, String::new());
        } else if self.config.rewrites
            && self.candidate().is_some_and(|version| version != told)
            && let Some((settled, version)) = self.settled().zip(self.candidate())
        {
            self.say_ready(settled, version, false, rewrite + 1);
        }
    }

    // The process.

    fn process(&mut self) {
        self.fate();
        match self.seen.named {
            Named::None if self.item.fresh => self.degrade("no_pid_file"),
            Named::Alive(who) => self.named(who),
            Named::Gone(who, reason) if self.item.known.is_none() => {
                self.forget_pid_reasons();
                self.item.known = Some(Known { who, exited: Some(self.t), reason, status: None });
                self.exited();
            }
            _ => {}
        }
        let lost = self.item.known.is_none_or(|known| known.exited.is_some());
        let missing = self.seen.named == Named::Missing && self.item.known.is_none();
        self.wait_to_degrade("pid_file_missing", missing, self.config.pid_grace);
        for reason in ["pid_file_invalid", "pid_file_stale", "pid_namespace"] {
            let useless = lost && self.seen.named == Named::Useless(reason);
            // Whoever writes the file in place makes it empty first.
            self.wait_to_degrade(reason, useless, CLOSED);
        }
    }

    fn fate(&mut self) {
        let (Some(mut known), Some(fate)) = (self.item.known, self.seen.fate) else { return };
        let (reason, status) = match fate {
            Fate::Alive => return,
            Fate::Exited(status) => ("exited", status),
            Fate::Reused => ("pid_reused", None),
        };
        let first = known.exited.is_none();
        if first {
            (known.exited, known.reason) = (Some(self.t), reason);
        }
        known.status = known.status.or(status);
        self.item.known = Some(known);
        if first {
            self.exited();
        }
        self.judge_writer(known);
    }

    /// The process is known to have ended just now.
    fn exited(&mut self) {
        let t = self.t;
        let result = &mut self.item.result;
        if result.closed.is_some_and(|(_, last)| t.saturating_sub(last) <= CLOSED) {
            result.by_exit = true;
        }
        if self.item.life != Life::Died {
            self.item.life = Life::Dying;
        }
    }

    /// What a killed writer left is not whole.
    fn judge_writer(&mut self, known: Known) {
        let (Some(Status::Signal(_)), Some(exited)) = (known.status, known.exited) else { return };
        let result = &mut self.item.result;
        let recent = exited.saturating_sub(result.since) < self.config.settle;
        let unseen = self.config.polling && result.since <= exited && recent;
        if result.by_exit || unseen {
            result.torn = result.version;
        }
    }

    fn named(&mut self, who: Who) {
        self.forget_pid_reasons();
        match self.item.known {
            Some(known) if known.who == who => {
                self.restore("pid_changed", "evidence");
                return;
            }
            Some(known) if known.exited.is_none() => {
                self.degrade("pid_changed");
                return;
            }
            Some(known) if self.item.life == Life::Died => {
                let what = What::Replaced { pid: who.pid, previous_pid: known.who.pid };
                self.say("process_replaced", what, identity(who));
            }
            Some(_) => self.recover("exit"),
            None => {}
        }
        self.item.known = Some(Known { who, exited: None, reason: "exited", status: None });
        (self.item.idle.cpu, self.item.idle.tree) = (None, None);
        self.item.life = Life::Running;
    }

    fn forget_pid_reasons(&mut self) {
        for reason in ["pid_file_missing", "pid_file_invalid", "pid_file_stale", "pid_namespace"] {
            self.item.pending.remove(reason);
            self.restore(reason, "evidence");
        }
    }

    /// Tells a death whose grace is over.
    fn death(&mut self) {
        let Some(known) = self.item.known.filter(|_| self.item.life == Life::Dying) else { return };
        let Some(exited) = known.exited else { return };
        if !self.config.once && self.t < exited + self.config.death_grace {
            return;
        }
        self.recover("exit");
        self.restore_all("end");
        self.item.life = Life::Died;
        let result = match self.item.result.version {
            None => "absent",
            Some(version) if version.size == 0 => "empty",
            Some(_) => "partial",
        };
        let (exit_code, exit_signal) = match known.status {
            Some(Status::Code(code)) => (Some(code), None),
            Some(Status::Signal(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        let what = What::Died {
            pid: known.who.pid,
            start_ticks: known.who.start_ticks,
            reason: known.reason,
            exit_code,
            exit_signal,
            result,
            elapsed_sec: self.item.elapsed(self.t).as_secs(),
        };
        self.say("process_died", what, identity(known.who));
    }

    // Progress and stalls.

    fn progress(&mut self) {
        if self.moved {
            self.progressed(self.t);
        }
        if let Some(found) = &self.seen.progress {
            self.compare(found);
        }
        let idle = &mut self.item.idle;
        if let (None, Some((ticks, _))) = (idle.cpu, self.seen.cpu) {
            idle.cpu = Some((self.t, ticks));
        }
        let silent = self.t.saturating_sub(idle.from);
        if silent >= self.item.stall(self.config) && self.item.life == Life::Running {
            self.stall(silent);
        } else if let (None, Some(ticks)) = (self.item.idle.tree, self.seen.tree) {
            self.item.idle.tree = Some((self.t, ticks));
        }
    }

    fn compare(&mut self, found: &Progress) {
        let idle = &mut self.item.idle;
        let before = idle.progress.replace(found.clone());
        if before.as_ref().is_some_and(|before| before.stamp == found.stamp) {
            return;
        }
        idle.evidence |= found.newest.is_some();
        let newest = found.newest.as_ref();
        let at =
            newest.map_or(Duration::ZERO, |(ns, _)| self.t.saturating_sub(since(*ns, self.now)));
        if before.is_none() {
            idle.from = idle.from.max(at);
        } else {
            // An older stamp than before is a change all the same, and just happened.
            let at = if at > idle.from { at } else { self.t };
            self.progressed(at);
        }
    }

    fn progressed(&mut self, at: Duration) {
        if self.item.life == Life::Stalled {
            self.recover("progress");
            self.item.life = Life::Running;
        }
        let idle = &mut self.item.idle;
        (idle.from, idle.cpu, idle.tree) = (at, None, None);
    }

    fn stall(&mut self, silent: Duration) {
        let Some(known) = self.item.known else { return };
        if !self.item.idle.evidence && self.item.idle.blindly {
            return;
        }
        let newest = self.item.idle.progress.as_ref().and_then(|found| found.newest.clone());
        let result_ns = self.item.result.version.map(|version| version.mtime_ns);
        let last = newest.as_ref().map(|(ns, _)| *ns).into_iter().chain(result_ns).max();
        let mark = last.unwrap_or(self.item.started.0).to_string();
        let idle = &mut self.item.idle;
        (idle.open, idle.blindly, idle.mark) = (true, !idle.evidence, mark.clone());
        idle.episode += 1;
        let what = What::Stalled {
            pid: known.who.pid,
            idle_sec: silent.as_secs(),
            idle_stall_sec: self.item.stall(self.config).as_secs_f64(),
            episode: self.item.idle.episode,
            evidence: if self.item.idle.evidence { "files" } else { "none" },
            proc_state: self.seen.cpu.map(|(_, state)| state.to_string()),
            cpu_pct: self.share(self.item.idle.cpu, self.seen.cpu.map(|cpu| cpu.0), CPU_LEAST),
            tree_cpu_pct: self.share(self.item.idle.tree, self.seen.tree, TREE / 2),
            last_progress_path: newest.map(|(_, path)| path),
        };
        self.item.life = Life::Stalled;
        self.say("stalled", what, mark);
    }

    /// Percent of one core between two samples.
    fn share(
        &self,
        from: Option<(Duration, u64)>,
        to: Option<u64>,
        least: Duration,
    ) -> Option<f64> {
        let ((at, before), after) = from.zip(to)?;
        let time = self.t.saturating_sub(at);
        if time < least {
            return None;
        }
        let ticks = u32::try_from(after.saturating_sub(before)).unwrap_or(u32::MAX);
        // A tick is a hundredth of a second, so ticks per second are percent.
        Some((f64::from(ticks) / time.as_secs_f64() * 10.0).round() / 10.0)
    }

    fn recover(&mut self, by: &'static str) {
        if !std::mem::take(&mut self.item.idle.open) {
            return;
        }
        let idle = &self.item.idle;
        let (episode, mark) = (idle.episode, idle.mark.clone());
        let idle_sec = self.t.saturating_sub(idle.from).as_secs();
        self.say("recovered", What::Recovered { idle_sec, episode, by }, mark);
    }

    // Timers.

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

    // What is degraded.

    fn wait_to_degrade(&mut self, reason: &'static str, holds: bool, grace: Duration) {
        if !holds {
            self.item.pending.remove(reason);
            // A pid file that went after a good look is no news, and one that came is told where
            // it is read.
            if !reason.starts_with("pid_") || self.seen.named != Named::Missing {
                self.restore(reason, "evidence");
            }
            return;
        }
        let since = *self.item.pending.entry(reason).or_insert(self.t);
        if self.config.once || self.t >= since + grace {
            self.degrade(reason);
        }
    }

    fn degrade(&mut self, reason: &'static str) {
        let (raised, count) = self.item.reasons.entry(reason).or_insert((false, 0));
        if std::mem::replace(raised, true) {
            return;
        }
        *count += 1;
        let mark = format!("{reason}\u{1f}{count}");
        self.say("item_degraded", What::Reason { reason }, mark);
    }

    fn restore(&mut self, reason: &'static str, by: &'static str) {
        let Some((raised, count)) = self.item.reasons.get_mut(reason) else { return };
        if !std::mem::replace(raised, false) {
            return;
        }
        let mark = format!("{reason}\u{1f}{count}");
        self.say("item_restored", What::Restored { reason, by }, mark);
    }

    fn restore_all(&mut self, by: &'static str) {
        let reasons: Vec<&'static str> = self.item.reasons.keys().copied().collect();
        for reason in reasons {
            self.restore(reason, by);
        }
        self.item.pending.clear();
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

fn identity(who: Who) -> String {
    let start = who.start_ticks.map_or_else(String::new, |ticks| ticks.to_string());
    format!("{}\u{1f}{start}", who.pid)
}

/// RFC 3339 of nanoseconds since 1970.
#[must_use]
pub fn moment(ns: i128) -> String {
    let second = i64::try_from(ns.div_euclid(1_000_000_000)).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(second).unwrap_or(jiff::Timestamp::MAX).to_string()
}

/// When the item is to be looked at again, on the monotonic clock.
#[must_use]
pub fn due(item: &Item, config: &Config, now: &Now) -> Option<Duration> {
    let t = clock(config, now);
    let mut dues = Vec::new();
    let result = &item.result;
    if item.life != Life::Removed && result.version.is_some_and(|version| version.size > 0) {
        let quiet = if result.written { config.settle_open } else { config.settle };
        dues.push(result.since + quiet);
        if let Some((first, last)) = result.closed {
            dues.extend([last + CLOSED, first + config.settle]);
        }
    }
    if let Some(known) = item.known
        && let Some(exited) = known.exited
        && item.life == Life::Dying
    {
        dues.extend([exited + config.death_grace, exited + config.settle]);
        if known.status.is_none() {
            dues.push(t + ASKED);
        }
    }
    if item.life == Life::Running && (item.idle.evidence || !item.idle.blindly) {
        let at = item.idle.from + item.stall(config);
        dues.extend([at, at.saturating_sub(TREE)]);
    }
    let counts = matches!(item.life, Life::Unknown | Life::Running | Life::Stalled);
    if let Some(limit) = item.limit().filter(|_| counts) {
        let after = |time: Duration| (item.at + time).saturating_sub(item.ran);
        dues.extend([after(limit * config.margin / 100), after(limit)]);
    }
    for (reason, since) in &item.pending {
        let grace = match *reason {
            "pid_file_missing" => config.pid_grace,
            "result_dir_missing" => NO_FOLDER,
            _ => CLOSED,
        };
        dues.push(*since + grace);
    }
    let next = dues.into_iter().filter(|due| *due > t).min()?;
    Some(now.monotonic + next.saturating_sub(t))
}

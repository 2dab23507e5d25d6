//! The watch: registry, folders and processes, pass by pass.

use std::{
    collections::BTreeSet,
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};

use shared::{
    clock::Now,
    exit::{Ended, Error, Reason},
    file::Stamp,
    follow::{Follower, State},
    health::{Extent, Health, Reasons},
    pidfile,
    session::{Look, Session},
};

use crate::{
    args::Args,
    desk::{Desk, Origin},
    eyes::Eyes,
    item::{Life, ResultSeen},
    probe::Probe,
    step::{due, step},
};

/// How often what can't be waited for is looked at.
const POLL: Duration = Duration::from_secs(1);

/// All that a run keeps.
#[derive(Debug)]
pub struct Watch {
    args: Args,
    registry: Option<PathBuf>,
    follower: Follower,
    desk: Desk,
    eyes: Eyes,
    probe: Probe,
    reasons: Reasons,
    seen_registry: bool,
    input_ended: bool,
    folderless: bool,
    planned: Option<Duration>,
    swept: Option<Duration>,
}

impl Watch {
    /// Prepares a run.
    ///
    /// # Errors
    ///
    /// A working directory that is gone, or no descriptors.
    pub fn new(args: &Args, session: &mut Session) -> Result<Self, Error> {
        let absolute =
            |path: &Path| std::path::absolute(path).map_err(|err| Error::io("resolve", path, &err));
        let registry = args.registry().as_deref().map(absolute).transpose()?;
        let base = absolute(args.base_dir.as_deref().unwrap_or(Path::new(".")))?;
        // One descriptor goes to each process; with fewer some are polled.
        let _ = pidfile::raise_limit();
        let bell = session.waiter().bell().map_err(Error::on("make a bell"))?;
        let shut = args.running.poll_only || args.running.once;
        let shown = registry.as_ref().map_or_else(|| "-".to_owned(), |p| p.display().to_string());
        session.set_subject(&shown);
        session.sweep_every(args.poll_interval);
        let eyes = Eyes::new(bell, shut);
        let mut config = args.config();
        config.polling |= eyes.are_shut();
        Ok(Self {
            args: args.clone(),
            follower: Follower::new(registry.as_deref()),
            registry,
            desk: Desk::new(config, base),
            eyes,
            probe: Probe::default(),
            reasons: Reasons::default(),
            seen_registry: false,
            input_ended: false,
            folderless: false,
            planned: None,
            swept: None,
        })
    }

    /// One pass, and the wait for the next.
    ///
    /// # Errors
    ///
    /// A registry that is neither file nor FIFO; those of stdout and poll(2); no result where
    /// `--until` wants one.
    pub fn pass(&mut self, session: &mut Session) -> Result<ControlFlow<Ended>, Error> {
        let now = session.pass(&[])?.now;
        self.desk.pass(self.planned, self.args.poll_interval, &now);
        self.arm();
        let mut health: Vec<Health> = self.read(&now)?.into_iter().collect();
        // Folders of new items are watched before they are looked at.
        self.arm();
        health.extend(self.mind_eyes(&now));
        self.look(&now);
        self.describe(session);
        let told = std::mem::take(&mut self.desk.told);
        if let ControlFlow::Break(ended) = session.tell(&now, &health, &told)? {
            return Ok(ControlFlow::Break(ended));
        }
        if let Some(ended) = self.ended(session)? {
            return Ok(ControlFlow::Break(ended));
        }
        self.pause(session, &now)
    }

    fn read(&mut self, now: &Now) -> Result<Option<Health>, Error> {
        let first = !self.seen_registry;
        let is_file = self.registry.as_ref().is_some_and(|path| path.is_file());
        let desk = &mut self.desk;
        let state = self.follower.read(&mut |said| desk.take(said, is_file, now));
        let shown = self.registry.clone().unwrap_or_default();
        let state = state.map_err(|err| Error::io("read the registry", &shown, &err))?;
        self.input_ended = state == State::Ended || (self.registry.is_some());
        if state == State::Absent {
            let was = self.desk.items.is_empty() && first;
            // One that never was is waited for without complaint, but what comes then is new.
            self.seen_registry = true;
            let retry = self.args.poll_interval;
            let gone = format!("{}: no such file", shown.display());
            return Ok((!was)
                .then(|| self.reasons.degrade("items_missing", &gone, retry, now))
                .flatten());
        }
        self.seen_registry = true;
        let registry_ns = fs::metadata(&shown).ok().map(|meta| Stamp::of(&meta).modified_ns);
        let origin = Origin { registry_ns, process_ns: &process_ns };
        self.desk.read(Some(&origin).filter(|_| first && is_file), now);
        Ok(self.reasons.recover("items_missing", now))
    }

    fn arm(&mut self) {
        let (mut results, mut names, mut open) =
            <(BTreeSet<_>, BTreeSet<_>, BTreeSet<_>)>::default();
        names.extend(self.registry.clone().filter(|path| !path.is_dir()));
        for item in self.desk.items.values() {
            let spec = &item.entry.spec;
            if item.life != Life::Removed {
                results.insert(PathBuf::from(&spec.result_path));
            }
            if !matches!(item.life, Life::Ready | Life::Removed) {
                names.extend(spec.pid_file.iter().map(PathBuf::from));
            }
            if item.life == Life::Stalled {
                for path in &spec.progress {
                    let path = PathBuf::from(path);
                    let set = if path.is_dir() { &mut open } else { &mut names };
                    set.insert(path);
                }
            }
        }
        self.eyes.arm(&results, &names, &open);
    }

    fn mind_eyes(&mut self, now: &Now) -> Vec<Health> {
        let refusal = self.eyes.refusal.clone();
        let limit = match refusal {
            Some(cause) => {
                self.desk.config.polling = true;
                self.reasons.degrade("watch_limit", &cause, self.args.poll_interval, now)
            }
            None => self.reasons.recover("watch_limit", now),
        };
        let mut health: Vec<Health> = limit.into_iter().collect();
        if self.eyes.overflowed() {
            let detail = "changes came too fast";
            health.extend(self.reasons.degrade("watch_overflow", detail, Duration::ZERO, now));
            // The pass that follows looks at everything.
            health.extend(self.reasons.recover("watch_overflow", now));
        }
        health
    }

    fn look(&mut self, now: &Now) {
        let sweep = self.args.poll_interval;
        let swept = self.swept.is_none_or(|at| now.monotonic >= at + sweep);
        if swept {
            self.swept = Some(now.monotonic);
        }
        self.probe.keep(&self.desk.items);
        self.folderless = false;
        let Desk { config, items, told, .. } = &mut self.desk;
        for (key, item) in items {
            if item.life == Life::Removed {
                continue;
            }
            // What was known of a stalled item's CPU is asked for at the moment of telling.
            let wants = item.wants(config, swept, now);
            let seen = self.probe.look(key, item, wants, swept, &self.eyes);
            self.folderless |= seen.result == ResultSeen::NoFolder && item.life < Life::Ready;
            told.extend(step(item, &seen, config, now));
        }
    }

    fn describe(&self, session: &mut Session) {
        let mut mechanisms = vec!["poll"];
        let mut holes = Vec::new();
        if self.probe.pidfds() {
            mechanisms.insert(0, "pidfd");
        } else {
            holes.push("no pidfd: polling every second");
        }
        if self.eyes.are_shut() {
            holes.push("no inotify: sweep only");
        } else {
            mechanisms.insert(0, "inotify");
        }
        let folder = self.registry.as_deref().and_then(Path::parent);
        if folder.is_some_and(|dir| shared::watch::is_remote(dir).unwrap_or(false)) {
            holes.push("network file system: sweep only");
        }
        if !pidfile::has_status() {
            holes.push("no exit status of other processes");
        }
        let poll_interval_sec = self.args.poll_interval.as_secs();
        let items = self.desk.items.len();
        session.set_extent(Extent { items, poll_interval_sec, mechanisms }, &holes);
    }

    fn ended(&self, session: &mut Session) -> Result<Option<Ended>, Error> {
        if self.desk.shutdown {
            return session.finish("shutdown_request", Ended::Done).map(Some);
        }
        let until = self.args.until.filter(|_| self.input_ended);
        match until.and_then(|until| self.desk.over(until)) {
            None => Ok(None),
            Some(true) => session.finish("until", Ended::Done).map(Some),
            Some(false) => {
                let message = "unable to wait for a result: an item ended without one";
                Err(Error::new(Reason::NotFound, "no_result", message))
            }
        }
    }

    fn pause(&mut self, session: &mut Session, now: &Now) -> Result<ControlFlow<Ended>, Error> {
        let config = &self.desk.config;
        let mut dues: Vec<Duration> =
            self.desk.items.values().filter_map(|item| due(item, config, now)).collect();
        if self.folderless || self.probe.has_unheld() {
            dues.push(now.monotonic + POLL);
        }
        let due = dues.into_iter().min();
        let sweep = now.monotonic + self.args.poll_interval;
        self.planned = Some(due.map_or(sweep, |due| due.min(sweep)));
        let mut inputs = self.probe.ends(&self.desk.items);
        inputs.extend(self.follower.fd());
        // A registry that isn't there yet may lie in a folder that isn't there, either.
        session.pause_on(Look::Whole, due, &inputs)
    }
}

fn process_ns(pid_file: &str) -> Option<i128> {
    let pidfile::Named::Alive(held) = pidfile::read(Path::new(pid_file), false) else {
        return None;
    };
    Some(i128::from(pidfile::start_ms(held.who.start_ticks?)?) * 1_000_000)
}

//! The watch: registry, folders and processes, pass by pass.

use std::{
    fs, io,
    ops::ControlFlow,
    os::unix::fs::FileTypeExt as _,
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
    eyes::{Eyes, Wanted},
    item::Life,
    probe::{self, Probe},
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
    /// The registry was read, or found missing.
    asked_registry: bool,
    /// It was read, so that its absence is news.
    had_registry: bool,
    input_ended: bool,
    described: bool,
    /// When this pass was to begin.
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
        let shown = registry.as_ref().map_or_else(|| "-".to_owned(), |p| p.display().to_string());
        session.set_subject(&shown);
        session.sweep_every(args.poll_interval);
        Ok(Self {
            args: args.clone(),
            follower: Follower::new(registry.as_deref()),
            registry,
            desk: Desk::new(args.config(), base),
            eyes: Eyes::new(bell, args.running.poll_only || args.running.once),
            probe: Probe::default(),
            reasons: Reasons::default(),
            asked_registry: false,
            had_registry: false,
            input_ended: false,
            described: false,
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
        let (look, mut health) = self.read(&now)?;
        // The folders of new items are watched before they are looked at.
        let new = self.arm();
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
        // What a stall makes worth watching may have moved before it was watched, and so may a
        // registry whose folder is new.
        let again = self.arm() || new;
        self.pause(session, look, again, &now)
    }

    /// Takes in what the registry has to say.
    fn read(&mut self, now: &Now) -> Result<(Look, Vec<Health>), Error> {
        let is_file = self.registry.as_ref().is_some_and(|path| path.is_file());
        let desk = &mut self.desk;
        let read = self.follower.read(&mut |said| desk.take(said, is_file, now));
        let shown = self.registry.clone().unwrap_or_default();
        let retry = self.args.poll_interval;
        let state = match read {
            Ok(state) => state,
            Err(err) if is_followed(&shown) => {
                let detail = format!("{}: {err}", shown.display());
                let degraded = self.reasons.degrade("items_unreadable", &detail, retry, now);
                return Ok((Look::Blind, degraded.into_iter().collect()));
            }
            Err(err) => return Err(Error::io("read the registry", &shown, &err)),
        };
        let first = !std::mem::replace(&mut self.asked_registry, true);
        self.input_ended = state == State::Ended || self.registry.is_some();
        if state == State::Absent {
            // One that never was is waited for without complaint, but what comes then is new.
            let detail = format!("{}: no such file", shown.display());
            let gone = self
                .had_registry
                .then(|| self.reasons.degrade("items_missing", &detail, retry, now));
            return Ok((Look::Whole, gone.flatten().into_iter().collect()));
        }
        self.had_registry = true;
        let registry_ns = fs::metadata(&shown).ok().map(|meta| Stamp::of(&meta).modified_ns);
        let origin = Origin { registry_ns, process_ns: &process_ns };
        self.desk.read(Some(&origin).filter(|_| first && is_file), now);
        let seen = ["items_missing", "items_unreadable"];
        let health = seen.into_iter().filter_map(|reason| self.reasons.recover(reason, now));
        Ok((Look::Whole, health.collect()))
    }

    /// Watches what matters now; true when something was not watched before.
    fn arm(&mut self) -> bool {
        let mut wanted = Wanted::default();
        if let Some(registry) = &self.registry {
            wanted.names.insert(registry.clone());
            // What others append through a link changes where it leads.
            wanted
                .names
                .extend(registry.is_symlink().then(|| registry.canonicalize().ok()).flatten());
        }
        for item in self.desk.items.values() {
            let spec = &item.entry.spec;
            if item.life != Life::Removed {
                wanted.results.insert(PathBuf::from(&spec.result_path));
            }
            if item.life < Life::Ready {
                wanted.names.extend(spec.pid_file.iter().map(PathBuf::from));
            }
            if item.life == Life::Stalled {
                let paths = spec.progress.iter().map(PathBuf::from);
                let (folders, files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
                wanted.folders.extend(folders);
                wanted.names.extend(files);
            }
        }
        self.eyes.arm(&wanted)
    }

    fn mind_eyes(&mut self, now: &Now) -> Vec<Health> {
        let limit = match self.eyes.refusal() {
            Some(cause) => self.reasons.degrade("watch_limit", cause, self.args.poll_interval, now),
            None => self.reasons.recover("watch_limit", now),
        };
        let mut health: Vec<Health> = limit.into_iter().collect();
        if self.eyes.overflowed() {
            let detail = "changes came too fast";
            health.extend(self.reasons.degrade("watch_overflow", detail, Duration::ZERO, now));
            // The look that follows is at everything.
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
        // What was told comes before what is seen.
        let mut signals = self.eyes.signals();
        let Desk { config, items, told, .. } = &mut self.desk;
        for (key, item) in items.iter_mut().filter(|(_, item)| item.life != Life::Removed) {
            let path = Path::new(&item.entry.spec.result_path);
            let of_result = || signals.get(path).cloned().unwrap_or_default();
            let heard = self.eyes.watch(path).then(of_result);
            let wants = item.wants(config, swept, now);
            let mut seen = self.probe.look(key, item, wants, heard);
            if seen.watched && item.is_surprised(&seen) {
                // The system has told what came before, but our thread had no time to listen.
                let late = self.eyes.late(path);
                signals.entry(path.to_owned()).or_default().extend(&late);
                seen.signals.extend(late);
                seen.result = probe::result(path);
            }
            told.extend(step(item, &seen, config, now));
        }
    }

    /// Says by what means the watch sees, as things are when it is armed.
    fn describe(&mut self, session: &mut Session) {
        if std::mem::replace(&mut self.described, true) {
            return;
        }
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
        let results = self.desk.items.values().map(|item| Path::new(&item.entry.spec.result_path));
        let mut folders =
            self.registry.as_deref().into_iter().chain(results).filter_map(Path::parent);
        if folders.any(|dir| shared::watch::is_remote(dir).unwrap_or(false)) {
            holes.push("network file system: sweep only");
        }
        if !pidfile::has_status() {
            holes.push("no exit status of other processes");
        }
        let poll_interval = self.args.poll_interval;
        let items = self.desk.items.len();
        session.set_extent(Extent { items, poll_interval, mechanisms }, &holes);
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

    fn pause(
        &mut self,
        session: &mut Session,
        look: Look,
        again: bool,
        now: &Now,
    ) -> Result<ControlFlow<Ended>, Error> {
        let Desk { config, items, .. } = &self.desk;
        let mut dues: Vec<Duration> =
            items.values().filter_map(|item| due(item, config, now)).collect();
        if self.lacks_folder() || self.probe.has_unheld(items) {
            dues.push(now.monotonic + POLL);
        }
        dues.extend(again.then_some(now.monotonic));
        let due = dues.into_iter().min();
        let sweep = now.monotonic + self.args.poll_interval;
        self.planned = Some(due.map_or(sweep, |due| due.min(sweep)));
        let mut inputs = self.probe.ends(items);
        inputs.extend(self.follower.fd());
        session.pause_on(look, due, &inputs)
    }

    /// Whether something is waited for in a folder that isn't there, which nobody tells of.
    fn lacks_folder(&self) -> bool {
        let open = self.desk.items.values().filter(|item| item.life < Life::Ready);
        let results = open.map(|item| Path::new(&item.entry.spec.result_path));
        let mut folders =
            self.registry.as_deref().into_iter().chain(results).filter_map(Path::parent);
        folders.any(|dir| !dir.is_dir())
    }
}

/// Whether this is something that can be followed, so that a failure may pass.
fn is_followed(registry: &Path) -> bool {
    fs::metadata(registry).map_or_else(
        |err| err.kind() == io::ErrorKind::PermissionDenied,
        |meta| meta.is_file() || meta.file_type().is_fifo(),
    )
}

fn process_ns(pid_file: &str) -> Option<i128> {
    let pidfile::Named::Alive(held) = pidfile::read(Path::new(pid_file), false) else {
        return None;
    };
    Some(i128::from(pidfile::start_ms(held.who.start_ticks?)?) * 1_000_000)
}

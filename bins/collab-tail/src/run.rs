//! The run of the program: look, say, wait, until there is a reason to end.

use std::{ops::ControlFlow, path::PathBuf, time::Duration};

use shared::{
    clock::{self, Now},
    exit::{self, Ended, Error, Reason},
    health::{Health, Reasons},
    line::Speaker,
    service::Service,
    wait::{Stop, Waiter, Wake},
    watch::{self, Watch},
};

use crate::{
    args::{Args, Format},
    desk::{Desk, Looked},
    event::{Armed, Told},
    open, record,
    voice::{Said, Voice},
};

/// The program's name.
pub const NAME: &str = "collab-tail";

/// What it does not see.
pub const NOT_COVERED: [&str; 7] = [
    "a rewrite is told at the next look, but not by whom nor what stood there",
    "posts outside the grammar of this mode",
    "an unclosed last message: a direct line stays silent until it is signed or a heading follows",
    "mail inside one's own block, unless somebody else signs it",
    "the death of this process",
    "completion that stands only in an agents' registry",
    "two agents that wait for each other",
];

/// How soon a watch that isn't ready looks again.
const UNREADY: Duration = Duration::from_secs(1);
/// The floor sweep where the kernel doesn't tell of what others change.
const REMOTE_SWEEP: Duration = Duration::from_secs(2);

struct Run<'a> {
    args: &'a Args,
    waiter: Waiter,
    watch: Watch,
    voice: Voice,
    service: Service,
    reasons: Reasons,
    started: Duration,
    sweep: Duration,
    is_remote: bool,
    is_ready: bool,
}

/// Runs the program that `args` ask for.
///
/// # Errors
///
/// Usage, a store that can't be used, a lock that is held.
pub fn run(args: &Args) -> Result<Ended, Error> {
    open::check(args)?;
    let waiter =
        Waiter::new(args.running.parent_pid).map_err(Error::on("take over the signals"))?;
    let bell = waiter.bell().map_err(Error::on("make a bell"))?;
    let now = clock::monotonic();
    let source = args.running.source.clone().unwrap_or_else(|| NAME.to_owned());
    let speaker = Speaker { program: NAME, source, subject: String::new() };
    let mut run = Run {
        args,
        waiter,
        watch: Watch::new(bell, args.running.poll_only),
        voice: Voice::new(speaker, args.format, format!("@{}", args.listener), now),
        service: Service::from_env(),
        reasons: Reasons::default(),
        started: now,
        sweep: now + args.poll_interval,
        is_remote: false,
        is_ready: false,
    };
    let ended = run.open().and_then(|desk| desk.map_or(Ok(Ended::Done), |desk| run.go(desk)));
    ended.inspect_err(|err| run.say_failed(err))
}

impl Run<'_> {
    /// Takes lock and state, and says so in text. `None`: nobody listens.
    fn open(&mut self) -> Result<Option<Desk>, Error> {
        let opened = open::desk(self.args, &self.waiter, |warning| {
            let now = clock::now();
            // The program ends with it, whether it can be said or not.
            let _ = self.voice.tell(&Told::WatchWarn(warning), None, &now, &self.waiter);
        })?;
        if self.args.format == Format::Text {
            let files = opened.desk.watching().len();
            let typed = format!("@{}", self.args.listener);
            let state = opened.folder.display().to_string();
            for line in record::armed(&typed, files, &state, &NOT_COVERED) {
                let said = self.voice.print(&line, &clock::now(), &self.waiter);
                if matches!(said.map_err(Error::on("wait for stdout"))?, Said::Stop(_)) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(opened.desk))
    }

    fn go(&mut self, mut desk: Desk) -> Result<Ended, Error> {
        let mut is_first = true;
        loop {
            let began = clock::monotonic();
            let folders = desk.folders();
            self.arm(&folders)?;
            let retry = if self.is_ready { self.args.poll_interval } else { UNREADY };
            let looked = match desk.look(&mut self.voice, &self.waiter, retry)? {
                ControlFlow::Break(stop) => return self.stop(stop),
                ControlFlow::Continue(looked) => looked,
            };
            let ended = self.judge(&looked, &desk)?;
            if std::mem::take(&mut is_first) {
                desk.bury();
            }
            if let Some(ended) = ended {
                return Ok(ended);
            }
            if let Some(ended) = self.pause(&looked, began)? {
                return Ok(ended);
            }
        }
    }

    /// Asks the system to tell of changes, before the look that they could fall into.
    fn arm(&mut self, folders: &[PathBuf]) -> Result<(), Error> {
        let now = clock::now();
        if self.args.running.once {
            return Ok(());
        }
        self.watch.arm(folders, now.monotonic);
        let far = folders.iter().find(|folder| watch::is_remote(folder).unwrap_or(false));
        if let Some(far) = far.filter(|_| !self.is_remote) {
            self.is_remote = true;
            self.sweep = self.sweep.min(now.monotonic + REMOTE_SWEEP);
            let far = far.display();
            exit::warn(
                NAME,
                &format!("{far} is on a file system that others change: looking every 2 s"),
            );
        }
        let overflow = if self.watch.take().overflowed {
            let cause = "changes came too fast";
            self.reasons.degrade("watch_overflow", cause, Duration::ZERO, &now)
        } else {
            self.reasons.recover("watch_overflow", &now)
        };
        let refusal = self.watch.refusal().map(ToOwned::to_owned);
        let limit = match refusal {
            Some(cause) => self.reasons.degrade("watch_limit", &cause, watch::RETRY, &now),
            None => self.reasons.recover("watch_limit", &now),
        };
        overflow.into_iter().chain(limit).try_for_each(|health| self.say(&health, &now).map(drop))
    }

    /// What the flags and the manager want to know of a look.
    fn judge(&mut self, looked: &Looked, desk: &Desk) -> Result<Option<Ended>, Error> {
        let now = clock::now();
        let is_complete = looked.complete && !looked.settling;
        if is_complete && !self.is_ready {
            self.is_ready = true;
            self.service.ready();
            if self.args.announces() && self.args.format == Format::Ndjson {
                let armed = armed(self.args, desk, &now);
                let said = self.voice.tell(&armed, None, &now, &self.waiter);
                if let Said::Stop(stop) = said.map_err(Error::on("wait for stdout"))? {
                    return self.stop(stop).map(Some);
                }
            }
        } else if !self.is_ready {
            self.service.status(&looked.trouble);
        }
        if self.args.running.once {
            let ended = if is_complete { Ended::Done } else { Ended::Incomplete };
            return self.announce_end("once", ended).map(Some);
        }
        if self.args.running.wait.is_some() && self.voice.had_news() {
            return self.announce_end("result", Ended::Done).map(Some);
        }
        Ok(None)
    }

    /// Waits for a change, for what is due, for the sweep. `Some`: the run is over.
    fn pause(&mut self, looked: &Looked, began: Duration) -> Result<Option<Ended>, Error> {
        let ended = clock::monotonic();
        // A storm of changes costs a third of a core at worst.
        let rested = ended + (ended.saturating_sub(began) * 2).min(Duration::from_secs(1));
        let unready = (!self.is_ready).then(|| ended + UNREADY);
        let mut rung = false;
        loop {
            let look = rung.then_some(rested);
            let due = [look, looked.due, unready, Some(self.sweep), self.next_timer()];
            let wake = self.waiter.wait(due.into_iter().flatten().min(), None);
            match wake.map_err(Error::on("wait"))? {
                Wake::Stop(stop) => return self.stop(stop).map(Some),
                Wake::Rung => rung = true,
                Wake::Due | Wake::Ready => {}
            }
            let now = clock::now();
            if let Some(ended) = self.run_timers(&now)? {
                return Ok(Some(ended));
            }
            let passed = |at: Option<Duration>| at.is_some_and(|at| at <= now.monotonic);
            if passed(Some(self.sweep)) {
                let every = self.args.poll_interval;
                let every = if self.is_remote { every.min(REMOTE_SWEEP) } else { every };
                self.sweep = now.monotonic + every;
                return Ok(None);
            }
            if passed(looked.due) || passed(unready) || (rung && passed(Some(rested))) {
                return Ok(None);
            }
        }
    }

    fn next_timer(&self) -> Option<Duration> {
        let running = &self.args.running;
        let since_start = |after: Option<Duration>| after.map(|after| self.started + after);
        [
            since_start(running.wait),
            since_start(running.max_runtime),
            running.alive.map(|after| self.voice.spoke() + after),
            self.service.watchdog_interval().map(|every| clock::monotonic() + every),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Does what is due by the flags; `Some` when that is to end.
    fn run_timers(&mut self, now: &Now) -> Result<Option<Ended>, Error> {
        self.service.watchdog();
        let running = &self.args.running;
        let ran = now.monotonic.saturating_sub(self.started);
        if running.wait.is_some_and(|limit| ran >= limit) {
            return self.announce_end("wait", Ended::NoResult).map(Some);
        }
        if running.max_runtime.is_some_and(|limit| ran >= limit) {
            // Said without --announce too: it is the signal to arm again.
            self.say(&Health::stopped("max_runtime", now), now)?;
            return Ok(Some(Ended::Done));
        }
        let silence = now.monotonic.saturating_sub(self.voice.spoke());
        if running.alive.is_some_and(|limit| silence >= limit) {
            self.say(&Health::alive(now), now)?;
        }
        Ok(None)
    }

    fn stop(&mut self, stop: Stop) -> Result<Ended, Error> {
        if stop == Stop::ReaderGone {
            return Ok(Ended::Done);
        }
        self.announce_end(stop.word(), Ended::Done)
    }

    fn announce_end(&mut self, reason: &str, ended: Ended) -> Result<Ended, Error> {
        if self.args.announces() {
            let now = clock::now();
            self.say(&Health::stopped(reason, &now), &now)?;
        }
        Ok(ended)
    }

    fn say(&mut self, health: &Health, now: &Now) -> Result<Said, Error> {
        self.voice.say(health, now, &self.waiter).map_err(Error::on("wait for stdout"))
    }

    /// The last line before an exit that is not 0, unless usage is the cause.
    fn say_failed(&mut self, err: &Error) {
        if err.reason() != Reason::Usage {
            let now = clock::now();
            let failed = Health::failed(err.word(), &err.to_string(), err.reason() as u8, &now);
            let _ = self.say(&failed, &now);
        }
    }
}

fn armed(args: &Args, desk: &Desk, now: &Now) -> Told {
    let watching = desk.watching();
    Told::MonitorArmed(Armed {
        listener: desk.listener().to_owned(),
        route: args.route,
        files: watching.len(),
        not_covered: NOT_COVERED.to_vec(),
        watching,
        said_at: now.timestamp().to_string(),
    })
}

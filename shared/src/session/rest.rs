//! The pauses of a run and its end: what the flags, the service manager and who stops it want.

use std::{ops::ControlFlow, os::fd::BorrowedFd, time::Duration};

use super::{Look, Session};
use crate::{
    clock::{self, Now},
    exit::{Ended, Error},
    health::Health,
    wait::{Stop, Wake},
};

impl Session {
    /// Ends a pass that came to `look`, and waits: for a change, for `due` (on the monotonic
    /// clock), for the sweep. Break: the run is over.
    ///
    /// # Errors
    ///
    /// Those of stdout and poll(2).
    pub fn pause(
        &mut self,
        look: Look,
        due: Option<Duration>,
    ) -> Result<ControlFlow<Ended>, Error> {
        self.pause_on(look, due, &[])
    }

    /// The same, which ends as soon as one of `inputs` is readable, too.
    ///
    /// # Errors
    ///
    /// Those of stdout and poll(2).
    pub fn pause_on(
        &mut self,
        look: Look,
        due: Option<Duration>,
        inputs: &[BorrowedFd<'_>],
    ) -> Result<ControlFlow<Ended>, Error> {
        let now = clock::now();
        if let Some(ended) = self.judge(look, &now)? {
            return Ok(ControlFlow::Break(ended));
        }
        self.waiter.service().watchdog();
        if look != Look::Settling {
            self.sweep.looked();
        }
        // A storm of changes costs a third of a core at worst.
        let rest = (now.monotonic.saturating_sub(self.pass_began) * 2).min(Duration::from_secs(1));
        self.sleep(due, now.monotonic + rest, inputs)
    }

    /// Ends a run that has nothing left to watch, after a whole look.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn finish(&mut self, reason: &str, ended: Ended) -> Result<Ended, Error> {
        let now = clock::now();
        self.complete(&now)?;
        self.announce_end(reason, ended, &now)
    }

    fn sleep(
        &mut self,
        due: Option<Duration>,
        rested: Duration,
        inputs: &[BorrowedFd<'_>],
    ) -> Result<ControlFlow<Ended>, Error> {
        let mut rung = false;
        loop {
            let look = rung.then_some(rested);
            let deadline =
                [look, due, self.sweep.due(), self.next_timer()].into_iter().flatten().min();
            let wake =
                self.waiter.wait(deadline, inputs.iter().copied()).map_err(Error::on("wait"))?;
            let now = clock::now();
            match wake {
                Wake::Stop(stop) => return self.stop(stop, &now).map(ControlFlow::Break),
                Wake::Rung => rung = true,
                Wake::Due | Wake::Ready => {}
            }
            let is_ready = wake == Wake::Ready;
            if let Some(ended) = self.run_timers(&now)? {
                return Ok(ControlFlow::Break(ended));
            }
            let passed = |at: Option<Duration>| at.is_some_and(|at| at <= now.monotonic);
            let is_swept = self.sweep.passes(now.monotonic);
            if is_swept || is_ready || passed(due) || (rung && rested <= now.monotonic) {
                return Ok(ControlFlow::Continue(()));
            }
        }
    }

    /// What `--once`, `--wait` and the manager want to know of a look.
    fn judge(&mut self, look: Look, now: &Now) -> Result<Option<Ended>, Error> {
        if look == Look::Whole {
            self.complete(now)?;
        }
        if self.running.once && look != Look::Settling {
            let ended = if look == Look::Whole { Ended::Done } else { Ended::Incomplete };
            return self.announce_end("once", ended, now).map(Some);
        }
        if self.running.wait.is_some() && self.had_news {
            return self.announce_end("result", Ended::Done, now).map(Some);
        }
        Ok(self.out.stop().map(|_| Ended::Done))
    }

    /// Everything was seen.
    pub(super) fn complete(&mut self, now: &Now) -> Result<(), Error> {
        let recovered = self.reasons.recover("watch_overflow", now);
        self.say_health(now, recovered)?;
        if !self.armed {
            self.armed = true;
            self.waiter.service().ready();
            if self.announces() {
                let armed = {
                    let (extent, watching) = (self.extent.take(), &self.speaker.subject);
                    Health::armed(watching, extent, &self.holes, now)
                };
                self.say_health(now, Some(armed))?;
            }
        }
        Ok(())
    }

    fn next_timer(&self) -> Option<Duration> {
        let since_start = |after: Option<Duration>| after.map(|after| self.started + after);
        [
            since_start(self.running.wait),
            since_start(self.running.max_runtime),
            self.running.alive.map(|after| self.spoke + after),
            self.waiter.service().watchdog_interval().map(|every| clock::monotonic() + every),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Does what is due by the flags; `Some` when that is to end.
    fn run_timers(&mut self, now: &Now) -> Result<Option<Ended>, Error> {
        self.waiter.service().watchdog();
        let ran = now.monotonic.saturating_sub(self.started);
        if self.running.wait.is_some_and(|limit| ran >= limit) {
            return self.announce_end("wait", Ended::NoResult, now).map(Some);
        }
        if self.running.max_runtime.is_some_and(|limit| ran >= limit) {
            // Said without --announce too: it is the signal to arm again.
            self.say_health(now, Some(Health::stopped("max_runtime", now)))?;
            return Ok(Some(Ended::Done));
        }
        let silence = now.monotonic.saturating_sub(self.spoke);
        if self.running.alive.is_some_and(|limit| silence >= limit) {
            self.say_health(now, Some(Health::alive(now)))?;
        }
        Ok(None)
    }

    fn announces(&self) -> bool {
        self.running.announce || (self.program.announces && !self.running.no_announce)
    }

    fn stop(&mut self, stop: Stop, now: &Now) -> Result<Ended, Error> {
        if stop == Stop::ReaderGone {
            return Ok(Ended::Done);
        }
        self.announce_end(stop.word(), Ended::Done, now)
    }

    fn announce_end(&mut self, reason: &str, ended: Ended, now: &Now) -> Result<Ended, Error> {
        if self.announces() {
            self.say_health(now, Some(Health::stopped(reason, now)))?;
        }
        Ok(ended)
    }
}

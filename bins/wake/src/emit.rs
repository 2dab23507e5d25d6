//! What a run says: its lines, each written down before it leaves, and its own health.

use std::io;

use shared::{
    clock::{self, Now},
    exit::Error,
    health::Health,
};

use crate::{
    answers::Answers,
    decide::Emission,
    line::{self, Line, Voice},
    run::{Run, SWEEP, Step, go_on},
    store::RETRY,
};

impl Run<'_> {
    /// Prints what is to be printed now. The end of the watch is that of the run.
    pub(crate) fn emit(&mut self, now: &Now) -> Step {
        while let Some(emission) = self.engine.emission(self.clock.ms(now)) {
            self.print(&emission, now)?;
        }
        if self.engine.is_over() { Err(crate::run::Halt::done()) } else { Ok(()) }
    }

    /// At least once: the line is in the state before it leaves, and done with after that.
    fn print(&mut self, emission: &Emission, now: &Now) -> Step {
        let bytes = match &emission.again {
            Some(line) => format!("{line}\n").into_bytes(),
            None => self.compose(emission, now).map_err(Error::on("make a line"))?.bytes,
        };
        let text = String::from_utf8_lossy(bytes.strip_suffix(b"\n").unwrap_or(&bytes));
        self.engine.put_line(&text);
        self.save(now)?;
        go_on(self.session.tell_lines(now, [&*bytes])?)?;
        self.has_told = true;
        self.engine.flushed(self.clock.ms(now));
        if let Some(books) = &mut self.books {
            books.printed(&bytes, now);
        }
        self.save(now)
    }

    /// The line, with evidence where it can be written.
    fn compose(&mut self, emission: &Emission, now: &Now) -> io::Result<Line> {
        let (source, timestamp) = (&self.session.speaker().source, now.timestamp());
        let voice = Voice { source, timestamp };
        if let Some(books) = &mut self.books {
            let path = books.evidence_path(&emission.claim);
            let line = line::compose(emission, &self.looks, voice, Some(&path))?;
            if books.testify(emission, &line.text, timestamp, &self.engine, &self.looks).is_ok() {
                return Ok(line);
            }
        }
        line::compose(emission, &self.looks, voice, None)
    }

    /// Saves what changed, when it is time to.
    pub(crate) fn save_if_due(&mut self, drained: bool) -> Step {
        let now = clock::now();
        if self.books.as_ref().is_some_and(|books| books.is_due(now.monotonic, drained)) {
            self.save(&now)?;
        }
        Ok(())
    }

    /// Saves. A state that can't be written is told once, and the watch goes on without waits.
    fn save(&mut self, now: &Now) -> Step {
        let Some(books) = &mut self.books else { return Ok(()) };
        match books.save(&mut self.engine, self.answers.as_ref()) {
            Ok(()) => {
                self.engine.set_unwritable(false);
                let recovered = self.reasons.recover("store_unwritable", now);
                self.say(recovered, now)
            }
            Err(err) => self.store_failed(&err, now),
        }
    }

    pub(crate) fn store_failed(&mut self, err: &io::Error, now: &Now) -> Step {
        self.engine.set_unwritable(true);
        let folder = self.books.as_ref().map(|books| books.folder().display().to_string());
        let detail = format!("{}: {err}", folder.unwrap_or_default());
        let degraded = self.reasons.degrade("store_unwritable", &detail, RETRY, now);
        self.say(degraded, now)
    }

    /// A line that is neither a reading nor an event came.
    pub(crate) fn bad_line(&mut self, cause: &str, now: &Now) -> Step {
        self.engine.counters().malformed += 1;
        if !self.bad.add(cause) {
            return Ok(());
        }
        let detail = format!("the last line: {cause}");
        let degraded =
            self.reasons.degrade("malformed_input", &detail, std::time::Duration::ZERO, now);
        self.say(degraded, now)
    }

    pub(crate) fn good_line(&mut self, now: &Now) -> Step {
        self.engine.counters().lines += 1;
        if !self.bad.end() {
            return Ok(());
        }
        let recovered = self.reasons.recover("malformed_input", now);
        self.say(recovered, now)
    }

    /// Says when there is no room for another key.
    pub(crate) fn mind_room(&mut self, now: &Now) -> Step {
        let health = if self.engine.is_full() {
            let detail = "what is new is told at once and not remembered";
            self.reasons.degrade("key_limit", detail, std::time::Duration::ZERO, now)
        } else {
            self.reasons.recover("key_limit", now)
        };
        self.say(health, now)
    }

    /// Says when nobody knows what readers answer.
    pub(crate) fn mind_answers(&mut self, now: &Now) -> Step {
        let health = match self.answers.as_ref().and_then(Answers::trouble) {
            Some(cause) => self.reasons.degrade("acks_unreadable", cause, SWEEP, now),
            None => self.reasons.recover("acks_unreadable", now),
        };
        self.say(health, now)
    }

    fn say(&mut self, health: Option<Health>, now: &Now) -> Step {
        match health {
            Some(health) => go_on(self.session.tell::<Health>(now, &[health], &[])?),
            None => Ok(()),
        }
    }
}

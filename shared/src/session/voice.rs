//! What a run says: events, readings, its own health; each line whole, and written before it is
//! remembered.

use std::{ops::ControlFlow, time::Duration};

use serde::Serialize;

use super::Session;
use crate::{
    clock::{self, Now},
    cursor::Cursor,
    exit::{Ended, Error, Reason},
    health::Health,
    line::{Event, Speaker},
    reading::Reading,
};

impl Session {
    /// Tells `health`, then `events`, each in one line, and flushes. Break: nobody listens or we
    /// are asked to stop, so that what was told here must not be remembered.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn tell<E: Event>(
        &mut self,
        now: &Now,
        health: &[Health],
        events: &[E],
    ) -> Result<ControlFlow<Ended>, Error> {
        for event in health {
            self.say(now, event)?;
        }
        for event in events {
            self.say(now, event)?;
            self.had_news |= event.is_news();
        }
        self.flush()
    }

    /// Tells lines that are whole already: those of others, or readings.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn tell_lines<'a>(
        &mut self,
        now: &Now,
        lines: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<ControlFlow<Ended>, Error> {
        for line in lines {
            self.out.add(line, &self.waiter).map_err(unwritable)?;
            self.spoke = now.monotonic;
            self.had_news = true;
        }
        self.flush()
    }

    /// The same, of lines that no `--wait` waits for.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn tell_asides<'a>(
        &mut self,
        now: &Now,
        lines: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<ControlFlow<Ended>, Error> {
        let had_news = self.had_news;
        let told = self.tell_lines(now, lines);
        self.had_news = had_news;
        told
    }

    /// Tells all that one look found, in as many lines as it takes.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn tell_reading(
        &mut self,
        now: &Now,
        reading: &Reading,
    ) -> Result<ControlFlow<Ended>, Error> {
        let lines = reading.lines(&self.speaker, now.timestamp()).map_err(unwritable)?;
        self.tell_lines(now, lines.iter().map(Vec::as_slice))
    }

    /// The envelope's view of who speaks.
    #[must_use]
    pub fn speaker(&self) -> &Speaker {
        &self.speaker
    }

    /// Saves `memory`, after what it remembers was told. A file that can't be written is told
    /// once, and the watch goes on.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn remember<T: Serialize>(
        &mut self,
        now: &Now,
        cursor: Option<&mut Cursor>,
        memory: &T,
    ) -> Result<(), Error> {
        let Some(cursor) = cursor else { return Ok(()) };
        let health = match cursor.save(memory) {
            Ok(()) => self.reasons.recover("cursor_unwritable", now),
            Err(err) => {
                let detail = format!("{}: {err}", cursor.path().display());
                self.reasons.degrade("cursor_unwritable", &detail, Duration::ZERO, now)
            }
        };
        self.say_health(now, health)
    }

    /// The last line before an exit that is not 0, unless usage is the cause.
    pub(super) fn say_failed(&mut self, err: &Error) {
        if err.reason() != Reason::Usage {
            let now = clock::now();
            let failed = Health::failed(err.word(), &err.to_string(), err.reason() as u8, &now);
            let _ = self.say_health(&now, Some(failed));
        }
    }

    pub(super) fn say_health(
        &mut self,
        now: &Now,
        health: impl IntoIterator<Item = Health>,
    ) -> Result<(), Error> {
        for event in health {
            self.say(now, &event)?;
        }
        self.out.flush(&self.waiter).map_err(unwritable)
    }

    /// One event is one write, so that a reader who wakes on each finds a whole line.
    fn say<E: Event>(&mut self, now: &Now, event: &E) -> Result<(), Error> {
        let line = self.speaker.line(event, now.timestamp()).map_err(unwritable)?;
        self.out.add(&line, &self.waiter).map_err(unwritable)?;
        self.out.flush(&self.waiter).map_err(unwritable)?;
        self.spoke = now.monotonic;
        Ok(())
    }

    fn flush(&mut self) -> Result<ControlFlow<Ended>, Error> {
        self.out.flush(&self.waiter).map_err(unwritable)?;
        Ok(match self.out.stop() {
            Some(_) => ControlFlow::Break(Ended::Done),
            None => ControlFlow::Continue(()),
        })
    }
}

fn unwritable(err: std::io::Error) -> Error {
    Error::new(Reason::Runtime, "stdout_unwritable", format!("unable to write to stdout: {err}"))
}

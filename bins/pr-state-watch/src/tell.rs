//! Tells what there is to say, in the form that was asked for.

use std::ops::ControlFlow;

use github::target::Target;
use shared::{
    clock::Now,
    exit::{self, Ended, Error},
    session::Session,
};

use crate::{
    args::{Args, Emit, Format},
    decide::Decided,
    event::Event,
    probe::Sight,
    readings::Readings,
    start::PROGRAM,
};

/// Speaks in one form.
#[derive(Debug)]
pub struct Voice {
    emit: Emit,
    format: Format,
    readings: Readings,
}

impl Voice {
    /// The form of `args`.
    #[must_use]
    pub fn new(args: &Args) -> Self {
        Self { emit: args.emit, format: args.format, readings: Readings::default() }
    }

    /// Tells of a look at `targets`. Break: nobody listens.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn tell(
        &mut self,
        session: &mut Session,
        (targets, sights): (&[Target], &[Sight]),
        decided: &Decided,
        now: &Now,
    ) -> Result<ControlFlow<Ended>, Error> {
        if let Some(warning) = &decided.warning {
            exit::warn(PROGRAM.name, warning);
        }
        match (self.emit, self.format) {
            (Emit::Readings, _) => self.readings(session, (targets, sights), decided, now),
            (Emit::Events, Format::Text) => text(session, decided, now),
            (Emit::Events, Format::Ndjson) => session.tell(now, &decided.health, &decided.events),
        }
    }

    /// A failed look is a failed reading, without a health event beside it.
    fn readings(
        &mut self,
        session: &mut Session,
        (targets, sights): (&[Target], &[Sight]),
        decided: &Decided,
        now: &Now,
    ) -> Result<ControlFlow<Ended>, Error> {
        for (reading, about) in self.readings.of(targets, sights, &decided.facts) {
            let lines = reading.lines_with(&about, session.speaker(), now.timestamp());
            let lines = lines.map_err(Error::on("print a reading"))?;
            let told = session.tell_lines(now, lines.iter().map(Vec::as_slice))?;
            if told.is_break() {
                return Ok(told);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The program's own health stays JSON: it has no other form.
fn text(session: &mut Session, decided: &Decided, now: &Now) -> Result<ControlFlow<Ended>, Error> {
    let text = |Event::PrState(event): &Event| event.text();
    let lines: Vec<String> = decided.events.iter().map(text).collect();
    let told = session.tell::<Event>(now, &decided.health, &[])?;
    if told.is_break() {
        return Ok(told);
    }
    session.tell_lines(now, lines.iter().map(String::as_bytes))
}

//! Tells what there is to say, in the form that was asked for.

use std::{collections::BTreeMap, ops::ControlFlow};

use shared::{
    clock::Now,
    exit::{self, Ended, Error},
    reading::Look,
    session::Session,
};

use crate::{answers::Broken, args::Emit, decide::Decided, observe::Batch, print, start::PROGRAM};

/// Speaks in one form.
#[derive(Debug)]
pub struct Voice {
    emit: Emit,
    /// The rule that each subject's answer broke last, which is told once.
    broken: BTreeMap<String, String>,
}

impl Voice {
    /// The form of `emit`.
    #[must_use]
    pub fn new(emit: Emit) -> Self {
        Self { emit, broken: BTreeMap::new() }
    }

    /// Tells of `batch`, of which `decided` was made. Break: nobody listens.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn tell(
        &mut self,
        session: &mut Session,
        batch: &Batch,
        decided: &Decided,
        now: &Now,
    ) -> Result<ControlFlow<Ended>, Error> {
        self.warn(batch);
        if self.emit == Emit::Events {
            return session.tell(now, &decided.health, &decided.events);
        }
        // A failed look is a failed reading, without a health event beside it.
        for (look, _) in &batch.seen {
            let lines = print::lines(look, now.timestamp());
            let lines = lines.map_err(Error::on("print a reading"))?;
            let told = session.tell_lines(now, lines.iter().map(Vec::as_slice))?;
            if told.is_break() {
                return Ok(told);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn warn(&mut self, batch: &Batch) {
        let subjects = batch.seen.iter().map(|(look, _)| &*look.subject);
        for subject in subjects.chain([""]) {
            if !batch.broken.iter().any(|broken| broken.subject == subject) {
                self.broken.remove(subject);
            }
        }
        for broken in &batch.broken {
            let known = self.broken.insert(broken.subject.clone(), broken.rule.clone());
            if known.as_ref() != Some(&broken.rule) {
                warn(broken);
            }
        }
    }
}

/// Names a broken rule on stderr.
pub fn warn(broken: &Broken) {
    let whose = if broken.subject.is_empty() { "the probe" } else { &broken.subject };
    exit::warn(PROGRAM.name, &format!("{whose}: {}", broken.rule));
}

/// A look that proves nothing of the probe, since it was not asked.
#[must_use]
pub fn unasked(look: &Look) -> Option<Broken> {
    let until = look.failure().filter(|fault| !fault.attempted)?.retry_at;
    let until = until.map_or(String::new(), |at| format!(" until {at}"));
    let rule = format!("it was not asked: its service wants to be left alone{until}");
    Some(Broken { subject: look.subject.clone(), rule })
}

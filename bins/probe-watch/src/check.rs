//! `--check`: one look, of which only the broken rules are told.

use std::ops::ControlFlow;

use shared::{
    exit::{Ended, Error},
    session::{Look, Session},
};

use crate::{answers::Broken, start::Start, tell};

/// Looks once, and tells the broken rules and nothing else.
///
/// # Errors
///
/// Those of the probe's start, of stdout and poll(2).
pub fn check(start: &mut Start, session: &mut Session) -> Result<Ended, Error> {
    let mut is_broken = false;
    loop {
        let pass = session.pass(&[])?;
        for batch in [start.collect(&pass.now)?, start.launch(&pass.now)?].into_iter().flatten() {
            start.judge.judge(&batch.seen, &pass.now);
            let unasked = batch.seen.iter().filter_map(|(look, _)| tell::unasked(look));
            let broken: Vec<Broken> = batch.broken.iter().cloned().chain(unasked).collect();
            broken.iter().for_each(tell::warn);
            is_broken |= !broken.is_empty();
        }
        if start.judge.state() != Look::Settling {
            return Ok(if is_broken { Ended::Incomplete } else { Ended::Done });
        }
        let due = start.observer.due();
        let paused = session.pause_on(Look::Settling, due, &start.observer.fds())?;
        if let ControlFlow::Break(ended) = paused {
            return Ok(ended);
        }
    }
}

//! The loop: collect what the probe answered, judge, tell, remember, ask for who is due, wait;
//! until all subjects have ended.

use std::{ops::ControlFlow, process::ExitCode};

use probe_watch::{
    answers::Broken,
    args::Args,
    observe::Batch,
    start::{Halt, PROGRAM, Start},
    tell::{self, Voice},
};
use shared::{
    clock::Now,
    exit::{self, Ended, Error},
    session::{Look, Session},
};

fn main() -> ExitCode {
    PROGRAM.main(|args: &Args| &args.running, run)
}

fn run(args: &Args, session: &mut Session) -> Result<Ended, Error> {
    let mut start = match Start::new(args, session) {
        Ok(start) => start,
        Err(Halt::Broken(rules, _)) if args.check => {
            for rule in &rules {
                exit::warn(PROGRAM.name, rule);
            }
            return Ok(Ended::Incomplete);
        }
        Err(Halt::Failed(err) | Halt::Broken(_, err)) => return Err(err),
        Err(Halt::Stopped) => {
            let ended = session.pause(Look::Settling, None)?;
            return Ok(ended.break_value().unwrap_or(Ended::Done));
        }
    };
    if args.check { check(&mut start, session) } else { watch(args, &mut start, session) }
}

fn watch(args: &Args, start: &mut Start, session: &mut Session) -> Result<Ended, Error> {
    let mut voice = Voice::new(args.emit);
    loop {
        let pass = session.pass(&[])?;
        for is_late in [false, true] {
            // Who ended in what was collected is not asked for again.
            let batches =
                if is_late { launch(start, &pass.now) } else { collect(start, &pass.now) };
            for batch in batches? {
                let decided = start.judge.judge(&batch.seen, &pass.now);
                for id in &decided.over {
                    start.observer.end(id);
                }
                let told = voice.tell(session, &batch, &decided, &pass.now)?;
                if let ControlFlow::Break(ended) = told {
                    return Ok(ended);
                }
                session.remember(&pass.now, start.cursor.as_mut(), start.judge.memory())?;
            }
        }
        if let Some(ended) = start.judge.ended() {
            return session.finish("ended", ended);
        }
        let (state, due) = (start.judge.state(), start.observer.due());
        // A watch goes on without whom it lost; one look that lost somebody was not complete.
        let is_short = args.running.once && start.judge.has_lost();
        let look = if state == Look::Whole && is_short { Look::Blind } else { state };
        if let ControlFlow::Break(ended) = session.pause_on(look, due, &start.observer.fds())? {
            return Ok(ended);
        }
    }
}

/// One look, of which only the broken rules are told.
fn check(start: &mut Start, session: &mut Session) -> Result<Ended, Error> {
    let mut is_broken = false;
    loop {
        let pass = session.pass(&[])?;
        for batch in [collect(start, &pass.now)?, launch(start, &pass.now)?].into_iter().flatten() {
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

fn collect(start: &mut Start, now: &Now) -> Result<Vec<Batch>, Error> {
    start.observer.collect(now).map_err(Error::on("wait for the probe"))
}

fn launch(start: &mut Start, now: &Now) -> Result<Vec<Batch>, Error> {
    let Start { observer, judge, .. } = start;
    observer.launch(now, |id| judge.previous(id)).map_err(Error::on("ask the probe"))
}

//! The loop: collect what the probe answered, judge, tell, remember, ask for who is due, wait;
//! until all subjects have ended.

use std::{ops::ControlFlow, process::ExitCode};

use probe_watch::{
    args::Args,
    check::check,
    start::{Halt, PROGRAM, Start},
    tell::Voice,
};
use shared::{
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
        // Who ended in what was collected is not asked for again.
        for look in [Start::collect, Start::launch] {
            for batch in look(start, &pass.now)? {
                let decided = start.judge.judge(&batch.seen, &pass.now);
                decided.over.iter().for_each(|id| start.observer.end(id));
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
        let (look, due) = (start.judge.state(), start.observer.due());
        if let ControlFlow::Break(ended) = session.pause_on(look, due, &start.observer.fds())? {
            return Ok(ended);
        }
    }
}

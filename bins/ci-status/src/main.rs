//! The loop: look when it is time, decide, tell, remember, wait; until all is decided.

use std::{ops::ControlFlow, process::ExitCode};

use ci_status::{
    args::Args,
    start::{PROGRAM, Start},
};
use github::remote::Halt;
use shared::{
    clock,
    exit::{self, Ended, Error},
    session::{Look, Session},
};

fn main() -> ExitCode {
    PROGRAM.main(|args: &Args| &args.running, run)
}

fn run(args: &Args, session: &mut Session) -> Result<Ended, Error> {
    let mut start = match Start::new(args, session) {
        Ok(start) => start,
        Err(Halt::Failed(err)) => return Err(err),
        Err(Halt::Stopped) => {
            let ended = session.pause(Look::Settling, None)?;
            return Ok(ended.break_value().unwrap_or(Ended::Done));
        }
    };
    let ended = watch(&mut start, session)?;
    // An end that was asked for from outside says nothing of the targets.
    let tells = args.exit_code && (start.judge.has_verdict() || args.running.once);
    Ok(if tells && ended == Ended::Done { Ended::Verdict(start.judge.code()) } else { ended })
}

fn watch(start: &mut Start, session: &mut Session) -> Result<Ended, Error> {
    let Start { probe, judge, cursor } = start;
    loop {
        let pass = session.pass(&[])?;
        if let Some(events) = judge.give_up(&pass.now) {
            return match session.tell(&pass.now, &[], &events)? {
                ControlFlow::Break(ended) => Ok(ended),
                ControlFlow::Continue(()) => session.finish("deadline", Ended::Done),
            };
        }
        let wanted = judge.wanted(&pass.now);
        let sights = probe.look(&wanted, session.waiter());
        let now = clock::now();
        if let Some(decided) = judge.judge(&wanted, &sights, &now)? {
            if let Some(warning) = &decided.warning {
                exit::warn(PROGRAM.name, warning);
            }
            if let ControlFlow::Break(ended) =
                session.tell(&now, &decided.health, &decided.events)?
            {
                return Ok(ended);
            }
            session.remember(&now, cursor.as_mut(), judge.memory())?;
        }
        if judge.is_done() {
            return session.finish("decided", Ended::Done);
        }
        if let ControlFlow::Break(ended) = session.pause(judge.state(), Some(judge.due()))? {
            return Ok(ended);
        }
    }
}

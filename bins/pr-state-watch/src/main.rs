//! The loop: look when it is time, decide, tell, remember, wait; until all are merged or closed.

use std::{ops::ControlFlow, process::ExitCode};

use github::remote::Halt;
use pr_state_watch::{
    args::Args,
    start::{PROGRAM, Start},
    tell::Voice,
};
use shared::{
    clock,
    exit::{Ended, Error},
    session::{Look, Session},
};

fn main() -> ExitCode {
    PROGRAM.main(|args: &Args| &args.running, run)
}

fn run(args: &Args, session: &mut Session) -> Result<Ended, Error> {
    let Start { mut probe, mut judge, mut cursor } = match Start::new(args, session) {
        Ok(start) => start,
        Err(Halt::Failed(err)) => return Err(err),
        Err(Halt::Stopped) => {
            let ended = session.pause(Look::Settling, None)?;
            return Ok(ended.break_value().unwrap_or(Ended::Done));
        }
    };
    let mut voice = Voice::new(args);
    loop {
        let pass = session.pass(&[])?;
        let wanted = judge.wanted(&pass.now);
        let sights = probe.look(&wanted, |target| judge.comments_of(target), session.waiter());
        let now = clock::now();
        if let Some(decided) = judge.judge(&wanted, &sights, &now)? {
            let told = voice.tell(session, (&wanted, &sights), &decided, &now)?;
            if let ControlFlow::Break(ended) = told {
                return Ok(ended);
            }
            session.remember(&now, cursor.as_mut(), judge.memory())?;
        }
        if judge.is_done() {
            return session.finish("ended", Ended::Done);
        }
        if let ControlFlow::Break(ended) = session.pause(judge.state(), Some(judge.due()))? {
            return Ok(ended);
        }
    }
}

//! The loop: watch, glance, look when it is time, tell, remember, wait.

use std::{ops::ControlFlow, process::ExitCode};

use branch_divergence::{
    args::Args,
    decide::{Judge, Terms, Verdict},
    open::Halt,
    schedule::Schedule,
    start::{find, recall},
};
use shared::{
    clock::{self, Now},
    exit::{Ended, Error},
    session::{Look, Program, Session},
};

const PROGRAM: Program = Program {
    name: "branch-divergence",
    announces: false,
    not_covered: &["other branches and remotes", "uncommitted work", "pushes between two asks"],
};

fn main() -> ExitCode {
    PROGRAM.main(|args: &Args| &args.running, run)
}

fn run(args: &Args, session: &mut Session) -> Result<Ended, Error> {
    let mut probe = match find(PROGRAM.name, args, session.waiter()) {
        Ok(probe) => probe,
        Err(Halt::Failed(err)) => return Err(err),
        Err(Halt::Stopped) => {
            let ended = session.pause(Look::Settling, None)?;
            return Ok(ended.break_value().unwrap_or(Ended::Done));
        }
    };
    session.set_subject(&probe.repository().name());
    session.sweep_every(args.poll_interval);
    let (mut cursor, memory) = recall(PROGRAM.name, args, &probe)?;
    let mut judge = Judge::new(Terms::new(args, probe.remote()), memory);
    let mut schedule = Schedule::new(args.poll_interval);
    loop {
        let pass = session.pass(&probe.folders())?;
        let can_count = probe.base().and_then(|base| judge.tip(base)).is_some();
        let mut verdict = judge.rest();
        if let Some(scope) = schedule.plan(probe.glance(), can_count, &pass.now) {
            let seen = probe.look(scope, |base| judge.tip(base), session.waiter());
            let now = clock::now();
            let retry_in = schedule.looked(scope, &seen, &now);
            verdict = judge.judge(&seen, scope, probe.base(), retry_in, &now);
            if let ControlFlow::Break(ended) = tell(session, &verdict, &now)? {
                return Ok(ended);
            }
            session.remember(&now, cursor.as_mut(), judge.memory())?;
        }
        if let ControlFlow::Break(ended) = session.pause(verdict.look, Some(schedule.due()))? {
            return Ok(ended);
        }
    }
}

fn tell(session: &mut Session, verdict: &Verdict, now: &Now) -> Result<ControlFlow<Ended>, Error> {
    if let Some(reading) = &verdict.reading {
        return session.tell_reading(now, reading);
    }
    session.tell(now, &verdict.health, &verdict.events)
}

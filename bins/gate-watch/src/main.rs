//! The loop: look, decide, tell, remember, wait.

use std::{ops::ControlFlow, path::Path, process::ExitCode};

use gate_watch::{
    args::Args,
    decide::{Decided, Judge},
    probe::{self, Probe},
    readings::Found,
    start::{PROGRAM, Start, choose},
};
use shared::{
    exit::{Ended, Error},
    reading::Reading,
    session::{Pass, Session},
};

fn main() -> ExitCode {
    PROGRAM.main(|args: &Args| &args.running, run)
}

fn run(args: &Args, session: &mut Session) -> Result<Ended, Error> {
    let Start { mut folder, mut cursor, mut judge } = Start::new(args)?;
    let (mut probe, mut looks) = (Probe::default(), 0);
    session.set_subject(&folder.canonical());
    session.sweep_every(args.poll_interval);
    session.watch_only(probe::reads);
    loop {
        if choose(&mut folder) {
            session.set_subject(&folder.canonical());
            if let Some(cursor) = &mut cursor {
                cursor.set_target(&folder.canonical());
            }
        }
        let watched: Vec<_> =
            folder.candidates().iter().flat_map(|dir| probe::folders(dir)).collect();
        let pass = session.pass(&watched)?;
        let decided = look(&mut probe, &mut judge, folder.path(), &pass);
        let mut told = session.tell(&pass.now, &decided.health, &decided.events)?;
        if let (Some(found), ControlFlow::Continue(())) = (decided.found, told) {
            looks += 1;
            let Found { entries, error } = found;
            let subject = session.speaker().subject.clone();
            let reading = Reading { subject, look: looks, entries, error };
            told = session.tell_reading(&pass.now, &reading)?;
        }
        if let ControlFlow::Break(ended) = told {
            return Ok(ended);
        }
        session.remember(&pass.now, cursor.as_mut(), judge.memory())?;
        if let ControlFlow::Break(ended) = session.pause(decided.look, decided.due)? {
            return Ok(ended);
        }
    }
}

fn look(probe: &mut Probe, judge: &mut Judge, dir: &Path, pass: &Pass) -> Decided {
    judge.note(dir, pass);
    if let Some(decided) = judge.rest(&pass.now).filter(|_| probe.is_quiet(dir, pass)) {
        return decided;
    }
    // Where changes were lost the stamps tell them; to open every file would only add to the storm.
    let all = pass.full && !pass.changes.overflowed;
    let seen = probe.look(dir, pass.now.wall, &judge.interest(all, &pass.now));
    judge.decide(dir, &seen, &pass.now)
}

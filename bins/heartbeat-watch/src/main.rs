//! The loop: look, decide, tell, remember, wait.

use std::{ops::ControlFlow, process::ExitCode};

use heartbeat_watch::{
    args::{Args, Emit},
    decide::{Memory, Outcome, decide},
    probe::{self, Probe},
    reading::reading,
    start::{PROGRAM, Place},
};
use shared::{
    clock::Now,
    exit::{Ended, Error},
    session::Session,
};

fn main() -> ExitCode {
    PROGRAM.main(|args: &Args| &args.running, run)
}

fn run(args: &Args, session: &mut Session) -> Result<Ended, Error> {
    let (mut place, mut memory) = Place::find(args, session)?;
    let (rules, mut probe, mut looks) = (args.rules(), Probe::default(), 0);
    session.sweep_every(rules.poll_interval);
    session.watch_only(probe::reads);
    loop {
        let pass = session.pass(&place.folder.candidates())?;
        // After the watch was added, so that no folder appears unseen in between.
        place.settle(session);
        let seen = probe.look(place.folder.path(), &pass);
        let outcome = decide(&mut memory, &rules, seen, &pass.now);
        looks += 1;
        let told = match args.emit {
            Emit::Events => session.tell(&pass.now, &outcome.health, &outcome.events)?,
            Emit::Readings => tell_reading(session, &memory, &outcome, looks, &pass.now)?,
        };
        if let ControlFlow::Break(ended) = told {
            return Ok(ended);
        }
        session.remember(&pass.now, place.cursor.as_mut(), &memory)?;
        if let ControlFlow::Break(ended) = session.pause(outcome.look, outcome.due)? {
            return Ok(ended);
        }
    }
}

fn tell_reading(
    session: &mut Session,
    memory: &Memory,
    outcome: &Outcome,
    look: u64,
    now: &Now,
) -> Result<ControlFlow<Ended>, Error> {
    let subject = session.speaker().subject.clone();
    let Some(reading) = reading(memory, outcome, &subject, look) else {
        return Ok(ControlFlow::Continue(()));
    };
    session.tell_reading(now, &reading)
}

//! Passes on the lines appended to the journal of the state.

use std::{ops::ControlFlow, process::ExitCode};

use event_tail::{
    args::Args,
    decide::{Memory, decide, told},
    probe::Probe,
};
use shared::{
    exit::{Ended, Error},
    session::{Pass, Program, Session},
};

const PROGRAM: Program = Program {
    name: "event-tail",
    announces: false,
    not_covered: &["commits the journal never got", "bytes overwritten before they were read"],
};

fn main() -> ExitCode {
    PROGRAM.main(|args: &Args| &args.running, run)
}

fn run(args: &Args, session: &mut Session) -> Result<Ended, Error> {
    session.sweep_every(args.poll_interval);
    let mut probe = Probe::new(args, session)?;
    let mut memory = Memory::default();
    loop {
        let pass = session.pass(&probe.folders())?;
        let ended = match look(args, session, &mut probe, &mut memory, &pass)? {
            ControlFlow::Continue(()) => continue,
            ControlFlow::Break(ended) => ended,
        };
        let rest = told(memory.skips.take_all());
        let _ = session.tell(&pass.now, &[], &rest)?;
        probe.remember(&pass, session)?;
        return Ok(ended);
    }
}

/// One look, and the wait for the next.
fn look(
    args: &Args,
    session: &mut Session,
    probe: &mut Probe,
    memory: &mut Memory,
    pass: &Pass,
) -> Result<ControlFlow<Ended>, Error> {
    let seen = match probe.look(memory, pass, session)? {
        ControlFlow::Continue(seen) => seen,
        ControlFlow::Break(ended) => return Ok(ControlFlow::Break(ended)),
    };
    let decision = decide(memory, &seen, args.running.once, args.poll_interval, &pass.now);
    let told = session.tell(&pass.now, &decision.health, &decision.events)?;
    if told.is_continue() && decision.save {
        probe.remember(pass, session)?;
    }
    if let ControlFlow::Break(ended) = told {
        return Ok(ControlFlow::Break(ended));
    }
    session.pause(decision.look, decision.due)
}

//! Tells what became of agents: see the crate's documentation, and agent-watch(1).

use std::{ops::ControlFlow, process::ExitCode};

use agent_watch::{args::Args, watch::Watch};
use shared::{
    exit::{Ended, Error},
    session::{Program, Session},
};

const PROGRAM: Program = Program {
    name: "agent-watch",
    announces: true,
    not_covered: &[
        "agents waiting for each other",
        "an agent waiting at a prompt",
        "an agent that loops and keeps writing",
        "what a result says",
        "results written in several rounds",
        "processes in other pid namespaces or hosts",
    ],
};

fn main() -> ExitCode {
    PROGRAM.main(|args: &Args| &args.running, run)
}

fn run(args: &Args, session: &mut Session) -> Result<Ended, Error> {
    let mut watch = Watch::new(args, session)?;
    loop {
        if let ControlFlow::Break(ended) = watch.pass(session)? {
            return Ok(ended);
        }
    }
}

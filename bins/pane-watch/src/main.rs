//! Tells what became of panes: see the crate's documentation, and pane-watch(1).

use std::{ops::ControlFlow, process::ExitCode};

use pane_watch::{args::Args, watch::Watch};
use shared::{
    exit::{Ended, Error},
    session::{Program, Session},
};

const PROGRAM: Program = Program {
    name: "pane-watch",
    announces: false,
    not_covered: &[
        "other tmux servers",
        "programs inside a nested tmux",
        "windows outside the scope",
        "what a pane shows",
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

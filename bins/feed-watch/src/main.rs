//! Says that a feed changed: see the crate's documentation, and feed-watch(1).

use std::{ops::ControlFlow, process::ExitCode};

use feed_watch::{args::Args, watch::Watch};
use shared::{
    exit::{Ended, Error},
    session::{Program, Session},
};

const PROGRAM: Program =
    Program { name: "feed-watch", announces: false, not_covered: &["what a feed says"] };

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

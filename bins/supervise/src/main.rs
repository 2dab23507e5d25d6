//! Parses and reports; what is done is in [`supervise::commands`].

use std::process::ExitCode;

use shared::{
    cli,
    exit::{self, Ended, Error},
};
use supervise::{args::Args, commands, keeper};

fn main() -> ExitCode {
    // The keeper stays as small as it can: it never sees the parser.
    if std::env::args_os().nth(1).is_some_and(|arg| arg == "keep") {
        let kept = keeper::keep().map_err(Error::on("keep the monitor"));
        return exit::report("supervise", kept.map(|()| Ended::Done));
    }
    match cli::parse::<Args>("supervise") {
        Ok(args) => exit::report("supervise", commands::run(args.command)),
        Err(code) => code,
    }
}

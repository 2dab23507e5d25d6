//! Passes events on, and says again those that nobody answers: see nudge(1).

use std::process::ExitCode;

use nudge::{args::Args, run};
use shared::{cli, exit};

fn main() -> ExitCode {
    match cli::parse::<Args>("nudge") {
        Ok(args) => exit::report("nudge", run::run(&args)),
        Err(code) => code,
    }
}

//! `wake`: see the crate's documentation, and wake(1).

use std::process::ExitCode;

use shared::{cli, exit, session::Program};
use wake::{
    args::{Args, Command},
    commands, run,
};

const WAKE: Program = Program { name: "wake", announces: false, not_covered: &[] };

fn main() -> ExitCode {
    let Args { command, filter } = match cli::parse(WAKE.name) {
        Ok(args) => args,
        Err(code) => return code,
    };
    match command {
        Some(Command::Ack(args)) => exit::report(WAKE.name, commands::ack(&args)),
        Some(Command::Status(args)) => exit::report(WAKE.name, commands::status(&args)),
        None => match filter.policy() {
            Ok(policy) => {
                WAKE.attend(&filter.running(), |session| run::run(&filter, policy, session))
            }
            Err(err) => exit::report(WAKE.name, Err(err)),
        },
    }
}

//! `relay`: see the crate's documentation, and relay(1).

use std::process::ExitCode;

use relay::{
    args::{Args, Direction},
    inbound, outbound,
};
use shared::{cli, exit};

const NAME: &str = "relay";

fn main() -> ExitCode {
    let args = match cli::parse::<Args>(NAME) {
        Ok(args) => args,
        Err(code) => return code,
    };
    exit::report(
        NAME,
        match &args.direction {
            Direction::Pub(args) => outbound::run(args),
            Direction::Sub(args) => inbound::run(args),
        },
    )
}

//! See the library and `collab-tail(1)`.

use std::process::ExitCode;

use collab_tail::{
    args::Args,
    run::{self, NAME},
};
use shared::{cli, exit};

fn main() -> ExitCode {
    match cli::parse::<Args>(NAME) {
        Ok(args) => exit::report(NAME, run::run(&args)),
        Err(code) => code,
    }
}

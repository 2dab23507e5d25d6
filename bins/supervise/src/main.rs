//! Starts, joins, ends.

use std::{
    io::{IsTerminal as _, Write as _},
    process::ExitCode,
};

use shared::{
    cli,
    exit::{self, Ended, Error},
    service::Service,
};
use supervise::{
    args::{Args, Command, Up},
    join::Join,
    monitors::{Monitor, always_on},
};

fn main() -> ExitCode {
    match cli::parse::<Args>("supervise") {
        Ok(Args { command: Command::Up(up) }) => exit::report("supervise", run(&up)),
        Err(code) => code,
    }
}

fn run(up: &Up) -> Result<Ended, Error> {
    let programs = Up::programs().map_err(Error::on("find the programs beside this one"))?;
    let monitors = always_on(up);
    greet(&monitors);
    let mut join = Join::start(up, monitors, &programs)?;
    Service::from_env().ready();
    let ended = join.run();
    join.end();
    ended
}

/// A person at a terminal sees that something runs, though nothing has happened yet.
fn greet(monitors: &[Monitor]) {
    if std::io::stderr().is_terminal() {
        let names: Vec<&str> = monitors.iter().map(|monitor| monitor.name).collect();
        let text = format!("supervise: watching ({}); Ctrl-C ends\n", names.join(", "));
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

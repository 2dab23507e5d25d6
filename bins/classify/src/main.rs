//! `classify`: see the crate's documentation, and classify(1).

use std::process::ExitCode;

use classify::{
    args::Args,
    force,
    judge::Judge,
    rules::{self, Rule},
    stream::Stream,
    survey,
};
use shared::{
    cli,
    exit::{self, Ended, Error, Reason},
    stdout::Stdout,
    wait::Waiter,
};

const NAME: &str = "classify";

fn main() -> ExitCode {
    let args = match cli::parse::<Args>(NAME) {
        Ok(args) => args,
        Err(code) => return code,
    };
    exit::report(NAME, run(&args))
}

fn run(args: &Args) -> Result<Ended, Error> {
    let share = args.share()?;
    let mut waiter = Waiter::new(args.parent_pid).map_err(Error::on("take over the signals"))?;
    let is_stream = !args.report && !args.print_rules;
    let rules = match force::rules(args, &mut waiter) {
        Ok(Some(rules)) => rules,
        Ok(None) => return Ok(Ended::Done),
        // Whoever reads the stream has to hear of it.
        Err(err) if is_stream && err.reason() != Reason::Usage => {
            return Stream::new(args, Judge::new(&force::builtin()?), share, &mut waiter)
                .refuse(err);
        }
        Err(err) => return Err(err),
    };
    if args.print_rules {
        return print(&rules, &waiter).map_err(Error::on("write to stdout"));
    }
    let judge = Judge::new(&rules);
    if args.report {
        return survey::run(args, judge, &mut waiter);
    }
    Stream::new(args, judge, share, &mut waiter).run()
}

fn print(rules: &[Rule], waiter: &Waiter) -> std::io::Result<Ended> {
    let mut out = Stdout::default();
    out.add(&rules::print(rules)?, waiter)?;
    out.flush(waiter)?;
    Ok(Ended::Done)
}

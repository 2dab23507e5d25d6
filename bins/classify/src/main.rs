//! `classify`: see the crate's documentation, and classify(1).

use std::process::ExitCode;

use classify::{
    args::Args,
    input,
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
    let rules = match rules_in_force(args, &mut waiter) {
        Ok(Some(rules)) => rules,
        Ok(None) => return Ok(Ended::Done),
        // Whoever reads the stream has to hear of it.
        Err(err) if is_stream && err.reason() != Reason::Usage => {
            return Stream::new(args, Judge::new(&builtin()?), share, &mut waiter).refuse(err);
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

/// The rules of `--rules`, then the built-in ones unless a rule that fits everything switches
/// them off. `None` when there was a reason to stop.
fn rules_in_force(args: &Args, waiter: &mut Waiter) -> Result<Option<Vec<Rule>>, Error> {
    let mut rules = Vec::new();
    if let Some(path) = &args.rules {
        let text = input::read(path, rules::MOST_BYTES, waiter);
        let Some(text) = text.map_err(|err| Error::io("read", path, &err))? else {
            return Ok(None);
        };
        rules = rules::parse(&text)
            .map_err(|fault| Error::usage(format!("unable to use {}: {fault}", path.display())))?;
    }
    if !rules.iter().any(|rule| rule.conditions.is_empty()) {
        rules.extend(builtin()?);
    }
    Ok(Some(rules))
}

fn builtin() -> Result<Vec<Rule>, Error> {
    let unusable = |fault| format!("unable to use the built-in rules: {fault}");
    rules::builtin().map_err(|fault| Error::new(Reason::Runtime, "rules_unusable", unusable(fault)))
}

fn print(rules: &[Rule], waiter: &Waiter) -> std::io::Result<Ended> {
    let mut out = Stdout::default();
    out.add(&rules::print(rules)?, waiter)?;
    out.flush(waiter)?;
    Ok(Ended::Done)
}

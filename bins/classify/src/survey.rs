//! `--report`: reads all inputs to their ends, then prints one object.

use std::path::Path;

use shared::{
    clock,
    exit::{self, Ended, Error, Reason},
    line,
    stdout::Stdout,
    wait::Waiter,
};

use crate::{
    args::{Args, Named},
    input::{self, Input, Outcome},
    intake::{Arrival, Intake},
    judge::Judge,
    report::{self, Report},
    status::Monitors,
};

/// The most bytes of the file of `--status`.
const MOST_STATUS: usize = 64 << 20;

/// Reads the inputs and prints the report.
///
/// # Errors
///
/// A status or stdin that can't be read, a stdout that can't be written. The file of a monitor
/// that can't be read is none: that monitor is dead.
pub fn run(args: &Args, judge: Judge, waiter: &mut Waiter) -> Result<Ended, Error> {
    let Some(mut monitors) = status(args, waiter)? else { return Ok(Ended::Done) };
    let mut report = Report::new(judge, args.min, report::MOST_BYTES);
    let read = if args.inputs.is_empty() {
        let input = Input::stdin().map_err(Error::on("read stdin"))?;
        feed(&mut report, None, args, input, waiter).map_err(Error::on("read stdin"))?
    } else {
        read_named(args, &mut report, &mut monitors, waiter)?
    };
    if read == Outcome::Stopped {
        return Ok(Ended::Done);
    }
    if !args.quiet || !report.is_empty(&monitors) {
        let mut out = Stdout::default();
        report
            .print(&monitors, &clock::now(), |piece| out.add(piece, waiter))
            .and_then(|()| out.flush(waiter))
            .map_err(Error::on("write to stdout"))?;
        if out.stop().is_some() {
            return Ok(Ended::Done);
        }
    }
    let verdict = report.verdict(&monitors);
    Ok(if args.exit_code { Ended::Verdict(verdict) } else { Ended::Done })
}

/// The monitors of `--status`, or none without it. `None` when there was a reason to stop.
fn status(args: &Args, waiter: &mut Waiter) -> Result<Option<Monitors>, Error> {
    let Some(path) = &args.status else { return Ok(Some(Monitors::default())) };
    let text =
        input::read(path, MOST_STATUS, waiter).map_err(|err| Error::io("read", path, &err))?;
    let monitors = text.map(|text| Monitors::of_status(&text)).transpose();
    monitors.map_err(|err| {
        let message =
            format!("unable to use {}: not the output of supervise status: {err}", path.display());
        Error::new(Reason::Runtime, "status_invalid", message)
    })
}

fn read_named(
    args: &Args,
    report: &mut Report,
    monitors: &mut Monitors,
    waiter: &mut Waiter,
) -> Result<Outcome, Error> {
    // A monitor whose output is in several files lives if one of them can be read.
    let mut known: Vec<(&str, bool)> = Vec::new();
    for Named { name, file } in &args.inputs {
        let source = line::json(name).map_err(Error::on("write a name"))?;
        let input = file.as_ref().map_or_else(Input::stdin, |path| Input::open(path));
        let read = input.and_then(|input| feed(report, Some(&source), args, input, waiter));
        match &read {
            Ok(Outcome::Stopped) => return Ok(Outcome::Stopped),
            Ok(Outcome::End) => {}
            Err(err) => {
                let file = file.as_deref().unwrap_or(Path::new("stdin")).display();
                exit::warn("classify", &format!("unable to read {file}: {err}"));
            }
        }
        match known.iter_mut().find(|(known, _)| known == name) {
            Some((_, readable)) => *readable |= read.is_ok(),
            None => known.push((name, read.is_ok())),
        }
    }
    for (name, readable) in known {
        monitors.add(name, readable);
    }
    Ok(Outcome::End)
}

fn feed(
    report: &mut Report,
    source: Option<&[u8]>,
    args: &Args,
    input: Input,
    waiter: &mut Waiter,
) -> std::io::Result<Outcome> {
    let mut intake = Intake::new(args.max_line);
    let mut take = |_: u64, arrival: Arrival<'_>| {
        report.take(source, arrival);
        Ok::<(), std::convert::Infallible>(())
    };
    let outcome = input.drain(waiter, |bytes| {
        let Ok(()) = intake.feed(bytes, &mut take);
    })?;
    if outcome == Outcome::End {
        let Ok(()) = intake.finish(take);
    }
    Ok(outcome)
}

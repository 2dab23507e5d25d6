//! `wake ack` and `wake status`.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use serde::Serialize;
use shared::{
    exit::{Ended, Error, Reason},
    line,
    stdout::Stdout,
    wait::Waiter,
};

use crate::{
    answers::Answer,
    args::{self, Ack, Status},
    decide::{Counters, Entry, Guard, InFlight, Outcome, Spent, State},
    store,
};

/// Appends an answer to the file of acknowledgements.
///
/// # Errors
///
/// An unknown watch or claim; a file that can't be written.
pub fn ack(args: &Ack) -> Result<Ended, Error> {
    let spent = args.tokens_in.is_some() || args.tokens_out.is_some();
    if (spent || args.disposition.is_some()) && args.result != args::Outcome::Completed {
        let message = "unable to use --tokens-in, --tokens-out or --disposition: only --result completed has them";
        return Err(Error::usage(message));
    }
    let path = match &args.watch {
        Some(name) => {
            let (folder, state) = known(args.store.as_deref(), name)?;
            if !state.knows(&args.claim) {
                let message = format!("unable to find claim {} in watch {name}", args.claim);
                return Err(Error::new(Reason::NotFound, "no_such_claim", message));
            }
            args.acks.clone().unwrap_or_else(|| folder.join("acks.ndjson"))
        }
        None => args.acks.clone().unwrap_or_default(),
    };
    let answer = Answer {
        ack: "wake".to_owned(),
        claim: args.claim.clone(),
        result: word(&args.result),
        tokens_in: args.tokens_in,
        tokens_out: args.tokens_out,
        disposition: args.disposition.as_ref().map(word),
    };
    append(&path, &answer).map_err(|err| Error::io("append to", &path, &err))?;
    Ok(Ended::Done)
}

fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// One write, so that appenders don't tear each other's lines.
fn append(path: &Path, answer: &Answer) -> std::io::Result<()> {
    // No watch reads a FIFO, and opening one would wait for somebody who does.
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(std::io::Error::other("not a regular file"));
    }
    let mut bytes = line::json(answer)?;
    bytes.push(b'\n');
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).open(path)?.write_all(&bytes)
}

fn known(given: Option<&Path>, name: &str) -> Result<(PathBuf, State), Error> {
    let folder = store::folder(given, name)?;
    if let Some(state) = store::read(&folder)? {
        return Ok((folder, state));
    }
    let message = format!("unable to find watch {name}: no {}/state.json", folder.display());
    Err(Error::new(Reason::NotFound, "no_such_watch", message))
}

/// Prints how a watch stands.
///
/// # Errors
///
/// An unknown watch; a stdout that can't be written.
pub fn status(args: &Status) -> Result<Ended, Error> {
    let (_, state) = known(args.store.as_deref(), &args.watch)?;
    print(&report(&state)).map_err(Error::on("write to stdout"))?;
    Ok(Ended::Done)
}

fn print(value: &Report<'_>) -> std::io::Result<()> {
    let (waiter, mut out) = (Waiter::new(None)?, Stdout::default());
    let mut bytes = line::json(value)?;
    bytes.push(b'\n');
    out.add(&bytes, &waiter)?;
    out.flush(&waiter)
}

/// How a watch stands, as it is printed.
#[derive(Debug, Serialize)]
struct Report<'a> {
    watch: &'a str,
    outcome: &'a Option<Outcome>,
    spent: &'a Spent,
    guard: &'a Guard,
    counters: &'a Counters,
    in_flight: &'a Option<InFlight>,
    subjects: BTreeMap<&'a str, Subject>,
}

#[derive(Debug, Serialize)]
struct Subject {
    held: Vec<Key>,
    masked: Vec<Key>,
}

#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the keys are the contract's")]
struct Key {
    key: String,
    severity: &'static str,
    since: String,
}

fn keys(list: Vec<Entry>) -> Vec<Key> {
    let key = |Entry { key, severity, since, .. }: Entry| Key {
        key,
        severity: severity.word(),
        since: crate::line::stamp(since),
    };
    list.into_iter().map(key).collect()
}

fn report(state: &State) -> Report<'_> {
    let subjects = state.subjects().map(|(id, view)| {
        (id.as_str(), Subject { held: keys(view.held), masked: keys(view.masked) })
    });
    Report {
        watch: &state.watch,
        outcome: &state.outcome,
        spent: &state.spent,
        guard: &state.guard,
        counters: &state.counters,
        in_flight: &state.in_flight,
        subjects: subjects.collect(),
    }
}

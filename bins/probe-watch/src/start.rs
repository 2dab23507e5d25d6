//! What a run begins with: the probe's row, the command line held against it, the subjects, and
//! what an earlier run said of them.

use std::{collections::BTreeSet, ffi::OsStr, io, process::ExitStatus, time::Duration};

use serde_json::{Map, Value};
use shared::{
    clock::{self, Now},
    cooldown::Cooldowns,
    cursor::{Cursor, Found},
    exit::{self, Error, Reason},
    run::{self, Outcome},
    session::{Program, Session},
    store,
    text::Text,
    wait::Waiter,
};

use crate::{
    args::{Args, Emit},
    decide::{self, Judge, Memory},
    describe::Row,
    identity::{self, Subject, Trouble},
    observe::{Batch, Observer, Terms},
    plan::Plan,
};

/// The program, apart from its flags.
pub const PROGRAM: Program = Program {
    name: "probe-watch",
    announces: false,
    not_covered: &["what the probe doesn't report", "what comes and goes between two looks"],
};

/// The most bytes of a row, and of a call's identities.
const ANSWER: usize = 1 << 20;
/// How long a probe may take to say who it is, until it has said how long it may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest cadence.
const DAY: Duration = Duration::from_hours(24);

/// Why a run does not begin.
#[derive(Debug)]
pub enum Halt {
    /// It failed.
    Failed(Error),
    /// The probe breaks these rules, and the run would have failed with this.
    Broken(Vec<String>, Error),
    /// We are asked to stop, or our own time is over.
    Stopped,
}

impl From<Error> for Halt {
    fn from(err: Error) -> Self {
        Self::Failed(err)
    }
}

/// What a run keeps from look to look.
#[derive(Debug)]
pub struct Start {
    /// What asks.
    pub observer: Observer,
    /// What judges.
    pub judge: Judge,
    /// Where the memory is kept.
    pub cursor: Option<Cursor>,
}

impl Start {
    /// Learns what the probe is, finds the subjects and recalls what was said of them.
    ///
    /// # Errors
    ///
    /// [`Halt`].
    pub fn new(args: &Args, session: &mut Session) -> Result<Self, Halt> {
        let row = describe(&args.probe, session.waiter())?;
        let terms = terms(args, row, session.speaker().source.clone())?;
        let subjects = subjects(args, &terms, session.waiter())?;
        let ids: BTreeSet<String> = subjects.iter().map(|subject| subject.id.clone()).collect();
        let names: Vec<&str> = ids.iter().map(|id| &**id).collect();
        session.set_subject(&format!("{} {}", terms.row.kind, names.join(" ")));
        let (cursor, memory) = recall(args, &terms)?;
        let judging = decide::Terms {
            keep_going: args.keep_going,
            remembers_ends: args.emit == Emit::Events,
            once: args.running.once,
        };
        let judge = Judge::new(judging, ids, memory);
        let now = clock::monotonic();
        let plan = Plan::new(&subjects, args.poll_interval, args.max_backoff, now);
        let over: Vec<String> =
            subjects.iter().map(|s| s.id.clone()).filter(|id| judge.is_over(id)).collect();
        let mut observer = Observer::new(terms, subjects, plan, Cooldowns::new(root(args)));
        for id in &over {
            observer.end(id);
        }
        Ok(Self { observer, judge, cursor })
    }

    /// What the invocations came to that have ended.
    ///
    /// # Errors
    ///
    /// Those of poll(2) and wait(2).
    pub fn collect(&mut self, now: &Now) -> Result<Vec<Batch>, Error> {
        self.observer.collect(now).map_err(Error::on("wait for the probe"))
    }

    /// Asks for who is due, and says what can't be asked.
    ///
    /// # Errors
    ///
    /// None for what fits the types.
    pub fn launch(&mut self, now: &Now) -> Result<Vec<Batch>, Error> {
        let Self { observer, judge, .. } = self;
        observer.launch(now, |id| judge.previous(id)).map_err(Error::on("ask the probe"))
    }
}

/// Where programs share their cooldowns. Without such a place each keeps its own.
fn root(args: &Args) -> Option<std::path::PathBuf> {
    store::root(args.store.as_deref())
        .inspect_err(|err| exit::warn(PROGRAM.name, &format!("{err}: cooldowns aren't shared")))
        .ok()
}

fn recall(args: &Args, terms: &Terms) -> Result<(Option<Cursor>, Memory), Error> {
    let Some(path) = &args.cursor else { return Ok((None, Memory::default())) };
    let mut target = terms.row.kind.clone();
    let readings = (args.emit == Emit::Readings).then_some("readings");
    for part in terms.objective.as_deref().into_iter().chain(readings) {
        target.push(' ');
        target.push_str(part);
    }
    let (cursor, found) = Cursor::open(path, PROGRAM.name, &target, decide::VERSION)?;
    let memory = match found {
        Found::Known(memory) => memory,
        Found::Nothing => Memory::default(),
        Found::Broken => {
            let path = path.display();
            let message = format!("the cursor {path} is broken: everything that stands is told");
            exit::warn(PROGRAM.name, &message);
            Memory::default()
        }
    };
    Ok((Some(cursor), memory))
}

fn describe(probe: &OsStr, waiter: &Waiter) -> Result<Row, Halt> {
    let name = probe.display();
    let missing = |cause: &str| {
        let message = format!("unable to use the probe {name}: {cause}");
        Error::new(Reason::Missing, "probe_unusable", message)
    };
    let printed = match call(probe, &["describe"], PATIENCE, waiter)? {
        Ok(printed) => printed,
        Err(cause) => return Err(missing(&format!("describe: {cause}")).into()),
    };
    Row::parse(&printed).map_err(|rules| {
        let rules: Vec<String> = rules.iter().map(|rule| format!("describe: {rule}")).collect();
        let err = missing(&rules.join("; "));
        Halt::Broken(rules, err)
    })
}

/// What the probe printed when called with `args`, or why that is nothing.
fn call(
    probe: &OsStr,
    args: &[&str],
    patience: Duration,
    waiter: &Waiter,
) -> Result<Result<Vec<u8>, String>, Halt> {
    let mut command = run::command(probe);
    run::dies_with_us(&mut command);
    Ok(match run::run_up_to(ANSWER, command.args(args), patience, waiter) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            Err("there is no such program; give a path, or a name on PATH".to_owned())
        }
        Err(err) => Err(err.to_string()),
        Ok(Outcome::Stopped) => return Err(Halt::Stopped),
        Ok(Outcome::TimedOut) => Err(format!("no end after {} s", patience.as_secs_f64())),
        Ok(Outcome::Exited { status, stdout, .. }) if status.success() => Ok(stdout),
        Ok(Outcome::Exited { status, stderr, .. }) => Err(complaint(status, &stderr)),
    })
}

fn complaint(status: ExitStatus, stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let said = Text::new(last, 200);
    if said.as_str().is_empty() {
        status.to_string()
    } else {
        format!("{status}: {}", said.as_str())
    }
}

/// Holds the command line against the row.
fn terms(args: &Args, row: Row, source: String) -> Result<Terms, Error> {
    if !(row.min_interval..=DAY).contains(&args.poll_interval) {
        let [least, most, given] =
            [row.min_interval, DAY, args.poll_interval].map(|span| span.as_secs_f64());
        return Err(Error::usage(format!(
            "unable to look every {given} s: --poll-interval must be {least} to {most} seconds for a {}",
            row.kind
        )));
    }
    let objective = match &args.objective {
        None => row.objectives.first().cloned(),
        Some(name) if row.objectives.contains(name) => Some(name.clone()),
        Some(name) => {
            let known = listed(row.objectives.iter().map(|name| &**name));
            return Err(Error::usage(format!(
                "unable to wait for --objective {name}: a {} has {known}",
                row.kind
            )));
        }
    };
    Ok(Terms {
        probe: args.probe.clone(),
        options: options(&args.set, &row)?,
        objective,
        timeout: args.call_timeout.unwrap_or(row.timeout),
        jobs: args.jobs.into(),
        row,
        source,
    })
}

fn options(given: &[(String, String)], row: &Row) -> Result<Map<String, Value>, Error> {
    let mut options = Map::new();
    for (name, text) in given {
        let Some(kind) = row.options.get(name) else {
            let known = listed(row.options.keys().map(|name| &**name));
            let message = format!("unable to --set {name}: a {} has {known}", row.kind);
            return Err(Error::usage(message));
        };
        let value = kind.value(text).map_err(|allowed| {
            Error::usage(format!("unable to --set {name}={text}: it must be {allowed}"))
        })?;
        options.insert(name.clone(), value);
    }
    Ok(options)
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn subjects(args: &Args, terms: &Terms, waiter: &Waiter) -> Result<Vec<Subject>, Halt> {
    let (mut subjects, mut refused, mut broken) = (Vec::new(), Vec::new(), Vec::new());
    let mut take = |named: Result<Vec<Subject>, Trouble>| match named {
        Ok(named) => subjects.extend(named),
        Err(Trouble::Refused(targets)) => refused.extend(targets),
        Err(Trouble::Broken(rules)) => broken.extend(rules),
    };
    if terms.row.pattern.is_some() {
        take(identity::by_pattern(&terms.row, &args.targets));
    } else {
        for chunk in args.targets.chunks(identity::CHUNK) {
            take(named(args, chunk, terms.timeout, waiter)?);
        }
    }
    if !refused.is_empty() {
        let refused = refused.join("; ");
        return Err(Error::usage(format!("unable to watch {refused}")).into());
    }
    if !broken.is_empty() {
        let (name, rules) = (args.probe.display(), broken.join("; "));
        let message = format!("unable to use the probe {name}: {rules}");
        return Err(Halt::Broken(broken, Error::new(Reason::Runtime, "probe_broken", message)));
    }
    Ok(identity::distinct(subjects))
}

fn named(
    args: &Args,
    targets: &[String],
    patience: Duration,
    waiter: &Waiter,
) -> Result<Result<Vec<Subject>, Trouble>, Halt> {
    let call_args: Vec<&str> =
        ["identity"].into_iter().chain(targets.iter().map(|target| &**target)).collect();
    Ok(match call(&args.probe, &call_args, patience, waiter)? {
        Ok(printed) => identity::parse(targets, &printed),
        Err(cause) => Err(Trouble::Broken(vec![format!("identity: {cause}")])),
    })
}

//! The subcommands, each from its flags to what it prints.

use std::collections::BTreeMap;

use serde::Serialize;
use shared::{
    cli, clock,
    exit::{self, Ended, Error, Reason},
    service::Service,
    stdout::Stdout,
    wait::{Waiter, Wake},
};

use crate::{
    answer::{Checked, Ids, Spawned, SpawnedCi, Stopped},
    args::{self, Command},
    check::check,
    event::{Event, line_as},
    exec::exec,
    follow::Follow,
    keeper::ask::Spec,
    look,
    monitors::programs,
    place::{Home, Place},
    start::{self, Refusal, Starting},
    stop, table,
    up::{named, spawn, up},
};

/// Runs a subcommand. A conflict is an event too: who reads stdout learns of it there.
///
/// # Errors
///
/// Its failure, or the conflict.
pub fn run(command: Command) -> Result<Ended, Error> {
    dispatch(command).map_err(tell)
}

fn dispatch(command: Command) -> Result<Ended, Refusal> {
    let parent = match &command {
        Command::Follow(args) => args.parent_pid,
        Command::Up(args) => args.parent_pid,
        _ => None,
    };
    let mut waiter = Waiter::new(parent).map_err(Error::on("take over the signals"))?;
    match command {
        Command::Start(args) => start(args, &mut waiter),
        Command::Spawn(args) => spawn_all(&args.which, &mut waiter),
        Command::SpawnCi(args) => spawn_ci(&args, &mut waiter),
        Command::Status(args) => status(&args, &mut waiter),
        Command::Follow(args) => follow(&args, &mut waiter),
        Command::Check(args) => {
            let wanted = args.task_ids.as_deref().map(task_ids).transpose()?;
            Ok(check(&place(&args.place)?, wanted.as_ref(), &args.reader, args.peek, &waiter)?)
        }
        Command::Stop(args) => stop_all(&args, &mut waiter),
        Command::Up(args) => Ok(up(&args, &place(&args.which.place)?, &mut waiter)?),
        Command::Exec(args) => Err(exec(&args.record, &args.command).into()),
    }
}

fn place(flags: &args::Where) -> Result<Place, Error> {
    Place::new(flags.store.as_deref(), flags.scope.as_deref())
}

fn start(args: args::Start, waiter: &mut Waiter) -> Result<Ended, Refusal> {
    let home = place(&args.place)?.home(&args.name);
    let spec = Spec {
        ends: args.ends,
        restart: args.restart,
        ready: args.ready,
        ready_timeout: args.ready_timeout,
        log_max: args.log_max,
        ..start::spec(&home, &args.name, args.command)
    };
    let started = Starting::launch(spec, args.replace, waiter)?.finish(waiter)?;
    print(&started, waiter)
}

fn spawn_all(which: &args::Which, waiter: &mut Waiter) -> Result<Ended, Refusal> {
    let place = place(&which.place)?;
    let (mut ids, mut ran, mut refusals) = (Vec::new(), 0, Vec::new());
    for (name, started) in spawn(&named(which, &place)?, &place, None, waiter) {
        match started {
            Ok(started) => {
                ran += usize::from(started.already_running);
                ids.push((name, started.task_id));
            }
            Err(refusal) => refusals.push(refusal),
        }
    }
    let already_running = !ids.is_empty() && ran == ids.len();
    let answer = Spawned { spawned: Ids(ids), spawned_at: now(), already_running };
    let ended = print(&answer, waiter)?;
    refused(refusals).map_or(Ok(ended), Err)
}

/// Tells of all refusals but the last, which is left to end with.
fn refused(mut refusals: Vec<Refusal>) -> Option<Refusal> {
    let last = refusals.pop();
    for refusal in refusals {
        exit::warn("supervise", &tell(refusal).to_string());
    }
    last
}

fn spawn_ci(args: &args::SpawnCi, waiter: &mut Waiter) -> Result<Ended, Refusal> {
    if !std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join("gh").is_file()))
    {
        let message = "unable to find gh: it is not on PATH";
        return Err(Error::new(Reason::Missing, "gh_missing", message).into());
    }
    let (flag, target) = match (args.run_id, args.pr) {
        (Some(id), _) => ("--run-id", id),
        (None, id) => ("--pr", id.unwrap_or_default()),
    };
    let program = programs()?.join("ci-status");
    let command = vec![program.to_string_lossy().into_owned(), format!("{flag}={target}")];
    let place = place(&args.place)?;
    let name = ci_name(&place, &command, target)?;
    let spec = Spec { ends: true, ..start::spec(&place.home(&name), &name, command) };
    let started = Starting::launch(spec, false, waiter)?.finish(waiter)?;
    let answer = SpawnedCi {
        monitor: started.monitor,
        task_id: started.task_id,
        target: target.to_string(),
        spawned_at: now(),
    };
    print(&answer, waiter)
}

/// `ci-status`, unless that is busy with another target, or this one has a monitor since it was.
fn ci_name(place: &Place, command: &[String], target: u64) -> Result<String, Error> {
    let busy_with = |name: &str| {
        Ok::<_, Error>(match look::life(&place.home(name))? {
            look::Life::Running(record) => Some(record.argv),
            _ => None,
        })
    };
    let (first, own) = ("ci-status".to_owned(), format!("ci-status-{target}"));
    Ok(match busy_with(&first)? {
        Some(argv) if argv == command => first,
        Some(_) => own,
        None if busy_with(&own)?.is_some_and(|argv| argv == command) => own,
        None => first,
    })
}

fn status(args: &args::Status, waiter: &mut Waiter) -> Result<Ended, Refusal> {
    let place = place(&args.place)?;
    loop {
        let names = place.choose(&args.names)?;
        let clocks = clock::now();
        let (mut monitors, mut broken) = (Vec::new(), None);
        for name in names {
            match look::status(&name, &place.home(&name), &clocks) {
                Ok(found) => monitors.extend(found),
                Err(err) => broken = broken.or(Some(err)),
            }
        }
        let text = match (args.table, args.watch) {
            (false, _) => line(&Checked { checked_at: now(), monitors: &monitors })?,
            (true, false) => table::table(&monitors).into_bytes(),
            // From the top left corner, and whatever was below is erased.
            (true, true) => format!("\x1b[H\x1b[J{}", table::table(&monitors)).into_bytes(),
        };
        let ended = print_bytes(&text, waiter)?;
        if let Some(err) = broken {
            return Err(err.into());
        }
        let due = clock::monotonic() + std::time::Duration::from_secs(1);
        if !args.watch
            || matches!(waiter.wait(Some(due), []).map_err(Error::on("wait"))?, Wake::Stop(_))
        {
            return Ok(ended);
        }
    }
}

fn follow(args: &args::Follow, waiter: &mut Waiter) -> Result<Ended, Refusal> {
    let place = place(&args.place)?;
    let mut follow = Follow::new(homes(&place, &args.names)?, args.new, waiter)?;
    Service::from_env().ready();
    Ok(follow.run(waiter)?)
}

fn stop_all(args: &args::Stop, waiter: &mut Waiter) -> Result<Ended, Refusal> {
    let place = place(&args.place)?;
    let homes = homes(&place, &args.names)?;
    let (stopped, refusals) = stop::stop(&homes, args.grace, false, Some(waiter));
    let (changed, refusal) = (!stopped.is_empty(), refused(refusals));
    if changed || refusal.is_none() {
        print(&Stopped { stopped, stopped_at: now(), changed }, waiter)?;
    }
    refusal.map_or(Ok(Ended::Done), Err)
}

fn homes(place: &Place, names: &[String]) -> Result<Vec<(String, Home)>, Error> {
    Ok(place.choose(names)?.into_iter().map(|name| (name.clone(), place.home(&name))).collect())
}

fn task_ids(text: &str) -> Result<BTreeMap<String, String>, Error> {
    let ids: BTreeMap<String, String> = serde_json::from_str(text).map_err(|err| {
        Error::usage(format!(
            "unable to read TASK-IDS-JSON: it has to be an object of names and task ids ({err})"
        ))
    })?;
    for name in ids.keys() {
        cli::name(name).map_err(|cause| {
            Error::usage(format!("unable to use the name {name:?}: it {cause}"))
        })?;
    }
    Ok(ids)
}

fn now() -> String {
    clock::now().timestamp().to_string()
}

fn line(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut text = shared::line::json(value).map_err(Error::on("make the answer"))?;
    text.push(b'\n');
    Ok(text)
}

fn print(value: &impl Serialize, waiter: &Waiter) -> Result<Ended, Refusal> {
    Ok(print_bytes(&line(value)?, waiter)?)
}

fn print_bytes(text: &[u8], waiter: &Waiter) -> Result<Ended, Error> {
    let mut out = Stdout::default();
    let printed = out.add(text, waiter).and_then(|()| out.flush(waiter));
    printed.map_err(Error::on("write to stdout"))?;
    Ok(Ended::Done)
}

fn tell(refusal: Refusal) -> Error {
    if let Refusal::Conflict(conflict) = &refusal
        && let Ok(waiter) = Waiter::new(None)
        && let Ok(line) =
            line_as("supervise", &Event::StateConflict(conflict.clone()), &clock::now())
    {
        let _ = print_bytes(&line, &waiter);
    }
    refusal.into_error()
}

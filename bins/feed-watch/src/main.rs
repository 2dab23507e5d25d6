//! Says that a feed changed: see the crate's documentation, and feed-watch(1).

use std::{ops::ControlFlow, process::ExitCode, time::Duration};

use feed_watch::{
    args::Args,
    decide::{Feeds, Memory},
    probe::Probe,
};
use shared::{
    cursor::{Cursor, Found},
    exit::{self, Ended, Error},
    health::Extent,
    session::{Look, Program, Session},
};

const PROGRAM: Program =
    Program { name: "feed-watch", announces: false, not_covered: &["what a feed says"] };

fn main() -> ExitCode {
    PROGRAM.main(|args: &Args| &args.running, run)
}

fn run(args: &Args, session: &mut Session) -> Result<Ended, Error> {
    let mut probe = Probe::new(args)?;
    let shown: Vec<String> = probe.paths.iter().map(|path| path.display().to_string()).collect();
    session.set_subject(&shown.join(" "));
    session.sweep_every(args.poll_interval);
    let mut feeds = Feeds::default();
    let mut cursor = recall(args, &shown.join(" "), &mut feeds)?;
    let quiet = if args.running.once { Duration::ZERO } else { args.debounce };
    loop {
        let now = session.pass(&probe.folders())?.now;
        let looks = probe.paths.iter().zip(&shown);
        let events: Vec<_> = looks
            .filter_map(|(path, name)| feeds.see(name, Probe::look(path), quiet, &now))
            .collect();
        let mechanism = if session.is_polling() { "poll" } else { "inotify" };
        let poll_interval_sec = args.poll_interval.as_secs();
        let (items, mechanisms) = (shown.len(), vec![mechanism]);
        session.set_extent(Extent { items, poll_interval_sec, mechanisms }, &[]);
        if let ControlFlow::Break(ended) = session.tell(&now, &[], &events)? {
            return Ok(ended);
        }
        session.remember(&now, cursor.as_mut(), &feeds.memory)?;
        if probe.is_over()? {
            return session.finish("shutdown_request", Ended::Done);
        }
        if let ControlFlow::Break(ended) = session.pause(Look::Whole, feeds.due(quiet))? {
            return Ok(ended);
        }
    }
}

fn recall(args: &Args, target: &str, feeds: &mut Feeds) -> Result<Option<Cursor>, Error> {
    let Some(path) = &args.cursor else { return Ok(None) };
    let (cursor, found) = Cursor::open::<Memory>(path, PROGRAM.name, target, 1)?;
    match found {
        Found::Known(memory) => feeds.memory = memory,
        Found::Broken => {
            let message =
                format!("{} is damaged: what is there now is the beginning", path.display());
            exit::warn(PROGRAM.name, &message);
        }
        Found::Nothing => {}
    }
    Ok(Some(cursor))
}

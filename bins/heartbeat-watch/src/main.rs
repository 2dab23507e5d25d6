//! The loop: look, decide, tell, remember, pause.

use std::{ops::ControlFlow, process::ExitCode};

use heartbeat_watch::{
    args::{Args, Emit},
    decide::{Memory, Outcome, decide},
    probe::Probe,
    reading::reading,
};
use shared::{
    clock::Now,
    cursor::{Cursor, Found},
    exit::{self, Ended, Error},
    folder::Folder,
    session::{Program, Session},
};

const PROGRAM: Program = Program {
    name: "heartbeat-watch",
    announces: false,
    not_covered: &[
        "items that are not implementing",
        "an owner that renews and does no work",
        "writers with wrong clocks",
    ],
};
/// Of the memory in the cursor file.
const VERSION: u32 = 1;

fn main() -> ExitCode {
    PROGRAM.main(|args: &Args| &args.running, run)
}

fn run(args: &Args, session: &mut Session) -> Result<Ended, Error> {
    let folder = Folder::new(args.state_dir.as_deref());
    let mut folder = folder.map_err(Error::on("find the current folder"))?;
    choose(&mut folder);
    let mut subject = folder.canonical();
    session.set_subject(&subject);
    let (mut cursor, mut memory) = recall(args, &folder, &subject)?;
    let (rules, mut probe, mut looks) = (args.rules(), Probe::default(), 0);
    session.sweep_every(rules.poll_interval);
    loop {
        let pass = session.pass(&folder.candidates())?;
        choose(&mut folder);
        if folder.path().is_dir() {
            subject = folder.canonical();
            session.set_subject(&subject);
        }
        let seen = probe.look(folder.path(), pass.full, &pass.now);
        let outcome = decide(&mut memory, &rules, seen, &pass.now);
        looks += 1;
        let told = match args.emit {
            Emit::Events => session.tell(&pass.now, &outcome.health, &outcome.events)?,
            Emit::Readings => tell_reading(session, &memory, &outcome, looks, &pass.now)?,
        };
        if let ControlFlow::Break(ended) = told {
            return Ok(ended);
        }
        if let Some(cursor) = &mut cursor {
            cursor.set_target(&subject);
            session.remember(&pass.now, Some(cursor), &memory)?;
        }
        if let ControlFlow::Break(ended) = session.pause(outcome.look, outcome.due)? {
            return Ok(ended);
        }
    }
}

fn choose(folder: &mut Folder) {
    if folder.resolve() {
        let message = format!("watching the main work tree's {}", folder.path().display());
        exit::warn(PROGRAM.name, &message);
    }
}

fn recall(args: &Args, folder: &Folder, subject: &str) -> Result<(Option<Cursor>, Memory), Error> {
    let Some(path) = &args.cursor else { return Ok((None, Memory::default())) };
    folder.keep_out(path)?;
    let (cursor, found) = Cursor::open(path, PROGRAM.name, subject, VERSION)?;
    let memory = match found {
        Found::Known(memory) => memory,
        Found::Nothing => Memory::default(),
        Found::Broken => {
            let message = format!("{} is damaged: telling all that stands", path.display());
            exit::warn(PROGRAM.name, &message);
            Memory::default()
        }
    };
    Ok((Some(cursor), memory))
}

fn tell_reading(
    session: &mut Session,
    memory: &Memory,
    outcome: &Outcome,
    looks: u64,
    now: &Now,
) -> Result<ControlFlow<Ended>, Error> {
    let subject = session.speaker().subject.clone();
    let Some(reading) = reading(memory, outcome, &subject, looks) else {
        return Ok(ControlFlow::Continue(()));
    };
    let lines = reading.lines(session.speaker(), now.timestamp());
    let lines = lines.map_err(Error::on("make a reading"))?;
    session.tell_lines(now, lines.iter().map(Vec::as_slice))
}

//! The loop: look when it is time, decide, tell, remember, wait; until all are merged or closed.

use std::{ops::ControlFlow, process::ExitCode};

use github::{remote::Halt, target::Target};
use pr_state_watch::{
    args::{Args, Emit, Format},
    decide::Decided,
    event::Event,
    probe::Sight,
    readings::Readings,
    start::{PROGRAM, Start},
};
use shared::{
    clock::{self, Now},
    exit::{self, Ended, Error},
    session::{Look, Session},
};

fn main() -> ExitCode {
    PROGRAM.main(|args: &Args| &args.running, run)
}

fn run(args: &Args, session: &mut Session) -> Result<Ended, Error> {
    let Start { mut probe, mut judge, mut cursor } = match Start::new(args, session) {
        Ok(start) => start,
        Err(Halt::Failed(err)) => return Err(err),
        Err(Halt::Stopped) => {
            let ended = session.pause(Look::Settling, None)?;
            return Ok(ended.break_value().unwrap_or(Ended::Done));
        }
    };
    let mut readings = Readings::default();
    loop {
        let pass = session.pass(&[])?;
        let wanted = judge.wanted(&pass.now);
        let sights = probe.look(&wanted, |target| judge.comments_of(target), session.waiter());
        let now = clock::now();
        if let Some(decided) = judge.judge(&wanted, &sights, &now)? {
            if let Some(warning) = &decided.warning {
                exit::warn(PROGRAM.name, warning);
            }
            let told = match (args.emit, args.format) {
                (Emit::Readings, _) => {
                    tell_readings(session, &mut readings, (&wanted, &sights), &decided, &now)?
                }
                (Emit::Events, Format::Text) => tell_text(session, &decided, &now)?,
                (Emit::Events, Format::Ndjson) => {
                    session.tell(&now, &decided.health, &decided.events)?
                }
            };
            if let ControlFlow::Break(ended) = told {
                return Ok(ended);
            }
            session.remember(&now, cursor.as_mut(), judge.memory())?;
        }
        if judge.is_done() {
            return session.finish("ended", Ended::Done);
        }
        if let ControlFlow::Break(ended) = session.pause(judge.state(), Some(judge.due()))? {
            return Ok(ended);
        }
    }
}

/// A failed look is a failed reading, without a health event beside it.
fn tell_readings(
    session: &mut Session,
    readings: &mut Readings,
    (targets, sights): (&[Target], &[Sight]),
    decided: &Decided,
    now: &Now,
) -> Result<ControlFlow<Ended>, Error> {
    for (reading, about) in readings.of(targets, sights, &decided.facts) {
        let lines = reading.lines_with(&about, session.speaker(), now.timestamp());
        let lines = lines.map_err(Error::on("print a reading"))?;
        let told = session.tell_lines(now, lines.iter().map(Vec::as_slice))?;
        if told.is_break() {
            return Ok(told);
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// The program's own health stays JSON: it has no other form.
fn tell_text(
    session: &mut Session,
    decided: &Decided,
    now: &Now,
) -> Result<ControlFlow<Ended>, Error> {
    let text = |Event::PrState(event): &Event| event.text();
    let lines: Vec<String> = decided.events.iter().map(text).collect();
    let told = session.tell::<Event>(now, &decided.health, &[])?;
    if told.is_break() {
        return Ok(told);
    }
    session.tell_lines(now, lines.iter().map(String::as_bytes))
}

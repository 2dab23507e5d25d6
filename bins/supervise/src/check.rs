//! What is new since a reader's last check, sorted by `classify --report`.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Seek as _, Write as _},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::json;
use shared::{
    clock, cursor,
    exit::{Ended, Error, Reason},
    file, process, run,
    stdout::Stdout,
    store,
    wait::Waiter,
};

use crate::{
    event::{Event, LogGap, line_as},
    look::{self, Status},
    monitors,
    place::{Home, Place},
    reader::{Piece, Reader},
    record::Record,
};

/// How long the report may take.
const DEADLINE: Duration = Duration::from_mins(2);
/// The most bytes of a report: what `classify` keeps, and room around it.
const REPORT: usize = 96 << 20;

/// How far a reader is with one monitor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    version: u32,
    /// The position behind the last line that was reported.
    position: u64,
    /// The run whose end was reported.
    ended: Option<String>,
}

const VERSION: u32 = 1;

/// One monitor's part of a check.
struct Part {
    name: String,
    home: Home,
    /// The lines, if there are any: of many monitors few speak between two checks, and open files
    /// are counted.
    lines: Option<File>,
    mark: Mark,
}

/// Prints the report for `reader`, and moves its marks once that is flushed, unless it only
/// peeks. `wanted` limits it to these names, whose ids have to be those of the present runs.
///
/// # Errors
///
/// Nothing has moved then, unless it is a record that can't be used: the others are reported.
pub fn check(
    place: &Place,
    wanted: Option<&BTreeMap<String, String>>,
    reader: &str,
    peek: bool,
    waiter: &Waiter,
) -> Result<Ended, Error> {
    let now = clock::now();
    let names = match wanted {
        Some(wanted) => wanted.keys().cloned().collect(),
        None => place.names()?,
    };
    let (mut parts, mut statuses, mut broken) = (Vec::new(), Vec::new(), None);
    for name in names {
        let home = place.home(&name);
        // One that can't be judged is as good as dead, and hides no other.
        let status = look::status(&name, &home, &now).unwrap_or_else(|err| {
            broken = broken.take().or(Some(err));
            None
        });
        let id = wanted.and_then(|wanted| wanted.get(&name));
        let Some(status) = status.filter(|status| id.is_none_or(|id| *id == status.task_id)) else {
            statuses.push(unknown(&name));
            continue;
        };
        let mut part = collect(&name, home, reader).map_err(Error::on("read the logs"))?;
        if is_told(&mut part.mark, &status) && part.lines.is_none() {
            continue;
        }
        let row = serde_json::to_value(&status).map_err(io::Error::from);
        statuses.push(row.map_err(Error::on("look"))?);
        parts.push(part);
    }
    let Some(report) = report(&parts, &statuses, waiter)? else { return Ok(Ended::Done) };
    let was_read = print(&report, waiter).map_err(Error::on("print the report"))?;
    if was_read && !peek {
        for part in &parts {
            remember(&part.home, reader, &part.mark)?;
        }
    }
    broken.map_or(Ok(Ended::Done), Err)
}

/// Whether somebody took the report.
fn print(report: &[u8], waiter: &Waiter) -> io::Result<bool> {
    let mut out = Stdout::default();
    out.add(report, waiter)?;
    out.flush(waiter)?;
    Ok(out.stop().is_none())
}

/// The lines that `reader` has not been told of, in a file without a name.
fn collect(name: &str, home: Home, reader: &str) -> io::Result<Part> {
    let mut mark = recall(&home, reader).unwrap_or_else(|| {
        let begin = Record::load(&home).ok().flatten().map_or(0, |record| record.run_start);
        Mark { version: VERSION, position: begin, ended: None }
    });
    let mut lines = nameless(name, &Ok(Vec::new()))?;
    let mut log = Reader::new(&home, mark.position);
    {
        let mut buffer = io::BufWriter::new(&mut lines);
        log.read(|piece| match piece {
            Piece::Line(line) => buffer.write_all(line),
            Piece::Lost(lost_bytes) => {
                let gap = LogGap { monitor: name.to_owned(), lost_bytes, position: 0 };
                buffer.write_all(&line_as("supervise", &Event::LogGap(gap), &clock::now())?)
            }
        })?;
        buffer.flush()?;
    }
    lines.rewind()?;
    let lines = (log.position() > mark.position).then_some(lines);
    mark.position = log.position();
    Ok(Part { name: name.to_owned(), home, lines, mark })
}

/// Whether the reader knows of this end already: that of a monitor that was to end, or was
/// stopped. A death is told at each check.
fn is_told(mark: &mut Mark, status: &Status) -> bool {
    if status.alive || !status.has_ended_as_meant() {
        return false;
    }
    let told = mark.ended.as_ref() == Some(&status.instance);
    mark.ended = Some(status.instance.clone());
    told
}

/// The row of a name or an id that is not known here: dead, for all that can be said.
fn unknown(name: &str) -> serde_json::Value {
    json!({"name": name, "alive": false, "ends": false, "exit_code": null, "exit_signal": null, "end_reason": null})
}

/// The report, or `None` when we were asked to stop or nobody waits for it any more.
fn report(
    parts: &[Part],
    statuses: &[serde_json::Value],
    waiter: &Waiter,
) -> Result<Option<Vec<u8>>, Error> {
    let status = nameless("status", &serde_json::to_vec(&json!({"monitors": statuses})));
    let status = status.map_err(Error::on("make the report"))?;
    let classify = monitors::programs()?.join("classify");
    let mut command = run::command(&classify);
    let path = process::lend(&status, &mut command);
    command.arg("--report").arg("--status").arg(path);
    for part in parts {
        if let Some(lines) = &part.lines {
            let path = process::lend(lines, &mut command);
            command.arg(format!("{}={}", part.name, path.display()));
        }
    }
    match run::run_up_to(REPORT, &mut command, DEADLINE, waiter) {
        Ok(run::Outcome::Exited { status, stdout, .. })
            if status.success() && stdout.ends_with(b"\n") =>
        {
            Ok(Some(stdout))
        }
        Ok(run::Outcome::Exited { stderr, .. }) => {
            let said = String::from_utf8_lossy(&stderr).trim().to_owned();
            Err(unreported(&said))
        }
        Ok(run::Outcome::TimedOut) => Err(unreported("classify took too long")),
        Ok(run::Outcome::Stopped) => Ok(None),
        Err(err) => Err(Error::io("run", &classify, &err)),
    }
}

/// A file without a name that holds `content`.
fn nameless(name: &str, content: &serde_json::Result<Vec<u8>>) -> io::Result<File> {
    let mut file = process::nameless(name)?;
    match content {
        Ok(content) => file.write_all(content)?,
        Err(err) => return Err(io::Error::other(err.to_string())),
    }
    file.rewind()?;
    Ok(file)
}

fn unreported(cause: &str) -> Error {
    Error::new(Reason::Runtime, "no_report", format!("unable to make the report: {cause}"))
}

fn mark_path(home: &Home, reader: &str) -> std::path::PathBuf {
    home.cursors().join(format!("check-{reader}.json"))
}

/// Where the reader was. What can't be read begins with the current run: told twice beats never.
fn recall(home: &Home, reader: &str) -> Option<Mark> {
    let content = file::read(&mark_path(home, reader), 4096).ok()?;
    let mark: Mark = serde_json::from_slice(&content.bytes).ok()?;
    (mark.version == VERSION).then_some(mark)
}

fn remember(home: &Home, reader: &str, mark: &Mark) -> Result<(), Error> {
    let path = mark_path(home, reader);
    store::make_private(&home.cursors())?;
    let text = serde_json::to_vec(mark).map_err(io::Error::from);
    text.and_then(|text| cursor::replace(&path, &text))
        .map_err(|err| Error::io("write", &path, &err))
}

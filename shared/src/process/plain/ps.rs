//! What ps(1) says: the part of it that procps, macOS and the BSDs have in common.

use std::io;

use jiff::{civil::DateTime, tz::TimeZone};

use crate::{process::State, run};

/// A process in the list of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) pid: u32,
    pub(super) parent: u32,
    pub(super) group: u32,
    pub(super) state: State,
    /// In seconds since 1970.
    pub(super) start: u64,
    /// Its arguments and its environment.
    pub(super) words: Vec<u8>,
}

/// Everybody's processes, and beside the arguments the environment.
const ALL: &str = if cfg!(target_os = "linux") { "axeww" } else { "-AEww" };

/// The state and start of process `pid`. `None`: there is no such process.
///
/// # Errors
///
/// When ps can't be run, or says what can't be understood.
pub(super) fn one(pid: u32) -> io::Result<Option<(State, u64)>> {
    let said = ps(&["-o", "stat=", "-o", "lstart=", "-p", &pid.to_string()])?;
    if said.is_empty() {
        return Ok(None);
    }
    let mut fields = Fields(&said);
    fields.state_and_start().map(Some).ok_or_else(|| misunderstood(&said))
}

/// All processes.
///
/// # Errors
///
/// As [`one`].
pub(super) fn all() -> io::Result<Vec<Row>> {
    let mut args = vec![ALL];
    for column in ["pid=", "ppid=", "pgid=", "stat=", "lstart=", "command="] {
        args.extend(["-o", column]);
    }
    let said = ps(&args)?;
    let lines = said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| row(line).ok_or_else(|| misunderstood(line))).collect()
}

/// The environment of the process of `row`, unless it has become another program meanwhile. What
/// looks like one in the arguments isn't part of it.
pub(super) fn environment(row: &Row) -> Option<&[u8]> {
    let said = ps(&["-ww", "-o", "command=", "-p", &row.pid.to_string()]).ok()?;
    let arguments = said.trim_ascii_end();
    row.words.strip_prefix(arguments).filter(|_| !arguments.is_empty())
}

fn row(line: &[u8]) -> Option<Row> {
    let mut fields = Fields(line);
    let (pid, parent, group) = (fields.number()?, fields.number()?, fields.number()?);
    let (state, start) = fields.state_and_start()?;
    Some(Row { pid, parent, group, state, start, words: fields.0.trim_ascii().to_vec() })
}

/// The fields that are left of a line.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let rest = self.0.trim_ascii_start();
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let (field, rest) = rest.split_at_checked(end)?;
        self.0 = rest;
        str::from_utf8(field).ok().filter(|field| !field.is_empty())
    }

    fn number(&mut self) -> Option<u32> {
        self.next()?.parse().ok()
    }

    /// `S+ Mon Nov 30 21:37:00 2026`.
    fn state_and_start(&mut self) -> Option<(State, u64)> {
        let state = if self.next()?.starts_with(['Z', 'X']) { State::Zombie } else { State::Alive };
        let start =
            [self.next()?, self.next()?, self.next()?, self.next()?, self.next()?].join(" ");
        let start = DateTime::strptime("%a %b %d %H:%M:%S %Y", start).ok()?;
        let start = TimeZone::UTC.to_timestamp(start).ok()?.as_second();
        Some((state, u64::try_from(start).ok()?))
    }
}

/// What ps prints; nothing when it finds nothing.
fn ps(args: &[&str]) -> io::Result<Vec<u8>> {
    let mut ps = run::command("/bin/ps");
    let out = ps.args(args).env("LC_ALL", "C").env("TZ", "UTC").output()?;
    if out.stdout.is_empty() && !out.stderr.is_empty() {
        return Err(misunderstood(&out.stderr));
    }
    Ok(out.stdout)
}

fn misunderstood(said: &[u8]) -> io::Error {
    let said = String::from_utf8_lossy(said);
    io::Error::other(format!("ps said {:?}", said.lines().next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read() {
        let line = b"  12     1    11 Ss+  Mon Nov  2 01:02:03 2026 sh -c a  b\xff X=1";
        let want = Row {
            pid: 12,
            parent: 1,
            group: 11,
            state: State::Alive,
            start: 1_793_581_323,
            words: b"sh -c a  b\xff X=1".to_vec(),
        };
        assert_eq!(row(line), Some(want));
        let zombie = b"12 1 12 Z Mon Nov 30 01:02:03 2026 [sh] <defunct>";
        assert_eq!(row(zombie).unwrap().state, State::Zombie);
        for bad in [&b""[..], b"12 1 11 S", b"12 1 11 S Mon Nov 31 01:02:03 2026 sh", b"x"] {
            assert_eq!(row(bad), None);
        }
    }

    #[test]
    fn arguments_are_no_environment() {
        let mut child = run::command("sh");
        child.args(["-c", "read line", "KEY=argument"]).env("KEY", "environment");
        let mut child = child.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let rows = all().unwrap();
        let row = rows.iter().find(|row| row.pid == child.id()).unwrap();
        assert!(memchr::memmem::find(&row.words, b"KEY=argument").is_some());
        let environment = environment(row).unwrap();
        assert!(memchr::memmem::find(environment, b"KEY=environment").is_some());
        assert!(memchr::memmem::find(environment, b"KEY=argument").is_none());
        assert_eq!(row.parent, std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

//! One run of the probe beside the loop: what it printed so far, its deadline, and its end, which
//! is the end of all that it started.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read, Seek as _, Write as _},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::process::ExitStatusExt as _,
    },
    process::{Child, ChildStderr, ChildStdout},
    time::Duration,
};

use rustix::{
    fs::{OFlags, fcntl_setfl},
    process::{Pid, Signal, kill_process_group},
};
use shared::{process, run, wait};

use crate::errors::End;

/// The most bytes of an answer.
pub const STDOUT: usize = 4 << 20;
/// What is kept of the end of the complaints.
const STDERR: usize = 64 << 10;
/// The most that is read at once, so that no probe keeps us from the others.
const GULP: usize = 1 << 20;
/// Between TERM and KILL.
const GRACE: Duration = Duration::from_millis(500);

/// What an invocation left.
#[derive(Debug)]
pub struct Printed {
    /// How it ended.
    pub end: End,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// The end of what it complained of.
    pub stderr: Vec<u8>,
}

/// A probe that runs. Dropped, it is killed with all that it started.
#[derive(Debug)]
pub struct Invocation {
    child: Child,
    end: OwnedFd,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    printed: Vec<u8>,
    complained: Vec<u8>,
    /// When it is asked to end, or, once it is `dying`, killed.
    due: Duration,
    dying: Option<End>,
    is_reaped: bool,
}

impl Invocation {
    /// Starts `probe observe` with `request` as its input. Times are monotonic.
    ///
    /// # Errors
    ///
    /// Why it can't be started.
    pub fn start(probe: &OsStr, request: &[u8], due: Duration) -> io::Result<Self> {
        let mut command = run::command(probe);
        command.arg("observe").stdin(input(request)?);
        run::dies_with_us(&mut command);
        let mut child = command.spawn()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        match watched(&child, stdout.as_ref(), stderr.as_ref()) {
            Ok(end) => Ok(Self {
                child,
                end,
                stdout,
                stderr,
                printed: Vec::new(),
                complained: Vec::new(),
                due,
                dying: None,
                is_reaped: false,
            }),
            Err(err) => {
                kill(&child, Signal::KILL);
                let _ = child.wait();
                Err(err)
            }
        }
    }

    /// What becomes readable when there is something to do.
    pub fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let pipes = [self.stdout.as_ref().map(AsFd::as_fd), self.stderr.as_ref().map(AsFd::as_fd)];
        pipes.into_iter().flatten().chain([self.end.as_fd()])
    }

    /// When there is something to do whatever happens.
    #[must_use]
    pub fn due(&self) -> Duration {
        self.due
    }

    /// Reads what is there; ends what is late or prints without end. What it left, once it has
    /// ended.
    ///
    /// # Errors
    ///
    /// Those of poll(2) and wait(2).
    pub fn advance(&mut self, now: Duration) -> io::Result<Option<Printed>> {
        // Asked before the last gulp, so that what was printed before the end is in it.
        let has_ended = wait::until_readable(self.end.as_fd(), now)?;
        let before = self.printed.len();
        gulp(&mut self.stdout, &mut self.printed);
        if self.dying.is_some() {
            self.printed.truncate(before);
        }
        gulp(&mut self.stderr, &mut self.complained);
        self.complained.drain(..self.complained.len().saturating_sub(STDERR));
        if self.dying.is_none() && self.printed.len() > STDOUT {
            self.printed.truncate(STDOUT);
            self.ask_to_end(End::Flooded, now);
        }
        if !has_ended && self.dying.is_none() && now >= self.due {
            self.ask_to_end(End::TimedOut, now);
        }
        if !has_ended && (self.dying.is_none() || now < self.due) {
            return Ok(None);
        }
        // While the child isn't reaped, its number can't be another group's.
        kill(&self.child, Signal::KILL);
        let status = self.child.wait()?;
        self.is_reaped = true;
        let end = self.dying.take().unwrap_or_else(|| match status.code() {
            Some(code) => End::Exited(code),
            None => End::Killed(status.signal().unwrap_or_default()),
        });
        let (stdout, stderr) = (&mut self.printed, &mut self.complained);
        Ok(Some(Printed { end, stdout: std::mem::take(stdout), stderr: std::mem::take(stderr) }))
    }

    /// What it prints from now on is read and dropped: a closed pipe would end it while it cleans up.
    fn ask_to_end(&mut self, end: End, now: Duration) {
        kill(&self.child, Signal::TERM);
        (self.dying, self.due) = (Some(end), now + GRACE);
    }
}

impl Drop for Invocation {
    fn drop(&mut self) {
        if !self.is_reaped {
            kill(&self.child, Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// A file without a name: a probe that doesn't read can't hold us up.
fn input(request: &[u8]) -> io::Result<File> {
    let mut file = process::nameless("request")?;
    file.write_all(request)?;
    file.rewind()?;
    Ok(file)
}

fn watched(
    child: &Child,
    stdout: Option<&ChildStdout>,
    stderr: Option<&ChildStderr>,
) -> io::Result<OwnedFd> {
    for pipe in [stdout.map(AsFd::as_fd), stderr.map(AsFd::as_fd)].into_iter().flatten() {
        fcntl_setfl(pipe, OFlags::NONBLOCK)?;
    }
    run::end_of(child)
}

fn kill(child: &Child, signal: Signal) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, signal);
    }
}

/// Reads what is there, and forgets the pipe once its writers are gone.
fn gulp(pipe: &mut Option<impl Read>, into: &mut Vec<u8>) {
    let mut chunk = [0; 16 << 10];
    for _ in 0..GULP / chunk.len() {
        let Some(open) = pipe else { return };
        match open.read(&mut chunk) {
            Ok(n) if n > 0 => into.extend(chunk.iter().take(n)),
            Err(err) if err.kind() == io::ErrorKind::WouldBlock => return,
            Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => *pipe = None,
        }
    }
}

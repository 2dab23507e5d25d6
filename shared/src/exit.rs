//! Exit codes, and the one error type that carries them.

use std::{fmt, io, path::Path, process::ExitCode};

/// Why a program failed. The number is its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// The command line is wrong.
    Usage = 1,
    /// Something needed is missing: a program, a login, a repository.
    Missing = 2,
    /// The thing to watch doesn't exist.
    NotFound = 3,
    /// A system or network operation failed.
    Runtime = 4,
}

/// How a run ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Done, or stopped cleanly: 0.
    Done,
    /// `--wait` passed without a result: 3.
    NoResult,
    /// The one look of `--once` could not see everything: 4.
    Incomplete,
    /// A verdict that was asked for with `--exit-code`: 10 to 19.
    Verdict(u8),
}

impl From<Ended> for ExitCode {
    fn from(ended: Ended) -> Self {
        Self::from(match ended {
            Ended::Done => 0,
            Ended::NoResult => 3,
            Ended::Incomplete => 4,
            Ended::Verdict(code) => code,
        })
    }
}

/// An error ready to be printed after `<program>: fatal: `.
#[derive(Debug)]
pub struct Error {
    reason: Reason,
    word: &'static str,
    message: String,
}

impl Error {
    /// Makes an error. `word` is its name in `snake_case` on stdout (`cursor_refused`), `message`
    /// a lower-case sentence fragment with no final stop: `unable to read /p/f: no such file`.
    pub fn new(reason: Reason, word: &'static str, message: impl Into<String>) -> Self {
        Self { reason, word, message: message.into() }
    }

    /// A wrong command line: exit 1.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Reason::Usage, "usage", message)
    }

    /// Says that `verb` failed on `path`: `unable to read /p/f: permission denied`.
    #[must_use]
    pub fn io(verb: &str, path: &Path, err: &io::Error) -> Self {
        let message = format!("unable to {verb} {}: {err}", path.display());
        Self::new(Reason::Runtime, "io_error", message)
    }

    /// For `map_err`: says that the program was unable to do `what`.
    pub fn on(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |err| Self::new(Reason::Runtime, "io_error", format!("unable to {what}: {err}"))
    }

    /// Why the program failed.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The error's name in `monitor_failed`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.word
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Turns what a run returned into an exit code, printing the error if there is one.
#[must_use]
pub fn report(program: &str, outcome: Result<Ended, Error>) -> ExitCode {
    match outcome {
        Ok(ended) => ended.into(),
        Err(err) => {
            complain(program, "fatal", &err.message);
            ExitCode::from(err.reason as u8)
        }
    }
}

/// Prints a warning. The program goes on.
pub fn warn(program: &str, message: &str) {
    complain(program, "warning", message);
}

/// One line on stderr, whatever the message holds. A stderr that is gone is no reason to die.
fn complain(program: &str, gravity: &str, message: &str) {
    let message: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let _ = io::Write::write_all(
        &mut io::stderr(),
        format!("{program}: {gravity}: {message}\n").as_bytes(),
    );
}

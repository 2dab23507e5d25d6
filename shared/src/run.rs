//! Runs a child with a deadline, in a session and process group of its own, and leaves nothing
//! of it behind.

use std::{
    ffi::OsStr,
    io::{self, Read},
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::CommandExt as _,
    },
    process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio},
    time::Duration,
};

use nix::poll::{PollFd, PollFlags};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::{
    clock, process,
    wait::{self, Waiter},
};

/// What is kept of a child's stdout unless told otherwise; the rest is read and dropped.
pub const STDOUT_LIMIT: usize = 16 << 20;
/// What is kept of the end of its stderr.
const STDERR_LIMIT: usize = 8 << 10;
/// The most a pipe holds, unless root made it larger: what may be left when the child has ended.
const PIPE_LIMIT: usize = 1 << 20;
/// Between TERM and KILL.
const GRACE: Duration = Duration::from_millis(500);

/// How a child ended.
#[derive(Debug)]
pub enum Outcome {
    /// By itself.
    Exited {
        /// Its exit status.
        status: ExitStatus,
        /// What it printed.
        stdout: Vec<u8>,
        /// The end of what it complained of.
        stderr: Vec<u8>,
    },
    /// It was killed at the deadline.
    TimedOut,
    /// It was killed because we are asked to stop, or our own time is over.
    Stopped,
}

/// A command without a shell, input, terminal or the service manager's sockets.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place that starts children")]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
        command.env_remove(name);
    }
    let own_session = || nix::unistd::setsid().map(drop).map_err(io::Error::from);
    // SAFETY: setsid(2) is async-signal-safe, and the closure touches no memory of ours.
    #[expect(unsafe_code, reason = "std has no stable call for a new session")]
    unsafe {
        command.pre_exec(own_session);
    }
    command
}

/// A command to become, by exec: in this session, with whatever this process has.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "nothing is started")]
pub fn replacement(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Makes the child of `command` get TERM when the thread that starts it ends, however it ends,
/// where the system has a way to.
pub fn dies_with_us(command: &mut Command) {
    process::dies_with_us(command);
}

/// Runs `command` (made by [`command`]) to its end, `deadline` or our own stop.
///
/// What the child started goes with it: the group is killed before the child is reaped, while its
/// number can't belong to anyone else. A grandchild that holds the pipes open holds up nothing.
///
/// # Errors
///
/// When it can't be started (`NotFound`: no such program) or watched.
pub fn run(command: &mut Command, deadline: Duration, waiter: &Waiter) -> io::Result<Outcome> {
    run_up_to(STDOUT_LIMIT, command, deadline, waiter)
}

/// The same, keeping up to `limit` bytes of its stdout.
///
/// # Errors
///
/// As [`run`].
pub fn run_up_to(
    limit: usize,
    command: &mut Command,
    deadline: Duration,
    waiter: &Waiter,
) -> io::Result<Outcome> {
    let due = clock::monotonic() + deadline;
    // Killed outright, we end nobody: a child that waits for a dead server would wait for ever.
    dies_with_us(command);
    let mut child = command.spawn()?;
    let patience = waiter.end().map_or(due, |end| end.min(due));
    // Open until the child has ended: what it says while it cleans up must not kill it.
    let mut pipes = (child.stdout.take(), child.stderr.take());
    let outcome = attend(&child, &mut pipes, patience, limit, waiter);
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if !matches!(outcome, Ok(Some(_)))
        && let Some(group) = group
    {
        let _ = kill_process_group(group, Signal::TERM);
        let _ = end_of(&child)
            .and_then(|end| wait::until_readable(end.as_fd(), clock::monotonic() + GRACE));
    }
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let status = child.wait()?;
    Ok(match outcome? {
        Some((stdout, stderr)) => Outcome::Exited { status, stdout, stderr },
        None if clock::monotonic() >= due => Outcome::TimedOut,
        None => Outcome::Stopped,
    })
}

/// What the child printed until it ended; `None` when it has to be ended.
fn attend(
    child: &Child,
    (stdout, stderr): &mut (Option<ChildStdout>, Option<ChildStderr>),
    due: Duration,
    limit: usize,
    waiter: &Waiter,
) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    let end = end_of(child)?;
    for pipe in
        [stdout.as_ref().map(AsFd::as_fd), stderr.as_ref().map(AsFd::as_fd)].iter().flatten()
    {
        rustix::fs::fcntl_setfl(pipe, rustix::fs::OFlags::NONBLOCK)?;
    }
    let (mut printed, mut complained) = (Vec::new(), Vec::new());
    loop {
        let pipes = [stdout.as_ref().map(AsFd::as_fd), stderr.as_ref().map(AsFd::as_fd)];
        let mut fds = waiter.stops();
        let stops = fds.len();
        fds.push(PollFd::new(end.as_fd(), PollFlags::POLLIN));
        fds.extend(pipes.iter().flatten().map(|pipe| PollFd::new(*pipe, PollFlags::POLLIN)));
        // However long the child takes, a service manager hears from us.
        let beat = waiter.service().watchdog_interval().map(|every| clock::monotonic() + every);
        let next = beat.map_or(due, |beat| beat.min(due));
        let in_time = wait::polled(&mut fds, Some(next))? || next < due;
        if !in_time || fds[..stops].iter().any(wait::is_hit) {
            return Ok(None);
        }
        waiter.service().watchdog();
        let has_ended = wait::is_hit(&fds[stops]);
        drain(stdout, &mut printed)?;
        printed.truncate(limit);
        drain(stderr, &mut complained)?;
        complained.drain(..complained.len().saturating_sub(STDERR_LIMIT));
        if has_ended {
            return Ok(Some((printed, complained)));
        }
    }
}

/// Reads what is there, at most what the pipe can hold at once, and forgets the pipe once its
/// writers are gone.
fn drain(pipe: &mut Option<impl Read>, into: &mut Vec<u8>) -> io::Result<()> {
    let mut chunk = [0; 16 << 10];
    // Bounded, so that a child that never stops printing can't hold up the deadline.
    for _ in 0..PIPE_LIMIT / chunk.len() {
        let Some(open) = pipe else { break };
        match open.read(&mut chunk) {
            Ok(0) => *pipe = None,
            Ok(n) => into.extend(&chunk[..n]),
            Err(err) if err.kind() == io::ErrorKind::WouldBlock => break,
            Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
            Err(err) => return Err(err),
        }
    }
    Ok(())
}

/// A descriptor that is readable once `child` has ended.
///
/// # Errors
///
/// For want of descriptors.
pub fn end_of(child: &Child) -> io::Result<OwnedFd> {
    process::end_of(child.id())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;
    use crate::process::State;

    const LONG: Duration = Duration::from_secs(30);

    fn sh(script: &str, deadline: Duration) -> Outcome {
        let waiter = Waiter::new(None).unwrap();
        run(command("sh").args(["-c", script]), deadline, &waiter).unwrap()
    }

    #[test]
    fn a_child_answers_on_two_streams() {
        let Outcome::Exited { status, stdout, stderr } = sh("echo out; echo err >&2; exit 7", LONG)
        else {
            panic!("no end");
        };
        assert_eq!((status.code(), &*stdout, &*stderr), (Some(7), &b"out\n"[..], &b"err\n"[..]));
    }

    #[test]
    fn a_long_answer_comes_whole() {
        let Outcome::Exited { stdout, .. } = sh("yes 0123456789 | head -c 3000000", LONG) else {
            panic!("no end");
        };
        assert_eq!(stdout.len(), 3_000_000);
    }

    #[test]
    fn the_deadline_ends_a_child_that_ignores_term_and_what_it_started() {
        let scene = tempfile::tempdir().unwrap();
        let pids = scene.path().join("pids");
        let script = format!(
            "trap '' TERM; (trap '' TERM; echo $$ >>{0}; sleep 1000) & echo $! >>{0}; sleep 1000",
            pids.display()
        );
        assert!(matches!(sh(&script, Duration::from_millis(300)), Outcome::TimedOut));
        // KILL is sent before the end is told, but a grandchild dies at its own pace.
        let due = clock::monotonic() + LONG;
        for pid in std::fs::read_to_string(pids).unwrap().lines() {
            while process::look(pid.parse().unwrap())
                .unwrap()
                .is_some_and(|(_, state)| state == State::Alive)
            {
                assert!(clock::monotonic() < due, "{pid} is left");
            }
        }
    }

    /// A git that is killed outright leaves its locks behind, and nobody can work there any more.
    #[test]
    fn the_deadline_lets_a_child_clean_up_before_it_kills() {
        let scene = tempfile::tempdir().unwrap();
        let cleaned = scene.path().join("cleaned");
        let script = format!(
            "trap 'echo cleaning up; echo >{}; exit' TERM; while :; do sleep 0.01; done",
            cleaned.display()
        );
        // On a busy machine the shell may need long to begin, and longer than it gets to end.
        let mut deadlines = (0..6).map(|n| Duration::from_millis(300 << n));
        assert!(deadlines.any(|deadline| {
            assert!(matches!(sh(&script, deadline), Outcome::TimedOut));
            cleaned.exists()
        }));
    }

    #[test]
    fn a_child_dies_of_a_broken_pipe_though_we_do_not() {
        let Outcome::Exited { status, stdout, .. } = sh("kill -PIPE $$; echo survived", LONG)
        else {
            panic!("no end");
        };
        assert_eq!((status.signal(), &*stdout), (Some(nix::libc::SIGPIPE), &b""[..]));
    }

    #[test]
    fn a_grandchild_that_holds_the_pipe_holds_up_nothing() {
        let Outcome::Exited { stdout, .. } = sh("sleep 1000 & echo done", LONG) else {
            panic!("no end");
        };
        assert_eq!(stdout, b"done\n");
    }

    #[test]
    fn a_child_has_no_terminal_and_no_input() {
        let script = "cat; (: </dev/tty) 2>/dev/null && echo terminal; echo end";
        let Outcome::Exited { stdout, .. } = sh(script, LONG) else { panic!("no end") };
        assert_eq!(stdout, b"end\n");
    }

    #[test]
    fn a_missing_program_is_told_apart() {
        let waiter = Waiter::new(None).unwrap();
        let err = run(&mut command("no-such-program-here"), LONG, &waiter).unwrap_err();
        assert_eq!(err.kind(), io::ErrorKind::NotFound);
    }
}

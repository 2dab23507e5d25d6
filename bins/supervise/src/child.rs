//! One running child: its pipe, its end, its stopping.

use std::{
    io::{self, Read as _},
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::process::ExitStatusExt as _,
    },
    path::Path,
    process::{Child, ChildStdout, Stdio},
};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use shared::{
    exit,
    lines::{Line, Lines},
    run,
};

use crate::monitors::Monitor;

/// The most bytes of a line that is passed on.
const MAX_LINE: usize = 1 << 20;

/// A monitor that runs, or has just ended.
#[derive(Debug)]
pub struct Running {
    /// Which one it is.
    pub monitor: Monitor,
    process: Process,
    stdout: Option<ChildStdout>,
    lines: Lines,
}

impl Running {
    /// Starts `monitor` from the folder `programs`, in a session of its own, so that a Ctrl-C at
    /// the terminal reaches it only through us.
    ///
    /// # Errors
    ///
    /// When there is no such program, or the system refuses.
    pub fn start(monitor: Monitor, programs: &Path) -> io::Result<Self> {
        let mut command = run::command(programs.join(monitor.program));
        command.args(&monitor.args).arg(format!("--parent-pid={}", std::process::id()));
        let mut child = command.stderr(Stdio::inherit()).spawn()?;
        let stdout = child.stdout.take();
        if let Some(pipe) = &stdout {
            rustix::fs::fcntl_setfl(pipe, rustix::fs::OFlags::NONBLOCK)?;
        }
        Ok(Self { monitor, process: Process::new(child)?, stdout, lines: Lines::new(MAX_LINE) })
    }

    /// Readable when there are lines; without one, when the process has ended.
    #[must_use]
    pub fn ready(&self) -> BorrowedFd<'_> {
        self.stdout.as_ref().map_or_else(|| self.process.end(), ChildStdout::as_fd)
    }

    /// Hands the whole lines that are there to `each`.
    ///
    /// # Errors
    ///
    /// Those of `each` and of the pipe.
    pub fn read(&mut self, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut chunk = [0; 16 << 10];
        while let Some(stdout) = &mut self.stdout {
            match stdout.read(&mut chunk) {
                Ok(0) => self.stdout = None,
                Ok(n) => {
                    let name = self.monitor.name;
                    self.lines.feed(&chunk[..n], |line| match line {
                        Line::Whole(line) => each(line),
                        Line::TooLong(bytes) => {
                            exit::warn(
                                "supervise",
                                &format!("dropped a line of {bytes} bytes of {name}"),
                            );
                            Ok(())
                        }
                    })?;
                }
                Err(err) if err.kind() == io::ErrorKind::WouldBlock => break,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(err),
            }
        }
        Ok(())
    }

    /// Its exit code and signal, once it has ended and everything it printed was read.
    ///
    /// # Errors
    ///
    /// Those of wait(2).
    pub fn ended(&mut self) -> io::Result<Option<(Option<i32>, Option<i32>)>> {
        if self.stdout.is_some() {
            return Ok(None);
        }
        let status = self.process.child.try_wait()?;
        Ok(status.map(|status| (status.code(), status.signal())))
    }

    /// The process behind it.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }
}

/// A child process and the descriptor that tells of its end.
#[derive(Debug)]
pub struct Process {
    child: Child,
    end: OwnedFd,
}

impl Process {
    /// Takes over `child`, which leads its own process group.
    ///
    /// # Errors
    ///
    /// For want of descriptors.
    pub fn new(child: Child) -> io::Result<Self> {
        let end = pidfd_open(pid_of(&child)?, PidfdFlags::empty())?;
        Ok(Self { child, end })
    }

    /// Readable once it has ended.
    #[must_use]
    pub fn end(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }

    /// Sends `signal` to its group. It is our child and not reaped, so its number is its own.
    pub fn signal(&mut self, signal: Signal) {
        if matches!(self.child.try_wait(), Ok(None))
            && let Ok(pid) = pid_of(&self.child)
        {
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Waits for its end.
    pub fn reap(&mut self) {
        let _ = self.child.wait();
    }
}

fn pid_of(child: &Child) -> io::Result<Pid> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| io::Error::other("a child without a pid"))
}

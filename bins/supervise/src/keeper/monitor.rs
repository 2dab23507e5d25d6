//! The monitor's process and its two pipes.

use std::{
    io::{self, Read},
    os::fd::{AsFd as _, BorrowedFd},
    process::{Child, ChildStderr, ChildStdout},
    time::Duration,
};

use shared::{
    process::{self, Identity, RUN},
    run,
};

use super::{ask::Spec, family::Family, notice::Ear};

/// What the monitor is told of its watchdog. A silent one is shown, not killed.
const WATCHDOG: Duration = Duration::from_mins(10);

/// A monitor that runs.
#[derive(Debug)]
pub struct Monitor {
    /// Who it is.
    pub identity: Identity,
    /// It and what it starts.
    pub family: Family,
    // Never waited for here: the family reaps.
    _child: Child,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
}

impl Monitor {
    /// Starts it as a part of the run `instance`, in a session of its own, with a tie to us: it
    /// gets TERM when the keeper is killed.
    ///
    /// # Errors
    ///
    /// When it can't be executed.
    pub fn start(spec: &Spec, instance: &str, ear: &Ear) -> io::Result<Self> {
        let (program, flags) =
            spec.argv.split_first().ok_or_else(|| io::Error::other("no command"))?;
        let mut command = run::command(program);
        command.args(flags).env("NOTIFY_SOCKET", ear.address()).env(RUN, instance);
        command.env("WATCHDOG_USEC", WATCHDOG.as_micros().to_string());
        run::dies_with_us(&mut command);
        let mut child = command.spawn()?;
        let found = process::look(child.id()).inspect_err(|_| discard(&mut child))?;
        let (identity, _) = found.ok_or_else(|| io::Error::other("it can't be looked at"))?;
        let family = Family::new(&identity, instance);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let monitor = Self { identity, family, _child: child, stdout, stderr };
        for pipe in monitor.pipes() {
            rustix::fs::fcntl_setfl(pipe, rustix::fs::OFlags::NONBLOCK)?;
        }
        Ok(monitor)
    }

    /// The pipes that are still open.
    pub fn pipes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let stdout = self.stdout.as_ref().map(|pipe| pipe.as_fd());
        stdout.into_iter().chain(self.stderr.as_ref().map(|pipe| pipe.as_fd()))
    }

    /// Hears nothing more of it.
    pub fn close(&mut self) {
        (self.stdout, self.stderr) = (None, None);
    }

    /// Hands what is there to `printed` and `complained`.
    pub fn read(&mut self, printed: impl FnMut(&[u8]), complained: impl FnMut(&[u8])) {
        read(&mut self.stdout, printed);
        read(&mut self.stderr, complained);
    }
}

/// Nobody would know whom to end later.
fn discard(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads what is there, and forgets the pipe once its writers are gone.
fn read(pipe: &mut Option<impl Read>, mut each: impl FnMut(&[u8])) {
    let mut chunk = [0; 16 << 10];
    // Bounded, so that a monitor that never stops printing can't keep the keeper from its end.
    for _ in 0..64 {
        let Some(open) = pipe else { return };
        match open.read(&mut chunk) {
            Ok(0) => *pipe = None,
            Ok(n) => each(&chunk[..n]),
            Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

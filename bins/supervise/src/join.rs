//! Joins the lines of the monitors, and tells of those that die.

use std::{io, os::fd::BorrowedFd, path::Path, process::Stdio, time::Duration};

use rustix::process::Signal;
use shared::{
    clock,
    exit::{Ended, Error, Reason},
    line::Speaker,
    run,
    stdout::Stdout,
    wait::{self, Waiter, Wake},
};

use crate::{
    args::Up,
    child::{Process, Running},
    event::MonitorFailed,
    monitors::Monitor,
};

/// How long the children have after TERM, together.
const GRACE: Duration = Duration::from_millis(900);

/// The monitors in front of `classify`.
#[derive(Debug)]
pub struct Join {
    running: Vec<Running>,
    classify: Process,
    out: Stdout,
    waiter: Waiter,
}

impl Join {
    /// Starts `classify` and the monitors. From here on our stdout is the input of `classify`,
    /// which has the one that we were given.
    ///
    /// # Errors
    ///
    /// When one of the programs doesn't start; those that did are ended.
    pub fn start(up: &Up, monitors: Vec<Monitor>, programs: &Path) -> Result<Self, Error> {
        let waiter = Waiter::new(up.parent_pid).map_err(Error::on("take over the signals"))?;
        let classify = start_classify(&up.min, programs)?;
        let mut join = Self { running: Vec::new(), classify, out: Stdout::default(), waiter };
        for monitor in monitors {
            let path = programs.join(monitor.program);
            match Running::start(monitor, programs) {
                Ok(running) => join.running.push(running),
                Err(err) => {
                    join.end();
                    return Err(Error::io("start", &path, &err));
                }
            }
        }
        Ok(join)
    }

    /// Passes lines on until we are asked to stop, nobody reads any more, or every monitor died.
    ///
    /// # Errors
    ///
    /// When every monitor died, or the system fails.
    pub fn run(&mut self) -> Result<Ended, Error> {
        while !self.running.is_empty() {
            let ready: Vec<BorrowedFd<'_>> = self.running.iter().map(Running::ready).collect();
            let wake = self.waiter.wait(None, ready).map_err(Error::on("wait"))?;
            if matches!(wake, Wake::Stop(_)) {
                return Ok(Ended::Done);
            }
            self.pass().map_err(Error::on("pass lines on"))?;
            if self.out.stop().is_some() {
                return Ok(Ended::Done);
            }
        }
        Err(Error::new(Reason::Runtime, "all_dead", "unable to watch: every monitor has ended"))
    }

    fn pass(&mut self) -> io::Result<()> {
        let (out, waiter) = (&mut self.out, &self.waiter);
        let mut dead = Vec::new();
        for (at, running) in self.running.iter_mut().enumerate() {
            running.read(|line| out.add(line, waiter))?;
            if let Some((code, signal)) = running.ended()? {
                dead.push((at, code, signal));
            }
        }
        for (at, code, signal) in dead.into_iter().rev() {
            let monitor = self.running.remove(at).monitor;
            let now = clock::now();
            let speaker = Speaker {
                program: "supervise",
                source: monitor.name.to_owned(),
                subject: String::new(),
            };
            let failed = MonitorFailed::new(monitor.program, code, signal, &now);
            self.out.add(&speaker.line(&failed, now.timestamp())?, &self.waiter)?;
        }
        self.out.flush(&self.waiter)
    }

    /// Ends everything that was started: TERM to all, KILL to what is left after the grace. What
    /// the monitors said last still goes through `classify`, which ends with its input.
    pub fn end(&mut self) {
        self.running.iter_mut().for_each(|running| running.process().signal(Signal::TERM));
        let due = clock::monotonic() + GRACE;
        for running in &mut self.running {
            let (out, waiter) = (&mut self.out, &self.waiter);
            let _ = wait::until_readable(running.process().end(), due);
            let _ = running.read(|line| out.add(line, waiter));
            running.process().signal(Signal::KILL);
            running.process().reap();
        }
        let _ = self.out.flush(&self.waiter);
        // Closing our stdout is the end of its input.
        let _ = io::pipe().and_then(|(_, nobody)| Ok(nix::unistd::dup2_stdout(nobody)?));
        let _ = wait::until_readable(self.classify.end(), due);
        self.classify.signal(Signal::TERM);
        let _ = wait::until_readable(self.classify.end(), due + GRACE);
        self.classify.signal(Signal::KILL);
        self.classify.reap();
    }
}

fn start_classify(min: &str, programs: &Path) -> Result<Process, Error> {
    let path = programs.join("classify");
    let start = || {
        let (input, ours) = io::pipe()?;
        let mut command = run::command(&path);
        command.arg(format!("--min={min}"));
        command.stdin(Stdio::from(input)).stdout(Stdio::inherit()).stderr(Stdio::inherit());
        let child = command.spawn()?;
        nix::unistd::dup2_stdout(ours)?;
        Process::new(child)
    };
    start().map_err(|err| Error::io("start", &path, &err))
}

//! Starts a monitor detached, and returns when it is proven.

use std::{
    convert::Infallible,
    io::Write as _,
    os::fd::AsFd as _,
    path::PathBuf,
    process::{Child, Stdio},
    time::Duration,
};

use serde::Serialize;
use shared::{
    clock,
    exit::{Error, Reason},
    lines::{Line, Lines},
    process, run,
    wait::{Waiter, Wake},
};

use crate::{
    event::StateConflict,
    keeper::ask::{Answer, Ready, Spec},
    leftover,
    look::{self, Life},
    place::Home,
    record::Record,
    stop,
};

/// How much longer than the monitor the keeper itself may take.
const KEEPER: Duration = Duration::from_secs(10);
/// How often a start that another one is at is looked at.
const STEP: Duration = Duration::from_millis(5);

/// What `start` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Started {
    /// The monitor.
    pub monitor: String,
    /// The first 12 digits of the instance.
    pub task_id: String,
    /// Its pid; none when it doesn't run at the moment.
    pub pid: Option<u32>,
    /// This run.
    pub instance: String,
    /// Where its lines are.
    pub log: String,
    /// When the run began.
    pub started_at: String,
    /// How long it took to be proven; nothing for one that ran already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_ms: Option<u64>,
    /// Whether it ran already.
    pub already_running: bool,
}

/// Why it was not started.
#[derive(Debug)]
pub enum Refusal {
    /// The name is taken, or what is recorded isn't so.
    Conflict(StateConflict),
    /// It could not be proven, or the system failed.
    Failed(Error),
}

impl Refusal {
    /// As an error: exit 4.
    #[must_use]
    pub fn into_error(self) -> Error {
        match self {
            Self::Failed(err) => err,
            Self::Conflict(conflict) => {
                let StateConflict { monitor, pid, reason, action, .. } = conflict;
                let message =
                    format!("unable to handle {monitor}: {reason} (keeper {pid}, {action})");
                Error::new(Reason::Runtime, "state_conflict", message)
            }
        }
    }
}

impl From<Error> for Refusal {
    fn from(err: Error) -> Self {
        Self::Failed(err)
    }
}

/// A start under way.
#[derive(Debug)]
pub struct Starting {
    spec: Spec,
    home: Home,
    keeper: Option<Child>,
    begun: Duration,
}

impl Starting {
    /// Launches the keeper of `spec`, unless the monitor runs already. With `replace`, one of
    /// another command is stopped first.
    ///
    /// # Errors
    ///
    /// A name that is taken; a folder or record that can't be used.
    pub fn launch(spec: Spec, replace: bool, waiter: &mut Waiter) -> Result<Self, Refusal> {
        let home = Home::at(spec.home.clone());
        home.make()?;
        let begun = clock::monotonic();
        let mut starting = Self { spec, home, keeper: None, begun };
        match look::life(&starting.home)? {
            Life::Running(record) if record.argv == starting.spec.argv => {}
            Life::Running(record) if replace => {
                let place = (record.name.clone(), starting.home.clone());
                let (_, mut refusals) = stop::stop(&[place], stop::GRACE, true, Some(waiter));
                refusals.pop().map_or(Ok(()), Err)?;
                starting.keeper = Some(starting.keep()?);
            }
            Life::Running(record) => return Err(taken(&record)),
            Life::Held(_) => {}
            Life::Dead(record) => {
                let _ = leftover::end(&starting.home, &record, stop::GRACE);
                starting.keeper = Some(starting.keep()?);
            }
            Life::Unknown => starting.keeper = Some(starting.keep()?),
        }
        Ok(starting)
    }

    fn keep(&self) -> Result<Child, Error> {
        let failed = Error::on("start a keeper");
        process::bequeath_nothing().map_err(&failed)?;
        let own = std::env::current_exe().map_err(&failed)?;
        let mut command = run::command(own);
        // It is part of no run, though it may be started from within one.
        command.arg("keep").env_remove(process::RUN);
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(&failed)?;
        let text = serde_json::to_vec(&self.spec).map_err(std::io::Error::from).map_err(&failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(&text).map_err(&failed)?;
        }
        Ok(child)
    }

    /// Waits until the monitor is proven, by our keeper or by another that was faster.
    ///
    /// # Errors
    ///
    /// Why it isn't; nothing of it is left then.
    pub fn finish(mut self, waiter: &mut Waiter) -> Result<Started, Refusal> {
        let due = self.begun + self.spec.ready_timeout + KEEPER;
        loop {
            if let Some(mut keeper) = self.keeper.take() {
                match answer_of(&mut keeper, due, waiter)? {
                    Answer::Proven => return self.proven(false),
                    Answer::Failed(detail) => return Err(failed(&self.spec.name, &detail).into()),
                    Answer::Held => {}
                }
            }
            match look::life(&self.home)? {
                Life::Running(record) if record.argv != self.spec.argv => {
                    return Err(taken(&record));
                }
                Life::Running(record) if record.ready_at.is_some() => return self.proven(true),
                Life::Dead(_) | Life::Unknown => self.keeper = Some(self.keep()?),
                Life::Running(_) | Life::Held(_) => {}
            }
            let now = clock::monotonic();
            if now >= due {
                return Err(self.stuck()?);
            }
            if self.keeper.is_none() {
                let wake = waiter.wait(Some(due.min(now + STEP)), []).map_err(Error::on("wait"))?;
                if matches!(wake, Wake::Stop(_)) {
                    return Err(failed(&self.spec.name, "it was interrupted").into());
                }
            }
        }
    }

    fn proven(&self, already_running: bool) -> Result<Started, Refusal> {
        let record = match look::life(&self.home)? {
            Life::Running(record) => record,
            // What may end by itself may have done so already: the run it watches was over.
            Life::Dead(record) if record.ends && record.ready_at.is_some() => record,
            _ => return Err(failed(&self.spec.name, "it ended as soon as it was ready").into()),
        };
        let took = clock::monotonic().saturating_sub(self.begun);
        let ready_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        Ok(Started {
            monitor: record.name.clone(),
            task_id: record.task_id().to_owned(),
            pid: process::is_alive(&record.monitor).then_some(record.monitor.pid),
            log: self.home.log().to_string_lossy().into_owned(),
            started_at: record.started_at.clone(),
            ready_ms: (!already_running).then_some(ready_ms),
            already_running,
            instance: record.instance,
        })
    }

    /// Somebody holds the lock who is not whom the record names.
    fn stuck(&self) -> Result<Refusal, Error> {
        Ok(match look::life(&self.home)? {
            Life::Held(Some(record)) => Refusal::Conflict(stop::conflict(
                &record,
                look::difference(&record.keeper),
                "not_started",
            )),
            _ => failed(&self.spec.name, "another start of it does not come to an end").into(),
        })
    }
}

fn taken(record: &Record) -> Refusal {
    Refusal::Conflict(stop::conflict(record, "command_differs", "not_started"))
}

fn failed(name: &str, detail: &str) -> Error {
    let message = format!("unable to start {name}: {detail}");
    Error::new(Reason::Runtime, "start_failed", message)
}

/// The keeper's one line. It goes on when it has answered, so nobody waits for its end.
fn answer_of(keeper: &mut Child, due: Duration, waiter: &mut Waiter) -> Result<Answer, Error> {
    let Some(mut stdout) = keeper.stdout.take() else {
        return Ok(Answer::Failed("its keeper has no voice".to_owned()));
    };
    let mut lines = Lines::new(1 << 20);
    let mut chunk = [0; 4096];
    let mut said: Option<Answer> = None;
    while said.is_none() {
        match waiter.wait(Some(due), [stdout.as_fd()]).map_err(Error::on("wait"))? {
            Wake::Ready => {}
            Wake::Rung => continue,
            Wake::Due => return Ok(Answer::Failed("its keeper did not answer in time".to_owned())),
            // With the pipe gone the keeper undoes what it began.
            Wake::Stop(_) => return Ok(Answer::Failed("it was interrupted".to_owned())),
        }
        let n =
            std::io::Read::read(&mut stdout, &mut chunk).map_err(Error::on("hear the keeper"))?;
        if n == 0 {
            return Ok(Answer::Failed("its keeper ended without a word".to_owned()));
        }
        let Ok(()) = lines.feed::<Infallible>(&chunk[..n], |line| {
            if let Line::Whole(line) = line {
                said = serde_json::from_slice(line).ok();
            }
            Ok(())
        });
    }
    Ok(said.unwrap_or(Answer::Held))
}

/// What every start has in common.
#[must_use]
pub fn spec(home: &Home, name: &str, argv: Vec<String>) -> Spec {
    Spec {
        home: PathBuf::from(home.dir()),
        name: name.to_owned(),
        argv,
        ends: false,
        restart: 0,
        ready: Ready::Notify,
        ready_timeout: Duration::from_secs(30),
        log_max: 16 << 20,
        parent: None,
    }
}

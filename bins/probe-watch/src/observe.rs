//! Asks the probe for whoever is due: a few invocations at a time, none while its service wants
//! to be left alone.

use std::{collections::VecDeque, ffi::OsString, io, os::fd::BorrowedFd, time::Duration};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use shared::{
    clock::Now,
    cooldown::{self, Cooldowns},
    exit,
    reading::{Fault, FaultKind, Look},
    text::Text,
};

use crate::{
    answers::{self, Broken, Judged},
    decide::Seen,
    describe::Row,
    errors::End,
    identity::Subject,
    invocation::{Invocation, Printed},
    plan::{Outcome, Plan},
    start::PROGRAM,
};

/// However long a service wants to be left alone, it is asked once a day.
const DAY: Duration = Duration::from_hours(24);

/// What to ask, and how.
#[derive(Debug)]
pub struct Terms {
    /// The probe, as it was named.
    pub probe: OsString,
    /// What it says of itself.
    pub row: Row,
    /// What is waited for, if anything in particular.
    pub objective: Option<String>,
    /// Its options.
    pub options: Map<String, Value>,
    /// How long an invocation may take.
    pub timeout: Duration,
    /// The most invocations at once.
    pub jobs: usize,
    /// The `source` of the looks.
    pub source: String,
}

/// What an invocation, or the want of one, came to.
#[derive(Debug)]
pub struct Batch {
    /// The looks, and the pause before the next of each.
    pub seen: Vec<Seen>,
    /// The rules that the answers break.
    pub broken: Vec<Broken>,
}

/// Runs the probe.
#[derive(Debug)]
pub struct Observer {
    terms: Terms,
    subjects: Vec<Subject>,
    looks: Vec<u64>,
    plan: Plan,
    cooldowns: Cooldowns,
    queue: VecDeque<Vec<usize>>,
    running: Vec<(Vec<usize>, Invocation)>,
}

#[derive(Serialize)]
struct Request<'a> {
    protocol: u8,
    kind: &'a str,
    objective: Option<&'a str>,
    now: String,
    timeout_ms: u128,
    host: &'a str,
    options: &'a Map<String, Value>,
    subjects: Vec<Wanted<'a>>,
}

#[derive(Serialize)]
struct Wanted<'a> {
    id: &'a str,
    target: &'a str,
    previous: Option<&'a Value>,
}

impl Observer {
    /// Asks for `subjects` as `plan` says.
    #[must_use]
    pub fn new(terms: Terms, subjects: Vec<Subject>, plan: Plan, cooldowns: Cooldowns) -> Self {
        let looks = vec![0; subjects.len()];
        let (queue, running) = (VecDeque::new(), Vec::new());
        Self { terms, subjects, looks, plan, cooldowns, queue, running }
    }

    /// What becomes readable when there is something to do.
    #[must_use]
    pub fn fds(&self) -> Vec<BorrowedFd<'_>> {
        self.running.iter().flat_map(|(_, invocation)| invocation.fds()).collect()
    }

    /// When (on the monotonic clock) there is something to do whatever happens.
    #[must_use]
    pub fn due(&self) -> Option<Duration> {
        self.running.iter().map(|(_, run)| run.due()).chain(self.plan.due()).min()
    }

    /// Looks at subject `id` no more.
    pub fn end(&mut self, id: &str) {
        if let Some(at) = self.subjects.iter().position(|subject| subject.id == id) {
            self.plan.end(at);
        }
    }

    /// What the invocations came to that have ended.
    ///
    /// # Errors
    ///
    /// Those of poll(2) and wait(2).
    pub fn collect(&mut self, now: &Now) -> io::Result<Vec<Batch>> {
        let (mut ended, mut running) = (Vec::new(), Vec::new());
        for (asked, mut invocation) in std::mem::take(&mut self.running) {
            match invocation.advance(now.monotonic)? {
                Some(printed) => ended.push((asked, printed)),
                None => running.push((asked, invocation)),
            }
        }
        self.running = running;
        Ok(ended.iter().map(|(asked, printed)| self.judge(asked, printed, now)).collect())
    }

    /// Starts what is due and may start. What the looks came to that could not begin.
    ///
    /// # Errors
    ///
    /// None for what fits the types.
    pub fn launch<'a>(
        &mut self,
        now: &Now,
        previous: impl Fn(&str) -> Option<&'a Value>,
    ) -> io::Result<Vec<Batch>> {
        let due = self.plan.take(now.monotonic, self.terms.row.max_subjects);
        self.queue.extend(due);
        let mut batches = Vec::new();
        while self.running.len() < self.terms.jobs
            && let Some(asked) = self.queue.pop_front()
        {
            let host = self.host(&asked);
            if let Some(until) = self.cooldowns.until(&self.terms.row.scope, host, now) {
                batches.push(self.skip(&asked, until, now));
                continue;
            }
            let request = self.request(&asked, now, &previous)?;
            let due = now.monotonic + self.terms.timeout;
            match Invocation::start(&self.terms.probe, &request, due) {
                Ok(invocation) => self.running.push((asked, invocation)),
                Err(err) => {
                    let (stdout, stderr) = (Vec::new(), Vec::new());
                    let printed = Printed { end: End::Refused(err), stdout, stderr };
                    batches.push(self.judge(&asked, &printed, now));
                }
            }
        }
        Ok(batches)
    }

    fn host(&self, asked: &[usize]) -> &str {
        let first = asked.first().and_then(|at| self.subjects.get(*at));
        first.map_or("", |subject| &subject.host)
    }

    fn request<'a>(
        &self,
        asked: &[usize],
        now: &Now,
        previous: impl Fn(&str) -> Option<&'a Value>,
    ) -> io::Result<Vec<u8>> {
        let subjects = asked.iter().filter_map(|at| self.subjects.get(*at));
        let wanted = |subject: &'_ Subject| previous(&subject.id);
        let request = Request {
            protocol: 1,
            kind: &self.terms.row.kind,
            objective: self.terms.objective.as_deref(),
            now: now.timestamp().to_string(),
            timeout_ms: self.terms.timeout.as_millis(),
            host: self.host(asked),
            options: &self.terms.options,
            subjects: subjects
                .map(|subject| Wanted {
                    id: &subject.id,
                    target: &subject.target,
                    previous: wanted(subject),
                })
                .collect(),
        };
        let mut bytes = serde_json::to_vec(&request)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    fn judge(&mut self, asked: &[usize], printed: &Printed, now: &Now) -> Batch {
        let numbers = self.count(asked);
        let with_numbers = asked.iter().zip(numbers);
        let asked_for: Vec<(&Subject, u64)> =
            with_numbers.filter_map(|(at, n)| Some((self.subjects.get(*at)?, n))).collect();
        let judged = answers::judge(printed, &asked_for, &self.terms.row, &self.terms.source);
        let Judged { looks, broken } = judged;
        self.cool(asked, &looks, now);
        Batch { seen: self.plan_next(asked, looks, now), broken }
    }

    fn skip(&mut self, asked: &[usize], until: Timestamp, now: &Now) -> Batch {
        let numbers = self.count(asked);
        let fault = Fault {
            kind: FaultKind::RateLimited,
            reason: "cooldown".to_owned(),
            detail: String::new(),
            attempted: false,
            retry_at: Some(until),
        };
        let subjects = asked.iter().filter_map(|at| self.subjects.get(*at));
        let looks = subjects.zip(numbers).map(|(subject, number)| {
            let Terms { row, source, .. } = &self.terms;
            answers::skipped(subject, number, fault.clone(), row, source)
        });
        let looks = looks.collect();
        Batch { seen: self.plan_next(asked, looks, now), broken: Vec::new() }
    }

    /// The numbers of the looks at `asked` that end now.
    fn count(&mut self, asked: &[usize]) -> Vec<u64> {
        let next = |at: &usize| {
            let look = self.looks.get_mut(*at)?;
            *look += 1;
            Some(*look)
        };
        asked.iter().filter_map(next).collect()
    }

    /// Whoever asks the same service is told how long it wants to be left alone.
    fn cool(&self, asked: &[usize], looks: &[Look], now: &Now) {
        let faults = looks.iter().filter_map(|look| look.error.as_ref());
        let limits = faults.filter(|fault| fault.kind == FaultKind::RateLimited);
        let usual = now.wall.checked_add(cooldown::USUAL).unwrap_or(now.wall);
        let Some(until) = limits.map(|fault| fault.retry_at.unwrap_or(usual)).max() else { return };
        let (scope, host) = (&self.terms.row.scope, self.host(asked));
        if let Err(err) = self.cooldowns.set(scope, host, until, now) {
            let cause = Text::new(&err.to_string(), 200);
            exit::warn(PROGRAM.name, &format!("{}: others aren't told", cause.as_str()));
        }
    }

    fn plan_next(&mut self, asked: &[usize], looks: Vec<Look>, now: &Now) -> Vec<Seen> {
        let mut seen = Vec::with_capacity(looks.len());
        for (at, look) in asked.iter().zip(looks) {
            let outcome = match look.failure() {
                None => Outcome::Seen,
                Some(fault) if !fault.attempted => Outcome::Skipped,
                Some(_) => Outcome::Failed,
            };
            let retry_at = look.error.as_ref().and_then(|fault| fault.retry_at);
            let barred = retry_at.map(|at| now.monotonic + until(at, now).min(DAY));
            let pause = self.plan.looked(*at, outcome, now.monotonic, barred);
            seen.push((look, pause));
        }
        seen
    }
}

/// How long it is until `at`.
fn until(at: Timestamp, now: &Now) -> Duration {
    Duration::try_from(at.duration_since(now.wall)).unwrap_or_default()
}

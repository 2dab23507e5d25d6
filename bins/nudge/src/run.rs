//! The stream: lines pass at once, and what is due is said in between.

use std::{
    fs::File,
    io::{
        self,
        ErrorKind::{Interrupted, WouldBlock},
        Read as _,
    },
    os::fd::AsFd as _,
    time::Duration,
};

use shared::{
    clock::{self, Now},
    exit::{self, Ended, Error, Reason},
    health::Health,
    line::{Event, Speaker},
    service::Service,
    stdout::Stdout,
    wait::{self, Waiter, Wake},
    watch::Watch,
};

use crate::{
    acks::{Acks, SWEEP},
    args::Args,
    decide::{Fate, Nudges, Rules},
    store::Store,
};

/// The longest line that is understood; all others pass as well.
const LIMIT: usize = 64 << 10;
/// How many pieces of the input are read before what is due is said: all that came before counts,
/// but a flood puts off nothing for ever.
const PIECES: usize = 64;

/// One run.
struct Run<'a> {
    waiter: &'a mut Waiter,
    service: Service,
    speaker: Speaker,
    nudges: Nudges,
    out: Stdout,
    /// Lines of our own that are yet to be said.
    own: Vec<Vec<u8>>,
    /// The line that has no newline yet.
    pending: Vec<u8>,
    /// Its beginning has passed already, for it is too long to be understood.
    long: bool,
    acks: Option<Acks>,
    store: Option<Store>,
    /// How many dropped nudges were warned of.
    warned: u64,
}

/// Passes stdin on until it ends.
///
/// # Errors
///
/// A store or acknowledgements that are refused, an input that can't be read, an output that
/// can't be written.
pub fn run(args: &Args) -> Result<Ended, Error> {
    let mut waiter = Waiter::new(args.parent_pid).map_err(Error::on("take over the signals"))?;
    let rules = Rules { on: args.on.clone(), after: args.after, max: args.max };
    let source = args.source.clone().unwrap_or_else(|| "nudge".to_owned());
    let mut run = Run {
        waiter: &mut waiter,
        service: Service::from_env(),
        speaker: Speaker { program: "nudge", source, subject: String::new() },
        nudges: Nudges::new(rules),
        out: Stdout::default(),
        own: Vec::new(),
        pending: Vec::new(),
        long: false,
        acks: None,
        store: None,
        warned: 0,
    };
    let outcome = run.open(args).and_then(|()| run.flow(args));
    outcome.inspect_err(|err| run.say_failed(err))
}

impl Run<'_> {
    /// Opens what the flags name.
    fn open(&mut self, args: &Args) -> Result<(), Error> {
        let path = args.acks.as_deref().map(std::path::absolute).transpose();
        let path = path.map_err(Error::on("resolve the acknowledgements"))?;
        let mut position = None;
        if let Some((store, kept)) = Store::open(args, path.as_deref())? {
            self.nudges.recall(kept.open, clock::monotonic());
            self.store = Some(store);
            position = kept.position;
        }
        if let Some(path) = path {
            let bell = self.waiter.bell().map_err(Error::on("make a bell"))?;
            self.acks = Some(Acks::new(&path, Watch::new(bell, false), position));
        }
        self.read_acks(&clock::now())
    }

    fn flow(&mut self, args: &Args) -> Result<Ended, Error> {
        let ends_at = args.max_runtime.map(|after| clock::monotonic() + after);
        let mut open = true;
        let stdin = io::stdin().as_fd().try_clone_to_owned();
        let mut input = File::from(stdin.map_err(Error::on("read stdin"))?);
        self.service.ready();
        loop {
            let sweep = self.acks.as_ref().map(|_| clock::monotonic() + SWEEP);
            let beat = self.service.watchdog_interval().map(|every| clock::monotonic() + every);
            let due = [self.nudges.next(), ends_at, sweep, beat].into_iter().flatten().min();
            let wake = self.waiter.wait(due, open.then(|| input.as_fd()));
            self.service.watchdog();
            match wake.map_err(Error::on("wait"))? {
                Wake::Stop(_) => return self.end(None),
                Wake::Ready => open = self.read_on(&mut input)?,
                Wake::Due | Wake::Rung => {}
            }
            let now = clock::now();
            if ends_at.is_some_and(|at| at <= now.monotonic) {
                return self.end(Some("max_runtime"));
            }
            // An answer that came meanwhile counts.
            self.read_acks(&now)?;
            self.say_due(&now)?;
            self.save(&now)?;
            if !open && (!args.drain || self.nudges.next().is_none()) {
                return self.end(None);
            }
            if self.out.stop().is_some() {
                return Ok(Ended::Done);
            }
        }
    }

    /// Passes on what is there; false at the end of the input.
    fn read_on(&mut self, input: &mut File) -> Result<bool, Error> {
        for _ in 0..PIECES {
            if !self.read(input)? {
                return Ok(false);
            }
            let more = wait::until_readable(input.as_fd(), Duration::ZERO);
            if self.out.stop().is_some() || !more.map_err(Error::on("wait"))? {
                break;
            }
        }
        Ok(true)
    }

    fn read(&mut self, input: &mut File) -> Result<bool, Error> {
        let mut piece = [0; 16 << 10];
        let n = match input.read(&mut piece) {
            Ok(n) => n,
            Err(err) if matches!(err.kind(), WouldBlock | Interrupted) => return Ok(true),
            Err(err) => return Err(Error::on("read stdin")(err)),
        };
        let t = clock::monotonic();
        for part in piece.get(..n).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            self.pending.extend(part);
            if part.ends_with(b"\n") {
                self.line(t)?;
            } else if self.pending.len() > LIMIT {
                self.long = true;
                self.put()?;
            }
        }
        if n == 0 {
            self.line(t)?;
        }
        self.flush()?;
        Ok(n > 0)
    }

    /// A line is whole: it passes, unless it is an answer.
    fn line(&mut self, t: Duration) -> Result<(), Error> {
        let whole = !std::mem::take(&mut self.long) && self.pending.len() <= LIMIT + 1;
        if whole && self.nudges.take(&self.pending, t) == Fate::Swallowed {
            self.pending.clear();
            return Ok(());
        }
        self.put()
    }

    fn put(&mut self) -> Result<(), Error> {
        let done = self.out.add(&self.pending, self.waiter);
        self.pending.clear();
        done.map_err(unwritable)
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.out.flush(self.waiter).map_err(unwritable)
    }

    /// Says something of our own, but never inside a line of others.
    fn say(&mut self, event: &impl Event, now: &Now) -> Result<(), Error> {
        self.own.push(self.speaker.line(event, now.timestamp()).map_err(unwritable)?);
        self.say_own()
    }

    fn say_own(&mut self) -> Result<(), Error> {
        if self.long || self.own.is_empty() {
            return Ok(());
        }
        for line in std::mem::take(&mut self.own) {
            self.out.add(&line, self.waiter).map_err(unwritable)?;
        }
        self.flush()
    }

    /// The same at the end, when the rest of a line begun won't come any more.
    fn say_last(&mut self, event: &impl Event, now: &Now) -> Result<(), Error> {
        if std::mem::take(&mut self.long) {
            self.out.add(b"\n", self.waiter).map_err(unwritable)?;
        }
        self.say(event, now)
    }

    /// Says what is due.
    fn say_due(&mut self, now: &Now) -> Result<(), Error> {
        if self.nudges.dropped > std::mem::replace(&mut self.warned, self.nudges.dropped) {
            exit::warn("nudge", "more than 1024 events wait for an answer: the oldest are dropped");
        }
        for repeat in self.nudges.due(now.monotonic) {
            self.say(&repeat, now)?;
        }
        self.say_own()
    }

    fn read_acks(&mut self, now: &Now) -> Result<(), Error> {
        let Some(acks) = &mut self.acks else { return Ok(()) };
        let nudges = &mut self.nudges;
        let health = acks.read(now, &mut |line| nudges.ack_line(line))?;
        self.say_health(health, now)
    }

    fn save(&mut self, now: &Now) -> Result<(), Error> {
        let position = self.acks.as_ref().map(Acks::position).unwrap_or_default();
        let Some(store) = &mut self.store else { return Ok(()) };
        let health = store.save(&self.nudges, position, now);
        self.say_health(health, now)
    }

    fn say_health(&mut self, health: Option<Health>, now: &Now) -> Result<(), Error> {
        health.map_or(Ok(()), |health| self.say(&health, now))
    }

    fn end(&mut self, reason: Option<&str>) -> Result<Ended, Error> {
        let now = clock::now();
        if let Some(reason) = reason {
            self.say_last(&Health::stopped(reason, &now), &now)?;
        }
        self.flush()?;
        let position = self.acks.as_ref().map(Acks::position).unwrap_or_default();
        if let Some(store) = &mut self.store {
            store.save_last(&self.nudges, position, &now);
        }
        Ok(Ended::Done)
    }

    /// The last line before an exit that is not 0, for whoever reads the stream.
    fn say_failed(&mut self, err: &Error) {
        let now = clock::now();
        let code = err.reason() as u8;
        if err.reason() != Reason::Usage {
            let _ = self.say_last(&Health::failed(err.word(), &err.to_string(), code, &now), &now);
        }
    }
}

fn unwritable(err: io::Error) -> Error {
    Error::new(Reason::Runtime, "stdout_unwritable", format!("unable to write to stdout: {err}"))
}

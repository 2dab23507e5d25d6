//! The stream: wait, read, judge, write, until the input ends.

use std::io;

use shared::{
    clock::{self, Now},
    exit::{Ended, Error},
    health::Health,
    line::Speaker,
    service::Service,
    stdout::Stdout,
    wait::{Waiter, Wake},
};

use crate::{
    args::Args,
    audience::Share,
    filter::Filter,
    input::{Input, Piece},
    intake::{Arrival, Intake},
    judge::Judge,
};

/// Why the stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The input did.
    Input,
    /// `--max-runtime` passed.
    MaxRuntime,
    /// Nobody reads, or somebody asks for it.
    Stop,
}

/// One run of the stream.
#[derive(Debug)]
pub struct Stream<'a> {
    args: &'a Args,
    waiter: &'a mut Waiter,
    filter: Filter,
    intake: Intake,
    out: Stdout,
}

impl<'a> Stream<'a> {
    /// A stream that judges by `judge`.
    #[must_use]
    pub fn new(args: &'a Args, judge: Judge, share: Share, waiter: &'a mut Waiter) -> Self {
        let program = "classify";
        let source = args.source.clone().unwrap_or_else(|| program.to_owned());
        let speaker = Speaker { program, source, subject: String::new() };
        let filter = Filter::new(judge, speaker, args.min).with(share);
        Self { args, waiter, filter, intake: Intake::new(args.max_line), out: Stdout::default() }
    }

    /// Judges stdin line by line until it ends, or until there is another reason to.
    ///
    /// # Errors
    ///
    /// An input that can't be read, which is also said in the stream, or an output that can't be
    /// written.
    pub fn run(mut self) -> Result<Ended, Error> {
        match self.flow() {
            Ok(ended) => Ok(ended),
            Err(err) => self.refuse(err),
        }
    }

    /// Ends with `err`, and says so in the stream: its reader may not see stderr.
    ///
    /// # Errors
    ///
    /// Always `err`.
    pub fn refuse(mut self, err: Error) -> Result<Ended, Error> {
        let now = clock::now();
        let failed = Health::failed(err.word(), &err.to_string(), err.reason() as u8, &now);
        // An output that can't be written is perhaps the error itself.
        let _ = put(&mut self.out, self.waiter, self.filter.say(&failed, &now))
            .and_then(|()| self.flush());
        Err(err)
    }

    fn flow(&mut self) -> Result<Ended, Error> {
        let mut input = Input::stdin().map_err(Error::on("read stdin"))?;
        let service = Service::from_env();
        let ends_at = self.args.max_runtime.map(|after| clock::monotonic() + after);
        service.ready();
        loop {
            let watchdog = service.watchdog_interval().map(|every| clock::monotonic() + every);
            let due = [self.filter.due(), ends_at, watchdog].into_iter().flatten().min();
            let wake = self.waiter.wait(due, Some(input.fd())).map_err(Error::on("wait"))?;
            service.watchdog();
            let now = clock::now();
            let mut end = match wake {
                Wake::Stop(_) => Some(End::Stop),
                Wake::Ready => self.read(&mut input, &now)?,
                Wake::Due | Wake::Rung => None,
            };
            if ends_at.is_some_and(|at| at <= now.monotonic) {
                end = end.or(Some(End::MaxRuntime));
            }
            if let Some(end) = end {
                return self.end(end, &now);
            }
            put(&mut self.out, self.waiter, self.filter.notice(&now))?;
            self.flush()?;
            if self.out.stop().is_some() {
                return Ok(Ended::Done);
            }
        }
    }

    /// Judges the lines that are there.
    fn read(&mut self, input: &mut Input, now: &Now) -> Result<Option<End>, Error> {
        let Self { filter, out, waiter, .. } = self;
        let each =
            |number, arrival: Arrival<'_>| put(out, waiter, filter.take(number, arrival, now));
        match input.read().map_err(Error::on("read stdin"))? {
            Piece::Bytes(bytes) => self.intake.feed(bytes, each).map(|()| None),
            Piece::Later => Ok(None),
            Piece::End => self.intake.finish(each).map(|()| Some(End::Input)),
        }
    }

    fn end(&mut self, end: End, now: &Now) -> Result<Ended, Error> {
        put(&mut self.out, self.waiter, self.filter.last_notice(now))?;
        if end == End::MaxRuntime {
            let stopped = Health::stopped("max_runtime", now);
            put(&mut self.out, self.waiter, self.filter.say(&stopped, now))?;
        }
        self.flush()?;
        let asked = end == End::Stop || self.out.stop().is_some();
        let verdict = self.args.exit_code && !asked;
        Ok(if verdict { Ended::Verdict(self.filter.verdict()) } else { Ended::Done })
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.out.flush(self.waiter).map_err(Error::on("write to stdout"))
    }
}

/// Puts the line that a filter answered, if it did, among those to be written.
fn put(out: &mut Stdout, waiter: &Waiter, line: io::Result<Option<&[u8]>>) -> Result<(), Error> {
    let line = line.map_err(Error::on("make a line"))?;
    line.map_or(Ok(()), |line| out.add(line, waiter)).map_err(Error::on("write to stdout"))
}

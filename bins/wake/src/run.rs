//! One run of the filter: reads, judges, and does what the engine says.

use std::{ops::ControlFlow, os::fd::BorrowedFd, time::Duration};

use shared::{
    clock::{self, Now},
    exit::{self, Ended, Error},
    health::Reasons,
    lines::Line,
    reading::{Look, parse, parts::Parts},
    session::{self, Session},
};

use crate::{
    answers::{Answer, Answers},
    args::Filter,
    books::Books,
    clock::Clock,
    decide::{Engine, Input, Policy, RecordId, Verdict},
    intake::{BadLines, Intake},
    line::Voice,
    looks::Looks,
    message::{Kind, Message},
    store, verdict,
};

/// How often the acknowledgements are looked at without a sign of change.
pub(crate) const SWEEP: Duration = Duration::from_secs(5);

/// Why a run goes no further.
#[derive(Debug)]
pub(crate) enum Halt {
    /// It is done.
    Ended(Ended),
    /// It failed.
    Failed(Error),
}

impl Halt {
    /// The watch is over.
    pub(crate) fn done() -> Self {
        Self::Ended(Ended::Done)
    }
}

impl From<Error> for Halt {
    fn from(err: Error) -> Self {
        Self::Failed(err)
    }
}

/// The quiet ones of some verdicts, if anybody wants them.
fn quiet(verdicts: &[Verdict], wanted: bool) -> Vec<Verdict> {
    let quiet = verdicts.iter().filter(|verdict| wanted && !verdict.decision.is_printed());
    quiet.cloned().collect()
}

/// What a step comes to.
pub(crate) type Step = Result<(), Halt>;

pub(crate) fn go_on(flow: ControlFlow<Ended>) -> Step {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(ended) => Err(Halt::Ended(ended)),
    }
}

/// One run.
#[derive(Debug)]
pub struct Run<'a> {
    filter: &'a Filter,
    pub(crate) session: &'a mut Session,
    pub(crate) clock: Clock,
    pub(crate) engine: Engine,
    /// None: nothing is remembered beyond this run.
    pub(crate) books: Option<Books>,
    pub(crate) looks: Looks,
    parts: Parts,
    /// None at its end.
    input: Option<Intake>,
    pub(crate) answers: Option<Answers>,
    pub(crate) reasons: Reasons,
    pub(crate) bad: BadLines,
    /// A line was printed.
    pub(crate) has_told: bool,
    /// An answer to nothing came.
    is_warned: bool,
}

/// Filters stdin until it ends, or there is another reason to.
///
/// # Errors
///
/// A state or lock that is refused, an input that can't be read, an output that can't be written.
pub fn run(filter: &Filter, policy: Policy, session: &mut Session) -> Result<Ended, Error> {
    let mut run = Run::begin(filter, policy, session)?;
    let ended = match run.flow() {
        Ok(never) => match never {},
        Err(Halt::Ended(ended)) => ended,
        Err(Halt::Failed(err)) => return Err(err),
    };
    // Nobody listens any more: what can't be written now is as it was.
    if let Some(books) = &mut run.books {
        let _ = books.save(&mut run.engine, run.answers.as_ref());
    }
    Ok(ended)
}

impl<'a> Run<'a> {
    fn begin(filter: &'a Filter, policy: Policy, session: &'a mut Session) -> Result<Self, Error> {
        let now = clock::now();
        let clock = Clock::new(&now);
        let (books, mut state) = match &filter.watch {
            Some(name) => {
                let folder = store::folder(filter.store.as_deref(), name)?;
                let (books, state) = Books::open(folder, name, clock.ms(&now))?;
                (Some(books), state)
            }
            None => (None, store::fresh("", clock.ms(&now))?),
        };
        if filter.rearm {
            state.rearm(clock.ms(&now));
        }
        let answers = filter.acks.as_deref().map(|path| Answers::new(path, state.acks.clone()));
        let answers = answers.transpose()?;
        if answers.is_some() {
            session.sweep_every(SWEEP);
        }
        Ok(Self {
            filter,
            session,
            clock,
            engine: Engine::new(policy, state),
            books,
            looks: Looks::default(),
            parts: Parts::new(),
            input: Some(Intake::stdin().map_err(Error::on("read stdin"))?),
            answers,
            reasons: Reasons::default(),
            bad: BadLines::default(),
            has_told: false,
            is_warned: false,
        })
    }
}

impl Run<'_> {
    fn flow(&mut self) -> Result<std::convert::Infallible, Halt> {
        self.session.ready()?;
        if let Some(Err(err)) = self.books.as_ref().map(Books::probe) {
            self.store_failed(&err, &clock::now())?;
        }
        loop {
            self.round()?;
        }
    }

    /// Does what time and answers make due, reads what is there, and waits.
    fn round(&mut self) -> Step {
        let folders = self.answers.as_mut().map(Answers::folders).unwrap_or_default();
        let pass = self.session.pass(&folders)?;
        if let Some(answers) = &mut self.answers {
            let answers = answers.look(&pass, self.session);
            answers.iter().try_for_each(|answer| self.answer(answer, &pass.now))?;
            self.mind_answers(&pass.now)?;
        }
        self.tick(&pass.now)?;
        let drained = self.read(&pass.now)?;
        self.save_if_due(drained)?;
        let due = self.due();
        let inputs: Vec<BorrowedFd<'_>> = self.input.iter().map(Intake::fd).collect();
        go_on(self.session.pause_on(session::Look::Whole, due, &inputs)?)
    }

    /// When there is something to do though nothing comes, on the monotonic clock.
    fn due(&self) -> Option<Duration> {
        let engine = self.engine.next_at().map(|at| self.clock.monotonic(at));
        let save = self.books.as_ref().and_then(Books::due);
        let answers = self.answers.as_ref().and_then(Answers::due);
        [engine, save, answers].into_iter().flatten().min()
    }

    /// Lets time count.
    fn tick(&mut self, now: &Now) -> Step {
        let ms = self.clock.ms(now);
        if self.engine.next_at().is_none_or(|at| at > ms) {
            return self.emit(now);
        }
        let claim =
            |engine: &Engine| engine.state().in_flight.as_ref().map(|line| line.claim.clone());
        let before = claim(&self.engine);
        let quiet = quiet(self.engine.take(Input::Tick, ms), self.filter.verbose);
        let is_over = self.engine.state().outcome.is_some();
        let is_lost = !is_over && before.is_some() && claim(&self.engine) != before;
        if let (Some(lost), Some(books)) = (before.filter(|_| is_lost), &mut self.books) {
            books.unconfirmed(&lost, now);
        }
        self.follow_up(&quiet, now)
    }

    /// Reads once and judges the lines. Whether there is nothing more to read now.
    fn read(&mut self, now: &Now) -> Result<bool, Halt> {
        let Some(mut input) = self.input.take() else { return Ok(true) };
        if !input.is_ready().map_err(Error::on("wait for stdin"))? {
            self.input = Some(input);
            return Ok(true);
        }
        let mut ended = false;
        if let Some((piece, lines)) = input.read().map_err(Error::on("read stdin"))? {
            lines.feed(piece, |line| self.line(line, now))?;
            ended = piece.is_empty();
        }
        if ended {
            return self.end_of_input(&mut input, now).map(|()| true);
        }
        self.mind_room(now)?;
        let is_drained = !input.is_ready().map_err(Error::on("wait for stdin"))?;
        self.input = Some(input);
        Ok(is_drained)
    }

    /// The last line may want its newline. What waits is told now, unless the next run goes on.
    fn end_of_input(&mut self, input: &mut Intake, now: &Now) -> Step {
        if input.lines.pending() > 0 && input.lines.begun().is_empty() {
            self.line(Line::TooLong(input.lines.pending()), now)?;
        } else if let Some(last) = input.lines.finish() {
            self.line(Line::Whole(&last), now)?;
        }
        if self.books.is_none() {
            self.engine.end_of_input(self.clock.ms(now));
            self.emit(now)?;
        }
        let without = self.filter.wait.is_some() && !self.has_told;
        Err(Halt::Ended(if without { Ended::NoResult } else { Ended::Done }))
    }

    fn line(&mut self, line: Line<'_>, now: &Now) -> Step {
        let Line::Whole(line) = line else { return self.bad_line("it is too long", now) };
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        match Message::read(line) {
            None => self.bad_line("it is neither a reading nor an event", now),
            Some((_, Kind::Reading)) => self.reading(line, now),
            Some((message, Kind::Event)) => {
                self.good_line(now)?;
                let (clock, engine) = (&self.clock, &mut self.engine);
                let ms = clock.ms(now);
                let verbose = self.filter.verbose;
                let quiet = message
                    .with_event(line, |event| quiet(engine.take(Input::Event(event), ms), verbose));
                self.follow_up(&quiet, now)
            }
        }
    }

    fn reading(&mut self, line: &[u8], now: &Now) -> Step {
        let look = match parse::reading(line) {
            Ok(part) => {
                self.good_line(now)?;
                self.parts.join(part)
            }
            Err(broken) => {
                let Some(name) = &broken.name else {
                    return self.bad_line(&broken.rule, now);
                };
                self.good_line(now)?;
                self.parts.discard(name);
                broken.look()
            }
        };
        look.map_or(Ok(()), |look| self.look(&look, now))
    }

    fn look(&mut self, look: &Look, now: &Now) -> Step {
        let Look { source, kind, subject, .. } = look;
        let record = RecordId::of_readings(source, kind, subject);
        let is_news = look.failure().is_none()
            && self.engine.fingerprint(&record) != Some(&*look.fingerprint);
        let verdicts = self.engine.take(Input::Look(look), self.clock.ms(now));
        if let (true, Some(verdict), Some(books)) = (is_news, verdicts.first(), &mut self.books) {
            books.observed(look, verdict, now);
        }
        let quiet = quiet(verdicts, self.filter.verbose);
        self.looks.note(record, look);
        self.follow_up(&quiet, now)
    }

    fn answer(&mut self, answer: &Answer, now: &Now) -> Step {
        if !self.is_warned && !self.engine.state().knows(&answer.claim) {
            self.is_warned = true;
            let claim = &answer.claim;
            exit::warn("wake", &format!("unable to take the answer to {claim:?}: no such claim"));
        }
        let taken = answer.with_ack(|ack| {
            let ms = self.clock.ms(now);
            quiet(self.engine.take(Input::Ack(ack), ms), self.filter.verbose)
        });
        taken.map_or(Ok(()), |quiet| self.follow_up(&quiet, now))
    }

    /// What follows from an input that was judged.
    fn follow_up(&mut self, quiet: &[Verdict], now: &Now) -> Step {
        if let Some(books) = &mut self.books {
            books.touch(now.monotonic);
        }
        for verdict in quiet {
            let view = verdict.record.as_ref().map(|record| self.engine.view(record));
            let voice =
                Voice { source: &self.session.speaker().source, timestamp: now.timestamp() };
            let line = verdict::quiet(verdict, &view.unwrap_or_default(), voice);
            let line = line.map_err(Error::on("make a line"))?;
            go_on(self.session.tell_asides(now, [&*line])?)?;
        }
        self.emit(now)
    }
}

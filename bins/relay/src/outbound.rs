//! `relay pub`: from stdin through memory, and the spool when that is full or there is no server,
//! to the stream.

use std::{
    fs::File,
    io::{self, Read as _},
    os::fd::AsFd as _,
    time::Duration,
};

use shared::{
    clock::{self, Now},
    exit::{self, Ended, Error, Reason},
    lines::{Line, Lines},
    store,
};

use crate::{
    args::Pub,
    connect::Target,
    decide::{
        Kind,
        outbox::{Item, Outbox, Parcel},
    },
    head::{Fault, Head, message_id},
    link::Link,
    publish::{self, Aim, Answer, Creation, Order},
    run::{Run, Turn, chance},
    spool::Spool,
};

/// How much is read at once: what a pipe holds.
const PIECE: usize = 64 << 10;
/// The longest line that is read, whatever a server takes.
const LONGEST: usize = 8 << 20;
/// How soon a spool that can't be written is tried again.
const AGAIN: Duration = Duration::from_secs(1);

const SPOOL_FULL: &str = "spool_full";
const SPOOL_UNWRITABLE: &str = "spool_unwritable";

/// Publishes stdin until it ends, or until there is another reason to.
///
/// # Errors
///
/// What ends the run; it is also said on stdout.
pub fn run(args: &Pub) -> Result<Ended, Error> {
    let mut run = Run::new(&args.common)?;
    let outcome = Outbound::new(args, &run).and_then(|mut outbound| {
        let outcome = outbound.flow(&mut run);
        outbound.close().and(outcome)
    });
    outcome.inspect_err(|err| run.failed(err))
}

#[derive(Debug)]
struct Outbound<'a> {
    args: &'a Pub,
    host: String,
    link: Link<Order, Answer>,
    outbox: Outbox,
    spool: Spool,
    /// Lines that wait for the spool.
    backlog: Vec<Item>,
    spool_due: Option<Duration>,
    /// Whether the spool takes no more.
    full: bool,
    /// The rest of the input; `None` after its end.
    input: Option<File>,
    lines: Lines,
    number: u64,
    drain_until: Option<Duration>,
}

impl<'a> Outbound<'a> {
    fn new(args: &'a Pub, run: &Run) -> Result<Self, Error> {
        let stream = &args.common.stream;
        let create =
            args.create.then_some(Creation { replicas: args.replicas, max_age: args.max_age });
        let target = Target::new(&args.common, "relay pub")?;
        let host = host()?;
        let (template, stream_name) = (args.subject.clone(), stream.clone());
        let aim = Aim { target, stream: stream_name, template, host: host.clone(), create };
        let dir = match &args.spool {
            Some(dir) => dir.clone(),
            None => store::root(None)?.join("relay").join(stream),
        };
        let spool = Spool::open(&dir, args.spool_max)?;
        let stdin = io::stdin().as_fd().try_clone_to_owned().map_err(Error::on("read stdin"))?;
        let link = Link::start(&run.waiter, publish::opens, async move |_, orders, voice| {
            publish::connection(&aim, orders, voice).await;
        })?;
        Ok(Self {
            args,
            host,
            link,
            outbox: Outbox::new(stream),
            spool,
            backlog: Vec::new(),
            spool_due: None,
            full: false,
            input: Some(stdin.into()),
            lines: Lines::new(LONGEST),
            number: 0,
            drain_until: None,
        })
    }

    fn flow(&mut self, run: &mut Run) -> Result<Ended, Error> {
        run.ready();
        loop {
            let now = clock::now();
            self.hear(run, &now)?;
            self.settle(run, &now)?;
            self.send(run, &now);
            run.notice(&now)?;
            if run.out.stop().is_some() {
                return Ok(Ended::Done);
            }
            if self.input.is_none() {
                if self.is_done() {
                    run.end(Turn::Go)?;
                    return Ok(Ended::Done);
                }
                self.check_drain(&now)?;
            }
            self.tell_full(run, &now)?;
            let reads = self.may_read(run);
            let input = self.input.as_ref().filter(|_| reads).map(File::as_fd);
            let due = [self.drain_until, self.spool_due].into_iter().flatten().min();
            match run.wait(due, input)? {
                Turn::Go => {}
                Turn::Input => self.read(run)?,
                turn => {
                    run.end(turn)?;
                    return Ok(Ended::Done);
                }
            }
        }
    }

    /// Takes what the network answered.
    fn hear(&mut self, run: &mut Run, now: &Now) -> Result<(), Error> {
        let answers: Vec<Answer> = self.link.answers().collect();
        for answer in answers {
            match answer {
                Answer::Up(max_payload) => {
                    self.outbox.connected(max_payload);
                    let told = run.tries.up(now);
                    run.say(told, now)?;
                }
                Answer::Stored(count) => {
                    self.outbox.stored(count);
                    let told = run.tries.proved(now);
                    run.say(told, now)?;
                }
                Answer::Down(trouble) => {
                    if trouble.kind == Kind::TooLong
                        && let Some(number) = self.outbox.refused()
                    {
                        run.malformed.add(Fault::TooLong, number);
                    }
                    let told = run.tries.down(&trouble, chance(), now)?;
                    run.say(told, now)?;
                }
            }
        }
        if let Some(done) = self.outbox.done() {
            self.spool.release(done);
        }
        Ok(())
    }

    /// Gives each line its place: in memory while there is room and a server, else in the spool.
    fn settle(&mut self, run: &mut Run, now: &Now) -> Result<(), Error> {
        let spooled = self.fill().and_then(|()| {
            if run.tries.is_down() || !self.backlog.is_empty() { self.save() } else { Ok(()) }
        });
        let told = match spooled {
            Ok(()) => {
                self.spool_due = None;
                run.tries.mend(SPOOL_UNWRITABLE, now)
            }
            Err(err) => {
                self.spool_due = Some(now.monotonic + AGAIN);
                let detail = format!("unable to use {}: {err}", self.spool.dir().display());
                run.tries.degrade(SPOOL_UNWRITABLE, &detail, AGAIN, now)
            }
        };
        run.say(told, now)?;
        let damaged = self.spool.damaged();
        if damaged > 0 {
            let dir = self.spool.dir().display();
            exit::warn("relay", &format!("{damaged} damaged records of {dir} were passed"));
        }
        Ok(())
    }

    /// Moves lines into memory, those of the spool first.
    fn fill(&mut self) -> io::Result<()> {
        while self.outbox.has_room() {
            match self.spool.read_line()? {
                Some(item) => self.outbox.push(item),
                None => break,
            }
        }
        if !self.spool.has_unread() && self.outbox.has_room() {
            // All that one read gave: a little more than there is room for is no harm.
            self.backlog.drain(..).for_each(|item| self.outbox.push(item));
        }
        Ok(())
    }

    /// Puts all that only memory has into the spool.
    fn save(&mut self) -> io::Result<()> {
        let mut unspooled = self.outbox.unspooled().peekable();
        if unspooled.peek().is_some() {
            // It stands before all that is unread there only when nothing is.
            self.spool.append(unspooled)?;
            self.spool.pass();
        }
        self.spool.append(self.backlog.iter_mut())?;
        self.backlog.clear();
        Ok(())
    }

    fn send(&mut self, run: &mut Run, now: &Now) {
        if run.tries.begin(now.monotonic) {
            self.link.order(Order::Connect);
        }
        if run.tries.is_up() {
            let malformed = &mut run.malformed;
            let parcels = self.outbox.send(|number| malformed.add(Fault::TooLong, number));
            if !parcels.is_empty() {
                self.link.order(Order::Publish(parcels));
            }
            if let Some(done) = self.outbox.done() {
                self.spool.release(done);
            }
        }
    }

    /// While acknowledgements come, the pipe itself holds what memory has no room for.
    fn may_read(&self, run: &Run) -> bool {
        let in_memory = self.outbox.has_room() && !self.spool.has_unread();
        let on_disk = !self.full && (run.tries.is_down() || self.spool.has_unread());
        self.backlog.is_empty() && (in_memory || on_disk)
    }

    /// Notices when the spool is full, and when it is half empty again.
    fn tell_full(&mut self, run: &mut Run, now: &Now) -> Result<(), Error> {
        let more = self.lines.pending() + PIECE as u64;
        let more = if self.full { more.max(self.args.spool_max / 2) } else { more };
        self.full = !self.spool.has_room(more);
        let told = if self.full && self.input.is_some() {
            let detail = format!("{} is full: reading stops", self.spool.dir().display());
            run.tries.degrade(SPOOL_FULL, &detail, Duration::ZERO, now)
        } else {
            run.tries.mend(SPOOL_FULL, now)
        };
        run.say(told, now)
    }

    fn read(&mut self, run: &mut Run) -> Result<(), Error> {
        let mut piece = vec![0; PIECE];
        let Some(input) = &mut self.input else { return Ok(()) };
        let read = match input.read(&mut piece) {
            Ok(read) => read,
            Err(err) => match err.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => return Ok(()),
                _ => return Err(Error::on("read stdin")(err)),
            },
        };
        let mut lines = std::mem::replace(&mut self.lines, Lines::new(0));
        if read == 0 {
            self.input = None;
            self.drain_until = Some(clock::monotonic() + self.args.drain_timeout);
            if lines.pending() > 0 && lines.begun().is_empty() {
                self.take(Line::TooLong(0), run);
            } else if let Some(last) = lines.finish() {
                self.take(Line::Whole(&last), run);
            }
            return Ok(());
        }
        let fed = lines.feed(piece.get(..read).unwrap_or_default(), |line| {
            self.take(line, run);
            Ok(())
        });
        self.lines = lines;
        fed
    }

    /// Makes a message of a line, or counts it among the malformed ones; blank lines are nothing.
    fn take(&mut self, line: Line<'_>, run: &mut Run) {
        self.number += 1;
        let Line::Whole(line) = line else {
            return run.malformed.add(Fault::TooLong, self.number);
        };
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return;
        }
        match Head::of(line) {
            Ok(head) => {
                let position = (!head.has_id).then_some(self.number);
                let parcel = Parcel {
                    subject: self.args.subject.fill(&self.host, &head),
                    id: message_id(&self.host, line, position),
                    line: line.to_vec(),
                };
                self.backlog.push(Item { parcel, number: self.number, place: None });
            }
            Err(fault) => run.malformed.add(fault, self.number),
        }
    }

    fn is_done(&self) -> bool {
        self.outbox.is_empty() && self.backlog.is_empty() && !self.spool.has_unread()
    }

    fn check_drain(&self, now: &Now) -> Result<(), Error> {
        if self.drain_until.is_none_or(|until| now.monotonic < until) {
            return Ok(());
        }
        let (within, dir) = (self.args.drain_timeout.as_secs_f64(), self.spool.dir().display());
        let message = format!("unable to send all within {within} s: the rest stays in {dir}");
        Err(Error::new(Reason::Runtime, "not_sent", message))
    }

    /// Keeps for the next run what was not stored.
    fn close(mut self) -> Result<(), Error> {
        // Acknowledgements that are here already spare the next run some lines.
        for answer in self.link.answers() {
            if let Answer::Stored(count) = answer {
                self.outbox.stored(count);
            }
        }
        if let Some(done) = self.outbox.done() {
            self.spool.release(done);
        }
        let dir = self.spool.dir().to_owned();
        let saved = self.save().map_err(|err| Error::io("write", &dir, &err));
        self.spool.finish();
        self.link.close();
        saved
    }
}

fn host() -> Result<String, Error> {
    let name = nix::unistd::gethostname();
    let name = name.map_err(|err| Error::on("ask for the machine's name")(err.into()))?;
    Ok(name.to_string_lossy().into_owned())
}

//! `relay sub`: from the stream to stdout, acknowledged when it is written.

use shared::{
    clock::{self, Now},
    exit::{Ended, Error},
};

use crate::{
    args::Sub,
    connect::Target,
    decide::inbox::{Answer as Verdict, Inbox, Message},
    dedup::Dedup,
    link::Link,
    run::{Run, Turn, chance},
    subscribe::{self, Aim, Answer, Order},
};

/// Prints the stream until there is a reason to end.
///
/// # Errors
///
/// What ends the run; it is also said on stdout.
pub fn run(args: &Sub) -> Result<Ended, Error> {
    let mut run = Run::new(&args.common)?;
    let outcome = Inbound::new(args, &run).and_then(|mut inbound| {
        let outcome = inbound.flow(&mut run);
        inbound.link.close();
        outcome
    });
    outcome.inspect_err(|err| run.failed(err))
}

#[derive(Debug)]
struct Inbound<'a> {
    args: &'a Sub,
    link: Link<Order, Answer>,
    inbox: Inbox,
    dedup: Option<Dedup>,
}

/// What a look at the answers came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// There will be more.
    More,
    /// Everything has come.
    Empty,
    /// The one try of `--once` failed.
    Blind,
}

impl<'a> Inbound<'a> {
    fn new(args: &'a Sub, run: &Run) -> Result<Self, Error> {
        let stream = &args.common.stream;
        let aim = Aim {
            target: Target::new(&args.common, "relay sub")?,
            stream: stream.clone(),
            durable: args.durable.clone(),
            subjects: args.subject.clone(),
            from: args.from,
            batch: args.batch,
            ack_wait: args.ack_wait,
            share: args.share,
            once: args.once,
        };
        let (dedup, last) = match &args.dedup {
            Some(path) => {
                let (dedup, last) = Dedup::open(path, stream, &args.durable)?;
                (Some(dedup), last)
            }
            None => (None, (None, 0)),
        };
        let inbox = Inbox::new(stream, args.annotate, !args.share, last);
        let link =
            Link::start(&run.waiter, subscribe::opens, async move |order, orders, voice| {
                let last = if let Order::Connect(last) = order { last } else { 0 };
                subscribe::connection(&aim, last, orders, voice).await;
            })?;
        Ok(Self { args, link, inbox, dedup })
    }

    fn flow(&mut self, run: &mut Run) -> Result<Ended, Error> {
        loop {
            let now = clock::now();
            let look = self.hear(run, &now)?;
            run.notice(&now)?;
            if run.out.stop().is_some() {
                return Ok(Ended::Done);
            }
            if look != Look::More {
                run.end(Turn::Go)?;
                return Ok(if look == Look::Empty { Ended::Done } else { Ended::Incomplete });
            }
            if run.tries.begin(now.monotonic) {
                self.link.order(Order::Connect(self.inbox.printed().1));
            }
            match run.wait(None, None)? {
                Turn::Go | Turn::Input => {}
                turn => {
                    run.end(turn)?;
                    return Ok(Ended::Done);
                }
            }
        }
    }

    /// Takes what the network answered.
    fn hear(&mut self, run: &mut Run, now: &Now) -> Result<Look, Error> {
        let answers: Vec<Answer> = self.link.answers().collect();
        for answer in answers {
            match answer {
                Answer::Up(created) => {
                    self.inbox.connected(created);
                    let told = run.tries.up(now);
                    run.say(told, now)?;
                    run.ready();
                }
                Answer::Messages(messages) => {
                    let told = run.tries.proved(now);
                    run.say(told, now)?;
                    self.print(&messages, run)?;
                }
                Answer::Empty => return Ok(Look::Empty),
                Answer::Down(trouble) => {
                    let told = run.tries.down(&trouble, chance(), now)?;
                    run.say(told, now)?;
                    if self.args.once {
                        return Ok(Look::Blind);
                    }
                }
            }
            if run.out.stop().is_some() {
                break;
            }
        }
        Ok(Look::More)
    }

    /// Prints messages, remembers them, and only then has them acknowledged.
    fn print(&mut self, messages: &[Message], run: &mut Run) -> Result<(), Error> {
        for message in messages {
            match self.inbox.take(message) {
                Verdict::Print(line) => run.print(&line)?,
                Verdict::Again => {}
                Verdict::Malformed(fault) => run.malformed.add(fault, message.sequence),
            }
            if let Some(dedup) = &self.dedup {
                run.flush()?;
                if run.out.stop().is_some() {
                    return Ok(());
                }
                dedup.save(self.inbox.printed())?;
            }
        }
        run.flush()?;
        // What was not written comes again to the next reader.
        if run.out.stop().is_none() {
            self.link.order(Order::Acknowledge(messages.len()));
        }
        Ok(())
    }
}

//! The network's side of `relay sub`: one connection, messages in, acknowledgements out.

use std::{collections::VecDeque, time::Duration};

use async_nats::{
    datetime::DateTime,
    jetstream::{
        AckKind,
        consumer::{self, AckPolicy, DeliverPolicy, pull},
        context::ConsumerInfoErrorKind,
        message::Acker,
        stream::{ConsumerErrorKind, Stream},
    },
};
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::{
    select,
    time::{MissedTickBehavior, interval, sleep},
};

use crate::{
    args,
    connect::{self, Connection, Target, told},
    decide::{
        Kind, Trouble,
        inbox::{Message, renew_every},
    },
    link::{Orders, Voice},
};

/// What the main thread orders.
#[derive(Debug)]
pub enum Order {
    /// Make a connection; the number is that of the last message printed, 0 for none.
    Connect(u64),
    /// Acknowledge so many more of the messages, in their order.
    Acknowledge(usize),
}

/// What the network answers.
#[derive(Debug)]
pub enum Answer {
    /// There is a connection, to a stream that was created at this time.
    Up(i128),
    /// These messages came.
    Messages(Vec<Message>),
    /// Everything that is there has come and is acknowledged.
    Empty,
    /// The connection has ended.
    Down(Trouble),
}

/// What to read, and how.
#[derive(Debug, Clone)]
pub struct Aim {
    /// The servers.
    pub target: Target,
    /// The stream.
    pub stream: String,
    /// The durable.
    pub durable: String,
    /// The filters; none for all.
    pub subjects: Vec<String>,
    /// Where a new durable begins.
    pub from: args::From,
    /// How many messages are asked for at once.
    pub batch: u16,
    /// When a message that isn't acknowledged comes again.
    pub ack_wait: Duration,
    /// Whether others may read too.
    pub share: bool,
    /// Whether to tell when everything has come.
    pub once: bool,
}

/// A consumer looked at in vain so often, so far apart, is free.
const LOOKS: usize = 3;
const BETWEEN: Duration = Duration::from_millis(100);
/// The server looks for messages that are due again this long after `ack_wait` changed.
const HASTENED: Duration = Duration::from_millis(250);
/// How long a pull waits at the server, and how often the server says that it still does.
const PULL: Duration = Duration::from_secs(30);
const HEARTBEAT: Duration = Duration::from_secs(10);
/// How often to ask whether everything has come.
const ASK: Duration = Duration::from_millis(50);

type Consumer = consumer::Consumer<pull::Config>;

/// Whether an order opens a connection.
#[must_use]
pub fn opens(order: &Order) -> bool {
    matches!(order, Order::Connect(_))
}

/// Serves one connection to its end.
pub async fn connection(
    aim: &Aim,
    last: u64,
    orders: &mut Orders<Order>,
    voice: &mut Voice<Answer>,
) {
    let opened = select! {
        opened = open(aim, last) => opened,
        () = closed(orders) => return,
    };
    let served = match opened {
        Ok((mut connection, created, consumer)) => {
            voice.tell(Answer::Up(created));
            let served = serve(aim, &mut connection, &consumer, orders, voice).await;
            if served.is_ok() {
                connection.finish().await;
            }
            served
        }
        Err(trouble) => Err(trouble),
    };
    if let Err(trouble) = served {
        voice.tell(Answer::Down(trouble));
    }
}

/// Returns when the run is over. Acknowledgements of a connection that is gone are void.
async fn closed(orders: &mut Orders<Order>) {
    while orders.recv().await.is_some() {}
}

async fn open(aim: &Aim, last: u64) -> Result<(Connection, i128, Consumer), Trouble> {
    let connection = Connection::open(&aim.target).await?;
    let stream = connection.streams.get_stream(&aim.stream).await;
    let stream = stream.map_err(|err| connect::no_stream(&aim.stream, &err))?;
    let created = stream.cached_info().created.unix_timestamp_nanos();
    let consumer = match stream.consumer_info(&aim.durable).await {
        Ok(_) => {
            let found = stream.get_consumer(&aim.durable).await;
            take_over(aim, &stream, found.map_err(|err| unanswered(aim, &told(&*err)))?).await?
        }
        Err(err) if err.kind() == ConsumerInfoErrorKind::NotFound => {
            create(aim, &stream, last).await?
        }
        Err(err) => return Err(unanswered(aim, &told(&err))),
    };
    Ok((connection, created, consumer))
}

fn unanswered(aim: &Aim, cause: &str) -> Trouble {
    Trouble::new(Kind::Unavailable, format!("unable to use the durable {}: {cause}", aim.durable))
}

fn unsuitable(aim: &Aim, cause: &str) -> Trouble {
    Trouble::new(Kind::Unsuitable, format!("unable to use the durable {}: {cause}", aim.durable))
}

fn config(aim: &Aim, last: u64) -> Result<pull::Config, Trouble> {
    let deliver_policy = match aim.from {
        // It was there before and somebody removed it: what was printed is known here.
        _ if last > 0 => DeliverPolicy::ByStartSequence { start_sequence: last + 1 },
        args::From::New => DeliverPolicy::New,
        args::From::All => DeliverPolicy::All,
        args::From::Sequence(start_sequence) => DeliverPolicy::ByStartSequence { start_sequence },
        args::From::Time(time) => {
            let time = DateTime::from_unix_timestamp_nanos(time.as_nanosecond());
            let start_time = time.map_err(|_| unsuitable(aim, "--from is out of range"))?;
            DeliverPolicy::ByStartTime { start_time }
        }
    };
    let (filter_subject, filter_subjects) = match &*aim.subjects {
        [] => (String::new(), Vec::new()),
        [one] => (one.clone(), Vec::new()),
        several => (String::new(), several.to_vec()),
    };
    Ok(pull::Config {
        durable_name: Some(aim.durable.clone()),
        deliver_policy,
        ack_policy: AckPolicy::Explicit,
        ack_wait: aim.ack_wait,
        max_ack_pending: i64::from(aim.batch) * 2,
        filter_subject,
        filter_subjects,
        ..pull::Config::default()
    })
}

async fn create(aim: &Aim, stream: &Stream, last: u64) -> Result<Consumer, Trouble> {
    let made = stream.create_consumer(config(aim, last)?).await;
    let made = made.map_err(|err| match err.kind() {
        ConsumerErrorKind::JetStream(err) if !connect::is_passing(&err) => {
            unsuitable(aim, &err.to_string())
        }
        _ => unanswered(aim, &told(&err)),
    })?;
    if filters(&made.cached_info().config) != aim.subjects {
        // An old server passes over what it doesn't know, and would send everything.
        let _ = stream.delete_consumer(&aim.durable).await;
        return Err(unsuitable(aim, "several --subject need a server from 2.10 on"));
    }
    Ok(made)
}

/// Uses a durable that is there.
async fn take_over(aim: &Aim, stream: &Stream, found: Consumer) -> Result<Consumer, Trouble> {
    let config = found.cached_info().config.clone();
    if config.deliver_subject.is_some() || config.ack_policy != AckPolicy::Explicit {
        return Err(unsuitable(aim, "it is no pull consumer with explicit acknowledgements"));
    }
    let filters = filters(&config);
    if !aim.subjects.is_empty() && filters != aim.subjects {
        let cause = format!("it reads {}: remove it, or use another name", filters.join(" "));
        return Err(unsuitable(aim, &cause));
    }
    if aim.share {
        return Ok(found);
    }
    let mut info = found.cached_info().clone();
    for look in 0..LOOKS {
        if info.num_waiting > 0 {
            let told = format!("unable to use the durable {}: another reader has it", aim.durable);
            return Err(Trouble::new(Kind::Taken, told));
        }
        if look + 1 < LOOKS {
            sleep(BETWEEN).await;
            info = found.get_info().await.map_err(|err| unanswered(aim, &told(&err)))?;
        }
    }
    let mut wanted = pull::Config {
        durable_name: Some(aim.durable.clone()),
        deliver_policy: config.deliver_policy,
        ack_policy: AckPolicy::Explicit,
        ack_wait: aim.ack_wait,
        max_ack_pending: i64::from(aim.batch) * 2,
        filter_subject: config.filter_subject.clone(),
        filter_subjects: config.filter_subjects.clone(),
        ..pull::Config::default()
    };
    if info.num_ack_pending > 0 {
        // What the last reader left is due at once, not after its time, and so in order.
        let hasty = pull::Config { ack_wait: Duration::from_millis(1), ..wanted.clone() };
        let hastened = stream.update_consumer(hasty).await;
        hastened.map_err(|err| unanswered(aim, &told(&err)))?;
        sleep(HASTENED).await;
    } else if config.ack_wait == wanted.ack_wait && config.max_ack_pending == wanted.max_ack_pending
    {
        return Ok(found);
    }
    wanted.max_deliver = config.max_deliver;
    stream.update_consumer(wanted).await.map_err(|err| unanswered(aim, &told(&err)))
}

fn filters(config: &consumer::Config) -> Vec<String> {
    let one = Some(&config.filter_subject).filter(|one| !one.is_empty());
    one.into_iter().chain(&config.filter_subjects).cloned().collect()
}

/// The messages that were given to the main thread, or are held back, and are not acknowledged.
#[derive(Default)]
struct Held {
    given: VecDeque<Acker>,
    /// What came before what it stands behind, with the number of each.
    early: Vec<(Message, Acker)>,
    /// Whether messages that an earlier reader had begun are still on their way.
    incomplete: bool,
}

async fn serve(
    aim: &Aim,
    connection: &mut Connection,
    consumer: &Consumer,
    orders: &mut Orders<Order>,
    voice: &mut Voice<Answer>,
) -> Result<(), Trouble> {
    let info = consumer.get_info().await.map_err(|err| unanswered(aim, &told(&err)))?;
    let incomplete = !aim.share && info.num_ack_pending > 0;
    let mut held = Held { incomplete, ..Held::default() };
    let pulls = consumer.stream().max_messages_per_batch(aim.batch.into());
    let pulls = pulls.expires(PULL).heartbeat(HEARTBEAT).messages().await;
    let mut messages = pulls.map_err(|err| unanswered(aim, &told(&err)))?;
    let (mut renew, mut ask) = (interval(renew_every(aim.ack_wait)), interval(ASK));
    renew.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ask.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut silent = false;
    loop {
        select! {
            biased;
            trouble = connection.trouble() => return Err(trouble),
            order = orders.recv() => match order {
                Some(Order::Acknowledge(count)) => held.acknowledge(count).await,
                Some(Order::Connect(_)) => {}
                None => return Ok(()),
            },
            message = messages.next() => {
                let mut next = Some(message);
                let mut came = Vec::new();
                while let Some(message) = next.take() {
                    let message = message.unwrap_or_else(|| Err(pull::MessagesErrorKind::Other.into()));
                    let message = message.map_err(|err| unanswered(aim, &told(&err)))?;
                    held.take(message, &mut came).map_err(|err| unanswered(aim, &err))?;
                    if came.len() < usize::from(aim.batch) {
                        next = messages.next().now_or_never();
                    }
                }
                silent = false;
                give(voice, came);
            }
            _ = renew.tick() => held.renew().await,
            _ = ask.tick(), if held.incomplete || aim.once => {
                // Asked only of a consumer that was silent for a whole tick.
                if std::mem::replace(&mut silent, true) {
                    let info = consumer.get_info().await;
                    let info = info.map_err(|err| unanswered(aim, &told(&err)))?;
                    give(voice, held.complete(info.num_ack_pending));
                    let ours = if aim.share { held.given.len() } else { info.num_ack_pending };
                    if aim.once && info.num_pending == 0 && ours == 0 {
                        voice.tell(Answer::Empty);
                    }
                }
            }
        }
    }
}

fn give(voice: &mut Voice<Answer>, messages: Vec<Message>) {
    if !messages.is_empty() {
        voice.tell(Answer::Messages(messages));
    }
}

impl Held {
    /// Gives a message, or holds it back while earlier ones are on their way.
    fn take(
        &mut self,
        message: async_nats::jetstream::Message,
        came: &mut Vec<Message>,
    ) -> Result<(), String> {
        let info = message.info().map_err(|err| err.to_string())?;
        let (sequence, received_at) = (info.stream_sequence, info.published.unix_timestamp());
        let (message, acker) = message.split();
        let message = Message { sequence, received_at, payload: message.payload.into() };
        if self.incomplete {
            let known = self.early.iter().position(|(early, _)| early.sequence == sequence);
            known.map(|at| self.early.swap_remove(at));
            self.early.push((message, acker));
        } else {
            self.given.push_back(acker);
            came.push(message);
        }
        Ok(())
    }

    /// What was held back, in order, once it is all that is not acknowledged.
    fn complete(&mut self, not_acknowledged: usize) -> Vec<Message> {
        if !self.incomplete || self.early.len() < not_acknowledged {
            return Vec::new();
        }
        self.incomplete = false;
        let mut early = std::mem::take(&mut self.early);
        early.sort_by_key(|(message, _)| message.sequence);
        let (messages, ackers): (Vec<_>, Vec<_>) = early.into_iter().unzip();
        self.given.extend(ackers);
        messages
    }

    /// Acknowledges the oldest. What doesn't get through is seen by the end of the connection.
    async fn acknowledge(&mut self, count: usize) {
        for acker in self.given.drain(..count.min(self.given.len())) {
            let _ = acker.ack().await;
        }
    }

    /// Says that the others are still being worked on.
    async fn renew(&self) {
        for acker in self.given.iter().chain(self.early.iter().map(|(_, acker)| acker)) {
            let _ = acker.ack_with(AckKind::Progress).await;
        }
    }
}

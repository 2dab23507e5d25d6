//! The network's side of `relay pub`: one connection, lines out, acknowledgements in.

use std::{collections::VecDeque, future::Future, pin::Pin, time::Duration};

use async_nats::jetstream::{
    ErrorCode,
    context::{CreateStreamErrorKind, PublishError, PublishErrorKind},
    message::PublishMessage,
    publish::PublishAck,
    stream::{self, StorageType},
};
use futures_util::FutureExt as _;
use tokio::select;

use crate::{
    connect::{self, Connection, Target, told},
    decide::{Kind, Trouble, outbox::Parcel},
    head::Head,
    link::{Orders, Voice},
    subject::{Template, overlap},
};

/// What the main thread orders.
#[derive(Debug)]
pub enum Order {
    /// Make a connection.
    Connect,
    /// Send these lines, in order.
    Publish(Vec<Parcel>),
}

/// What the network answers.
#[derive(Debug)]
pub enum Answer {
    /// There is a connection, to a server that takes messages of so many bytes.
    Up(usize),
    /// So many more of the lines sent are stored, in the order of sending.
    Stored(usize),
    /// The connection has ended.
    Down(Trouble),
}

/// Where to publish.
#[derive(Debug, Clone)]
pub struct Aim {
    /// The servers.
    pub target: Target,
    /// The stream.
    pub stream: String,
    /// What makes a line's subject.
    pub template: Template,
    /// The machine's name, as subjects have it.
    pub host: String,
    /// What to create if there is no such stream.
    pub create: Option<Creation>,
}

/// A stream to be.
#[derive(Debug, Clone)]
pub struct Creation {
    /// On how many servers each message is.
    pub replicas: u8,
    /// For how long a message is kept.
    pub max_age: Option<Duration>,
}

/// For how long a message is known again, in a stream of ours.
const KNOWN: Duration = Duration::from_hours(1);

type Ack = Pin<Box<dyn Future<Output = Result<PublishAck, PublishError>> + Send>>;

/// Whether an order opens a connection.
#[must_use]
pub fn opens(order: &Order) -> bool {
    matches!(order, Order::Connect)
}

/// Serves one connection to its end.
pub async fn connection(aim: &Aim, orders: &mut Orders<Order>, voice: &mut Voice<Answer>) {
    let opened = select! {
        opened = open(aim) => opened,
        () = closed(orders) => return,
    };
    let served = match opened {
        Ok((mut connection, taken)) => {
            voice.tell(Answer::Up(connection.client.server_info().max_payload));
            let served = serve(aim, &taken, &mut connection, orders, voice).await;
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

/// Returns when the run is over. While there is no connection no other order comes.
async fn closed(orders: &mut Orders<Order>) {
    while orders.recv().await.is_some() {}
}

/// A connection, and the subjects that the stream takes.
async fn open(aim: &Aim) -> Result<(Connection, Vec<String>), Trouble> {
    let connection = Connection::open(&aim.target).await?;
    let found = match (connection.streams.get_stream(&aim.stream).await, &aim.create) {
        (Ok(found), _) => found,
        (Err(err), create) => match (connect::no_stream(&aim.stream, &err), create) {
            (Trouble { kind: Kind::NoStream, .. }, Some(creation)) => {
                create_stream(&connection, aim, creation).await?
            }
            (trouble, _) => return Err(trouble),
        },
    };
    let taken = found.cached_info().config.subjects.clone();
    let ours = aim.template.filter();
    if !takes(&taken, &ours) {
        let (stream, taken) = (&aim.stream, taken.join(" "));
        let told = format!("unable to publish to {ours}: the stream {stream} takes {taken}");
        return Err(Trouble::new(Kind::Unsuitable, told));
    }
    Ok((connection, taken))
}

fn takes(taken: &[String], subject: &str) -> bool {
    taken.iter().any(|taken| overlap(taken, subject))
}

async fn create_stream(
    connection: &Connection,
    aim: &Aim,
    creation: &Creation,
) -> Result<stream::Stream, Trouble> {
    let max_age = creation.max_age.unwrap_or_default();
    // The server takes no window longer than a message lives.
    let known = if max_age.is_zero() { KNOWN } else { KNOWN.min(max_age) };
    let config = stream::Config {
        name: aim.stream.clone(),
        subjects: vec![aim.template.filter()],
        storage: StorageType::File,
        num_replicas: creation.replicas.into(),
        max_age,
        duplicate_window: known,
        ..stream::Config::default()
    };
    let made = connection.streams.get_or_create_stream(config).await;
    made.map_err(|err| {
        let told = format!("unable to create the stream {}: {}", aim.stream, told(&err));
        let kind = match err.kind() {
            CreateStreamErrorKind::JetStream(err) if !connect::is_passing(&err) => Kind::Unsuitable,
            _ => Kind::Unavailable,
        };
        Trouble::new(kind, told)
    })
}

async fn serve(
    aim: &Aim,
    taken: &[String],
    connection: &mut Connection,
    orders: &mut Orders<Order>,
    voice: &mut Voice<Answer>,
) -> Result<(), Trouble> {
    let mut acks: VecDeque<Ack> = VecDeque::new();
    loop {
        select! {
            biased;
            trouble = connection.trouble() => return Err(trouble),
            stored = first(&mut acks), if !acks.is_empty() => voice.tell(Answer::Stored(stored?)),
            order = orders.recv() => match order {
                Some(Order::Publish(parcels)) => {
                    for mut parcel in parcels {
                        redirect(&mut parcel, aim, taken);
                        acks.push_back(publish(&aim.stream, connection, parcel).await?);
                    }
                }
                Some(Order::Connect) => {}
                None => return Ok(()),
            },
        }
    }
}

/// A line that was spooled under a subject which the stream doesn't take, as of a run whose
/// template was wrong, gets the one of this run: else nothing behind it would ever be sent.
fn redirect(parcel: &mut Parcel, aim: &Aim, taken: &[String]) {
    if !takes(taken, &parcel.subject)
        && let Ok(head) = Head::of(&parcel.line)
    {
        parcel.subject = aim.template.fill(&aim.host, &head);
    }
}

async fn publish(stream: &str, connection: &Connection, parcel: Parcel) -> Result<Ack, Trouble> {
    let message = PublishMessage::build()
        .message_id(&parcel.id)
        .expected_stream(stream)
        .payload(parcel.line.into());
    let sent = connection.streams.send_publish(parcel.subject, message).await;
    match sent {
        Ok(ack) => Ok(ack.into_future()),
        // It has its turn when it is the first: those before it are on their way.
        Err(err) => Ok(Box::pin(std::future::ready(Err(err)))),
    }
}

/// Waits for the first acknowledgement, and counts those that came with it.
async fn first(acks: &mut VecDeque<Ack>) -> Result<usize, Trouble> {
    let mut stored = 0;
    while let Some(ack) = acks.front_mut() {
        let answer = if stored == 0 { Some(ack.await) } else { ack.now_or_never() };
        match answer {
            Some(Ok(_)) => {
                acks.pop_front();
                stored += 1;
            }
            Some(Err(err)) if stored == 0 => return Err(not_stored(&err)),
            // What has ended is not asked again, but told when it is the first.
            Some(Err(err)) => {
                acks.pop_front();
                acks.push_front(Box::pin(std::future::ready(Err(err))));
                break;
            }
            None => break,
        }
    }
    Ok(stored)
}

fn not_stored(err: &PublishError) -> Trouble {
    let source = std::error::Error::source(err);
    let refusal = source.and_then(|source| source.downcast_ref::<async_nats::jetstream::Error>());
    let kind = match (err.kind(), refusal.map(async_nats::jetstream::Error::error_code)) {
        (PublishErrorKind::MaxPayloadExceeded, _)
        | (_, Some(ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM)) => Kind::TooLong,
        (PublishErrorKind::BrokenPipe, _) => Kind::Unreachable,
        (_, Some(ErrorCode::STREAM_NOT_MATCH)) => Kind::Unsuitable,
        _ => Kind::NotStored,
    };
    Trouble::new(kind, format!("unable to store a line: {}", told(err)))
}

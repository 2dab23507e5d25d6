//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::{Parser, Subcommand};
use jiff::Timestamp;
use shared::cli;

use crate::subject::{self, Template};

/// Carries events between pipes and a NATS `JetStream` stream.
#[derive(Debug, Clone, Parser)]
#[command(name = "relay", version)]
pub struct Args {
    /// Which way.
    #[command(subcommand)]
    pub direction: Direction,
}

/// Which way the events go.
#[derive(Debug, Clone, Subcommand)]
pub enum Direction {
    /// Publish every line of stdin
    #[command(args_override_self = true)]
    Pub(Pub),
    /// Print every message
    #[command(args_override_self = true)]
    Sub(Sub),
}

/// What both directions need to reach the stream, and to run.
#[derive(Debug, Clone, clap::Args)]
pub struct Common {
    /// The stream
    #[arg(long, value_name = "NAME", value_parser = token)]
    pub stream: String,
    /// A server, `nats://HOST:PORT` or `tls://HOST:PORT`, may be given several times; the default
    /// is what `NATS_URL` lists, or 127.0.0.1
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    pub server: Vec<String>,
    /// The credentials file; the default is `NATS_CREDS`
    #[arg(long, value_name = "FILE", value_parser = cli::path())]
    pub creds: Option<PathBuf>,
    /// Use TLS, and also trust the certificates in this file
    #[arg(long, value_name = "FILE", value_parser = cli::path())]
    pub tls_ca: Option<PathBuf>,
    /// End cleanly after this long, with a line that says so
    #[arg(long, value_name = "D", value_parser = cli::span(MS, YEAR))]
    pub max_runtime: Option<Duration>,
    /// End when this process ends
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub parent_pid: Option<u32>,
    /// The `source` of its own lines, instead of the program's name
    #[arg(long, value_name = "NAME", value_parser = cli::name)]
    pub source: Option<String>,
}

/// `relay pub`.
#[derive(Debug, Clone, clap::Args)]
pub struct Pub {
    /// The stream, the servers, the run.
    #[command(flatten)]
    pub common: Common,
    /// The subject of a line, with {host}, {source}, {event} and {urgency}
    #[arg(long, value_name = "TEMPLATE", default_value = "doorbell.{host}.{source}", value_parser = Template::parse)]
    pub subject: Template,
    /// Create the stream if it doesn't exist
    #[arg(long)]
    pub create: bool,
    /// With --create: on how many servers each message is, 1 to 5
    #[arg(long, value_name = "N", default_value = "1", requires = "create", value_parser = clap::value_parser!(u8).range(1..=5))]
    pub replicas: u8,
    /// With --create: for how long a message is kept
    #[arg(long, value_name = "D", requires = "create", value_parser = cli::span(Duration::from_secs(1), YEAR))]
    pub max_age: Option<Duration>,
    /// Where lines wait for a server
    #[arg(long, value_name = "DIR", value_parser = cli::path())]
    pub spool: Option<PathBuf>,
    /// How much waits there before reading stops: 256K to 1024G, powers of 1024
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = spool_max)]
    pub spool_max: u64,
    /// How long to go on sending after the end of the input
    #[arg(long, value_name = "D", default_value = "30s", value_parser = cli::span(MS, YEAR))]
    pub drain_timeout: Duration,
}

/// `relay sub`.
#[derive(Debug, Clone, clap::Args)]
pub struct Sub {
    /// The stream, the servers, the run.
    #[command(flatten)]
    pub common: Common,
    /// The durable consumer, which remembers what was read
    #[arg(long, value_name = "NAME", value_parser = token)]
    pub durable: String,
    /// Only these subjects, `*` for a token, `>` for the rest; may be given several times
    #[arg(long, value_name = "FILTER", value_parser = subject::filter)]
    pub subject: Vec<String>,
    /// Where a new durable begins: new, all, a sequence number, or a time (RFC 3339)
    #[arg(long, value_name = "WHERE", default_value = "new", value_parser = from)]
    pub from: From,
    /// How many messages are asked for at once, 1 to 10000
    #[arg(long, value_name = "N", default_value = "256", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub batch: u16,
    /// When a message that was not acknowledged comes again
    #[arg(long, value_name = "D", default_value = "30s", value_parser = cli::span(Duration::from_secs(1), Duration::from_hours(24)))]
    pub ack_wait: Duration,
    /// Remember the last message written, and drop what comes again
    #[arg(long, value_name = "FILE", conflicts_with = "share", value_parser = cli::path())]
    pub dedup: Option<PathBuf>,
    /// Let several readers share the durable; each message goes to one of them
    #[arg(long)]
    pub share: bool,
    /// Add `relay_stream`, `relay_seq` and `relay_received_at` to each line
    #[arg(long)]
    pub annotate: bool,
    /// Print what is there, then exit
    #[arg(long)]
    pub once: bool,
}

/// Where a new durable begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// With what comes from now on.
    New,
    /// With the oldest message there is.
    All,
    /// With this message.
    Sequence(u64),
    /// With the first message that came at this time or later.
    Time(Timestamp),
}

const MS: Duration = Duration::from_millis(1);
const YEAR: Duration = Duration::from_hours(366 * 24);

fn from(text: &str) -> Result<From, String> {
    match text {
        "new" => return Ok(From::New),
        "all" => return Ok(From::All),
        _ => {}
    }
    let sequence = text.parse().ok().filter(|sequence| *sequence > 0).map(From::Sequence);
    sequence.or_else(|| text.parse().ok().map(From::Time)).ok_or_else(|| {
        "must be new, all, a sequence number from 1, or a time as 2026-04-08T14:10:00Z".to_owned()
    })
}

/// What NATS takes as the name of a stream or a durable, within our own rule for names.
fn token(text: &str) -> Result<String, String> {
    let fits = |name: &String| !name.contains('.');
    cli::name(text).ok().filter(fits).ok_or_else(|| {
        "must be 1 to 64 letters, digits, underscores and hyphens, and begin with a letter or digit"
            .to_owned()
    })
}

fn spool_max(text: &str) -> Result<u64, String> {
    cli::size(text)
        .filter(|size| (256 << 10..=1 << 40).contains(size))
        .ok_or_else(|| "must be 256K to 1024G: bytes, or a number with K, M or G".to_owned())
}

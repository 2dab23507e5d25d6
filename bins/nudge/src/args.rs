//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::Parser;
use shared::cli;

const MS: Duration = Duration::from_millis(1);
const YEAR: Duration = Duration::from_hours(366 * 24);

/// Passes events on, and says again those that nobody answers
#[derive(Debug, Clone, Parser)]
#[command(name = "nudge", version, args_override_self = true)]
pub struct Args {
    /// The events that want an answer, separated by commas
    #[arg(long, value_name = "LIST", default_value = "stalled,process_died", value_parser = event_name, value_delimiter = ',')]
    pub on: Vec<String>,
    /// How long an answer is waited for, each time
    #[arg(long, value_name = "D", default_value = "120s", value_parser = cli::span(MS, YEAR))]
    pub after: Duration,
    /// How often an event is said again at most
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub max: u32,
    /// A file of acknowledgements, which may be the registry
    #[arg(long, value_name = "PATH", value_parser = cli::path())]
    pub acks: Option<PathBuf>,
    /// At the end of input wait for what is pending
    #[arg(long)]
    pub drain: bool,
    /// Remember what is pending over a restart, below this folder
    #[arg(long, value_name = "DIR", value_parser = cli::path())]
    pub store: Option<PathBuf>,
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

fn event_name(text: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !text.is_empty() && text.len() <= 64 && text.bytes().all(fits) {
        return Ok(text.to_owned());
    }
    Err("must be names of events, separated by commas".to_owned())
}

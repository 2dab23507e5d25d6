//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::{
    Parser,
    builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser},
};
use shared::cli::{self, Running};

use crate::{desk::Until, item::Config};

const MS: Duration = Duration::from_millis(1);
const DAY: Duration = Duration::from_hours(24);

/// Tells what became of agents: a result is there, a process ended without one, nothing moves,
/// time runs out
#[derive(Debug, Clone, Parser)]
#[command(name = "agent-watch", version, args_override_self = true)]
pub struct Args {
    /// The registry of agents; - is stdin
    #[arg(long, value_name = "PATH", value_parser = items())]
    pub items: PathBuf,
    /// Look at every item at least this often
    #[arg(long, visible_alias = "interval", value_name = "D", default_value = "30s", value_parser = cli::span(50 * MS, DAY))]
    pub poll_interval: Duration,
    /// Silence that makes a stall, when the item gives none
    #[arg(long, value_name = "D", default_value = "180s", value_parser = cli::span(MS, 365 * DAY))]
    pub idle_stall: Duration,
    /// Quiet time after which a result counts as whole
    #[arg(long, value_name = "D", default_value = "2s", value_parser = cli::span(MS, DAY))]
    pub settle: Duration,
    /// The same while a writer is known to hold it open
    #[arg(long, value_name = "D", default_value = "30s", value_parser = cli::span(MS, DAY))]
    pub settle_open: Duration,
    /// A file that is not empty is a result
    #[arg(long)]
    pub no_settle: bool,
    /// Between an exit and `process_died`, for a result still on its way
    #[arg(long, value_name = "D", default_value = "2s", value_parser = cli::span(MS, DAY))]
    pub death_grace: Duration,
    /// Before a missing pid file is told
    #[arg(long, value_name = "D", default_value = "15s", value_parser = cli::span(MS, DAY))]
    pub pid_grace: Duration,
    /// Percent of the time limit at which `timeout_imminent` comes
    #[arg(long, value_name = "N", default_value_t = 90, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub margin: u32,
    /// The folder of relative paths in items [default: the working directory]
    #[arg(long, value_name = "DIR", value_parser = cli::path())]
    pub base_dir: Option<PathBuf>,
    /// Charge suspended time to the agent
    #[arg(long)]
    pub count_suspend: bool,
    /// Tell each later settled version of a result, too
    #[arg(long)]
    pub rewrites: bool,
    /// Exit when all items ended, or the first
    #[arg(long, value_name = "WHICH", value_parser = until())]
    pub until: Option<Until>,
    /// The flags that many programs take.
    #[command(flatten)]
    pub running: Running,
}

impl Args {
    /// How long everything is waited for.
    #[must_use]
    pub fn config(&self) -> Config {
        Config {
            settle: self.settle,
            settle_open: self.settle_open,
            no_settle: self.no_settle,
            death_grace: self.death_grace,
            pid_grace: self.pid_grace,
            margin: self.margin,
            idle_stall: self.idle_stall,
            count_suspend: self.count_suspend,
            rewrites: self.rewrites,
            once: self.running.once,
        }
    }

    /// The registry's path; `None` for stdin.
    #[must_use]
    pub fn registry(&self) -> Option<PathBuf> {
        (self.items.as_os_str() != "-").then(|| self.items.clone())
    }
}

fn items() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str().as_encoded_bytes() {
        b"-" => Ok(path),
        [] | [b'-', ..] => Err("must be a file, or - for stdin"),
        _ => Ok(path),
    })
}

fn until() -> impl TypedValueParser<Value = Until> {
    PossibleValuesParser::new(["all-terminal", "any-terminal"])
        .map(|word| if word == "all-terminal" { Until::All } else { Until::Any })
}

//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::Parser;
use shared::cli::{self, Running};

const MS: Duration = Duration::from_millis(1);
const DAY: Duration = Duration::from_hours(24);

/// Says that a feed changed, by its metadata alone
#[derive(Debug, Clone, Parser)]
#[command(name = "feed-watch", version, args_override_self = true)]
pub struct Args {
    /// The feeds, which may not exist yet
    #[arg(value_name = "PATH", required = true, value_parser = cli::path())]
    pub paths: Vec<PathBuf>,
    /// Look at least this often
    #[arg(long, visible_alias = "interval", value_name = "D", default_value = "30s", value_parser = cli::span(50 * MS, DAY))]
    pub poll_interval: Duration,
    /// Quiet time that ends a burst
    #[arg(long, value_name = "D", default_value = "1s", value_parser = cli::span(MS, DAY))]
    pub debounce: Duration,
    /// End when this registry says `shutdown_request`
    #[arg(long, value_name = "PATH", value_parser = cli::path())]
    pub items: Option<PathBuf>,
    /// Remember in FILE what was told, and go on there at the next start
    #[arg(long, value_name = "FILE", value_parser = cli::path())]
    pub cursor: Option<PathBuf>,
    /// The flags that many programs take.
    #[command(flatten)]
    pub running: Running,
}

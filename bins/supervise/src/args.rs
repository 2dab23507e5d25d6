//! The command line.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{Args as Flags, Parser, Subcommand, builder::NonEmptyStringValueParser as NonEmpty};
use shared::cli;

use crate::{keeper::ask::Ready, place::given_name};

/// Start, prove, follow, check and stop long-running monitors
#[derive(Debug, Parser)]
#[command(name = "supervise", version)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Start a monitor detached, and return when it is proven
    #[command(args_override_self = true)]
    Start(Start),
    /// Start the four monitors of an orchestration, or those of a manifest
    #[command(args_override_self = true)]
    Spawn(Spawn),
    /// Start ci-status for a run or a pull request; it ends by itself
    #[command(args_override_self = true)]
    SpawnCi(SpawnCi),
    /// Say how monitors are, changing nothing
    #[command(args_override_self = true)]
    Status(Status),
    /// Print monitors' lines, from the first of the current run on
    #[command(args_override_self = true)]
    Follow(Follow),
    /// Report what is new since the last check, by urgency
    #[command(args_override_self = true)]
    Check(Check),
    /// Stop monitors and all that they started
    #[command(args_override_self = true)]
    Stop(Stop),
    /// Run the four monitors in the foreground, classified, until Ctrl-C
    #[command(args_override_self = true)]
    Up(Up),
    /// Record this process in a file and become a command
    #[command(args_override_self = true)]
    Exec(Exec),
}

/// Where monitors live.
#[derive(Debug, Clone, Flags)]
pub struct Where {
    /// The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// A name for this group of monitors, instead of one for the work tree one stands in
    #[arg(long, value_name = "NAME", value_parser = cli::name)]
    pub scope: Option<String>,
}

/// The flags of `start`.
#[derive(Debug, Clone, Flags)]
pub struct Start {
    /// The monitor's name
    #[arg(value_name = "NAME", value_parser = given_name)]
    pub name: String,
    /// The command and its arguments, after `--`
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<String>,
    /// It ends by itself: exiting with 0 is then no death
    #[arg(long)]
    pub ends: bool,
    /// Start it again when it dies, at most so often within an hour
    #[arg(long, value_name = "N", default_value = "0")]
    pub restart: u32,
    /// What proves it: READY=1 on $`NOTIFY_SOCKET`, or being alive after 100 ms
    #[arg(long, value_name = "HOW", default_value = "notify", value_parser = ready)]
    pub ready: Ready,
    /// Give up when it is not proven within this time
    #[arg(long, value_name = "D", default_value = "30s", value_parser = cli::span(Duration::from_millis(1), Duration::from_hours(24)))]
    pub ready_timeout: Duration,
    /// Stop a monitor of this name that runs another command first
    #[arg(long)]
    pub replace: bool,
    /// Rotate the log at this size
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = log_max)]
    pub log_max: u64,
    /// Where monitors live
    #[command(flatten)]
    pub place: Where,
}

/// What `spawn` and `up` start.
#[derive(Debug, Clone, Flags)]
pub struct Which {
    /// The folder that the monitors watch, instead of .agent-atelier
    #[arg(long, value_name = "DIR", value_parser = NonEmpty::new())]
    pub state_dir: Option<String>,
    /// The base branch whose distance is watched
    #[arg(long, value_name = "BRANCH", default_value = "main", value_parser = NonEmpty::new())]
    pub base: String,
    /// A Claude Code monitors.json to take the monitors from instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["state_dir", "base"])]
    pub manifest: Option<PathBuf>,
    /// Where monitors live
    #[command(flatten)]
    pub place: Where,
}

/// The flags of `spawn`.
#[derive(Debug, Clone, Flags)]
pub struct Spawn {
    /// What to start
    #[command(flatten)]
    pub which: Which,
}

/// The flags of `spawn-ci`.
#[derive(Debug, Clone, Flags)]
#[group(required = true, multiple = false, args = ["run_id", "pr"])]
pub struct SpawnCi {
    /// A run of GitHub Actions
    #[arg(long, value_name = "ID")]
    pub run_id: Option<u64>,
    /// A pull request
    #[arg(long, value_name = "N")]
    pub pr: Option<u64>,
    /// Where monitors live
    #[command(flatten)]
    pub place: Where,
}

/// The flags of `status`.
#[derive(Debug, Clone, Flags)]
pub struct Status {
    /// The monitors; none is all
    #[arg(value_name = "NAME", value_parser = cli::name)]
    pub names: Vec<String>,
    /// A table for a person instead of JSON
    #[arg(long)]
    pub table: bool,
    /// Draw the table anew every second, until Ctrl-C
    #[arg(long, requires = "table")]
    pub watch: bool,
    /// Where monitors live
    #[command(flatten)]
    pub place: Where,
}

/// The flags of `follow`.
#[derive(Debug, Clone, Flags)]
pub struct Follow {
    /// The monitors, or `all`
    #[arg(value_name = "NAME", required = true, value_parser = cli::name)]
    pub names: Vec<String>,
    /// Only lines that come from now on
    #[arg(long)]
    pub new: bool,
    /// End when this process ends
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub parent_pid: Option<u32>,
    /// Where monitors live
    #[command(flatten)]
    pub place: Where,
}

/// The flags of `check`.
#[derive(Debug, Clone, Flags)]
pub struct Check {
    /// An object of names and task ids, to report of these alone
    #[arg(value_name = "TASK-IDS-JSON")]
    pub task_ids: Option<String>,
    /// Who reads: each reader is told everything once
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = cli::name)]
    pub reader: String,
    /// Report, and remember nothing
    #[arg(long)]
    pub peek: bool,
    /// Where monitors live
    #[command(flatten)]
    pub place: Where,
}

/// The flags of `stop`.
#[derive(Debug, Clone, Flags)]
pub struct Stop {
    /// The monitors, or `all`
    #[arg(value_name = "NAME", required = true, value_parser = cli::name)]
    pub names: Vec<String>,
    /// How long they have between TERM and KILL
    #[arg(long, value_name = "D", default_value = "5s", value_parser = cli::span(Duration::ZERO, Duration::from_hours(1)))]
    pub grace: Duration,
    /// Where monitors live
    #[command(flatten)]
    pub place: Where,
}

/// The flags of `up`.
#[derive(Debug, Clone, Flags)]
pub struct Up {
    /// What to start
    #[command(flatten)]
    pub which: Which,
    /// Leave out lines below this urgency
    #[arg(long, value_name = "URGENCY", default_value = "info", value_parser = ["immediate", "warning", "info"])]
    pub min: String,
    /// End when this process ends
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub parent_pid: Option<u32>,
}

/// The flags of `exec`.
#[derive(Debug, Clone, Flags)]
pub struct Exec {
    /// The file to record this process in
    #[arg(long, value_name = "FILE")]
    pub record: PathBuf,
    /// The command and its arguments, after `--`
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

fn ready(text: &str) -> Result<Ready, String> {
    match text {
        "notify" => Ok(Ready::Notify),
        "alive" => Ok(Ready::Alive),
        _ => Err("must be notify or alive".to_owned()),
    }
}

fn log_max(text: &str) -> Result<u64, String> {
    cli::size(text)
        .filter(|size| (4 << 10..=1 << 40).contains(size))
        .ok_or_else(|| "must be 4K to 1024G".to_owned())
}

//! The command line.

use std::path::PathBuf;

use clap::{Args as Flags, Parser, Subcommand};

/// Run the monitors of an orchestration together, and end all of them together
#[derive(Debug, Parser)]
#[command(name = "supervise", version, args_override_self = true)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Run the four monitors in the foreground, classified, until Ctrl-C
    #[command(args_override_self = true)]
    Up(Up),
}

/// The flags of `up`.
#[derive(Debug, Clone, Flags)]
pub struct Up {
    /// The folder that the monitors watch, instead of .agent-atelier
    #[arg(long, value_name = "DIR", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub state_dir: Option<String>,
    /// The base branch whose distance is watched
    #[arg(long, value_name = "BRANCH", default_value = "main")]
    pub base: String,
    /// Leave out lines below this urgency
    #[arg(long, value_name = "URGENCY", default_value = "info", value_parser = ["immediate", "warning", "info"])]
    pub min: String,
    /// End when this process ends
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub parent_pid: Option<u32>,
}

impl Up {
    /// The folder of the programs that `up` runs is that of this program.
    ///
    /// # Errors
    ///
    /// When the system can't say where this program lies.
    pub fn programs() -> std::io::Result<PathBuf> {
        let own = std::env::current_exe()?;
        Ok(own.parent().map_or_else(PathBuf::new, ToOwned::to_owned))
    }
}

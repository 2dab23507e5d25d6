//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::Parser;
pub use shared::cli::Emit;
use shared::cli::{self, Running};

/// Says when a question for a person appears, and when it is answered or gone
#[derive(Debug, Parser)]
#[command(name = "gate-watch", version, args_override_self = true)]
pub struct Args {
    /// The folder that is watched; nothing is written there [default: .agent-atelier]
    #[arg(long, value_name = "DIR", value_parser = cli::path())]
    pub state_dir: Option<PathBuf>,
    /// Look at least this often
    #[arg(
        long,
        visible_alias = "interval",
        value_name = "D",
        default_value = "10s",
        value_parser = cli::span(Duration::from_millis(50), Duration::from_hours(24))
    )]
    pub poll_interval: Duration,
    /// Tell the gates that are open at the start, too
    #[arg(long)]
    pub emit_current: bool,
    /// Tell once of each gate that stays open this long
    #[arg(
        long,
        value_name = "D",
        value_parser = cli::span(Duration::from_secs(1), Duration::from_hours(8784))
    )]
    pub warn_after: Option<Duration>,
    /// Remember in FILE what was said, and tell the difference at the next start
    #[arg(long, value_name = "FILE", value_parser = cli::path())]
    pub cursor: Option<PathBuf>,
    /// Print changes, or all that holds at every look
    #[arg(long, value_name = "WHAT", default_value = "events")]
    pub emit: Emit,
    /// The flags that many programs take.
    #[command(flatten)]
    pub running: Running,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn flags_are_documented() {
        ::tests::documented(Args::command());
    }

    #[test]
    fn of_a_flag_given_twice_the_last_counts() {
        let args =
            Args::try_parse_from(["gate-watch", "--interval", "1", "--poll-interval=08"]).unwrap();
        assert_eq!(args.poll_interval, Duration::from_secs(8));
    }

    #[test]
    fn bad_values_are_refused() {
        for line in [
            ["--state-dir", ""],
            ["--state-dir=-x", "--once"],
            ["--cursor", ""],
            ["--poll-interval", "0"],
            ["--poll-interval", "0.04"],
            ["--poll-interval", "86401"],
            ["--warn-after", "0.5"],
            ["--warn-after", "8785h"],
            ["--emit", "x"],
            ["--once", "positional"],
            ["--unknown", "x"],
        ] {
            let parsed = Args::try_parse_from(["gate-watch"].into_iter().chain(line));
            assert!(parsed.is_err(), "{line:?}");
        }
    }
}

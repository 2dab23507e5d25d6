//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::Parser;
pub use shared::cli::Emit;
use shared::cli::{self, Running, span};

use crate::rules::Rules;

/// Emit an event when a work item's lease nears or passes its end, and when that is over
#[derive(Debug, Clone, Parser)]
#[command(name = "heartbeat-watch", version, args_override_self = true)]
pub struct Args {
    /// The folder that holds work-items.json; nothing is written there [default: .agent-atelier]
    #[arg(long, value_name = "DIR", value_parser = cli::path())]
    pub state_dir: Option<PathBuf>,
    /// Look at least this often
    #[arg(long, value_name = "D", visible_alias = "interval", default_value = "60s", value_parser = span(Duration::from_millis(50), DAY))]
    pub poll_interval: Duration,
    /// Warn when less than this is left
    #[arg(long, value_name = "D", default_value = "600s", value_parser = span(Duration::from_secs(1), DAY * 30))]
    pub warn_before: Duration,
    /// Call a lease expired only this long after its end
    #[arg(long, value_name = "D", value_parser = span(Duration::from_millis(1), DAY))]
    pub grace: Option<Duration>,
    /// Tell a lease that moved and is near its end still
    #[arg(long)]
    pub emit_renewals: bool,
    /// Don't tell what is over
    #[arg(long)]
    pub no_recovered: bool,
    /// Tell changes, or after each look all that holds
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Emit::Events)]
    pub emit: Emit,
    /// Remember in FILE what was said, so that the next run tells the difference
    #[arg(long, value_name = "FILE", value_parser = cli::path())]
    pub cursor: Option<PathBuf>,
    /// How it runs.
    #[command(flatten)]
    pub running: Running,
}

const DAY: Duration = Duration::from_hours(24);

impl Args {
    /// What they say about judging.
    #[must_use]
    pub fn rules(&self) -> Rules {
        Rules {
            warn_before: self.warn_before,
            grace: self.grace.unwrap_or_default(),
            poll_interval: self.poll_interval,
            emit_renewals: self.emit_renewals,
            tell_recovered: !self.no_recovered,
            patient: !self.running.once,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parse(line: &[&str]) -> Result<Args, clap::Error> {
        Args::try_parse_from(["heartbeat-watch"].iter().chain(line))
    }

    #[test]
    fn flags_are_documented() {
        ::tests::documented(Args::command());
    }

    #[test]
    fn the_defaults_are_those_of_the_page() {
        let args = parse(&[]).unwrap();
        assert_eq!(args.poll_interval, Duration::from_mins(1));
        let rules = args.rules();
        assert_eq!((rules.warn_before, rules.grace), (Duration::from_mins(10), Duration::ZERO));
        assert!(rules.tell_recovered && !rules.emit_renewals && rules.patient);
        assert_eq!((args.state_dir, args.cursor, args.emit), (None, None, Emit::Events));
    }

    #[test]
    fn h22_good_values_are_accepted_and_the_last_counts() {
        for (text, millis) in
            [("1.5", 1_500), ("08", 8_000), ("2m", 120_000), ("0.05", 50), ("24h", 86_400_000)]
        {
            let args = parse(&["--interval=7", "--poll-interval", text]).unwrap();
            assert_eq!(args.poll_interval, Duration::from_millis(millis));
        }
        assert!(parse(&["--warn-before", "720h", "--grace=86400"]).is_ok());
    }
}

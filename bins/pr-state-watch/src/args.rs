//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::{Parser, ValueEnum};
use github::target::{self, Given, Slug};
pub use shared::cli::Emit;
use shared::cli::{Running, path, span};

/// Say when the state of pull requests changes, and end when all are merged or closed
#[derive(Debug, Clone, Parser)]
#[command(name = "pr-state-watch", version, args_override_self = true)]
pub struct Args {
    /// The pull requests, by number or address
    #[arg(value_name = "N|URL", required = true, value_parser = target::pull)]
    pub targets: Vec<Given>,
    /// The repository, as [HOST/]OWNER/NAME [default: `GH_REPO`, or the work tree's]
    #[arg(long, value_name = "REPO", value_parser = target::slug)]
    pub repo: Option<Slug>,
    /// How often to ask
    #[arg(long, visible_alias = "interval", value_name = "D", default_value = "60s",
          value_parser = span(SHORTEST, DAY))]
    pub poll_interval: Duration,
    /// Say also what stands in the way of a merge, and when nothing does
    #[arg(long)]
    pub ready: bool,
    /// A check that is expected to fail, by its name or `WORKFLOW / NAME`; may be given several times
    #[arg(long, value_name = "NAME")]
    pub known_red: Vec<String>,
    /// Print `events`: changes; or `readings`: all that holds, at each look
    #[arg(long, value_name = "WHAT", default_value = "events", hide_possible_values = true)]
    pub emit: Emit,
    /// Print `ndjson`, or `text`: one short line per change of state
    #[arg(long, value_name = "FORM", default_value = "ndjson", hide_possible_values = true)]
    pub format: Format,
    /// Remember in FILE what was said, for the next run
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub cursor: Option<PathBuf>,
    /// Where programs share when GitHub wants to be left alone [default: the state folder]
    #[arg(long, value_name = "DIR", value_parser = path())]
    pub store: Option<PathBuf>,
    /// How it is run
    #[command(flatten)]
    pub running: Running,
}

/// In which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One JSON object per line.
    Ndjson,
    /// `PR#729 OPEN review=NONE`.
    Text,
}

impl Args {
    /// Whether more is asked for than the state and the reviewers' decision.
    #[must_use]
    pub fn wants_conditions(&self) -> bool {
        self.ready || self.emit == Emit::Readings
    }
}

const SHORTEST: Duration = Duration::from_millis(50);
const DAY: Duration = Duration::from_hours(24);

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn flags_are_documented() {
        ::tests::documented(Args::command());
    }

    fn parse(args: &[&str]) -> Result<Args, clap::Error> {
        Args::try_parse_from(std::iter::once(&"pr-state-watch").chain(args))
    }

    #[test]
    fn pull_requests_are_named_by_number_or_address() {
        let args = parse(&["1", "https://github.com/o/n/pull/2", "--ready"]).unwrap();
        assert_eq!((args.targets.len(), args.ready), (2, true));
        assert_eq!(args.poll_interval, Duration::from_mins(1));
        for bad in [
            &[][..],
            &["0"],
            &["x"],
            &["https://github.com/o/n/pull/2/files"],
            &["https://github.com/o/n/issues/2"],
            &["1", "--poll-interval=0"],
            &["1", "--emit=all"],
            &["1", "--format=xml"],
            &["1", "--repo=o"],
        ] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}

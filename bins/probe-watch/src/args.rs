//! The command line.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::Parser;
pub use shared::cli::Emit;
use shared::cli::{Running, path, span};

/// Say what a probe sees of its subjects, and end when all have ended
#[derive(Debug, Clone, Parser)]
#[command(name = "probe-watch", version, args_override_self = true)]
pub struct Args {
    /// The subjects, as the probe knows them: 1 to 1000
    #[arg(value_name = "TARGET", required = true, num_args = 1..=1000)]
    pub targets: Vec<String>,
    /// The probe: a path, or a name on `PATH`
    #[arg(long, value_name = "CMD", required = true)]
    pub probe: OsString,
    /// What to wait for, of what the probe knows [default: the first it knows]
    #[arg(long, value_name = "NAME")]
    pub objective: Option<String>,
    /// An option of the probe; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, action = clap::ArgAction::Append)]
    pub set: Vec<(String, String)>,
    /// Print `events`: changes; or `readings`: all that holds, at each look
    #[arg(long, value_name = "WHAT", default_value = "events", hide_possible_values = true)]
    pub emit: Emit,
    /// How long after the end of a look the next one begins, from what the probe allows to 24h
    #[arg(long, visible_alias = "interval", value_name = "D", default_value = "300s",
          value_parser = span(MS, CENTURY))]
    pub poll_interval: Duration,
    /// How long the probe may take for one look [default: what it says of itself]
    #[arg(long, value_name = "D", value_parser = span(Duration::from_millis(50), CALL))]
    pub call_timeout: Option<Duration>,
    /// How many looks may be under way at once
    #[arg(long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: u16,
    /// The longest pause after looks that failed
    #[arg(long, value_name = "D", default_value = "6h", value_parser = span(SECOND, MONTH))]
    pub max_backoff: Duration,
    /// Go on with a subject whose look failed in a way that doesn't heal
    #[arg(long)]
    pub keep_going: bool,
    /// Look once, and name every rule of the protocol that the probe breaks
    #[arg(long, conflicts_with_all = ["once", "wait", "emit", "cursor"])]
    pub check: bool,
    /// Remember in FILE what was said, for the next run
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub cursor: Option<PathBuf>,
    /// Where programs share what wants to be left alone [default: the state folder]
    #[arg(long, value_name = "DIR", value_parser = path())]
    pub store: Option<PathBuf>,
    /// How it is run
    #[command(flatten)]
    pub running: Running,
}

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const CALL: Duration = Duration::from_mins(5);
const MONTH: Duration = Duration::from_hours(24 * 30);
/// The range of the interval depends on the probe, and is checked when that is known.
const CENTURY: Duration = Duration::from_hours(24 * 36_525);

fn assignment(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("must be NAME=VALUE"),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn flags_are_documented() {
        ::tests::documented(Args::command());
    }

    fn parse(args: &[&str]) -> Result<Args, clap::Error> {
        Args::try_parse_from(["probe-watch"].iter().chain(args))
    }

    #[test]
    fn options_of_the_probe_add_up_and_other_flags_are_overridden() {
        let args =
            parse(&["--probe=p", "--set=a=1", "--set", "b=x=y", "--jobs=2", "--jobs=3", "t"]);
        let args = args.unwrap();
        let set = [("a", "1"), ("b", "x=y")].map(|(name, value)| (name.into(), value.into()));
        assert_eq!((args.set, args.jobs), (set.to_vec(), 3));
    }

    #[test]
    fn bad_lines_are_refused() {
        for bad in [
            &["t"][..],
            &["--probe=p"],
            &["--probe=p", "t", "--set=a"],
            &["--probe=p", "t", "--set==1"],
            &["--probe=p", "t", "--jobs=0"],
            &["--probe=p", "t", "--emit=all"],
            &["--probe=p", "t", "--call-timeout=301"],
            &["--probe=p", "t", "--poll-interval=0"],
            &["--probe=p", "t", "--check", "--once"],
        ] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
        let many: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
        let many: Vec<&str> = ["--probe=p"].into_iter().chain(many.iter().map(|n| &**n)).collect();
        assert!(parse(&many).is_err() && parse(&many[..1001]).is_ok());
    }
}

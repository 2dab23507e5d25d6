//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::Parser;
pub use shared::cli::Emit;
use shared::cli::{Running, path, span};

use crate::git;

/// Say when a checkout has fallen behind its base branch on the remote
#[derive(Debug, Clone, Parser)]
#[command(name = "branch-divergence", version, args_override_self = true)]
pub struct Args {
    /// The branch to compare with; `auto`: the remote's own choice
    #[arg(long, value_name = "B", default_value = "main", value_parser = base)]
    pub base: Base,
    /// How often to ask the remote
    #[arg(long, visible_alias = "interval", value_name = "D", default_value = "300s",
          value_parser = span(SECOND, DAY))]
    pub poll_interval: Duration,
    /// From how many missing commits on to say so; from three times as many on it is critical
    #[arg(long, value_name = "N", default_value = "5", value_parser = count)]
    pub threshold: u64,
    /// By how much the count must have moved to be said again
    #[arg(long, value_name = "N", default_value = "1", value_parser = count)]
    pub step: u64,
    /// The remote to ask [default: origin, or the only one there is]
    #[arg(long, value_name = "NAME", value_parser = remote)]
    pub remote: Option<String>,
    /// The checkout to watch [default: the current folder]
    #[arg(short = 'C', value_name = "DIR", value_parser = path())]
    pub dir: Option<PathBuf>,
    /// How long a call to the remote may take
    #[arg(long, value_name = "D", default_value = "60s", value_parser = span(SECOND, HOUR))]
    pub fetch_timeout: Duration,
    /// Say whether a merge with the base would conflict (git 2.38 or newer)
    #[arg(long)]
    pub conflicts: bool,
    /// Remember in FILE what was said, for the next run
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub cursor: Option<PathBuf>,
    /// Print `events`: changes; or `readings`: all that holds, at each look
    #[arg(long, value_name = "WHAT", default_value = "events", hide_possible_values = true)]
    pub emit: Emit,
    /// How it is run
    #[command(flatten)]
    pub running: Running,
}

/// The branch to compare with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// The one of this name.
    Named(String),
    /// The remote's HEAD, else the first usual name that it has.
    Auto,
}

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// The most of `--threshold` and `--step`.
const MOST: u64 = 1_000_000;

fn base(text: &str) -> Result<Base, String> {
    match text {
        "auto" => Ok(Base::Auto),
        name if git::is_branch_name(name) => Ok(Base::Named(name.to_owned())),
        _ => Err("must be the name of a branch (no blank and none of : ^ ~ + ? * [ \\ .. @{, \
                  and not beginning with -), or auto"
            .to_owned()),
    }
}

fn count(text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| digits && (1..=MOST).contains(number));
    number.ok_or_else(|| format!("must be a whole number from 1 to {MOST}"))
}

fn remote(text: &str) -> Result<String, String> {
    if text.is_empty() || text.starts_with('-') {
        return Err("must be the name of a configured remote".to_owned());
    }
    Ok(text.to_owned())
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
    fn d16_numbers_and_durations_have_ranges() {
        let parse = |flag: &str, value: &str| {
            Args::try_parse_from(["branch-divergence", flag, value]).is_ok()
        };
        for (flag, value) in [
            ("--interval", "0"),
            ("--interval", "x"),
            ("--interval", "0.5"),
            ("--interval", "86401"),
            ("--threshold", "0"),
            ("--threshold", "1000001"),
            ("--threshold", "+5"),
            ("--threshold", "5x"),
            ("--threshold", ""),
            ("--step", "0"),
            ("--fetch-timeout", "0.9"),
            ("--fetch-timeout", "3601"),
            ("--emit", "all"),
            ("--remote", ""),
            ("--cursor", ""),
            ("-C", ""),
        ] {
            assert!(!parse(flag, value), "{flag} {value}");
        }
        for (flag, value) in [
            ("--threshold", "08"),
            ("--interval", "08"),
            ("--interval", "1"),
            ("--poll-interval", "1.5"),
            ("--interval", "24h"),
            ("--step", "1000000"),
            ("--fetch-timeout", "1h"),
            ("--emit", "readings"),
        ] {
            assert!(parse(flag, value), "{flag} {value}");
        }
    }

    #[test]
    fn of_a_flag_given_twice_the_last_counts() {
        let line =
            ["branch-divergence", "--base", "a", "--base=b", "--interval=2", "--interval", "3"];
        let args = Args::try_parse_from(line).unwrap();
        assert_eq!(args.base, Base::Named("b".to_owned()));
        assert_eq!(args.poll_interval, Duration::from_secs(3));
        assert_eq!((args.threshold, args.step), (5, 1));
    }

    #[test]
    fn d07_a_base_is_a_branch_name_or_auto() {
        for bad in ["--upload-pack=touch x", "main:refs/heads/evil", "", "a b", "-x", "HEAD@{1}"] {
            assert!(base(bad).is_err(), "{bad}");
        }
        assert_eq!(base("auto"), Ok(Base::Auto));
        assert_eq!(base("feature/x.y"), Ok(Base::Named("feature/x.y".to_owned())));
    }
}

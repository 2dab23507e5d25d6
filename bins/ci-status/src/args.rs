//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::{ArgGroup, Parser};
use github::target::{self, Given, Slug};
use shared::cli::{Running, path, span};

/// Say what the checks of runs, pull requests or commits come to, and end when all are decided
#[derive(Debug, Clone, Parser)]
#[command(name = "ci-status", version, args_override_self = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(group = ArgGroup::new("targets").required(true).args(["run_id", "pr", "commit"]))]
pub struct Args {
    /// A workflow run, by id or address; may be given several times
    #[arg(long, value_name = "ID", value_parser = target::run)]
    pub run_id: Vec<Given>,
    /// A pull request, by number or address; may be given several times
    #[arg(long, value_name = "N", value_parser = target::pull)]
    pub pr: Vec<Given>,
    /// A commit, by its 40 digits or address; may be given several times
    #[arg(long, value_name = "SHA", value_parser = target::commit)]
    pub commit: Vec<Given>,
    /// The repository, as [HOST/]OWNER/NAME [default: `GH_REPO`, or the work tree's]
    #[arg(long, value_name = "REPO", value_parser = target::slug)]
    pub repo: Option<Slug>,
    /// How often to ask [default: 15s for runs, 30s for the others]
    #[arg(long, visible_alias = "interval", value_name = "D", value_parser = span(SHORTEST, DAY))]
    pub poll_interval: Option<Duration>,
    /// Judge the checks that the base branch requires, and no others
    #[arg(long, conflicts_with_all = ["run_id", "commit"])]
    pub required: bool,
    /// How long the set of checks must stand before it can be a success; 0: not at all
    #[arg(long, value_name = "D", default_value = "20s", value_parser = span(Duration::ZERO, DAY))]
    pub settle: Duration,
    /// End at the first failure, though others still run: the default
    #[arg(long, overrides_with = "wait_all")]
    pub fail_fast: bool,
    /// Wait for the other checks when one has failed
    #[arg(long, overrides_with = "fail_fast")]
    pub wait_all: bool,
    /// How long to wait for a first check
    #[arg(long, value_name = "D", default_value = "120s", value_parser = span(Duration::ZERO, DAY))]
    pub no_checks_grace: Duration,
    /// Call it a success when there is none
    #[arg(long)]
    pub allow_no_checks: bool,
    /// End when the pull request gets another head, instead of starting over
    #[arg(long)]
    pub pin_head: bool,
    /// Give up after this long, with a line that says so
    #[arg(long, value_name = "D", value_parser = span(SHORTEST, YEAR))]
    pub deadline: Option<Duration>,
    /// Say by the exit code what it came to: 0 success, 10 to 17 else
    #[arg(long)]
    pub exit_code: bool,
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

impl Args {
    /// How often to ask.
    #[must_use]
    pub fn interval(&self) -> Duration {
        let usual = if self.run_id.is_empty() { USUAL } else { USUAL_OF_RUNS };
        self.poll_interval.unwrap_or(usual)
    }

    /// What is to be watched, as it was given.
    pub fn targets(&self) -> impl Iterator<Item = &Given> {
        self.run_id.iter().chain(&self.pr).chain(&self.commit)
    }
}

const USUAL: Duration = Duration::from_secs(30);
const USUAL_OF_RUNS: Duration = Duration::from_secs(15);
const SHORTEST: Duration = Duration::from_millis(50);
const DAY: Duration = Duration::from_hours(24);
const YEAR: Duration = Duration::from_hours(366 * 24);

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn flags_are_documented() {
        ::tests::documented(Args::command());
    }

    fn parse(args: &[&str]) -> Result<Args, clap::Error> {
        Args::try_parse_from(std::iter::once(&"ci-status").chain(args))
    }

    #[test]
    fn one_kind_of_target_is_required_and_repeats() {
        assert_eq!(parse(&["--pr", "1", "--pr=2"]).unwrap().targets().count(), 2);
        assert_eq!(parse(&["--run-id=7"]).unwrap().interval(), Duration::from_secs(15));
        assert_eq!(parse(&["--pr=7"]).unwrap().interval(), Duration::from_secs(30));
        let zero = parse(&["--pr=7", "--settle=0", "--no-checks-grace", "0"]).unwrap();
        assert_eq!((zero.settle, zero.no_checks_grace), (Duration::ZERO, Duration::ZERO));
        for bad in [
            &[][..],
            &["--pr", "1", "--run-id", "2"],
            &["--pr", "x"],
            &["--pr", "042"],
            &["--run-id", "https://github.com/o/n/actions/runs/1/attempts/2"],
            &["--run-id", "https://github.com/o/n/actions/runs/1/job/9"],
            &["--commit", "HEAD"],
            &["--run-id", "1", "--required"],
            &["--pr", "1", "--repo", "n"],
            &["--pr", "1", "--poll-interval", "0"],
            &["--pr", "1", "--settle", "-1"],
            &["--pr", "1", "extra"],
        ] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn of_two_that_exclude_each_other_the_last_counts() {
        let both = parse(&["--pr=1", "--wait-all", "--fail-fast"]).unwrap();
        assert!(both.fail_fast && !both.wait_all);
        assert!(parse(&["--pr=1", "--fail-fast", "--wait-all"]).unwrap().wait_all);
    }
}

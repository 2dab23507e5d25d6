//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::Parser;
use shared::{
    cli::{self, Running},
    tail::Start,
};

/// Passes on the complete lines that are appended to the journal of the state
#[derive(Debug, Parser)]
#[command(name = "event-tail", version, args_override_self = true)]
pub struct Args {
    /// The folder that is watched; nothing is written there [default: .agent-atelier]
    #[arg(long, value_name = "DIR", value_parser = cli::path())]
    pub state_dir: Option<PathBuf>,
    /// Pass only lines whose top-level `event` is TYPE; may be given several times
    #[arg(long, value_name = "TYPE", value_parser = event_type)]
    pub filter: Vec<String>,
    /// Read the journal from its beginning, instead of only what comes
    #[arg(long, conflicts_with = "lines")]
    pub from_start: bool,
    /// Read the last N lines that are there, then what comes
    #[arg(long, value_name = "N", value_parser = lines)]
    pub lines: Option<u64>,
    /// Skip and count lines longer than this
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = max_line)]
    pub max_line: usize,
    /// Look at least this often
    #[arg(
        long,
        visible_alias = "interval",
        value_name = "D",
        default_value = "5s",
        value_parser = cli::span(Duration::from_millis(50), Duration::from_hours(24))
    )]
    pub poll_interval: Duration,
    /// Remember in FILE how far the journal was read, and go on there at the next start
    #[arg(long, value_name = "FILE", value_parser = cli::path())]
    pub cursor: Option<PathBuf>,
    /// The flags that many programs take.
    #[command(flatten)]
    pub running: Running,
}

impl Args {
    /// Where a journal that is there at the start is read from, without a cursor.
    #[must_use]
    pub fn start(&self) -> Start {
        if self.from_start { Start::Beginning } else { Start::Lines(self.lines.unwrap_or(0)) }
    }
}

fn event_type(text: &str) -> Result<String, String> {
    if text.starts_with('-') {
        return Err("must not begin with a hyphen".to_owned());
    }
    Ok(text.to_owned())
}

fn lines(text: &str) -> Result<u64, String> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_digits.then(|| text.parse().ok()).flatten();
    number
        .filter(|number| *number <= 1_000_000)
        .ok_or_else(|| "must be a whole number from 0 to 1000000".to_owned())
}

fn max_line(text: &str) -> Result<usize, String> {
    cli::size(text)
        .filter(|size| (4 << 10..=64 << 20).contains(size))
        .and_then(|size| usize::try_from(size).ok())
        .ok_or_else(|| "must be 4K to 64M: bytes, or a number with K or M".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parse(line: &[&str]) -> Result<Args, clap::Error> {
        Args::try_parse_from(["event-tail"].iter().chain(line))
    }

    #[test]
    fn flags_are_documented() {
        ::tests::documented(Args::command());
    }

    #[test]
    fn only_filters_add_up() {
        let args = parse(&[
            "--filter",
            "a",
            "--filter=b",
            "--filter",
            "",
            "--interval",
            "1",
            "--poll-interval=08",
            "--lines",
            "3",
            "--lines",
            "007",
            "--max-line",
            "4k",
            "--max-line",
            "2M",
        ]);
        let args = args.unwrap();
        assert_eq!(args.filter, ["a", "b", ""]);
        assert_eq!(args.poll_interval, Duration::from_secs(8));
        assert_eq!((args.start(), args.max_line), (Start::Lines(7), 2 << 20));
        assert_eq!(parse(&["--from-start"]).unwrap().start(), Start::Beginning);
        assert_eq!(parse(&[]).unwrap().start(), Start::Lines(0));
    }

    #[test]
    fn t17_bad_lines_are_refused() {
        for line in [
            &["--filter"][..],
            &["--filter", "--once"],
            &["--filter=-x"],
            &["--lines", "-1"],
            &["--lines=+1"],
            &["--lines", "1000001"],
            &["--lines", "2", "--from-start"],
            &["--max-line", "1"],
            &["--max-line", "65M"],
            &["--poll-interval", "0"],
            &["--state-dir", ""],
            &["--state-dir=-x"],
            &["--cursor", ""],
            &["--once", "positional"],
            &["--emit", "readings"],
            &["--unknown"],
        ] {
            assert!(parse(line).is_err(), "{line:?}");
        }
    }
}

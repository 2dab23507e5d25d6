//! The command line.

use std::{path::PathBuf, time::Duration};

use clap::{
    Parser, ValueEnum,
    builder::{PathBufValueParser, TypedValueParser as _},
};
use shared::cli::{self, Running};

use crate::names::Route;

/// How many more names one seat can have.
pub const MOST_ALIASES: usize = 15;

/// Says which lines of shared Markdown boards are addressed to one listener
#[derive(Debug, Parser)]
#[command(name = "collab-tail", version, args_override_self = true)]
pub struct Args {
    /// Whose mail: a name, with or without `@`, in either case
    #[arg(value_name = "@LISTENER", value_parser = name)]
    pub listener: String,
    /// The boards; one that isn't there yet is waited for
    #[arg(value_name = "FILE", required = true, value_parser = path())]
    pub boards: Vec<PathBuf>,
    /// Another name of the same seat; up to 15
    #[arg(long = "alias", value_name = "@NAME", value_parser = name, action = clap::ArgAction::Append)]
    pub aliases: Vec<String>,
    /// What counts as addressed: routed headings and direct lines, or mentions too
    #[arg(long, value_name = "MODE", default_value = "strict")]
    pub route: Route,
    /// Print the listener's own posts, or only remember them [default: emit; with bounded: drop]
    #[arg(long = "self", value_name = "WHAT")]
    pub own: Option<Own>,
    /// Whether an equal heading that comes once more is told once more
    #[arg(long, value_name = "WHAT", default_value = "none")]
    pub repeats: Repeats,
    /// Deliver a board that wasn't read before, instead of taking it as history
    #[arg(long)]
    pub unread: bool,
    /// What is printed: events, or the older tool's records
    #[arg(long, value_name = "FORMAT", default_value = "ndjson")]
    pub format: Format,
    /// Look at least this often
    #[arg(
        long,
        visible_alias = "interval",
        value_name = "D",
        default_value = "25s",
        value_parser = cli::span(Duration::from_millis(10), Duration::from_hours(168))
    )]
    pub poll_interval: Duration,
    /// Where this and other programs keep their state
    #[arg(long, value_name = "DIR", value_parser = path())]
    pub store: Option<PathBuf>,
    /// Take over the older tool's folder of this listener, once
    #[arg(long, value_name = "DIR", value_parser = path())]
    pub import: Option<PathBuf>,
    /// The flags that many programs take.
    #[command(flatten)]
    pub running: Running,
}

/// What becomes of the listener's own posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Own {
    /// They are printed.
    Emit,
    /// They are remembered without a word.
    Drop,
}

/// What an equal line is that comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Repeats {
    /// Nothing new.
    None,
    /// News, if it is a heading and its board holds one more of it than ever.
    Heading,
}

/// How events are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// As NDJSON.
    Ndjson,
    /// As the older tool's records.
    Text,
}

impl Args {
    /// What becomes of the listener's own posts.
    #[must_use]
    pub fn drops_own(&self) -> bool {
        self.own.unwrap_or(match self.route {
            Route::Strict => Own::Emit,
            Route::Bounded => Own::Drop,
        }) == Own::Drop
    }

    /// Whether the beginning and the end of the watch are told.
    #[must_use]
    pub fn announces(&self) -> bool {
        self.running.announce || !(self.running.no_announce || self.running.once)
    }
}

/// A name, without the `@` that may stand before it.
fn name(text: &str) -> Result<String, String> {
    cli::name(text.strip_prefix('@').unwrap_or(text))
}

/// A path that isn't empty.
fn path() -> impl clap::builder::TypedValueParser<Value = PathBuf> {
    let named = |path: PathBuf| (!path.as_os_str().is_empty()).then_some(path);
    PathBufValueParser::new().try_map(move |path| named(path).ok_or("must not be empty"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &[&str]) -> Result<Args, clap::Error> {
        Args::try_parse_from([&["collab-tail"], line].concat())
    }

    #[test]
    fn flags_are_documented() {
        ::tests::documented(<Args as clap::CommandFactory>::command());
    }

    #[test]
    fn flags_stand_anywhere_and_a_double_hyphen_ends_them() {
        let args = parse(&["--unread", "@LEAD", "a.md", "--self=drop", "--", "-x"]).unwrap();
        assert_eq!((args.listener.as_str(), args.boards.len()), ("LEAD", 2));
        assert!(args.unread && args.drops_own() && args.announces());
    }

    #[test]
    fn own_posts_are_dropped_in_bounded_unless_wanted() {
        for (line, drops) in [
            (&["l", "f"][..], false),
            (&["l", "f", "--route", "bounded"], true),
            (&["l", "f", "--route", "bounded", "--self", "emit"], false),
            (&["l", "f", "--self", "drop"], true),
        ] {
            assert_eq!(parse(line).unwrap().drops_own(), drops, "{line:?}");
        }
    }

    #[test]
    fn bad_lines_are_refused() {
        for line in [
            &["@", "f"][..],
            &["@@x", "f"],
            &[".", "f"],
            &["..", "f"],
            &["@é", "f"],
            &["@a b", "f"],
            &["@a/b", "f"],
            &["@-x", "f"],
            &["@l"],
            &[],
            &["@l", ""],
            &["@l", "f", "--unknown"],
            &["--unknown", "@l", "f"],
            &["@l", "f", "--route", "x"],
            &["@l", "f", "--poll-interval", "0.009"],
            &["@l", "f", "--poll-interval", "169h"],
            &["@l", "f", "--alias", "@@x"],
            &["@l", "f", "--repeats", "all"],
            &["@l", "f", "--format", "json"],
            &["@l", "f", "--self", "keep"],
        ] {
            assert!(parse(line).is_err(), "{line:?}");
        }
        assert!(parse(&["@l", "f", "--poll-interval", "0.01"]).is_ok());
    }
}

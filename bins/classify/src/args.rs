//! The command line.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, path::PathBuf, time::Duration};

use clap::{
    Parser,
    builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser},
};
use shared::cli;

use shared::exit::Error;

use crate::{
    audience::{Audience, Format, Share},
    rules::Urgency,
};

/// Says of every event that passes through how soon a reader must act.
#[derive(Debug, Clone, Parser)]
#[command(name = "classify", version, args_override_self = true)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Args {
    /// Leave out events below this urgency, but never a `reading`
    #[arg(long, value_name = "URGENCY", default_value = "info", value_parser = urgency_parser())]
    pub min: Urgency,
    /// Whose share of the events passes [default: all]
    #[arg(long, value_name = "WHO", value_parser = audience(), conflicts_with_all = ["report", "print_rules"])]
    pub audience: Option<Audience>,
    /// In which form; the last two imply that audience
    #[arg(long, value_name = "FORMAT", default_value = "ndjson", value_parser = format(), conflicts_with = "print_rules")]
    pub format: Format,
    /// No result path to the consultant while blind
    #[arg(long)]
    pub blind_strict: bool,
    /// With --format lead or consultant: leave out events that the oldest formats have no line for
    #[arg(long)]
    pub seed_only: bool,
    /// Rules to try before the built-in ones
    #[arg(long, value_name = "FILE", value_parser = path_parser())]
    pub rules: Option<PathBuf>,
    /// Print the rules in force, as `--rules` takes them, and exit
    #[arg(long, conflicts_with = "report")]
    pub print_rules: bool,
    /// Read all input, then print one object of all events by urgency
    #[arg(long)]
    pub report: bool,
    /// With --report: the output of `supervise status`, to sort the monitors by
    #[arg(long, value_name = "FILE", requires = "report", value_parser = path_parser())]
    pub status: Option<PathBuf>,
    /// With --report: print nothing when there is nothing to tell
    #[arg(long, requires = "report")]
    pub quiet: bool,
    /// At the end, exit with 10 if anything was immediate (or a monitor is dead), 11 if anything
    /// was a warning (or malformed)
    #[arg(long)]
    pub exit_code: bool,
    /// The longest line that is read: 4K to 64M, powers of 1024
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = max_line)]
    pub max_line: usize,
    /// End cleanly after this long, with a line that says so
    #[arg(long, value_name = "D", value_parser = cli::span(MS, YEAR), conflicts_with_all = ["report", "print_rules"])]
    pub max_runtime: Option<Duration>,
    /// End when this process ends
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub parent_pid: Option<u32>,
    /// The `source` of its own lines, instead of the program's name
    #[arg(long, value_name = "NAME", value_parser = cli::name)]
    pub source: Option<String>,
    /// With --report: a monitor's name and the file of its lines, - for stdin
    #[arg(value_name = "NAME=FILE", requires = "report", value_parser = named_parser())]
    pub inputs: Vec<Named>,
}

const MS: Duration = Duration::from_millis(1);
const YEAR: Duration = Duration::from_hours(366 * 24);

/// `NAME=FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The monitor.
    pub name: String,
    /// The file of its lines; `None` for stdin.
    pub file: Option<PathBuf>,
}

impl Args {
    /// What passes to whom, and how.
    ///
    /// # Errors
    ///
    /// Flags that exclude each other.
    pub fn share(&self) -> Result<Share, Error> {
        let implied = match self.format {
            Format::Ndjson => None,
            Format::Lead => Some(Audience::Lead),
            Format::Consultant => Some(Audience::Consultant),
        };
        if let (Some(implied), Some(asked)) = (implied, self.audience)
            && implied != asked
        {
            return Err(Error::usage(
                "unable to give a format to another audience: leave out --audience, or give the one that --format names",
            ));
        }
        if self.report && implied.is_some() {
            return Err(Error::usage(
                "unable to give --report another format: leave out --format, or give ndjson",
            ));
        }
        if self.seed_only && implied.is_none() {
            return Err(Error::usage(
                "unable to use --seed-only: it needs --format lead or consultant",
            ));
        }
        Ok(Share {
            audience: implied.or(self.audience).unwrap_or_default(),
            format: self.format,
            blind_strict: self.blind_strict,
            seed_only: self.seed_only,
        })
    }
}

fn audience() -> impl TypedValueParser<Value = Audience> {
    PossibleValuesParser::new(["lead", "consultant", "all"]).map(|word| match &*word {
        "lead" => Audience::Lead,
        "consultant" => Audience::Consultant,
        _ => Audience::All,
    })
}

fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(["ndjson", "lead", "consultant"]).map(|word| match &*word {
        "lead" => Format::Lead,
        "consultant" => Format::Consultant,
        _ => Format::Ndjson,
    })
}

fn max_line(text: &str) -> Result<usize, String> {
    let allowed = 4 << 10..=64 << 20;
    let size = cli::size(text).filter(|size| allowed.contains(size));
    size.and_then(|size| usize::try_from(size).ok())
        .ok_or_else(|| "must be 4K to 64M: bytes, or a number with K or M".to_owned())
}

fn urgency_parser() -> impl TypedValueParser<Value = Urgency> {
    PossibleValuesParser::new(["immediate", "warning", "info"])
        .try_map(|word| Urgency::of(&word).ok_or("no such urgency"))
}

fn path_parser() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|text| match text.as_bytes() {
        [] | [b'-', ..] => Err("must be a file, and not begin with -".to_owned()),
        _ => Ok(PathBuf::from(text)),
    })
}

fn named_parser() -> impl TypedValueParser<Value = Named> {
    OsStringValueParser::new().try_map(|text| named(&text))
}

fn named(text: &OsStr) -> Result<Named, String> {
    let mut parts = text.as_bytes().splitn(2, |byte| *byte == b'=');
    let (name, file) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let name =
        cli::name(&String::from_utf8_lossy(name)).map_err(|err| format!("the name {err}"))?;
    let file = match file {
        [] => return Err("must be NAME=FILE, with - for stdin".to_owned()),
        b"-" => None,
        file => Some(PathBuf::from(OsStr::from_bytes(file))),
    };
    Ok(Named { name, file })
}

//! Flags that many programs take, and the parse that ends in our exit codes.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::{
    Arg, Args, Command, Parser, ValueEnum,
    builder::{PathBufValueParser, Resettable, StyledStr, TypedValueParser},
    error::ErrorKind,
};

use crate::exit;

/// The flags by which every source is run.
#[derive(Debug, Clone, Args)]
pub struct Running {
    /// Look once, print what it shows, and exit: 0 if the look was complete, 4 if not
    #[arg(long, conflicts_with_all = ["wait"])]
    pub once: bool,
    /// Wait this long for the first look that gives an event; exit 3 without one
    #[arg(long, value_name = "D", value_parser = span(MS, YEAR))]
    pub wait: Option<Duration>,
    /// End cleanly after this long, with a line that says so
    #[arg(long, value_name = "D", value_parser = span(MS, YEAR))]
    pub max_runtime: Option<Duration>,
    /// Print `monitor_alive` when nothing was printed for this long
    #[arg(long, value_name = "D", value_parser = span(MS, YEAR))]
    pub alive: Option<Duration>,
    /// End when this process ends
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub parent_pid: Option<u32>,
    /// Don't ask the system for changes, only look at every interval
    #[arg(long)]
    pub poll_only: bool,
    /// Say when the watch begins and ends, and what it doesn't cover
    #[arg(long, overrides_with = "no_announce")]
    pub announce: bool,
    /// Don't
    #[arg(long, overrides_with = "announce")]
    pub no_announce: bool,
    /// The `source` of every line, instead of the program's name
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub source: Option<String>,
}

/// What a source prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// What changed.
    Events,
    /// All that holds, once a look, for `wake`.
    Readings,
}

const MS: Duration = Duration::from_millis(1);
const YEAR: Duration = Duration::from_hours(366 * 24);

/// Parses the command line. Help and version exit 0; a bad line exits 1, in one line.
///
/// # Errors
///
/// The exit code, when there is nothing to run.
pub fn parse<T: Parser>(program: &str) -> Result<T, ExitCode> {
    let command = for_a_person(T::command());
    let found = command.try_get_matches();
    found.and_then(|mut found| T::from_arg_matches_mut(&mut found)).map_err(|err| {
        if !err.use_stderr() {
            // Printing can only fail when the stream is gone, and then no one is reading.
            let _ = err.print();
            return ExitCode::SUCCESS;
        }
        let text = match err.kind() {
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                "a command is missing".to_owned()
            }
            _ => err.render().to_string(),
        };
        let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
        let cause = lines.collect::<Vec<_>>().join(" ");
        let cause = cause.strip_prefix("error: ").unwrap_or(&cause);
        let message = format!("unable to read the command line: {cause} (see {program} --help)");
        exit::report(program, Err(exit::Error::usage(message)))
    })
}

/// A value below zero is one out of range, which its parser says, and no flag that nobody knows.
/// Help has no marks of code: they are there for the documentation.
fn for_a_person(command: Command) -> Command {
    let plain = |text: Option<&StyledStr>| {
        let text = text.map(|text| text.to_string().replace('`', ""));
        Resettable::from(text.map(StyledStr::from))
    };
    let (about, long_about) = (plain(command.get_about()), plain(command.get_long_about()));
    let fit = |arg: Arg| {
        let (help, long_help) = (plain(arg.get_help()), plain(arg.get_long_help()));
        let takes_value = arg.get_action().takes_values() && !arg.is_positional();
        let arg = if takes_value { arg.allow_negative_numbers(true) } else { arg };
        arg.help(help).long_help(long_help)
    };
    command.about(about).long_about(long_about).mut_args(fit).mut_subcommands(for_a_person)
}

/// A parser for durations between `least` and `most`: `90`, `1.5`, `30s`, `5m`, `2h`.
pub fn span(
    least: Duration,
    most: Duration,
) -> impl Fn(&str) -> Result<Duration, String> + Clone + Send + Sync + 'static {
    move |text| {
        duration(text).filter(|found| (least..=most).contains(found)).ok_or_else(|| {
            format!(
                "must be {} to {} seconds, or a number with s, m or h",
                least.as_secs_f64(),
                most.as_secs_f64()
            )
        })
    }
}

/// Decimal digits, at most one point among them, and a unit or none.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = match text.as_bytes().last()? {
        b's' => (&text[..text.len() - 1], 1.0),
        b'm' => (&text[..text.len() - 1], 60.0),
        b'h' => (&text[..text.len() - 1], 3600.0),
        _ => (text, 1.0),
    };
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit).ok()
}

/// A size in bytes: digits, then nothing, `K`, `M` or `G` (powers of 1024).
#[must_use]
pub fn size(text: &str) -> Option<u64> {
    let (number, shift) = match text.as_bytes().last()? {
        b'K' | b'k' => (&text[..text.len() - 1], 10),
        b'M' | b'm' => (&text[..text.len() - 1], 20),
        b'G' | b'g' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let is_digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_digits.then(|| number.parse::<u64>().ok()?.checked_mul(1 << shift)).flatten()
}

/// A name given by a user: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
///
/// # Errors
///
/// What is allowed.
pub fn name(text: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if first && text.len() <= 64 && text.bytes().all(fits) {
        return Ok(text.to_owned());
    }
    Err("must be 1 to 64 letters, digits, dots, underscores and hyphens, and begin with a letter or digit".to_owned())
}

/// A parser for paths. One that is empty or begins with `-` is a flag that lost its value.
#[must_use]
pub fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str().as_encoded_bytes().first() {
        None => Err("must not be empty"),
        Some(b'-') => Err("must not begin with a hyphen (./- does not)"),
        Some(_) => Ok(path),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_seconds_or_have_a_unit() {
        let parse = span(Duration::from_millis(50), Duration::from_hours(24));
        for (text, millis) in [
            ("90", 90_000),
            ("1.5", 1_500),
            ("08", 8_000),
            ("30s", 30_000),
            ("5m", 300_000),
            ("0.05", 50),
            ("24h", 86_400_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        let digits = "9".repeat(400);
        for text in [
            "", "0", "-1", "+1", "abc", "1e3", "NaN", "inf", ".5", "5.", "1 s", "25h", "s", "1d",
            "é", &digits,
        ] {
            let err = parse(text).unwrap_err();
            assert!(err.contains("0.05 to 86400"), "{text}: {err}");
        }
    }

    #[test]
    fn sizes_have_powers_of_1024() {
        assert_eq!(size("4K"), Some(4096));
        assert_eq!(size("1M"), Some(1 << 20));
        assert_eq!(size("12"), Some(12));
        for text in ["", "K", "-1", "1.5M", "99999999999999999999", "17179869185G"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn a_command_is_made_fit_for_a_person() {
        let span =
            || Arg::new("span").long("span").value_parser(span(MS, YEAR)).help("Not for $`EVER`");
        let sub = Command::new("sub").arg(span()).about("In `words`");
        let command = for_a_person(Command::new("x").arg(span()).subcommand(sub));
        for line in [&["x", "--span", "-1"][..], &["x", "sub", "--span", "-1.5"]] {
            let err = command.clone().try_get_matches_from(line).unwrap_err().to_string();
            assert!(err.contains("must be 0.001 to"), "{err}");
        }
        let help = command.clone().render_help().to_string();
        assert!(help.contains("Not for $EVER") && help.contains("In words"), "{help}");
    }

    #[test]
    fn names_can_be_file_names() {
        for good in ["a", "A.b_c-9", &"x".repeat(64)] {
            assert_eq!(name(good), Ok(good.to_owned()));
        }
        for bad in ["", ".", "..", "-a", "a b", "a/b", "é", &"x".repeat(65)] {
            assert!(name(bad).is_err(), "{bad}");
        }
    }
}

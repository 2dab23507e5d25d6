//! The command line, and the policy that it asks for.

use std::{path::PathBuf, time::Duration};

use clap::{ArgGroup, Args as Flags, Parser, Subcommand, ValueEnum};
use shared::{
    cli::{self, Running},
    exit::Error,
};

use crate::decide::{self, Ms, Policy};

const MS: Duration = Duration::from_millis(1);
const MONTH: Duration = Duration::from_hours(30 * 24);
const YEAR: Duration = Duration::from_hours(366 * 24);

/// Decides when a reader's turn is worth spending on what the monitors say
#[derive(Debug, Clone, Parser)]
#[command(
    name = "wake",
    version,
    args_override_self = true,
    args_conflicts_with_subcommands = true
)]
pub struct Args {
    /// What to do instead
    #[command(subcommand)]
    pub command: Option<Command>,
    /// How to filter
    #[command(flatten)]
    pub filter: Filter,
}

/// What `wake` does beside filtering.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Say what became of a line
    #[command(args_override_self = true)]
    Ack(Ack),
    /// Print one object that tells how a watch stands
    #[command(args_override_self = true)]
    Status(Status),
}

/// The flags of the filter.
#[derive(Debug, Clone, Flags)]
pub struct Filter {
    /// Remember what was told under this name, over restarts
    #[arg(long, value_name = "NAME", value_parser = cli::name)]
    pub watch: Option<String>,
    /// The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell
    #[arg(long, value_name = "DIR", value_parser = cli::path())]
    pub store: Option<PathBuf>,
    /// The `source` of every line, instead of the program's name
    #[arg(long, value_name = "NAME", value_parser = cli::name)]
    pub source: Option<String>,
    /// When something is told
    #[command(flatten)]
    pub knobs: Knobs,
    /// When a watch or a subject ends
    #[command(flatten)]
    pub bounds: Bounds,
    /// A file of acknowledgements: the next line waits for the answer to the last
    #[arg(long, value_name = "PATH", value_parser = cli::path())]
    pub acks: Option<PathBuf>,
    /// How long an answer is waited for
    #[arg(long, value_name = "D", default_value = "7260s", value_parser = cli::span(MS, MONTH))]
    pub ack_timeout: Duration,
    /// When a busy reader gets its line again
    #[arg(long, value_name = "D", default_value = "15s", value_parser = cli::span(MS, MONTH))]
    pub busy_retry: Duration,
    /// Begin a new watch where the last one ended
    #[arg(long)]
    pub rearm: bool,
    /// Print the quiet verdicts, too
    #[arg(long)]
    pub verbose: bool,
    /// Wait this long for the first line, then end; exit 3 without one
    #[arg(long, value_name = "D", value_parser = cli::span(MS, YEAR))]
    pub wait: Option<Duration>,
    /// End cleanly after this long, with a line that says so
    #[arg(long, value_name = "D", value_parser = cli::span(MS, YEAR))]
    pub max_runtime: Option<Duration>,
    /// Print `monitor_alive` when nothing was printed for this long
    #[arg(long, value_name = "D", value_parser = cli::span(MS, YEAR))]
    pub alive: Option<Duration>,
    /// End when this process ends
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub parent_pid: Option<u32>,
}

/// When something is told.
#[derive(Debug, Clone, Flags)]
pub struct Knobs {
    /// How long an entry waits before its first telling
    #[arg(long, value_name = "D", default_value = "0", value_parser = cli::span(Duration::ZERO, MONTH))]
    pub group_wait: Duration,
    /// The least time from a subject's last line to its next one
    #[arg(long, value_name = "D", default_value = "240s", value_parser = cli::span(Duration::ZERO, MONTH))]
    pub group_interval: Duration,
    /// The most that an entry waits
    #[arg(long, value_name = "D", default_value = "1800s", value_parser = cli::span(MS, MONTH))]
    pub max_wait: Duration,
    /// When what still holds is told again
    #[arg(long, value_name = "D", default_value = "6h", value_parser = cli::span(MS, MONTH))]
    pub repeat_interval: Duration,
    /// Whether entries of a revision wait until nothing of it is pending
    #[arg(long, value_name = "WHETHER", default_value = "on")]
    pub pending_gate: Gate,
    /// How many lines may leave at once, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub burst: u32,
    /// How long it takes until there is room for another line
    #[arg(long, value_name = "D", default_value = "2s", value_parser = cli::span(MS, MONTH))]
    pub refill: Duration,
    /// What a condition that stays as it is leads to
    #[arg(long, value_name = "WHAT", default_value = "warn")]
    pub stall: Stall,
    /// After how many equal looks, at least
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u64).range(1..))]
    pub stall_looks: u64,
    /// And after how long, at least
    #[arg(long, value_name = "D", default_value = "30m", value_parser = cli::span(MS, MONTH))]
    pub stall_after: Duration,
    /// Give a turn after so many quiet looks at a subject all the same
    #[arg(long, value_name = "N", default_value = "off", value_parser = bound("off"))]
    pub floor: Bound,
}

/// When a watch or a subject ends.
#[derive(Debug, Clone, Flags)]
pub struct Bounds {
    /// End a subject after so many looks in a row that did not see it whole
    #[arg(long, value_name = "N", default_value = "unlimited", value_parser = bound("unlimited"))]
    pub max_errors: Bound,
    /// Don't end a subject at an error that cannot heal
    #[arg(long)]
    pub keep_going: bool,
    /// End the watch when it is so old, restarts included
    #[arg(long, value_name = "D", default_value = "unlimited", value_parser = lifetime)]
    pub max_lifetime: Bound,
    /// End the watch when it has printed so many lines
    #[arg(long, value_name = "N", default_value = "unlimited", value_parser = bound("unlimited"))]
    pub max_wakes: Bound,
    /// End the watch when its readers have spent so many tokens; needs --acks
    #[arg(long, value_name = "N", default_value = "unlimited", value_parser = bound("unlimited"))]
    pub max_tokens: Bound,
}

/// A number of at least 1, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound(pub Option<u64>);

/// Whether.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Gate {
    /// They wait.
    On,
    /// They don't.
    Off,
}

/// What a condition that stays as it is leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stall {
    /// One line that says so
    Warn,
    /// The end of the subject
    Stop,
    /// Nothing
    Off,
}

/// The flags of `wake ack`.
#[derive(Debug, Clone, Flags)]
#[group(skip)]
#[command(group(ArgGroup::new("where").args(["watch", "acks"]).required(true).multiple(true)))]
pub struct Ack {
    /// The watch that printed the line
    #[arg(long, value_name = "NAME", value_parser = cli::name)]
    pub watch: Option<String>,
    /// The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell
    #[arg(long, value_name = "DIR", value_parser = cli::path())]
    pub store: Option<PathBuf>,
    /// The file of acknowledgements [default: that of the watch]
    #[arg(long, value_name = "PATH", value_parser = cli::path())]
    pub acks: Option<PathBuf>,
    /// The claim of the line
    #[arg(long, value_name = "C", value_parser = claim)]
    pub claim: String,
    /// What became of it
    #[arg(long, value_name = "R")]
    pub result: Outcome,
    /// With completed: tokens read
    #[arg(long, value_name = "N")]
    pub tokens_in: Option<u64>,
    /// With completed: tokens written
    #[arg(long, value_name = "N")]
    pub tokens_out: Option<u64>,
    /// With completed: how the turn went [default: success]
    #[arg(long, value_name = "D")]
    pub disposition: Option<Disposition>,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Outcome {
    /// A reader has it
    Dispatched,
    /// The reader has no time now
    Busy,
    /// There is no reader, and there will be none
    Unavailable,
    /// The reader is done with it
    Completed,
}

/// How a turn went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Disposition {
    /// As it should
    Success,
    /// Not as it should
    Failure,
    /// It was stopped
    Cancellation,
    /// It waits for a person
    ApprovalStall,
}

/// The flags of `wake status`.
#[derive(Debug, Clone, Flags)]
pub struct Status {
    /// The watch
    #[arg(long, value_name = "NAME", value_parser = cli::name, required = true)]
    pub watch: String,
    /// The root of all state, instead of $`DOORBELL_STORE` or ~/.local/state/doorbell
    #[arg(long, value_name = "DIR", value_parser = cli::path())]
    pub store: Option<PathBuf>,
}

impl Filter {
    /// The flags by which it is run, as sources have them.
    #[must_use]
    pub fn running(&self) -> Running {
        Running {
            once: false,
            wait: self.wait,
            max_runtime: self.max_runtime,
            alive: self.alive,
            parent_pid: self.parent_pid,
            poll_only: false,
            announce: false,
            no_announce: false,
            source: self.source.clone(),
        }
    }

    /// The policy.
    ///
    /// # Errors
    ///
    /// Knobs that contradict each other.
    pub fn policy(&self) -> Result<Policy, Error> {
        let Knobs { group_wait, group_interval, max_wait, repeat_interval, .. } = self.knobs;
        for (flag, wait) in [
            ("--group-wait", group_wait),
            ("--group-interval", group_interval),
            ("--max-wait", max_wait),
        ] {
            if wait >= repeat_interval {
                return Err(Error::usage(format!(
                    "unable to use {flag} {}s: it must be below --repeat-interval {}s",
                    wait.as_secs_f64(),
                    repeat_interval.as_secs_f64()
                )));
            }
        }
        if self.bounds.max_tokens.0.is_some() && self.acks.is_none() {
            let message = "unable to use --max-tokens: only --acks tells what readers spend";
            return Err(Error::usage(message));
        }
        let (knobs, bounds) = (&self.knobs, &self.bounds);
        Ok(Policy {
            group_wait: ms(group_wait),
            group_interval: ms(group_interval),
            max_wait: ms(max_wait),
            repeat_interval: ms(repeat_interval),
            pending_gate: knobs.pending_gate == Gate::On,
            burst: knobs.burst,
            refill: ms(knobs.refill),
            stall: match knobs.stall {
                Stall::Warn => decide::Stall::Warn,
                Stall::Stop => decide::Stall::Stop,
                Stall::Off => decide::Stall::Off,
            },
            stall_looks: knobs.stall_looks,
            stall_after: ms(knobs.stall_after),
            floor: knobs.floor.0,
            max_errors: bounds.max_errors.0,
            keep_going: bounds.keep_going,
            max_lifetime: bounds.max_lifetime.0,
            max_wakes: bounds.max_wakes.0,
            max_tokens: bounds.max_tokens.0,
            acks: self.acks.is_some().then(|| decide::Acks {
                timeout: ms(self.ack_timeout),
                busy_retry: ms(self.busy_retry),
            }),
            ..Policy::default()
        })
    }
}

fn ms(span: Duration) -> Ms {
    Ms::try_from(span.as_millis()).unwrap_or(Ms::MAX)
}

fn bound(none: &'static str) -> impl Fn(&str) -> Result<Bound, String> + Clone + Send + Sync {
    move |text| {
        if text == none {
            return Ok(Bound(None));
        }
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|number| is_number && *number > 0);
        number
            .map(|number| Bound(Some(number)))
            .ok_or_else(|| format!("must be 1 to {}, or {none}", u64::MAX))
    }
}

/// Milliseconds.
fn lifetime(text: &str) -> Result<Bound, String> {
    if text == "unlimited" {
        return Ok(Bound(None));
    }
    let span = cli::span(MS, MONTH)(text);
    span.map(|span| Bound(Some(ms(span)))).map_err(|allowed| format!("{allowed}, or unlimited"))
}

fn claim(text: &str) -> Result<String, String> {
    let fits = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() == 16 && text.bytes().all(fits) {
        return Ok(text.to_owned());
    }
    Err("must be the 16 hexadecimal digits of a line's claim".to_owned())
}

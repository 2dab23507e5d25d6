//! What the black-box tests share: folders, running programs, waits for conditions.
//!
//! Nothing here sleeps a fixed time. A wait has a condition and a ceiling ([`PATIENCE`]); silence
//! is proved by a later marker event, not by waiting.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test kit fails by panic")]

pub mod cost;
pub mod git;
pub mod github;
mod manager;
mod papers;
mod running;
mod scene;
pub mod tmux;

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::Path,
    process::Command,
    sync::LazyLock,
    time::{Duration, Instant},
};

pub use manager::Manager;
pub use papers::{documented, golden};
pub use running::{Ended, Running};
pub use scene::Scene;
use serde_json::Value;

/// How long a test waits for something that is certain to come. Far above what it takes, since
/// anything may be slow at times.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A command that runs the program at `exe`, blind to the caller's own supervision and state.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "tests run the programs for real")]
pub fn command(exe: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(exe);
    for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "DOORBELL_STORE"] {
        command.env_remove(name);
    }
    command
}

/// The top of the repository.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The name of every program, in order: the folders of `bins`.
#[must_use]
pub fn tools() -> Vec<String> {
    let entries = fs::read_dir(root().join("bins")).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().join("Cargo.toml").exists());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A command that runs any program, built first if it is stale. Cargo builds the binaries of the
/// package under test only, so a test that crosses packages has to ask, and Cargo says where
/// each one lies.
#[must_use]
pub fn built(tool: &str) -> Command {
    static PATHS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| build(&[]));
    command(&PATHS[tool])
}

/// The same, as it ships.
#[must_use]
pub fn built_release(tool: &str) -> Command {
    static PATHS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| build(&["--release"]));
    command(&PATHS[tool])
}

fn build(flags: &[&str]) -> BTreeMap<String, String> {
    let mut cargo = command(env!("CARGO"));
    cargo.args(["build", "--workspace", "--bins", "--message-format=json"]).args(flags);
    let out = cargo.current_dir(root()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let pair = |line: &Value| Some((text(&line["target"]["name"])?, text(&line["executable"])?));
    lines(&out.stdout).iter().filter_map(pair).collect()
}

/// The NDJSON lines of `stdout`; panics on a line that is not JSON.
#[must_use]
pub fn lines(stdout: &[u8]) -> Vec<Value> {
    let text = str::from_utf8(stdout).unwrap();
    text.lines()
        .map(|line| {
            serde_json::from_str(line).unwrap_or_else(|err| panic!("not JSON ({err}): {line:?}"))
        })
        .collect()
}

/// Waits until `condition` holds; panics, naming `what`, when it doesn't within [`PATIENCE`].
#[expect(clippy::disallowed_methods, reason = "the one place that waits for a condition")]
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Lets `time` pass, where that time is itself the fixture: a writer that pauses, a file that
/// stays empty. Never to see whether something happens.
#[expect(clippy::disallowed_methods, reason = "the one place that lets time pass")]
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// The RFC 3339 text of now plus `seconds`, for fixtures that are judged by the clock.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "fixtures lie at now plus or minus something")]
pub fn from_now(seconds: i64) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let at = i64::try_from(now.as_secs()).unwrap() + seconds;
    let (days, rest) = (at.div_euclid(86_400), at.rem_euclid(86_400));
    // Days to a date: Howard Hinnant's civil_from_days.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest % 3_600 / 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

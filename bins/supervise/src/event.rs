//! What this program says itself, or in the name of a monitor that can't speak any more.

use serde::Serialize;
use shared::{
    clock::Now,
    line::{self, Condition, Mark, Speaker, mark},
    text::Text,
};

/// An event of this program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A monitor ended that nobody had asked to.
    MonitorFailed(MonitorFailed),
    /// A record and the world don't agree; nothing was touched.
    StateConflict(StateConflict),
    /// Lines are missing from here on back.
    LogGap(LogGap),
}

/// `monitor_failed`: said in the monitor's name, after whatever it said itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MonitorFailed {
    /// `exited`, `signaled`, or `keeper_lost`: the keeper was killed, and the monitor with it.
    pub reason: &'static str,
    /// The last line of its stderr, or what is known.
    pub detail: Text,
    /// Its exit code, 0 included: a monitor that watches for ever has no good end of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that killed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_signal: Option<i32>,
    /// When that was seen.
    #[serde(skip)]
    pub said_at: String,
}

/// `state_conflict`: what is recorded and what runs are not the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateConflict {
    /// The monitor's name.
    pub monitor: String,
    /// The pid in question.
    pub pid: u32,
    /// What doesn't agree.
    pub reason: &'static str,
    /// What was therefore not done.
    pub action: &'static str,
    /// Always true: the state was left as it is.
    pub preserved: bool,
}

/// `log_gap`: lines were lost before a reader could have them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogGap {
    /// The monitor's name.
    pub monitor: String,
    /// How many bytes.
    pub lost_bytes: u64,
    /// Where the loss ends, in bytes since the first line there ever was.
    #[serde(skip)]
    pub position: u64,
}

impl MonitorFailed {
    /// The end of a monitor by its exit code or a signal; neither: its keeper was lost.
    #[must_use]
    pub fn new(code: Option<i32>, signal: Option<i32>, detail: &str, now: &Now) -> Self {
        let reason = match (code, signal) {
            (_, Some(_)) => "signaled",
            (Some(_), None) => "exited",
            (None, None) => "keeper_lost",
        };
        Self {
            reason,
            detail: Text::new(detail, 200),
            exit_code: code,
            exit_signal: signal,
            said_at: now.timestamp().to_string(),
        }
    }
}

impl line::Event for Event {
    fn mark(&self) -> Mark {
        match self {
            Self::MonitorFailed(event) => Mark {
                key: None,
                discriminator: format!("{}\u{1f}{}", event.reason, event.said_at),
            },
            Self::StateConflict(event) => mark(
                &format!("supervise:{}", event.monitor),
                Condition::Once,
                &[&event.pid.to_string(), event.reason, event.action],
            ),
            Self::LogGap(event) => mark(
                &format!("log:{}", event.monitor),
                Condition::Once,
                &[&event.position.to_string(), &event.lost_bytes.to_string()],
            ),
        }
    }

    fn is_cut(&self) -> bool {
        matches!(self, Self::MonitorFailed(event) if event.detail.is_cut())
    }

    fn free_text() -> &'static [&'static str] {
        &["detail"]
    }
}

/// The line for `event`, said as `source`.
///
/// # Errors
///
/// None for what fits the types.
pub fn line_as(source: &str, event: &Event, now: &Now) -> std::io::Result<Vec<u8>> {
    let speaker =
        Speaker { program: "supervise", source: source.to_owned(), subject: String::new() };
    speaker.line(event, now.timestamp())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use shared::clock::Now;

    use super::*;

    /// The line in `events/NAME.json` is what this event prints.
    fn example(name: &str, event: &Event) {
        let wall = "2026-04-08T14:10:00Z".parse().unwrap();
        let now = Now { wall, boot: Duration::ZERO, monotonic: Duration::ZERO };
        let have = line_as("supervise", event, &now).unwrap();
        let path = format!("{}/events/{name}.json", env!("CARGO_MANIFEST_DIR"));
        ::tests::golden(path.as_ref(), &have);
    }

    #[test]
    fn every_event_is_what_its_example_says() {
        let said_at = "2026-04-08T14:10:00Z".to_owned();
        let detail = Text::new("out of memory", 200);
        example(
            "monitor_failed",
            &Event::MonitorFailed(MonitorFailed {
                reason: "signaled",
                detail,
                exit_code: None,
                exit_signal: Some(9),
                said_at,
            }),
        );
        example(
            "state_conflict",
            &Event::StateConflict(StateConflict {
                monitor: "gate".to_owned(),
                pid: 4711,
                reason: "start_time_differs",
                action: "not_signaled",
                preserved: true,
            }),
        );
        example(
            "log_gap",
            &Event::LogGap(LogGap {
                monitor: "gate".to_owned(),
                lost_bytes: 16_777_216,
                position: 1,
            }),
        );
    }
}

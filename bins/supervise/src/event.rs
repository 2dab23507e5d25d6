//! What this program says in the name of a monitor that can't speak any more.

use serde::Serialize;
use shared::{
    clock::Now,
    line::{self, Mark},
};

/// `monitor_failed`: a monitor ended that nobody had asked to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename = "monitor_failed")]
pub struct MonitorFailed {
    /// `exited`, or `signaled`: a signal killed it.
    pub reason: &'static str,
    /// What it was, for a person.
    pub detail: String,
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

impl MonitorFailed {
    /// The end of `program`, by its exit code or a signal.
    #[must_use]
    pub fn new(program: &str, code: Option<i32>, signal: Option<i32>, now: &Now) -> Self {
        Self {
            reason: if signal.is_some() { "signaled" } else { "exited" },
            detail: format!("{program} ended and nobody had asked it to"),
            exit_code: code,
            exit_signal: signal,
            said_at: now.timestamp().to_string(),
        }
    }
}

impl line::Event for MonitorFailed {
    fn mark(&self) -> Mark {
        Mark { key: None, discriminator: format!("{}\u{1f}{}", self.reason, self.said_at) }
    }
}

//! What it tells of its own.

use serde::Serialize;
use shared::line::{self, Condition, Mark, mark};

/// An event that nobody answered is said again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename = "nudge_repeat")]
pub struct NudgeRepeat {
    /// `watchdog`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its name.
    pub original_event: String,
    /// Its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The how manieth time this is.
    pub nudge_count: u32,
    /// And the last.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// Seconds since it came first.
    pub age_sec: u64,
    /// Its `id`.
    pub original_id: String,
    /// Its `key`.
    #[serde(skip)]
    pub original_key: String,
}

impl line::Event for NudgeRepeat {
    fn mark(&self) -> Mark {
        let key = format!("nudge:{}", self.original_key);
        mark(&key, Condition::Once, &[&self.original_id, &self.nudge_count.to_string()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_keys_in_order() {
        let repeat = NudgeRepeat {
            kind: "watchdog",
            original_event: "stalled".to_owned(),
            agent: Some("executor".to_owned()),
            step: Some("5".to_owned()),
            nudge_count: 3,
            is_final: true,
            age_sec: 360,
            original_id: "c2a5e81f0b7d3946".to_owned(),
            original_key: "agent:executor/5:stalled".to_owned(),
        };
        let at = "2026-04-08T14:10:00Z".parse().unwrap();
        let speaker =
            line::Speaker { program: "nudge", source: "nudge".to_owned(), subject: String::new() };
        let text = String::from_utf8(speaker.line(&repeat, at).unwrap()).unwrap();
        assert_eq!(text, include_str!("../events/nudge_repeat.json"));
    }
}

//! What it tells of its own.

use serde::Serialize;
use shared::line::{self, Condition, Mark, mark};

/// `nudge_repeat`: an event that nobody answered is said again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename = "nudge_repeat")]
pub struct NudgeRepeat {
    /// Always `watchdog`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The name of the event.
    pub original_event: String,
    /// Its agent; absent: it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The how manieth time this is, from 1.
    pub nudge_count: u32,
    /// It is the last.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// Whole seconds since the event came.
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

    fn repeat() -> NudgeRepeat {
        NudgeRepeat {
            kind: "watchdog",
            original_event: "stalled".to_owned(),
            agent: Some("executor".to_owned()),
            step: Some("5".to_owned()),
            nudge_count: 3,
            is_final: true,
            age_sec: 360,
            original_id: "c2a5e81f0b7d3946".to_owned(),
            original_key: "agent:executor/5:stalled".to_owned(),
        }
    }

    fn line(repeat: &NudgeRepeat) -> String {
        let at = "2026-04-08T14:10:00Z".parse().unwrap();
        let source = "nudge".to_owned();
        let speaker = line::Speaker { program: "nudge", source, subject: String::new() };
        String::from_utf8(speaker.line(repeat, at).unwrap()).unwrap()
    }

    #[test]
    fn a_line_has_its_keys_in_order() {
        assert_eq!(line(&repeat()), include_str!("../events/nudge_repeat.json"));
    }

    #[test]
    fn g10_names_of_4000_bytes_are_one_line_of_at_most_4096() {
        let long = "a \"\n".repeat(1000);
        let text = line(&NudgeRepeat {
            agent: Some(long.clone()),
            step: Some(long.clone()),
            original_id: long.clone(),
            original_key: long,
            ..repeat()
        });
        assert!(text.len() <= 4096 && text.trim_end().lines().count() == 1, "{text}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["truncated"], true, "{text}");
    }
}

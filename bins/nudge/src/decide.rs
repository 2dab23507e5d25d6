//! Which events wait for an answer, and when they are said again. Pure.

use std::{collections::VecDeque, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::NudgeRepeat;

/// The most events that wait.
const MOST: usize = 1024;

/// An event that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    event: String,
    id: String,
    key: String,
    source: String,
    agent: Option<String>,
    step: Option<String>,
    instance: Option<String>,
    count: u32,
    /// When it came and when it is due, on the monotonic clock.
    came: Duration,
    due: Duration,
}

/// The rules of a run.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The events that want an answer.
    pub on: Vec<String>,
    /// How long it is waited for.
    pub after: Duration,
    /// How often it is said again.
    pub max: u32,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is passed on.
    Passes,
    /// It was an acknowledgement, for us alone.
    Swallowed,
}

/// All that waits.
#[derive(Debug)]
pub struct Nudges {
    rules: Rules,
    open: VecDeque<Open>,
    /// How many were dropped for want of room.
    pub dropped: u64,
    /// How often what waits became another.
    pub changes: u64,
}

impl Nudges {
    /// Nothing waits.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { rules, open: VecDeque::new(), dropped: 0, changes: 0 }
    }

    /// Takes in a line of the input.
    pub fn take(&mut self, line: &[u8], t: Duration) -> Fate {
        let Ok(Value::Object(event)) = serde_json::from_slice(line) else { return Fate::Passes };
        let event = Value::Object(event);
        if event.get("event").is_none() && event.get("ack").is_some() {
            self.ack(&event);
            return Fate::Swallowed;
        }
        let before = self.open.len();
        self.cancel(&event);
        self.changes += u64::from(self.open.len() != before);
        self.open(&event, t);
        Fate::Passes
    }

    /// Takes in a line of the acknowledgements.
    pub fn ack_line(&mut self, line: &[u8]) {
        if let Ok(ack) = serde_json::from_slice::<Value>(line) {
            self.ack(&ack);
        }
    }

    fn ack(&mut self, ack: &Value) {
        // A claim's answer is for wake.
        let Some(event) = text(ack, "ack").filter(|_| ack.get("claim").is_none()) else { return };
        let (agent, step, id) = (text(ack, "agent"), text(ack, "step"), text(ack, "id"));
        if agent.is_none() && id.is_none() {
            return;
        }
        self.changes += 1;
        self.open.retain(|open| {
            let fits = |asked: &Option<String>, has: Option<&String>| {
                asked.as_ref().is_none_or(|asked| has == Some(asked))
            };
            let answered = open.event == event
                && fits(&agent, open.agent.as_ref())
                && fits(&step, open.step.as_ref())
                && fits(&id, Some(&open.id));
            !answered
        });
    }

    /// Drops what `event` makes needless.
    fn cancel(&mut self, event: &Value) {
        let name = text(event, "event").unwrap_or_default();
        if name == "monitor_stopped" && text(event, "reason").as_deref() == Some("shutdown_request")
        {
            return self.open.clear();
        }
        let (key, source) = (text(event, "key"), text(event, "source").unwrap_or_default());
        let cleared = text(event, "condition").as_deref() == Some("cleared");
        let (agent, step) = (text(event, "agent"), text(event, "step"));
        let instance = text(event, "instance");
        self.open.retain(|open| {
            if cleared && open.source == source && key.as_ref() == Some(&open.key) {
                return false;
            }
            if agent.is_none() || open.agent != agent || open.step != step {
                return true;
            }
            let another = instance.is_some() && open.instance != instance;
            let over = match &*name {
                "result_ready" | "item_removed" => true,
                "process_died" => open.event == "stalled",
                "process_replaced" => open.event == "process_died",
                _ => false,
            };
            !(over || another)
        });
    }

    fn open(&mut self, event: &Value, t: Duration) {
        let (Some(name), Some(id)) = (text(event, "event"), text(event, "id")) else { return };
        let wanted = self.rules.on.contains(&name) && name != "nudge_repeat";
        if !wanted || self.open.iter().any(|open| open.id == id) {
            return;
        }
        if text(event, "condition").as_deref() == Some("cleared") {
            return;
        }
        if self.open.len() == MOST {
            self.open.pop_front();
            self.dropped += 1;
        }
        self.changes += 1;
        self.open.push_back(Open {
            key: text(event, "key").unwrap_or_else(|| id.clone()),
            source: text(event, "source").unwrap_or_default(),
            agent: text(event, "agent"),
            step: text(event, "step"),
            instance: text(event, "instance"),
            event: name,
            id,
            count: 0,
            came: t,
            due: t + self.rules.after,
        });
    }

    /// What is due at `t`. The last of an event closes it.
    pub fn due(&mut self, t: Duration) -> Vec<NudgeRepeat> {
        let (mut said, rules) = (Vec::new(), &self.rules);
        for open in self.open.iter_mut().filter(|open| open.due <= t && open.count < rules.max) {
            open.count += 1;
            self.changes += 1;
            open.due = t + rules.after;
            said.push(NudgeRepeat {
                kind: "watchdog",
                original_event: open.event.clone(),
                agent: open.agent.clone(),
                step: open.step.clone(),
                nudge_count: open.count,
                is_final: open.count == rules.max,
                age_sec: t.saturating_sub(open.came).as_secs(),
                original_id: open.id.clone(),
                original_key: open.key.clone(),
            });
        }
        said
    }

    /// When the next is due. What was said for the last time stays known until it is answered,
    /// so that the same event again is no new one.
    #[must_use]
    pub fn next(&self) -> Option<Duration> {
        let waiting = self.open.iter().filter(|open| open.count < self.rules.max);
        waiting.map(|open| open.due).min()
    }

    /// What waits, with times as they are left at `t`.
    #[must_use]
    pub fn saved(&self, t: Duration) -> Vec<Open> {
        let left = |open: &Open| Open {
            came: t.saturating_sub(open.came),
            due: open.due.saturating_sub(t),
            ..open.clone()
        };
        self.open.iter().map(left).collect()
    }

    /// Goes on with what waited when it was saved.
    pub fn recall(&mut self, saved: Vec<Open>, t: Duration) {
        let back =
            |open: Open| Open { came: t.saturating_sub(open.came), due: t + open.due, ..open };
        self.open = saved.into_iter().map(back).collect();
    }
}

/// A member as text; a number as it is.
fn text(event: &Value, name: &str) -> Option<String> {
    match event.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STALLED: &str = r#"{"event":"stalled","source":"w","agent":"a","step":"5","instance":"i","key":"agent:a/5:stalled","condition":"raised","id":"1"}"#;

    fn seconds(at: u64) -> Duration {
        Duration::from_secs(at)
    }

    /// What is said when, of lines that come when.
    fn said(plan: &[(u64, &str)]) -> Vec<(u64, u32, bool)> {
        let on = vec!["stalled".to_owned(), "process_died".to_owned()];
        let mut nudges = Nudges::new(Rules { on, after: seconds(120), max: 3 });
        let mut said = Vec::new();
        for at in 0..1000 {
            for (_, line) in plan.iter().filter(|(when, _)| *when == at) {
                nudges.take(line.as_bytes(), seconds(at));
            }
            let due = nudges.due(seconds(at));
            said.extend(due.into_iter().map(|said| (at, said.nudge_count, said.is_final)));
        }
        said
    }

    const ALL: [(u64, u32, bool); 3] = [(120, 1, false), (240, 2, false), (360, 3, true)];

    #[test]
    fn three_times_and_no_more() {
        assert_eq!(said(&[(0, STALLED)]), ALL);
        assert_eq!(said(&[(0, STALLED), (10, STALLED), (500, STALLED)]), ALL);
    }

    #[test]
    fn an_answer_ends_it() {
        let ack = r#"{"ack":"stalled","agent":"a"}"#;
        assert_eq!(said(&[(0, STALLED), (130, ack)]), ALL[..1]);
        assert_eq!(said(&[(5, ack), (6, STALLED)]).len(), 3);
        for other in [
            r#"{"ack":"stalled","agent":"b"}"#,
            r#"{"ack":"stalled","agent":"a","step":"6"}"#,
            r#"{"ack":"stalled","id":"2"}"#,
            r#"{"ack":"stalled","agent":"a","claim":"x"}"#,
            r#"{"ack":"process_died","agent":"a"}"#,
            r#"{"ack":"nudge_repeat","agent":"a"}"#,
            r#"{"ack":"stalled"}"#,
        ] {
            assert_eq!(said(&[(0, STALLED), (130, other)]), ALL, "{other}");
        }
        assert_eq!(said(&[(0, STALLED), (130, r#"{"ack":"stalled","id":"1"}"#)]), ALL[..1]);
    }

    #[test]
    fn what_makes_it_needless_ends_it() {
        let of = |event: &str, more: &str| {
            format!(
                r#"{{"event":"{event}","source":"w","agent":"a","step":"5","instance":"i"{more}}}"#
            )
        };
        let cleared = r#","key":"agent:a/5:stalled","condition":"cleared""#;
        assert_eq!(said(&[(0, STALLED), (100, &of("recovered", cleared))]), []);
        assert_eq!(said(&[(0, STALLED), (200, &of("result_ready", ""))]), ALL[..1]);
        let next = of("item_registered", "").replace("\"i\"", "\"j\"");
        assert_eq!(said(&[(0, STALLED), (250, &next)]), ALL[..2]);
        let died = of("process_died", r#","id":"9""#);
        let told = said(&[(0, STALLED), (10, &died)]);
        assert_eq!(told, [(130, 1, false), (250, 2, false), (370, 3, true)]);
        assert_eq!(said(&[(0, &died), (10, &of("process_replaced", ""))]), []);
        let stop = r#"{"event":"monitor_stopped","reason":"shutdown_request"}"#;
        assert_eq!(said(&[(0, STALLED), (10, stop)]), []);
    }

    #[test]
    fn a_new_episode_is_a_new_nudge() {
        let second = STALLED.replace("\"1\"", "\"2\"");
        assert_eq!(said(&[(0, STALLED), (10, &second)]).len(), 6);
    }

    #[test]
    fn what_is_saved_goes_on() {
        let on = vec!["stalled".to_owned()];
        let mut nudges = Nudges::new(Rules { on, after: seconds(120), max: 3 });
        nudges.take(STALLED.as_bytes(), seconds(1000));
        let saved = nudges.saved(seconds(1020));
        nudges.recall(saved, seconds(50));
        assert_eq!(nudges.next(), Some(seconds(150)));
        for n in 0..2000 {
            nudges.take(STALLED.replace("\"1\"", &format!("\"n{n}\"")).as_bytes(), seconds(50));
        }
        assert_eq!((nudges.saved(seconds(50)).len(), nudges.dropped), (MOST, 977));
    }

    proptest! {
        #[test]
        fn no_event_is_said_more_often_than_allowed(
            plan in proptest::collection::vec((0_u64..900, 0_u32..4, 0_u8..3), 0..30),
        ) {
            let lines: Vec<(u64, String)> = plan.iter().map(|(at, id, what)| (*at, match what {
                0 => r#"{"ack":"stalled","agent":"a"}"#.to_owned(),
                _ => STALLED.replace("\"1\"", &format!("\"{id}\"")),
            })).collect();
            let lines: Vec<(u64, &str)> = lines.iter().map(|(at, line)| (*at, &**line)).collect();
            let said = said(&lines);
            prop_assert!(said.iter().all(|(_, count, last)| *count <= 3 && *last == (*count == 3)));
            prop_assert!(said.len() <= 3 * lines.len());
        }
    }
}

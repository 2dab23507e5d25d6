//! Which events wait for an answer, and when they are said again. Pure.

use std::{collections::VecDeque, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::NudgeRepeat;

/// The most events that wait.
const MOST: usize = 1024;

/// What a line of the registry may be before it is an acknowledgement.
const OTHERS: [&str; 4] = ["result_path", "op", "shutdown_request", "blind_phase"];

/// An event that wants an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    event: String,
    id: String,
    key: String,
    source: String,
    subject: Option<String>,
    agent: Option<String>,
    step: Option<String>,
    instance: Option<String>,
    count: u32,
    /// It was answered, or said for the last time. It stays known, so that the same event again
    /// is no new one.
    is_over: bool,
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
        let Ok(event) = serde_json::from_slice::<Value>(line) else { return Fate::Passes };
        if event.get("event").is_none() && is_ack(&event) {
            self.ack(&event);
            return Fate::Swallowed;
        }
        self.cancel(&event);
        self.open(&event, t);
        Fate::Passes
    }

    /// Takes in a line of the acknowledgements.
    pub fn ack_line(&mut self, line: &[u8]) {
        let Ok(ack) = serde_json::from_slice::<Value>(line) else { return };
        if is_ack(&ack) {
            self.ack(&ack);
        }
    }

    fn ack(&mut self, ack: &Value) {
        let (agent, step, id) = (text(ack, "agent"), text(ack, "step"), text(ack, "id"));
        // A claim's answer is for wake.
        if ack.get("claim").is_some() || (agent.is_none() && id.is_none()) {
            return;
        }
        let fits = |asked: &Option<String>, has: Option<&String>| {
            asked.as_ref().is_none_or(|asked| has == Some(asked))
        };
        for open in self.open.iter_mut().filter(|open| !open.is_over) {
            open.is_over = ack["ack"] == *open.event
                && fits(&agent, open.agent.as_ref())
                && fits(&step, open.step.as_ref())
                && fits(&id, Some(&open.id));
            self.changes += u64::from(open.is_over);
        }
    }

    /// Drops what `event` makes needless.
    fn cancel(&mut self, event: &Value) {
        let before = self.open.len();
        self.drop_needless(event);
        self.changes += u64::from(self.open.len() != before);
    }

    fn drop_needless(&mut self, event: &Value) {
        let name = text(event, "event").unwrap_or_default();
        if name == "monitor_stopped" && text(event, "reason").as_deref() == Some("shutdown_request")
        {
            return self.open.clear();
        }
        let (key, subject) = (text(event, "key"), text(event, "subject"));
        let source = text(event, "source").unwrap_or_default();
        let cleared = text(event, "condition").as_deref() == Some("cleared");
        let (agent, step) = (text(event, "agent"), text(event, "step"));
        let instance = text(event, "instance");
        self.open.retain(|open| {
            let is_same = open.source == source && open.subject == subject;
            if cleared && is_same && key.as_ref() == Some(&open.key) {
                return false;
            }
            if agent.is_none() || open.agent != agent || open.step != step {
                return true;
            }
            // Not every source tells of instances.
            let both = open.instance.as_ref().zip(instance.as_ref());
            let another = both.is_some_and(|(one, other)| one != other);
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
            self.make_room();
        }
        self.changes += 1;
        self.open.push_back(Open {
            key: text(event, "key").unwrap_or_else(|| id.clone()),
            source: text(event, "source").unwrap_or_default(),
            subject: text(event, "subject"),
            agent: text(event, "agent"),
            step: text(event, "step"),
            instance: text(event, "instance"),
            event: name,
            id,
            count: 0,
            is_over: false,
            came: t,
            due: t + self.rules.after,
        });
    }

    /// Forgets one: the oldest that is over, else the oldest.
    fn make_room(&mut self) {
        let over = self.open.iter().position(|open| open.is_over);
        self.open.remove(over.unwrap_or(0));
        self.dropped += u64::from(over.is_none());
    }

    /// What is due at `t`. The last of an event closes it.
    pub fn due(&mut self, t: Duration) -> Vec<NudgeRepeat> {
        let (mut said, rules) = (Vec::new(), &self.rules);
        for open in self.open.iter_mut().filter(|open| open.due <= t && !open.is_over) {
            open.count += 1;
            self.changes += 1;
            open.due = t + rules.after;
            open.is_over = open.count >= rules.max;
            said.push(NudgeRepeat {
                kind: "watchdog",
                original_event: open.event.clone(),
                agent: open.agent.clone(),
                step: open.step.clone(),
                nudge_count: open.count,
                is_final: open.is_over,
                age_sec: t.saturating_sub(open.came).as_secs(),
                original_id: open.id.clone(),
                original_key: open.key.clone(),
            });
        }
        said
    }

    /// When the next is due; `None`: nothing waits.
    #[must_use]
    pub fn next(&self) -> Option<Duration> {
        self.open.iter().filter(|open| !open.is_over).map(|open| open.due).min()
    }

    /// What is known, with times as they are left at `t`.
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
        let back = |open: Open| Open {
            came: t.saturating_sub(open.came),
            due: t.saturating_add(open.due),
            ..open
        };
        self.open = saved.into_iter().map(back).collect();
    }
}

/// Whether a line without event is an acknowledgement, as the registry judges its lines.
fn is_ack(line: &Value) -> bool {
    let is_other = OTHERS.iter().any(|name| line.get(name).is_some());
    line.get("ack").is_some_and(Value::is_string) && !is_other
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
mod tests;

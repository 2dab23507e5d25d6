//! What the consultant may see: an allow-list. What is not in its table does not exist there.

use std::io;

use serde_json::Value;
use shared::cli;

use super::{
    Event, Format, Part, Share,
    object::{Object, clock, text, whole},
};

/// A row of the allow-list.
struct Row {
    event: &'static str,
    /// What it is called in the consultant's format.
    name: &'static str,
    /// Its keys there, and in the event.
    keys: &'static [(&'static str, &'static str)],
    /// Only with `full` and outside a blind phase.
    full: bool,
    /// The oldest format has it.
    seed: bool,
}

const IDLE: (&str, &str) = ("idle_sec", "idle_sec");
const ELAPSED: (&str, &str) = ("elapsed_sec", "elapsed_sec");

/// What the consultant may see of an item. Size, mtime, exit code and signal are not in it: a
/// failing verdict is longer than a passing one, and a tester's exit code is its verdict.
const SHARE: [Row; 6] = [
    Row {
        event: "result_ready",
        name: "agent_complete",
        keys: &[("result", "result_path")],
        full: false,
        seed: true,
    },
    Row {
        event: "stalled",
        name: "monitor_stall",
        keys: &[IDLE, ("cpu_pct", "cpu_pct")],
        full: false,
        seed: true,
    },
    Row {
        event: "timeout_imminent",
        name: "monitor_timeout_imminent",
        keys: &[ELAPSED, ("timeout_sec", "timeout_sec")],
        full: false,
        seed: true,
    },
    Row {
        event: "timeout_exceeded",
        name: "agent_timeout",
        keys: &[ELAPSED],
        full: false,
        seed: false,
    },
    Row {
        event: "recovered",
        name: "monitor_stall_cleared",
        keys: &[IDLE],
        full: true,
        seed: false,
    },
    Row { event: "process_died", name: "monitor_process_died", keys: &[], full: true, seed: false },
];

impl Share {
    /// What the consultant gets of `event`.
    pub(super) fn consultant(self, event: &Event, name: &str, urgency: &str) -> io::Result<Part> {
        if name == "feed_update" {
            return self.feed(event, urgency);
        }
        let Some((row, blind)) = self.row(event, name) else { return Ok(Part::Nothing) };
        let (Some(agent), Some(step)) = (identity(event, "agent"), identity(event, "step")) else {
            return Ok(Part::Nothing);
        };
        let withheld = |key: &str| self.blind_strict && blind && key == "result_path";
        let keys = row.keys.iter().filter(|(_, key)| !withheld(key));
        let facts: Vec<Fact> =
            keys.filter_map(|(shown, key)| Some((*shown, *key, allowed(event, key)?))).collect();
        if self.format == Format::Ndjson {
            let mut object = head(event, name)?;
            object.add("agent", agent)?;
            object.add("step", step)?;
            for (_, key, value) in &facts {
                object.add(key, value)?;
            }
            return tail(object, event, urgency);
        }
        let mut object = Object::default();
        object.add("event", row.name)?;
        object.add("step", step)?;
        object.add("agent", agent)?;
        for (shown, _, value) in &facts {
            match value {
                Value::Number(number) => {
                    if let Some(number) = whole(number) {
                        object.add(shown, &number)?;
                    }
                }
                value => object.add(shown, value)?,
            }
        }
        from_monitor(object, event)
    }

    /// The row of an event that may be told, and whether its phase is blind. A stamp that is
    /// missing or odd is taken for the one that hides more.
    fn row(self, event: &Event, name: &str) -> Option<(&'static Row, bool)> {
        let row = SHARE.iter().find(|row| row.event == name)?;
        let blind = event.get("blind") != Some(&Value::Bool(false));
        let reporting = text(event, "consultant_reporting");
        let full = reporting == Some("full") && !blind;
        let hidden = reporting == Some("none") || (row.full && !full);
        (!hidden && (row.seed || !self.seed_only)).then_some((row, blind))
    }

    fn feed(self, event: &Event, urgency: &str) -> io::Result<Part> {
        if self.format == Format::Ndjson {
            let mut object = head(event, "feed_update")?;
            object.add("type", "feed_update")?;
            return tail(object, event, urgency);
        }
        let mut object = Object::default();
        object.add("type", "feed_update")?;
        object.add("source", "monitor")?;
        object.add("ts", &clock(event))?;
        Ok(Part::Text(object.close()))
    }
}

/// The end of the seed's objects.
fn from_monitor(mut object: Object, event: &Event) -> io::Result<Part> {
    object.add("ts", &clock(event))?;
    object.add("source", "monitor")?;
    Ok(Part::Text(object.close()))
}

/// A key as the seed has it, as the event has it, and its value.
type Fact = (&'static str, &'static str, Value);

/// An agent or step, if it is a name at all.
fn identity<'a>(event: &'a Event, key: &str) -> Option<&'a str> {
    text(event, key).filter(|name| cli::name(name).is_ok())
}

/// A value of the allow-list, if it has its type: paths are texts, all else numbers.
fn allowed(event: &Event, key: &str) -> Option<Value> {
    let value = event.get(key)?;
    let fits = if key == "result_path" { value.is_string() } else { value.is_number() };
    fits.then(|| value.clone())
}

/// What an event begins with.
fn head(event: &Event, name: &str) -> io::Result<Object> {
    let mut object = Object::default();
    object.add("event", name)?;
    object.keep_texts(event, &["timestamp", "source"])?;
    Ok(object)
}

/// What it ends with.
fn tail(mut object: Object, event: &Event, urgency: &str) -> io::Result<Part> {
    object.keep_texts(event, &["key", "condition", "id"])?;
    object.add("urgency", urgency)?;
    Ok(Part::Text(object.close()))
}

//! The lead's lines in the form of the older monitor.

use std::io;

use serde_json::Value;
use shared::line::json;

use super::{
    Event, Part, Share,
    object::{Object, clock, text, whole},
};

/// The lead's lines beside the watchdog's objects.
const STATES: [&str; 5] =
    ["result_ready", "stalled", "timeout_imminent", "timeout_exceeded", "process_died"];
/// The watchdog's that the oldest format has.
const SEED_OBJECTS: [&str; 3] = ["pane_dead", "untracked_pane", "nudge_repeat"];
const PANES: [&str; 5] =
    ["untracked_pane", "pane_gone", "pane_outlived_agent", "known_pane_gone", "tmux_server_gone"];
const OTHERS: [&str; 10] = [
    "item_registered",
    "item_rejected",
    "item_removed",
    "result_stale",
    "result_removed",
    "process_replaced",
    "recovered",
    "item_degraded",
    "item_restored",
    "clock_gap",
];
const PROGRAMS: [&str; 4] = ["agent-watch", "pane-watch", "feed-watch", "nudge"];

impl Share {
    /// What the lead gets of `event`, which stands in `line`.
    pub(super) fn lead(self, event: &Event, name: &str, line: &[u8]) -> io::Result<Part> {
        let seed = STATES.contains(&name) || SEED_OBJECTS.contains(&name);
        if self.seed_only && !seed {
            return Ok(Part::Nothing);
        }
        match name {
            "pane_dead" => return watchdog(event, name, &["pane"]),
            "nudge_repeat" => {
                return watchdog(event, name, &["original_event", "agent", "nudge_count"]);
            }
            _ if PANES.contains(&name) => return watchdog(event, name, &["pane", "pid"]),
            _ => {}
        }
        let health = name.starts_with("monitor_")
            && text(event, "source").is_some_and(|source| PROGRAMS.contains(&source));
        if STATES.contains(&name) || OTHERS.contains(&name) || health {
            return Ok(Part::Text(sentence(event, name)?.into_bytes()));
        }
        Ok(Part::Text(line.to_vec()))
    }
}

fn watchdog(event: &Event, name: &str, keys: &[&str]) -> io::Result<Part> {
    let mut object = Object::default();
    object.add("type", "watchdog")?;
    object.add("event", name)?;
    object.keep(event, keys)?;
    object.add("ts", &clock(event))?;
    Ok(Part::Text(object.close()))
}

/// `[MONITOR] agent=… step=… state=… … ts=…`
fn sentence(event: &Event, name: &str) -> io::Result<String> {
    let (agent, step) = (word(event, "agent")?, word(event, "step")?);
    let mut said = format!("[MONITOR] agent={agent} step={step} state={name}");
    for (key, value) in facts(event, name)? {
        said.extend([" ", key, "=", &value]);
    }
    said.extend([" ts=", &clock(event)]);
    Ok(said)
}

/// What a sentence tells between the state and the time.
fn facts(event: &Event, name: &str) -> io::Result<Vec<(&'static str, String)>> {
    let number = |key: &str| event.get(key).and_then(Value::as_number).and_then(whole);
    let numbers = |keys: [&'static str; 2]| {
        keys.into_iter().filter_map(|key| Some((key, number(key)?.to_string()))).collect()
    };
    Ok(match name {
        "result_ready" => vec![("file", word(event, "result_path")?)],
        "stalled" => numbers(["idle_sec", "cpu_pct"]),
        "timeout_imminent" | "timeout_exceeded" => {
            let shown = |key| number(key).map_or("?".to_owned(), |number| number.to_string());
            vec![("elapsed", format!("{}/{}s", shown("elapsed_sec"), shown("timeout_sec")))]
        }
        "process_died" => vec![("pid", number("pid").unwrap_or(0).to_string())],
        _ => {
            let reason = text(event, "reason").map(quoted).transpose()?;
            let path = text(event, "result_path").or_else(|| text(event, "path"));
            let path = path.map(quoted).transpose()?;
            let numbers: Vec<_> = numbers(["idle_sec", "pid"]);
            let reason = reason.map(|reason| ("reason", reason)).into_iter();
            reason.chain(numbers).chain(path.map(|path| ("file", path))).collect()
        }
    })
}

/// A value as one word; `-` for none.
fn word(event: &Event, key: &str) -> io::Result<String> {
    match event.get(key) {
        Some(Value::String(text)) => quoted(text),
        Some(Value::Number(number)) => Ok(number.to_string()),
        _ => Ok("-".to_owned()),
    }
}

/// A text as a JSON string where it could be taken for more than one word or pair.
fn quoted(text: &str) -> io::Result<String> {
    let plain =
        |c: char| !c.is_whitespace() && !c.is_control() && !"\"\\=\u{2028}\u{2029}".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return Ok(text.to_owned());
    }
    Ok(String::from_utf8_lossy(&json(text)?).into_owned())
}

//! Whose share of the events passes, and in which form. The consultant's side is an allow-list:
//! what is not in its table does not exist there. Nothing is remembered from line to line: every
//! event carries what held when it was made.

use std::io;

use serde_json::{Map, Value};
use shared::{cli, line::json};

/// Who reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Audience {
    /// Nobody in particular.
    #[default]
    All,
    /// Who started the agents.
    Lead,
    /// Who advises, and must not know a verdict in a blind phase.
    Consultant,
}

/// In which form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// As they came.
    #[default]
    Ndjson,
    /// The lead's lines.
    Lead,
    /// The consultant's objects.
    Consultant,
}

/// What passes to whom, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// Who reads.
    pub audience: Audience,
    /// In which form.
    pub format: Format,
    /// Not even the result's path while blind.
    pub blind_strict: bool,
    /// Only what the oldest formats have.
    pub seed_only: bool,
}

/// What becomes of an event.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    /// It passes with its urgency.
    Whole,
    /// This is said instead, in one line.
    Text(Vec<u8>),
    /// It is none of the reader's.
    Nothing,
}

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

/// The lead's lines beside the watchdog's objects.
const STATES: [&str; 5] =
    ["result_ready", "stalled", "timeout_imminent", "timeout_exceeded", "process_died"];
const PANES: [&str; 6] = [
    "pane_dead",
    "untracked_pane",
    "pane_gone",
    "pane_outlived_agent",
    "known_pane_gone",
    "tmux_server_gone",
];
const OTHERS: [&str; 11] = [
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
    "feed_update",
];
const PROGRAMS: [&str; 4] = ["agent-watch", "pane-watch", "feed-watch", "nudge"];

type Event = Map<String, Value>;

impl Share {
    /// Whether everything passes as it is.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.audience == Audience::All && self.format == Format::Ndjson
    }

    /// What the reader gets of `line`, whose urgency is `urgency`.
    ///
    /// # Errors
    ///
    /// None for texts and numbers.
    pub fn of(&self, line: &[u8], urgency: &str) -> io::Result<Part> {
        let event = serde_json::from_slice::<Event>(line).ok();
        let name = event.as_ref().and_then(|event| text(event, "event")).unwrap_or_default();
        if self.audience == Audience::Consultant {
            return match &event {
                Some(event) => self.consultant(event, name, urgency),
                None => Ok(Part::Nothing),
            };
        }
        if name == "feed_update" && self.audience == Audience::Lead {
            return Ok(Part::Nothing);
        }
        match &event {
            Some(event) if self.format == Format::Lead => self.lead(event, name, line),
            _ if self.format == Format::Lead && self.seed_only => Ok(Part::Nothing),
            _ if self.format == Format::Lead => Ok(Part::Text(line.to_vec())),
            _ => Ok(Part::Whole),
        }
    }

    fn consultant(self, event: &Event, name: &str, urgency: &str) -> io::Result<Part> {
        if name == "feed_update" {
            return self.feed(event, urgency);
        }
        let Some(row) = SHARE.iter().find(|row| row.event == name) else {
            return Ok(Part::Nothing);
        };
        let blind = event.get("blind") != Some(&Value::Bool(false));
        let reporting = text(event, "consultant_reporting");
        let full = reporting == Some("full") && !blind;
        if reporting == Some("none") || (row.full && !full) || (self.seed_only && !row.seed) {
            return Ok(Part::Nothing);
        }
        let (Some(agent), Some(step)) = (identity(event, "agent"), identity(event, "step")) else {
            return Ok(Part::Nothing);
        };
        let withheld = |key: &str| self.blind_strict && blind && key == "result_path";
        let keys = row.keys.iter().filter(|(_, key)| !withheld(key));
        if self.format == Format::Ndjson {
            let mut object = head(event, name)?;
            object.add("agent", agent)?;
            object.add("step", step)?;
            for (_, key) in keys {
                if let Some(value) = allowed(event, key) {
                    object.add(key, &value)?;
                }
            }
            return tail(object, event, urgency);
        }
        let mut object = Object::default();
        object.add("event", row.name)?;
        object.add("step", step)?;
        object.add("agent", agent)?;
        for (shown, key) in keys {
            match allowed(event, key) {
                Some(Value::Number(number)) => object.add(shown, &whole(&number))?,
                Some(value) => object.add(shown, &value)?,
                None => {}
            }
        }
        object.add("ts", &clock(event))?;
        object.add("source", "monitor")?;
        Ok(Part::Text(object.close()))
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

    fn lead(self, event: &Event, name: &str, line: &[u8]) -> io::Result<Part> {
        let seed = STATES.contains(&name)
            || ["pane_dead", "untracked_pane", "nudge_repeat"].contains(&name);
        if self.seed_only && !seed {
            return Ok(Part::Nothing);
        }
        if PANES.contains(&name) {
            let mut object = Object::default();
            object.add("type", "watchdog")?;
            object.add("event", name)?;
            let keys: &[&str] = if name == "pane_dead" { &["pane"] } else { &["pane", "pid"] };
            for key in keys {
                object.keep(event, key)?;
            }
            object.add("ts", &clock(event))?;
            return Ok(Part::Text(object.close()));
        }
        if name == "nudge_repeat" {
            let mut object = Object::default();
            object.add("type", "watchdog")?;
            object.add("event", name)?;
            for key in ["original_event", "agent", "nudge_count"] {
                object.keep(event, key)?;
            }
            object.add("ts", &clock(event))?;
            return Ok(Part::Text(object.close()));
        }
        let health = name.starts_with("monitor_")
            && text(event, "source").is_some_and(|source| PROGRAMS.contains(&source));
        if !STATES.contains(&name) && !OTHERS.contains(&name) && !health {
            return Ok(Part::Text(line.to_vec()));
        }
        Ok(Part::Text(sentence(event, name)?.into_bytes()))
    }
}

/// `[MONITOR] agent=… step=… state=… … ts=…`
fn sentence(event: &Event, name: &str) -> io::Result<String> {
    let word = |key: &str| match event.get(key) {
        Some(Value::String(text)) => quoted(text),
        Some(Value::Number(number)) => Ok(number.to_string()),
        _ => Ok("-".to_owned()),
    };
    let number = |key: &str| event.get(key).and_then(Value::as_number).map(whole);
    let mut said =
        format!("[MONITOR] agent={} step={} state={name}", word("agent")?, word("step")?);
    let mut add = |key: &str, value: String| said.extend([" ", key, "=", &value]);
    match name {
        "result_ready" => add("file", word("result_path")?),
        "stalled" => {
            for key in ["idle_sec", "cpu_pct"] {
                if let Some(value) = number(key) {
                    add(key, value.to_string());
                }
            }
        }
        "timeout_imminent" | "timeout_exceeded" => {
            let (elapsed, limit) = (number("elapsed_sec"), number("timeout_sec"));
            add("elapsed", format!("{}/{}s", elapsed.unwrap_or(0), limit.unwrap_or(0)));
        }
        "process_died" => add("pid", number("pid").unwrap_or(0).to_string()),
        _ => {
            if let Some(reason) = text(event, "reason") {
                add("reason", quoted(reason)?);
            }
            for key in ["idle_sec", "pid"] {
                if let Some(value) = number(key) {
                    add(key, value.to_string());
                }
            }
            if let Some(path) = text(event, "result_path").or_else(|| text(event, "path")) {
                add("file", quoted(path)?);
            }
        }
    }
    add("ts", clock(event));
    Ok(said)
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

/// The nearest whole number.
#[expect(clippy::cast_possible_truncation, reason = "a float becomes the nearest i64 there is")]
fn whole(number: &serde_json::Number) -> i64 {
    number.as_i64().unwrap_or_else(|| number.as_f64().unwrap_or(0.0).round() as i64)
}

fn text<'a>(event: &'a Event, key: &str) -> Option<&'a str> {
    event.get(key).and_then(Value::as_str)
}

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
    for key in ["timestamp", "source"] {
        object.keep(event, key)?;
    }
    Ok(object)
}

/// What it ends with.
fn tail(mut object: Object, event: &Event, urgency: &str) -> io::Result<Part> {
    for key in ["key", "condition", "id"] {
        object.keep(event, key)?;
    }
    object.add("urgency", urgency)?;
    Ok(Part::Text(object.close()))
}

/// An object in the making, whose keys keep their order.
#[derive(Default)]
struct Object(Vec<u8>);

impl Object {
    fn add(&mut self, key: &str, value: &(impl serde::Serialize + ?Sized)) -> io::Result<()> {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        self.0.extend(json(key)?);
        self.0.push(b':');
        self.0.extend(json(value)?);
        Ok(())
    }

    /// The event's own value, if it is a text or a number.
    fn keep(&mut self, event: &Event, key: &str) -> io::Result<()> {
        match event.get(key) {
            Some(value) if value.is_string() || value.is_number() => self.add(key, value),
            _ => Ok(()),
        }
    }

    fn close(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }
}

/// Hours and minutes of the event, in local time.
fn clock(event: &Event) -> String {
    let at = text(event, "timestamp").and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let local = at.and_then(|at| local(at.as_second()));
    local.map_or_else(|| "--:--".to_owned(), |(hour, minute)| format!("{hour:02}:{minute:02}"))
}

fn local(second: i64) -> Option<(i32, i32)> {
    // SAFETY: all zeros is a `tm`, its pointer included; localtime_r fills it or answers null.
    #[expect(unsafe_code, reason = "the time zone of this process is the C library's to know")]
    let (found, tm) = unsafe {
        let mut tm = std::mem::zeroed::<nix::libc::tm>();
        let found = !nix::libc::localtime_r(&raw const second, &raw mut tm).is_null();
        (found, tm)
    };
    found.then_some((tm.tm_hour, tm.tm_min))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing;

    fn share(format: Format) -> Share {
        let audience = match format {
            Format::Ndjson | Format::Consultant => Audience::Consultant,
            Format::Lead => Audience::Lead,
        };
        Share { audience, format, ..Share::default() }
    }

    fn said(share: Share, line: &str) -> Option<String> {
        match share.of(line.as_bytes(), "info").unwrap() {
            Part::Whole => Some(line.to_owned()),
            Part::Text(text) => Some(String::from_utf8(text).unwrap()),
            Part::Nothing => None,
        }
    }

    fn event(name: &str, more: &str) -> String {
        format!(
            r#"{{"event":"{name}","timestamp":"x","source":"agent-watch","agent":"a","step":"5",{more}"key":"k","condition":"once","id":"0"}}"#
        )
    }

    #[test]
    fn the_consultant_gets_what_the_phase_allows() {
        let full = r#""blind":false,"consultant_reporting":"full","#;
        let filtered = r#""blind":false,"consultant_reporting":"filtered","#;
        let blind = r#""blind":true,"consultant_reporting":"full","#;
        let none = r#""blind":false,"consultant_reporting":"none","#;
        let odd = r#""blind":"no","consultant_reporting":7,"#;
        for (name, always) in [
            ("result_ready", true),
            ("stalled", true),
            ("timeout_imminent", true),
            ("timeout_exceeded", true),
            ("recovered", false),
            ("process_died", false),
        ] {
            for format in [Format::Consultant, Format::Ndjson] {
                let gets = |stamp: &str| said(share(format), &event(name, stamp)).is_some();
                assert!(gets(full) && !gets(none), "{name}");
                for stamp in [filtered, blind, odd, ""] {
                    assert_eq!(gets(stamp), always, "{name} {stamp}");
                }
            }
        }
        for name in ["pane_dead", "heartbeat_warning", "item_degraded", "monitor_armed", "reading"]
        {
            assert_eq!(said(share(Format::Consultant), &event(name, full)), None);
        }
        let feed = said(share(Format::Consultant), &event("feed_update", blind)).unwrap();
        assert_eq!(feed, r#"{"type":"feed_update","source":"monitor","ts":"--:--"}"#);
        let seed = Share { seed_only: true, ..share(Format::Consultant) };
        assert_eq!(said(seed, &event("process_died", full)), None);
    }

    #[test]
    fn a_result_keeps_its_verdict_to_itself() {
        let more = r#""size":99,"verdict":"FAIL","result_path":"/r/v.md","blind":true,"consultant_reporting":"full","#;
        let line = event("result_ready", more);
        let want = r#"{"event":"agent_complete","step":"5","agent":"a","result":"/r/v.md","ts":"--:--","source":"monitor"}"#;
        assert_eq!(said(share(Format::Consultant), &line).unwrap(), want);
        let strict = Share { blind_strict: true, ..share(Format::Consultant) };
        let want = want.replace(r#""result":"/r/v.md","#, "");
        assert_eq!(said(strict, &line).unwrap(), want);
        let want = r#"{"event":"result_ready","timestamp":"x","source":"agent-watch","agent":"a","step":"5","result_path":"/r/v.md","key":"k","condition":"once","id":"0","urgency":"info"}"#;
        assert_eq!(said(share(Format::Ndjson), &line).unwrap(), want);
    }

    #[test]
    fn the_lead_gets_the_old_lines() {
        for (name, more, want) in [
            ("stalled", r#""idle_sec":180,"cpu_pct":0.4,"#, "idle_sec=180 cpu_pct=0"),
            ("stalled", r#""idle_sec":180,"#, "idle_sec=180"),
            ("result_ready", r#""result_path":"/r/v.md","#, "file=/r/v.md"),
            ("result_ready", r#""result_path":"/r/a b\"\n.md","#, r#"file="/r/a b\"\n.md""#),
            (
                "timeout_imminent",
                r#""elapsed_sec":1080,"timeout_sec":1200.0,"#,
                "elapsed=1080/1200s",
            ),
            ("process_died", r#""pid":77,"#, "pid=77"),
            ("item_degraded", r#""reason":"no_pid_file","#, "reason=no_pid_file"),
            ("monitor_stopped", r#""reason":"signal","#, "reason=signal"),
        ] {
            let line = said(share(Format::Lead), &event(name, more)).unwrap();
            assert_eq!(line, format!("[MONITOR] agent=a step=5 state={name} {want} ts=--:--"));
        }
        let pane = said(share(Format::Lead), &event("untracked_pane", r#""pane":"%3","pid":9,"#));
        let want =
            r#"{"type":"watchdog","event":"untracked_pane","pane":"%3","pid":9,"ts":"--:--"}"#;
        assert_eq!(pane.unwrap(), want);
        let more = r#""original_event":"stalled","nudge_count":2,"final":false,"#;
        let want = r#"{"type":"watchdog","event":"nudge_repeat","original_event":"stalled","agent":"a","nudge_count":2,"ts":"--:--"}"#;
        assert_eq!(said(share(Format::Lead), &event("nudge_repeat", more)).unwrap(), want);
        let foreign = event("gate_opened", "");
        assert_eq!(said(share(Format::Lead), &foreign).unwrap(), foreign);
        let seed = Share { seed_only: true, ..share(Format::Lead) };
        assert_eq!(said(seed, &foreign), None);
        assert_eq!(said(share(Format::Lead), &event("feed_update", "")), None);
    }

    const ALLOWED: [&str; 19] = [
        "event",
        "timestamp",
        "source",
        "agent",
        "step",
        "result_path",
        "result",
        "idle_sec",
        "cpu_pct",
        "elapsed_sec",
        "timeout_sec",
        "type",
        "key",
        "condition",
        "id",
        "urgency",
        "ts",
        "-",
        "--",
    ];

    proptest! {
        /// Whatever an event holds, nothing outside the allow-list reaches the consultant.
        #[test]
        fn nothing_else_reaches_the_consultant(
            name in proptest::sample::select(vec![
                "result_ready", "stalled", "timeout_imminent", "timeout_exceeded", "recovered",
                "process_died", "feed_update", "pane_dead", "item_degraded", "gate_opened",
            ]),
            members in proptest::collection::vec(
                (proptest::sample::select(vec![
                    "size", "mtime", "exit_code", "exit_signal", "tree_cpu_pct", "verdict", "ts",
                    "result", "blind", "consultant_reporting", "result_path", "idle_sec", "agent",
                ]), testing::scalar()), 0..8),
            strict in any::<bool>(),
            ndjson in any::<bool>(),
        ) {
            let more = members.iter().map(|(key, value)| format!("\"{key}\":{value},"));
            let more = more.collect::<Vec<_>>().concat();
            let format = if ndjson { Format::Ndjson } else { Format::Consultant };
            let share = Share { blind_strict: strict, ..share(format) };
            if let Some(said) = said(share, &event(name, &more)) {
                let said: Event = serde_json::from_str(&said).unwrap();
                for key in said.keys() {
                    prop_assert!(ALLOWED.contains(&&**key), "{key}");
                }
                prop_assert!(!["pane_dead", "item_degraded", "gate_opened"].contains(&name));
            }
        }
    }
}

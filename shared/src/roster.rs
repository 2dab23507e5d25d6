//! The registry of agents: what a line of it says, and what stands after all of them.

use std::{collections::BTreeMap, path::Path};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::{cli, line};

/// The most items.
const ITEMS: usize = 1024;
/// The most progress paths of an item.
const PATHS: usize = 16;
/// The longest time limit: a year.
const LONGEST: f64 = 31_536_000.0;
/// How far ahead a start may lie, since two machines' clocks differ.
const AHEAD: f64 = 300.0;

/// How much the consultant is to hear of an item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reporting {
    /// What is safe in a blind phase, always.
    #[default]
    Filtered,
    /// More, while the phase isn't blind.
    Full,
    /// Nothing.
    None,
}

/// An agent and its step: the key of an item.
pub type Key = (String, String);

/// What a line registers.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Whose result is waited for.
    pub agent: String,
    /// At which step.
    pub step: String,
    /// Which run of it.
    pub instance: String,
    /// Where the result will be, absolute like all paths here.
    pub result_path: String,
    /// Where its process is named.
    pub pid_file: Option<String>,
    /// How long it may take, in seconds.
    pub timeout: Option<f64>,
    /// When it started, in seconds since 1970.
    pub started: Option<f64>,
    /// What the line says of the blind phase.
    pub blind: Option<bool>,
    /// What the consultant hears.
    pub reporting: Reporting,
    /// What changes while it works.
    pub progress: Vec<String>,
    /// The silence that makes a stall, in seconds.
    pub idle_stall: Option<f64>,
    /// Its pane.
    pub pane: Option<String>,
    /// The digest of the line.
    pub digest: String,
}

/// What a line says.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// An item.
    Item(Box<Spec>),
    /// A blind phase begins or ends, for the items that match.
    Blind {
        /// Begins.
        on: bool,
        /// Of this agent; none: everywhere.
        agent: Option<String>,
        /// At this step.
        step: Option<String>,
    },
    /// An item goes.
    Unregister(Key),
    /// Everything ends.
    Shutdown,
    /// An answer, which is for `nudge`.
    Ack,
}

/// Why a line is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The field at fault.
    pub field: Option<&'static str>,
    /// What is wrong with it.
    pub reason: &'static str,
}

const fn fault(field: &'static str, reason: &'static str) -> Fault {
    Fault { field: Some(field), reason }
}

/// Where and when a line stands.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Where it begins.
    pub offset: u64,
    /// The folder of relative paths, absolute.
    pub base: &'a Path,
    /// Now, in seconds since 1970.
    pub wall: f64,
}

/// Reads a line.
///
/// # Errors
///
/// Why it is refused.
pub fn parse(text: &[u8], place: Place<'_>) -> Result<Entry, Fault> {
    let malformed = |reason| Fault { field: None, reason };
    serde_json::from_slice::<serde::de::IgnoredAny>(text).map_err(|_| malformed("not_json"))?;
    let fields = serde_json::from_slice(text).map_err(|_| malformed("not_object"))?;
    let fields = Fields(fields);
    if fields.has("result_path") {
        return item(&fields, text, place).map(|spec| Entry::Item(Box::new(spec)));
    }
    if fields.has("op") {
        if fields.get::<String>("op")?.as_deref() != Some("unregister") {
            return Err(fault("op", "bad_value"));
        }
        return Ok(Entry::Unregister((fields.agent()?, fields.step()?)));
    }
    if fields.has("shutdown_request") {
        return match fields.get::<bool>("shutdown_request")? {
            Some(true) => Ok(Entry::Shutdown),
            _ => Err(fault("shutdown_request", "bad_value")),
        };
    }
    if fields.has("blind_phase") {
        let on = fields.get("blind_phase")?.ok_or(fault("blind_phase", "wrong_type"))?;
        let agent = fields.has("agent").then(|| fields.agent()).transpose()?;
        let step = fields.has("step").then(|| fields.step()).transpose()?;
        return Ok(Entry::Blind { on, agent, step });
    }
    if fields.has("ack") { Ok(Entry::Ack) } else { Err(malformed("unknown_line")) }
}

fn item(fields: &Fields, text: &[u8], place: Place<'_>) -> Result<Spec, Fault> {
    let (agent, step) = (fields.agent()?, fields.step()?);
    let absolute = |path: String| place.base.join(path).to_string_lossy().into_owned();
    let result_path =
        fields.path("result_path")?.map(absolute).ok_or(fault("result_path", "wrong_type"))?;
    let positive = |name: &'static str, zero_is_none: bool| match fields.get::<f64>(name)? {
        Some(0.0) if zero_is_none => Ok(None),
        Some(number) if !(number > 0.0 && number <= LONGEST) => Err(fault(name, "out_of_range")),
        other => Ok(other),
    };
    let started = fields.get::<f64>("started_at_epoch")?;
    if started.is_some_and(|at| !(at >= 0.0 && at <= place.wall + AHEAD)) {
        return Err(fault("started_at_epoch", "out_of_range"));
    }
    let reporting = match fields.get::<String>("consultant_reporting")?.as_deref() {
        None | Some("filtered") => Reporting::Filtered,
        Some("full") => Reporting::Full,
        Some("none") => Reporting::None,
        Some(_) => return Err(fault("consultant_reporting", "bad_value")),
    };
    let pane = fields.get::<String>("pane")?;
    if pane.as_deref().is_some_and(|pane| !is_pane(pane)) {
        return Err(fault("pane", "bad_value"));
    }
    let instance = if let Some(id) = fields.get::<String>("id")? {
        cli::name(&id).map_err(|_| fault("id", "bad_value"))?
    } else {
        let written = fields.raw("started_at_epoch").filter(|raw| *raw != "null");
        let origin = written.map_or_else(|| place.offset.to_string(), str::to_owned);
        let hex = line::digest(format!("{agent}\u{1f}{step}\u{1f}{origin}").as_bytes());
        hex.get(..8).unwrap_or_default().to_owned()
    };
    Ok(Spec {
        pid_file: fields.path("pid_file")?.map(absolute),
        timeout: positive("timeout_sec", true)?,
        started,
        blind: fields.get("blind_phase")?,
        reporting,
        progress: progress(fields)?.into_iter().map(absolute).collect(),
        idle_stall: positive("idle_stall_sec", false)?,
        digest: line::digest(text),
        agent,
        step,
        instance,
        result_path,
        pane,
    })
}

fn progress(fields: &Fields) -> Result<Vec<String>, Fault> {
    let name = if fields.has("progress_paths") { "progress_paths" } else { "events_path" };
    let paths = if name == "events_path" && fields.raw(name).is_some_and(|raw| raw.starts_with('"'))
    {
        fields.get::<String>(name)?.into_iter().collect()
    } else {
        fields.get::<Vec<String>>(name)?.unwrap_or_default()
    };
    if paths.len() > PATHS {
        return Err(fault(name, "out_of_range"));
    }
    if paths.iter().any(|path| !is_path(path)) {
        return Err(fault(name, "bad_value"));
    }
    Ok(paths)
}

fn is_path(path: &str) -> bool {
    (1..=4095).contains(&path.len()) && !path.contains('\0')
}

/// `%` and digits, as tmux names a pane.
#[must_use]
pub fn is_pane(text: &str) -> bool {
    let digits = text.strip_prefix('%').unwrap_or_default();
    (1..=10).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The members of an object; numbers as they are written.
struct Fields(BTreeMap<String, Box<RawValue>>);

impl Fields {
    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn raw(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|raw| raw.get())
    }

    /// A member; null is none.
    fn get<T: DeserializeOwned>(&self, name: &'static str) -> Result<Option<T>, Fault> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        serde_json::from_str(raw).map_err(|_| fault(name, "wrong_type"))
    }

    fn agent(&self) -> Result<String, Fault> {
        let name = self.get::<String>("agent")?.ok_or(fault("agent", "missing"))?;
        cli::name(&name).map_err(|_| fault("agent", "bad_value"))
    }

    fn step(&self) -> Result<String, Fault> {
        let raw = self.raw("step").ok_or(fault("step", "missing"))?;
        let is_number = raw.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        let text = if is_number { Some(raw.to_owned()) } else { self.get::<String>("step")? };
        let text = text.ok_or(fault("step", "missing"))?;
        cli::name(&text).map_err(|_| fault("step", "bad_value"))
    }

    fn path(&self, name: &'static str) -> Result<Option<String>, Fault> {
        let path = self.get::<String>(name)?;
        if path.as_deref().is_some_and(|path| !is_path(path)) {
            return Err(fault(name, "bad_value"));
        }
        Ok(path)
    }
}

/// An item that stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Registered {
    /// As registered last.
    pub spec: Spec,
    /// Whether its phase is blind.
    pub blind: bool,
    /// The order of registration.
    pub turn: u64,
}

/// What a line changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Nothing that matters.
    Nothing,
    /// An item is new, or another instance of it took the place of one.
    Added(Key),
    /// The same instance; whether any field differs.
    Updated(Key, bool),
    /// These phases are other ones now.
    Blind(Vec<Key>),
    /// An item went.
    Removed(Key),
    /// All went.
    Shutdown,
}

/// All items that stand.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Roster {
    /// By key.
    pub items: BTreeMap<Key, Registered>,
    blind: bool,
    turns: u64,
}

impl Roster {
    /// Takes a line in.
    ///
    /// # Errors
    ///
    /// A line that matches no item, or one item too many.
    pub fn apply(&mut self, entry: Entry) -> Result<Effect, Fault> {
        match entry {
            Entry::Item(spec) => self.register(*spec),
            Entry::Blind { on, agent: None, .. } => {
                self.blind = on;
                Ok(Effect::Blind(self.phase(on, |_| true)))
            }
            Entry::Blind { on, agent: Some(agent), step } => {
                let fits = |key: &Key| key.0 == agent && step.as_ref().is_none_or(|s| *s == key.1);
                let matched = self.phase(on, fits);
                if matched.is_empty() { Err(no_match()) } else { Ok(Effect::Blind(matched)) }
            }
            Entry::Unregister(key) => match self.items.remove(&key) {
                Some(_) => Ok(Effect::Removed(key)),
                None => Err(no_match()),
            },
            Entry::Shutdown => {
                self.items.clear();
                self.blind = false;
                Ok(Effect::Shutdown)
            }
            Entry::Ack => Ok(Effect::Nothing),
        }
    }

    /// Takes in a file that was read again from its beginning: what it has is news or known, and
    /// what it lacks stays.
    pub fn merge(&mut self, fresh: Self) -> Vec<Effect> {
        self.blind = fresh.blind;
        let mut entries: Vec<Registered> = fresh.items.into_values().collect();
        entries.sort_by_key(|entry| entry.turn);
        let mut effects = Vec::new();
        for Registered { spec, blind, .. } in entries {
            let Ok(effect) = self.register(spec) else { continue };
            if let Effect::Added(key) | Effect::Updated(key, _) = &effect
                && let Some(entry) = self.items.get_mut(key)
            {
                entry.blind = blind;
            }
            effects.push(effect);
        }
        effects
    }

    fn register(&mut self, spec: Spec) -> Result<Effect, Fault> {
        let key = (spec.agent.clone(), spec.step.clone());
        let known = self.items.get_mut(&key);
        if let Some(known) = known.filter(|known| known.spec.instance == spec.instance) {
            let differs = Spec { digest: known.spec.digest.clone(), ..spec.clone() } != known.spec;
            known.blind = spec.blind.unwrap_or(known.blind);
            known.spec = spec;
            return Ok(Effect::Updated(key, differs));
        }
        if self.items.len() >= ITEMS && !self.items.contains_key(&key) {
            return Err(Fault { field: None, reason: "too_many_items" });
        }
        self.turns += 1;
        let blind = spec.blind.unwrap_or(self.blind);
        self.items.insert(key.clone(), Registered { spec, blind, turn: self.turns });
        Ok(Effect::Added(key))
    }

    /// Sets the phase of those that fit, and says which.
    fn phase(&mut self, on: bool, fits: impl Fn(&Key) -> bool) -> Vec<Key> {
        let matched = self.items.iter_mut().filter(|(key, _)| fits(key));
        matched
            .map(|(key, item)| {
                item.blind = on;
                key.clone()
            })
            .collect()
    }
}

fn no_match() -> Fault {
    Fault { field: None, reason: "no_match" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Entry, Fault> {
        let place = Place { offset: 7, base: Path::new("/b"), wall: 1000.0 };
        parse(text.as_bytes(), place)
    }

    fn spec(text: &str) -> Spec {
        match read(text) {
            Ok(Entry::Item(spec)) => *spec,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_item_has_defaults_and_absolute_paths() {
        let spec = spec(r#"{"agent":"executor","step":10.5,"result_path":"r.md","x":[1]}"#);
        assert_eq!((&*spec.step, &*spec.result_path), ("10.5", "/b/r.md"));
        assert_eq!(
            (spec.timeout, spec.reporting, spec.instance.len()),
            (None, Reporting::Filtered, 8)
        );
    }

    #[test]
    fn each_bad_field_is_named() {
        for (fields, field, reason) in [
            (r#""agent":"a b","step":"1""#, "agent", "bad_value"),
            (r#""agent":"../x","step":"1""#, "agent", "bad_value"),
            (r#""agent":".","step":"1""#, "agent", "bad_value"),
            (r#""step":"1""#, "agent", "missing"),
            (r#""agent":"a""#, "step", "missing"),
            (r#""agent":"a","step":[]"#, "step", "wrong_type"),
            (r#""agent":"a","step":"1","blind_phase":"no""#, "blind_phase", "wrong_type"),
            (r#""agent":"a","step":"1","timeout_sec":-1"#, "timeout_sec", "out_of_range"),
            (r#""agent":"a","step":"1","timeout_sec":"9""#, "timeout_sec", "wrong_type"),
            (
                r#""agent":"a","step":"1","started_at_epoch":1301"#,
                "started_at_epoch",
                "out_of_range",
            ),
            (r#""agent":"a","step":"1","idle_stall_sec":0"#, "idle_stall_sec", "out_of_range"),
            (r#""agent":"a","step":"1","pane":"1""#, "pane", "bad_value"),
            (r#""agent":"a","step":"1","id":"a b""#, "id", "bad_value"),
            (r#""agent":"a","step":"1","pid_file":"""#, "pid_file", "bad_value"),
        ] {
            let line = format!(r#"{{"result_path":"r",{fields}}}"#);
            assert_eq!(read(&line), Err(fault(field, reason)), "{line}");
        }
        for (line, reason) in [("{", "not_json"), ("[]", "not_object"), ("{}", "unknown_line")] {
            assert_eq!(read(line), Err(Fault { field: None, reason }));
        }
    }

    #[test]
    fn control_lines_are_told_apart_in_their_order() {
        assert_eq!(read(r#"{"shutdown_request":true,"ack":"x"}"#), Ok(Entry::Shutdown));
        assert_eq!(read(r#"{"ack":"stalled","agent":"a"}"#), Ok(Entry::Ack));
        let blind = Entry::Blind { on: true, agent: None, step: None };
        assert_eq!(read(r#"{"blind_phase":true}"#), Ok(blind));
        let unregister = read(r#"{"op":"unregister","agent":"a","step":5}"#);
        assert_eq!(unregister, Ok(Entry::Unregister(("a".to_owned(), "5".to_owned()))));
    }

    #[test]
    fn what_stands_is_what_was_said_last() {
        let mut roster = Roster::default();
        let mut say = |line: &str| read(line).and_then(|entry| roster.apply(entry));
        let key = |agent: &str| (agent.to_owned(), "1".to_owned());
        let item = r#"{"agent":"a","step":"1","result_path":"r","started_at_epoch":9}"#;
        assert_eq!(say(item), Ok(Effect::Added(key("a"))));
        assert_eq!(say(item), Ok(Effect::Updated(key("a"), false)));
        assert_eq!(say(&item.replace("\"r\"", "\"s\"")), Ok(Effect::Updated(key("a"), true)));
        assert_eq!(say(&item.replace('9', "8")), Ok(Effect::Added(key("a"))));
        assert_eq!(say(r#"{"blind_phase":true,"agent":"b"}"#), Err(no_match()));
        assert_eq!(say(r#"{"blind_phase":true}"#), Ok(Effect::Blind(vec![key("a")])));
        assert_eq!(say(&item.replace("\"a\"", "\"b\"")), Ok(Effect::Added(key("b"))));
        assert_eq!(say(r#"{"op":"unregister","agent":"c","step":1}"#), Err(no_match()));
        assert_eq!(say(r#"{"shutdown_request":true}"#), Ok(Effect::Shutdown));
        assert_eq!(say(item), Ok(Effect::Added(key("a"))));
        assert!(!roster.items[&key("a")].blind);
    }
}

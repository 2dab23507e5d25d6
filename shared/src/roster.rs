//! The registry of agents: what a line of it says, and what stands after all of them.

mod fields;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use fields::{Fields, is_path};
use serde::Serialize;

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
        if agent.is_none() && step.is_some() {
            // Meant for one step, it must not reach every item.
            return Err(fault("agent", "missing"));
        }
        return Ok(Entry::Blind { on, agent, step });
    }
    if fields.has("ack") { Ok(Entry::Ack) } else { Err(malformed("unknown_line")) }
}

fn item(fields: &Fields, text: &[u8], place: Place<'_>) -> Result<Spec, Fault> {
    let (agent, step) = (fields.agent()?, fields.step()?);
    let absolute = |path: String| place.base.join(path).to_string_lossy().into_owned();
    let result_path =
        fields.path("result_path")?.map(absolute).ok_or(fault("result_path", "wrong_type"))?;
    let positive = |name: &'static str, zero_is_none: bool| match fields.number(name)? {
        Some(0.0) if zero_is_none => Ok(None),
        Some(number) if !(number > 0.0 && number <= LONGEST) => Err(fault(name, "out_of_range")),
        other => Ok(other),
    };
    let started = fields.number("started_at_epoch")?;
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

/// `%` and digits, as tmux names a pane.
#[must_use]
pub fn is_pane(text: &str) -> bool {
    let digits = text.strip_prefix('%').unwrap_or_default();
    (1..=10).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
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
    /// What a line said of items to come.
    blind: Option<bool>,
    /// Whose phase a line said something of.
    told: BTreeSet<Key>,
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
            Entry::Item(spec) => self.register(*spec).map_err(|(_, fault)| fault),
            Entry::Blind { on, agent: None, .. } => {
                self.blind = Some(on);
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
                self.told.clear();
                self.blind = Some(false);
                Ok(Effect::Shutdown)
            }
            Entry::Ack => Ok(Effect::Nothing),
        }
    }

    /// Takes in a file that was read again from its beginning: what it has is news or known, and
    /// what it lacks stays, a phase of which it says nothing included. Calls `refused` with what is
    /// one item too many beside those.
    pub fn merge(&mut self, fresh: Self, mut refused: impl FnMut(&Spec, Fault)) -> Vec<Effect> {
        self.blind = fresh.blind.or(self.blind);
        let mut entries: Vec<Registered> = fresh.items.into_values().collect();
        entries.sort_by_key(|entry| entry.turn);
        let mut effects = Vec::new();
        for Registered { spec, blind, .. } in entries {
            let effect = match self.register(spec) {
                Ok(effect) => effect,
                Err((spec, fault)) => {
                    refused(&spec, fault);
                    continue;
                }
            };
            if let Effect::Added(key) | Effect::Updated(key, _) = &effect
                && fresh.told.contains(key)
                && let Some(entry) = self.items.get_mut(key)
            {
                entry.blind = blind;
            }
            effects.push(effect);
        }
        effects
    }

    fn register(&mut self, spec: Spec) -> Result<Effect, (Box<Spec>, Fault)> {
        let key = (spec.agent.clone(), spec.step.clone());
        let known = self.items.get_mut(&key);
        if let Some(known) = known.filter(|known| known.spec.instance == spec.instance) {
            let differs = Spec { digest: known.spec.digest.clone(), ..spec.clone() } != known.spec;
            if let Some(blind) = spec.blind {
                known.blind = blind;
                self.told.insert(key.clone());
            }
            known.spec = spec;
            return Ok(Effect::Updated(key, differs));
        }
        if self.items.len() >= ITEMS && !self.items.contains_key(&key) {
            return Err((Box::new(spec), Fault { field: None, reason: "too_many_items" }));
        }
        self.turns += 1;
        let said = spec.blind.or(self.blind);
        self.told.remove(&key);
        self.told.extend(said.map(|_| key.clone()));
        let blind = said.unwrap_or(false);
        self.items.insert(key.clone(), Registered { spec, blind, turn: self.turns });
        Ok(Effect::Added(key))
    }

    /// Sets the phase of those that fit, and says which.
    fn phase(&mut self, on: bool, fits: impl Fn(&Key) -> bool) -> Vec<Key> {
        let matched = self.items.iter_mut().filter(|(key, _)| fits(key));
        matched
            .map(|(key, item)| {
                item.blind = on;
                self.told.insert(key.clone());
                key.clone()
            })
            .collect()
    }
}

fn no_match() -> Fault {
    Fault { field: None, reason: "no_match" }
}

#[cfg(test)]
mod tests;

//! From a line to a look, checked: what breaks a rule is never half taken.

use std::collections::HashSet;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::{
    ENTRIES,
    look::{Draft, Fault, FaultKind, Finding, Look, Name, ResetsOn, Severity, Status},
    settle::{has_failed, settle},
};
use crate::{
    line::{self, Fields},
    text::{self, Text},
};

/// The most parts of a reading.
const PARTS: u64 = 64;
/// The most bytes of a noun, a revision, a brief, a detail and of all facts.
const NOUN: usize = 40;
const REVISION: usize = 128;
const BRIEF: usize = 240;
const DETAIL: usize = 120;
const FACTS: usize = 1024;
/// The most characters of a word: a kind, a reason.
const WORD: usize = 40;
/// What an answer of a probe must not hold: a probe doesn't decide.
const DECISIONS: [&str; 3] = ["event", "decision", "verdict"];

/// One line of a reading.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What it says; of the parts after the first only the name, the number and the entries count.
    pub draft: Draft,
    /// Its number, from 1.
    pub part: u64,
    /// How many there are.
    pub parts: u64,
}

/// What is known of the subjects of a probe before any answer.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Who looks.
    pub source: &'a str,
    /// The probe's kind.
    pub kind: &'a str,
    /// What a person calls such a thing.
    pub noun: &'a str,
    /// The facts that come first, in this order.
    pub fields: &'a [String],
}

/// A line that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Whose look it was; none when the line doesn't say.
    pub name: Option<Name>,
    /// The number of the look; 0: it has none.
    pub number: u64,
    /// The rule, in words: `pending is not a whole number`.
    pub rule: String,
}

impl Broken {
    fn nameless(rule: impl Into<String>) -> Self {
        Self { name: None, number: 0, rule: rule.into() }
    }

    /// The failed look that the line stands for; none when nobody knows of what.
    #[must_use]
    pub fn look(self) -> Option<Look> {
        let fault = Fault::malformed(&self.rule);
        Some(settle(Draft::failed(self.name?, self.number, fault)))
    }
}

/// Why a rule is broken.
type Rule = String;

/// Reads a line whose `event` is `reading`.
///
/// # Errors
///
/// The first rule that the line breaks.
pub fn reading(line: &[u8]) -> Result<Part, Broken> {
    let map = object(line)?;
    let source = match map.get("source") {
        None => "",
        Some(Value::String(source)) => source,
        Some(_) => return Err(Broken::nameless("source is not a string")),
    };
    let source = fold_source(source);
    let subject = subject(&map)?;
    let standard = fold_kind(&source);
    let kind = text_of(&map, "kind").and_then(|kind| match kind {
        Some(kind) if !is_kind(kind) => {
            Err("kind is not 1 to 40 lower-case letters, digits and hyphens".to_owned())
        }
        kind => Ok(kind.map_or(standard.clone(), str::to_owned)),
    });
    let known = kind.clone().unwrap_or(standard);
    let mut name = Name { source, kind: known, subject };
    let number = map.get("look").and_then(Value::as_u64).unwrap_or(0);
    let part = kind.and_then(|_| part_of(&map)).and_then(|(part, parts)| {
        let mut draft = body(&map, line, &[])?;
        draft.name = std::mem::take(&mut name);
        Ok(Part { draft, part, parts })
    });
    part.map_err(|rule| Broken { name: Some(name), number, rule })
}

/// Reads a probe's answer.
///
/// # Errors
///
/// The first rule that it breaks.
pub fn answer(line: &[u8], frame: &Frame<'_>) -> Result<Draft, Broken> {
    let map = object(line)?;
    let subject = subject(&map)?;
    let name = Name { source: frame.source.to_owned(), kind: frame.kind.to_owned(), subject };
    let draft = match DECISIONS.iter().find(|key| map.contains_key(**key)) {
        Some(key) => Err(format!("{key} is not for a probe to say")),
        None => body(&map, line, frame.fields),
    };
    match draft {
        Ok(draft) if has_failed(&draft) && !draft.entries.is_empty() => {
            let rule = "a failed look has no entries".to_owned();
            Err(Broken { name: Some(name), number: 0, rule })
        }
        Ok(draft) => Ok(Draft { name, noun: frame.noun.to_owned(), ..draft }),
        Err(rule) => Err(Broken { name: Some(name), number: 0, rule }),
    }
}

fn object(line: &[u8]) -> Result<Map<String, Value>, Broken> {
    match serde_json::from_slice(line) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Broken::nameless("not a JSON object")),
        Err(err) => Err(Broken::nameless(format!("not JSON: {err}"))),
    }
}

fn subject(map: &Map<String, Value>) -> Result<String, Broken> {
    match map.get("subject") {
        Some(Value::String(subject)) if !subject.is_empty() => Ok(line::short_key(subject)),
        _ => Err(Broken::nameless("subject is not a text of 1 to 200 bytes")),
    }
}

/// The number of the part and of all parts.
fn part_of(map: &Map<String, Value>) -> Result<(u64, u64), Rule> {
    let parts = count(map, "parts", 1)?.unwrap_or(1);
    let part = count(map, "part", 1)?.unwrap_or(1);
    let look = count(map, "look", 1)?;
    if parts > PARTS || part > parts {
        return Err(format!("part and parts are not 1 to {PARTS}, in order"));
    }
    if parts > 1 && look.is_none() {
        return Err("a reading in parts has no number of its look".to_owned());
    }
    Ok((part, parts))
}

/// Everything but the envelope and the name.
fn body(map: &Map<String, Value>, line: &[u8], fields: &[String]) -> Result<Draft, Rule> {
    let status = match text_of(map, "status")? {
        None => None,
        Some(word) => Some(Status::of(word).ok_or("status is no word that is known")?),
    };
    let (facts, facts_cut) = facts(map, line, fields)?;
    let (entries, briefs_cut) = entries(map)?;
    let was_cut = flag(map, "truncated")?.unwrap_or(false);
    Ok(Draft {
        name: Name::default(),
        noun: Text::new(text_of(map, "noun")?.unwrap_or(""), NOUN).as_str().to_owned(),
        number: count(map, "look", 1)?.unwrap_or(0),
        revision: short_revision(text_of(map, "revision")?.unwrap_or("")),
        complete: flag(map, "complete")?.unwrap_or(true),
        status,
        reason: fold_word(text_of(map, "reason")?.unwrap_or("")),
        pending: count(map, "pending", 0)?,
        entries,
        facts,
        truncated: was_cut || facts_cut || briefs_cut,
        error: fault(map)?,
    })
}

fn text_of<'a>(map: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, Rule> {
    match map.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("{name} is not a string")),
    }
}

fn flag(map: &Map<String, Value>, name: &str) -> Result<Option<bool>, Rule> {
    match map.get(name) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(format!("{name} is neither true nor false")),
    }
}

fn count(map: &Map<String, Value>, name: &str, least: u64) -> Result<Option<u64>, Rule> {
    match map.get(name) {
        None => Ok(None),
        Some(value) => match value.as_u64().filter(|count| *count >= least) {
            Some(count) => Ok(Some(count)),
            None => Err(format!("{name} is not a whole number of at least {least}")),
        },
    }
}

fn entries(map: &Map<String, Value>) -> Result<(Vec<Finding>, bool), Rule> {
    let list = match map.get("entries") {
        None => return Ok((Vec::new(), false)),
        Some(Value::Array(list)) => list,
        Some(_) => return Err("entries is not a list".to_owned()),
    };
    if list.len() > ENTRIES {
        return Err(format!("more than {ENTRIES} entries"));
    }
    let mut cut = false;
    let found = list.iter().map(|entry| finding(entry, &mut cut)).collect::<Result<Vec<_>, _>>()?;
    distinct(&found)?;
    Ok((found, cut))
}

/// Refuses a key that stands twice in one scope.
pub(super) fn distinct(entries: &[Finding]) -> Result<(), Rule> {
    let mut seen = HashSet::with_capacity(entries.len());
    match entries.iter().find(|entry| !seen.insert((entry.resets_on, &*entry.key))) {
        Some(twice) => Err(format!("the key {} stands twice", Text::new(&twice.key, 60).as_str())),
        None => Ok(()),
    }
}

fn finding(entry: &Value, cut: &mut bool) -> Result<Finding, Rule> {
    let Value::Object(map) = entry else { return Err("an entry is not an object".to_owned()) };
    let key = text_of(map, "key")?.unwrap_or("");
    if key.is_empty() || key.starts_with(['=', '~']) {
        return Err("the key of an entry is empty or begins with = or ~".to_owned());
    }
    let severity = match text_of(map, "severity")? {
        None => Severity::Wake,
        Some(word) => Severity::of(word).ok_or("severity is not wake, immediate or terminal")?,
    };
    let resets_on = match text_of(map, "resets_on")? {
        None => ResetsOn::Revision,
        Some(word) => ResetsOn::of(word).ok_or("resets_on is not revision or never")?,
    };
    let brief = Text::new(text_of(map, "brief")?.unwrap_or(""), BRIEF);
    *cut |= brief.is_cut();
    let (key, brief) = (line::short_key(key), brief.as_str().to_owned());
    Ok(Finding { key, severity, resets_on, brief })
}

fn fault(map: &Map<String, Value>) -> Result<Option<Fault>, Rule> {
    let map = match map.get("error") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(map)) => map,
        Some(_) => return Err("error is neither an object nor null".to_owned()),
    };
    let kind = FaultKind::of(text_of(map, "kind")?.unwrap_or(""));
    let reason = fold_word(text_of(map, "reason")?.unwrap_or(""));
    let retry_at = match map.get("retry_at") {
        None | Some(Value::Null) => None,
        Some(at) => {
            let at = at.as_str().and_then(|at| at.parse::<Timestamp>().ok());
            Some(at.ok_or("retry_at is not a time of RFC 3339")?)
        }
    };
    Ok(Some(Fault {
        kind,
        reason: if reason.is_empty() { kind.word().to_owned() } else { reason },
        detail: Text::new(text_of(map, "detail")?.unwrap_or(""), DETAIL).as_str().to_owned(),
        attempted: flag(map, "attempted")?.unwrap_or(true),
        retry_at,
    }))
}

/// The facts that fit, `fields` first, and whether some did not.
fn facts(
    map: &Map<String, Value>,
    line: &[u8],
    fields: &[String],
) -> Result<(Vec<(String, Value)>, bool), Rule> {
    /// A map would forget the order.
    #[derive(Deserialize)]
    struct Raw<'a> {
        #[serde(borrow)]
        facts: Option<&'a RawValue>,
    }
    match map.get("facts") {
        None => return Ok((Vec::new(), false)),
        Some(Value::Object(_)) => {}
        Some(_) => return Err("facts is not an object".to_owned()),
    }
    let twice = |_| "facts stands twice".to_owned();
    let raw: Raw<'_> = serde_json::from_slice(line).map_err(twice)?;
    let text = raw.facts.map_or("{}", RawValue::get);
    let Fields(mut all) = serde_json::from_str(text).map_err(|err| format!("facts: {err}"))?;
    let place = |name: &str| fields.iter().position(|field| field == name);
    all.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
    Ok(fit_facts(all))
}

/// Cleans facts and keeps those that fit.
fn fit_facts(all: Vec<(String, Value)>) -> (Vec<(String, Value)>, bool) {
    let (mut kept, mut names, mut used, mut cut) = (Vec::new(), HashSet::new(), 2, false);
    for (name, value) in all {
        let (name, value) = (clean(&name), clean_value(value));
        let size = |value: &Value| value.to_string().len() + 1;
        let more = size(&Value::from(&*name)) + size(&value);
        if used + more <= FACTS && names.insert(name.clone()) {
            used += more;
            kept.push((name, value));
        } else {
            cut = true;
        }
    }
    (kept, cut)
}

fn clean(text: &str) -> String {
    text::clean(&text::redact(text)).into_owned()
}

fn clean_value(value: Value) -> Value {
    match value {
        Value::String(text) => clean(&text).into(),
        Value::Array(list) => list.into_iter().map(clean_value).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(name, value)| (clean(&name), clean_value(value))).collect()
        }
        other => other,
    }
}

/// A source as part of a record's name.
#[must_use]
pub fn fold_source(source: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    source.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

/// The kind of what has none: the source, as far as it can be one.
fn fold_kind(source: &str) -> String {
    let fold = |c: char| match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '0'..='9') => c,
        _ => '-',
    };
    let kind: String = source.chars().map(fold).collect();
    let kind = text::head(kind.trim_matches('-'), WORD);
    if kind.is_empty() { "unknown".to_owned() } else { kind.to_owned() }
}

/// Whether `kind` can be one: `[a-z0-9][a-z0-9-]{0,39}`.
#[must_use]
pub fn is_kind(kind: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=WORD).contains(&kind.len()) && kind.bytes().all(fits) && !kind.starts_with('-')
}

/// A reason in one word, `[a-z][a-z0-9_]{0,39}`: what doesn't fit becomes `_`, the rest is cut.
#[must_use]
pub fn fold_word(text: &str) -> String {
    let fold = |(at, c): (usize, char)| match c {
        'a'..='z' => c,
        '0'..='9' if at > 0 => c,
        _ => '_',
    };
    text.chars().take(WORD).enumerate().map(fold).collect()
}

/// A revision of at most 128 bytes: a longer one keeps its beginning and gets its digest.
fn short_revision(revision: &str) -> String {
    if revision.len() <= REVISION {
        return revision.to_owned();
    }
    format!("{}#{}", text::head(revision, REVISION - 17), line::digest(revision.as_bytes()))
}

#[cfg(test)]
mod tests;

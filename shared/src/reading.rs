//! `--emit readings`: all that one look found, for `wake`.

use std::io;

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    line::{self, LIMIT, Speaker},
    text::Text,
};

/// The most entries of a look.
const ENTRIES: usize = 1000;

/// How much a reader cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth a turn, when one is due.
    Wake,
    /// Worth a turn now.
    Immediate,
}

/// What ends an entry's being told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetsOn {
    /// A new revision of the subject.
    Revision,
    /// Nothing.
    Never,
}

/// One condition that holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    key: String,
    severity: Severity,
    resets_on: ResetsOn,
    brief: Text,
}

impl Entry {
    /// `brief` is one line for a person.
    #[must_use]
    pub fn new(key: &str, severity: Severity, resets_on: ResetsOn, brief: &str) -> Self {
        Self { key: line::short_key(key), severity, resets_on, brief: Text::new(brief, 240) }
    }
}

/// Why a look failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    kind: &'static str,
    reason: String,
    detail: Text,
}

impl Failure {
    /// `kind` is `transient` or `authentication`, `reason` the one of `monitor_degraded`.
    #[must_use]
    pub fn new(kind: &'static str, reason: &str, detail: &str) -> Self {
        Self { kind, reason: reason.to_owned(), detail: Text::new(detail, 120) }
    }
}

/// One look at one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What was looked at, canonical.
    pub subject: String,
    /// The number of the look, from 1.
    pub look: u64,
    /// All that holds; none when the look failed.
    pub entries: Vec<Entry>,
    /// Why there is nothing to read.
    pub error: Option<Failure>,
}

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the keys are the contract's")]
struct Part<'a> {
    event: &'static str,
    timestamp: String,
    source: &'a str,
    subject: &'a str,
    kind: String,
    look: u64,
    part: usize,
    parts: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    entries: &'a [Entry],
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Failure>,
}

impl Reading {
    /// The lines of this reading: one, or as many parts as it takes.
    ///
    /// # Errors
    ///
    /// None for what fits the types.
    pub fn lines(&self, speaker: &Speaker, timestamp: Timestamp) -> io::Result<Vec<Vec<u8>>> {
        let entries = &self.entries[..self.entries.len().min(ENTRIES)];
        let whole = entries.len() == self.entries.len();
        let mut part = Part {
            event: "reading",
            timestamp: timestamp.to_string(),
            source: &speaker.source,
            subject: &self.subject,
            kind: speaker.program.to_owned(),
            look: self.look,
            part: 64,
            parts: 64,
            complete: Some(whole && self.error.is_none()),
            entries: &[],
            error: self.error.as_ref(),
        };
        let mut cuts = vec![0];
        let mut used = line::json(&part)?.len() + 1;
        for (at, entry) in entries.iter().enumerate() {
            let size = line::json(entry)?.len() + 1;
            if used + size > LIMIT {
                cuts.push(at);
                (part.complete, part.error) = (None, None);
                used = line::json(&part)?.len() + 1;
            }
            used += size;
        }
        cuts.push(entries.len());
        let parts = cuts.len() - 1;
        let mut lines = Vec::with_capacity(parts);
        for (number, cut) in cuts.windows(2).enumerate() {
            let first = number == 0;
            part.complete = first.then_some(whole && self.error.is_none());
            part.error = self.error.as_ref().filter(|_| first);
            (part.part, part.parts, part.entries) = (number + 1, parts, &entries[cut[0]..cut[1]]);
            let mut bytes = line::json(&part)?;
            bytes.push(b'\n');
            lines.push(bytes);
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reading_comes_in_parts_that_fit() {
        let speaker =
            Speaker { program: "gate-watch", source: "gate".to_owned(), subject: String::new() };
        let entry = |n: usize| {
            Entry::new(
                &format!("gate:{n}"),
                Severity::Immediate,
                ResetsOn::Revision,
                &"x".repeat(200),
            )
        };
        let mut reading =
            Reading { subject: "/p".to_owned(), look: 7, entries: vec![entry(1)], error: None };
        let timestamp = Timestamp::UNIX_EPOCH;
        assert_eq!(reading.lines(&speaker, timestamp).unwrap().len(), 1);

        reading.entries = (0..100).map(entry).collect();
        let lines = reading.lines(&speaker, timestamp).unwrap();
        assert!(lines.len() > 5);
        let mut keys = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            assert!(line.len() <= LIMIT && line.ends_with(b"}\n"));
            let value: serde_json::Value = serde_json::from_slice(line).unwrap();
            assert_eq!(value["part"], at + 1);
            assert_eq!(value["parts"], lines.len());
            assert_eq!(value.get("complete").is_some(), at == 0);
            keys.extend(value["entries"].as_array().unwrap().iter().map(|e| e["key"].clone()));
        }
        assert_eq!(keys.len(), 100);
    }
}

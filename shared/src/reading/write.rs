//! `--emit readings`: all that one look found, for `wake`.

use std::io;

use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{ENTRIES, Look, ResetsOn, Severity, Status};
use crate::{
    line::{self, LIMIT, Speaker},
    text::Text,
};

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
    #[serde(skip_serializing_if = "Option::is_none")]
    attempted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_at: Option<String>,
}

impl Failure {
    /// `kind` is one of the words that `wake` knows (`transient`, `authentication`, …), `reason`
    /// the one of `monitor_degraded`.
    #[must_use]
    pub fn new(kind: &'static str, reason: &str, detail: &str) -> Self {
        let detail = Text::new(detail, 120);
        Self { kind, reason: reason.to_owned(), detail, attempted: None, retry_at: None }
    }

    /// Nobody was asked: the service wants to be left alone until `retry_at`.
    #[must_use]
    pub fn cooldown(retry_at: Timestamp) -> Self {
        let failure = Self::new("rate_limited", "cooldown", "");
        Self { attempted: Some(false), ..failure.retry_at(retry_at) }
    }

    /// The same, with the time before which there is no use in trying.
    #[must_use]
    pub fn retry_at(self, at: Timestamp) -> Self {
        let second = Timestamp::from_second(at.as_second()).unwrap_or(at);
        Self { retry_at: Some(second.to_string()), ..self }
    }
}

/// What a look tells of its subject beside what holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct About {
    /// What kind of thing the subject is; none: the program's name.
    #[serde(skip)]
    pub kind: Option<&'static str>,
    /// Some of the subject could not be read.
    #[serde(skip)]
    pub incomplete: bool,
    /// What a person calls such a thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noun: Option<&'static str>,
    /// The subject's revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// What the look came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'static str>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// How many parts of the subject have not settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<u64>,
    /// For people and evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts: Option<Facts>,
}

/// Facts, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts(pub Vec<(&'static str, Value)>);

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, value)| (name, value)))
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

/// What stands once, in the first part.
struct First<'a, A, F> {
    complete: bool,
    about: &'a A,
    error: Option<&'a F>,
}

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the keys are the contract's")]
struct Part<'a, A, E, F> {
    event: &'static str,
    timestamp: String,
    source: &'a str,
    subject: &'a str,
    kind: &'a str,
    look: u64,
    part: usize,
    parts: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    #[serde(flatten)]
    about: Option<&'a A>,
    entries: &'a [E],
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a F>,
}

impl<'a, A: Serialize, E: Serialize, F: Serialize> Part<'a, A, E, F> {
    /// Begins with `first`, or has only what every part has.
    fn set(&mut self, first: Option<&First<'a, A, F>>) {
        self.complete = first.map(|first| first.complete);
        self.about = first.map(|first| first.about);
        self.error = first.and_then(|first| first.error);
    }

    /// The lines with all `entries`: one, or as many parts as it takes.
    fn lines(mut self, first: &First<'a, A, F>, entries: &'a [E]) -> io::Result<Vec<Vec<u8>>> {
        self.set(Some(first));
        let mut cuts = vec![0];
        let mut used = line::json(&self)?.len() + 1;
        for (at, entry) in entries.iter().enumerate() {
            let size = line::json(entry)?.len() + 1;
            if used + size > LIMIT {
                cuts.push(at);
                self.set(None);
                used = line::json(&self)?.len() + 1;
            }
            used += size;
        }
        cuts.push(entries.len());
        self.parts = cuts.len() - 1;
        let mut lines = Vec::with_capacity(self.parts);
        for (number, cut) in cuts.windows(2).enumerate() {
            self.set((number == 0).then_some(first));
            (self.part, self.entries) = (number + 1, &entries[cut[0]..cut[1]]);
            let mut bytes = line::json(&self)?;
            bytes.push(b'\n');
            lines.push(bytes);
        }
        Ok(lines)
    }
}

fn part<A, E, F>(source: &str, timestamp: Timestamp) -> Part<'_, A, E, F> {
    Part {
        event: "reading",
        timestamp: timestamp.to_string(),
        source,
        subject: "",
        kind: "",
        look: 1,
        // As wide as they can be.
        part: 64,
        parts: 64,
        complete: None,
        about: None,
        entries: &[],
        error: None,
    }
}

impl Reading {
    /// The lines of this reading: one, or as many parts as it takes.
    ///
    /// # Errors
    ///
    /// None for what fits the types.
    pub fn lines(&self, speaker: &Speaker, timestamp: Timestamp) -> io::Result<Vec<Vec<u8>>> {
        self.lines_with(&About::default(), speaker, timestamp)
    }

    /// The same, telling of the subject too.
    ///
    /// # Errors
    ///
    /// As [`Reading::lines`].
    pub fn lines_with(
        &self,
        about: &About,
        speaker: &Speaker,
        timestamp: Timestamp,
    ) -> io::Result<Vec<Vec<u8>>> {
        let entries = &self.entries[..self.entries.len().min(ENTRIES)];
        let whole = entries.len() == self.entries.len() && !about.incomplete;
        let error = self.error.as_ref();
        let first = First { complete: whole && error.is_none(), about, error };
        let (subject, look) = (&*self.subject, self.look);
        let kind = about.kind.unwrap_or(speaker.program);
        Part { subject, kind, look, ..part(&speaker.source, timestamp) }.lines(&first, entries)
    }
}

/// What a look tells of its subject beside what holds.
#[derive(Serialize)]
struct Told<'a> {
    noun: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    revision: &'a str,
    status: Status,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<u64>,
    facts: InOrder<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

struct InOrder<'a>(&'a [(String, Value)]);

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Look {
    /// The lines of this look: one, or as many parts as it takes.
    ///
    /// # Errors
    ///
    /// None for what [`super::settle::settle`] answers.
    pub fn lines(&self, source: &str, timestamp: Timestamp) -> io::Result<Vec<Vec<u8>>> {
        let about = Told {
            noun: &self.noun,
            revision: &self.revision,
            status: self.status,
            reason: &self.reason,
            pending: self.pending,
            facts: InOrder(&self.facts),
            truncated: self.truncated,
        };
        let first = First { complete: self.complete, about: &about, error: self.error.as_ref() };
        let (subject, kind, look) = (&*self.subject, &*self.kind, self.number);
        Part { subject, kind, look, ..part(source, timestamp) }.lines(&first, &self.entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{Fault, Finding, parse, parts, settle};

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
            let value: Value = serde_json::from_slice(line).unwrap();
            assert_eq!(value["part"], at + 1);
            assert_eq!(value["parts"], lines.len());
            assert_eq!(value.get("complete").is_some(), at == 0);
            keys.extend(value["entries"].as_array().unwrap().iter().map(|e| e["key"].clone()));
        }
        assert_eq!(keys.len(), 100);
    }

    #[test]
    fn what_is_told_of_the_subject_stands_in_the_first_part_alone() {
        let speaker = Speaker { program: "p", source: "p".to_owned(), subject: String::new() };
        let entry = |n: usize| {
            Entry::new(&format!("k{n}"), Severity::Terminal, ResetsOn::Never, &"x".repeat(200))
        };
        let entries = (0..40).map(entry).collect();
        let reading = Reading { subject: "s".to_owned(), look: 1, entries, error: None };
        let about = About {
            kind: Some("queue"),
            incomplete: true,
            revision: Some("r1".to_owned()),
            pending: Some(3),
            facts: Some(Facts(vec![("z", 1.into()), ("a", "b".into())])),
            ..About::default()
        };
        let lines = reading.lines_with(&about, &speaker, Timestamp::UNIX_EPOCH).unwrap();
        let first = String::from_utf8(lines[0].clone()).unwrap();
        let told =
            r#""complete":false,"revision":"r1","pending":3,"facts":{"z":1,"a":"b"},"entries":["#;
        assert!(first.contains(told) && first.contains(r#""kind":"queue""#), "{first}");
        for later in &lines[1..] {
            let later = String::from_utf8_lossy(later);
            assert!(later.len() <= LIMIT && !later.contains("facts") && later.contains("queue"));
        }
    }

    #[test]
    fn a_look_that_was_read_is_written_as_it_was() {
        let timestamp = Timestamp::UNIX_EPOCH;
        let text = r#"{"event":"reading","source":"p","subject":"s","kind":"k","noun":"n","look":3,"revision":"r","pending":2,"status":"pending","entries":[{"key":"a","severity":"immediate","resets_on":"never","brief":"b"}],"facts":{"z":1,"a":"b"},"complete":false,"error":{"kind":"not_found","detail":"d","retry_at":"2026-01-01T00:00:00.5Z"}}"#;
        let look = settle::settle(parse::reading(text.as_bytes()).unwrap().draft);
        let lines = look.lines("p", timestamp).unwrap();
        let again = settle::settle(parse::reading(&lines[0]).unwrap().draft);
        assert_eq!((lines.len(), &again.fingerprint), (1, &look.fingerprint));
        let second = "2026-01-01T00:00:01Z".parse().unwrap();
        let fault = look.error.clone().map(|fault| Fault { retry_at: Some(second), ..fault });
        assert_eq!(again, Look { error: fault, ..look });

        let entries: Vec<Finding> = (0..1000)
            .map(|n| Finding { key: format!("k{n}"), ..again.entries[0].clone() })
            .collect();
        let many = Look { entries, ..again };
        let mut parts = parts::Parts::new();
        let lines = many.lines("p", timestamp).unwrap();
        assert!(lines.iter().all(|line| line.len() <= LIMIT));
        let looks = lines.iter().filter_map(|line| parts.join(parse::reading(line).unwrap()));
        let looks: Vec<Look> = looks.collect();
        assert_eq!((looks.len(), &looks[0].entries), (1, &many.entries));
    }

    #[test]
    fn a_look_that_was_skipped_says_when_there_is_another() {
        let failure = Failure::cooldown(Timestamp::UNIX_EPOCH);
        let text = serde_json::to_string(&failure).unwrap();
        let want = r#"{"kind":"rate_limited","reason":"cooldown","detail":"","attempted":false,"retry_at":"1970-01-01T00:00:00Z"}"#;
        assert_eq!(text, want);
    }
}

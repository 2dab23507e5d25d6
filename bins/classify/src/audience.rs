//! Whose share of the events passes, and in which form. Nothing is remembered from line to line:
//! every event carries what held when it was made.

mod consultant;
mod lead;
mod object;
#[cfg(test)]
mod tests;

use std::io;

use object::text;
use serde_json::{Map, Value, value::RawValue};

use crate::rules::members;

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

type Event = Map<String, Value>;

/// The members of an event. A value that nobody can count with, as 1e400, is none.
fn read(line: &[u8]) -> Option<Event> {
    let members = members(serde_json::from_slice(line).ok()?)?;
    let value = |raw: &RawValue| serde_json::from_str(raw.get()).unwrap_or(Value::Null);
    Some(members.into_iter().map(|(name, raw)| (name, value(raw))).collect())
}

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
        let event = read(line);
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
}

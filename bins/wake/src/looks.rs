//! What the engine must not know of a subject: what people call it and what its numbers are.
//! Only what the latest look said is kept, for texts and evidence.

use std::collections::HashMap;

use serde_json::Value;
use shared::reading::{Fault, Look, Status};

use crate::decide::RecordId;

/// The most subjects.
const MOST: usize = 100_000;

/// What the latest look at a subject said.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// What a person calls such a thing.
    pub noun: String,
    /// How it stood, settled.
    pub status: Status,
    /// For people, in their order.
    pub facts: Vec<(String, Value)>,
    /// Why the look, or a secondary read of it, failed.
    pub error: Option<Fault>,
}

/// The latest looks, by record.
#[derive(Debug, Default)]
pub struct Looks(HashMap<RecordId, Picture>);

impl Looks {
    /// Takes in a look. One that failed leaves the last good picture, with its error.
    pub fn note(&mut self, record: RecordId, look: &Look) {
        if self.0.len() >= MOST && !self.0.contains_key(&record) {
            return;
        }
        let picture = self.0.entry(record).or_insert_with(|| Picture {
            noun: String::new(),
            status: Status::Pending,
            facts: Vec::new(),
            error: None,
        });
        picture.status = look.status;
        picture.error.clone_from(&look.error);
        if look.failure().is_none() {
            picture.facts.clone_from(&look.facts);
        }
        if !look.noun.is_empty() {
            picture.noun.clone_from(&look.noun);
        }
    }

    /// What is known of a record.
    #[must_use]
    pub fn of(&self, record: &RecordId) -> Option<&Picture> {
        self.0.get(record)
    }
}

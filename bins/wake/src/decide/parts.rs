//! What the state of a watch is made of, beside its records.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{
    Ms,
    fields::{Fields, Rest},
    record::Stamp,
};

/// How many ids of occurrences are known.
const IDS: usize = 4096;

/// A line on its way out.
#[derive(Debug, Clone, Serialize)]
pub struct Emitting {
    /// Its identity.
    pub claim: String,
    /// Its bytes.
    pub line: String,
    pub(super) stamps: Vec<Stamp>,
    /// It ends the watch.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) last: bool,
    #[serde(flatten)]
    rest: Rest,
}

/// A line that a reader has not answered yet.
#[derive(Debug, Clone, Serialize)]
pub struct InFlight {
    /// Its identity.
    pub claim: String,
    /// What is known of it.
    pub stage: Stage,
    /// When it counts as lost.
    #[serde(rename = "deadline_ms")]
    pub deadline: Option<Ms>,
    /// When it is printed again.
    #[serde(rename = "resend_ms")]
    pub resend: Option<Ms>,
    /// Its bytes.
    pub line: String,
    pub(super) stamps: Vec<Stamp>,
    #[serde(flatten)]
    rest: Rest,
}

/// What is known of a line in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It was printed.
    Sent,
    /// A reader has it.
    Dispatched,
    /// The reader had no time.
    Busy,
}

/// What a watch has cost.
#[derive(Debug, Clone, Serialize)]
pub struct Spent {
    /// Lines printed, the last one not counted.
    pub wakes: u64,
    /// Tokens read.
    pub tokens_in: u64,
    /// Tokens written.
    pub tokens_out: u64,
    /// Every answer told its tokens.
    pub tokens_known: bool,
    #[serde(flatten)]
    rest: Rest,
}

/// The bucket that lines are paid from.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Guard {
    /// How many lines may leave at once; none: as many as ever may.
    pub tokens: Option<f64>,
    /// When that was so.
    #[serde(rename = "at_ms")]
    pub at: Ms,
    #[serde(flatten)]
    rest: Rest,
}

/// What came.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Counters {
    /// Good lines.
    pub lines: u64,
    /// Others.
    pub malformed: u64,
    /// Occurrences without an id of their own.
    pub once: u64,
    #[serde(flatten)]
    rest: Rest,
}

impl Emitting {
    pub(super) fn new(claim: String, stamps: Vec<Stamp>, last: bool) -> Self {
        Self { claim, line: String::new(), stamps, last, rest: Rest::default() }
    }

    /// Without its bytes nothing can be printed again.
    pub(super) fn read(mut fields: Fields<'_>) -> Option<Self> {
        Some(Self {
            claim: fields.get("claim")?,
            line: fields.get("line").filter(|line: &String| !line.is_empty())?,
            stamps: fields.list("stamps").into_iter().filter_map(Stamp::read).collect(),
            last: fields.take("last"),
            rest: fields.rest(),
        })
    }
}

impl InFlight {
    pub(super) fn new(emitting: Emitting, deadline: Ms) -> Self {
        let Emitting { claim, line, stamps, .. } = emitting;
        let (stage, rest) = (Stage::Sent, Rest::default());
        Self { claim, stage, deadline: Some(deadline), resend: None, line, stamps, rest }
    }

    pub(super) fn read(mut fields: Fields<'_>) -> Option<Self> {
        let stage = fields.get("stage").unwrap_or(Stage::Sent);
        let resend = fields.get("resend_ms").filter(|_| stage == Stage::Busy);
        let deadline = fields.get("deadline_ms");
        Some(Self {
            claim: fields.get("claim")?,
            stage,
            // A line that is never missed would silence the watch for ever.
            deadline: if resend.is_some() { None } else { Some(deadline.unwrap_or(0)) },
            resend,
            line: fields.take("line"),
            stamps: fields.list("stamps").into_iter().filter_map(Stamp::read).collect(),
            rest: fields.rest(),
        })
    }
}

impl Default for Spent {
    fn default() -> Self {
        let (wakes, tokens_in, tokens_out) = (0, 0, 0);
        Self { wakes, tokens_in, tokens_out, tokens_known: true, rest: Rest::default() }
    }
}

impl Spent {
    pub(super) fn read(mut fields: Fields<'_>) -> Self {
        Self {
            wakes: fields.take("wakes"),
            tokens_in: fields.take("tokens_in"),
            tokens_out: fields.take("tokens_out"),
            tokens_known: fields.get("tokens_known").unwrap_or(true),
            rest: fields.rest(),
        }
    }
}

impl Guard {
    pub(super) fn read(mut fields: Fields<'_>) -> Self {
        let tokens = fields.get("tokens").filter(|tokens: &f64| *tokens >= 0.0);
        Self { tokens, at: fields.take("at_ms"), rest: fields.rest() }
    }
}

impl Counters {
    pub(super) fn read(mut fields: Fields<'_>) -> Self {
        Self {
            lines: fields.take("lines"),
            malformed: fields.take("malformed"),
            once: fields.take("once"),
            rest: fields.rest(),
        }
    }
}

/// The newest ids of occurrences.
#[derive(Debug, Clone, Default)]
pub(super) struct Ids {
    order: VecDeque<Box<str>>,
    known: BTreeSet<Box<str>>,
}

impl Ids {
    /// Whether `id` is new; it is known from then on.
    pub(super) fn learn(&mut self, id: &str) -> bool {
        if !self.known.insert(id.into()) {
            return false;
        }
        self.order.push_back(id.into());
        if self.order.len() > IDS
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }

    pub(super) fn read(list: &[&RawValue]) -> Self {
        let mut ids = Self::default();
        for raw in list {
            if let Ok(id) = serde_json::from_str::<String>(raw.get()) {
                ids.learn(&id);
            }
        }
        ids
    }
}

impl Serialize for Ids {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(&self.order)
    }
}

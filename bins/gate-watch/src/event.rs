//! What the program says. Keys with nothing to say are left out.

use serde::{Deserialize, Serialize};
use shared::{
    line::{self, Condition, Mark, mark},
    text::Text,
};

use crate::{
    content::{Flaw, Items, Texts},
    name::Name,
};

/// A line on stdout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A gate opened.
    GateOpened(Asked),
    /// A gate was answered, or is gone.
    GateResolved(Resolved),
    /// An open gate asks something else.
    GateChanged(Asked),
    /// A gate has been open for as long as `--warn-after` says.
    GateWaiting(Waiting),
}

/// Which state of a file an event tells of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Nanoseconds since 1970 of its last change.
    pub modified_ns: i64,
    /// Its size in bytes.
    pub size: u64,
}

/// `gate_opened`, `gate_changed`: what is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// The file's name without `.json`, exact.
    pub gate_id: String,
    /// The file's name, exact.
    pub file: String,
    /// The question; at most 160 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Text>,
    /// Work waits for the answer.
    #[serde(skip_serializing_if = "is_false")]
    pub blocking: bool,
    /// The option that the asker would take; at most 80 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended_option: Option<Text>,
    /// The first five work items that wait.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_work_items: Vec<String>,
    /// How many wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_count: Option<usize>,
    /// It was open at the start.
    #[serde(skip_serializing_if = "is_false")]
    pub initial: bool,
    /// It was answered before it was seen open.
    #[serde(skip_serializing_if = "is_false")]
    pub late: bool,
    /// A commit of the state had begun and not ended.
    #[serde(skip_serializing_if = "is_false")]
    pub wal_pending: bool,
    /// Why there is no question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_error: Option<Flaw>,
    /// All bytes of the name in hex, where it isn't UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_hex: Option<String>,
    /// The file's state.
    #[serde(skip)]
    pub version: Version,
}

/// `gate_resolved`: a gate was answered, or is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resolved {
    /// The file's name without `.json`, exact.
    pub gate_id: String,
    /// The file's name, exact.
    pub file: String,
    /// What is known of the answer.
    pub resolution: Resolution,
    /// The answer; at most 80 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen_option: Option<Text>,
    /// When it was given, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Text>,
    /// The first five work items that go on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unblocked_work_items: Vec<String>,
    /// How many go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unblocked_count: Option<usize>,
    /// It was answered before it was seen open.
    #[serde(skip_serializing_if = "is_false")]
    pub late: bool,
    /// A commit of the state had begun and not ended.
    #[serde(skip_serializing_if = "is_false")]
    pub wal_pending: bool,
    /// All bytes of the name in hex, where it isn't UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_hex: Option<String>,
    /// The state of the record, else of the gate's file as it was last seen.
    #[serde(skip)]
    pub version: Version,
}

/// What is known of the answer to a gate that is no longer open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// There is a record of it.
    Recorded,
    /// The gate is gone without a record.
    Unrecorded,
    /// The gate is gone, and the records can't be listed.
    Unknown,
}

/// `gate_waiting`: a gate has been open for long.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// The file's name without `.json`, exact.
    pub gate_id: String,
    /// The file's name, exact.
    pub file: String,
    /// For how many seconds it has been open.
    pub waiting_seconds: u64,
    /// The question; at most 160 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Text>,
    /// Work waits for the answer.
    #[serde(skip_serializing_if = "is_false")]
    pub blocking: bool,
    /// The first five work items that wait.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_work_items: Vec<String>,
    /// How many wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_count: Option<usize>,
    /// All bytes of the name in hex, where it isn't UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_hex: Option<String>,
    /// The file's state.
    #[serde(skip)]
    pub version: Version,
}

impl Asked {
    /// What the gate `name` asks.
    #[must_use]
    pub fn new(name: &Name, version: Version, said: Result<Texts, Flaw>) -> Self {
        let content_error = said.as_ref().err().copied();
        let texts = said.unwrap_or_default();
        let (blocked_work_items, blocked_count) = listed(texts.blocked);
        Self {
            gate_id: name.id(),
            file: name.file().into_owned(),
            question: texts.question,
            blocking: texts.blocking,
            recommended_option: texts.recommended_option,
            blocked_work_items,
            blocked_count,
            content_error,
            file_hex: name.hex(),
            version,
            ..Self::default()
        }
    }
}

impl Resolved {
    /// How the gate `name` ended; `texts` are those of its record.
    #[must_use]
    pub fn new(name: &Name, version: Version, resolution: Resolution, texts: Texts) -> Self {
        let (unblocked_work_items, unblocked_count) = listed(texts.unblocked);
        Self {
            gate_id: name.id(),
            file: name.file().into_owned(),
            resolution,
            chosen_option: texts.chosen_option,
            resolved_at: texts.resolved_at,
            unblocked_work_items,
            unblocked_count,
            late: false,
            wal_pending: false,
            file_hex: name.hex(),
            version,
        }
    }
}

impl Waiting {
    /// How long the gate `name` has been open.
    #[must_use]
    pub fn new(name: &Name, version: Version, waiting_seconds: u64, texts: Texts) -> Self {
        let (blocked_work_items, blocked_count) = listed(texts.blocked);
        Self {
            gate_id: name.id(),
            file: name.file().into_owned(),
            waiting_seconds,
            question: texts.question,
            blocking: texts.blocking,
            blocked_work_items,
            blocked_count,
            file_hex: name.hex(),
            version,
        }
    }
}

impl line::Event for Event {
    fn mark(&self) -> Mark {
        let of = |prefix: &str, id: &str, condition, version: Version| {
            let (modified, size) = (version.modified_ns.to_string(), version.size.to_string());
            mark(&format!("{prefix}:{id}"), condition, &[&modified, &size])
        };
        match self {
            Self::GateOpened(asked) | Self::GateChanged(asked) => {
                of("gate", &asked.gate_id, Condition::Raised, asked.version)
            }
            Self::GateWaiting(waiting) => {
                of("gate-waiting", &waiting.gate_id, Condition::Raised, waiting.version)
            }
            Self::GateResolved(resolved) => mark(
                &format!("gate:{}", resolved.gate_id),
                Condition::Cleared,
                &[&resolved.version.modified_ns.to_string()],
            ),
        }
    }

    fn is_cut(&self) -> bool {
        let texts = match self {
            Self::GateOpened(asked) | Self::GateChanged(asked) => {
                [&asked.question, &asked.recommended_option]
            }
            Self::GateResolved(resolved) => [&resolved.chosen_option, &resolved.resolved_at],
            Self::GateWaiting(waiting) => [&waiting.question, &None],
        };
        texts.into_iter().flatten().any(Text::is_cut)
    }

    fn free_text() -> &'static [&'static str] {
        &["question", "recommended_option", "chosen_option", "resolved_at"]
    }
}

fn listed(items: Option<Items>) -> (Vec<String>, Option<usize>) {
    items.map_or((Vec::new(), None), |items| (items.named, Some(items.count)))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests;

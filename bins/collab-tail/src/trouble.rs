//! What is told of a board itself: that it shrank, was rewritten, can't be read.

use serde::{Deserialize, Serialize};
use shared::{line::Condition, text::Text};

/// The most bytes of a `detail`.
const DETAIL: usize = 200;

/// `file_shrunk`: a board has fewer bytes than were read of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shrunk {
    /// The board's canonical path.
    pub file: String,
    /// How many bytes were read of it.
    pub old_bytes: u64,
    /// How many it has.
    pub new_bytes: u64,
    /// How many are gone.
    pub delta_bytes: u64,
    /// Whether what is left reads otherwise, too.
    pub rewritten: bool,
    /// Which event of this kind it is of this board: part of the `id`.
    #[serde(skip)]
    pub count: u64,
}

/// `file_rewritten`: what was read of a board reads otherwise now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rewritten {
    /// The board's canonical path.
    pub file: String,
    /// Whether it is the same file.
    pub how: How,
    /// Where the first chunk begins that differs.
    pub from_byte: u64,
    /// How many bytes were read of it.
    pub old_bytes: u64,
    /// How many it has.
    pub new_bytes: u64,
    /// Which event of this kind it is of this board: part of the `id`.
    #[serde(skip)]
    pub count: u64,
}

/// How a board was rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// In place.
    Edited,
    /// By another file at its path.
    Replaced,
}

/// `watch_warn`: something is wrong with a board, or no longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The board's canonical path; for `state-failed` the file of the store.
    pub file: String,
    /// What is wrong.
    pub reason: Trouble,
    /// What is done about it; absent once it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// The system's words, or what stands there instead of a board.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Text>,
    /// The line that opened the fence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_number: Option<u64>,
    /// Which event of this kind it is of this board: part of the `id`.
    #[serde(skip)]
    pub count: u64,
}

/// What is done about a trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It is looked at again.
    Retry,
}

/// What can be wrong with a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trouble {
    /// There is no file, no folder, or no regular file.
    TemporarilyAbsent,
    /// The system doesn't let it be read.
    ReadFailed,
    /// It changed each time while it was read.
    HashFailed,
    /// The store can't be read or written.
    StateFailed,
    /// A fence is open at its end: what follows is code until it is closed.
    UnclosedFence,
}

impl Trouble {
    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::TemporarilyAbsent => "temporarily-absent",
            Self::ReadFailed => "read-failed",
            Self::HashFailed => "hash-failed",
            Self::StateFailed => "state-failed",
            Self::UnclosedFence => "unclosed-fence",
        }
    }

    /// Whether the board isn't seen while it holds. An open fence hides what is in it, no more.
    #[must_use]
    pub fn blinds(self) -> bool {
        matches!(self, Self::TemporarilyAbsent | Self::ReadFailed | Self::HashFailed)
    }
}

impl Warning {
    /// It holds.
    #[must_use]
    pub fn raised(file: String, reason: Trouble, detail: &str, count: u64) -> Self {
        let detail = (!detail.is_empty()).then(|| Text::new(detail, DETAIL));
        Self { file, reason, action: Some(Action::Retry), detail, line_number: None, count }
    }

    /// It no longer does.
    #[must_use]
    pub fn cleared(file: String, reason: Trouble, count: u64) -> Self {
        Self { file, reason, action: None, detail: None, line_number: None, count }
    }

    /// Whether it holds.
    #[must_use]
    pub fn condition(&self) -> Condition {
        if self.action.is_some() { Condition::Raised } else { Condition::Cleared }
    }
}

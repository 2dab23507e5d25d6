//! What event-tail says itself, among the lines that it passes on.

use serde::Serialize;
use shared::{
    line::{Condition, Event, Mark, mark},
    tail::{Reset, Why},
};

/// The journal's name in the state folder.
pub const FILE: &str = "events.ndjson";

/// An event of event-tail's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TailEvent {
    /// Reading begins at byte 0.
    TailReset(TailReset),
    /// Lines did not pass that perhaps should have.
    TailSkipped(TailSkipped),
}

/// `tail_reset`: the journal is read from byte 0, and something before may have been missed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TailReset {
    /// The journal's name.
    pub file: &'static str,
    /// Why.
    pub reason: ResetReason,
    /// How many bytes of the journal had been dealt with.
    pub previous_offset: u64,
    /// How many bytes it has.
    pub size: u64,
    /// Whether bytes can have been overwritten or lost before they were read.
    pub unread_possible: bool,
    /// The file's inode: part of the identity, not of the line.
    #[serde(skip)]
    pub inode: u64,
}

/// Why the journal is read from byte 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetReason {
    /// It has fewer bytes than were read.
    Truncated,
    /// It has another content where it was read already.
    Rewritten,
    /// A file that had the name is gone.
    RotatedAway,
    /// The cursor file is empty, cut short or no JSON.
    CursorInvalid,
}

impl ResetReason {
    fn word(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Rewritten => "rewritten",
            Self::RotatedAway => "rotated_away",
            Self::CursorInvalid => "cursor_invalid",
        }
    }
}

impl From<Reset> for TailReset {
    fn from(reset: Reset) -> Self {
        let Reset { why, previous_offset, size, inode } = reset;
        let reason = match why {
            Why::Truncated => ResetReason::Truncated,
            Why::Rewritten => ResetReason::Rewritten,
            Why::RotatedAway => ResetReason::RotatedAway,
            Why::MarkLost => ResetReason::CursorInvalid,
        };
        let unread_possible = reason != ResetReason::CursorInvalid;
        Self { file: FILE, reason, previous_offset, size, unread_possible, inode }
    }
}

/// `tail_skipped`: lines did not pass that perhaps should have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TailSkipped {
    /// The journal's name.
    pub file: &'static str,
    /// What was wrong with them.
    pub reason: SkipReason,
    /// How many lines, since it was told before.
    pub count: u64,
    /// How many bytes they have together.
    pub bytes: u64,
    /// Where in its file the first of them begins, in bytes.
    pub first_offset: u64,
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// It holds a wanted type and is no JSON object.
    Malformed,
    /// It is not UTF-8.
    NotUtf8,
    /// It has a NUL byte.
    Nul,
    /// It is longer than `--max-line`.
    TooLong,
    /// Its file ended without a newline, and it is no whole JSON object.
    Unterminated,
}

impl SkipReason {
    fn word(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::NotUtf8 => "not_utf8",
            Self::Nul => "nul",
            Self::TooLong => "too_long",
            Self::Unterminated => "unterminated",
        }
    }
}

impl Event for TailEvent {
    fn mark(&self) -> Mark {
        let parts = match self {
            Self::TailReset(TailReset { reason, inode, previous_offset, size, .. }) => vec![
                reason.word().to_owned(),
                inode.to_string(),
                previous_offset.to_string(),
                size.to_string(),
            ],
            Self::TailSkipped(TailSkipped { reason, first_offset, count, .. }) => {
                vec![reason.word().to_owned(), first_offset.to_string(), count.to_string()]
            }
        };
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        mark(&format!("tail:{FILE}"), Condition::Once, &parts)
    }
}

#[cfg(test)]
mod tests {
    use shared::line::Speaker;

    use super::*;

    fn line(event: TailEvent) -> String {
        let speaker =
            Speaker { program: "event-tail", source: "event-tail".into(), subject: "/p".into() };
        let at = "2026-04-08T14:10:00Z".parse().unwrap();
        String::from_utf8(speaker.line(&event, at).unwrap()).unwrap()
    }

    #[test]
    fn the_examples_are_what_is_printed() {
        let reset = Reset { why: Why::Rewritten, previous_offset: 88_213, size: 412, inode: 7 };
        let text = line(TailEvent::TailReset(reset.into()));
        assert_eq!(text, include_str!("../events/tail_reset.json"));
        let skipped = TailSkipped {
            file: FILE,
            reason: SkipReason::TooLong,
            count: 1,
            bytes: 5_000_001,
            first_offset: 88_213,
        };
        let text = line(TailEvent::TailSkipped(skipped));
        assert_eq!(text, include_str!("../events/tail_skipped.json"));
    }

    #[test]
    fn words_are_what_serde_writes() {
        use ResetReason::{CursorInvalid, Rewritten, RotatedAway, Truncated};
        use SkipReason::{Malformed, NotUtf8, Nul, TooLong, Unterminated};
        for reason in [Malformed, NotUtf8, Nul, TooLong, Unterminated] {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.word());
        }
        for reason in [Truncated, Rewritten, RotatedAway, CursorInvalid] {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.word());
        }
    }
}

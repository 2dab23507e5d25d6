//! The file of acknowledgements, which readers append to and `wake` follows.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use shared::{
    exit::Error,
    session::{Pass, Session},
    tail::{Mark, Name, Piece, Start, Tail},
};

use crate::decide::{Ack, AckResult};

/// The longest line that is read.
const LIMIT: usize = 64 << 10;

/// A line of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// `wake`.
    pub ack: String,
    /// Which line it answers.
    pub claim: String,
    /// `dispatched`, `busy`, `unavailable`, `completed`.
    pub result: String,
    /// Tokens read.
    #[serde(default, deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    /// Tokens written.
    #[serde(default, deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    /// How the turn went.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "Option::is_none")]
    pub disposition: Option<String>,
}

/// An answer counts, whatever is wrong with what it says of its cost: that is then not known.
fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Value::deserialize(from).map(|value| value.as_u64())
}

fn word<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Value::deserialize(from).map(|value| value.as_str().map(str::to_owned))
}

impl Answer {
    /// Reads a line; none when it is not for us.
    #[must_use]
    pub fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok().filter(|answer: &Self| answer.ack == "wake")
    }

    /// Hands it to `judge`, unless its result is a word that nobody knows.
    pub fn with_ack<T>(&self, judge: impl FnOnce(&Ack<'_>) -> T) -> Option<T> {
        let result = match &*self.result {
            "dispatched" => AckResult::Dispatched,
            "busy" => AckResult::Busy,
            "unavailable" => AckResult::Unavailable,
            "completed" => AckResult::Completed {
                tokens_in: self.tokens_in,
                tokens_out: self.tokens_out,
                stalled: self.disposition.as_deref() == Some("approval_stall"),
            },
            _ => return None,
        };
        Some(judge(&Ack { claim: &self.claim, result }))
    }
}

/// The file, followed.
#[derive(Debug)]
pub struct Answers {
    tail: Tail,
    /// Why the last look could not read the file.
    trouble: Option<String>,
}

impl Answers {
    /// Follows `path` from where an earlier run was, else from its present end.
    ///
    /// # Errors
    ///
    /// When the working directory is not known.
    pub fn new(path: &Path, mark: Option<Mark>) -> Result<Self, Error> {
        let path = std::path::absolute(path).map_err(|err| Error::io("resolve", path, &err))?;
        let start = mark.map_or(Start::Lines(0), Start::Mark);
        Ok(Self { tail: Tail::new(path, start, LIMIT), trouble: None })
    }

    /// The folders to watch.
    pub fn folders(&mut self) -> Vec<PathBuf> {
        self.tail.folders()
    }

    /// The answers that came since the last look.
    pub fn look(&mut self, pass: &Pass, session: &mut Session) -> Vec<Answer> {
        let name = self.tail.look(&pass.changes, pass.now.monotonic, || session.catch_up());
        let mut answers = Vec::new();
        while let Some(piece) = self.tail.piece() {
            if let Piece::Lines { bytes, .. } = piece {
                let lines = bytes.split(|byte| *byte == b'\n');
                answers.extend(lines.filter_map(Answer::read));
            }
        }
        let cause = match name {
            Name::Unreadable(cause) => Some(cause),
            Name::There | Name::Absent => self.tail.trouble().map(str::to_owned),
        };
        self.trouble = cause.map(|cause| format!("{}: {cause}", self.tail.path().display()));
        answers
    }

    /// Why the last look could not read the file, if it couldn't.
    #[must_use]
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// When another look is due though nothing changed, on the monotonic clock.
    #[must_use]
    pub fn due(&self) -> Option<std::time::Duration> {
        self.tail.due()
    }

    /// How far it was read.
    #[must_use]
    pub fn mark(&self) -> Option<Mark> {
        self.tail.mark()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_for_us_are_answers() {
        for line in [
            r#"{"ack":"stalled","agent":"executor"}"#,
            r#"{"ack":"wake","result":"busy"}"#,
            r#"{"ack":"stalled","claim":"c","result":"busy"}"#,
            r#"{"ack":"wake","claim":7,"result":"completed"}"#,
            "rubbish",
            "",
        ] {
            assert_eq!(Answer::read(line.as_bytes()), None, "{line}");
        }
        let line = br#"{"ack":"wake","claim":"b1","result":"completed","tokens_in":5200,"disposition":"approval_stall","more":1}"#;
        let answer = Answer::read(line).unwrap();
        let result =
            AckResult::Completed { tokens_in: Some(5200), tokens_out: None, stalled: true };
        let taken = answer.with_ack(|ack| (ack.claim.to_owned(), ack.result));
        assert_eq!(taken, Some(("b1".to_owned(), result)));
        let odd = br#"{"ack":"wake","claim":"b1","result":"completed","tokens_in":-1,"tokens_out":"many","disposition":7}"#;
        let odd = Answer::read(odd).unwrap();
        assert_eq!((odd.tokens_in, odd.tokens_out, odd.disposition), (None, None, None));
        let odd = Answer { result: "lost".to_owned(), ..answer };
        assert_eq!(odd.with_ack(|_| ()), None);
    }
}

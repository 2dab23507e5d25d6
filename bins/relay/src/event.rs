//! What the program says itself, besides its health.

use serde::Serialize;
use shared::line::{Condition, Event, Mark, mark};

use crate::head::Fault;

/// What the program says itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Notice {
    /// Lines were dropped.
    InputMalformed(InputMalformed),
}

/// `input_malformed`: lines were dropped because they are no JSON objects, or too long for the
/// server. The first is told at once, then at most once a minute, and at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct InputMalformed {
    /// Why the first of them was.
    pub reason: Fault,
    /// How many since the last notice.
    pub count: u64,
    /// The number of the first of them: of the line of stdin, from 1, or of the message.
    pub line: u64,
}

impl Event for Notice {
    fn mark(&self) -> Mark {
        let Self::InputMalformed(InputMalformed { count, line, .. }) = self;
        mark("input:malformed", Condition::Once, &[&line.to_string(), &count.to_string()])
    }
}

#[cfg(test)]
mod tests {
    use shared::line::Speaker;

    use super::*;

    #[test]
    fn the_example_event_is_what_is_said() {
        let speaker =
            Speaker { program: "relay", source: "relay".to_owned(), subject: "fleet".to_owned() };
        let told =
            Notice::InputMalformed(InputMalformed { reason: Fault::TooLong, count: 3, line: 17 });
        let line = speaker.line(&told, "2026-04-08T14:10:00Z".parse().unwrap()).unwrap();
        ::tests::golden(&::tests::root().join("bins/relay/events/input_malformed.json"), &line);
    }
}

//! What the program says, keys in the order in which they are printed.

use serde::{Deserialize, Serialize};
pub use shared::line::Condition;
use shared::{
    line::{self, Mark},
    reading::Severity,
};

/// An event of this program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A condition began to hold.
    ConditionRaised(ConditionRaised),
    /// A condition ended to hold.
    ConditionCleared(ConditionCleared),
    /// A subject is looked at no more.
    SubjectEnded(SubjectEnded),
}

/// `condition_raised`: a condition holds that did not at the last whole look, or holds at a new
/// revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConditionRaised {
    /// The subject's identity.
    pub subject: String,
    /// What kind of thing it is.
    pub kind: String,
    /// How much a reader cares.
    pub severity: Severity,
    /// The condition in one line, up to 240 bytes.
    pub brief: String,
    /// Its name.
    #[serde(skip)]
    pub key: String,
    /// The revision with which it ends, if it ends with one.
    #[serde(skip)]
    pub revision: Option<String>,
    /// The brief was cut.
    #[serde(skip)]
    pub is_cut: bool,
}

/// `condition_cleared`: a condition no longer holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConditionCleared {
    /// The subject's identity.
    pub subject: String,
    /// What kind of thing it is.
    pub kind: String,
    /// The condition's name.
    #[serde(skip)]
    pub key: String,
    /// When it was seen to be gone: a condition can come back.
    #[serde(skip)]
    pub said_at: String,
}

/// `subject_ended`: a subject came to its end, or can't be seen in a way that doesn't heal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SubjectEnded {
    /// The subject's identity.
    pub subject: String,
    /// What kind of thing it is.
    pub kind: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Why, in one word.
    pub reason: String,
    /// What was seen at the end.
    #[serde(skip)]
    pub fingerprint: String,
}

/// How a subject ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As it should.
    Success,
    /// Otherwise.
    Blocked,
    /// It can't be seen.
    Failed,
}

impl Event {
    /// The event's name, its subject, its key and what tells it from others of the same key.
    fn parts(&self) -> (&'static str, &str, &str, Vec<&str>) {
        match self {
            Self::ConditionRaised(event) => {
                let revision = event.revision.as_deref().unwrap_or_default();
                let facts = vec![&*event.kind, event.severity.word(), revision];
                ("condition_raised", &event.subject, &event.key, facts)
            }
            Self::ConditionCleared(event) => {
                let facts = vec![&*event.kind, &*event.said_at];
                ("condition_cleared", &event.subject, &event.key, facts)
            }
            Self::SubjectEnded(event) => {
                let facts = vec![&*event.kind, &*event.reason, &*event.fingerprint];
                ("subject_ended", &event.subject, "ended", facts)
            }
        }
    }
}

impl line::Event for Event {
    fn mark(&self) -> Mark {
        let (_, _, key, facts) = self.parts();
        let condition = match self {
            Self::ConditionRaised(_) => Condition::Raised,
            Self::ConditionCleared(_) => Condition::Cleared,
            Self::SubjectEnded(_) => Condition::Once,
        };
        line::mark(key, condition, &facts)
    }

    /// The subject of the event is part of it, not all that is watched.
    fn id(&self) -> Option<String> {
        let (event, subject, key, facts) = self.parts();
        let parts = [&["probe-watch", event, subject, key][..], &facts].concat();
        Some(line::digest(parts.join("\u{1f}").as_bytes()))
    }

    fn revision(&self) -> Option<&str> {
        match self {
            Self::ConditionRaised(event) => event.revision.as_deref(),
            _ => None,
        }
    }

    fn is_cut(&self) -> bool {
        matches!(self, Self::ConditionRaised(event) if event.is_cut)
    }

    fn free_text() -> &'static [&'static str] {
        &["brief"]
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use shared::line::Speaker;

    use super::*;

    fn line(event: &Event) -> String {
        let program = "probe-watch";
        let speaker = Speaker { program, source: program.to_owned(), subject: "all".to_owned() };
        let line = speaker.line(event, "2026-04-08T14:10:00Z".parse().unwrap()).unwrap();
        String::from_utf8(line).unwrap()
    }

    fn reads_as_its_example(name: &str, event: &Event) {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("events/{name}.json"));
        ::tests::golden(&example, line(event).as_bytes());
    }

    fn raised(subject: &str) -> Event {
        Event::ConditionRaised(ConditionRaised {
            subject: subject.to_owned(),
            kind: "disk-space".to_owned(),
            severity: Severity::Wake,
            brief: "/srv is 97 % full, limit 90 %".to_owned(),
            key: "space:low".to_owned(),
            revision: Some("9f2c".to_owned()),
            is_cut: false,
        })
    }

    #[test]
    fn condition_raised_reads_as_its_example() {
        reads_as_its_example("condition_raised", &raised("/srv"));
    }

    #[test]
    fn condition_cleared_reads_as_its_example() {
        let event = Event::ConditionCleared(ConditionCleared {
            subject: "/srv".to_owned(),
            kind: "disk-space".to_owned(),
            key: "space:low".to_owned(),
            said_at: "2026-04-08T14:10:00Z".to_owned(),
        });
        reads_as_its_example("condition_cleared", &event);
    }

    #[test]
    fn subject_ended_reads_as_its_example() {
        let event = Event::SubjectEnded(SubjectEnded {
            subject: "/srv".to_owned(),
            kind: "disk-space".to_owned(),
            outcome: Outcome::Blocked,
            reason: "unmounted".to_owned(),
            fingerprint: "f".repeat(64),
        });
        reads_as_its_example("subject_ended", &event);
    }

    #[test]
    fn two_subjects_have_two_identities() {
        let id = |line: String| line.split(r#""id":""#).nth(1).map(str::to_owned);
        assert_ne!(id(line(&raised("a"))), id(line(&raised("b"))));
        assert_eq!(id(line(&raised("a"))), id(line(&raised("a"))));
    }
}

//! What the program says, keys in the order in which they are printed.

use github::pull::{Mergeability, Review, State};
use serde::{Deserialize, Serialize};
use shared::{
    line::{self, Mark},
    reading::Severity,
    text::Text,
};

pub use shared::line::Condition;

/// An event of this program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// What became of a pull request.
    PrState(Box<PrState>),
}

/// `pr_state`: the state or the reviewers' decision changed; or, with `severity`, a condition
/// began or ended to hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrState {
    /// Its number.
    pub pr: u64,
    /// `OPEN`, `CLOSED`, `MERGED`, `UNKNOWN`.
    pub state: State,
    /// What the reviewers decided; `NONE` for nothing.
    pub review_decision: Review,
    /// What was said before; left out at the first look and of conditions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Told>,
    /// It isn't ready for review.
    pub draft: bool,
    /// Whether it could be merged.
    pub mergeability: Mergeability,
    /// What its checks come to.
    pub checks: Checks,
    /// How many review threads are neither resolved nor outdated.
    pub unresolved_threads: u64,
    /// The hash of its newest commit.
    pub head_sha: String,
    /// Where it can be read.
    pub url: String,
    /// The repository, when several are watched: `OWNER/NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// True, or left out: GitHub's budget is spent, and less was read than there is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub degraded: bool,
    /// How much a reader cares, of conditions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// The condition in a line, of conditions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brief: Option<Text>,
    /// What it is about.
    #[serde(skip)]
    pub about: About,
}

/// What an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Its key.
    pub key: String,
    /// What the key is from now on.
    pub condition: Condition,
    /// The head that the condition is of.
    pub revision: Option<String>,
    /// When it was seen: a state can come back.
    pub said_at: String,
}

/// The facts whose change is a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The state.
    pub state: State,
    /// The reviewers' decision.
    pub review_decision: Review,
}

/// What the checks come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Checks {
    /// All passed, and no other is on its way.
    Success,
    /// One failed.
    Failure,
    /// One is not decided, or others may be on their way.
    Pending,
    /// One says something that nobody knows.
    Unknown,
    /// One was given up, the others passed.
    Cancelled,
    /// Not all could be read.
    Incomplete,
    /// There is none.
    None,
}

impl Checks {
    /// The word that is printed.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Pending => "pending",
            Self::Unknown => "unknown",
            Self::Cancelled => "cancelled",
            Self::Incomplete => "incomplete",
            Self::None => "none",
        }
    }
}

impl line::Event for Event {
    fn mark(&self) -> Mark {
        let Self::PrState(event) = self;
        let About { key, condition, revision, said_at } = &event.about;
        let parts = [
            event.state.word(),
            event.review_decision.word(),
            revision.as_deref().unwrap_or_default(),
            said_at,
        ];
        line::mark(key, *condition, &parts)
    }

    fn revision(&self) -> Option<&str> {
        let Self::PrState(event) = self;
        event.about.revision.as_deref()
    }

    fn is_cut(&self) -> bool {
        let Self::PrState(event) = self;
        event.brief.as_ref().is_some_and(Text::is_cut)
    }

    fn free_text() -> &'static [&'static str] {
        &["brief"]
    }
}

impl PrState {
    /// The line of the seed: `PR#729 OPEN review=NONE`.
    #[must_use]
    pub fn text(&self) -> String {
        let label = self.about.key.trim_start_matches("pr:");
        format!("PR#{label} {} review={}\n", self.state.word(), self.review_decision.word())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use shared::line::Speaker;

    use super::*;

    fn changed() -> PrState {
        PrState {
            pr: 729,
            state: State::Open,
            review_decision: Review::None,
            previous: Some(Told { state: State::Open, review_decision: Review::ReviewRequired }),
            draft: false,
            mergeability: Mergeability::Mergeable,
            checks: Checks::Pending,
            unresolved_threads: 0,
            head_sha: "24ba8".repeat(8),
            url: "https://github.com/octo/project/pull/729".to_owned(),
            repo: None,
            degraded: false,
            severity: None,
            brief: None,
            about: About {
                key: "pr:729".to_owned(),
                condition: Condition::Once,
                revision: None,
                said_at: "2026-04-08T14:10:00Z".to_owned(),
            },
        }
    }

    fn line(event: PrState) -> String {
        let speaker = Speaker {
            program: "pr-state-watch",
            source: "pr-state-watch".to_owned(),
            subject: "github.com/octo/project".to_owned(),
        };
        let event = Event::PrState(Box::new(event));
        let line = speaker.line(&event, "2026-04-08T14:10:00Z".parse().unwrap()).unwrap();
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn pr_state_reads_as_its_example() {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("events/pr_state.json");
        ::tests::golden(&example, line(changed()).as_bytes());
    }

    #[test]
    fn a_condition_has_its_head_as_revision() {
        let mut event = changed();
        event.previous = None;
        event.severity = Some(Severity::Wake);
        event.brief = Some(Text::new("CI / test failed", 240));
        event.about.key = "pr:729:red:CI / test".to_owned();
        event.about.condition = Condition::Raised;
        event.about.revision = Some("24ba8".repeat(8));
        let want = format!(
            r#""severity":"wake","brief":"CI / test failed","key":"pr:729:red:CI / test","condition":"raised","revision":"{}","id":""#,
            "24ba8".repeat(8)
        );
        assert!(line(event).contains(&want));
    }

    #[test]
    fn the_text_is_the_seeds() {
        assert_eq!(changed().text(), "PR#729 OPEN review=NONE\n");
    }
}

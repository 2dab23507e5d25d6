//! What the program says: one struct per event, keys in the order in which they are printed.

use serde::{Deserialize, Serialize};
use shared::line::{self, Condition, Mark};

/// How far behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// At the threshold or above, or of unknown distance.
    Warning,
    /// At three times the threshold or above.
    Critical,
}

impl Severity {
    /// The word that is printed.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// An event of this program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The checkout is behind.
    BranchDivergence(BranchDivergence),
    /// It no longer is.
    BranchDivergenceCleared(BranchDivergenceCleared),
}

/// `branch_divergence`: the checkout lacks at least as many commits of its base as the threshold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BranchDivergence {
    /// The base as given; with `auto`, as found.
    pub base_branch: String,
    /// Commits of the base that HEAD doesn't have.
    pub commits_behind: u64,
    /// The base's tip in git's short form, or `unknown`.
    pub last_base_commit: String,
    /// How bad that is.
    pub severity: Severity,
    /// Commits of HEAD that the base doesn't have.
    pub commits_ahead: u64,
    /// The remote that has the base.
    pub remote: String,
    /// HEAD in git's short form.
    pub head: String,
    /// The branch of HEAD; empty when detached.
    pub head_branch: String,
    /// Where the two parted, in git's short form; null when they have nothing in common.
    pub merge_base: Option<String>,
    /// The counts are no distance: the repository is shallow, or there is no merge base.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub approximate: bool,
    /// The base's old tip is not part of the new one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub base_rewritten: bool,
    /// With `--conflicts`: whether a merge would conflict; null when git can't say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflicts: Option<Option<bool>>,
    /// HEAD and tip in full, for the identity.
    #[serde(skip)]
    pub commits: Commits,
}

/// `branch_divergence_cleared`: the checkout lacks fewer commits than the threshold again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BranchDivergenceCleared {
    /// As in `branch_divergence`.
    pub base_branch: String,
    /// As in `branch_divergence`; below the threshold.
    pub commits_behind: u64,
    /// The count last told.
    pub previous: u64,
    /// As in `branch_divergence`.
    pub commits_ahead: u64,
    /// As in `branch_divergence`.
    pub remote: String,
    /// As in `branch_divergence`.
    pub head: String,
    /// As in `branch_divergence`.
    pub head_branch: String,
    /// HEAD and tip in full, for the identity.
    #[serde(skip)]
    pub commits: Commits,
}

/// The two commits that were compared, in full.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commits {
    /// HEAD.
    pub head: String,
    /// The base's tip.
    pub tip: String,
}

/// The condition that both events are about.
#[must_use]
pub fn key(remote: &str, base: &str) -> String {
    format!("divergence:{remote}/{base}")
}

impl line::Event for Event {
    fn mark(&self) -> Mark {
        match self {
            Self::BranchDivergence(event) => line::mark(
                &key(&event.remote, &event.base_branch),
                Condition::Raised,
                &[&event.commits.head, &event.commits.tip, event.severity.word()],
            ),
            Self::BranchDivergenceCleared(event) => line::mark(
                &key(&event.remote, &event.base_branch),
                Condition::Cleared,
                &[&event.commits.head, &event.commits.tip],
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use shared::line::Speaker;

    use super::*;

    fn line(event: &Event, timestamp: &str) -> Vec<u8> {
        let speaker = Speaker {
            program: "branch-divergence",
            source: "branch-divergence".to_owned(),
            subject: "/home/me/project".to_owned(),
        };
        speaker.line(event, timestamp.parse().unwrap()).unwrap()
    }

    fn example(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("events/{name}.json"))
    }

    fn commits(head: &str, tip: &str) -> Commits {
        Commits { head: head.repeat(8), tip: tip.repeat(8) }
    }

    #[test]
    fn branch_divergence_reads_as_its_example() {
        let event = Event::BranchDivergence(BranchDivergence {
            base_branch: "main".to_owned(),
            commits_behind: 6,
            last_base_commit: "b730db9".to_owned(),
            severity: Severity::Warning,
            commits_ahead: 2,
            remote: "origin".to_owned(),
            head: "24ba8b6".to_owned(),
            head_branch: "feature".to_owned(),
            merge_base: Some("8e60933".to_owned()),
            approximate: false,
            base_rewritten: false,
            conflicts: None,
            commits: commits("24ba8", "b730d"),
        });
        ::tests::golden(&example("branch_divergence"), &line(&event, "2026-04-08T14:10:00Z"));
    }

    #[test]
    fn branch_divergence_cleared_reads_as_its_example() {
        let event = Event::BranchDivergenceCleared(BranchDivergenceCleared {
            base_branch: "main".to_owned(),
            commits_behind: 0,
            previous: 6,
            commits_ahead: 2,
            remote: "origin".to_owned(),
            head: "5c19e02".to_owned(),
            head_branch: "feature".to_owned(),
            commits: commits("5c19e", "b730d"),
        });
        ::tests::golden(
            &example("branch_divergence_cleared"),
            &line(&event, "2026-04-08T14:31:07Z"),
        );
    }

    #[test]
    fn keys_that_have_nothing_to_say_are_left_out_and_null_is_said() {
        let mut event = BranchDivergence {
            base_branch: "main".to_owned(),
            commits_behind: 5,
            last_base_commit: "unknown".to_owned(),
            severity: Severity::Warning,
            commits_ahead: 0,
            remote: "origin".to_owned(),
            head: "24ba8b6".to_owned(),
            head_branch: String::new(),
            merge_base: None,
            approximate: true,
            base_rewritten: true,
            conflicts: Some(None),
            commits: Commits::default(),
        };
        let text = serde_json::to_string(&event).unwrap();
        let end = r#""merge_base":null,"approximate":true,"base_rewritten":true,"conflicts":null}"#;
        assert!(text.ends_with(end), "{text}");
        (event.approximate, event.base_rewritten, event.conflicts) = (false, false, None);
        let text = serde_json::to_string(&event).unwrap();
        assert!(text.ends_with(r#""head_branch":"","merge_base":null}"#), "{text}");
    }
}

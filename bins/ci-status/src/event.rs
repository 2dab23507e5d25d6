//! What the program says, keys in the order in which they are printed.

use serde::Serialize;
use shared::line::{self, Condition, Mark};

/// An event of this program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// What a target comes to.
    CiStatus(Box<CiStatus>),
}

/// `ci_status`: a target's status, conclusion, head or attempt changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CiStatus {
    /// The run's id; `pr-N` of a pull request, `commit-` and 12 digits of a commit.
    pub run_id: String,
    /// `queued`, `in_progress`, `waiting`, `completed`; `timeout` when `--deadline` passed.
    pub status: &'static str,
    /// What it came to; null until then, and where it came to nothing.
    pub conclusion: Option<&'static str>,
    /// Where to read more: the first failing check, else the target itself.
    pub url: String,
    /// Why there is no conclusion, or why it starts over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The names of the checks that failed; this and the counts are left out of runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<Vec<String>>,
    /// The names of those that were given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<Vec<String>>,
    /// How many are not decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<u64>,
    /// How many passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    /// How many were left out for a newer run of the same check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded: Option<u64>,
    /// How many say something that nobody knows; left out for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<u64>,
    /// True, or left out: two runs of one check overlapped and don't agree.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ambiguous: bool,
    /// True, or left out: not all checks could be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// `reported_only` when the base branch's rules can't be read; else left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<&'static str>,
    /// The commit that was judged; left out of the first attempt of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_sha: Option<String>,
    /// Which attempt this is, from 1; left out of the first attempt of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
    /// The repository, when several are watched: `OWNER/NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// The same, for the key.
    #[serde(skip)]
    pub label: String,
    /// What tells this line from another of its key.
    #[serde(skip)]
    pub discriminator: Vec<String>,
    /// Names were left out, since no line is that long.
    #[serde(skip)]
    pub cut: bool,
}

impl line::Event for Event {
    fn mark(&self) -> Mark {
        let Self::CiStatus(event) = self;
        let parts: Vec<&str> = event.discriminator.iter().map(String::as_str).collect();
        line::mark(&format!("ci:{}", event.label), Condition::Once, &parts)
    }

    fn is_cut(&self) -> bool {
        let Self::CiStatus(event) = self;
        event.cut
    }

    fn free_text() -> &'static [&'static str] {
        &["failed", "cancelled"]
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use shared::line::Speaker;

    use super::*;

    fn line(event: CiStatus) -> Vec<u8> {
        let speaker = Speaker {
            program: "ci-status",
            source: "ci-status".to_owned(),
            subject: "github.com/octo/project".to_owned(),
        };
        let event = Event::CiStatus(Box::new(event));
        speaker.line(&event, "2026-04-08T14:10:00Z".parse().unwrap()).unwrap()
    }

    fn failed() -> CiStatus {
        CiStatus {
            run_id: "pr-42".to_owned(),
            status: "completed",
            conclusion: Some("failure"),
            url: "https://github.com/octo/project/actions/runs/9/job/12".to_owned(),
            failed: Some(vec!["CI / test (2)".to_owned()]),
            cancelled: Some(Vec::new()),
            pending: Some(3),
            passed: Some(12),
            superseded: Some(1),
            head_sha: Some("24ba8".repeat(8)),
            attempt: Some(1),
            label: "pr-42".to_owned(),
            discriminator: ["completed", "failure"].map(str::to_owned).to_vec(),
            ..CiStatus::default()
        }
    }

    #[test]
    fn ci_status_reads_as_its_example() {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("events/ci_status.json");
        ::tests::golden(&example, &line(failed()));
    }

    #[test]
    fn a_run_has_the_originals_keys() {
        let run = CiStatus {
            run_id: "123".to_owned(),
            status: "in_progress",
            url: "https://github.com/o/n/actions/runs/123".to_owned(),
            label: "123".to_owned(),
            ..CiStatus::default()
        };
        let text = String::from_utf8(line(run)).unwrap();
        let keys = r#""source":"ci-status","run_id":"123","status":"in_progress","conclusion":null,"url":"https://github.com/o/n/actions/runs/123","key":"ci:123","condition":"once","id":"#;
        assert!(text.contains(keys), "{text}");
    }

    #[test]
    fn a_thousand_failures_fit_a_line() {
        let mut event = failed();
        event.failed = Some((0..1000).map(|n| format!("CI / test ({n})")).collect());
        let line = line(event);
        assert!(line.len() <= 4096 && line.ends_with(b"\"truncated\":true}\n"));
    }
}

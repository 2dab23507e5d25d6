//! A workflow run: what it says, and what that comes to.

use serde::Deserialize;

/// A run as GitHub sends it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: u64,
    /// How far it is.
    #[serde(default)]
    pub status: Option<String>,
    /// What it came to.
    #[serde(default)]
    pub conclusion: Option<String>,
    /// The commit that it is of.
    #[serde(default)]
    pub head_sha: String,
    /// Which attempt this is, from 1.
    #[serde(default = "first")]
    pub run_attempt: u64,
    /// Where it can be read.
    #[serde(default)]
    pub html_url: String,
}

fn first() -> u64 {
    1
}

/// The conclusions that are known.
const CONCLUSIONS: [&str; 9] = [
    "success",
    "failure",
    "cancelled",
    "timed_out",
    "action_required",
    "neutral",
    "skipped",
    "stale",
    "startup_failure",
];

/// The status and the conclusion that are printed, and a reason where GitHub's words are not
/// understood: then the run counts as going on, whatever it may have come to.
#[must_use]
pub fn state(
    status: &str,
    conclusion: &str,
) -> (&'static str, Option<&'static str>, Option<&'static str>) {
    const UNKNOWN: (&str, Option<&str>, Option<&str>) =
        ("in_progress", None, Some("unknown_state"));
    match status {
        "completed" => CONCLUSIONS
            .into_iter()
            .find(|known| *known == conclusion)
            .map_or(UNKNOWN, |known| ("completed", Some(known), None)),
        "queued" | "requested" | "pending" => ("queued", None, None),
        "in_progress" => ("in_progress", None, None),
        "waiting" => ("waiting", None, None),
        _ => UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci12_the_table_of_runs_has_no_unknown_word_that_succeeds() {
        let statuses = [
            "queued",
            "in_progress",
            "completed",
            "waiting",
            "requested",
            "pending",
            "frobnicated",
            "",
            "COMPLETED",
        ];
        let words = ["frobnicated", "", "SUCCESS"];
        for status in statuses {
            for conclusion in CONCLUSIONS.into_iter().chain(words) {
                let (shown, came_to, reason) = state(status, conclusion);
                let is_known = status == "completed" && CONCLUSIONS.contains(&conclusion);
                assert_eq!(shown == "completed", is_known, "{status} {conclusion}");
                assert_eq!(came_to, is_known.then_some(conclusion), "{status} {conclusion}");
                let is_strange = matches!(status, "frobnicated" | "" | "COMPLETED")
                    || (status == "completed" && !is_known);
                assert_eq!(reason.is_some(), is_strange, "{status} {conclusion}");
            }
        }
    }
}

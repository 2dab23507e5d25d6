//! One row of a rollup: a check run or a status context, and what it comes to.

use jiff::Timestamp;
use shared::{
    line,
    text::{self, Text},
};

/// The most bytes of a name that are kept and shown.
const SHOWN: usize = 160;

/// What a row comes to. The order is that of the fold: the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// It is red.
    Failed,
    /// It is not decided yet.
    Pending,
    /// Nobody knows what it means: it never passes.
    Unknown,
    /// It was given up.
    Cancelled,
    /// It is green, or nobody's business.
    Passed,
}

/// What a check run comes to.
#[must_use]
pub fn check_run(status: &str, conclusion: &str) -> Class {
    if status != "COMPLETED" {
        return Class::Pending;
    }
    match conclusion {
        "SUCCESS" | "NEUTRAL" | "SKIPPED" => Class::Passed,
        "FAILURE" | "TIMED_OUT" | "ACTION_REQUIRED" | "STARTUP_FAILURE" => Class::Failed,
        "CANCELLED" => Class::Cancelled,
        _ => Class::Unknown,
    }
}

/// What a status context comes to.
#[must_use]
pub fn status_context(state: &str) -> Class {
    match state {
        "SUCCESS" => Class::Passed,
        "PENDING" | "EXPECTED" => Class::Pending,
        "FAILURE" | "ERROR" => Class::Failed,
        _ => Class::Unknown,
    }
}

/// Which of the two kinds of rows. They are two namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A check run.
    Run,
    /// A status context.
    Context,
}

/// By which a person knows a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The namespace.
    pub kind: Kind,
    /// The workflow that the check run is of; empty for none.
    pub workflow: String,
    /// The check's own name, or the context.
    pub name: String,
}

impl Identity {
    /// The true name: `<workflow> / <name>`, or the name alone.
    #[must_use]
    pub fn full(&self) -> String {
        if self.workflow.is_empty() {
            return self.name.clone();
        }
        format!("{} / {}", self.workflow, self.name)
    }

    /// The name as it is printed: cleaned, redacted and cut. Where that changed it, the digest of
    /// the true name follows, so that no name can pass for another one.
    #[must_use]
    pub fn shown(&self) -> String {
        let full = self.full();
        let text = Text::new(&full, SHOWN);
        if text.as_str() == full { full } else { self.marked(text.as_str()) }
    }

    /// The same with the digest in any case, for where two identities look alike.
    #[must_use]
    pub fn distinct(&self) -> String {
        self.marked(Text::new(&self.full(), SHOWN).as_str())
    }

    fn marked(&self, text: &str) -> String {
        let true_name = format!("{:?}\u{1f}{}\u{1f}{}", self.kind, self.workflow, self.name);
        format!("{}#{}", text.trim_end(), line::digest(true_name.as_bytes()))
    }

    /// Whether `name` is a way to name it: bare, or with its workflow.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.full() == name
    }
}

/// The run that a check run is a part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its id. The greater is the newer, whatever the times say.
    pub id: u64,
    /// The id of the definition that it is of.
    pub definition: u64,
    /// What started it.
    pub event: String,
    /// It was given up as a whole.
    pub is_cancelled: bool,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it is called.
    pub identity: Identity,
    /// What it comes to.
    pub class: Class,
    /// It is a check run that has ended.
    pub is_completed: bool,
    /// The run of a check run that has one, with its ids.
    pub run: Option<Run>,
    /// The check run's own id; 0 for a context.
    pub id: u64,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// The base branch wants it.
    pub is_required: bool,
    /// Where to read more, when it failed.
    pub url: String,
}

/// The row of a status context.
pub(crate) fn context(
    name: Option<String>,
    state: Option<String>,
    url: Option<String>,
    is_required: Option<bool>,
) -> Row {
    Row {
        identity: Identity {
            kind: Kind::Context,
            workflow: String::new(),
            name: kept(name.unwrap_or_default()),
        },
        class: status_context(&state.unwrap_or_default()),
        is_completed: false,
        run: None,
        id: 0,
        started_at: None,
        completed_at: None,
        is_required: is_required.unwrap_or_default(),
        url: url.unwrap_or_default(),
    }
}

/// A name that isn't longer than anybody reads: a longer one keeps its head and its digest.
pub(crate) fn kept(mut name: String) -> String {
    if name.len() > 4 * SHOWN {
        name = format!("{}#{}", text::head(&name, 4 * SHOWN), line::digest(name.as_bytes()));
    }
    name.shrink_to_fit();
    name
}

/// An address that may be printed: one that a browser opens, on one line, without a secret.
#[must_use]
pub fn address(url: &str) -> Option<String> {
    let opens = url.starts_with("https://") || url.starts_with("http://");
    let text = Text::new(url, 300);
    (opens && !text.is_cut() && !text.as_str().contains(' ')).then(|| text.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every status and conclusion that GitHub documents, and words that it doesn't.
    const STATUSES: [&str; 9] = [
        "QUEUED",
        "IN_PROGRESS",
        "COMPLETED",
        "WAITING",
        "REQUESTED",
        "PENDING",
        "FROBNICATED",
        "",
        "completed",
    ];
    const CONCLUSIONS: [&str; 12] = [
        "SUCCESS",
        "NEUTRAL",
        "SKIPPED",
        "FAILURE",
        "TIMED_OUT",
        "ACTION_REQUIRED",
        "STARTUP_FAILURE",
        "CANCELLED",
        "STALE",
        "FROBNICATED",
        "",
        "success",
    ];

    #[test]
    fn ci12_the_table_of_check_runs_has_no_unknown_word_that_passes() {
        for status in STATUSES {
            for conclusion in CONCLUSIONS {
                let want = match (status, conclusion) {
                    ("COMPLETED", "SUCCESS" | "NEUTRAL" | "SKIPPED") => Class::Passed,
                    (
                        "COMPLETED",
                        "FAILURE" | "TIMED_OUT" | "ACTION_REQUIRED" | "STARTUP_FAILURE",
                    ) => Class::Failed,
                    ("COMPLETED", "CANCELLED") => Class::Cancelled,
                    ("COMPLETED", _) => Class::Unknown,
                    _ => Class::Pending,
                };
                assert_eq!(check_run(status, conclusion), want, "{status} {conclusion}");
            }
        }
    }

    #[test]
    fn the_table_of_status_contexts_has_no_unknown_word_that_passes() {
        for (state, class) in [
            ("SUCCESS", Class::Passed),
            ("PENDING", Class::Pending),
            ("EXPECTED", Class::Pending),
            ("FAILURE", Class::Failed),
            ("ERROR", Class::Failed),
            ("FROBNICATED", Class::Unknown),
            ("", Class::Unknown),
            ("success", Class::Unknown),
        ] {
            assert_eq!(status_context(state), class, "{state}");
        }
    }

    #[test]
    fn a_hostile_name_can_pass_for_no_other() {
        let identity = |workflow: &str, name: &str| Identity {
            kind: Kind::Run,
            workflow: workflow.to_owned(),
            name: name.to_owned(),
        };
        assert_eq!(identity("CI", "test (2)").shown(), "CI / test (2)");
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let long = "x".repeat(10_000);
        for name in ["te\x1b[31mst", "te\nst", "te\u{2028}st", "te\u{202e}st", &*token, &*long] {
            let shown = identity("CI", &kept(name.to_owned())).shown();
            assert!(shown.len() <= 200 && !shown.contains("ghp_"), "{shown}");
            assert!(!shown.contains(char::is_control) && !shown.contains('\u{2028}'), "{shown}");
            assert!(shown.contains('#'), "{shown}");
        }
        assert_ne!(identity("", "te\nst").shown(), identity("", "te st").shown());
    }

    #[test]
    fn an_address_is_one_that_a_browser_opens() {
        assert!(address("https://github.com/o/n/runs/7").is_some());
        let long = format!("https://h/{}", "x".repeat(400));
        for url in ["", "javascript:alert(1)", "ftp://h", "https://h/a b", "https://h/\nx", &long] {
            assert_eq!(address(url), None, "{url}");
        }
        assert_eq!(address("https://u:secret@h/x").as_deref(), Some("https://[redacted]@h/x"));
    }
}

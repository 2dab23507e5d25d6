//! What it tells.

use serde::{Serialize, Serializer};
use shared::{
    health::seconds,
    line::{self, Condition, Mark, mark},
    roster::Reporting,
};

/// A line of this program.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Told {
    /// Of one item.
    Item(Box<ItemEvent>),
    /// A line of the registry that is no good.
    Rejected(Rejected),
    /// Time went by without us.
    Gap(ClockGap),
}

/// What happened to an item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemEvent {
    /// Its name.
    pub event: &'static str,
    /// Whose.
    pub agent: String,
    /// At which step.
    pub step: String,
    /// What the event tells.
    #[serde(flatten)]
    pub what: What,
    /// Which run.
    pub instance: String,
    /// Whether its phase was blind when this was made.
    pub blind: bool,
    /// What the consultant may hear.
    pub consultant_reporting: Reporting,
    /// What the first look at an item found that a restart read again.
    #[serde(skip_serializing_if = "is_false")]
    pub replayed: bool,
    /// What tells it from others of its name.
    #[serde(skip)]
    pub discriminator: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(clippy::ref_option, reason = "serde hands out references")]
fn seconds_if_any<S: Serializer>(given: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    seconds(&given.unwrap_or_default(), to)
}

/// The keys of an item's event.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(missing_docs, reason = "agent-watch(1) describes the keys, one by one")]
pub enum What {
    Registered {
        #[serde(skip_serializing_if = "Option::is_none", serialize_with = "seconds_if_any")]
        timeout_sec: Option<f64>,
        started_at: String,
        started_from: &'static str,
        #[serde(serialize_with = "seconds")]
        idle_stall_sec: f64,
        replaced: bool,
        updated: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        shares_result_with: Option<Vec<String>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pane: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pid_file: Option<String>,
        progress_paths: Vec<String>,
        result_path: String,
    },
    Ready {
        elapsed_sec: u64,
        size: u64,
        mtime: String,
        settled: &'static str,
        after_death: bool,
        rewrite: u64,
        result_path: String,
    },
    Result {
        mtime: String,
        result_path: String,
    },
    Died {
        pid: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        start_ticks: Option<u64>,
        reason: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_signal: Option<i32>,
        result: &'static str,
        elapsed_sec: u64,
    },
    Replaced {
        pid: u32,
        previous_pid: u32,
    },
    Stalled {
        pid: u32,
        idle_sec: u64,
        #[serde(serialize_with = "seconds")]
        idle_stall_sec: f64,
        episode: u64,
        evidence: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        proc_state: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cpu_pct: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tree_cpu_pct: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        last_progress_path: Option<String>,
    },
    Recovered {
        idle_sec: u64,
        episode: u64,
        by: &'static str,
    },
    Timeout {
        elapsed_sec: u64,
        #[serde(serialize_with = "seconds")]
        timeout_sec: f64,
        suspended_sec: u64,
    },
    Reason {
        reason: &'static str,
    },
    Restored {
        reason: &'static str,
        by: &'static str,
    },
}

/// A line that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rejected {
    event: &'static str,
    line_no: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'static str>,
    reason: &'static str,
    #[serde(skip)]
    digest: String,
}

impl Rejected {
    /// `digest` is the line's.
    #[must_use]
    pub fn new(line_no: u64, fault: shared::roster::Fault, digest: String) -> Self {
        let (field, reason) = (fault.field, fault.reason);
        Self { event: "item_rejected", line_no, field, reason, digest }
    }
}

/// A suspend, or a pass that came far too late.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClockGap {
    event: &'static str,
    gap_sec: u64,
    suspended_sec: u64,
    wall_step_sec: i64,
    #[serde(skip)]
    said_at: String,
}

impl ClockGap {
    /// All in seconds.
    #[must_use]
    pub fn new(gap_sec: u64, suspended_sec: u64, wall_step_sec: i64, said_at: String) -> Self {
        Self { event: "clock_gap", gap_sec, suspended_sec, wall_step_sec, said_at }
    }
}

impl Told {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Item(item) => item.event,
            Self::Rejected(event) => event.event,
            Self::Gap(event) => event.event,
        }
    }
}

impl ItemEvent {
    fn key(&self) -> (String, Condition) {
        let about = |what: &str| format!("agent:{}/{}:{what}", self.agent, self.step);
        match (&self.what, self.event) {
            (_, "result_ready" | "result_stale" | "result_removed") => {
                (about("result"), Condition::Once)
            }
            (_, "process_died" | "process_replaced") => (about("exit"), Condition::Once),
            (_, "stalled") => (about("stalled"), Condition::Raised),
            (_, "recovered") => (about("stalled"), Condition::Cleared),
            (What::Timeout { .. }, _) => (about("timeout"), Condition::Once),
            (What::Reason { reason }, "item_degraded") => {
                (about(&format!("degraded:{reason}")), Condition::Raised)
            }
            (What::Restored { reason, .. }, _) => {
                (about(&format!("degraded:{reason}")), Condition::Cleared)
            }
            _ => (about("item"), Condition::Once),
        }
    }
}

impl line::Event for Told {
    fn mark(&self) -> Mark {
        match self {
            Self::Item(item) => {
                let (key, condition) = item.key();
                mark(&key, condition, &[&item.discriminator])
            }
            Self::Rejected(event) => {
                mark(&format!("items:line:{}", event.line_no), Condition::Once, &[&event.digest])
            }
            Self::Gap(event) => mark("clock", Condition::Once, &[&event.said_at]),
        }
    }

    /// Over program, event, subject, instance and what tells it apart.
    fn id(&self) -> Option<String> {
        let parts = match self {
            Self::Item(item) => {
                let subject = format!("{}/{}", item.agent, item.step);
                ["agent-watch", item.event, &subject, &item.instance, &item.discriminator]
                    .join("\u{1f}")
            }
            Self::Rejected(event) => {
                let subject = format!("items:line:{}", event.line_no);
                ["agent-watch", event.event, &subject, &event.digest].join("\u{1f}")
            }
            Self::Gap(event) => {
                ["agent-watch", event.event, "clock", &event.said_at].join("\u{1f}")
            }
        };
        Some(line::digest(parts.as_bytes()))
    }

    fn is_news(&self) -> bool {
        self.name() != "item_registered"
    }
}

#[cfg(test)]
mod tests;

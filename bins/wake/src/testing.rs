//! Lines to come, for tests.

use shared::reading::Severity;

use crate::decide::{Condition, Decision, Emission, Entry, Item, Reason, RecordId, Told};

/// A line about these subjects; folded when there are several.
pub(crate) fn emission(lead: &str, subjects: &[&str]) -> Emission {
    let told = |subject: &&str| Told {
        id: RecordId::of_readings("p", "basin", subject),
        revision: String::new(),
    };
    Emission {
        claim: "b1946ac92492d234".to_owned(),
        again: None,
        decision: Decision::WakeActionable,
        reason: Reason::new(if subjects.len() > 1 { "folded" } else { "changed" }),
        ends: None,
        lead: lead.to_owned(),
        records: subjects.iter().map(told).collect(),
        subjects: subjects.len(),
        items: Vec::new(),
        beyond: 0,
        context: Vec::new(),
        context_count: 0,
    }
}

/// An entry of one of them.
pub(crate) fn item(record: usize, key: &str, brief: &str) -> Item {
    let entry = Entry {
        key: key.to_owned(),
        severity: Severity::Wake,
        condition: Condition::Raised,
        since: 1_775_657_400_000,
        repeat: false,
        brief: brief.to_owned(),
    };
    Item { record, verdict: None, entry }
}

//! The lines of `--verbose`: verdicts that give nothing to tell.

use std::io;

use serde::Serialize;
use shared::line::{self, LIMIT};

use crate::{
    decide::{Entry, RecordId, Verdict, View},
    line::{Voice, stamp},
};

#[derive(Debug, Serialize)]
struct Quiet<'a> {
    event: &'static str,
    timestamp: String,
    source: &'a str,
    decision: &'static str,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    held: &'a [Held<'a>],
    masked: usize,
    next_at: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

#[derive(Debug, Serialize)]
struct Held<'a> {
    key: &'a str,
    since: String,
}

/// The line of a quiet verdict. `view` is what its record remembers.
///
/// # Errors
///
/// None for what an engine answers.
pub fn quiet(verdict: &Verdict, view: &View, voice: Voice<'_>) -> io::Result<Vec<u8>> {
    let record = verdict.record.as_ref();
    let held = |Entry { key, since, .. }: &Entry| (key.clone(), stamp(*since));
    let held: Vec<(String, String)> = view.held.iter().map(held).collect();
    let held: Vec<Held<'_>> =
        held.iter().map(|(key, since)| Held { key, since: since.clone() }).collect();
    let mut shown = held.len();
    loop {
        let line = Quiet {
            event: "verdict",
            timestamp: voice.timestamp.to_string(),
            source: voice.source,
            decision: verdict.decision.word(),
            reason: verdict.reason.as_str(),
            kind: record.and_then(RecordId::kind),
            subject: record.map(RecordId::subject).filter(|subject| !subject.is_empty()),
            held: held.get(..shown).unwrap_or_default(),
            masked: view.masked.len() + view.masked_beyond,
            next_at: view.next_at.map(stamp),
            truncated: shown < held.len() + view.held_beyond,
        };
        let mut bytes = line::json(&line)?;
        bytes.push(b'\n');
        if bytes.len() <= LIMIT || shown == 0 {
            return Ok(bytes);
        }
        shown /= 2;
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{
        decide::{Decision, Reason},
        testing::item,
    };

    #[test]
    fn a_verdict_fits_whatever_waits() {
        let timestamp: Timestamp = "2026-04-08T14:10:00Z".parse().unwrap();
        let voice = Voice { source: "wake", timestamp };
        let verdict = Verdict {
            decision: Decision::RecordOnly,
            reason: Reason::new("held"),
            record: Some(RecordId::of_readings("p", "basin", "mail")),
            entries: Vec::new(),
        };
        let held = vec![item(0, "k", "").entry];
        let view = View { held, next_at: Some(1_775_657_400_000), ..View::default() };
        let line = quiet(&verdict, &view, voice).unwrap();
        ::tests::golden(&::tests::root().join("bins/wake/events/verdict.json"), &line);
        let many = View { held: vec![item(0, &"k".repeat(200), "").entry; 100], ..view };
        let line = quiet(&verdict, &many, voice).unwrap();
        assert!(line.len() <= LIMIT && line.ends_with(b"\"truncated\":true}\n"));
    }
}

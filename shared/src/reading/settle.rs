//! The one function that settles what a look came to, and the fingerprint of that.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::look::{Draft, Fault, FaultKind, Finding, Look, ResetsOn, Severity, Status};

/// Settles the status of a look whose parts are joined. The rules apply in their order, each to
/// what the ones before it left.
#[must_use]
pub fn settle(mut draft: Draft) -> Look {
    let status = if has_failed(&draft) { failed(&mut draft) } else { settled(&mut draft) };
    let fingerprint = fingerprint(&draft, status);
    if status == Status::Actionable && draft.entries.is_empty() {
        // What has no name of its own is named by all that is known of it.
        let key = format!("state:{}", fingerprint.get(..16).unwrap_or_default());
        let (severity, resets_on) = (Severity::Wake, ResetsOn::Revision);
        draft.entries.push(Finding { key, severity, resets_on, brief: draft.reason.clone() });
    }
    let Draft { name, noun, number, revision, complete, reason, pending, .. } = draft;
    let Draft { entries, facts, truncated, error, .. } = draft;
    Look {
        source: name.source,
        kind: name.kind,
        noun,
        subject: name.subject,
        number,
        revision,
        complete: complete && error.is_none(),
        status,
        reason,
        pending,
        entries,
        facts,
        truncated,
        error,
        fingerprint,
    }
}

/// An error without a status is a look that failed, unless the look says that it saw a part of
/// the subject and what that part showed.
pub(super) fn has_failed(draft: &Draft) -> bool {
    match draft.status {
        Some(status) => status == Status::ProviderError,
        None => draft.error.is_some() && (draft.complete || draft.entries.is_empty()),
    }
}

/// A failed look carries no entries: with some it is not what it says.
fn failed(draft: &mut Draft) -> Status {
    draft.complete = false;
    if !draft.entries.is_empty() {
        draft.entries.clear();
        draft.error = Some(Fault::malformed("a failed look has no entries"));
    }
    let reason = Some(&draft.reason).filter(|reason| !reason.is_empty());
    draft.error.get_or_insert_with(|| Fault {
        kind: FaultKind::Transient,
        reason: reason.cloned().unwrap_or_else(|| FaultKind::Transient.word().to_owned()),
        detail: String::new(),
        attempted: true,
        retry_at: None,
    });
    Status::ProviderError
}

fn settled(draft: &mut Draft) -> Status {
    let has = |severity| draft.entries.iter().any(|entry: &Finding| entry.severity == severity);
    let (ends, wants) = (has(Severity::Terminal), has(Severity::Wake) || has(Severity::Immediate));
    let status = match draft.status {
        None | Some(Status::Pending | Status::Actionable) if ends => Some(Status::Blocked),
        Some(Status::Success) => match unproven(draft) {
            Some(reason) => {
                reason.clone_into(&mut draft.reason);
                Some(Status::Pending)
            }
            None => Some(Status::Success),
        },
        other => other,
    };
    match status {
        None | Some(Status::Pending) if wants => Status::Actionable,
        other => other.unwrap_or(Status::Pending),
    }
}

/// Why a success that is told is none.
fn unproven(draft: &Draft) -> Option<&'static str> {
    if !draft.complete || draft.error.is_some() {
        Some("incomplete")
    } else if draft.pending.is_some_and(|pending| pending > 0) {
        Some("unsettled")
    } else if draft.entries.is_empty() && draft.facts.is_empty() {
        Some("no_information")
    } else {
        None
    }
}

/// What tells this look from another that says something else.
fn fingerprint(draft: &Draft, status: Status) -> String {
    let mut pairs: Vec<(String, &str)> =
        draft.entries.iter().map(|entry| (entry.engine_key(), entry.severity.word())).collect();
    pairs.sort_unstable();
    // The entries say it all: a number that moves beside them is no news.
    let facts = (status != Status::Actionable)
        .then(|| draft.facts.iter().map(|(name, value)| (name, value)).collect::<BTreeMap<_, _>>());
    let name = &draft.name;
    let what: Value = json!([
        "fp1",
        name.kind,
        name.subject,
        draft.revision,
        status.word(),
        draft.reason,
        pairs,
        facts
    ]);
    sha256(&what.to_string())
}

fn sha256(text: &str) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    fn entry(key: &str, severity: Severity) -> Finding {
        let (key, brief) = (key.to_owned(), String::new());
        Finding { key, severity, resets_on: ResetsOn::Revision, brief }
    }

    fn draft(status: Option<Status>, entries: &[Finding]) -> Draft {
        Draft {
            status,
            entries: entries.to_vec(),
            complete: true,
            facts: vec![("n".to_owned(), 1.into())],
            ..Draft::default()
        }
    }

    fn fault() -> Fault {
        Fault { kind: FaultKind::NotFound, ..Fault::malformed("") }
    }

    #[test]
    fn the_status_follows_from_what_was_found() {
        use Severity::{Immediate, Terminal, Wake};
        use Status::{Actionable, Blocked, Pending, Success};
        let (wake, now, end) = (entry("w", Wake), entry("i", Immediate), entry("t", Terminal));
        for (told, entries, want) in [
            (None, &[][..], Pending),
            (None, from_ref(&wake), Actionable),
            (None, from_ref(&now), Actionable),
            (None, from_ref(&end), Blocked),
            (Some(Pending), &[end.clone(), wake.clone()], Blocked),
            (Some(Actionable), from_ref(&end), Blocked),
            (Some(Success), from_ref(&end), Success),
            (Some(Success), from_ref(&wake), Success),
            (Some(Blocked), from_ref(&wake), Blocked),
            (Some(Pending), from_ref(&wake), Actionable),
            (Some(Pending), &[], Pending),
            (Some(Success), &[], Success),
        ] {
            assert_eq!(settle(draft(told, entries)).status, want, "{told:?} {entries:?}");
        }
    }

    #[test]
    fn a_success_is_proven_by_a_whole_look_that_saw_something() {
        let success = draft(Some(Status::Success), &[]);
        for (draft, reason) in [
            (Draft { complete: false, ..success.clone() }, "incomplete"),
            (Draft { error: Some(fault()), ..success.clone() }, "incomplete"),
            (Draft { pending: Some(2), ..success.clone() }, "unsettled"),
            (Draft { facts: Vec::new(), ..success.clone() }, "no_information"),
        ] {
            let look = settle(draft);
            assert_eq!((look.status, &*look.reason), (Status::Pending, reason));
        }
        let partial = Draft {
            error: Some(fault()),
            entries: vec![entry("w", Severity::Wake)],
            ..success.clone()
        };
        let look = settle(partial);
        assert_eq!((look.status, &*look.reason), (Status::Actionable, "incomplete"));
        let told = settle(Draft { pending: Some(0), reason: "done".to_owned(), ..success });
        assert_eq!((told.status, &*told.reason), (Status::Success, "done"));
    }

    #[test]
    fn a_failed_look_has_no_entries() {
        let wake = entry("w", Severity::Wake);
        let failed = settle(Draft { error: Some(fault()), ..draft(None, &[]) });
        assert_eq!(failed.failure().map(|fault| fault.kind), Some(FaultKind::NotFound));
        let failed = settle(Draft { error: Some(fault()), ..draft(None, from_ref(&wake)) });
        assert_eq!(failed.failure().map(|fault| &*fault.reason), Some("malformed"));
        assert!(failed.entries.is_empty() && !failed.is_whole());
        let failed = settle(draft(Some(Status::ProviderError), &[]));
        assert_eq!(failed.failure().map(|fault| &*fault.reason), Some("transient"));

        let partial = Draft { complete: false, error: Some(fault()), ..draft(None, &[wake]) };
        let partial = settle(partial);
        assert_eq!((partial.status, partial.failure()), (Status::Actionable, None));
        assert!(!partial.is_whole());
    }

    #[test]
    fn what_has_no_entries_is_named_by_its_fingerprint() {
        let look =
            settle(Draft { reason: "odd".to_owned(), ..draft(Some(Status::Actionable), &[]) });
        assert_eq!(look.entries.len(), 1);
        assert_eq!(look.entries[0].key, format!("state:{}", &look.fingerprint[..16]));
        assert_eq!(look.entries[0].brief, "odd");
    }

    #[test]
    fn p20_the_fingerprint_knows_no_order() {
        let (a, b) = (entry("a", Severity::Wake), entry("b", Severity::Wake));
        let facts = |names: [&str; 2]| names.map(|name| (name.to_owned(), Value::from(1))).to_vec();
        let of = |status, entries: &[Finding], names| {
            settle(Draft { facts: facts(names), ..draft(Some(status), entries) }).fingerprint
        };
        let (ab, ba) = (["a", "b"], ["b", "a"]);
        assert_eq!(
            of(Status::Blocked, &[a.clone(), b.clone()], ab),
            of(Status::Blocked, &[b.clone(), a.clone()], ba)
        );
        assert_ne!(
            of(Status::Blocked, from_ref(&a), ab),
            of(Status::Blocked, from_ref(&a), ["a", "c"])
        );
        assert_eq!(of(Status::Pending, from_ref(&a), ab), of(Status::Pending, &[a], ["a", "c"]));
    }

    #[test]
    fn the_fingerprint_is_that_of_the_page() {
        let name = super::super::Name {
            kind: "basin-level".to_owned(),
            subject: "mail".to_owned(),
            ..super::super::Name::default()
        };
        let draft = Draft {
            name,
            entries: vec![entry("depth:high", Severity::Wake)],
            complete: true,
            ..Draft::default()
        };
        let text =
            r#"["fp1","basin-level","mail","","actionable","",[["=depth:high","wake"]],null]"#;
        assert_eq!(settle(draft.clone()).fingerprint, sha256(text));
        let quiet = Draft { entries: Vec::new(), ..draft };
        let text = r#"["fp1","basin-level","mail","","pending","",[],{}]"#;
        assert_eq!(settle(quiet).fingerprint, sha256(text));
    }
}

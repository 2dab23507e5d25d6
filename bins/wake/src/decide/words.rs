//! The beginnings of texts: what follows a subject's name.

use shared::reading::Fault;

use super::Ms;

/// `6 looks`.
pub(super) fn looks(count: u64) -> String {
    format!("{count} look{}", if count == 1 { "" } else { "s" })
}

/// `55 min`; seconds up to two minutes, hours from two hours.
pub(super) fn span(span: Ms) -> String {
    match span / 1000 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

/// `authentication: DETAIL`.
fn cause(fault: &Fault) -> String {
    let kind = fault.kind.word();
    match (fault.detail.as_str(), fault.reason.as_str()) {
        ("", reason) if reason.is_empty() || reason == kind => kind.to_owned(),
        ("", reason) => format!("{kind}: {reason}"),
        (detail, _) => format!("{kind}: {detail}"),
    }
}

pub(super) fn ended(reason: &str, fault: &Fault) -> String {
    match fault.detail.as_str() {
        _ if reason != fault.kind.word() => format!(" ended: {reason} ({})", cause(fault)),
        "" => format!(" ended: {reason}"),
        detail => format!(" ended: {reason} ({detail})"),
    }
}

pub(super) fn cannot_look(fault: &Fault) -> String {
    format!(": cannot look ({})", cause(fault))
}

pub(super) fn not_seen(how_long: &str, fault: Option<&Fault>) -> String {
    let cause = fault.map_or_else(|| "incomplete".to_owned(), cause);
    format!(": not seen for {how_long} ({cause})")
}

pub(super) fn new_revision(reason: &str, revision: &str) -> String {
    format!(": {reason} on new revision {}", shared::text::head(revision, 8))
}

pub(super) fn unchanged(span_ms: Ms, count: u64) -> String {
    format!(": unchanged for {} over {}", span(span_ms), looks(count))
}

pub(super) fn quiet(count: u64) -> String {
    format!(": {count} quiet look{}", if count == 1 { "" } else { "s" })
}

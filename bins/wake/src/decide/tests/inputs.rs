//! The inputs of a script, in the notation of its rows.

use shared::reading::{
    Draft, Fault, FaultKind, Finding, Look, Name, ResetsOn, Severity, Status, settle::settle,
};

use crate::decide::Ms;

/// `339.9` seconds in milliseconds.
pub(super) fn ms(seconds: &str) -> Ms {
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
    let part: Ms = format!("{part:0<3}").parse().unwrap();
    whole.parse::<Ms>().unwrap_or_else(|_| panic!("{seconds:?} is no time")) * 1000 + part
}

/// The whole key of a letter, its severity and its scope.
fn key(letter: &str) -> (&str, Severity, ResetsOn) {
    use ResetsOn::{Never, Revision};
    use Severity::{Immediate, Terminal, Wake};
    match letter {
        "R" => ("fault:a", Wake, Revision),
        "L" => ("fault:b", Wake, Revision),
        "X" => ("jam", Immediate, Revision),
        "T" => ("asks", Wake, Never),
        "C1" => ("note:1", Wake, Never),
        "C2" => ("note:2", Wake, Never),
        "C3" => ("note:3", Wake, Never),
        "D" => ("ready", Wake, Revision),
        "M" => ("finished", Terminal, Revision),
        other => match other.strip_prefix('~') {
            Some(key) => (key, Wake, Never),
            None => (other, Wake, Revision),
        },
    }
}

/// The name that a letter stands for.
pub(super) fn name(letter: &str) -> String {
    key(letter).0.to_owned()
}

/// `R`, `k immediate`, `R "brief"`.
fn finding(text: &str) -> Finding {
    let (text, brief) = text.split_once('"').unwrap_or((text, "\""));
    let mut words = text.split_whitespace();
    let (key, mut severity, resets_on) = key(words.next().unwrap());
    for word in words {
        severity = Severity::of(word).unwrap();
    }
    let brief = brief.trim_end_matches('"').to_owned();
    Finding { key: key.to_owned(), severity, resets_on, brief }
}

/// The elements of `{R, L}`.
pub(super) fn list(text: &str) -> Vec<&str> {
    let inside = text.trim().trim_start_matches('{').trim_end_matches('}');
    inside.split(',').map(str::trim).filter(|word| !word.is_empty()).collect()
}

/// `A{R,L}(3)@b part`, `P`, `S`, `B`, `{R}`, `E:kind`, with `sup=kind`, `reason=word`, `skipped`,
/// `bare` (no facts); a `'` gives the look another fact. `of NAME` is another subject.
pub(super) fn look(text: &str) -> Look {
    let mut draft = Draft {
        name: Name { source: "probe".into(), kind: "thing".into(), subject: "s".into() },
        complete: true,
        facts: vec![("n".to_owned(), 1.into())],
        ..Draft::default()
    };
    let end = text.find('}').map_or(0, |at| at + 1);
    let end = end + text[end..].find(' ').unwrap_or(text.len() - end);
    let (head, words) = text.split_at(end);
    head_of(&mut draft, head);
    let mut words = words.split_whitespace();
    while let Some(word) = words.next() {
        match (word, word.split_once('=')) {
            ("part", _) => draft.complete = false,
            ("bare", _) => draft.facts.clear(),
            ("of", _) => draft.name.subject = words.next().unwrap().to_owned(),
            ("skipped", _) => draft.error.as_mut().unwrap().attempted = false,
            (_, Some(("sup", kind))) => draft.error = Some(fault(kind)),
            (_, Some(("reason", reason))) => reason.clone_into(&mut draft.reason),
            _ => panic!("{word:?} says nothing of a look"),
        }
    }
    settle(draft)
}

fn head_of(draft: &mut Draft, head: &str) {
    if let Some(kind) = head.strip_prefix("E:") {
        let (kind, entries) = kind.split_once('{').unwrap_or((kind, ""));
        draft.status = Some(Status::ProviderError);
        draft.error = Some(fault(kind));
        draft.entries = list(entries).into_iter().map(finding).collect();
        return;
    }
    let at = head.find(['{', '(', '@', '\'']).unwrap_or(head.len());
    draft.status = match &head[..at] {
        "A" => Some(Status::Actionable),
        "P" => Some(Status::Pending),
        "S" => Some(Status::Success),
        "B" => Some(Status::Blocked),
        "" => None,
        other => panic!("{other:?} is no status"),
    };
    let mut rest = &head[at..];
    if rest.starts_with('\'') {
        draft.facts[0].1 = 2.into();
        rest = &rest[1..];
    }
    if let Some((entries, after)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        draft.entries = list(entries).into_iter().map(finding).collect();
        rest = after;
    }
    if let Some((pending, after)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        draft.pending = Some(pending.parse().unwrap());
        rest = after;
    }
    if let Some(revision) = rest.strip_prefix('@') {
        revision.clone_into(&mut draft.revision);
    }
}

fn fault(kind: &str) -> Fault {
    Fault { kind: FaultKind::of(kind), reason: kind.to_owned(), ..Fault::malformed("") }
}

/// An event as a line would have it, without its strings.
#[derive(Debug, Default)]
pub(super) struct Line<'a> {
    pub(super) event: crate::decide::Event<'a>,
}

/// `raised k immediate @h1`, `cleared k`, `once a id=7`, `info`, `event NAME reason=WORD`;
/// `of NAME` gives it a subject.
pub(super) fn event(text: &str) -> Option<Line<'_>> {
    let mut words = text.split_whitespace();
    let mut line = Line::default();
    let event = &mut line.event;
    (event.source, event.name, event.brief) = ("src", "thing_seen", "seen");
    match words.next()? {
        word @ ("raised" | "cleared" | "once") => {
            (event.condition, event.key) = (Some(word), words.next());
        }
        "info" => event.urgency = Some("info"),
        "event" => event.name = words.next()?,
        _ => return None,
    }
    while let Some(word) = words.next() {
        match (word, word.split_once('=')) {
            ("of", _) => event.subject = words.next(),
            (_, Some(("id", id))) => event.id = Some(id),
            (_, Some(("reason", reason))) => event.reason = Some(reason),
            (_, Some(("brief", brief))) => event.brief = brief,
            _ => match word.strip_prefix('@') {
                Some(revision) => event.revision = Some(revision),
                None => event.urgency = Some(word),
            },
        }
    }
    Some(line)
}

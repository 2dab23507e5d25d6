//! All that holds after a look, for `wake`.

use shared::{
    reading::{Entry, Failure, ResetsOn, Severity},
    text::Text,
};

use crate::{
    event::{Event, Resolution, Resolved},
    memory::Memory,
    name::Name,
    seen::Seen,
    sight::Blindness,
};

/// What a look found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Gates that ended just now, then what is raised.
    pub entries: Vec<Entry>,
    /// Why nothing could be seen.
    pub error: Option<Failure>,
}

impl Found {
    /// What holds by `memory`, which has taken over the look that `seen` and `events` are of.
    #[must_use]
    pub fn new(
        memory: &Memory,
        seen: &Seen,
        events: &[Event],
        blindness: Option<Blindness>,
    ) -> Self {
        if let Some(Blindness { reason, detail }) = blindness {
            let error = Some(Failure::new("transient", reason, &detail));
            return Self { entries: Vec::new(), error };
        }
        let ended = events.iter().filter_map(|event| match event {
            Event::GateResolved(resolved) => Some(answer(resolved)),
            _ => None,
        });
        let mut entries: Vec<Entry> = ended.collect();
        for (name, gate) in memory.gates.iter().filter(|(_, gate)| gate.open) {
            let question = question(seen, name);
            entries.push(raised(&format!("gate:{}", name.id()), Severity::Immediate, &question));
            if gate.waited {
                let key = format!("gate-waiting:{}", name.id());
                entries.push(raised(&key, Severity::Wake, &format!("still open: {question}")));
            }
        }
        Self { entries, error: None }
    }
}

fn raised(key: &str, severity: Severity, brief: &str) -> Entry {
    Entry::new(key, severity, ResetsOn::Revision, brief)
}

/// What a gate asks, or else its name.
fn question(seen: &Seen, name: &Name) -> String {
    let texts = seen.open.get(name).and_then(|file| file.texts().ok());
    let question = texts.and_then(|texts| texts.question);
    question.as_ref().map_or_else(|| name.id(), |question| question.as_str().to_owned())
}

fn answer(resolved: &Resolved) -> Entry {
    let chosen = resolved.chosen_option.as_ref().map(Text::as_str);
    let brief = match (chosen, resolved.resolution) {
        (Some(option), _) => format!("answered: {option}"),
        (None, Resolution::Recorded) => "answered".to_owned(),
        (None, Resolution::Unrecorded | Resolution::Unknown) => "gone".to_owned(),
    };
    let key = format!("resolved:{}", resolved.gate_id);
    Entry::new(&key, Severity::Immediate, ResetsOn::Never, &brief)
}

//! What of a look is worth a line: the difference to what was said, the end of a subject, and
//! what can't be seen. Pure.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shared::{
    clock::Now,
    exit::Ended,
    health::{Health, Reasons},
    reading::{FaultKind, Finding, Look, ResetsOn, Severity, Status},
    session,
};

use crate::event::{ConditionCleared, ConditionRaised, Event, Outcome, SubjectEnded};

/// The version of [`Memory`].
pub const VERSION: u32 = 1;
/// A condition is gone when so many whole looks in a row don't name it.
const GONE: u8 = 2;
/// The reason of a look that saw a part, and doesn't say what it couldn't see.
const INCOMPLETE: &str = "incomplete";

/// What was said, and what was seen last.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    subjects: BTreeMap<String, Known>,
}

/// What is known of a subject.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Known {
    /// What holds, by the key with the mark of its scope.
    #[serde(default)]
    held: BTreeMap<String, Held>,
    /// How it ended, if that was said.
    #[serde(default)]
    outcome: Option<Outcome>,
    /// The last whole look, as an answer of the probe.
    #[serde(default)]
    previous: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Held {
    severity: Severity,
    revision: String,
    absent: u8,
}

/// How a watch is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// A failure that doesn't heal ends no subject.
    pub keep_going: bool,
    /// The ends that are told are remembered. Readings aren't told once, but at each look.
    pub remembers_ends: bool,
    /// There is one look only.
    pub once: bool,
}

/// A look, and how long until the next one.
pub type Seen = (Look, Duration);

/// What there is to say.
#[derive(Debug, Default, PartialEq)]
pub struct Decided {
    /// Of the watch itself.
    pub health: Vec<Health>,
    /// Of the subjects.
    pub events: Vec<Event>,
    /// The subjects that are looked at no more.
    pub over: Vec<String>,
}

/// What judges.
#[derive(Debug)]
pub struct Judge {
    terms: Terms,
    memory: Memory,
    /// Those that were not looked at yet.
    waiting: BTreeSet<String>,
    /// Those that can't be seen, and why.
    unseen: BTreeMap<String, &'static str>,
    /// Those that have ended.
    over: BTreeMap<String, Outcome>,
    count: usize,
    reasons: Reasons,
}

impl Judge {
    /// Judges the subjects `ids`, of which `memory` knows what was said.
    #[must_use]
    pub fn new(terms: Terms, ids: BTreeSet<String>, mut memory: Memory) -> Self {
        memory.subjects.retain(|id, _| ids.contains(id));
        let ends = memory.subjects.iter().filter(|_| terms.remembers_ends);
        let over: BTreeMap<String, Outcome> =
            ends.filter_map(|(id, known)| Some((id.clone(), known.outcome?))).collect();
        Self {
            terms,
            memory,
            count: ids.len(),
            waiting: ids.into_iter().filter(|id| !over.contains_key(id)).collect(),
            unseen: BTreeMap::new(),
            over,
            reasons: Reasons::default(),
        }
    }

    /// What is to be remembered.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The last whole look at `id`, as an answer of the probe.
    #[must_use]
    pub fn previous(&self, id: &str) -> Option<&Value> {
        self.memory.subjects.get(id)?.previous.as_ref()
    }

    /// Whether `id` is looked at no more.
    #[must_use]
    pub fn is_over(&self, id: &str) -> bool {
        self.over.contains_key(id)
    }

    /// How all ended, once they have.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        let all_well = self.over.values().all(|outcome| *outcome == Outcome::Success);
        let ended = if all_well { Ended::Done } else { Ended::NoResult };
        (self.over.len() == self.count).then_some(ended)
    }

    /// What the looks so far come to.
    #[must_use]
    pub fn state(&self) -> session::Look {
        // A watch goes on without whom it lost; one look that lost somebody was not complete.
        let is_lost = |outcome: &Outcome| self.terms.once && *outcome == Outcome::Failed;
        if !self.waiting.is_empty() {
            session::Look::Settling
        } else if self.unseen.is_empty() && !self.over.values().any(is_lost) {
            session::Look::Whole
        } else {
            session::Look::Blind
        }
    }

    /// Takes in what was seen.
    pub fn judge(&mut self, seen: &[Seen], now: &Now) -> Decided {
        let mut decided = Decided::default();
        for (look, _) in seen {
            self.waiting.remove(&look.subject);
            let known = self.memory.subjects.entry(look.subject.clone()).or_default();
            if look.status != Status::ProviderError {
                known.compare(look, now, &mut decided.events);
            }
            let is_early = !self.terms.remembers_ends && known.is_news_of(look);
            if look.is_whole() {
                known.previous = Some(answer(look));
            }
            if let Some(outcome) = end(look, self.terms).filter(|_| !is_early) {
                known.outcome = Some(outcome)
                    .filter(|outcome| self.terms.remembers_ends && *outcome != Outcome::Failed);
                decided.events.push(ended(look, outcome));
                decided.over.push(look.subject.clone());
                self.over.insert(look.subject.clone(), outcome);
            }
            match unseen(look).filter(|_| !self.over.contains_key(&look.subject)) {
                Some(reason) => drop(self.unseen.insert(look.subject.clone(), reason)),
                None => drop(self.unseen.remove(&look.subject)),
            }
        }
        decided.health = self.health(seen, now);
        decided
    }

    /// Each reason is told when the first subject can't be seen for it, and when none is left.
    fn health(&mut self, seen: &[Seen], now: &Now) -> Vec<Health> {
        let kinds = [
            FaultKind::Transient,
            FaultKind::RateLimited,
            FaultKind::Authentication,
            FaultKind::Authorization,
            FaultKind::NotFound,
            FaultKind::Setup,
        ];
        let reasons = kinds.map(FaultKind::word).into_iter().chain([INCOMPLETE]);
        let mut health = Vec::new();
        for reason in reasons {
            let unseen = self.unseen.iter().filter(|(_, why)| **why == reason);
            let unseen: Vec<&str> = unseen.map(|(id, _)| &**id).collect();
            let told = if unseen.is_empty() {
                self.reasons.recover(reason, now)
            } else {
                let of_it = || seen.iter().filter(|(look, _)| unseen.contains(&&*look.subject));
                let retry = of_it().map(|(_, pause)| *pause).min().unwrap_or_default();
                let cause = of_it().find_map(|(look, _)| Some(&*look.error.as_ref()?.detail));
                let cause = cause.filter(|cause| !cause.is_empty());
                let cause = cause.map_or(String::new(), |cause| format!(" ({cause})"));
                let detail = format!("{}{cause}", unseen.join(", "));
                self.reasons.degrade(reason, &detail, retry, now)
            };
            health.extend(told);
        }
        health
    }
}

impl Known {
    /// Whether `look` is the first at a revision that succeeds. Who reads the readings takes it for
    /// a success when a second one says so.
    fn is_news_of(&self, look: &Look) -> bool {
        let known = self.previous.as_ref().and_then(|known| known["revision"].as_str());
        let is_other = |known: &str| !look.revision.is_empty() && known != look.revision;
        look.status == Status::Success && known.is_some_and(is_other)
    }

    /// Tells the difference that `look`, which saw something, makes.
    fn compare(&mut self, look: &Look, now: &Now, events: &mut Vec<Event>) {
        for entry in &look.entries {
            let key = entry.engine_key();
            let revision = match entry.resets_on {
                ResetsOn::Revision => look.revision.clone(),
                ResetsOn::Never => String::new(),
            };
            let held = Held { severity: entry.severity, revision, absent: 0 };
            let known = self.held.get(&key);
            if known.is_none_or(|known| known.is_news(&held)) {
                events.push(Event::ConditionRaised(ConditionRaised {
                    subject: look.subject.clone(),
                    kind: look.kind.clone(),
                    severity: entry.severity,
                    brief: entry.brief.clone(),
                    key: entry.key.clone(),
                    revision: Some(held.revision.clone()).filter(|revision| !revision.is_empty()),
                    // A text is cut between characters, which have up to four bytes.
                    is_cut: look.truncated && entry.brief.len() > 240 - 4,
                }));
            }
            self.held.insert(key, held);
        }
        if look.is_whole() {
            let cleared = self.clear(look);
            events.extend(cleared.into_iter().map(|key| {
                Event::ConditionCleared(ConditionCleared {
                    subject: look.subject.clone(),
                    kind: look.kind.clone(),
                    key,
                    said_at: now.timestamp().to_string(),
                })
            }));
        }
    }

    /// Forgets what a whole look shows to be gone. The names of that.
    fn clear(&mut self, look: &Look) -> Vec<String> {
        let named: BTreeSet<String> = look.entries.iter().map(Finding::engine_key).collect();
        let is_last = matches!(look.status, Status::Success | Status::Blocked);
        let mut gone = Vec::new();
        self.held.retain(|key, held| {
            if named.contains(key) {
                return true;
            }
            held.absent = held.absent.saturating_add(1);
            let is_gone = held.absent >= GONE || held.is_of_another(&look.revision) || is_last;
            gone.extend(is_gone.then(|| key.clone()));
            !is_gone
        });
        // One name in both scopes is one condition to a reader of events.
        let name = |key: &String| key.chars().skip(1).collect::<String>();
        let left: BTreeSet<String> = self.held.keys().map(name).collect();
        let gone: BTreeSet<String> = gone.iter().map(name).collect();
        gone.difference(&left).cloned().collect()
    }
}

impl Held {
    /// Whether it ended with its revision, now that there is another.
    fn is_of_another(&self, revision: &str) -> bool {
        !self.revision.is_empty() && !revision.is_empty() && self.revision != revision
    }

    fn is_news(&self, now: &Self) -> bool {
        self.is_of_another(&now.revision) || self.severity < now.severity
    }
}

/// How the subject ended, if it did.
fn end(look: &Look, terms: Terms) -> Option<Outcome> {
    match look.status {
        Status::Success => Some(Outcome::Success),
        Status::Blocked => Some(Outcome::Blocked),
        _ => {
            let lasts = look.failure().is_some_and(|fault| !fault.kind.can_heal());
            (lasts && !terms.keep_going).then_some(Outcome::Failed)
        }
    }
}

fn ended(look: &Look, outcome: Outcome) -> Event {
    let terminal = look.entries.iter().find(|entry| entry.severity == Severity::Terminal);
    let reason = match (look.failure(), terminal) {
        (Some(fault), _) => fault.kind.word(),
        (None, _) if !look.reason.is_empty() => &look.reason,
        (None, Some(entry)) => &entry.key,
        (None, None) => look.status.word(),
    };
    Event::SubjectEnded(SubjectEnded {
        subject: look.subject.clone(),
        kind: look.kind.clone(),
        outcome,
        reason: reason.to_owned(),
        fingerprint: look.fingerprint.clone(),
    })
}

/// Why not all of the subject was seen, if it wasn't.
fn unseen(look: &Look) -> Option<&'static str> {
    let why = look.error.as_ref().map_or(INCOMPLETE, |fault| fault.kind.word());
    (!look.is_whole()).then_some(why)
}

/// A whole look as the probe gave it, for its next request.
fn answer(look: &Look) -> Value {
    let mut answer = json!({"status": look.status, "facts": look.facts.iter().cloned().collect::<serde_json::Map<_, _>>()});
    let texts = [("revision", &look.revision), ("reason", &look.reason)];
    for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        answer[name] = json!(text);
    }
    if let Some(pending) = look.pending {
        answer["pending"] = pending.into();
    }
    let entries = look.entries.iter().map(|entry| {
        json!({"key": entry.key, "severity": entry.severity, "resets_on": entry.resets_on, "brief": entry.brief})
    });
    answer["entries"] = entries.collect();
    answer
}

#[cfg(test)]
mod tests;

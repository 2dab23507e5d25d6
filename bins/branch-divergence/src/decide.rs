//! What a look means: which change is worth a line. Pure.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use shared::{
    clock::Now,
    health::{Health, Reasons},
    line,
    reading::{self, Entry, Reading, ResetsOn},
    session::Look,
    text,
};

use crate::{
    args::{Args, Emit},
    distance::Distance,
    event::{BranchDivergence, BranchDivergenceCleared, Commits, Event, Severity, key},
    failure::{Failure, Trouble},
    probe::Scope,
};

/// What is asked for on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// The remote that has the base.
    pub remote: String,
    /// The count from which on a checkout is behind.
    pub threshold: u64,
    /// By how much the count must have moved to be told again.
    pub step: u64,
    /// What is printed.
    pub emit: Emit,
}

impl Terms {
    /// The terms of `args`, for `remote`.
    #[must_use]
    pub fn new(args: &Args, remote: &str) -> Self {
        let remote = remote.to_owned();
        Self { remote, threshold: args.threshold, step: args.step, emit: args.emit }
    }
}

/// What was told and known of each base, by `REMOTE/B`. It outlives the process in a cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory(BTreeMap<String, Known>);

/// The version of [`Memory`] in a cursor.
pub const VERSION: u32 = 1;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    tip: String,
    told: Option<Told>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    behind: u64,
    severity: Severity,
    branch: String,
}

fn subject(remote: &str, base: &str) -> String {
    format!("{remote}/{base}")
}

/// What a look gives rise to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What the program says of itself.
    pub health: Vec<Health>,
    /// What changed with the checkout.
    pub events: Vec<Event>,
    /// All that holds, instead of the two above.
    pub reading: Option<Reading>,
    /// What the look came to.
    pub look: Look,
}

/// Judges looks, and remembers what it told of them.
#[derive(Debug)]
pub struct Judge {
    terms: Terms,
    memory: Memory,
    reasons: Reasons,
    looks: u64,
}

impl Judge {
    /// Goes on from `memory`.
    #[must_use]
    pub fn new(terms: Terms, memory: Memory) -> Self {
        Self { terms, memory, reasons: Reasons::default(), looks: 0 }
    }

    /// What was told.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The tip of `base` that was counted last.
    #[must_use]
    pub fn tip(&self, base: &str) -> Option<String> {
        let known = self.memory.0.get(&subject(&self.terms.remote, base))?;
        Some(known.tip.clone())
    }

    /// Nothing was looked at: what the last look came to still holds.
    #[must_use]
    pub fn rest(&self) -> Verdict {
        Verdict { health: Vec::new(), events: Vec::new(), reading: None, look: self.state() }
    }

    fn state(&self) -> Look {
        let blind = Trouble::ALL.iter().any(|trouble| self.reasons.holds(trouble.word()));
        if blind { Look::Blind } else { Look::Whole }
    }

    /// What there is to say after a look at `base`, as far as that is known. `retry_in` is the
    /// time to the next ask.
    pub fn judge(
        &mut self,
        seen: &Result<Distance, Failure>,
        scope: Scope,
        base: Option<&str>,
        retry_in: Duration,
        now: &Now,
    ) -> Verdict {
        if matches!(seen, Err(Failure::GivenUp)) {
            return Verdict { look: Look::Settling, ..self.rest() };
        }
        let health = self.health(seen, scope, retry_in, now);
        if self.terms.emit == Emit::Readings {
            let reading = self.read(seen, base.unwrap_or("auto"));
            return Verdict { reading: Some(reading), ..self.rest() };
        }
        let event = seen.as_ref().ok().and_then(|distance| self.weigh(distance));
        Verdict { health, events: event.into_iter().collect(), ..self.rest() }
    }

    /// A look at the checkout alone ends only what can be seen there.
    fn health(
        &mut self,
        seen: &Result<Distance, Failure>,
        scope: Scope,
        retry_in: Duration,
        now: &Now,
    ) -> Vec<Health> {
        match seen {
            Ok(_) => {
                let ended = Trouble::ALL
                    .iter()
                    .filter(|trouble| scope == Scope::Remote || trouble.is_local());
                ended.filter_map(|trouble| self.reasons.recover(trouble.word(), now)).collect()
            }
            Err(Failure::Blind(trouble, detail)) => {
                self.reasons.degrade(trouble.word(), detail, retry_in, now).into_iter().collect()
            }
            Err(Failure::GivenUp) => Vec::new(),
        }
    }

    /// The table: what was told, and what is.
    fn weigh(&mut self, distance: &Distance) -> Option<Event> {
        let severity = self.severity(distance);
        let known = self.memory.0.entry(subject(&self.terms.remote, &distance.base)).or_default();
        known.tip.clone_from(&distance.tip);
        let Some(severity) = severity else {
            let told = known.told.take()?;
            return Some(self.cleared(distance, told.behind));
        };
        let is_news = known.told.as_ref().is_none_or(|told| {
            told.severity != severity
                || told.behind.abs_diff(distance.behind) >= self.terms.step
                || told.branch != distance.head_branch
                || distance.rewritten
        });
        if !is_news {
            return None;
        }
        let branch = distance.head_branch.clone();
        known.told = Some(Told { behind: distance.behind, severity, branch });
        Some(self.raised(distance, severity))
    }

    /// `None` below the threshold. An approximate count is never critical: it is no distance.
    fn severity(&self, distance: &Distance) -> Option<Severity> {
        let critical = self.terms.threshold.saturating_mul(3);
        match distance.behind {
            behind if behind < self.terms.threshold => None,
            behind if behind >= critical && !is_approximate(distance) => Some(Severity::Critical),
            _ => Some(Severity::Warning),
        }
    }

    fn raised(&self, distance: &Distance, severity: Severity) -> Event {
        Event::BranchDivergence(BranchDivergence {
            base_branch: distance.base.clone(),
            commits_behind: distance.behind,
            last_base_commit: distance.short_tip.clone(),
            severity,
            commits_ahead: distance.ahead,
            remote: self.terms.remote.clone(),
            head: distance.short_head.clone(),
            head_branch: distance.head_branch.clone(),
            merge_base: distance.merge_base.clone(),
            approximate: is_approximate(distance),
            base_rewritten: distance.rewritten,
            conflicts: distance.conflicts,
            commits: commits(distance),
        })
    }

    fn cleared(&self, distance: &Distance, previous: u64) -> Event {
        Event::BranchDivergenceCleared(BranchDivergenceCleared {
            base_branch: distance.base.clone(),
            commits_behind: distance.behind,
            previous,
            commits_ahead: distance.ahead,
            remote: self.terms.remote.clone(),
            head: distance.short_head.clone(),
            head_branch: distance.head_branch.clone(),
            commits: commits(distance),
        })
    }

    /// All that one look found. What was told as events stays as it is.
    fn read(&mut self, seen: &Result<Distance, Failure>, base: &str) -> Reading {
        self.looks += 1;
        let name = subject(&self.terms.remote, base);
        let (entry, error) = match seen {
            Ok(distance) => {
                self.memory.0.entry(name.clone()).or_default().tip.clone_from(&distance.tip);
                (self.entry(distance), None)
            }
            Err(Failure::Blind(trouble, detail)) => (None, Some(failure(*trouble, detail))),
            Err(Failure::GivenUp) => (None, None),
        };
        let entries = entry.into_iter().collect();
        Reading { subject: short(&name), look: self.looks, entries, error }
    }

    fn entry(&self, distance: &Distance) -> Option<Entry> {
        let severity = match self.severity(distance)? {
            Severity::Critical => reading::Severity::Immediate,
            Severity::Warning => reading::Severity::Wake,
        };
        let Distance { base, behind, ahead, short_tip, .. } = distance;
        let about = if is_approximate(distance) { "about " } else { "" };
        let remote = &self.terms.remote;
        let brief = format!("{about}{behind} behind {remote}/{base} ({short_tip}), {ahead} ahead");
        Some(Entry::new(&key(remote, base), severity, ResetsOn::Revision, &brief))
    }
}

fn is_approximate(distance: &Distance) -> bool {
    distance.shallow || distance.merge_base.is_none()
}

fn commits(distance: &Distance) -> Commits {
    Commits { head: distance.head.clone(), tip: distance.tip.clone() }
}

fn failure(trouble: Trouble, detail: &str) -> reading::Failure {
    let kind = if trouble == Trouble::RemoteAuth { "authentication" } else { "transient" };
    reading::Failure::new(kind, trouble.word(), detail)
}

/// A subject of at most 200 bytes, made as long keys are.
fn short(subject: &str) -> String {
    if subject.len() <= 200 {
        return subject.to_owned();
    }
    format!("{}#{}", text::head(subject, 183), line::digest(subject.as_bytes()))
}

#[cfg(test)]
mod tests;

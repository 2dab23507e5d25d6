//! How one name differs from what was said of it.

use std::time::Duration;

use jiff::Timestamp;

use crate::{
    content::{Flaw, moment},
    memory::{Gate, modified_at},
    seen::File,
};

/// How long a new gate may have no content, and a gone one no record.
const PATIENCE: Duration = Duration::from_millis(250);
/// How long a gate that was said may have no content.
const REWRITE: Duration = Duration::from_secs(1);
/// When a file without content is read again, after it was first seen without.
const TRIES_MS: [u64; 5] = [50, 150, 350, 750, 1000];
/// By how much the clock of a file system may be behind.
const GRAIN: Duration = Duration::from_millis(20);

/// One name, as it was said and as it is.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// What is remembered of it.
    pub gate: Option<&'a Gate>,
    /// It ended before.
    pub has_ended: bool,
    /// What was seen of it and is not told yet.
    pub noticed: Option<Notice>,
    /// Its file among the open gates.
    pub file: Option<&'a File>,
    /// It is among the records.
    pub is_recorded: bool,
    /// Its record, where that was read.
    pub record: Option<&'a File>,
    /// Records from before are no news; without it none is.
    pub since: Option<Timestamp>,
}

/// A difference that is not to be told yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notice {
    /// When it was first seen, on the monotonic clock.
    pub since: Duration,
    /// That was in the first look.
    pub initial: bool,
    /// The gate's name was seen to go.
    pub removed: bool,
    /// A gate of this name was seen open and not told.
    pub opened: bool,
}

impl Notice {
    /// Something was seen just now.
    #[must_use]
    pub fn new(since: Duration, initial: bool) -> Self {
        Self { since, initial, removed: false, opened: false }
    }
}

/// What there is to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was not looked into, since it can't have changed.
    Unread,
    /// It is as it was, but for its file's stamp.
    Same,
    /// It is not open, and never was as far as anyone was told.
    Closed,
    /// It is open.
    Opened,
    /// It is open and asks something else.
    Changed,
    /// It was gone, and one of its name is open.
    Reopened,
    /// There is a record of its answer.
    Recorded,
    /// Its own content says that it is answered.
    Answered,
    /// It is gone.
    Gone,
    /// It was answered before it was seen open.
    Late,
}

impl Verdict {
    /// Whether a line comes of it.
    #[must_use]
    pub fn is_told(self) -> bool {
        !matches!(self, Self::Unread | Self::Same | Self::Closed)
    }
}

impl Case<'_> {
    /// What there is to say of it.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let open = self.gate.filter(|gate| gate.open);
        if self.is_recorded {
            return match open {
                Some(_) => Verdict::Recorded,
                None if !self.has_ended && self.is_news() => Verdict::Late,
                None => Verdict::Closed,
            };
        }
        let Some(file) = self.file else {
            return if open.is_some() { Verdict::Gone } else { Verdict::Closed };
        };
        let Some(said) = &file.said else { return Verdict::Unread };
        let facts = said.as_ref().map(|read| &read.facts).ok();
        let is_answered = facts.is_some_and(|facts| facts.answered);
        let removed = self.noticed.is_some_and(|notice| notice.removed);
        match open {
            None if is_answered => Verdict::Closed,
            None => Verdict::Opened,
            Some(_) if is_answered => Verdict::Answered,
            Some(gate) if removed || facts.is_some_and(|facts| gate.is_other(facts)) => {
                Verdict::Reopened
            }
            Some(gate) if gate.agrees(file) => Verdict::Same,
            Some(_) => Verdict::Changed,
        }
    }

    /// Why the file that is to be told of has no content: its writer may be at work.
    fn flaw(&self, verdict: Verdict) -> Option<Flaw> {
        match verdict {
            Verdict::Recorded | Verdict::Late => self.record?.flaw(),
            _ => self.file?.flaw(),
        }
    }

    /// How long it may stay as it is before that is told.
    #[must_use]
    pub fn patience(&self, verdict: Verdict) -> Option<Duration> {
        match verdict {
            Verdict::Gone => Some(PATIENCE),
            Verdict::Changed => self.flaw(verdict).map(|_| REWRITE),
            _ => self.flaw(verdict).map(|_| PATIENCE),
        }
    }

    /// Whether the record is of an answer that was given while we looked.
    fn is_news(&self) -> bool {
        let (Some(since), Some(record)) = (self.since, self.record) else { return false };
        let texts = record.texts().unwrap_or_default();
        let said_at = texts.resolved_at.and_then(|text| moment(text.as_str()));
        let at = said_at.unwrap_or_else(|| modified_at(&record.stamp));
        let was_open = self.noticed.is_some_and(|notice| notice.opened);
        // Whoever writes such times cuts them to the second.
        was_open || at.as_second() >= (since - GRAIN).as_second()
    }
}

/// When to read again what has been without content since `since`.
#[must_use]
pub fn next_try(since: Duration, now: Duration) -> Option<Duration> {
    TRIES_MS.iter().map(|ms| since + Duration::from_millis(*ms)).find(|at| *at > now)
}

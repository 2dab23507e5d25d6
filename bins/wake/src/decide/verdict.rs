//! What the engine answers: verdicts on inputs, and lines to print.

use std::{borrow::Cow, fmt, sync::Arc};

use shared::{
    reading::{FaultKind, Severity, Status},
    text::Text,
};

use super::Ms;

/// The closed set of decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// Nothing new, and nothing waits.
    NoChange,
    /// Something waits, or something changed and there is nothing to tell.
    RecordOnly,
    /// The look failed or was skipped.
    RetryProvider,
    /// Worth a turn.
    WakeActionable,
    /// The subject ended as it should.
    StopSuccess,
    /// The subject, or the watch, ended otherwise.
    StopBlocked,
    /// The watch has spent what it had.
    StopBudget,
}

impl Decision {
    const ALL: [Self; 7] = [
        Self::NoChange,
        Self::RecordOnly,
        Self::RetryProvider,
        Self::WakeActionable,
        Self::StopSuccess,
        Self::StopBlocked,
        Self::StopBudget,
    ];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NoChange => "no_change",
            Self::RecordOnly => "record_only",
            Self::RetryProvider => "retry_provider",
            Self::WakeActionable => "wake_actionable",
            Self::StopSuccess => "stop_success",
            Self::StopBlocked => "stop_blocked",
            Self::StopBudget => "stop_budget",
        }
    }

    /// What `word` means.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| decision.word() == word)
    }

    /// Whether a line is printed for it.
    #[must_use]
    pub fn is_printed(self) -> bool {
        self >= Self::WakeActionable
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

/// Why, in one word: one of the engine's own, a settled status, the kind of an error, or what a
/// look said itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reason(Cow<'static, str>);

impl Reason {
    /// The most bytes of a word that somebody else chose, so that a line's head has room for it.
    const LONGEST: usize = 100;
    /// Nothing is new.
    pub(super) const NONE: Self = Self(Cow::Borrowed(""));
    /// Something waits.
    pub(super) const HELD: Self = Self(Cow::Borrowed("held"));
    /// A condition went.
    pub(super) const CLEARED: Self = Self(Cow::Borrowed("cleared"));
    /// A look at a new revision is one look too early for success.
    pub(super) const NEW_REVISION: Self = Self(Cow::Borrowed("new_revision"));
    /// The subject was not seen for long.
    pub(super) const BLIND: Self = Self(Cow::Borrowed("blind"));
    /// The condition stays as it is.
    pub(super) const STALL: Self = Self(Cow::Borrowed("verdict_stall"));
    /// It was quiet for long.
    pub(super) const FLOOR: Self = Self(Cow::Borrowed("floor"));
    /// Several verdicts in one line.
    pub(super) const FOLDED: Self = Self(Cow::Borrowed("folded"));
    /// The input ended.
    pub(super) const INPUT_ENDED: Self = Self(Cow::Borrowed("input_ended"));
    /// Too many looks did not see the subject.
    pub(super) const MAX_ERRORS: Self = Self(Cow::Borrowed("max_errors"));
    /// The watch is as old as it may be.
    pub(super) const MAX_LIFETIME: Self = Self(Cow::Borrowed("max_lifetime"));
    /// The lines are spent.
    pub(super) const MAX_WAKES: Self = Self(Cow::Borrowed("max_wakes"));
    /// The tokens are spent.
    pub(super) const MAX_TOKENS: Self = Self(Cow::Borrowed("max_tokens"));
    /// There is no reader.
    pub(super) const UNAVAILABLE: Self = Self(Cow::Borrowed("reader_unavailable"));
    /// The reader waits for a person.
    pub(super) const APPROVAL: Self = Self(Cow::Borrowed("approval_stall"));

    pub(super) const fn word(word: &'static str) -> Self {
        Self(Cow::Borrowed(word))
    }

    /// A word that somebody else chose: it may be a key, which can be anything.
    #[must_use]
    pub fn new(word: &str) -> Self {
        Self(Cow::Owned(Text::new(word, Self::LONGEST).as_str().to_owned()))
    }

    pub(super) fn fault(kind: FaultKind) -> Self {
        Self::word(kind.word())
    }

    pub(super) fn status(status: Status) -> Self {
        Self::word(status.word())
    }

    /// The word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The name of a record: `r|source|kind|subject` of readings, `e|source|subject` of events.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(pub(super) Arc<str>);

impl RecordId {
    /// The record of the readings of a subject.
    #[must_use]
    pub fn of_readings(source: &str, kind: &str, subject: &str) -> Self {
        Self(["r", source, kind, subject].join("|").into())
    }

    /// The record of the events of a source, and of a subject if they have one.
    #[must_use]
    pub fn of_events(source: &str, subject: Option<&str>) -> Self {
        Self(["e", source, subject.unwrap_or_default()].join("|").into())
    }

    /// The name as it stands in the state.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether events make the record.
    #[must_use]
    pub fn is_of_events(&self) -> bool {
        self.0.starts_with("e|")
    }

    /// Who looks, or speaks.
    #[must_use]
    pub fn source(&self) -> &str {
        self.0.split('|').nth(1).unwrap_or_default()
    }

    /// What kind of thing the subject is; none in a record of events.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.0.split('|').nth(2).filter(|_| !self.is_of_events())
    }

    /// The subject; empty in a record of events without one.
    #[must_use]
    pub fn subject(&self) -> &str {
        let bars = if self.is_of_events() { 3 } else { 4 };
        self.0.splitn(bars, '|').nth(bars - 1).unwrap_or_default()
    }
}

/// The judgement on one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What follows.
    pub decision: Decision,
    /// Why; empty with `no_change`.
    pub reason: Reason,
    /// Of which record; none when the watch is over.
    pub record: Option<RecordId>,
    /// What was found worth telling, the first 1000 of an answer; nothing when the input was not
    /// read.
    pub entries: Vec<Entry>,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// It holds.
    Raised,
    /// It happened.
    Once,
    /// It no longer holds.
    Cleared,
}

impl Condition {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Raised => "raised",
            Self::Once => "once",
            Self::Cleared => "cleared",
        }
    }
}

/// One condition or occurrence to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name, without the character of its scope.
    pub key: String,
    /// How much a reader cares.
    pub severity: Severity,
    /// What it is.
    pub condition: Condition,
    /// When it was first seen.
    pub since: Ms,
    /// It was told before.
    pub repeat: bool,
    /// One line for a person.
    pub brief: String,
}

/// What a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// One subject.
    Subject,
    /// The watch: it is the last line.
    Watch,
}

/// A line to print now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emission {
    /// The identity of the line.
    pub claim: String,
    /// The line as it was written before, to be printed again byte for byte. Then nothing below
    /// but `ends` means anything.
    pub again: Option<String>,
    /// What follows.
    pub decision: Decision,
    /// Why.
    pub reason: Reason,
    /// What it ends.
    pub ends: Option<Ends>,
    /// The first words of the text. Of a line about one record what follows the noun and the
    /// subject (`: `, `, still: `, ` done: REASON`), else all of it (`3 subjects: `,
    /// `watch ops ended: …`). Items may follow directly.
    pub lead: String,
    /// The records of the entries below, in the order of their first ones; of a line without
    /// entries the one that it is about.
    pub records: Vec<Told>,
    /// How many records the line is about in all. More than one verdict makes a folded line.
    pub subjects: usize,
    /// The entries, the first 1000: immediate ones first, then ends, then the others; the oldest
    /// first.
    pub items: Vec<Item>,
    /// How many more there are.
    pub beyond: usize,
    /// The newest events that were no more than context, oldest first, at most 32.
    pub context: Vec<String>,
    /// How many there were since the last line.
    pub context_count: u64,
}

impl Emission {
    /// Whether several verdicts share the line.
    #[must_use]
    pub fn is_folded(&self) -> bool {
        self.reason == Reason::FOLDED
    }
}

/// A record that a line is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Its name.
    pub id: RecordId,
    /// Its revision; empty: none.
    pub revision: String,
}

/// One entry of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Which of the records, counted from 0.
    pub record: usize,
    /// The verdict that it stands for, when that is another than `wake_actionable` with entries.
    pub verdict: Option<(Decision, Reason)>,
    /// The entry. In a folded line a verdict without entries is one whose key is its reason.
    pub entry: Entry,
}

/// What a record remembers of its keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// What waits to be told.
    pub held: Vec<Entry>,
    /// How much more does.
    pub held_beyond: usize,
    /// What was told and is silent.
    pub masked: Vec<Entry>,
    /// How much more is.
    pub masked_beyond: usize,
    /// When time alone makes something of it due.
    pub next_at: Option<Ms>,
}

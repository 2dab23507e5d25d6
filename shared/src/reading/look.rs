//! What a look came to, once it is read, checked and settled.

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// How much a reader cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth a turn, when one is due.
    Wake,
    /// Worth a turn now.
    Immediate,
    /// The end of the subject.
    Terminal,
}

impl Severity {
    /// The word for it in a line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Wake => "wake",
            Self::Immediate => "immediate",
            Self::Terminal => "terminal",
        }
    }

    /// What `word` means.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        [Self::Wake, Self::Immediate, Self::Terminal].into_iter().find(|found| found.word() == word)
    }
}

/// What ends an entry's being told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetsOn {
    /// A new revision of the subject.
    Revision,
    /// Nothing.
    Never,
}

impl ResetsOn {
    /// What `word` means.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "revision" => Some(Self::Revision),
            "never" => Some(Self::Never),
            _ => None,
        }
    }

    /// The first character of the keys that `wake` keeps.
    #[must_use]
    pub fn mark(self) -> char {
        match self {
            Self::Revision => '=',
            Self::Never => '~',
        }
    }
}

/// How the subject stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The watch goes on, and there is nothing to tell.
    Pending,
    /// Somebody should act.
    Actionable,
    /// It ended as it should.
    Success,
    /// It ended otherwise.
    Blocked,
    /// The look failed, or was skipped.
    ProviderError,
}

impl Status {
    /// The word for it in a line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Actionable => "actionable",
            Self::Success => "success",
            Self::Blocked => "blocked",
            Self::ProviderError => "provider_error",
        }
    }

    /// What `word` means.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        [Self::Pending, Self::Actionable, Self::Success, Self::Blocked, Self::ProviderError]
            .into_iter()
            .find(|found| found.word() == word)
    }
}

/// What kind of failure a look met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// It may be over at the next look.
    Transient,
    /// Asked too often.
    RateLimited,
    /// Not known who asks.
    Authentication,
    /// Not allowed.
    Authorization,
    /// There is no such subject.
    NotFound,
    /// The means to look are missing.
    Setup,
}

impl FaultKind {
    /// The word for it in a line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::RateLimited => "rate_limited",
            Self::Authentication => "authentication",
            Self::Authorization => "authorization",
            Self::NotFound => "not_found",
            Self::Setup => "setup",
        }
    }

    /// What `word` means. One that nobody knows is taken for a failure that heals.
    #[must_use]
    pub fn of(word: &str) -> Self {
        let lasting = [
            Self::RateLimited,
            Self::Authentication,
            Self::Authorization,
            Self::NotFound,
            Self::Setup,
        ];
        lasting.into_iter().find(|kind| kind.word() == word).unwrap_or(Self::Transient)
    }

    /// Whether it can be over without anybody's doing.
    #[must_use]
    pub fn can_heal(self) -> bool {
        matches!(self, Self::Transient | Self::RateLimited)
    }
}

/// Why a look, or a part of it, failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// What kind of failure.
    pub kind: FaultKind,
    /// In one word.
    pub reason: String,
    /// In one line for a person, clean and redacted.
    pub detail: String,
    /// False: nobody was asked.
    pub attempted: bool,
    /// Before that there is no use in another try; told in whole seconds, rounded up.
    #[serde(serialize_with = "seconds")]
    pub retry_at: Option<Timestamp>,
}

impl Fault {
    /// A failure that heals, with the reason `malformed`: what was read breaks a rule.
    #[must_use]
    pub fn malformed(rule: &str) -> Self {
        Self {
            kind: FaultKind::Transient,
            reason: "malformed".to_owned(),
            detail: crate::text::Text::new(rule, 120).as_str().to_owned(),
            attempted: true,
            retry_at: None,
        }
    }
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn seconds<S: Serializer>(at: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
    let up = |at: &Timestamp| {
        let second = at.as_second() + i64::from(at.subsec_nanosecond() > 0);
        Timestamp::from_second(second).unwrap_or(*at).to_string()
    };
    at.as_ref().map(up).serialize(to)
}

/// One condition or occurrence that a look found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its name, the same at every look.
    pub key: String,
    /// How much a reader cares.
    pub severity: Severity,
    /// What ends it.
    pub resets_on: ResetsOn,
    /// One line for a person, clean and redacted.
    pub brief: String,
}

impl Finding {
    /// The key under which `wake` keeps it: neither scope can forge the other.
    #[must_use]
    pub fn engine_key(&self) -> String {
        format!("{}{}", self.resets_on.mark(), self.key)
    }
}

/// Which subject a look was at.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// Who looked.
    pub source: String,
    /// What kind of thing the subject is.
    pub kind: String,
    /// The subject's canonical identity.
    pub subject: String,
}

/// A look as it is told, checked but not settled.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    /// The subject.
    pub name: Name,
    /// What a person calls such a thing.
    pub noun: String,
    /// The number of the look, from 1; 0: it has none.
    pub number: u64,
    /// Empty: none.
    pub revision: String,
    /// False: some of the subject could not be read.
    pub complete: bool,
    /// As told; none when left to [`super::settle::settle`].
    pub status: Option<Status>,
    /// Why, in one word; may be empty.
    pub reason: String,
    /// How many parts of the subject have not settled.
    pub pending: Option<u64>,
    /// What was found.
    pub entries: Vec<Finding>,
    /// For people, in their order.
    pub facts: Vec<(String, Value)>,
    /// Facts or a brief were cut.
    pub truncated: bool,
    /// Why the look, or a secondary read of it, failed.
    pub error: Option<Fault>,
}

impl Draft {
    /// A look at `name` that failed, or was skipped.
    #[must_use]
    pub fn failed(name: Name, number: u64, fault: Fault) -> Self {
        let status = Some(Status::ProviderError);
        Self { name, number, status, error: Some(fault), ..Self::default() }
    }
}

/// One whole look: its parts are joined, its status is settled.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Who looked.
    pub source: String,
    /// What kind of thing the subject is.
    pub kind: String,
    /// What a person calls such a thing.
    pub noun: String,
    /// The subject's canonical identity.
    pub subject: String,
    /// The number of the look, from 1; 0: it has none.
    pub number: u64,
    /// Empty: none.
    pub revision: String,
    /// False: some of the subject could not be read.
    pub complete: bool,
    /// Settled.
    pub status: Status,
    /// Why, in one word; may be empty.
    pub reason: String,
    /// How many parts of the subject have not settled.
    pub pending: Option<u64>,
    /// What was found; nothing when the look failed.
    pub entries: Vec<Finding>,
    /// For people, in their order.
    pub facts: Vec<(String, Value)>,
    /// Facts or a brief were cut.
    pub truncated: bool,
    /// Why the look, or a secondary read of it, failed.
    pub error: Option<Fault>,
    /// Equal when the looks say the same.
    pub fingerprint: String,
}

impl Look {
    /// Why nothing was seen, if nothing was.
    #[must_use]
    pub fn failure(&self) -> Option<&Fault> {
        self.error.as_ref().filter(|_| self.status == Status::ProviderError)
    }

    /// Whether the look saw all of the subject.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.status != Status::ProviderError && self.complete && self.error.is_none()
    }
}

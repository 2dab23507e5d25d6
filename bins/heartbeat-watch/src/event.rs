//! What is said: one struct per event, its keys in their order.

use std::{borrow::Cow, rc::Rc};

use serde::{Deserialize, Serialize};
use shared::line::{self, Condition, Mark, mark};

/// An event of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A lease came near its end, or passed it.
    HeartbeatWarning(HeartbeatWarning),
    /// What was said of a lease is over.
    HeartbeatRecovered(HeartbeatRecovered),
    /// An item that should have a lease has none that can be read.
    HeartbeatInvalid(HeartbeatInvalid),
}

/// `heartbeat_warning`: a lease came near its end, or passed it. Raises `lease:ID`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key that stands alone")]
pub struct HeartbeatWarning {
    /// What tells the item from the others: the ID of the key.
    #[serde(skip)]
    pub name: Rc<str>,
    /// The item's id as it stands in the file; empty when it has none.
    pub work_item_id: Rc<str>,
    /// The end of the lease as it stands in the file.
    pub lease_expires_at: Rc<str>,
    /// Whole seconds left; below zero once the lease has ended.
    pub remaining_seconds: i64,
    /// How near the end is.
    pub severity: Severity,
    /// The session that holds the item; empty when none is recorded.
    pub owner_session_id: Rc<str>,
    /// The lease names no zone, and was taken as UTC.
    #[serde(skip_serializing_if = "is_false")]
    pub lease_naive: bool,
    /// The lease was moved and is near its end still; only with `--emit-renewals`.
    #[serde(skip_serializing_if = "is_false")]
    pub renewed: bool,
    /// The boundary passed while the machine slept or the clock jumped, and the owner was given
    /// time to renew.
    #[serde(skip_serializing_if = "is_false")]
    pub resumed: bool,
    /// The store may be half of a commit, whose writer died.
    #[serde(skip_serializing_if = "is_false")]
    pub wal_pending: bool,
    /// Other items have the same id.
    #[serde(skip_serializing_if = "is_false")]
    pub duplicate: bool,
    /// The item's place in `items`, from 0, when it has no id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_index: Option<usize>,
    /// The revision of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_revision: Option<i64>,
}

/// `heartbeat_recovered`: what was said of a lease is over. Clears the key it was said under.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeartbeatRecovered {
    /// What tells the item from the others: the ID of the key.
    #[serde(skip)]
    pub name: Rc<str>,
    /// The item's id as it stands in the file; empty when it has none.
    pub work_item_id: Rc<str>,
    /// What ended it.
    pub reason: Ending,
    /// What was said last.
    pub previous_severity: Previous,
    /// The item's status; null when there is no such item, or its status is no string.
    pub status: Option<Cow<'static, str>>,
    /// The session that holds the item, empty for none; null when there is no such item.
    pub owner_session_id: Option<Rc<str>>,
    /// The end of the lease; null when there is no such item or no lease.
    pub lease_expires_at: Option<Rc<str>>,
    /// The store may be half of a commit, whose writer died.
    #[serde(skip_serializing_if = "is_false")]
    pub wal_pending: bool,
    /// The revision of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_revision: Option<i64>,
}

/// `heartbeat_invalid`: an item that should have a lease has none that can be read. Raises
/// `lease-invalid:ID`; of an element that is no item at all `item:#INDEX`, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeartbeatInvalid {
    /// What tells the item from the others: the ID of the key.
    #[serde(skip)]
    pub name: Rc<str>,
    /// The item's id as it stands in the file; empty when it has none.
    pub work_item_id: Rc<str>,
    /// The string that is no time, or another value's JSON text, at most 64 bytes of it; null when
    /// there is no value.
    pub lease_expires_at: Option<Rc<str>>,
    /// What is wrong.
    pub reason: Flaw,
    /// The session that holds the item; empty when none is recorded.
    pub owner_session_id: Rc<str>,
    /// The item's place in `items`, from 0.
    pub item_index: usize,
    /// The store may be half of a commit, whose writer died.
    #[serde(skip_serializing_if = "is_false")]
    pub wal_pending: bool,
    /// Other items have the same id.
    #[serde(skip_serializing_if = "is_false")]
    pub duplicate: bool,
    /// The revision of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_revision: Option<i64>,
    /// Whether the value was cut.
    #[serde(skip)]
    pub cut: bool,
}

/// How near the end of a lease is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Fewer seconds are left than `--warn-before` says.
    Warning,
    /// It has passed.
    Expired,
}

/// What was said before a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Previous {
    /// `heartbeat_warning` with this severity.
    Warning,
    /// The same.
    Expired,
    /// `heartbeat_invalid`.
    Invalid,
}

/// What ended a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The lease was moved away from its end.
    Renewed,
    /// Another session holds the item, with time enough.
    OwnerChanged,
    /// The item is done.
    Done,
    /// The item is ready or pending: to be taken anew.
    Requeued,
    /// There is no such item.
    Removed,
    /// The item has another status.
    Released,
    /// The lease can be read.
    Repaired,
}

/// Why a lease can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    /// There is none: absent, null or empty.
    LeaseMissing,
    /// It is a string, but no time.
    LeaseMalformed,
    /// It is no string.
    LeaseNotString,
    /// The whole element is no object.
    ItemNotObject,
}

impl Severity {
    /// Its word in the events.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Expired => "expired",
        }
    }
}

impl From<Severity> for Previous {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Warning => Self::Warning,
            Severity::Expired => Self::Expired,
        }
    }
}

impl Previous {
    /// Its word in the events.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Expired => "expired",
            Self::Invalid => "invalid",
        }
    }
}

impl Ending {
    /// Its word in the events.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Renewed => "renewed",
            Self::OwnerChanged => "owner_changed",
            Self::Done => "done",
            Self::Requeued => "requeued",
            Self::Removed => "removed",
            Self::Released => "released",
            Self::Repaired => "repaired",
        }
    }
}

impl Flaw {
    /// Its word in the events.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::LeaseMissing => "lease_missing",
            Self::LeaseMalformed => "lease_malformed",
            Self::LeaseNotString => "lease_not_string",
            Self::ItemNotObject => "item_not_object",
        }
    }
}

/// The key of a lease that is near its end or has passed it.
#[must_use]
pub fn lease_key(name: &str) -> String {
    format!("lease:{name}")
}

/// The key of a lease that can't be read.
#[must_use]
pub fn invalid_key(name: &str) -> String {
    format!("lease-invalid:{name}")
}

impl HeartbeatRecovered {
    /// The key that it clears.
    #[must_use]
    pub fn key(&self) -> String {
        match self.previous_severity {
            Previous::Invalid => invalid_key(&self.name),
            Previous::Warning | Previous::Expired => lease_key(&self.name),
        }
    }
}

impl line::Event for Event {
    fn mark(&self) -> Mark {
        match self {
            Self::HeartbeatWarning(event) => mark(
                &lease_key(&event.name),
                Condition::Raised,
                &[&event.owner_session_id, &event.lease_expires_at, event.severity.word()],
            ),
            Self::HeartbeatRecovered(event) => mark(
                &event.key(),
                Condition::Cleared,
                &[
                    event.previous_severity.word(),
                    event.reason.word(),
                    event.owner_session_id.as_deref().unwrap_or_default(),
                    event.lease_expires_at.as_deref().unwrap_or_default(),
                ],
            ),
            Self::HeartbeatInvalid(event) => {
                let (key, condition) = match event.reason {
                    Flaw::ItemNotObject => (format!("item:{}", event.name), Condition::Once),
                    _ => (invalid_key(&event.name), Condition::Raised),
                };
                let value = event.lease_expires_at.as_deref().unwrap_or_default();
                mark(&key, condition, &[event.reason.word(), value, &event.owner_session_id])
            }
        }
    }

    fn is_cut(&self) -> bool {
        matches!(self, Self::HeartbeatInvalid(event) if event.cut)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests;

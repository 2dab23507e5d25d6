//! A source's own health: each reason for blindness is told once, and its end once.

use std::{collections::BTreeMap, time::Duration};

use serde::{Serialize, Serializer};

use crate::{
    clock::Now,
    line::{self, Mark},
    text::Text,
};

/// The most bytes of a `detail`.
const DETAIL: usize = 200;

/// What a program says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the contract names these keys once for all programs")]
pub enum Health {
    /// The first complete look was taken.
    MonitorArmed {
        watching: String,
        #[serde(flatten)]
        extent: Option<Extent>,
        not_covered: Vec<&'static str>,
        #[serde(skip)]
        said_at: String,
    },
    /// It can't see, or not as it should.
    MonitorDegraded {
        reason: String,
        detail: Text,
        retry_in_seconds: u64,
        #[serde(skip)]
        said_at: String,
    },
    /// It sees again.
    MonitorRecovered {
        reason: String,
        blind_seconds: u64,
        #[serde(skip)]
        said_at: String,
    },
    /// It ends with an error.
    MonitorFailed {
        reason: String,
        detail: Text,
        exit_code: u8,
        #[serde(skip)]
        said_at: String,
    },
    /// It ends.
    MonitorStopped {
        reason: String,
        #[serde(skip)]
        said_at: String,
    },
    /// Nothing was printed for as long as `--alive` says.
    MonitorAlive {
        #[serde(skip)]
        said_at: String,
    },
}

/// How much is watched and by what means, where a program's page wants it told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// How many things.
    pub items: usize,
    /// How far apart the floor sweeps are.
    #[serde(rename = "poll_interval_sec", serialize_with = "span")]
    pub poll_interval: Duration,
    /// `inotify`, `pidfd`, `poll`.
    pub mechanisms: Vec<&'static str>,
}

fn span<S: Serializer>(span: &Duration, to: S) -> Result<S::Ok, S::Error> {
    seconds(&span.as_secs_f64(), to)
}

/// A setting in seconds, of at most a year, as people write it: without a fraction where there is
/// none.
///
/// # Errors
///
/// The serializer's.
pub fn seconds<S: Serializer>(seconds: &f64, to: S) -> Result<S::Ok, S::Error> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it lies between 0 and a year"
    )]
    let whole = *seconds as u64;
    #[expect(
        clippy::cast_precision_loss,
        clippy::float_cmp,
        reason = "seconds of a year are exact"
    )]
    let is_whole = whole as f64 == *seconds;
    if is_whole { to.serialize_u64(whole) } else { to.serialize_f64(*seconds) }
}

impl Health {
    /// `monitor_failed`.
    #[must_use]
    pub fn failed(reason: &str, detail: &str, exit_code: u8, now: &Now) -> Self {
        let detail = Text::new(detail, DETAIL);
        Self::MonitorFailed { reason: reason.to_owned(), detail, exit_code, said_at: at(now) }
    }

    /// `monitor_stopped`.
    #[must_use]
    pub fn stopped(reason: &str, now: &Now) -> Self {
        Self::MonitorStopped { reason: reason.to_owned(), said_at: at(now) }
    }

    /// `monitor_alive`.
    #[must_use]
    pub fn alive(now: &Now) -> Self {
        Self::MonitorAlive { said_at: at(now) }
    }

    /// `monitor_armed`.
    #[must_use]
    pub fn armed(
        watching: &str,
        extent: Option<Extent>,
        not_covered: &[&'static str],
        now: &Now,
    ) -> Self {
        let (watching, not_covered) = (watching.to_owned(), not_covered.to_vec());
        Self::MonitorArmed { watching, extent, not_covered, said_at: at(now) }
    }
}

fn at(now: &Now) -> String {
    now.timestamp().to_string()
}

impl line::Event for Health {
    fn mark(&self) -> Mark {
        let (reason, said_at) = match self {
            Self::MonitorDegraded { reason, said_at, .. }
            | Self::MonitorRecovered { reason, said_at, .. }
            | Self::MonitorFailed { reason, said_at, .. }
            | Self::MonitorStopped { reason, said_at } => (&**reason, said_at),
            Self::MonitorArmed { said_at, .. } | Self::MonitorAlive { said_at } => ("", said_at),
        };
        Mark { key: None, discriminator: format!("{reason}\u{1f}{said_at}") }
    }

    fn is_cut(&self) -> bool {
        match self {
            Self::MonitorDegraded { detail, .. } | Self::MonitorFailed { detail, .. } => {
                detail.is_cut()
            }
            _ => false,
        }
    }

    fn free_text() -> &'static [&'static str] {
        &["detail", "watching"]
    }
}

/// The reasons that hold, each told once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reasons(BTreeMap<&'static str, Duration>);

impl Reasons {
    /// `reason` holds. The event, unless it held already.
    pub fn degrade(
        &mut self,
        reason: &'static str,
        detail: &str,
        retry_in: Duration,
        now: &Now,
    ) -> Option<Health> {
        if self.0.contains_key(reason) {
            return None;
        }
        self.0.insert(reason, now.boot);
        Some(Health::MonitorDegraded {
            reason: reason.to_owned(),
            detail: Text::new(detail, DETAIL),
            retry_in_seconds: retry_in.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX),
            said_at: at(now),
        })
    }

    /// `reason` no longer holds. The event, if it did.
    pub fn recover(&mut self, reason: &'static str, now: &Now) -> Option<Health> {
        let since = self.0.remove(reason)?;
        let blind_seconds = now.boot.saturating_sub(since).as_secs();
        Some(Health::MonitorRecovered {
            reason: reason.to_owned(),
            blind_seconds,
            said_at: at(now),
        })
    }

    /// Whether `reason` holds.
    #[must_use]
    pub fn holds(&self, reason: &str) -> bool {
        self.0.contains_key(reason)
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn at(seconds: u64) -> Now {
        let time = Duration::from_secs(seconds);
        let wall = Timestamp::from_second(i64::try_from(seconds).unwrap()).unwrap();
        Now { wall, boot: time, monotonic: time }
    }

    #[test]
    fn each_reason_is_told_once_and_its_end_once() {
        let mut reasons = Reasons::default();
        let wait = Duration::from_millis(1500);
        let told = reasons.degrade("store_missing", "/p: gone", wait, &at(10)).unwrap();
        let Health::MonitorDegraded { retry_in_seconds, .. } = &told else { panic!("{told:?}") };
        assert_eq!(*retry_in_seconds, 2);
        assert_eq!(reasons.degrade("store_missing", "/p: gone", wait, &at(11)), None);
        assert!(reasons.degrade("gates_missing", "", wait, &at(11)).is_some());
        let over = reasons.recover("store_missing", &at(15)).unwrap();
        let Health::MonitorRecovered { blind_seconds, .. } = &over else { panic!("{over:?}") };
        assert_eq!(*blind_seconds, 5);
        assert_eq!(reasons.recover("store_missing", &at(16)), None);
        assert!(reasons.holds("gates_missing") && !reasons.holds("store_missing"));
    }
}

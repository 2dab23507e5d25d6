//! What of the gates can be seen at all. While nothing can, nothing is raised and nothing
//! cleared; what was gone and came back is given time to be whole before it is compared.

use std::{path::Path, time::Duration};

use shared::{
    clock::Now,
    health::{Health, Reasons},
};

use crate::{
    probe::folders,
    seen::{Listing, Seen},
};

/// How long a state folder that was never there is waited for in silence.
const FIRST: Duration = Duration::from_mins(1);
/// How long a folder that was there may be gone before that is told, and how long it has to be
/// back before it is compared.
const GRACE: Duration = Duration::from_secs(2);
/// The reasons for seeing nothing.
const BLIND: [&str; 3] = ["state_dir_missing", "gates_missing", "gates_unreadable"];

/// What can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The open gates.
    Clear,
    /// Open gates that may not all be back.
    Returning(Duration),
    /// Nothing. With a time, that is to be told then.
    Blind(Option<Duration>),
}

/// Why nothing can be seen, once that is worth telling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blindness {
    /// The reason's name.
    pub reason: &'static str,
    /// The path and the cause.
    pub detail: String,
}

/// What a look's sight came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighted {
    /// What can be seen.
    pub view: View,
    /// Why nothing can.
    pub blindness: Option<Blindness>,
    /// What is to be told of that.
    pub blind_health: Vec<Health>,
    /// What is to be told of the records.
    pub record_health: Option<Health>,
}

/// Keeps track of what can be seen.
#[derive(Debug, Clone)]
pub struct Sight {
    /// No grace: there is only one look.
    once: bool,
    retry_in: Duration,
    reasons: Reasons,
    started: Option<Duration>,
    had_dir: bool,
    dir_gone: Option<Duration>,
    open_gone: Option<Duration>,
    back: Option<Duration>,
    folder: Option<(u64, u64)>,
}

impl Sight {
    /// With `once`, nothing is waited for. `retry_in` is the time to the next look.
    #[must_use]
    pub fn new(once: bool, retry_in: Duration) -> Self {
        Self {
            once,
            retry_in,
            reasons: Reasons::default(),
            started: None,
            had_dir: false,
            dir_gone: None,
            open_gone: None,
            back: None,
            folder: None,
        }
    }

    /// Judges a look at `dir`. `listed` says that open gates were seen there before, `went` that
    /// their folder was seen to go.
    pub fn judge(
        &mut self,
        dir: &Path,
        seen: &Seen,
        listed: bool,
        went: bool,
        now: &Now,
    ) -> Sighted {
        let trouble = self.trouble(dir, seen, listed, now);
        if let Listing::Listed { folder, .. } = &seen.open {
            let is_other = self.folder.replace(*folder).is_some_and(|known| known != *folder);
            if listed && (self.open_gone.take().is_some() || went || is_other) {
                self.back = Some(now.monotonic + GRACE);
            }
        }
        let view = match &trouble {
            Some((_, due)) if self.once || *due <= now.monotonic => View::Blind(None),
            Some((_, due)) => View::Blind(Some(*due)),
            None => match self.back.filter(|back| *back > now.monotonic) {
                Some(back) => View::Returning(back),
                None => View::Clear,
            },
        };
        if view == View::Clear {
            self.back = None;
        }
        let told = trouble.filter(|_| view == View::Blind(None)).map(|(blindness, _)| blindness);
        let blind_health = self.tell(view, told.as_ref(), now);
        let record_health = self.records(dir, seen, view, now);
        Sighted { view, blindness: told, blind_health, record_health }
    }

    /// Whether the last look saw the open gates.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        let gone = self.dir_gone.is_some() || self.open_gone.is_some() || self.back.is_some();
        !gone && !BLIND.iter().any(|reason| self.reasons.holds(reason))
    }

    /// Why nothing can be seen, and when that is to be told.
    fn trouble(
        &mut self,
        dir: &Path,
        seen: &Seen,
        listed: bool,
        now: &Now,
    ) -> Option<(Blindness, Duration)> {
        let [_, open, _] = folders(dir);
        let started = *self.started.get_or_insert(now.monotonic);
        let is_gone = listed && matches!(seen.open, Listing::Absent);
        let open_gone = is_gone.then(|| *self.open_gone.get_or_insert(now.monotonic) + GRACE);
        let blind = |reason, path: &Path, cause: &str| Blindness {
            reason,
            detail: format!("{}: {cause}", path.display()),
        };
        if !seen.has_dir {
            let gone = *self.dir_gone.get_or_insert(now.monotonic);
            let due = if self.had_dir { gone + GRACE } else { started + FIRST };
            return Some((blind("state_dir_missing", dir, "no such folder"), due));
        }
        (self.had_dir, self.dir_gone) = (true, None);
        match &seen.open {
            Listing::Refused(cause) => {
                Some((blind("gates_unreadable", &open, cause), now.monotonic))
            }
            Listing::Absent => {
                open_gone.map(|due| (blind("gates_missing", &open, "no such folder"), due))
            }
            Listing::Listed { .. } => None,
        }
    }

    /// Tells the reason that holds, and the end of those that don't.
    fn tell(&mut self, view: View, told: Option<&Blindness>, now: &Now) -> Vec<Health> {
        let mut health = Vec::new();
        if told.is_some() || view == View::Clear {
            let over =
                BLIND.iter().filter(|reason| told.is_none_or(|told| told.reason != **reason));
            health.extend(over.filter_map(|reason| self.reasons.recover(reason, now)));
        }
        if let Some(told) = told {
            health.extend(self.reasons.degrade(told.reason, &told.detail, self.retry_in, now));
        }
        health
    }

    fn records(&mut self, dir: &Path, seen: &Seen, view: View, now: &Now) -> Option<Health> {
        const REASON: &str = "resolved_unreadable";
        let [_, _, resolved] = folders(dir);
        match &seen.records {
            // That the state folder is none is told once, with the reason of its own.
            Listing::Refused(_) if !seen.has_dir => None,
            Listing::Refused(cause) => {
                let detail = format!("{}: {cause}", resolved.display());
                self.reasons.degrade(REASON, &detail, self.retry_in, now)
            }
            Listing::Absent | Listing::Listed { .. } => {
                (view == View::Clear).then(|| self.reasons.recover(REASON, now)).flatten()
            }
        }
    }
}

//! What a program says when it could not see: once per kind of trouble, and once when it is over;
//! and when it looks again. Pure.

use std::time::Duration;

use jiff::Timestamp;
use shared::{
    clock::Now,
    exit::{Error, Reason},
    gh::{Class, Pace, Trouble},
    health::{Health, Reasons},
    session::Look,
    text::Text,
};

use crate::{look::Unseen, place::Names, target::Target};

/// How soon a subject is looked at again whose head moved during the look.
const AGAIN: Duration = Duration::from_secs(2);
/// After how many such looks in a row that is trouble like any other.
const MOVES: u32 = 5;

/// What one look came to for one target, without what was seen.
#[derive(Debug, Clone, Copy)]
pub enum Came<'a> {
    /// It was seen whole.
    Whole,
    /// Less was seen than there is.
    Degraded(&'a Trouble),
    /// It was not seen.
    Not(&'a Unseen),
}

/// What there is to say of a look's troubles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// On stdout.
    pub health: Vec<Health>,
    /// On stderr.
    pub warning: Option<String>,
    /// What the look came to.
    pub look: Look,
    /// How long to wait for the next one.
    pub wait: Duration,
}

/// Keeps what was said of troubles.
#[derive(Debug)]
pub struct Troubles {
    pace: Pace,
    interval: Duration,
    reasons: Reasons,
    seen_any: bool,
    warned_of: Option<Timestamp>,
    moves: u32,
}

impl Troubles {
    /// For looks every `interval`.
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        Self {
            pace: Pace::new(interval),
            interval,
            reasons: Reasons::default(),
            seen_any: false,
            warned_of: None,
            moves: 0,
        }
    }

    /// What there is to say. `is_known` tells whether a target was ever seen, in this run or in
    /// one that is remembered.
    ///
    /// # Errors
    ///
    /// What can't be watched at all: no `gh`, no login, no such target.
    pub fn judge(
        &mut self,
        came: &[(&Target, Came<'_>)],
        is_known: impl Fn(&Target) -> bool,
        now: &Now,
    ) -> Result<Said, Error> {
        let seen = came.iter().filter(|(_, came)| !matches!(came, Came::Not(_))).count();
        self.seen_any |= seen > 0;
        let moved = came.iter().find(|(_, came)| matches!(came, Came::Not(Unseen::Moved)));
        self.moves = moved.map_or(0, |_| self.moves.saturating_add(1));
        let restless = Trouble::malformed("its head is another one at each read");
        let lasting = moved.filter(|_| self.moves > MOVES).map(|(target, _)| (*target, &restless));
        let moved = moved.is_some() && lasting.is_none();
        let troubles: Vec<(&Target, &Trouble)> = came
            .iter()
            .filter_map(|(target, came)| Some((*target, came.trouble()?)))
            .chain(lasting)
            .collect();
        for (target, trouble) in &troubles {
            if let Some(fatal) = self.fatal(target, trouble, is_known(target)) {
                return Err(fatal);
            }
        }
        let cooling = came.iter().filter_map(|(_, came)| came.cooling()).max();
        let wait = if seen > 0 || (moved && troubles.is_empty()) {
            self.pace.seen()
        } else if let Some((_, trouble)) = troubles.first() {
            self.pace.failed(trouble, now)
        } else if let Some(until) = cooling {
            self.pace.cooling(until, now)
        } else {
            self.interval
        };
        let wait = if moved { wait.min(AGAIN) } else { wait };
        let mut health: Vec<Health> = troubles
            .iter()
            .filter_map(|(target, trouble)| {
                let detail = format!("{}: {}", Names::spoken(target), trouble.detail);
                self.reasons.degrade(trouble.class.word(), &detail, wait, now)
            })
            .collect();
        let whole = came.iter().all(|(_, came)| matches!(came, Came::Whole));
        if whole {
            let over =
                Class::ALL.iter().filter_map(|class| self.reasons.recover(class.word(), now));
            health.extend(over);
        }
        let look = match (whole, moved && troubles.is_empty() && cooling.is_none()) {
            (true, _) => Look::Whole,
            (false, true) => Look::Settling,
            (false, false) => Look::Blind,
        };
        let warning = cooling.and_then(|until| self.warn(until));
        Ok(Said { health, warning, look, wait })
    }

    /// A cooldown that another program wrote is no failure of ours, and would be mere silence.
    fn warn(&mut self, until: Timestamp) -> Option<String> {
        if self.reasons.holds(Class::RateLimited.word()) || self.warned_of >= Some(until) {
            return None;
        }
        self.warned_of = Some(until);
        let until = Timestamp::from_second(until.as_second()).unwrap_or(until);
        Some(format!("GitHub wants to be left alone (rate limit): asking again at {until}"))
    }

    fn fatal(&self, target: &Target, trouble: &Trouble, is_known: bool) -> Option<Error> {
        let host = &target.repo.host;
        let words = Text::new(&trouble.detail, 200);
        let detail = words.as_str();
        match trouble.class {
            Class::NotFound if !is_known => {
                let what = Names::spoken(target);
                let message = format!("unable to find {what}: {detail}");
                Some(Error::new(Reason::NotFound, "not_found", message))
            }
            Class::Authentication if !self.seen_any => {
                let message = format!(
                    "unable to read {host}: {detail} (run: gh auth login --hostname {host})"
                );
                Some(Error::new(Reason::Missing, "not_logged_in", message))
            }
            Class::Setup if !self.seen_any => {
                let message = format!("unable to read {host}: {detail} (install gh)");
                Some(Error::new(Reason::Missing, "gh_missing", message))
            }
            _ => None,
        }
    }
}

impl<'a> Came<'a> {
    fn trouble(self) -> Option<&'a Trouble> {
        match self {
            Self::Degraded(trouble) | Self::Not(Unseen::Trouble(trouble)) => Some(trouble),
            Self::Whole | Self::Not(_) => None,
        }
    }

    fn cooling(self) -> Option<Timestamp> {
        match self {
            Self::Not(Unseen::Cooling(until)) => Some(*until),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Repo, Subject};

    fn target() -> Target {
        Target { repo: Repo::of("github.com", "o", "n").unwrap(), subject: Subject::Pull(42) }
    }

    fn trouble(class: Class) -> Unseen {
        Unseen::Trouble(Trouble { class, detail: "words".to_owned(), retry_at: None })
    }

    fn judge(troubles: &mut Troubles, came: Came<'_>, known: bool) -> Result<Said, Error> {
        troubles.judge(&[(&target(), came)], |_| known, &shared::clock::now())
    }

    fn words(said: &Said) -> Vec<String> {
        said.health
            .iter()
            .map(|health| match health {
                Health::MonitorDegraded { reason, .. } => format!("-{reason}"),
                Health::MonitorRecovered { reason, .. } => format!("+{reason}"),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn each_kind_is_told_once_and_over_with_the_first_whole_look() {
        let mut troubles = Troubles::new(Duration::from_secs(30));
        let transient = trouble(Class::Transient);
        let limited = trouble(Class::RateLimited);
        let mut say = |came| words(&judge(&mut troubles, came, true).unwrap());
        assert_eq!(say(Came::Not(&transient)), ["-transient"]);
        assert!(say(Came::Not(&transient)).is_empty());
        assert_eq!(say(Came::Not(&limited)), ["-rate_limited"]);
        assert_eq!(say(Came::Whole), ["+rate_limited", "+transient"]);
        assert!(say(Came::Whole).is_empty());
    }

    #[test]
    fn a_skipped_look_is_neither_success_nor_failure() {
        let mut troubles = Troubles::new(Duration::from_secs(30));
        let transient = trouble(Class::Transient);
        judge(&mut troubles, Came::Not(&transient), true).unwrap();
        let until = shared::clock::now().wall.checked_add(Duration::from_mins(1)).unwrap();
        let cooling = Unseen::Cooling(until);
        let said = judge(&mut troubles, Came::Not(&cooling), true).unwrap();
        assert!(said.health.is_empty() && said.warning.is_some());
        assert!((59.0..66.0).contains(&said.wait.as_secs_f64()), "{said:?}");
        let said = judge(&mut troubles, Came::Not(&cooling), true).unwrap();
        assert_eq!((said.warning, said.look), (None, Look::Blind));
        // The second failure is the second in a row.
        let said = judge(&mut troubles, Came::Not(&transient), true).unwrap();
        assert!(said.wait > Duration::from_secs(26), "{said:?}");
    }

    #[test]
    fn the_start_fails_for_what_only_a_person_can_mend() {
        let fails = |class: Class, known: bool| {
            let mut troubles = Troubles::new(Duration::from_secs(30));
            let unseen = trouble(class);
            judge(&mut troubles, Came::Not(&unseen), known).err().map(|err| err.reason())
        };
        assert_eq!(fails(Class::NotFound, false), Some(Reason::NotFound));
        assert_eq!(fails(Class::NotFound, true), None);
        assert_eq!(fails(Class::Authentication, false), Some(Reason::Missing));
        assert_eq!(fails(Class::Setup, false), Some(Reason::Missing));
        for class in [Class::Transient, Class::RateLimited, Class::Authorization] {
            assert_eq!(fails(class, false), None, "{class:?}");
        }
        // Later it is told, and tried again when it has had time.
        let mut troubles = Troubles::new(Duration::from_secs(30));
        judge(&mut troubles, Came::Whole, true).unwrap();
        let said = judge(&mut troubles, Came::Not(&trouble(Class::Authentication)), true).unwrap();
        assert_eq!(
            (words(&said), said.wait),
            (vec!["-authentication".to_owned()], Duration::from_mins(5))
        );
    }

    #[test]
    fn a_moved_head_is_looked_at_again_soon() {
        let mut troubles = Troubles::new(Duration::from_secs(30));
        let said = judge(&mut troubles, Came::Not(&Unseen::Moved), true).unwrap();
        assert_eq!((said.look, said.wait), (Look::Settling, AGAIN));
        assert!(said.health.is_empty());
        for _ in 1..MOVES {
            assert!(
                judge(&mut troubles, Came::Not(&Unseen::Moved), true).unwrap().health.is_empty()
            );
        }
        let said = judge(&mut troubles, Came::Not(&Unseen::Moved), true).unwrap();
        assert_eq!((words(&said), said.look), (vec!["-transient".to_owned()], Look::Blind));
        assert!(said.wait >= Duration::from_secs(15), "{said:?}");
    }
}

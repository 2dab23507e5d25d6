//! What is told of a look beside its lines, and when the next one is due. Pure.

use std::time::Duration;

use shared::{
    clock::Now,
    health::{Health, Reasons},
    session::Look,
};

use crate::{
    event::{TailEvent, TailSkipped},
    skips::Skips,
};

/// How long the state folder may be missing at the start.
const START_GRACE: Duration = Duration::from_mins(1);
/// How long it may be missing after it had been there.
const GRACE: Duration = Duration::from_secs(2);
/// The least time between two saves of the cursor.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// What a look came to, its lines apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// What is at the journal's name.
    pub journal: Journal,
    /// There is more to read than the look has read.
    pub is_behind: bool,
    /// When the journal is to be looked at again though nothing changed.
    pub due: Option<Duration>,
    /// Whether there was anything to deal with.
    pub had_news: bool,
}

/// What is at the journal's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Journal {
    /// Nothing is, nor is there a folder for it; its path.
    NoFolder(String),
    /// Nothing yet.
    Absent,
    /// Something that can't be read; its path and why.
    Unreadable(String),
    /// A file that is being read.
    There,
}

/// What outlives a look.
#[derive(Debug, Default)]
pub struct Memory {
    reasons: Reasons,
    /// Lines that did not pass.
    pub skips: Skips,
    folder_was_there: bool,
    journal_was_there: bool,
    missing_since: Option<Duration>,
    saved: Option<Duration>,
    unsaved: bool,
}

/// What follows from a look.
#[derive(Debug, PartialEq, Eq)]
pub struct Decision {
    /// The health events to tell.
    pub health: Vec<Health>,
    /// The program's own events to tell.
    pub events: Vec<TailEvent>,
    /// What the look came to.
    pub look: Look,
    /// Whether the cursor is to be saved.
    pub save: bool,
    /// When the next look is due, on the monotonic clock.
    pub due: Option<Duration>,
}

/// Decides what follows from `seen`. `once` says that there is no other look, `retry_in` when an
/// unreadable journal is tried again.
pub fn decide(
    memory: &mut Memory,
    seen: &Seen,
    once: bool,
    retry_in: Duration,
    now: &Now,
) -> Decision {
    let (health, blind, grace_ends) = health(memory, &seen.journal, once, retry_in, now);
    let look = match (seen.is_behind, blind) {
        (true, _) => Look::Settling,
        (false, true) => Look::Blind,
        (false, false) => Look::Whole,
    };
    let is_last = once && look != Look::Settling;
    let skips =
        if is_last { memory.skips.take_all() } else { memory.skips.take_due(now.monotonic) };

    let is_there = seen.journal == Journal::There;
    let appeared = is_there && !std::mem::replace(&mut memory.journal_was_there, is_there);
    memory.unsaved |= seen.had_news || appeared || memory.saved.is_none();
    let save_at = memory.saved.map(|saved| saved + SAVE_EVERY);
    let save = memory.unsaved && (is_last || save_at.is_none_or(|at| at <= now.monotonic));
    if save {
        memory.saved = Some(now.monotonic);
        memory.unsaved = false;
    }
    let save_at = save_at.filter(|_| memory.unsaved);
    let due = [seen.due, grace_ends, memory.skips.due(), save_at].into_iter().flatten().min();
    Decision { health, events: told(skips), look, save, due }
}

/// The events that tell of `skipped` lines.
#[must_use]
pub fn told(skipped: Vec<TailSkipped>) -> Vec<TailEvent> {
    skipped.into_iter().map(TailEvent::TailSkipped).collect()
}

/// The health events, whether the look was blind, and when a grace ends.
fn health(
    memory: &mut Memory,
    journal: &Journal,
    once: bool,
    retry_in: Duration,
    now: &Now,
) -> (Vec<Health>, bool, Option<Duration>) {
    let Memory { reasons, folder_was_there, missing_since, .. } = memory;
    let mut health = Vec::new();
    let mut grace_ends = None;
    if let Journal::NoFolder(path) = journal {
        let since = *missing_since.get_or_insert(now.monotonic);
        let grace = if *folder_was_there { GRACE } else { START_GRACE };
        if once || now.monotonic >= since + grace {
            let detail = format!("{path}: no such folder");
            health.extend(reasons.degrade("state_dir_missing", &detail, retry_in, now));
        } else {
            grace_ends = Some(since + grace);
        }
    } else {
        *folder_was_there = true;
        *missing_since = None;
        health.extend(reasons.recover("state_dir_missing", now));
    }
    match journal {
        Journal::Unreadable(detail) => {
            health.extend(reasons.degrade("file_unreadable", detail, retry_in, now));
        }
        Journal::Absent | Journal::There => health.extend(reasons.recover("file_unreadable", now)),
        Journal::NoFolder(_) => {}
    }
    let blind = ["state_dir_missing", "file_unreadable"];
    (health, blind.iter().any(|reason| reasons.holds(reason)), grace_ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{event::SkipReason, filter::Skip};

    const POLL: Duration = Duration::from_secs(5);

    fn at(millis: u64) -> Now {
        let boot = Duration::from_millis(millis);
        Now { wall: "2026-04-08T14:10:00Z".parse().unwrap(), boot, monotonic: boot }
    }

    fn seen(journal: Journal) -> Seen {
        Seen { journal, is_behind: false, due: None, had_news: false }
    }

    fn no_folder() -> Seen {
        seen(Journal::NoFolder("/p".to_owned()))
    }

    fn look(memory: &mut Memory, seen: &Seen, millis: u64) -> (Vec<String>, Decision) {
        let decision = decide(memory, seen, false, POLL, &at(millis));
        let told = decision.health.iter().map(|event| match event {
            Health::MonitorDegraded { reason, .. } => format!("-{reason}"),
            Health::MonitorRecovered { reason, .. } => format!("+{reason}"),
            other => format!("{other:?}"),
        });
        (told.collect(), decision)
    }

    #[test]
    fn a_folder_may_be_missing_for_a_minute_at_the_start_and_two_seconds_later() {
        let mut memory = Memory::default();
        let (told, decision) = look(&mut memory, &no_folder(), 0);
        assert_eq!((told.len(), decision.look), (0, Look::Whole));
        assert_eq!(decision.due, Some(Duration::from_mins(1)));
        assert_eq!(look(&mut memory, &no_folder(), 59_999).0, [""; 0]);
        let (told, decision) = look(&mut memory, &no_folder(), 60_000);
        assert_eq!((told, decision.look), (vec!["-state_dir_missing".to_owned()], Look::Blind));
        assert_eq!(look(&mut memory, &no_folder(), 70_000).0, [""; 0]);
        let (told, decision) = look(&mut memory, &seen(Journal::Absent), 80_000);
        assert_eq!((told, decision.look), (vec!["+state_dir_missing".to_owned()], Look::Whole));
        assert_eq!(look(&mut memory, &no_folder(), 90_000).0, [""; 0]);
        assert_eq!(look(&mut memory, &seen(Journal::There), 91_999).0, [""; 0]);
        assert_eq!(look(&mut memory, &no_folder(), 92_000).0, [""; 0]);
        assert_eq!(look(&mut memory, &no_folder(), 94_000).0, ["-state_dir_missing"]);
    }

    #[test]
    fn a_single_look_has_no_grace() {
        let decision = decide(&mut Memory::default(), &no_folder(), true, POLL, &at(0));
        assert_eq!((decision.health.len(), decision.look), (1, Look::Blind));
        let absent = seen(Journal::Absent);
        let decision = decide(&mut Memory::default(), &absent, true, POLL, &at(0));
        assert_eq!((decision.health.len(), decision.look), (0, Look::Whole));
    }

    #[test]
    fn t15_an_unreadable_journal_is_told_once_and_its_end_once() {
        let mut memory = Memory::default();
        let unreadable = seen(Journal::Unreadable("/p/events.ndjson: no".to_owned()));
        let (told, decision) = look(&mut memory, &unreadable, 0);
        assert_eq!((told, decision.look), (vec!["-file_unreadable".to_owned()], Look::Blind));
        assert_eq!(look(&mut memory, &unreadable, 1).0, [""; 0]);
        // A folder that is gone says nothing of the file.
        assert_eq!(look(&mut memory, &no_folder(), 2).0, [""; 0]);
        assert_eq!(look(&mut memory, &seen(Journal::There), 3).0, ["+file_unreadable"]);
    }

    #[test]
    fn the_cursor_is_saved_at_first_then_at_most_once_a_second() {
        let mut memory = Memory::default();
        let quiet = seen(Journal::There);
        let news = Seen { had_news: true, ..quiet.clone() };
        assert!(look(&mut memory, &quiet, 0).1.save);
        assert!(!look(&mut memory, &quiet, 5000).1.save);
        assert!(look(&mut memory, &news, 6000).1.save);
        let (_, decision) = look(&mut memory, &news, 6001);
        assert_eq!((decision.save, decision.due), (false, Some(Duration::from_secs(7))));
        let (_, decision) = look(&mut memory, &quiet, 7000);
        assert_eq!((decision.save, decision.due), (true, None));
        assert!(!look(&mut memory, &news, 7500).1.save);
        assert!(decide(&mut memory, &quiet, true, POLL, &at(7600)).save);
    }

    #[test]
    fn a_single_look_ends_with_what_was_skipped() {
        let mut memory = Memory::default();
        let skip = Skip { reason: SkipReason::Nul, offset: 0, bytes: 4 };
        assert!(memory.skips.note(skip, Duration::ZERO).is_some());
        assert!(memory.skips.note(skip, Duration::ZERO).is_none());
        let behind = Seen { is_behind: true, due: Some(Duration::ZERO), ..seen(Journal::There) };
        let decision = decide(&mut memory, &behind, true, POLL, &at(0));
        assert_eq!((decision.look, decision.events.len()), (Look::Settling, 0));
        assert_eq!(decision.due, Some(Duration::ZERO));
        let decision = decide(&mut memory, &seen(Journal::There), true, POLL, &at(0));
        assert_eq!((decision.look, decision.events.len()), (Look::Whole, 1));
    }

    #[test]
    fn what_was_skipped_is_told_when_its_minute_is_over() {
        let mut memory = Memory::default();
        let skip = Skip { reason: SkipReason::Nul, offset: 0, bytes: 4 };
        memory.skips.note(skip, Duration::ZERO);
        memory.skips.note(skip, Duration::from_secs(1));
        let (_, decision) = look(&mut memory, &seen(Journal::There), 2000);
        assert_eq!((decision.events.len(), decision.due), (0, Some(Duration::from_mins(1))));
        assert_eq!(look(&mut memory, &seen(Journal::There), 60_000).1.events.len(), 1);
    }
}

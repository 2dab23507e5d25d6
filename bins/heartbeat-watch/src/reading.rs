//! `--emit readings`: what holds after a look, for `wake`.

use shared::reading::{Entry, Failure, Reading, ResetsOn, Severity as Care};

use crate::{
    decide::{Memory, Outcome},
    event::{Event, Flaw, Severity, invalid_key, lease_key},
    table::{SaidFlaw, SaidLease},
};
use shared::session::Look;

/// The reading of a look, unless it has to wait for what is being written or for what is missing.
#[must_use]
pub fn reading(memory: &Memory, outcome: &Outcome, subject: &str, look: u64) -> Option<Reading> {
    let error = outcome
        .failure
        .as_ref()
        .map(|blind| Failure::new("transient", blind.trouble.reason(), &blind.detail));
    if error.is_none() && outcome.look != Look::Whole {
        return None;
    }
    let entries = if error.is_some() { Vec::new() } else { entries(memory, outcome) };
    Some(Reading { subject: subject.to_owned(), look, entries, error })
}

/// All that is raised; and, in the look that found it, what is no item.
fn entries(memory: &Memory, outcome: &Outcome) -> Vec<Entry> {
    let said = &memory.said;
    let leases = said.leases.iter().map(|(name, said)| lease(name, said));
    let flaws = said.flaws.iter().map(|(name, said)| flaw(name, said));
    let strangers = outcome.events.iter().filter_map(|event| match event {
        Event::HeartbeatInvalid(event) if event.reason == Flaw::ItemNotObject => {
            let brief = format!("item {} of the store is no object", event.item_index);
            Some(wake(&format!("item:{}", event.name), &brief))
        }
        _ => None,
    });
    leases.chain(flaws).chain(strangers).collect()
}

fn lease(name: &str, said: &SaidLease) -> Entry {
    let SaidLease { id, owner, lease, severity } = said;
    let holder = if owner.is_empty() { "nobody" } else { owner };
    let brief = |ends: &str| format!("{id}: the lease of {holder} {ends} {lease}");
    match severity {
        Severity::Warning => wake(&lease_key(name), &brief("ends at")),
        Severity::Expired => {
            Entry::new(&lease_key(name), Care::Immediate, ResetsOn::Revision, &brief("ended at"))
        }
    }
}

fn flaw(name: &str, said: &SaidFlaw) -> Entry {
    let SaidFlaw { id, reason, value } = said;
    let brief = match (reason, value) {
        (Flaw::LeaseMissing, _) | (_, None) => format!("{id}: implementing without a lease"),
        (_, Some(value)) => format!("{id}: its lease is no time: {value}"),
    };
    wake(&invalid_key(name), &brief)
}

fn wake(key: &str, brief: &str) -> Entry {
    Entry::new(key, Care::Wake, ResetsOn::Revision, brief)
}

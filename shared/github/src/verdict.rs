//! What a set of rows comes to. Pure, and blind to their order.

use std::collections::{BTreeMap, BTreeSet};

use shared::line;

use crate::row::{Class, Identity, Kind, Row, address};

/// The rows of a commit, as far as they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// The rows.
    pub list: Vec<Row>,
    /// There are no others.
    pub complete: bool,
}

/// What the base branch's rules say of which checks have to pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Required {
    /// These names, beside the rows that say so themselves.
    Names(BTreeSet<String>),
    /// They can't be read: the rows that say so themselves decide.
    Unreadable,
}

/// What all rows together come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// One is red.
    Failure,
    /// One is not decided, or unknown, or not all were read.
    InProgress,
    /// One was given up, the others passed.
    Cancelled,
    /// All passed, and there is one.
    Success,
    /// There is none.
    Empty,
}

/// A row that is named in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// What it is called, fit to print and like no other.
    pub shown: String,
    /// By which it can be recognised.
    pub identity: Identity,
    /// Where to read more.
    pub url: Option<String>,
}

/// What a set of rows comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// All together.
    pub outcome: Outcome,
    /// The red ones, by name.
    pub failed: Vec<Named>,
    /// Those that were given up, by name.
    pub cancelled: Vec<Named>,
    /// How many are not decided, the required ones that haven't reported among them.
    pub pending: u64,
    /// How many nobody knows the meaning of.
    pub unknown: u64,
    /// How many passed.
    pub passed: u64,
    /// How many were left out for a newer one of the same identity.
    pub superseded: u64,
    /// Two of the same identity ran at the same time and don't agree.
    pub ambiguous: bool,
    /// Not all rows were read.
    pub incomplete: bool,
    /// The required rows decide, and only those that have reported are known.
    pub reported_only: bool,
    /// Identifies the set of rows, whatever they come to.
    pub set: String,
}

/// Judges `rows`; with `required`, the required ones alone.
#[must_use]
pub fn judge(rows: &Rows, required: Option<&Required>) -> Verdict {
    let old: Vec<bool> = rows.list.iter().map(|row| is_superseded(row, &rows.list)).collect();
    let live = rows.list.iter().zip(&old).filter(|(_, old)| !**old).map(|(row, _)| row);
    let live: Vec<&Row> = live.filter(|row| counts(row, required)).collect();
    let shown = shown(&rows.list);
    let ambiguous = is_ambiguous(&live);
    let live = folded(live);
    let missing = required.map_or(0, |required| missing(required, &live));
    let number = |class| -> u64 { live.iter().filter(|row| row.class == class).map(|_| 1).sum() };
    let list = |class| {
        let rows = live.iter().filter(|row| row.class == class);
        let names: BTreeMap<&str, &&Row> = rows
            .filter_map(|row| Some((shown.get(&row.identity)?.as_str(), row)))
            .fold(BTreeMap::new(), |mut names, (name, row)| {
                // Of two legs of one name the newer one is shown.
                let known = names.entry(name).or_insert(row);
                if row.id > known.id {
                    *known = row;
                }
                names
            });
        let entry = |(name, row): (&str, &&Row)| Named {
            shown: name.to_owned(),
            identity: row.identity.clone(),
            url: address(&row.url),
        };
        names.into_iter().map(entry).collect::<Vec<_>>()
    };
    let reported_only = required == Some(&Required::Unreadable);
    let mut verdict = Verdict {
        outcome: Outcome::Empty,
        failed: list(Class::Failed),
        cancelled: list(Class::Cancelled),
        pending: number(Class::Pending) + missing,
        unknown: number(Class::Unknown),
        passed: number(Class::Passed),
        superseded: old.iter().filter(|old| **old).map(|_| 1_u64).sum(),
        ambiguous,
        incomplete: !rows.complete,
        reported_only,
        set: set(&rows.list),
    };
    verdict.outcome = outcome(&verdict);
    verdict
}

fn outcome(verdict: &Verdict) -> Outcome {
    if !verdict.failed.is_empty() {
        Outcome::Failure
    } else if verdict.pending > 0 || verdict.unknown > 0 || verdict.incomplete {
        Outcome::InProgress
    } else if !verdict.cancelled.is_empty() {
        Outcome::Cancelled
    } else if verdict.passed > 0 {
        Outcome::Success
    } else {
        Outcome::Empty
    }
}

/// The fold of a context takes no row away that a required name stands for.
fn counts(row: &Row, required: Option<&Required>) -> bool {
    match required {
        None => true,
        Some(Required::Unreadable) => row.is_required,
        Some(Required::Names(names)) => row.is_required || names.contains(&row.identity.name),
    }
}

/// How many required names nobody has reported on.
fn missing(required: &Required, live: &[&Row]) -> u64 {
    let Required::Names(names) = required else { return 0 };
    let reported = |name: &&String| live.iter().any(|row| row.identity.name == **name);
    names.iter().filter(|name| !reported(name)).map(|_| 1_u64).sum()
}

/// Whether a newer row of the same identity takes this one's place. The newer is the one with the
/// greater run id, never the later time: a slow old leg may well end last.
fn is_superseded(row: &Row, rows: &[Row]) -> bool {
    let Some(run) = &row.run else { return false };
    if !row.is_completed {
        return false;
    }
    let given_up = run.is_cancelled && row.class == Class::Cancelled;
    rows.iter().filter(|other| is_same(row, other)).any(|newer| {
        let is_newer = newer.run.as_ref().is_some_and(|other| other.id > run.id);
        let begun_after = newer
            .started_at
            .zip(row.completed_at)
            .is_some_and(|(started, completed)| started >= completed);
        is_newer && (given_up || begun_after)
    })
}

/// The same check of the same definition, started by the same event.
fn is_same(row: &Row, other: &Row) -> bool {
    let ids = |row: &Row| row.run.as_ref().map(|run| (run.definition, run.event.clone()));
    row.run.is_some() && ids(row) == ids(other) && row.identity.name == other.identity.name
}

/// Whether two live rows of one identity, of two runs, are decided and disagree.
fn is_ambiguous(live: &[&Row]) -> bool {
    live.iter().enumerate().any(|(at, row)| {
        live.iter().skip(at + 1).any(|other| {
            let run = |row: &Row| row.run.as_ref().map(|run| run.id);
            is_same(row, other)
                && run(row) != run(other)
                && row.is_completed
                && other.is_completed
                && row.class != other.class
        })
    })
}

/// The rows of one context fold into the worst of them. Check runs never fold.
fn folded(live: Vec<&Row>) -> Vec<&Row> {
    let (contexts, mut rows): (Vec<_>, Vec<_>) =
        live.into_iter().partition(|row| row.identity.kind == Kind::Context);
    let mut worst: BTreeMap<&Identity, &Row> = BTreeMap::new();
    for row in contexts {
        let known = worst.entry(&row.identity).or_insert(row);
        if (row.class, &row.url) < (known.class, &known.url) {
            *known = row;
        }
    }
    rows.extend(worst.into_values());
    rows
}

/// What each identity is called: where two look alike, both have their digest.
fn shown(rows: &[Row]) -> BTreeMap<&Identity, String> {
    let identities: BTreeSet<&Identity> = rows.iter().map(|row| &row.identity).collect();
    let mut alike: BTreeMap<String, u32> = BTreeMap::new();
    for identity in &identities {
        *alike.entry(identity.shown()).or_default() += 1;
    }
    let name = |identity: &Identity| {
        let shown = identity.shown();
        let alone = alike.get(&shown).is_some_and(|count| *count == 1);
        if alone { shown } else { identity.distinct() }
    };
    identities.into_iter().map(|identity| (identity, name(identity))).collect()
}

/// What a rollup consists of, without what the parts come to. A context is a new thing at each
/// report, so its name stands for it.
fn set(rows: &[Row]) -> String {
    let mut parts: Vec<String> = rows
        .iter()
        .map(|row| {
            let run = row.run.as_ref().map_or(0, |run| run.id);
            let Identity { kind, workflow, name } = &row.identity;
            format!("{kind:?}\u{1f}{workflow}\u{1f}{name}\u{1f}{run}\u{1f}{}", row.id)
        })
        .collect();
    parts.sort_unstable();
    parts.dedup();
    line::digest(parts.join("\u{1e}").as_bytes())
}

#[cfg(test)]
mod tests;

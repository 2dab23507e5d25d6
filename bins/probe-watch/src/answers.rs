//! What the probe printed, line by line, and what it left out. Pure.

use std::collections::{BTreeMap, HashSet, btree_map::Entry};

use shared::reading::{
    Draft, Fault, Look, Name, Severity, Status,
    parse::{self, Frame},
    settle::settle,
};

use crate::{
    describe::Row,
    errors::{self, End},
    identity::Subject,
    invocation::{Printed, STDOUT},
};

/// The most bytes of a line.
const LINE: usize = 256 << 10;
/// The most broken rules that are kept of an invocation.
const MOST: usize = 100;

/// A rule of the protocol that an answer breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Whose answer it is; empty: nobody knows.
    pub subject: String,
    /// The rule, in words.
    pub rule: String,
}

/// What an invocation came to: a look at each subject that was asked for, in their order.
#[derive(Debug)]
pub struct Judged {
    /// The looks.
    pub looks: Vec<Look>,
    /// The rules that the answers break.
    pub broken: Vec<Broken>,
}

/// Judges what was `printed` about the subjects `asked` for, with the number of each one's look.
#[must_use]
pub fn judge(printed: &Printed, asked: &[(&Subject, u64)], row: &Row, source: &str) -> Judged {
    let frame = Frame { source, kind: &row.kind, noun: &row.noun, fields: &row.fields };
    let ids: HashSet<&str> = asked.iter().map(|(subject, _)| &*subject.id).collect();
    let mut broken = Rules::default();
    let mut answers = read(printed, &frame, &ids, &mut broken);
    let missing: Vec<[&str; 2]> = asked
        .iter()
        .filter(|(subject, _)| !answers.contains_key(&subject.id))
        .map(|(subject, _)| [&*subject.id, &*subject.target])
        .collect();
    let missing: Vec<&[&str]> = missing.iter().map(<[&str; 2]>::as_slice).collect();
    let complaints = String::from_utf8_lossy(&printed.stderr);
    let looks = asked.iter().map(|(subject, number)| {
        let name =
            Name { source: source.to_owned(), kind: row.kind.clone(), subject: subject.id.clone() };
        let draft = answers.remove(&subject.id).unwrap_or_else(|| {
            let names = [&*subject.id, &*subject.target];
            let fault = errors::fault(&printed.end, &complaints, &names, &missing);
            let why = [&*fault.reason, &*fault.detail].join(": ");
            let rule = format!("there is no answer ({})", why.trim_end_matches(": "));
            broken.add(&subject.id, &rule);
            Draft::failed(name, *number, fault)
        });
        look(draft, *number, row)
    });
    let looks = looks.collect();
    Judged { looks, broken: broken.0 }
}

/// A look at a subject at which nobody looked.
#[must_use]
pub fn skipped(subject: &Subject, number: u64, fault: Fault, row: &Row, source: &str) -> Look {
    let (source, kind) = (source.to_owned(), row.kind.clone());
    let name = Name { source, kind, subject: subject.id.clone() };
    look(Draft::failed(name, number, fault), number, row)
}

fn look(mut draft: Draft, number: u64, row: &Row) -> Look {
    draft.number = number;
    draft.noun.clone_from(&row.noun);
    if let Some(status) = end_by_keys(&draft, row) {
        draft.status = Some(status);
    }
    settle(draft)
}

/// How the subject ends by the keys that say so; none when no key does.
fn end_by_keys(draft: &Draft, row: &Row) -> Option<Status> {
    let ends = draft.entries.iter().filter(|entry| entry.severity == Severity::Terminal);
    let mut ends = ends.map(|entry| row.terminal_keys.get(&entry.key) == Some(&true)).peekable();
    ends.peek()?;
    Some(if ends.all(|is_success| is_success) { Status::Success } else { Status::Blocked })
}

/// Broken rules, each once: a probe that breaks them without end says nothing new.
#[derive(Default)]
struct Rules(Vec<Broken>);

impl Rules {
    fn add(&mut self, subject: &str, rule: &str) {
        let is_known = |broken: &Broken| broken.subject == subject && broken.rule == rule;
        if self.0.len() < MOST && !self.0.iter().any(is_known) {
            self.0.push(Broken { subject: subject.to_owned(), rule: rule.to_owned() });
        }
    }
}

/// The answers of those who were `asked` for, of two the first; a failed look for one that breaks
/// a rule.
fn read(
    printed: &Printed,
    frame: &Frame<'_>,
    asked: &HashSet<&str>,
    broken: &mut Rules,
) -> BTreeMap<String, Draft> {
    let mut answers = BTreeMap::new();
    if matches!(printed.end, End::Flooded) {
        broken.add("", &format!("it printed more than {STDOUT} bytes"));
    }
    for line in whole_lines(printed) {
        if line.len() > LINE {
            broken.add("", &format!("a line of it has more than {LINE} bytes"));
            continue;
        }
        let (name, draft) = match parse::answer(line, frame) {
            Ok(draft) => (draft.name.clone(), Ok(draft)),
            Err(parse::Broken { name: Some(name), rule, .. }) => (name, Err(rule)),
            Err(parse::Broken { name: None, rule, .. }) => {
                broken.add("", &format!("a line of it is rejected: {rule}"));
                continue;
            }
        };
        if !asked.contains(&*name.subject) {
            broken.add(&name.subject, "nobody asked for this subject");
            continue;
        }
        match answers.entry(name.subject.clone()) {
            Entry::Occupied(known) => broken.add(known.key(), "there is an answer already"),
            Entry::Vacant(free) => {
                let draft = draft.unwrap_or_else(|rule| {
                    broken.add(free.key(), &format!("its answer is rejected: {rule}"));
                    Draft::failed(name, 0, Fault::malformed(&rule))
                });
                free.insert(draft);
            }
        }
    }
    answers
}

/// The lines that count: one without an end only from a probe that came to its own.
fn whole_lines(printed: &Printed) -> impl Iterator<Item = &[u8]> {
    let counts = |line: &&[u8]| matches!(printed.end, End::Exited(_)) || line.ends_with(b"\n");
    let lines = printed.stdout.split_inclusive(|byte| *byte == b'\n').filter(counts);
    lines.map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests;

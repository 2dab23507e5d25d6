//! Everything that a line is about, for readers who want more than a sentence.

use std::{
    collections::{HashSet, VecDeque},
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Serialize, Serializer};
use serde_json::Value;
use shared::{cursor, line, reading::Fault};

use crate::{
    decide::{self, Emission, Engine, Item, Told, View},
    line::stamp,
    looks::{Looks, Picture},
    message,
};

/// The most entries of a file.
const ENTRIES: usize = 1000;
/// How many files are kept.
const FILES: usize = 16;
/// The most bytes of a brief.
const BRIEF: usize = 240;

/// The files of evidence of a watch.
#[derive(Debug)]
pub struct Evidence {
    folder: PathBuf,
    /// The oldest first.
    kept: VecDeque<PathBuf>,
}

impl Evidence {
    /// Those in `folder`.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        let mut kept: Vec<(SystemTime, PathBuf)> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let entry = entry.ok().filter(|entry| is_ours(&entry.path()))?;
                Some((entry.metadata().ok()?.modified().ok()?, entry.path()))
            })
            .collect();
        kept.sort();
        let kept = kept.into_iter().map(|(_, path)| path).collect();
        Self { folder: folder.to_owned(), kept }
    }

    /// Where the evidence of a claim is.
    #[must_use]
    pub fn path(&self, claim: &str) -> PathBuf {
        self.folder.join(format!("{claim}.json"))
    }

    /// Writes the evidence of a line, and drops the oldest.
    ///
    /// # Errors
    ///
    /// Those of the file system. The line is told all the same.
    pub fn write(&mut self, file: &File<'_>) -> io::Result<()> {
        let path = self.path(file.claim);
        let mut bytes = line::json(file)?;
        bytes.push(b'\n');
        cursor::replace(&path, &bytes)?;
        self.kept.push_back(path);
        while self.kept.len() > FILES {
            if let Some(oldest) = self.kept.pop_front() {
                let _ = fs::remove_file(oldest);
            }
        }
        Ok(())
    }
}

/// Whether a file is one of those we write and drop.
fn is_ours(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().as_encoded_bytes();
    let is_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    stem.len() == 16
        && stem.iter().all(is_hex)
        && path.extension().is_some_and(|extension| extension == "json")
}

/// One file.
#[derive(Debug, Serialize)]
pub struct File<'a> {
    version: u32,
    claim: &'a str,
    timestamp: String,
    decision: &'a str,
    reason: &'a str,
    text: &'a str,
    records: Vec<Record<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<usize>,
    context: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Record<'a> {
    source: &'a str,
    kind: Option<&'a str>,
    subject: &'a str,
    revision: &'a str,
    status: Option<&'a str>,
    facts: Facts<'a>,
    told: Vec<Entry>,
    masked: Vec<Entry>,
    held: Vec<Entry>,
    error: Option<&'a Fault>,
}

#[derive(Debug, Serialize)]
struct Entry {
    key: String,
    severity: &'static str,
    since: String,
    brief: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Debug)]
struct Facts<'a>(&'a [(String, Value)]);

impl Serialize for Facts<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'a> File<'a> {
    /// What is known of a line before it is printed: `text` is its sentence.
    #[must_use]
    pub fn new(
        emission: &'a Emission,
        text: &'a str,
        timestamp: String,
        engine: &Engine,
        looks: &'a Looks,
    ) -> Self {
        let mut budget = Budget { left: ENTRIES, more: emission.beyond };
        let mut records: Vec<Record<'a>> =
            emission.records.iter().take(ENTRIES).map(|told| record(told, looks)).collect();
        for item in &emission.items {
            match records.get_mut(item.record) {
                Some(record) => budget.push(&mut record.told, || told(item)),
                None => budget.more += 1,
            }
        }
        let now_told: HashSet<(usize, &str)> =
            emission.items.iter().map(|item| (item.record, &*item.entry.key)).collect();
        for (at, (record, told)) in records.iter_mut().zip(&emission.records).enumerate() {
            let View { masked, masked_beyond, held, held_beyond, .. } = engine.silent(&told.id);
            budget.more += masked_beyond + held_beyond;
            for (list, keys) in [(&mut record.masked, masked), (&mut record.held, held)] {
                let silent = keys.into_iter().filter(|key| !now_told.contains(&(at, &*key.key)));
                silent.for_each(|key| budget.push(list, || entry(key)));
            }
        }
        let context = emission.context.iter();
        Self {
            version: 1,
            claim: &emission.claim,
            timestamp,
            decision: emission.decision.word(),
            reason: emission.reason.as_str(),
            text,
            records,
            more: Some(budget.more).filter(|more| *more > 0),
            context: context
                .map(|kept| message::context(kept, BRIEF).as_str().to_owned())
                .collect(),
        }
    }
}

/// How many entries may still be written, and how many were not.
struct Budget {
    left: usize,
    more: usize,
}

impl Budget {
    fn push(&mut self, list: &mut Vec<Entry>, entry: impl FnOnce() -> Entry) {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                list.push(entry());
            }
            None => self.more += 1,
        }
    }
}

fn record<'a>(told: &'a Told, looks: &'a Looks) -> Record<'a> {
    let picture = looks.of(&told.id);
    Record {
        source: told.id.source(),
        kind: told.id.kind(),
        subject: told.id.subject(),
        revision: &told.revision,
        status: picture.map(|picture| picture.status.word()),
        facts: Facts(picture.map_or(&[], |picture: &Picture| &picture.facts)),
        told: Vec::new(),
        masked: Vec::new(),
        held: Vec::new(),
        error: picture.and_then(|picture| picture.error.as_ref()),
    }
}

fn told(item: &Item) -> Entry {
    let verdict = item.verdict.as_ref();
    Entry {
        decision: verdict.map(|(decision, _)| decision.word()),
        reason: verdict.map(|(_, reason)| reason.as_str().to_owned()),
        ..entry(item.entry.clone())
    }
}

fn entry(of: decide::Entry) -> Entry {
    let decide::Entry { key, severity, since, brief, .. } = of;
    let (severity, since) = (severity.word(), stamp(since));
    Entry { key, severity, since, brief, decision: None, reason: None }
}

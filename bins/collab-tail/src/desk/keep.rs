//! What outlives the look: records, and the memory of each board.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, Read as _},
    path::PathBuf,
    time::Duration,
};

use super::{
    Desk,
    look::{Look, Step},
};
use crate::{
    event::{Told, shown},
    grammar,
    hash::Hash,
    line::{Assembly, Line},
    memory::Shelf,
    names::Route,
    place::{self, Place},
    trouble::{Trouble, Warning},
};

/// How many records there have to be until the dead among them matter.
const MANY: usize = 10_000;

/// The store can't be written.
#[derive(Debug, Clone)]
pub(super) struct Failing {
    path: PathBuf,
    detail: String,
    is_said: bool,
}

impl Desk {
    /// What was written to its last byte is recorded.
    pub(super) fn record(&mut self, look: &mut Look<'_>) {
        look.voice.take_finished().into_iter().for_each(|record| self.seen.add(record));
        if let Err(err) = self.seen.write() {
            self.fail(self.seen.path().to_owned(), &err);
        }
    }

    /// Writes what is remembered of the boards that have news.
    pub(super) fn save(&mut self, look: &Look<'_>) {
        // A line that isn't out yet isn't told, so nothing may rely on it.
        if self.dirty.is_empty() || look.voice.is_stuck() {
            return;
        }
        // What a baseline is past has to be in the set for good.
        if let Err(err) = self.seen.sync() {
            return self.fail(self.seen.path().to_owned(), &err);
        }
        for key in std::mem::take(&mut self.dirty) {
            if let Err(err) = self.save_board(&key) {
                self.fail(self.shelf.path(&key), &err);
                self.dirty.insert(key);
            }
        }
    }

    fn save_board(&mut self, key: &str) -> io::Result<()> {
        let Some(board) = self.boards.get_mut(key) else { return Ok(()) };
        let bytes = Shelf::bytes(&board.memory)?;
        let hash = Hash::of(&[&bytes]);
        if board.written != Some(hash) {
            self.shelf.write(key, &bytes)?;
            board.written = Some(hash);
        }
        Ok(())
    }

    fn fail(&mut self, path: PathBuf, err: &io::Error) {
        let detail = err.to_string();
        self.failing.get_or_insert(Failing { path, detail, is_said: false });
    }

    /// Says that the store can't be written, or that it can again.
    pub(super) fn settle_store(&mut self, look: &mut Look<'_>) -> Step {
        let Some(mut before) = self.failing.take() else { return Ok(()) };
        self.record(look);
        self.save(look);
        let (file, reason, count) = (shown(&before.path), Trouble::StateFailed, self.failures + 1);
        let holds = self.failing.is_some() || look.voice.is_stuck();
        let warning = match holds {
            true if !before.is_said => Warning::raised(file, reason, &before.detail, count),
            false if before.is_said => Warning::cleared(file, reason, count),
            _ => {
                self.failing = holds.then_some(before);
                return Ok(());
            }
        };
        let said = look.tell(&Told::WatchWarn(warning), None);
        before.is_said = holds && said.is_ok();
        self.failures += u64::from(said.is_ok());
        self.failing = (holds || said.is_err()).then_some(before);
        said
    }

    /// Whether the store can't be written, and what of it.
    pub(super) fn failure(&self) -> Option<String> {
        self.failing.as_ref().map(|it| format!("{}: {}", it.path.display(), it.detail))
    }

    /// Leaves out the records that no board holds any more, if they are many. Only a process that
    /// has read every board that this listener ever had can know.
    pub fn bury(&mut self) {
        let is_read = self.boards.values().all(|board| board.stamp.is_some());
        if self.seen.len() < MANY || !is_read {
            return;
        }
        let Ok(alive) = self.alive() else { return };
        if alive.len() < self.seen.len().div_ceil(2)
            && let Err(err) = self.seen.retain(|record| alive.contains(record))
        {
            self.fail(self.seen.path().to_owned(), &err);
        }
    }

    /// The records whose line stands on a board, whatever the line is there.
    fn alive(&self) -> io::Result<HashSet<Hash>> {
        let mut alive = HashSet::new();
        for board in self.boards.values() {
            let Place::File { file, .. } = place::open(&board.memory.path) else {
                return Err(io::Error::other("a board is gone"));
            };
            let mut counts: HashMap<Hash, u32> = HashMap::new();
            each_line(file, |line| {
                let hash = line.hash();
                let count = counts.entry(hash).or_default();
                *count += 1;
                let raw = self.seen.is_imported().then(|| line.raw_hash()).flatten();
                let records = [Some(hash), Some(super::record_of(&hash, *count)), raw];
                let known = |record: &Hash| self.seen.contains(record);
                alive.extend(records.into_iter().flatten().filter(known));
            })?;
        }
        Ok(alive)
    }
}

/// Hands over each line that could be addressed to anybody, whether it is prose or not.
fn each_line(mut file: File, mut each: impl FnMut(&Line<'_>)) -> io::Result<()> {
    let mut feed = |line: &Line<'_>| {
        if grammar::may_matter(line.head, Route::Bounded) {
            each(line);
        }
    };
    let mut assembly = Assembly::default();
    let mut chunk = vec![0; 65_536];
    loop {
        let n = file.read(&mut chunk)?;
        if n == 0 {
            break;
        }
        assembly.feed(&chunk[..n], &mut feed);
    }
    if let Some(line) = assembly.last() {
        feed(&line);
    }
    Ok(())
}

/// When what could not be said or written is tried again.
pub(super) const RETRY: Duration = Duration::from_secs(1);

//! A look at all the boards of a listener: what is new is told, recorded, and then remembered, in
//! this order.

mod find;
mod keep;
mod look;
mod read;
mod tell;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
    path::PathBuf,
    time::Duration,
};

use shared::{
    clock,
    exit::Error,
    health::Reasons,
    wait::{Stop, Waiter},
};

use crate::{
    board::{Board, Manner},
    event::shown,
    hash::Hash,
    import::Import,
    memory::{Memory, Shelf},
    place::{self, Place},
    seen::Seen,
    voice::Voice,
};
use keep::{Failing, RETRY};
use look::{Halt, Look, Step};

/// How often a board that changes under the reader is read again at once.
const TRIES: usize = 3;

/// What the flags say about mail.
#[derive(Debug, Clone, Copy)]
pub struct Wishes {
    /// A board without a baseline is delivered.
    pub unread: bool,
    /// Own posts are remembered without a word.
    pub drop_own: bool,
    /// There is one look only.
    pub once: bool,
    /// The floor sweep.
    pub interval: Duration,
}

/// What a look came to.
#[derive(Debug, Default)]
pub struct Looked {
    /// Every board was read, and no fence is open.
    pub complete: bool,
    /// A board is being written; the look isn't over.
    pub settling: bool,
    /// When to look again at the latest.
    pub due: Option<Duration>,
    /// What keeps it from being complete.
    pub trouble: String,
}

/// The boards, their memory, and how to speak of them.
#[derive(Debug)]
pub struct Desk {
    manner: Manner,
    wishes: Wishes,
    listener: String,
    shelf: Shelf,
    seen: Seen,
    boards: BTreeMap<String, Board>,
    wanted: Vec<PathBuf>,
    import: Option<Import>,
    reasons: Reasons,
    /// The boards whose memory isn't written.
    dirty: BTreeSet<String>,
    failing: Option<Failing>,
    failures: u64,
}

impl Desk {
    /// Takes up what is remembered.
    #[must_use]
    pub fn new(
        manner: Manner,
        wishes: Wishes,
        shelf: Shelf,
        seen: Seen,
        memories: BTreeMap<String, Memory>,
        wanted: Vec<PathBuf>,
    ) -> Self {
        let listener = format!("@{}", manner.names.list().first().map_or("", String::as_str));
        let known = |(key, memory): (String, Memory)| {
            let written = Shelf::bytes(&memory).ok().map(|bytes| Hash::of(&[&bytes]));
            (key, Board::new(memory, written))
        };
        Self {
            manner,
            wishes,
            listener,
            shelf,
            seen,
            boards: memories.into_iter().map(known).collect(),
            wanted,
            import: None,
            reasons: Reasons::default(),
            dirty: BTreeSet::new(),
            failing: None,
            failures: 0,
        }
    }

    /// Takes over the memory of the older tool, at the first look.
    pub fn take_over(&mut self, import: Import) {
        import.hashes.iter().for_each(|hash| self.seen.add(*hash));
        self.manner.raw_hashes = true;
        self.import = Some(import);
    }

    /// The listener, with `@`.
    #[must_use]
    pub fn listener(&self) -> &str {
        &self.listener
    }

    /// The canonical path of each board, every board once.
    #[must_use]
    pub fn watching(&self) -> Vec<String> {
        let mut found: Vec<(PathBuf, Option<(u64, u64)>)> = Vec::new();
        for given in &self.wanted {
            let (path, file) = match place::open(given) {
                Place::File { path, stamp, .. } => (path, Some(stamp.file)),
                Place::None { path, .. } => (path, None),
            };
            let same =
                |(known, id): &(PathBuf, _)| *known == path || (file.is_some() && *id == file);
            if !found.iter().any(same) {
                found.push((path, file));
            }
        }
        found.iter().map(|(path, _)| shown(path)).collect()
    }

    /// The folders that tell of changes.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> =
            self.wanted.iter().flat_map(|at| place::folders(at)).collect();
        found.sort();
        found.dedup();
        found
    }

    /// Looks at every board. `retry` is when a board that can't be read is tried again. Break:
    /// nobody listens, or we are asked to stop.
    ///
    /// # Errors
    ///
    /// Those of poll(2).
    pub fn look(
        &mut self,
        voice: &mut Voice,
        waiter: &Waiter,
        retry: Duration,
    ) -> Result<ControlFlow<Stop, Looked>, Error> {
        let outcome = Looked { complete: true, ..Looked::default() };
        let now = clock::now();
        let (visited, unseen) = (Vec::new(), Vec::new());
        let mut look = Look { voice, waiter, now, visited, unseen, outcome };
        let halt = self.go_round(&mut look, retry);
        // Whatever ended the look: what was written is told.
        self.record(&mut look);
        match halt {
            Ok(()) => {}
            Err(Halt::Stop(stop)) => return Ok(ControlFlow::Break(stop)),
            Err(Halt::Failed(err)) => return Err(err),
            Err(Halt::Stuck) => look.incomplete("stdout can't be written"),
        }
        if let Some(failure) = self.failure() {
            look.incomplete(&failure);
        }
        if look.voice.is_stuck() || !look.outcome.complete {
            look.wake_at(look.now.monotonic + retry.min(RETRY));
        }
        Ok(ControlFlow::Continue(look.outcome))
    }

    fn go_round(&mut self, look: &mut Look<'_>, retry: Duration) -> Step {
        look.retry()?;
        self.record(look);
        for given in self.wanted.clone() {
            self.look_at(&given, look)?;
            self.save(look);
        }
        if look.unseen.is_empty() && self.import.take().is_some() {
            self.seen.set_imported();
            self.record(look);
        }
        self.settle_store(look)?;
        let health = match look.unseen.first() {
            Some(first) => self.reasons.degrade("boards_unseen", first, retry, &look.now),
            None => self.reasons.recover("boards_unseen", &look.now),
        };
        health.map_or(Ok(()), |health| look.say(&health))
    }
}

/// The record of the k-th of equal headings in one file, or of any other line.
fn record_of(hash: &Hash, occurrence: u32) -> Hash {
    if occurrence < 2 {
        return *hash;
    }
    Hash::of(&[format!("{hash}#{occurrence}").as_bytes()])
}

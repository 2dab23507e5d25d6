//! One board: what is read of it at a look, and what that says. It tells nothing itself.

use std::{
    collections::BTreeSet, fs::File, io, os::unix::fs::FileExt as _, rc::Rc, time::Duration,
};

use shared::file::Stamp;

use crate::{
    block::{Post, Told},
    content::{Content, Scan},
    hash::{Hash, unhex},
    line,
    memory::{Count, Memory},
    names::Names,
    parser::{Occurrences, Parser, State},
    trouble::Trouble,
};

/// How long a last line without newline has to stand to count as one.
pub const STANDING: Duration = Duration::from_mins(1);
/// How long a board has to be quiet until all of it is compared after an append.
pub const QUIET: Duration = Duration::from_secs(1);

/// A board as this process knows it.
#[derive(Debug)]
pub struct Board {
    /// What outlives the process.
    pub memory: Memory,
    /// The hash of its file as it was written last.
    pub written: Option<Hash>,
    /// What it was when it was read last.
    pub stamp: Option<Stamp>,
    /// What this process said of it.
    pub said: BTreeSet<Trouble>,
    /// The line of the fence that is open at its end.
    pub fence: Option<u64>,
    /// When (on the monotonic clock) it was seen to change, and to what.
    pub changed_at: Duration,
    /// The same.
    pub changing: Option<Stamp>,
    /// The state of the file whose change was told: a look that was cut short doesn't tell it
    /// again.
    pub change_told: Option<Stamp>,
    /// Since when it is seen to be smaller.
    pub smaller_since: Option<Duration>,
    /// A part of it wasn't compared after its last change.
    pub is_compare_due: bool,
    /// When all of it was compared.
    pub compared_at: Option<Duration>,
    /// Its last line without newline counted as one.
    pub has_counted: bool,
}

/// How a board is read.
#[derive(Debug, Clone)]
pub struct Manner {
    /// For whom, and in which mode.
    pub names: Rc<Names>,
    /// Equal headings are counted.
    pub counts: bool,
    /// Lines have the hash that a shell makes of them, too.
    pub raw_hashes: bool,
}

/// How far a board is taken in without a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// Not at all.
    None,
    /// What ends at or before this byte.
    Until(u64),
    /// All of it.
    Whole,
}

/// What was read.
#[derive(Debug)]
pub struct Reading {
    content: Content,
    parser: Parser,
    /// What is addressed to the listener, in order.
    pub told: Vec<Told>,
    /// How many of them are taken in without a word.
    pub silent: usize,
    /// A line of the history that waits for its newline, and would be told if it had it.
    pub waiting: Option<Told>,
}

/// What reading came to.
#[derive(Debug)]
pub enum Outcome {
    /// The known part reads as it did.
    Read(Box<Reading>),
    /// It doesn't, from this byte on.
    Differs(u64),
    /// The file ended before its size.
    Cut,
}

impl Board {
    /// Of a board that this process didn't look at yet.
    #[must_use]
    pub fn new(memory: Memory, written: Option<Hash>) -> Self {
        Self {
            memory,
            written,
            stamp: None,
            said: BTreeSet::new(),
            fence: None,
            changed_at: Duration::ZERO,
            changing: None,
            change_told: None,
            smaller_since: None,
            is_compare_due: false,
            compared_at: None,
            has_counted: false,
        }
    }

    /// Whether it was read for others than `manner` is for.
    #[must_use]
    pub fn is_of_other(&self, manner: &Manner) -> bool {
        let memory = &self.memory;
        memory.has_baseline()
            && (memory.route != manner.names.route()
                || memory.names != manner.names.list()
                || (manner.counts && memory.occurrences.is_none()))
    }

    /// Goes on reading where the last look ended. All that is known is compared if `whole`, else
    /// the chunks from the last look's on.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub fn read_on(
        &self,
        file: &File,
        size: u64,
        whole: bool,
        counts: bool,
        manner: &Manner,
    ) -> io::Result<Outcome> {
        let memory = &self.memory;
        let from = memory.state.parsed_bytes;
        let occurrences = manner.counts.then(|| occurrences(memory));
        let parser = manner.parser(memory.state.clone(), occurrences);
        let start = if whole { 0 } else { from };
        scan(&memory.content, file, size, start, parser, Silence::None, counts)
    }

    /// Reads all of it from its beginning, comparing what is known.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub fn read_again(
        &self,
        file: &File,
        size: u64,
        silence: Silence,
        counts: bool,
        manner: &Manner,
    ) -> io::Result<Outcome> {
        scan(&self.memory.content, file, size, 0, manner.afresh(), silence, counts)
    }

    /// Remembers what was read of the file with `stamp`, in `manner`.
    pub fn remember(&mut self, reading: Reading, stamp: &Stamp, manner: &Manner) {
        let memory = &mut self.memory;
        self.fence = reading.fence();
        memory.waiting = reading.parser.waiting();
        memory.content = reading.content;
        let (state, occurrences) = reading.parser.into_parts();
        memory.state = state;
        let most = memory.occurrences.take().unwrap_or_default();
        memory.occurrences = occurrences.map(|now| {
            let mut counts = most;
            for count in counts.values_mut() {
                count.now = 0;
            }
            for (hash, now) in now {
                let count = counts.entry(crate::hash::hex(&hash)).or_default();
                *count = Count { now, most: count.most.max(now) };
            }
            counts
        });
        memory.route = manner.names.route();
        manner.names.list().clone_into(&mut memory.names);
        memory.absent_since = None;
        memory.set_stamp(stamp);
        self.stamp = Some(*stamp);
        self.smaller_since = None;
    }

    /// How many of this heading the board ever held.
    #[must_use]
    pub fn most(&self, hash: &Hash) -> u32 {
        let counts = self.memory.occurrences.as_ref();
        let count = counts.and_then(|counts| counts.get(&crate::hash::hex(&hash.half())));
        count.map_or(0, |count| count.most)
    }

    /// Whether a last line without newline is waiting to count.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.memory.waiting > 0 && !self.has_counted && self.stamp.is_some()
    }
}

impl Reading {
    /// The line of the fence that is open at the end, if the last line counts as one.
    #[must_use]
    pub fn fence(&self) -> Option<u64> {
        let ahead = self.parser.ahead().map(|ahead| ahead.fence);
        ahead.unwrap_or(self.parser.state().open.fence).map(|fence| fence.line_number)
    }
}

impl Manner {
    fn parser(&self, state: State, occurrences: Option<Occurrences>) -> Parser {
        Parser::new(Rc::clone(&self.names), state, occurrences, self.raw_hashes)
    }

    fn afresh(&self) -> Parser {
        self.parser(State::default(), self.counts.then(Occurrences::new))
    }

    /// Reads a file of which nothing is known.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub fn read(
        &self,
        file: &File,
        size: u64,
        silence: Silence,
        counts: bool,
    ) -> io::Result<Outcome> {
        scan(&Content::default(), file, size, 0, self.afresh(), silence, counts)
    }
}

fn occurrences(memory: &Memory) -> Occurrences {
    let counts = memory.occurrences.iter().flatten();
    let read = counts.filter_map(|(hash, count)| {
        let mut half = [0; 16];
        (count.now > 0 && unhex(hash.as_bytes(), &mut half)).then_some((half, count.now))
    });
    read.collect()
}

/// `counts`: a last line without newline counts as one.
fn scan(
    known: &Content,
    file: &File,
    size: u64,
    start: u64,
    mut parser: Parser,
    silence: Silence,
    counts: bool,
) -> io::Result<Outcome> {
    let mut told = Vec::new();
    let mut silent = (silence == Silence::None).then_some(0);
    let from = parser.state().parsed_bytes;
    let scan = known.scan(file, size, start, from, |at, mut bytes| {
        if let (Silence::Until(end), None) = (silence, silent)
            && end <= at + bytes.len() as u64
        {
            let here = usize::try_from(end.saturating_sub(at)).unwrap_or(0);
            let (history, rest) = bytes.split_at(here);
            parser.feed(history, &mut told);
            parser.end_of_look(&mut told);
            silent = Some(told.len());
            bytes = rest;
        }
        parser.feed(bytes, &mut told);
    })?;
    let content = match scan {
        Scan::Same(content) => content,
        Scan::Differs(from) => return Ok(Outcome::Differs(from)),
        Scan::Cut => return Ok(Outcome::Cut),
    };
    let ahead = parser.ahead();
    let mut waiting = None;
    match ahead {
        // The line itself stays unread, so that one that grows is another.
        Some(ahead) if counts => {
            told.extend(ahead.told);
            parser.end_of_look(&mut Vec::new());
        }
        Some(ahead) => {
            let is_history = match silence {
                Silence::None => false,
                Silence::Until(end) => ahead.offset < end,
                Silence::Whole => true,
            };
            let mut it = ahead.told.into_iter().filter(|told| told.post.offset == ahead.offset);
            waiting = it.next().filter(|_| is_history);
            parser.end_of_look(&mut told);
        }
        None => parser.end_of_look(&mut told),
    }
    let silent = silent.unwrap_or(told.len());
    Ok(Outcome::Read(Box::new(Reading { content, parser, told, silent, waiting })))
}

/// The text of a post, as it stands in its file. `None`: another line stands there now.
///
/// # Errors
///
/// Those of reading.
pub fn text_of(file: &File, post: &Post) -> io::Result<Option<String>> {
    let mut bytes = vec![0; post.length as usize];
    match file.read_exact_at(&mut bytes, post.offset) {
        Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let text = line::decode(&bytes).into_owned();
    // Of a longer line only the beginning is here, and the hash is of all of it.
    let is_whole = bytes.len() < line::MATCHED - 3;
    let same = || Hash::of(&[line::clean(&text).as_bytes(), b"\n"]) == post.hash;
    Ok((!is_whole || same()).then_some(text))
}

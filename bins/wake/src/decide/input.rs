//! What the engine is told.

use shared::reading::Look;

/// One thing to judge.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// A look, its parts joined and its status settled.
    Look(&'a Look),
    /// An event.
    Event(&'a Event<'a>),
    /// A reader's answer.
    Ack(&'a Ack<'a>),
    /// Time has passed.
    Tick,
}

/// An event as its line has it: what the words mean is judged here, not by the reader of lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Event<'a> {
    /// The name of the event.
    pub name: &'a str,
    /// Who said it, with no other characters than `A-Za-z0-9._-`; empty: nobody knows.
    pub source: &'a str,
    /// What it is about; part of the record's name.
    pub subject: Option<&'a str>,
    /// The condition that it is about.
    pub key: Option<&'a str>,
    /// The word of the line: `raised`, `cleared`, `once`.
    pub condition: Option<&'a str>,
    /// The word of the line: `immediate`, `warning`, `info`.
    pub urgency: Option<&'a str>,
    /// The subject's revision.
    pub revision: Option<&'a str>,
    /// The identity of the emission.
    pub id: Option<&'a str>,
    /// Which health it is about, of an event that has no key.
    pub reason: Option<&'a str>,
    /// One line for a person, at most 240 bytes, as it is printed. Of an info event it is opaque:
    /// it comes out again as context, and is never part of the state.
    pub brief: &'a str,
}

/// A reader's answer to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack<'a> {
    /// Which line.
    pub claim: &'a str,
    /// What became of it.
    pub result: AckResult,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckResult {
    /// A reader has it.
    Dispatched,
    /// The reader had no time: the same line again, later.
    Busy,
    /// There is no reader, and there will be none.
    Unavailable,
    /// The reader is done with it.
    Completed {
        /// Tokens read, if known.
        tokens_in: Option<u64>,
        /// Tokens written, if known.
        tokens_out: Option<u64>,
        /// The reader waits for a person: more turns would queue behind that.
        stalled: bool,
    },
}

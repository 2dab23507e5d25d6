//! The engine: decides what is worth a reader's turn, and when.
//!
//! It knows neither clock nor file, and no kind of subject: keys, kinds and facts are opaque.
//! The caller tells it what came and what time it is, in whole milliseconds since 1970, and
//! does what it says:
//!
//! ```text
//! loop {
//!     for verdict in engine.take(input, now) { … }          // --verbose
//!     while let Some(emission) = engine.emission(now) {     // after every input
//!         let line = emission.again or a line made of it;
//!         engine.put_line(&line);                           // `emitting` is complete
//!         save engine.state(); write the line;
//!         engine.flushed(now);
//!     }
//!     if engine.is_over() { exit }
//!     wait for input, or until engine.next_at(), then take Input::Tick
//! }
//! ```
//!
//! The same calls lead to the same answers and to the same state.

mod acks;
mod blind;
mod budget;
mod emission;
mod engine;
mod event;
mod fields;
mod gather;
mod input;
mod judge;
mod key;
mod look;
mod parts;
mod policy;
mod record;
mod records;
mod state;
mod steady;
mod verdict;
mod words;

#[cfg(test)]
mod tests;

pub use engine::Engine;
pub use input::{Ack, AckResult, Event, Input};
pub use parts::{Counters, Emitting, Guard, InFlight, Spent, Stage};
pub use policy::{Acks, Policy, Stall};
pub use record::Outcome;
pub use state::{Refused, State};
pub use verdict::{
    Condition, Decision, Emission, Ends, Entry, Item, Reason, RecordId, Told, Verdict, View,
};

/// A time in whole milliseconds since 1970, or a span of it.
pub type Ms = u64;

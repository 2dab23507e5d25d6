//! Readings: all that one look at one subject found, as the sources of `--emit readings` write
//! it (`write`) and as `wake` and `probe-watch` read it: [`parse`], [`parts`], [`settle`].

pub mod look;
pub mod parse;
pub mod parts;
pub mod settle;
mod write;

pub use look::{Draft, Fault, FaultKind, Finding, Look, Name, ResetsOn, Severity, Status};
pub use write::{About, Entry, Facts, Failure, Reading};

/// The most entries of a look.
pub const ENTRIES: usize = 1000;

//! `gate-watch` says when a question for a person appears, and when it is answered or gone.
//!
//! A look ([`probe`], which finds what [`seen`] says) lists the two gate folders and reads what it
//! has not read before;
//! [`decide`] compares it with what was said ([`memory`]) and answers with lines ([`event`]).
//! [`sight`] keeps a look that could not see apart from one that saw nothing.

pub mod args;
pub mod content;
pub mod decide;
pub mod digest;
pub mod event;
pub mod memory;
pub mod name;
pub mod probe;
pub mod readings;
pub mod seen;
pub mod sight;
pub mod start;
pub mod verdict;

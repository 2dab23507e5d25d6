//! `wake`: decides when a reader's turn is worth spending on what the monitors say.
//!
//! [`decide`] is the engine, which knows neither clock nor file. Around it, [`run`] reads the input
//! ([`intake`], [`message`]) and the [`answers`], and prints what the engine says: `emit` writes each
//! [`mod@line`] with its [`text`] once the [`books`] ([`store`], [`evidence`], [`history`]) hold it.

pub mod answers;
pub mod args;
pub mod books;
pub mod clock;
pub mod commands;
pub mod decide;
mod emit;
pub mod evidence;
pub mod history;
pub mod intake;
pub mod line;
pub mod looks;
pub mod message;
pub mod run;
pub mod store;
#[cfg(test)]
mod testing;
pub mod text;
pub mod verdict;

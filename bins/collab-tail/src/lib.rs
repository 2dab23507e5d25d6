//! `collab-tail` follows shared Markdown boards for one listener, and prints one event for each
//! line that is addressed to it.
//!
//! From bytes to events: [`line`](mod@line), [`prose`], [`names`], [`grammar`], [`block`],
//! [`parser`] know the grammar and do no IO. [`content`], [`memory`], [`seen`] and [`import`] are
//! what is remembered; [`place`] and [`board`] read; [`desk`] decides what is told, and
//! [`voice`] says it ([`event`], [`trouble`], [`record`]). [`run`] is the program.

pub mod args;
pub mod block;
pub mod board;
pub mod content;
pub mod desk;
pub mod event;
pub mod grammar;
pub mod hash;
pub mod import;
pub mod line;
pub mod lock;
pub mod memory;
pub mod names;
pub mod open;
pub mod parser;
pub mod place;
pub mod prose;
pub mod record;
pub mod run;
pub mod seen;
pub mod trouble;
pub mod voice;

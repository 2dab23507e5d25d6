//! The program as its users run it.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

#[path = "cli/answers.rs"]
mod answers;
#[path = "cli/store.rs"]
mod store;
#[path = "cli/stream.rs"]
mod stream;
#[path = "cli/world.rs"]
mod world;

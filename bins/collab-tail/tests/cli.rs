//! Black-box tests: the real program, real files, real signals.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

#[path = "cli/compat.rs"]
mod compat;
#[path = "cli/crashes.rs"]
mod crashes;
#[path = "cli/desk.rs"]
mod desk;
#[path = "cli/faults.rs"]
mod faults;
#[path = "cli/field.rs"]
mod field;
#[path = "cli/grammar.rs"]
mod grammar;
#[path = "cli/histories.rs"]
mod histories;
#[path = "cli/running.rs"]
mod running;
#[path = "cli/stories.rs"]
mod stories;

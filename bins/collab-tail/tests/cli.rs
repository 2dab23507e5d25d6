//! Black-box tests: the real program, real files, real signals.

#[path = "cli/compat.rs"]
mod compat;
#[path = "cli/desk.rs"]
mod desk;
#[path = "cli/faults.rs"]
mod faults;
#[path = "cli/field.rs"]
mod field;
#[path = "cli/grammar.rs"]
mod grammar;
#[path = "cli/running.rs"]
mod running;
#[path = "cli/stories.rs"]
mod stories;

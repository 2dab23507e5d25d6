//! The program as its users run it: real files, real signals.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

#[path = "cli/cursor.rs"]
mod cursor;
#[path = "cli/following.rs"]
mod following;
#[path = "cli/lines.rs"]
mod lines;
#[path = "cli/running.rs"]
mod running;
#[path = "cli/stage.rs"]
mod stage;

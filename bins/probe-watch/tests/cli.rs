//! The program from the outside: real probes, in plain shell.
#![expect(clippy::unwrap_used, reason = "tests fail by panic, and their helpers too")]

#[path = "cli/batches.rs"]
mod batches;
#[path = "cli/events.rs"]
mod events;
#[path = "cli/limits.rs"]
mod limits;
#[path = "cli/readings.rs"]
mod readings;
#[path = "cli/starting.rs"]
mod starting;
#[path = "cli/world.rs"]
mod world;

//! The program from the outside: real files, real signals, real clocks.
#![expect(clippy::unwrap_used, reason = "tests fail by panic, and so do their helpers")]

#[path = "cli/absent_watches.rs"]
mod absent_watches;
#[path = "cli/blindness.rs"]
mod blindness;
#[path = "cli/cursor.rs"]
mod cursor;
#[path = "cli/folders.rs"]
mod folders;
#[path = "cli/leases.rs"]
mod leases;
#[path = "cli/readings.rs"]
mod readings;
#[path = "cli/running.rs"]
mod running;
#[path = "cli/world.rs"]
mod world;

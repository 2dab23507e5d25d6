//! The program from the outside: the real `gh`, and a stand-in for GitHub.
#![expect(clippy::unwrap_used, reason = "tests fail by panic, and their helpers too")]

#[path = "cli/batches.rs"]
mod batches;
#[path = "cli/conditions.rs"]
mod conditions;
#[path = "cli/readings.rs"]
mod readings;
#[path = "cli/running.rs"]
mod running;
#[path = "cli/states.rs"]
mod states;
#[path = "cli/world.rs"]
mod world;

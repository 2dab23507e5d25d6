//! The program from the outside: real git, real repositories, real servers.
#![expect(clippy::unwrap_used, reason = "tests fail by panic, and their helpers too")]

#[path = "cli/asks.rs"]
mod asks;
#[path = "cli/counts.rs"]
mod counts;
#[path = "cli/failures.rs"]
mod failures;
#[path = "cli/partial.rs"]
mod partial;
#[path = "cli/repositories.rs"]
mod repositories;
#[path = "cli/running.rs"]
mod running;
#[path = "cli/world.rs"]
mod world;

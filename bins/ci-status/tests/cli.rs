//! The program from the outside: the real `gh`, and a stand-in for GitHub.
#![expect(clippy::unwrap_used, reason = "tests fail by panic, and their helpers too")]

#[path = "cli/checks.rs"]
mod checks;
#[path = "cli/running.rs"]
mod running;
#[path = "cli/runs.rs"]
mod runs;
#[path = "cli/troubles.rs"]
mod troubles;
#[path = "cli/world.rs"]
mod world;

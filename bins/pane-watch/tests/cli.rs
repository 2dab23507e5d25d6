//! The program as its users run it, on tmux servers of its own.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

#[path = "cli/agents.rs"]
mod agents;
#[path = "cli/cursor.rs"]
mod cursor;
#[path = "cli/ends.rs"]
mod ends;
#[path = "cli/known.rs"]
mod known;
#[path = "cli/running.rs"]
mod running;
#[path = "cli/servers.rs"]
mod servers;
#[path = "cli/windows.rs"]
mod windows;
#[path = "cli/world.rs"]
mod world;

//! The program from the outside, on real files, with real signals.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

#[path = "cli/blindness.rs"]
mod blindness;
#[path = "cli/changes.rs"]
mod changes;
#[path = "cli/contract.rs"]
mod contract;
#[path = "cli/cursor.rs"]
mod cursor;
#[path = "cli/gates.rs"]
mod gates;
#[path = "cli/stress.rs"]
mod stress;
#[path = "cli/world.rs"]
mod world;

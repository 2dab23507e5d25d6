//! `supervise` from the outside, with real processes. Each scene checks at its end that nothing
//! of it runs any more.
#![expect(clippy::unwrap_used, reason = "tests fail by panic")]

#[path = "cli/check.rs"]
mod check;
#[path = "cli/faults.rs"]
mod faults;
#[path = "cli/follow.rs"]
mod follow;
#[path = "cli/identity.rs"]
mod identity;
#[path = "cli/scene.rs"]
mod scene;
#[path = "cli/spawn.rs"]
mod spawn;
#[path = "cli/start.rs"]
mod start;
#[path = "cli/up.rs"]
mod up;

use clap::CommandFactory as _;
use supervise::args::Args;

#[test]
fn flags_are_documented() {
    tests::documented(Args::command());
}

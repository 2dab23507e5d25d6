//! `ci-status`: what the checks of runs, pull requests and commits come to.
//!
//! [`probe`] asks GitHub through `gh`, [`decide`] says what is worth a line, [`start`] finds what
//! is to be watched; the checks themselves are judged in `github`.

pub mod args;
pub mod decide;
pub mod event;
pub mod probe;
pub mod run;
pub mod start;
pub mod state;

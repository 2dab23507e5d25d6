//! Tests that cross programs. One binary; each subject is a module.

#![expect(clippy::unwrap_used, reason = "tests fail by panic")]

mod contract;
mod house;
mod pipelines;
mod readme;

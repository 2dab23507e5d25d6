//! Says how far a checkout is behind its base branch on the remote once that reaches a threshold,
//! and when it no longer is.
//!
//! Read in this order: [`args`], [`event`]; [`git`] (one question), [`open`] (what is found once),
//! [`failure`] (why a look is blind), [`remote`], [`partial`] (what a fetch may leave),
//! [`distance`], [`probe`] (a look); [`schedule`] (when to look), [`decide`] (what a look means),
//! [`start`] (what a run begins with).

pub mod args;
pub mod decide;
pub mod distance;
pub mod event;
pub mod failure;
pub mod git;
pub mod open;
pub mod partial;
pub mod probe;
pub mod remote;
pub mod schedule;
pub mod start;

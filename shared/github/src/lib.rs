//! What the programs that read GitHub share beyond the transport, which is `shared::gh`.
//!
//! Read in this order: [`target`], [`remote`] and [`place`] (what is watched, and where), [`row`] and
//! [`verdict`] (what a set of checks comes to), [`settle`], [`pull`] (a pull request's own
//! facts), [`document`] and [`look`] (how they are read), [`trouble`] (what is said when they
//! can't be). A crate of its own, since `shared` knows no check and no pull request.

pub mod document;
pub mod look;
pub mod place;
pub mod pull;
pub mod remote;
mod rest;
pub mod row;
mod sent;
pub mod settle;
pub mod target;
pub mod trouble;
pub mod verdict;

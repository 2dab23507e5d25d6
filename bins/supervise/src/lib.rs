//! `supervise`: runs the monitors of an orchestration together, and ends all of them together.
//!
//! [`monitors`] says which programs run, [`child`] holds one of them, [`join`] reads them all.
//! Of what it starts, nothing outlives it.

pub mod args;
pub mod child;
pub mod event;
pub mod join;
pub mod monitors;

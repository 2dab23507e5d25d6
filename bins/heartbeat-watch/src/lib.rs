//! `heartbeat-watch`: says when the lease of a work item comes near its end or passes it, when
//! that is over, and when an item that should have a lease has none that can be read.
//!
//! The world is read by [`probe`] (through [`store`], [`split`], [`fields`] and [`lease`]) and
//! judged by [`decide`] (through [`table`], [`rules`] and [`clocks`]), which does no IO and asks no
//! clock. What is said is described in [`event`] and [`mod@reading`]. A run begins with [`start`];
//! `main.rs` joins them all in a loop.

pub mod args;
pub mod clocks;
pub mod decide;
pub mod event;
pub mod fields;
pub mod lease;
pub mod probe;
pub mod reading;
pub mod rules;
pub mod split;
pub mod start;
pub mod store;
pub mod table;

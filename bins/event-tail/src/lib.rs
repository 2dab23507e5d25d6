//! Passes on the whole lines that are appended to the journal of an orchestrated repository's
//! state, all of them or those of the wanted event types, byte for byte.
//!
//! [`shared::tail`] follows the journal by its name; [`filter`] judges its lines; [`decide`] says
//! what else is to be told: resets, lines that did not pass, blindness. [`probe`] is where these
//! meet the world.

pub mod args;
pub mod decide;
pub mod event;
pub mod filter;
pub mod probe;
pub mod skips;

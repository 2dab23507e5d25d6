//! `agent-watch`: tells a lead what became of the agents it started.
//!
//! [`desk`] keeps the items as the registry has them, [`item`] what is known of one; [`step`] is
//! the pure machine of one item. [`eyes`] and [`probe`] look ([`cpu`] at what `/proc` tells
//! beside), and what that may find is [`seen`]. [`watch`] joins them.

pub mod args;
pub mod cpu;
pub mod desk;
pub mod event;
pub mod eyes;
pub mod item;
pub mod probe;
pub mod seen;
pub mod step;
pub mod watch;

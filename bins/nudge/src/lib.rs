//! `nudge`: passes events on, and says again those that want an answer and get none.
//!
//! [`decide`] is pure: lines, acknowledgements and the clock to what is to be said. [`acks`]
//! follows the file of acknowledgements, [`store`] keeps what waits over a restart, [`run`] reads
//! and writes.

pub mod acks;
pub mod args;
pub mod decide;
pub mod event;
pub mod run;
pub mod store;

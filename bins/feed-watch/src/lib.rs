//! `feed-watch`: says that a feed changed, by its metadata alone. It opens no feed and knows
//! neither items nor blind phases.
//!
//! [`decide`] is pure, [`probe`] looks.

pub mod args;
pub mod decide;
pub mod event;
pub mod probe;

//! `feed-watch`: says that a feed changed, by its metadata alone. It opens no feed and knows
//! neither items nor blind phases.
//!
//! [`probe`] looks, [`decide`] is pure, [`watch`] joins them.

pub mod args;
pub mod decide;
pub mod event;
pub mod probe;
pub mod watch;

//! `pane-watch`: tells which panes of one tmux server died, went, or belong to nobody.
//!
//! [`tmux`] asks the server, [`agents`] knows whose process runs where, [`decide`] is pure,
//! [`watch`] joins them.

pub mod agents;
pub mod args;
pub mod decide;
pub mod event;
pub mod tmux;
pub mod watch;

//! `pane-watch`: tells which panes of one tmux server died, went, or belong to nobody.
//!
//! [`tmux`] asks the server, [`probe`] takes one look, [`agents`] knows whose process runs where,
//! [`known`] which panes belong there, [`ends`] which processes ended. [`decide`] is pure, and
//! [`watch`] joins them.

pub mod agents;
pub mod args;
pub mod decide;
pub mod ends;
pub mod event;
pub mod known;
pub mod probe;
pub mod tmux;
pub mod watch;

//! `supervise`: starts, proves, follows, checks and stops long-running monitors.
//!
//! There is no daemon: a [`keeper`] per monitor, and a folder per monitor ([`place`], [`record`]).
//! A monitor is running exactly when its keeper holds the folder's lock. The subcommands look at
//! that ([`look`]), and never signal a process that they have not proven to be the recorded one
//! ([`stop`]).

mod answer;
pub mod args;
pub mod check;
pub mod commands;
pub mod event;
pub mod exec;
pub mod follow;
pub mod keeper;
pub mod leftover;
pub mod look;
pub mod monitors;
pub mod place;
pub mod reader;
pub mod record;
pub mod start;
pub mod stop;
pub mod table;
pub mod up;

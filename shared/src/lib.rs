//! What two or more of the programs need, and nothing else.
//!
//! Read in this order: [`exit`], [`cli`], [`clock`], [`wait`], [`watch`], [`text`], [`mod@line`],
//! [`health`], [`stdout`], [`session`]; then [`mod@file`], [`folder`], [`cursor`], [`store`], [`lines`], [`tail`], [`run`], [`process`],
//! [`gh`], [`cooldown`], [`reading`], [`registry`], [`service`].

pub mod cli;
pub mod clock;
pub mod cooldown;
pub mod cursor;
pub mod exit;
pub mod file;
pub mod folder;
pub mod follow;
pub mod gh;
pub mod health;
pub mod line;
pub mod lines;
pub mod pidfile;
pub mod process;
pub mod reading;
pub mod registry;
pub mod roster;
pub mod run;
pub mod service;
pub mod session;
pub mod signals;
pub mod stdout;
pub mod store;
mod sweep;
pub mod tail;
pub mod text;
pub mod wait;
pub mod watch;

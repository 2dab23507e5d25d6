//! `pr-state-watch`: what becomes of pull requests, until all are merged or closed.
//!
//! [`probe`] asks GitHub through `gh`, many pull requests in one document; [`facts`] says what
//! holds of one of them, [`decide`] what of that is worth a line, [`tell`] and
//! [`readings`] say it.

pub mod args;
pub mod comments;
pub mod decide;
pub mod event;
pub mod facts;
pub mod probe;
pub mod readings;
pub mod start;
pub mod tell;

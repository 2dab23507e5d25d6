//! `probe-watch`: runs any executable that keeps the probe protocol, for many subjects at once,
//! on a cadence, and says what it saw. It knows no kind of subject: the probe alone does.
//!
//! [`describe`] reads what the probe says of itself and [`identity`] what it calls its subjects;
//! [`plan`] says which are due, [`invocation`] runs the probe, [`answers`] judges what it printed
//! and [`errors`] what it left out; [`decide`] says what of that is worth a line.

pub mod answers;
pub mod args;
pub mod check;
pub mod decide;
pub mod delay;
pub mod describe;
pub mod errors;
pub mod event;
pub mod identity;
pub mod invocation;
pub mod observe;
pub mod plan;
pub mod print;
pub mod start;
pub mod tell;

//! `classify`: says of every event that passes through how soon a reader must act.
//!
//! A line of input goes through [`json`] (is it an object, and where are its members), [`judge`]
//! (what do the [`rules`] in [`force`] say of it) and [`splice`] (the answer goes between its
//! bytes), or becomes its [`audience`]'s share. [`filter`] joins these for the [`stream`],
//! [`report`] for a whole input (read by [`survey`]). Only [`input`], those that drive it, and
//! `main` touch the world.

pub mod args;
pub mod audience;
pub mod filter;
pub mod force;
pub mod input;
pub mod intake;
pub mod json;
pub mod judge;
pub mod malformed;
pub mod report;
pub mod rules;
pub mod splice;
pub mod status;
pub mod stream;
pub mod survey;
#[cfg(test)]
mod testing;

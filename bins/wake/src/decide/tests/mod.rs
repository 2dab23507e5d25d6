//! The engine, row by row.

mod acks;
mod budgets;
mod decisions;
mod events;
mod guard;
mod holding;
mod inputs;
mod properties;
mod script;
mod stall;
mod state;
mod world;

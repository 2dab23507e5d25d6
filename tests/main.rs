//! Tests that cross programs. One binary; each subject is a module.

mod contract;
mod house;

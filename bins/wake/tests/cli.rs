//! The program as its users run it.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

mod cli {
    mod answers;
    mod contract;
    mod lines;
    mod state;
    mod support;
}

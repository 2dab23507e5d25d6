//! What stands in `integrations`, run with the programs that it names.

#![expect(clippy::unwrap_used, reason = "tests fail by panic")]

#[path = "integrations/agents.rs"]
mod agents;
#[path = "integrations/calls.rs"]
mod calls;
#[path = "integrations/compat.rs"]
mod compat;
#[path = "integrations/services.rs"]
mod services;
#[path = "integrations/shell.rs"]
mod shell;
#[path = "integrations/workflow.rs"]
mod workflow;

use std::{env, fs, path::PathBuf};

use tests::{built, root};

/// A path below `integrations`.
fn integration(path: &str) -> PathBuf {
    root().join("integrations").join(path)
}

/// The content of a file below `integrations`.
fn text(path: &str) -> String {
    fs::read_to_string(integration(path)).unwrap_or_else(|err| panic!("{path}: {err}"))
}

/// The names in a folder, in order.
fn names(path: PathBuf) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap().map(Result::unwrap);
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The folder in which all programs lie.
fn programs() -> PathBuf {
    PathBuf::from(built("supervise").get_program()).parent().unwrap().to_owned()
}

/// A `PATH` on which the programs come first.
fn path() -> String {
    format!("{}:{}", programs().display(), env::var("PATH").unwrap())
}

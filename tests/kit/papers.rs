//! Checks that a program's papers say what the program does.

use std::{env, fs, path::Path};

use clap_complete::{Shell, generate};

use crate::root;

/// Checks that the man page names every flag of `command`, and that the committed completions
/// are what the flags generate. `BLESS=1` rewrites them.
pub fn documented(mut command: clap::Command) {
    let name = command.get_name().to_owned();
    for (shell, suffix) in [(Shell::Bash, "bash"), (Shell::Fish, "fish"), (Shell::Zsh, "zsh")] {
        let mut text = Vec::new();
        generate(shell, &mut command, &name, &mut text);
        golden(&root().join(format!("completions/{name}.{suffix}")), &text);
    }
    let page = fs::read_to_string(root().join(format!("man/{name}.1"))).unwrap_or_default();
    let mut flags = Vec::new();
    collect(&command, &mut flags);
    flags.retain(|flag| !page.contains(&format!("Fl -{flag}")));
    assert!(flags.is_empty(), "man/{name}.1 does not name {flags:?}");
}

fn collect(command: &clap::Command, flags: &mut Vec<String>) {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    flags.extend(shown.filter_map(clap::Arg::get_long).map(str::to_owned));
    command.get_subcommands().for_each(|sub| collect(sub, flags));
}

/// Compares `have` with the committed file; with `BLESS=1`, replaces it.
#[expect(clippy::disallowed_methods, reason = "a developer is watching")]
pub fn golden(path: &Path, have: &[u8]) {
    if env::var_os("BLESS").is_some() {
        fs::write(path, have).unwrap();
    }
    let want = fs::read(path).unwrap_or_default();
    assert!(have == want, "{} is stale: run BLESS=1 cargo test", path.display());
}

//! Every shell script of the repository is one that its shell can read.

use std::{fs, path::PathBuf};

use tests::{Scene, command, root};

use crate::{integration, names};

/// The scripts: what begins with `#!` in the folders that hold such.
fn scripts() -> Vec<(PathBuf, String)> {
    let folders = [integration("compat"), root().join("tests"), root().join(".ci")];
    let mut found = Vec::new();
    for folder in folders {
        for path in names(folder.clone()).into_iter().map(|name| folder.join(name)) {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            if text.starts_with("#!") {
                found.push((path, text));
            }
        }
    }
    found
}

/// Whether the shell that a script names can read it.
fn readable(path: &PathBuf, text: &str) -> bool {
    let shell = match text.lines().next() {
        Some("#!/bin/sh") => "sh",
        Some("#!/usr/bin/env bash") => "bash",
        other => panic!("{}: {other:?}", path.display()),
    };
    command(shell).arg("-n").arg(path).output().unwrap().status.success()
}

#[test]
fn each_script_can_be_read() {
    let scripts = scripts();
    assert!(scripts.len() > 8, "{scripts:?}");
    for (path, text) in scripts {
        assert!(readable(&path, &text), "{}", path.display());
        let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
        assert_eq!(mode & 0o111, 0o111, "{} can't be run", path.display());
    }
    let scene = Scene::new();
    scene.write("bad", "#!/bin/sh\nif true\n");
    assert!(!readable(&scene.join("bad"), "#!/bin/sh\nif true\n"));
}

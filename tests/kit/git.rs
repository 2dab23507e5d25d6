//! The real git, blind to the configuration of whoever runs the tests.

use std::process::Command;

use crate::{Scene, command};

/// A git command in the scene's folder.
#[must_use]
pub fn command_in(scene: &Scene, args: &[&str]) -> Command {
    let mut git = command("git");
    git.args([
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@localhost",
        "-c",
        "init.defaultBranch=main",
    ]);
    git.args(args).current_dir(scene.path());
    blind(&mut git, scene);
    git
}

/// Keeps a program, and the git that it runs, from the user's own configuration.
pub fn blind(command: &mut Command, scene: &Scene) {
    command.env("HOME", scene.path()).env("GIT_CONFIG_NOSYSTEM", "1").env_remove("XDG_CONFIG_HOME");
}

/// Runs git in the scene's folder; panics when it fails.
pub fn git(scene: &Scene, args: &[&str]) {
    let out = command_in(scene, args).output().unwrap();
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
}

/// Makes `world` a repository with one commit on `main`, level with the bare `remote` beside it.
pub fn level_repository(scene: &Scene) {
    git(scene, &["init", "--quiet", "--bare", "remote"]);
    git(scene, &["init", "--quiet", "world"]);
    git(scene, &["-C", "world", "remote", "add", "origin", "../remote"]);
    push_commits(scene, 1);
}

/// Adds commits to `world` and pushes them to `main` of the remote.
pub fn push_commits(scene: &Scene, commits: usize) {
    for _ in 0..commits {
        git(scene, &["-C", "world", "commit", "--quiet", "--allow-empty", "-m", "next"]);
    }
    git(scene, &["-C", "world", "push", "--quiet", "../remote", "HEAD:refs/heads/main"]);
}

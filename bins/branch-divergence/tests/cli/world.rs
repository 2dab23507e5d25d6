//! A remote, somebody who pushes to it, and the checkout that is watched.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tests::{Running, Scene, command, lines};

/// Where the program lies.
pub(crate) const EXE: &str = env!("CARGO_BIN_EXE_branch-divergence");

/// One remote (`remote.git`), one who pushes (`up`), one checkout (`checkout`), on branches that
/// begin at the same commit: `main` of the remote, `feature` in the checkout.
pub(crate) struct World {
    pub(crate) scene: Scene,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { scene: Scene::new() };
        world.git(".", &["init", "-q", "--bare", "-b", "main", "remote.git"]);
        world.git("remote.git", &["config", "receive.denyDeleteCurrent", "ignore"]);
        world.git(".", &["init", "-q", "-b", "main", "up"]);
        world.git("up", &["remote", "add", "origin", "../remote.git"]);
        world.advance(1);
        world.git(".", &["clone", "-q", "remote.git", "checkout"]);
        world.git("checkout", &["checkout", "-q", "-b", "feature"]);
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scene.join(name)
    }

    /// Runs git in a folder of the scene and returns what it printed.
    pub(crate) fn git(&self, dir: &str, args: &[&str]) -> String {
        let mut git = command("git");
        let out = self.at_home(&mut git).arg("-C").arg(self.path(dir)).args(args).output().unwrap();
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim_end().to_owned()
    }

    /// Commits `n` times to `main` and pushes.
    pub(crate) fn advance(&self, n: usize) {
        for _ in 0..n {
            self.git("up", &["commit", "-q", "--allow-empty", "-m", "more"]);
        }
        self.git("up", &["push", "-q", "-f", "origin", "main"]);
    }

    /// The remote's tip of `main`.
    pub(crate) fn tip(&self) -> String {
        self.git("remote.git", &["rev-parse", "main"])
    }

    /// The tip that the program fetched last; empty for none.
    pub(crate) fn fetched(&self) -> String {
        let refs = ["for-each-ref", "--format=%(objectname)", "refs/doorbell/origin/main"];
        self.git("checkout", &refs)
    }

    /// Nothing of the machine's or the user's own settings.
    pub(crate) fn at_home<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for name in ["GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_DIR"] {
            command.env_remove(name);
        }
        command.env("HOME", self.scene.path()).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env_remove("XDG_CONFIG_HOME");
        for (who, name) in [("AUTHOR", "A"), ("COMMITTER", "C")] {
            command.env(format!("GIT_{who}_NAME"), name);
            command.env(format!("GIT_{who}_EMAIL"), "nobody@example.invalid");
        }
        command
    }

    /// The program on a folder of the scene.
    pub(crate) fn on(&self, dir: &str, args: &[&str]) -> Command {
        let mut program = command(EXE);
        self.at_home(&mut program).arg("-C").arg(self.path(dir)).args(args);
        program
    }

    /// The program on the checkout, started.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        Running::start(&mut self.on("checkout", args))
    }

    /// The program with `--once` on a folder: its exit code, its lines, its stderr.
    pub(crate) fn once(&self, dir: &str, args: &[&str]) -> Once {
        Once::of(self.on(dir, args).arg("--once"))
    }

    /// Writes a script that can be run, and returns its path.
    pub(crate) fn script(&self, name: &str, text: &str) -> PathBuf {
        self.scene.write(name, format!("#!/bin/sh\n{text}\n"));
        let path = self.path(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A `PATH` on which every call of git that the program makes is noted in the file `calls`.
    pub(crate) fn counting_path(&self) -> String {
        let _ = self.scene.dir("bin");
        let calls = self.path("calls");
        let real = which("git");
        let text = format!("echo \"$*\" >>'{}'\nexec '{}' \"$@\"", calls.display(), real.display());
        self.script("bin/git", &text);
        format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap())
    }

    /// The calls that were noted.
    pub(crate) fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// How a run with `--once` ended.
#[derive(Debug)]
pub(crate) struct Once {
    pub(crate) code: Option<i32>,
    pub(crate) lines: Vec<Value>,
    pub(crate) stderr: String,
}

impl Once {
    pub(crate) fn of(command: &mut Command) -> Self {
        let out = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
        Self { code: out.status.code(), lines: lines(&out.stdout), stderr }
    }

    /// The only line of a look that was whole.
    pub(crate) fn event(&self) -> &Value {
        assert_eq!((self.code, self.lines.len()), (Some(0), 1), "{self:?}");
        &self.lines[0]
    }

    /// The reason and detail of the only line, which says that something could not be seen.
    pub(crate) fn degraded(&self) -> (&str, &str) {
        assert_eq!((self.code, self.lines.len()), (Some(4), 1), "{self:?}");
        assert_eq!(self.lines[0]["event"], "monitor_degraded");
        (self.lines[0]["reason"].as_str().unwrap(), self.lines[0]["detail"].as_str().unwrap())
    }
}

/// The first program of this name on the `PATH`.
pub(crate) fn which(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.exists()).unwrap()
}

/// The command lines of all running processes that have `word` among their words.
pub(crate) fn processes_with(word: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let line = |path: &Path| fs::read(path.join("cmdline")).ok();
    entries
        .filter_map(|entry| line(&entry.path()))
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(word) && !line.contains("branch-divergence "))
        .collect()
}

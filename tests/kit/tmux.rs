//! The real tmux on a socket of the scene's own, never the default one.

use std::{
    path::PathBuf,
    process::{Command, Output},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{Scene, command, eventually};

/// A tmux server with one pane; it ends with its test.
#[derive(Debug)]
pub struct Tmux {
    socket: PathBuf,
    /// The pane's id: `%0`.
    pub pane: String,
    /// The server.
    pub pid: Pid,
}

impl Tmux {
    /// Starts it.
    #[must_use]
    pub fn start(scene: &Scene) -> Self {
        Self::named(scene, "tmux")
    }

    /// Starts it on the socket `name`, for a scene with several.
    #[must_use]
    pub fn named(scene: &Scene, name: &str) -> Self {
        let socket = scene.join(name);
        let mut tmux = Self { socket, pane: String::new(), pid: Pid::from_raw(0) };
        tmux.restart();
        tmux
    }

    /// Starts another server on the same socket, after the end of the one before.
    pub fn restart(&mut self) {
        let size = ["-x", "200", "-y", "200"];
        let new = ["-f", "/dev/null", "new-session", "-d", "-P", "-F", "#{pane_id} #{pid}"];
        let told = self.run(&[&new[..], &size, &["sleep 1000"]].concat());
        let (pane, pid) = told.split_once(' ').unwrap();
        pane.clone_into(&mut self.pane);
        self.pid = Pid::from_raw(pid.parse().unwrap());
    }

    /// The socket's path.
    #[must_use]
    pub fn socket(&self) -> &str {
        self.socket.to_str().unwrap()
    }

    /// What a command of tmux prints.
    #[expect(clippy::must_use_candidate, reason = "many are run for what they do")]
    pub fn run(&self, args: &[&str]) -> String {
        let out = self.ask(args);
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    }

    fn ask(&self, args: &[&str]) -> Output {
        let mut tmux = command("tmux");
        blind(&mut tmux);
        tmux.arg("-S").arg(&self.socket).args(args).output().unwrap()
    }

    /// A new pane in the window of `beside` that runs `shell`: its id.
    #[must_use]
    pub fn split(&self, beside: &str, shell: &str) -> String {
        self.run(&["split-window", "-t", beside, "-dPF", "#{pane_id}", shell])
    }

    /// A fact of a pane.
    #[must_use]
    pub fn show(&self, pane: &str, format: &str) -> String {
        self.run(&["display-message", "-p", "-t", pane, format])
    }

    /// The process of a pane.
    #[must_use]
    pub fn pid_of(&self, pane: &str) -> Pid {
        Pid::from_raw(self.show(pane, "#{pane_pid}").parse().unwrap())
    }

    /// Kills the server on the spot, and returns once it is gone.
    pub fn kill(&self) {
        if self.is_alive() {
            kill(self.pid, Signal::SIGKILL).unwrap();
        }
        eventually("the server ends", || !self.is_alive());
    }

    /// Whether the number is still that of a tmux that runs.
    fn is_alive(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        stat.contains("(tmux") && !stat.contains(") Z ")
    }
}

/// Hides the tmux in which the tests themselves may run.
pub fn blind(command: &mut Command) {
    for name in ["TMUX", "TMUX_PANE", "TMUX_TMPDIR"] {
        command.env_remove(name);
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // A server that is stopped, or was replaced by hand, goes as well; its panes lose their
        // terminals.
        let _ = kill(self.pid, Signal::SIGCONT);
        let _ = self.ask(&["kill-server"]);
        if self.is_alive() {
            let _ = kill(self.pid, Signal::SIGKILL);
        }
    }
}

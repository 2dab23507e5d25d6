//! The real tmux on a socket of the scene's own, never the default one.

use crate::{Scene, command};

/// A tmux server with one pane; it ends with its test.
#[derive(Debug)]
pub struct Tmux {
    socket: String,
    /// The pane's id: `%0`.
    pub pane: String,
}

impl Tmux {
    /// Starts it.
    #[must_use]
    pub fn start(scene: &Scene) -> Self {
        let socket = scene.join("tmux").display().to_string();
        let mut tmux = command("tmux");
        tmux.args([
            "-S",
            &socket,
            "-f",
            "/dev/null",
            "new-session",
            "-dPF",
            "#{pane_id}",
            "sleep 1000",
        ]);
        let out = tmux.output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        Self { socket, pane: String::from_utf8_lossy(&out.stdout).trim().to_owned() }
    }

    /// The socket's path.
    #[must_use]
    pub fn socket(&self) -> &str {
        &self.socket
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = command("tmux").args(["-S", &self.socket, "kill-server"]).output();
    }
}

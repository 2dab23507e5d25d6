//! A service manager's ear: what programs say through `$NOTIFY_SOCKET`.

use std::{os::unix::net::UnixDatagram, path::PathBuf, process::Command};

use crate::{PATIENCE, Scene};

/// Listens for notices.
#[derive(Debug)]
pub struct Manager {
    socket: UnixDatagram,
    path: PathBuf,
}

impl Manager {
    /// Listens on a socket in `scene`, apart from what programs watch there.
    #[must_use]
    pub fn listen(scene: &Scene) -> Self {
        // Another one of the same scene has its own name.
        let dir = scene.dir("manager");
        let path = dir.join(std::fs::read_dir(&dir).unwrap().count().to_string());
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { socket, path }
    }

    /// Gives `command` the socket.
    pub fn manage(&self, command: &mut Command) {
        command.env("NOTIFY_SOCKET", &self.path);
    }

    /// The next notice.
    #[must_use]
    pub fn notice(&self) -> String {
        let mut notice = [0; 512];
        loop {
            match self.socket.recv(&mut notice) {
                Ok(n) => return String::from_utf8_lossy(&notice[..n]).into_owned(),
                Err(err) if err.kind() == std::io::ErrorKind::Interrupted => {}
                Err(err) => panic!("no notice: {err}"),
            }
        }
    }

    /// Waits for readiness.
    pub fn ready(&self) {
        while self.notice() != "READY=1" {}
    }
}

//! Readiness and watchdog notices to a service manager: the `sd_notify(3)` protocol.

use std::{
    env,
    ffi::OsStr,
    io,
    os::unix::net::{SocketAddr, UnixDatagram},
    time::Duration,
};

use crate::process;

/// Tells the manager named by `$NOTIFY_SOCKET`, if any. A manager that doesn't listen is no
/// reason to fail.
#[derive(Debug)]
pub struct Service {
    socket: Option<(UnixDatagram, SocketAddr)>,
    watchdog: Option<Duration>,
}

impl Service {
    /// Reads the environment that the manager gave.
    #[must_use]
    pub fn from_env() -> Self {
        let socket = env::var_os("NOTIFY_SOCKET").and_then(|name| connect(&name).ok());
        let usec = env::var("WATCHDOG_USEC").ok().and_then(|text| text.parse().ok());
        let meant_for_us =
            env::var("WATCHDOG_PID").map_or(true, |pid| pid == std::process::id().to_string());
        let watchdog = usec.filter(|usec| *usec > 1 && meant_for_us && socket.is_some());
        Self { socket, watchdog: watchdog.map(|usec: u64| Duration::from_micros(usec / 2)) }
    }

    /// How often the manager wants to hear from us at least.
    #[must_use]
    pub fn watchdog_interval(&self) -> Option<Duration> {
        self.watchdog
    }

    /// The first complete look was taken.
    pub fn ready(&self) {
        self.send("READY=1");
    }

    /// What keeps it from being ready, in one line for a person.
    pub fn status(&self, text: &str) {
        self.send(&format!("STATUS={}", text.replace('\n', " ")));
    }

    /// The loop goes round.
    pub fn watchdog(&self) {
        if self.watchdog.is_some() {
            self.send("WATCHDOG=1");
        }
    }

    fn send(&self, words: &str) {
        if let Some((socket, to)) = &self.socket {
            let _ = socket.send_to_addr(words.as_bytes(), to);
        }
    }
}

fn connect(name: &OsStr) -> io::Result<(UnixDatagram, SocketAddr)> {
    let to = process::address(name)?;
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    Ok((socket, to))
}

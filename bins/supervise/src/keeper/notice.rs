//! The monitor's notices in the `sd_notify(3)` protocol, heard from the monitor only.

use std::{ffi::OsString, io, os::fd::BorrowedFd, path::Path};

use shared::process::NoticeSocket;

/// What was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// The first complete look was taken.
    Ready,
    /// The loop goes round.
    Watchdog,
    /// Something that changes nothing here.
    Other,
}

/// An open ear.
#[derive(Debug)]
pub struct Ear(NoticeSocket);

impl Ear {
    /// Listens at an address that only this run has, or that only the user can write to, in the
    /// monitor's folder.
    ///
    /// # Errors
    ///
    /// For want of descriptors.
    pub fn open(home: &Path, instance: &str) -> io::Result<Self> {
        NoticeSocket::open(home, instance).map(Self)
    }

    /// The value of `$NOTIFY_SOCKET`.
    #[must_use]
    pub fn address(&self) -> OsString {
        self.0.address()
    }

    /// Readable when there is a notice.
    #[must_use]
    pub fn ready(&self) -> BorrowedFd<'_> {
        self.0.fd()
    }

    /// The next notice of process `pid`; those of others are passed over. `None`: no more now.
    #[must_use]
    pub fn hear(&self, pid: u32) -> Option<Notice> {
        let mut said = [0; 4096];
        loop {
            let n = match self.0.receive(pid, &mut said) {
                Ok(Some(n)) => n,
                Ok(None) => continue,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return None,
            };
            let text = String::from_utf8_lossy(&said[..n]);
            let says = |word: &str| text.lines().any(|line| line == word);
            return Some(if says("READY=1") {
                Notice::Ready
            } else if says("WATCHDOG=1") {
                Notice::Watchdog
            } else {
                Notice::Other
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use super::*;

    #[test]
    fn only_the_monitor_is_heard() {
        let scene = tempfile::tempdir().unwrap();
        let ear = Ear::open(scene.path(), &format!("test-{}", std::process::id())).unwrap();
        let address = shared::process::address(&ear.address()).unwrap();
        let speak = |text: &str| {
            UnixDatagram::unbound().unwrap().send_to_addr(text.as_bytes(), &address).unwrap();
        };
        let us = std::process::id();
        assert_eq!(ear.hear(us), None);
        speak("STATUS=x\nREADY=1\n");
        speak("WATCHDOG=1");
        speak("XREADY=1");
        let heard = [ear.hear(us), ear.hear(us), ear.hear(us), ear.hear(us)];
        assert_eq!(heard, [Some(Notice::Ready), Some(Notice::Watchdog), Some(Notice::Other), None]);
        speak("READY=1");
        // Where the kernel doesn't say who speaks, the user's other processes are heard, too.
        let stranger = cfg!(not(all(target_os = "linux", not(doorbell_plain))));
        assert_eq!(ear.hear(us + 1), stranger.then_some(Notice::Ready));
    }
}

//! The monitor's notices: the socket of the `sd_notify(3)` protocol, heard from the monitor only.

use std::{
    io::{self, IoSliceMut},
    os::{
        fd::{AsFd as _, AsRawFd as _, BorrowedFd},
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixDatagram},
    },
};

use nix::{
    errno::Errno,
    sys::socket::{
        ControlMessageOwned, MsgFlags, UnixAddr, UnixCredentials, recvmsg, setsockopt, sockopt,
    },
};

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
pub struct Ear {
    socket: UnixDatagram,
    name: String,
}

impl Ear {
    /// Listens under a name that only this run has: an abstract one, which leaves no file behind.
    ///
    /// # Errors
    ///
    /// For want of descriptors.
    pub fn open(instance: &str) -> io::Result<Self> {
        let name = format!("doorbell/{instance}");
        let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        socket.set_nonblocking(true)?;
        setsockopt(&socket, sockopt::PassCred, &true)?;
        Ok(Self { socket, name })
    }

    /// The value of `$NOTIFY_SOCKET`.
    #[must_use]
    pub fn address(&self) -> String {
        format!("@{}", self.name)
    }

    /// Readable when there is a notice.
    #[must_use]
    pub fn ready(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The next notice of process `pid`; those of others are passed over. `None`: no more now.
    #[must_use]
    pub fn hear(&self, pid: u32) -> Option<Notice> {
        let mut said = [0; 4096];
        loop {
            let (from, n) = match self.receive(&mut said) {
                Ok(received) => received,
                Err(Errno::EINTR) => continue,
                Err(_) => return None,
            };
            if from != Some(pid) {
                continue;
            }
            let text = String::from_utf8_lossy(&said[..n]).into_owned();
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

    fn receive(&self, into: &mut [u8]) -> Result<(Option<u32>, usize), Errno> {
        let mut space = nix::cmsg_space!(UnixCredentials);
        let mut parts = [IoSliceMut::new(into)];
        let message = recvmsg::<UnixAddr>(
            self.socket.as_raw_fd(),
            &mut parts,
            Some(&mut space),
            MsgFlags::MSG_CMSG_CLOEXEC,
        )?;
        let from = message.cmsgs()?.find_map(|control| match control {
            ControlMessageOwned::ScmCredentials(who) => u32::try_from(who.pid()).ok(),
            _ => None,
        });
        Ok((from, message.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_monitor_is_heard() {
        let ear = Ear::open(&format!("test-{}", std::process::id())).unwrap();
        let address = SocketAddr::from_abstract_name(&ear.address()[1..]).unwrap();
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
        assert_eq!(ear.hear(us + 1), None);
    }
}

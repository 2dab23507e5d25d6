//! The socket of the `sd_notify(3)` protocol, with the credentials that the kernel attaches.

use std::{
    ffi::{OsStr, OsString},
    io::{self, IoSliceMut},
    os::{
        fd::{AsFd as _, AsRawFd as _, BorrowedFd},
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixDatagram},
    },
    path::Path,
};

use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, UnixAddr, UnixCredentials, recvmsg, setsockopt, sockopt,
};

/// A socket that notices come to.
#[derive(Debug)]
pub struct NoticeSocket {
    socket: UnixDatagram,
    name: String,
}

impl NoticeSocket {
    /// Listens under a name that only `run` has: an abstract one, which leaves no file in `_dir`.
    ///
    /// # Errors
    ///
    /// For want of descriptors.
    pub fn open(_dir: &Path, run: &str) -> io::Result<Self> {
        let name = format!("doorbell/{run}");
        let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        socket.set_nonblocking(true)?;
        setsockopt(&socket, sockopt::PassCred, &true)?;
        Ok(Self { socket, name })
    }

    /// The value of `$NOTIFY_SOCKET`.
    #[must_use]
    pub fn address(&self) -> OsString {
        format!("@{}", self.name).into()
    }

    /// Readable when there is a notice.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Takes the next notice, and says how long it is. `None`: it is not from process `pid`.
    ///
    /// # Errors
    ///
    /// `WouldBlock`: there is none.
    pub fn receive(&self, pid: u32, into: &mut [u8]) -> io::Result<Option<usize>> {
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
        Ok((from == Some(pid)).then_some(message.bytes))
    }
}

/// The address that a `$NOTIFY_SOCKET` means.
///
/// # Errors
///
/// One that can't be an address.
pub fn address(name: &OsStr) -> io::Result<SocketAddr> {
    match name.as_encoded_bytes().strip_prefix(b"@") {
        Some(abstract_name) => SocketAddr::from_abstract_name(abstract_name),
        None => SocketAddr::from_pathname(name),
    }
}

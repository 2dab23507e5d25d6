//! The socket of the `sd_notify(3)` protocol. The kernel attaches no credentials to a datagram, so
//! whoever may write to the socket is heard: the user, and nobody else.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs, io,
    os::{
        fd::{AsFd as _, BorrowedFd},
        unix::net::{SocketAddr, UnixDatagram},
    },
    path::{Path, PathBuf},
};

use crate::{line::digest, store};

/// The longest path of a socket that every system takes.
const LONGEST: usize = 103;

/// A socket that notices come to.
#[derive(Debug)]
pub struct NoticeSocket {
    socket: UnixDatagram,
    path: PathBuf,
    /// A folder of its own, where that of the monitor has too long a path.
    made: Option<PathBuf>,
}

impl NoticeSocket {
    /// Listens in `dir`, which is private and ours alone as long as we listen.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn open(dir: &Path, _run: &str) -> io::Result<Self> {
        let mut path = dir.join("notify");
        let mut made = None;
        if path.as_os_str().len() > LONGEST {
            let short = digest(dir.as_os_str().as_encoded_bytes());
            let short = env::temp_dir().join(format!("doorbell-{}", &short[..16]));
            store::make_private(&short).map_err(|err| io::Error::other(err.to_string()))?;
            path = short.join("notify");
            made = Some(short);
        }
        // One that was killed has left its own.
        let _ = fs::remove_file(&path);
        let socket = UnixDatagram::bind(&path)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, path, made })
    }

    /// The value of `$NOTIFY_SOCKET`.
    #[must_use]
    pub fn address(&self) -> OsString {
        self.path.clone().into()
    }

    /// Readable when there is a notice.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Takes the next notice, and says how long it is. Who sent it isn't known.
    ///
    /// # Errors
    ///
    /// `WouldBlock`: there is none.
    pub fn receive(&self, _pid: u32, into: &mut [u8]) -> io::Result<Option<usize>> {
        self.socket.recv(into).map(Some)
    }
}

impl Drop for NoticeSocket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        if let Some(dir) = &self.made {
            let _ = fs::remove_dir(dir);
        }
    }
}

/// The address that a `$NOTIFY_SOCKET` means.
///
/// # Errors
///
/// One that can't be an address: there are no abstract ones.
pub fn address(name: &OsStr) -> io::Result<SocketAddr> {
    if name.as_encoded_bytes().starts_with(b"@") {
        return Err(io::ErrorKind::Unsupported.into());
    }
    SocketAddr::from_pathname(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_a_long_path_gets_a_socket_all_the_same() {
        let scene = tempfile::tempdir().unwrap();
        for dir in [scene.path().join("short"), scene.path().join("x".repeat(100))] {
            fs::create_dir(&dir).unwrap();
            for _ in 0..2 {
                let socket = NoticeSocket::open(&dir, "").unwrap();
                let to = address(socket.address().as_ref()).unwrap();
                UnixDatagram::unbound().unwrap().send_to_addr(b"word", &to).unwrap();
                let mut said = [0; 16];
                assert_eq!(socket.receive(1, &mut said).unwrap(), Some(4));
                let path = socket.path.clone();
                drop(socket);
                assert!(!path.exists());
            }
        }
    }
}

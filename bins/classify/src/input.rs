//! Reads stdin and files piece by piece, never blocked: a pipe is waited for together with the
//! reasons to stop.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::OpenOptionsExt as _,
    },
    path::Path,
};

use nix::libc;
use shared::wait::{Waiter, Wake};

/// How much is read at once: what a pipe holds.
const PIECE: usize = 64 << 10;

/// An open input.
#[derive(Debug)]
pub struct Input {
    file: File,
    piece: Box<[u8]>,
    /// Whether to wait before reading.
    awaited: bool,
}

/// What a read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// These bytes, at least one.
    Bytes(&'a [u8]),
    /// Nothing yet.
    Later,
    /// The end of the input.
    End,
}

/// How reading to the end ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// There is no more.
    End,
    /// There is a reason to stop.
    Stopped,
}

impl Input {
    /// Standard input.
    ///
    /// # Errors
    ///
    /// Only for want of descriptors.
    pub fn stdin() -> io::Result<Self> {
        let file = io::stdin().as_fd().try_clone_to_owned()?.into();
        Ok(Self { file, piece: vec![0; PIECE].into(), awaited: true })
    }

    /// A file, through symbolic links; also a pipe, such as a shell's `<(...)`.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        // A pipe that nobody writes is never ready, but a read tells at once that it is over.
        Ok(Self { file, piece: vec![0; PIECE].into(), awaited: false })
    }

    /// For [`Waiter::wait`].
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Reads what is there.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn read(&mut self) -> io::Result<Piece<'_>> {
        self.awaited = true;
        match self.file.read(&mut self.piece) {
            Ok(0) => Ok(Piece::End),
            Ok(n) => Ok(Piece::Bytes(self.piece.get(..n).unwrap_or_default())),
            Err(err) => match err.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(Piece::Later),
                _ => Err(err),
            },
        }
    }

    /// Reads to the end, and hands each piece to `each`.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn drain(
        mut self,
        waiter: &mut Waiter,
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<Outcome> {
        loop {
            match self.next(waiter)? {
                Some(Piece::Bytes(bytes)) => each(bytes),
                Some(Piece::Later) => {}
                Some(Piece::End) => return Ok(Outcome::End),
                None => return Ok(Outcome::Stopped),
            }
        }
    }

    /// Waits, and reads what is there then. `None` when there was a reason to stop.
    fn next(&mut self, waiter: &mut Waiter) -> io::Result<Option<Piece<'_>>> {
        if self.awaited && matches!(waiter.wait(None, Some(self.fd()))?, Wake::Stop(_)) {
            return Ok(None);
        }
        self.read().map(Some)
    }
}

/// Reads all of a file of at most `most` bytes; of a longer one, which may have no end, somewhat
/// more than that. `None` when there was a reason to stop.
///
/// # Errors
///
/// The system's.
pub fn read(path: &Path, most: usize, waiter: &mut Waiter) -> io::Result<Option<Vec<u8>>> {
    let (mut input, mut all) = (Input::open(path)?, Vec::new());
    while all.len() <= most {
        match input.next(waiter)? {
            Some(Piece::Bytes(bytes)) => all.extend_from_slice(bytes),
            Some(Piece::Later) => {}
            Some(Piece::End) => break,
            None => return Ok(None),
        }
    }
    Ok(Some(all))
}

//! Standard input, piece by piece, and the lines that are neither readings nor events.

use std::{
    fs::File,
    io::{
        self,
        ErrorKind::{Interrupted, WouldBlock},
        Read as _,
    },
    os::fd::{AsFd, BorrowedFd},
};

use shared::{clock, exit, lines::Lines, wait};

/// How much is read at once: what a pipe holds.
const PIECE: usize = 64 << 10;
/// The longest line that is judged.
const LIMIT: usize = 1 << 20;
/// After so many bad lines running nobody can say what is missed.
const BLIND: u32 = 6;

/// An input that is open.
#[derive(Debug)]
pub struct Intake {
    stdin: File,
    piece: Box<[u8]>,
    /// The lines that it is made of.
    pub lines: Lines,
}

impl Intake {
    /// Standard input.
    ///
    /// # Errors
    ///
    /// For want of descriptors.
    pub fn stdin() -> io::Result<Self> {
        let stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        Ok(Self { stdin, piece: vec![0; PIECE].into(), lines: Lines::new(LIMIT) })
    }

    /// What to wait for.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stdin.as_fd()
    }

    /// Whether there is something to read, or the end of it.
    ///
    /// # Errors
    ///
    /// Those of poll(2).
    pub fn is_ready(&self) -> io::Result<bool> {
        wait::until_readable(self.fd(), clock::monotonic())
    }

    /// Reads once: the bytes, none at the end, `None` when there are none yet.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn read(&mut self) -> io::Result<Option<(&[u8], &mut Lines)>> {
        match self.stdin.read(&mut self.piece) {
            Ok(n) => Ok(Some((self.piece.get(..n).unwrap_or_default(), &mut self.lines))),
            Err(err) if matches!(err.kind(), WouldBlock | Interrupted) => Ok(None),
            Err(err) => Err(err),
        }
    }
}

/// The bad lines.
#[derive(Debug, Default)]
pub struct BadLines {
    running: u32,
    is_warned: bool,
}

impl BadLines {
    /// One more. Whether nobody can say any more what is missed.
    pub fn add(&mut self, cause: &str) -> bool {
        self.running = self.running.saturating_add(1);
        if !std::mem::replace(&mut self.is_warned, true) {
            let message =
                format!("unable to read a line of stdin: {cause}; such lines are counted");
            exit::warn("wake", &message);
        }
        self.running == BLIND
    }

    /// A good line came. Whether that is news.
    pub fn end(&mut self) -> bool {
        std::mem::take(&mut self.running) >= BLIND
    }
}

//! Whole lines to stdout: never torn, never blocked for ever, and a reader that left is no error.

use std::{io, time::Duration};

use nix::errno::Errno;

use crate::{
    line::LIMIT,
    wait::{STDOUT, Stop, Waiter},
};

/// How long a line begun waits for a slow reader after we were asked to stop.
const PATIENCE: Duration = Duration::from_millis(30);

/// Collects whole lines and writes them in pieces that a pipe takes at once.
#[derive(Debug, Default)]
pub struct Stdout {
    ready: Vec<u8>,
    stop: Option<Stop>,
}

impl Stdout {
    /// Adds a whole line, its newline included. Lines share a write while they fit into
    /// [`LIMIT`] bytes; a longer one leaves alone.
    ///
    /// # Errors
    ///
    /// Those of the file behind stdout; a reader that left is none, but the end of all printing.
    pub fn add(&mut self, line: &[u8], waiter: &Waiter) -> io::Result<()> {
        if self.ready.len() + line.len() > LIMIT {
            self.flush(waiter)?;
        }
        if self.ready.is_empty() && line.len() > LIMIT {
            return self.write(line, waiter);
        }
        self.ready.extend(line);
        Ok(())
    }

    /// Writes what was added. `Some` is why nothing more can be printed; what was added since
    /// the last flush has then perhaps not been seen by anyone.
    ///
    /// # Errors
    ///
    /// As for [`Stdout::add`].
    pub fn flush(&mut self, waiter: &Waiter) -> io::Result<()> {
        let ready = std::mem::take(&mut self.ready);
        let written = self.write(&ready, waiter);
        self.ready = ready;
        self.ready.clear();
        written
    }

    /// Why nothing more can be printed.
    #[must_use]
    pub fn stop(&self) -> Option<Stop> {
        self.stop
    }

    fn write(&mut self, mut bytes: &[u8], waiter: &Waiter) -> io::Result<()> {
        let (mut patience, mut begun) = (None, false);
        while !bytes.is_empty() && self.stop.is_none() {
            match waiter.writable(patience)? {
                None => {}
                Some(Stop::Signal | Stop::ParentGone) if begun && patience.is_none() => {
                    patience = Some(PATIENCE);
                    continue;
                }
                stop => {
                    self.stop = stop;
                    break;
                }
            }
            match nix::unistd::write(STDOUT, &bytes[..bytes.len().min(LIMIT)]) {
                Ok(n) => (bytes, begun) = (&bytes[n..], true),
                Err(Errno::EPIPE) => self.stop = Some(Stop::ReaderGone),
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(err) => return Err(err.into()),
            }
        }
        Ok(())
    }
}

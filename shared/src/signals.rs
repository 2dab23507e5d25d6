//! Turns signals into readable bytes.

use std::{
    io,
    os::{
        fd::{AsRawFd as _, RawFd},
        unix::net::UnixStream,
    },
    sync::atomic::{AtomicI32, Ordering},
};

use nix::{
    errno::Errno,
    libc::{self, c_int},
    sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction},
};

const CLOSED: RawFd = -1;
static STOP: AtomicI32 = AtomicI32::new(CLOSED);
static CHILD: AtomicI32 = AtomicI32::new(CLOSED);

extern "C" fn on_signal(signal: c_int) {
    let saved = Errno::last_raw();
    let end = if signal == libc::SIGCHLD { &CHILD } else { &STOP };
    let fd = end.load(Ordering::Relaxed);
    // SAFETY: write(2) is async-signal-safe and the buffer outlives the call.
    // A full pipe or a closed end loses nothing: a byte is already waiting.
    #[expect(unsafe_code, reason = "no safe write fits in a handler")]
    let _ = unsafe { libc::write(fd, b"x".as_ptr().cast(), 1) };
    Errno::set_raw(saved);
}

/// Returns a stream that becomes readable at the first SIGTERM, SIGINT or SIGHUP, and stays so.
pub(crate) fn stop() -> io::Result<UnixStream> {
    catch(&STOP, &[Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP])
}

/// Returns a stream that becomes readable when a child has ended, for those who have to reap
/// children that they did not start.
///
/// # Errors
///
/// For want of descriptors.
pub fn child_ends() -> io::Result<UnixStream> {
    let reader = catch(&CHILD, &[Signal::SIGCHLD])?;
    reader.set_nonblocking(true)?;
    Ok(reader)
}

/// Handlers, unlike a blocked mask, are not inherited by children. Without `SA_RESTART` a blocked
/// call returns, so that nobody sleeps through the signal.
fn catch(end: &AtomicI32, signals: &[Signal]) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    writer.set_nonblocking(true)?;
    end.store(writer.as_raw_fd(), Ordering::Relaxed);
    // The handler may run until the process ends, so its end never closes.
    std::mem::forget(writer);

    let action = SigAction::new(SigHandler::Handler(on_signal), SaFlags::empty(), SigSet::empty());
    for signal in signals {
        // SAFETY: `on_signal` does only async-signal-safe work.
        #[expect(unsafe_code, reason = "nix marks every handler unsafe")]
        unsafe { sigaction(*signal, &action) }?;
    }
    Ok(reader)
}

//! One process for one listener.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    time::Duration,
};

use nix::{sys::signal::kill, unistd::Pid};
use shared::{
    exit::{Error, Reason},
    wait::Waiter,
};

/// How often the holder of a lock is asked for its name, and how long in between: it writes it
/// right after it has the lock.
const ASKS: usize = 100;
const BETWEEN: Duration = Duration::from_millis(5);

/// Takes the lock at `path` for the life of this process; it then holds our pid. The system frees
/// a dead holder's lock.
///
/// # Errors
///
/// Held by another process, which is named.
pub fn take(path: &Path, waiter: &Waiter) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = options.open(path).map_err(|err| Error::io("open", path, &err))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder = holder(path, waiter)
                .map_or("another process".to_owned(), |pid| format!("pid {pid}"));
            let message = format!("unable to lock {}: held by {holder}", path.display());
            return Err(Error::new(Reason::Runtime, "lock_held", message));
        }
        Err(TryLockError::Error(err)) => return Err(Error::io("lock", path, &err)),
    }
    let noted = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    // A full disk is no reason to leave mail lying; the lock holds without a name in it.
    if let Err(err) = noted {
        shared::exit::warn("collab-tail", &format!("unable to write {}: {err}", path.display()));
    }
    Ok(file)
}

/// The pid in the file, once it is that of a living process: an old one is left by the dead.
fn holder(path: &Path, waiter: &Waiter) -> Option<i32> {
    for _ in 0..ASKS {
        let text = fs::read_to_string(path).unwrap_or_default();
        let pid = text.trim().parse().ok().filter(|pid| *pid > 0);
        // EPERM: it lives, and belongs to somebody else.
        let lives =
            |pid: &i32| !matches!(kill(Pid::from_raw(*pid), None), Err(nix::errno::Errno::ESRCH));
        if let Some(pid) = pid.filter(lives) {
            return Some(pid);
        }
        if waiter.rest(BETWEEN).unwrap_or(true) {
            break;
        }
    }
    None
}

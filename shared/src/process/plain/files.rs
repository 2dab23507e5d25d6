//! Files without a name, and where files lie.

use std::{
    env,
    fs::{self, File, OpenOptions},
    io,
    os::{
        fd::{AsRawFd as _, BorrowedFd},
        unix::{fs::OpenOptionsExt as _, process::CommandExt as _},
    },
    path::{Path, PathBuf},
    process::Command,
};

use rustix::io::{FdFlags, fcntl_setfd};

use crate::process::random;

/// A file that only its descriptor names, and that is gone with it: one whose name is taken away
/// at once.
///
/// # Errors
///
/// Those of the file system.
pub fn nameless(name: &str) -> io::Result<File> {
    let path =
        env::temp_dir().join(format!("doorbell-{name}-{:032x}", u128::from_ne_bytes(random()?)));
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    fs::remove_file(path)?;
    Ok(file)
}

/// The path by which the child of `command` opens `file`, which has to stay open until then. The
/// child gets the descriptor, and nobody else does.
#[must_use]
pub fn lend(file: &File, command: &mut Command) -> PathBuf {
    let number = file.as_raw_fd();
    let keep = move || {
        // SAFETY: the file is open until the child has been made.
        #[expect(unsafe_code, reason = "a closure that outlives the file can't borrow from it")]
        let lent = unsafe { BorrowedFd::borrow_raw(number) };
        Ok(fcntl_setfd(lent, FdFlags::empty())?)
    };
    // SAFETY: a system call without memory of ours; the closure owns a number.
    #[expect(unsafe_code, reason = "std passes on no descriptors but the standard ones")]
    unsafe {
        command.pre_exec(keep);
    }
    format!("/dev/fd/{number}").into()
}

/// A nameless file, and the path by which this process alone opens it anew: there is no such path.
pub(crate) fn reopenable(_: &str) -> Option<(File, PathBuf)> {
    None
}

/// Whether `path` lies on a file system whose changes another machine can make without the kernel
/// telling us.
///
/// # Errors
///
/// Those of statfs(2).
pub fn is_remote(path: &Path) -> io::Result<bool> {
    Ok(!is_local(&rustix::fs::statfs(path)?))
}

#[cfg(target_vendor = "apple")]
fn is_local(found: &rustix::fs::StatFs) -> bool {
    found.f_flags & nix::libc::MNT_LOCAL.cast_unsigned() != 0
}

/// Not known here.
#[cfg(not(target_vendor = "apple"))]
fn is_local(_: &rustix::fs::StatFs) -> bool {
    true
}

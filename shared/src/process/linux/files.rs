//! Files without a name, and where files lie.

use std::{
    fs::File,
    io,
    os::fd::AsRawFd as _,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::fs::{MemfdFlags, memfd_create};

/// A file that only its descriptor names, and that is gone with it.
///
/// # Errors
///
/// For want of descriptors or memory.
pub fn nameless(name: &str) -> io::Result<File> {
    Ok(File::from(memfd_create(name, MemfdFlags::CLOEXEC)?))
}

/// The path by which the child of `command` opens `file`, which has to stay open until then.
#[must_use]
pub fn lend(file: &File, _command: &mut Command) -> PathBuf {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()).into()
}

/// Whether `path` lies on a file system whose changes another machine or a program can make
/// without the kernel telling us: NFS, SMB, 9P, FUSE, virtiofs.
///
/// # Errors
///
/// Those of statfs(2).
pub fn is_remote(path: &Path) -> io::Result<bool> {
    // The magic numbers of statfs(2): NFS, SMB, CIFS, SMB2, 9P, FUSE (virtiofs included), AFS, CEPH.
    const REMOTE: [u64; 8] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x0102_1997,
        0x6573_5546,
        0x5346_414f,
        0x00c3_6400,
    ];
    let magic = rustix::fs::statfs(path)?.f_type;
    Ok(u64::try_from(magic).is_ok_and(|magic| REMOTE.contains(&magic)))
}

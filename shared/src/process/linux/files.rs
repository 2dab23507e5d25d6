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

/// A nameless file, and the path by which this process alone opens it anew: none without /proc.
pub(crate) fn reopenable(name: &str) -> Option<(File, PathBuf)> {
    let file = nameless(name).ok()?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    path.exists().then_some((file, path))
}

/// Whether `path` lies on a file system whose changes another machine or a program can make
/// without the kernel telling us: NFS, SMB, 9P, FUSE, virtiofs.
///
/// # Errors
///
/// Those of statfs(2).
pub fn is_remote(path: &Path) -> io::Result<bool> {
    let magic = rustix::fs::statfs(path)?.f_type;
    Ok(u64::try_from(magic).is_ok_and(is_remote_kind))
}

/// By the magic numbers of statfs(2): NFS, SMB, CIFS, SMB2, 9P, FUSE (virtiofs included), AFS, CEPH.
fn is_remote_kind(magic: u64) -> bool {
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
    REMOTE.contains(&magic)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A watch on the first kind is accepted and never fires; the second needs no sweep beside it.
    #[test]
    fn a_folder_on_a_disk_of_ours_is_told_from_one_that_others_change() {
        // nfs, cifs, smb3, 9p, fuse and virtiofs
        for magic in [0x6969, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997, 0x6573_5546] {
            assert!(is_remote_kind(magic), "{magic:x}");
        }
        // ext4, xfs, btrfs, tmpfs (three less than 9p), overlay, zfs
        for magic in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1] {
            assert!(!is_remote_kind(magic), "{magic:x}");
        }
        assert!(!is_remote(Path::new("/proc")).unwrap());
        assert!(is_remote(Path::new("/no/such/folder")).is_err());
    }
}

//! Reading files that others write: bounded, never blocking, and told apart by their stamps.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::Path,
    time::Duration,
};

use nix::libc;

/// What tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Device and inode.
    pub file: (u64, u64),
    /// Size in bytes.
    pub size: u64,
    /// Nanoseconds since 1970 of the last change of the content.
    pub modified_ns: i128,
    /// Nanoseconds since 1970 of the last change of content, name or rights.
    pub changed_ns: i128,
}

impl Stamp {
    /// The stamp of `meta`.
    #[must_use]
    pub fn of(meta: &Metadata) -> Self {
        let ns = |secs: i64, nanos: i64| i128::from(secs) * 1_000_000_000 + i128::from(nanos);
        Self {
            file: (meta.dev(), meta.ino()),
            size: meta.size(),
            modified_ns: ns(meta.mtime(), meta.mtime_nsec()),
            changed_ns: ns(meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Whether a later write could leave this stamp as it is, because it was taken too soon after
    /// the change for the file system's clock: 20 ms, or 2 s where that keeps whole seconds.
    /// `wall_ns` is when it was taken.
    #[must_use]
    pub fn is_young(&self, wall_ns: i128) -> bool {
        let coarse = self.modified_ns % 1_000_000_000 == 0 && self.changed_ns % 1_000_000_000 == 0;
        let grain = if coarse { 2_000_000_000 } else { 20_000_000 };
        wall_ns < self.modified_ns.max(self.changed_ns) + grain
    }
}

/// A file's content and the stamp it had while it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// All its bytes.
    pub bytes: Vec<u8>,
    /// The stamp before and after.
    pub stamp: Stamp,
}

/// Why there is no content.
#[derive(Debug)]
pub enum Unread {
    /// There is no such file.
    Absent,
    /// It has more bytes than the limit.
    TooLarge,
    /// It isn't a regular file, or the system refuses.
    Unreadable(String),
    /// It kept changing while it was read; worth another try soon.
    Moving,
}

/// Opens a regular file for reading, through symbolic links. A FIFO or a device is refused
/// without waiting for it.
///
/// # Errors
///
/// [`Unread`], never `Moving` or `TooLarge`.
pub fn open(path: &Path) -> Result<(File, Metadata), Unread> {
    let opened = fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    let file = opened.map_err(refused)?;
    let meta = file.metadata().map_err(refused)?;
    if !meta.is_file() {
        return Err(Unread::Unreadable("not a regular file".to_owned()));
    }
    Ok((file, meta))
}

/// Reads a whole regular file of at most `limit` bytes, again if it moved meanwhile.
///
/// # Errors
///
/// [`Unread`].
pub fn read(path: &Path, limit: u64) -> Result<Content, Unread> {
    for _ in 0..3 {
        let (mut file, meta) = open(path)?;
        if meta.len() > limit {
            return Err(Unread::TooLarge);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(meta.len() + 1).unwrap_or(0));
        file.by_ref().take(limit + 1).read_to_end(&mut bytes).map_err(refused)?;
        let stamp = Stamp::of(&file.metadata().map_err(refused)?);
        let still = (stamp.size, stamp.modified_ns) == {
            let before = Stamp::of(&meta);
            (before.size, before.modified_ns)
        };
        if still && bytes.len() as u64 == stamp.size {
            return Ok(Content { bytes, stamp });
        }
    }
    Err(Unread::Moving)
}

/// The same, for who tells every failure but absence alike.
///
/// # Errors
///
/// What keeps it from being read.
pub fn read_if_there(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    match read(path, limit) {
        Ok(content) => Ok(Some(content.bytes)),
        Err(Unread::Absent) => Ok(None),
        Err(Unread::TooLarge) => Err(io::Error::other("too large")),
        Err(Unread::Unreadable(cause)) => Err(io::Error::other(cause)),
        Err(Unread::Moving) => Err(io::Error::other("it keeps changing")),
    }
}

fn refused(err: io::Error) -> Unread {
    match err.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Unread::Absent,
        _ => Unread::Unreadable(err.to_string()),
    }
}

/// When to try again a file that was empty, cut short or no JSON: its writer may be at work.
/// Only the last failure counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settling {
    tries: usize,
}

impl Settling {
    /// The waits between tries: a second in all.
    const WAITS_MS: [u64; 5] = [50, 100, 200, 400, 250];

    /// A try failed. The wait before the next, or `None` when it is a failure for good.
    pub fn failed(&mut self) -> Option<Duration> {
        let wait = Self::WAITS_MS.get(self.tries).copied();
        self.tries += 1;
        wait.map(Duration::from_millis)
    }

    /// A try worked, or the file is another one.
    pub fn settled(&mut self) {
        self.tries = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_read_and_nothing_waits() {
        let scene = tempfile::tempdir().unwrap();
        let path = |name: &str| scene.path().join(name);
        nix::unistd::mkfifo(&path("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        crate::cursor::replace(&path("file"), b"12345").unwrap();
        std::os::unix::fs::symlink("file", path("link")).unwrap();
        for name in ["fifo", "."] {
            assert!(matches!(read(&path(name), 10), Err(Unread::Unreadable(_))), "{name}");
        }
        for name in ["none", "file/none"] {
            assert!(matches!(read(&path(name), 10), Err(Unread::Absent)), "{name}");
        }
        assert_eq!(read(&path("link"), 5).unwrap().bytes, b"12345");
        assert!(matches!(read(&path("file"), 4), Err(Unread::TooLarge)));
    }

    #[test]
    fn a_stamp_is_young_until_the_clock_has_moved_on() {
        let stamp = |ns| Stamp { file: (1, 1), size: 1, modified_ns: ns, changed_ns: ns };
        let fine = stamp(5_000_000_001);
        assert!(fine.is_young(5_019_000_000) && !fine.is_young(5_021_000_000));
        let coarse = stamp(5_000_000_000);
        assert!(coarse.is_young(6_900_000_000) && !coarse.is_young(7_000_000_000));
    }

    #[test]
    fn settling_takes_a_second_in_all() {
        let mut settling = Settling::default();
        let waits: Vec<Duration> = std::iter::from_fn(|| settling.failed()).collect();
        assert_eq!(waits.iter().sum::<Duration>(), Duration::from_secs(1));
        assert_eq!(settling.failed(), None);
        settling.settled();
        assert!(settling.failed().is_some());
    }
}

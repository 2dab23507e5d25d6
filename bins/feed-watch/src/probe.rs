//! Looks at feeds without opening them.

use std::{fs, io, path::Path};

use shared::file::Stamp;

use crate::decide::{Seen, Version};

/// Looks at the feed at `path`, through symbolic links.
///
/// # Errors
///
/// One that is there, or may be, and can't be looked at.
pub fn look(path: &Path) -> io::Result<Seen> {
    match fs::metadata(path) {
        Ok(meta) => {
            let stamp = Stamp::of(&meta);
            let ns = |ns: i128| i64::try_from(ns).unwrap_or(i64::MAX);
            Ok(Some(Version {
                file: stamp.file,
                size: stamp.size,
                modified_ns: ns(stamp.modified_ns),
                changed_ns: ns(stamp.changed_ns),
            }))
        }
        Err(err)
            if matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(err) => Err(err),
    }
}

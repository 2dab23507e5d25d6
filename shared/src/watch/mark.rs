//! Proof of how far the system's notices were filed. They come in order: the notice of a file of
//! ours that is opened now comes after all that were due before.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use crate::process;

/// A file that nobody else can open.
#[derive(Debug)]
pub(super) struct Mark {
    path: PathBuf,
    /// It is gone with its descriptor.
    _file: File,
}

impl Mark {
    /// None where no path leads to such a file.
    pub(super) fn new() -> Option<Self> {
        let (file, path) = process::reopenable("mark")?;
        Some(Self { path, _file: file })
    }

    /// What to watch.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file.
    pub(super) fn leave(&self) -> io::Result<()> {
        File::open(&self.path).map(drop)
    }
}

//! Takes over the memory of the older tool: a file of hashes, and a size for each board.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use shared::{
    exit::{Error, Reason},
    file,
};

use crate::hash::Hash;

/// The most bytes of a file.
const LIMIT: u64 = 1 << 30;

/// What the older tool remembered of one listener.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Import {
    /// The hashes of what it told, of lines as they stand.
    pub hashes: Vec<Hash>,
    /// How much of a board it read, by the hash of the board's path.
    sizes: BTreeMap<Hash, u64>,
}

impl Import {
    /// Reads `dir`; nothing in it is changed.
    ///
    /// # Errors
    ///
    /// A missing folder is not found; a line that is no hash or no size is refused by name.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        if !dir.is_dir() {
            let message = format!("unable to import {}: no such folder", dir.display());
            return Err(Error::new(Reason::NotFound, "import_missing", message));
        }
        let mut import = Self::default();
        let seen = dir.join("seen.sha256");
        for (number, line) in (1..).zip(read(&seen)?.unwrap_or_default().lines()) {
            let hash = Hash::parse(line.as_bytes());
            import.hashes.push(hash.ok_or_else(|| bad(&seen, number, "64 hex digits"))?);
        }
        let sizes = dir.join("sizes");
        let entries = match fs::read_dir(&sizes) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(import),
            entries => entries.map_err(|err| Error::io("list", &sizes, &err))?,
        };
        for entry in entries {
            let path = entry.map_err(|err| Error::io("list", &sizes, &err))?.path();
            let Some(board) = path
                .file_name()
                .and_then(|name| name.as_bytes().strip_suffix(b".size"))
                .and_then(Hash::parse)
            else {
                continue;
            };
            let text = read(&path)?.unwrap_or_default();
            let digits = text.trim_end_matches('\n');
            let is_size = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            let size = is_size.then(|| digits.parse().ok()).flatten();
            import.sizes.insert(board, size.ok_or_else(|| bad(&path, 1, "a number of bytes"))?);
        }
        Ok(import)
    }

    /// How much the older tool read of the board that is given as `given` and lies at `path`.
    #[must_use]
    pub fn size_of(&self, given: &Path, path: &Path) -> Option<u64> {
        // It knew a board by the physical path of its folder, and the name as given.
        let folder = given.parent().and_then(|dir| dir.canonicalize().ok());
        let as_given: Option<PathBuf> =
            folder.zip(given.file_name()).map(|(dir, name)| dir.join(name));
        let known =
            |path: &Path| self.sizes.get(&Hash::of(&[path.as_os_str().as_bytes()])).copied();
        as_given.as_deref().and_then(known).or_else(|| known(path))
    }
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    let read = file::read_if_there(path, LIMIT).map_err(|err| Error::io("read", path, &err))?;
    // Anything but ASCII is refused with its line.
    Ok(read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn bad(path: &Path, number: usize, want: &str) -> Error {
    let message = format!("unable to import {}: line {number} is not {want}", path.display());
    Error::new(Reason::Runtime, "import_refused", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, text: &str) {
        shared::cursor::replace(path, text.as_bytes()).unwrap();
    }

    #[test]
    fn what_the_older_tool_knew_is_known() {
        let scene = tempfile::tempdir().unwrap();
        let dir = scene.path().canonicalize().unwrap();
        fs::create_dir(dir.join("sizes")).unwrap();
        let hash = Hash::of(&[b"a\r\n"]);
        put(&dir.join("seen.sha256"), &format!("{hash}\n"));
        let board = dir.join("board.md");
        let name = Hash::of(&[board.as_os_str().as_bytes()]);
        put(&dir.join(format!("sizes/{name}.size")), "123\n");
        let import = Import::read(&dir).unwrap();
        assert_eq!(import.hashes, [hash]);
        assert_eq!(import.size_of(&dir.join("sizes/../board.md"), &board), Some(123));
        assert_eq!(import.size_of(&dir.join("other.md"), &dir.join("other.md")), None);
    }

    #[test]
    fn what_is_no_memory_is_refused_by_name() {
        let scene = tempfile::tempdir().unwrap();
        let dir = scene.path();
        let missing = Import::read(&dir.join("none")).unwrap_err();
        assert_eq!(missing.reason(), Reason::NotFound);
        assert_eq!(Import::read(dir).unwrap(), Import::default());
        put(&dir.join("seen.sha256"), &format!("{}\nxyz\n", Hash::of(&[b"a"])));
        let err = Import::read(dir).unwrap_err().to_string();
        assert!(err.contains("seen.sha256: line 2"), "{err}");
        put(&dir.join("seen.sha256"), "");
        fs::create_dir(dir.join("sizes")).unwrap();
        for bad in ["", "-1", "1 2", "99999999999999999999"] {
            put(&dir.join(format!("sizes/{}.size", Hash::of(&[b"x"]))), bad);
            assert!(Import::read(dir).is_err(), "{bad}");
        }
    }
}

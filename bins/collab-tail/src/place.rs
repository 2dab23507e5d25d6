//! Where a board is: the file that a path leads to, or why there is none, and which folders tell
//! of its changes.

use std::{
    fs::{self, File, FileType},
    io,
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
};

use shared::file::{self, Stamp, Unread};

use crate::trouble::Trouble;

/// The most links that are followed.
const MOST_LINKS: usize = 40;

/// What a path leads to.
#[derive(Debug)]
pub enum Place {
    /// A regular file that can be read.
    File {
        /// Its canonical path.
        path: PathBuf,
        /// The file.
        file: File,
        /// What it is now.
        stamp: Stamp,
    },
    /// Something else, or nothing.
    None {
        /// The path, canonical as far as it exists.
        path: PathBuf,
        /// What is wrong.
        trouble: Trouble,
        /// The system's words, or what stands there.
        detail: String,
    },
}

/// Opens what `given` (absolute) leads to.
#[must_use]
pub fn open(given: &Path) -> Place {
    let none = |trouble, detail: String| Place::None { path: nearest(given), trouble, detail };
    let failed = |err: io::Error| {
        let absent = matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        let trouble = if absent { Trouble::TemporarilyAbsent } else { Trouble::ReadFailed };
        none(trouble, err.to_string())
    };
    match fs::metadata(given) {
        Err(err) => return failed(err),
        Ok(meta) if !meta.is_file() => {
            let detail = format!("{}, not a regular file", name_of(meta.file_type()));
            return none(Trouble::TemporarilyAbsent, detail);
        }
        Ok(_) => {}
    }
    let path = match given.canonicalize() {
        Ok(path) => path,
        Err(err) => return failed(err),
    };
    match file::open(&path) {
        Ok((file, meta)) => Place::File { path, file, stamp: Stamp::of(&meta) },
        Err(Unread::Absent) => none(Trouble::TemporarilyAbsent, "it is gone".to_owned()),
        Err(Unread::Unreadable(detail)) => none(Trouble::ReadFailed, detail),
        Err(Unread::TooLarge | Unread::Moving) => none(Trouble::ReadFailed, String::new()),
    }
}

fn is_device(kind: FileType) -> bool {
    kind.is_char_device() || kind.is_block_device()
}

fn name_of(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a FIFO",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

/// The canonical path of what isn't there: of its nearest parent that is, and the rest as given.
#[must_use]
pub fn nearest(given: &Path) -> PathBuf {
    let mut rest = Vec::new();
    for near in given.ancestors() {
        if let Ok(canonical) = near.canonicalize() {
            return rest.into_iter().rev().fold(canonical, |path, name| path.join(name));
        }
        rest.extend(near.file_name());
    }
    given.to_owned()
}

/// The folders whose changes concern the board: its own, and that of each link to it. A device's
/// folder tells of everybody's use of all devices, which would drown the rest.
#[must_use]
pub fn folders(given: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut at = given.to_owned();
    for _ in 0..MOST_LINKS {
        let Some(folder) = at.parent().map(Path::to_owned) else { break };
        if fs::symlink_metadata(&at).is_ok_and(|meta| is_device(meta.file_type())) {
            break;
        }
        let next = fs::read_link(&at).map(|target| folder.join(target));
        if !found.contains(&folder) {
            found.push(folder);
        }
        match next {
            Ok(next) => at = next,
            Err(_) => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn each_link_has_a_folder() {
        let scene = tempfile::tempdir().unwrap();
        let dir = scene.path();
        for name in ["a", "b", "c"] {
            fs::create_dir(dir.join(name)).unwrap();
        }
        symlink("../b/link", dir.join("a/link")).unwrap();
        symlink(dir.join("c/board"), dir.join("b/link")).unwrap();
        let want = [dir.join("a"), dir.join("a/../b"), dir.join("c")];
        assert_eq!(folders(&dir.join("a/link")), want);
        symlink("loop", dir.join("loop")).unwrap();
        assert_eq!(folders(&dir.join("loop")), [dir]);
        symlink("/dev/null", dir.join("device")).unwrap();
        assert_eq!(folders(&dir.join("device")), [dir]);
    }

    #[test]
    fn what_is_no_board_says_what_it_is() {
        let scene = tempfile::tempdir().unwrap();
        let dir = scene.path().canonicalize().unwrap();
        symlink("loop", dir.join("loop")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(dir.join("socket")).unwrap();
        for (name, want, words) in [
            ("none", Trouble::TemporarilyAbsent, "No such file"),
            ("none/deep", Trouble::TemporarilyAbsent, "No such file"),
            (".", Trouble::TemporarilyAbsent, "a folder"),
            ("socket", Trouble::TemporarilyAbsent, "a socket"),
            ("loop", Trouble::ReadFailed, "links"),
        ] {
            let Place::None { trouble, detail, .. } = open(&dir.join(name)) else {
                panic!("{name}")
            };
            assert_eq!(trouble, want, "{name}");
            assert!(detail.contains(words), "{name}: {detail}");
        }
        let Place::None { path, .. } = open(&dir.join("./x/../none")) else { panic!() };
        assert!(path.starts_with(&dir));
    }
}

//! `--cursor FILE`: what a program has said outlives its process.
//!
//! The file is written whole to a temporary name and renamed, 0600, and `FILE.lock` is locked for
//! as long as the program runs, so that two never share one memory.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    exit::{Error, Reason},
    file::{self, Unread},
};

/// The most bytes of a cursor file: far above what any program keeps.
const LIMIT: u64 = 64 << 20;

/// What a cursor file held at the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found<T> {
    /// There was no file, or no `--cursor`.
    Nothing,
    /// What this program remembered of this target.
    Known(T),
    /// Empty, cut short or no JSON: everything that stands is to be told.
    Broken,
}

/// An open cursor file.
#[derive(Debug)]
pub struct Cursor {
    path: PathBuf,
    program: &'static str,
    target: String,
    version: u32,
    flat: bool,
    saved: Vec<u8>,
    _lock: File,
}

#[derive(Serialize)]
struct Head<'a, T> {
    version: u32,
    program: &'a str,
    path: &'a str,
    memory: &'a T,
}

/// The same with the memory's keys beside ours.
#[derive(Serialize)]
struct FlatHead<'a, T> {
    version: u32,
    program: &'a str,
    path: &'a str,
    #[serde(flatten)]
    memory: &'a T,
}

#[derive(Deserialize)]
struct Read {
    version: u64,
    program: String,
    path: String,
    memory: Option<Box<serde_json::value::RawValue>>,
}

impl Cursor {
    /// Opens `path` for `program` watching `target`, at `version` of its memory.
    ///
    /// # Errors
    ///
    /// A file of another version, program or target, or one that another process holds, is
    /// refused and left as it is: to start afresh would repeat or skip events.
    pub fn open<T: DeserializeOwned>(
        path: &Path,
        program: &'static str,
        target: &str,
        version: u32,
    ) -> Result<(Self, Found<T>), Error> {
        if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
            made.map_err(|err| Error::io("make the folder", dir, &err))?;
        }
        let lock = hold(path)?;
        let (found, saved) = match file::read(path, LIMIT) {
            Ok(content) => (recall(&content.bytes, program, target, version), content.bytes),
            Err(Unread::Absent) => (Ok(Found::Nothing), Vec::new()),
            Err(Unread::TooLarge) => (Err("too large".to_owned()), Vec::new()),
            Err(Unread::Unreadable(cause)) => (Err(cause), Vec::new()),
            Err(Unread::Moving) => (Err("another process writes it".to_owned()), Vec::new()),
        };
        let found = found.map_err(|cause| refused(path, &cause))?;
        let cursor = Self {
            path: path.to_owned(),
            program,
            target: target.to_owned(),
            version,
            flat: false,
            saved,
            _lock: lock,
        };
        Ok((cursor, found))
    }

    /// Keeps the memory's keys beside `version`, `program` and `path` instead of below `memory`:
    /// for a memory that is a struct of few keys.
    #[must_use]
    pub fn flat(mut self) -> Self {
        self.flat = true;
        self
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names what is watched anew: a default folder may be found only after the start.
    pub fn set_target(&mut self, target: &str) {
        target.clone_into(&mut self.target);
    }

    /// Remembers `memory`, if it differs from what is remembered. To be called after the flush.
    ///
    /// # Errors
    ///
    /// Those of the file system; the old file is then as it was.
    pub fn save<T: Serialize>(&mut self, memory: &T) -> io::Result<()> {
        let Self { version, program, target: path, .. } = &*self;
        let (version, program) = (*version, *program);
        let mut bytes = if self.flat {
            serde_json::to_vec(&FlatHead { version, program, path, memory })?
        } else {
            serde_json::to_vec(&Head { version, program, path, memory })?
        };
        bytes.push(b'\n');
        if bytes != self.saved {
            replace(&self.path, &bytes)?;
            self.saved = bytes;
        }
        Ok(())
    }
}

fn recall<T: DeserializeOwned>(
    bytes: &[u8],
    program: &str,
    target: &str,
    version: u32,
) -> Result<Found<T>, String> {
    let Ok(value) = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).and(Ok(())) else {
        return Ok(Found::Broken);
    };
    let () = value;
    let head: Read =
        serde_json::from_slice(bytes).map_err(|_| "not a cursor of ours".to_owned())?;
    if head.program != program {
        return Err(format!("it belongs to {}", head.program));
    }
    if head.version != u64::from(version) {
        return Err(format!("its version is {}, this program reads {version}", head.version));
    }
    if head.path != target {
        return Err(format!("it remembers {}, not {target}", head.path));
    }
    let memory = head.memory.as_ref().map_or(bytes, |memory| memory.get().as_bytes());
    serde_json::from_slice(memory).map(Found::Known).map_err(|err| err.to_string())
}

/// Takes `PATH.lock`, which then holds our pid.
fn hold(path: &Path) -> Result<File, Error> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let lock = PathBuf::from(name);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = options.open(&lock).map_err(|err| Error::io("open", &lock, &err))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => {
            let holder = fs::read_to_string(&lock).unwrap_or_default();
            return Err(refused(path, &format!("process {} holds it", holder.trim())));
        }
        Err(fs::TryLockError::Error(err)) => return Err(Error::io("lock", &lock, &err)),
    }
    let noted = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    noted.map_err(|err| Error::io("write", &lock, &err))?;
    Ok(file)
}

fn refused(path: &Path, cause: &str) -> Error {
    let message = format!("unable to use the cursor {}: {cause}", path.display());
    Error::new(Reason::Runtime, "cursor_refused", message)
}

/// Replaces `path` in one step that survives a crash.
///
/// # Errors
///
/// Those of the file system; `path` is then as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(bytes))
}

/// The same for what is too large to be held at once: `write` gets the file.
///
/// # Errors
///
/// Those of `write`, too.
pub fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".tmp.{}", std::process::id()));
    let temporary = PathBuf::from(name);
    let written = write_synced(&temporary, write).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
        return written;
    }
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    File::open(dir.unwrap_or(Path::new(".")))?.sync_all()
}

fn write_synced(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    write(&mut file)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Opened = Result<(Cursor, Found<Vec<u32>>), Error>;

    fn open(path: &Path) -> Opened {
        Cursor::open(path, "gate-watch", "/p", 1)
    }

    #[test]
    fn what_was_saved_is_known() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("a/b/cursor");
        let (mut cursor, found) = open(&path).unwrap();
        assert_eq!(found, Found::Nothing);
        cursor.save(&vec![1, 2]).unwrap();
        drop(cursor);
        let (_cursor, found) = open(&path).unwrap();
        assert_eq!(found, Found::Known(vec![1, 2]));
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_flat_memory_stands_beside_the_head() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Memory {
            offset: u64,
        }
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("cursor");
        let open = || Cursor::open::<Memory>(&path, "event-tail", "/p", 1).unwrap();
        let mut cursor = open().0.flat();
        cursor.save(&Memory { offset: 7 }).unwrap();
        drop(cursor);
        let text = r#"{"version":1,"program":"event-tail","path":"/p","offset":7}"#;
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{text}\n"));
        assert_eq!(open().1, Found::Known(Memory { offset: 7 }));
    }

    #[test]
    fn another_program_target_or_version_is_refused_and_kept() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("cursor");
        for (program, target, version) in
            [("event-tail", "/p", 1), ("gate-watch", "/q", 1), ("gate-watch", "/p", 2)]
        {
            let text = format!(
                r#"{{"version":{version},"program":"{program}","path":"{target}","memory":[]}}"#
            );
            replace(&path, text.as_bytes()).unwrap();
            let err = open(&path).unwrap_err();
            assert_eq!((err.reason(), err.word()), (Reason::Runtime, "cursor_refused"));
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        replace(&path, b"{}").unwrap();
        assert!(open(&path).is_err());
    }

    #[test]
    fn a_broken_file_is_told_apart() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("cursor");
        for bytes in [&b""[..], b"{\"version\":1,\"pro", b"\0\0\0\0", b"\xff", b"{} {}"] {
            replace(&path, bytes).unwrap();
            assert_eq!(open(&path).unwrap().1, Found::Broken, "{bytes:?}");
        }
    }

    #[test]
    fn two_never_share_a_cursor() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("cursor");
        let held = open(&path).unwrap();
        let err = open(&path).unwrap_err().to_string();
        assert!(err.contains(&format!("process {} holds it", std::process::id())), "{err}");
        drop(held);
        open(&path).unwrap();
    }

    #[test]
    fn a_failed_save_leaves_the_old_file() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("d/cursor");
        let (mut cursor, _) = open(&path).unwrap();
        cursor.save(&vec![1]).unwrap();
        fs::rename(scene.path().join("d"), scene.path().join("e")).unwrap();
        assert!(cursor.save(&vec![2]).is_err());
        fs::rename(scene.path().join("e"), scene.path().join("d")).unwrap();
        cursor.save(&vec![2]).unwrap();
        assert_eq!(fs::read_dir(scene.path().join("d")).unwrap().count(), 2);
    }
}

//! A folder of its own for each test.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Mutex,
};

use tempfile::TempDir;

use crate::tmux::Tmux;

/// A fresh folder, removed with its content at the end of the test.
#[derive(Debug)]
pub struct Scene {
    // Ended before the folder goes, in which its socket is.
    held: Mutex<Vec<Tmux>>,
    dir: TempDir,
}

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}

impl Scene {
    /// Makes an empty folder that others may enter, for programs run as another user.
    #[must_use]
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("doorbell-").tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Self { held: Mutex::default(), dir }
    }

    /// Holds a tmux server until the end of the test.
    pub fn hold(&self, tmux: Tmux) {
        self.held.lock().unwrap().push(tmux);
    }

    /// The folder, canonical.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// A path below it.
    #[must_use]
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// Makes a folder below it, and its parents.
    #[must_use]
    pub fn dir(&self, name: &str) -> PathBuf {
        let dir = self.join(name);
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    /// Writes a file in place, as editors do.
    #[expect(clippy::disallowed_methods, reason = "fixtures need no atomic write")]
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.join(name), text).unwrap();
    }

    /// Replaces a file by renaming a temporary one in the same folder, as the state's writers do.
    #[expect(clippy::disallowed_methods, reason = "this is the atomic write")]
    pub fn replace(&self, name: &str, text: impl AsRef<[u8]>) {
        let temporary = self.join(format!("{name}.tmp"));
        fs::write(&temporary, text).unwrap();
        fs::rename(temporary, self.join(name)).unwrap();
    }

    /// Appends to a file in one write.
    pub fn append(&self, name: &str, text: impl AsRef<[u8]>) {
        use std::io::Write as _;
        let mut options = fs::OpenOptions::new();
        let mut file = options.append(true).create(true).open(self.join(name)).unwrap();
        file.write_all(text.as_ref()).unwrap();
    }

    /// A copy of a program, which any user may run. Another process makes it: what this one holds
    /// open for writing, a child that another test just starts holds too, and as long as anybody
    /// does it can't be run.
    #[must_use]
    pub fn copy_of(&self, exe: &str) -> PathBuf {
        let copy = self.join(Path::new(exe).file_name().unwrap());
        assert!(crate::command("cp").arg(exe).arg(&copy).status().unwrap().success());
        copy
    }

    /// Every path below the folder with size, mode, mtime and content's length: equal before and
    /// after a run that wrote nothing.
    #[must_use]
    pub fn tree(&self) -> Vec<String> {
        use std::os::unix::fs::MetadataExt as _;
        let (mut found, mut open) = (Vec::new(), vec![self.path()]);
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
                let (path, meta) = (entry.path(), entry.metadata().unwrap());
                let (size, mode) = (meta.size(), meta.mode());
                let changed = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
                found.push(format!("{} {size} {mode:o} {changed:?}", path.display()));
                if meta.is_dir() {
                    open.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

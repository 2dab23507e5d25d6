//! What a fetch that ended half way leaves among the objects.
//!
//! Git takes its locks away when it is asked to end, but not the pack of which a part came: a
//! remote that is too slow would make the repository larger with each try.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use shared::{clock, wait};

/// How git's name for a pack begins that isn't whole yet.
const PARTIAL: &[u8] = b"tmp_pack_";
/// How long what was killed may take to let go of its files.
const PATIENCE: Duration = Duration::from_millis(300);

/// The folder of packs, and which of them were not whole before a fetch.
#[derive(Debug)]
pub struct Packs {
    folder: PathBuf,
    before: BTreeSet<OsString>,
}

impl Packs {
    /// Takes note of what is in `objects` before a fetch.
    #[must_use]
    pub fn before(objects: &Path) -> Self {
        let folder = objects.join("pack");
        // As the system names what is open.
        let folder = folder.canonicalize().unwrap_or(folder);
        let before = partial(&folder).unwrap_or_default();
        Self { folder, before }
    }

    /// Removes what came since and was left. What somebody holds open is theirs: a fetch of the
    /// user's own may run beside ours. Where that can't be known, everything stays.
    pub fn sweep(&self) {
        let found = partial(&self.folder).unwrap_or_default();
        let mut left: Vec<PathBuf> =
            found.difference(&self.before).map(|name| self.folder.join(name)).collect();
        let due = clock::monotonic() + PATIENCE;
        while !left.is_empty() {
            let Ok(theirs) = held(&left) else { return };
            for path in left.iter().filter(|path| !theirs.contains(path)) {
                // Gone or not, nothing depends on it.
                let _ = fs::remove_file(path);
            }
            left = theirs;
            let now = clock::monotonic();
            if now >= due || wait::until(now + Duration::from_millis(10)).is_err() {
                return;
            }
        }
    }
}

/// The names of the packs in `folder` that aren't whole.
fn partial(folder: &Path) -> io::Result<BTreeSet<OsString>> {
    let names = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.file_name()));
    Ok(names.filter(|name| name.as_encoded_bytes().starts_with(PARTIAL)).collect())
}

/// Those of `paths` that a process holds open, or that belong to another user, whose processes
/// can't be looked into.
fn held(paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let user = fs::metadata("/proc/self")?.uid();
    let is_ours = |path: &Path| fs::metadata(path).is_ok_and(|meta| meta.uid() == user);
    let mut held: BTreeSet<&PathBuf> = paths.iter().filter(|path| !is_ours(path)).collect();
    for process in fs::read_dir("/proc")?.filter_map(Result::ok) {
        let Ok(files) = fs::read_dir(process.path().join("fd")) else { continue };
        let open = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        let open: BTreeSet<PathBuf> = open.collect();
        held.extend(paths.iter().filter(|path| open.contains(*path)));
    }
    Ok(held.into_iter().cloned().collect())
}

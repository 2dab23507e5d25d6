//! Which folder holds the state that the orchestration monitors watch.

use std::{
    env, fs, io,
    path::{Path, PathBuf, absolute},
};

use crate::exit::Error;

/// The folder tried when none is given.
pub const DEFAULT: &str = ".agent-atelier";

/// The state folder: given, or found.
///
/// One that was given is taken as it is. The default is tried in the current folder; only if it
/// is absent there, in the main work tree of the git repository one stands in. Until one of the
/// two exists, each call of [`Folder::resolve`] tries both, the nearer first; then the choice
/// stands. No git is run.
#[derive(Debug, Clone)]
pub struct Folder {
    near: PathBuf,
    main_tree: Option<PathBuf>,
}

impl Folder {
    /// `given` is the value of `--state-dir`.
    ///
    /// # Errors
    ///
    /// When there is no current folder.
    pub fn new(given: Option<&Path>) -> io::Result<Self> {
        let near = absolute(given.unwrap_or(Path::new(DEFAULT)))?;
        let main_tree = match given {
            Some(_) => None,
            None => main_work_tree(&env::current_dir()?).map(|tree| tree.join(DEFAULT)),
        };
        Ok(Self { main_tree: main_tree.filter(|tree| *tree != near), near })
    }

    /// Settles the choice, if it can be. True when that fell on the main work tree just now,
    /// which is worth a warning.
    pub fn resolve(&mut self) -> bool {
        if self.near.is_dir() {
            self.main_tree = None;
        }
        let Some(tree) = self.main_tree.take_if(|tree| tree.is_dir()) else { return false };
        self.near = tree;
        true
    }

    /// The folder: the choice, or the nearer one until there is a choice. Absolute.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.near
    }

    /// The folders to watch for the choice: both, until it stands.
    #[must_use]
    pub fn candidates(&self) -> Vec<PathBuf> {
        [Some(self.near.clone()), self.main_tree.clone()].into_iter().flatten().collect()
    }

    /// Refuses a file of ours that would lie in what is watched, or among git's own files.
    ///
    /// # Errors
    ///
    /// A usage error.
    pub fn keep_out(&self, file: &Path) -> Result<(), Error> {
        let path = canonical(&absolute(file).map_err(|err| Error::io("find", file, &err))?);
        let watched = self.candidates().iter().any(|dir| path.starts_with(canonical(dir)));
        let place = match path.components().any(|part| part.as_os_str() == ".git") {
            _ if watched => "the folder that is watched",
            true => "a git folder",
            false => return Ok(()),
        };
        let message = format!("unable to use {}: it lies in {place}", file.display());
        Err(Error::usage(message))
    }

    /// The canonical path, as part of every `id`. What doesn't exist yet is taken as it is
    /// written.
    #[must_use]
    pub fn canonical(&self) -> String {
        canonical(&self.near).to_string_lossy().into_owned()
    }
}

/// `path` with its links resolved, as far as it exists.
#[must_use]
pub fn canonical(path: &Path) -> PathBuf {
    for near in path.ancestors() {
        if let Ok(real) = near.canonicalize() {
            return path.strip_prefix(near).map_or(real.clone(), |rest| {
                if rest.as_os_str().is_empty() { real.clone() } else { real.join(rest) }
            });
        }
    }
    path.to_owned()
}

/// The main work tree, seen from a linked one: the parent of a common folder named `.git`.
fn main_work_tree(from: &Path) -> Option<PathBuf> {
    let dot_git = from.ancestors().map(|dir| dir.join(".git")).find(|path| path.exists())?;
    if dot_git.is_dir() {
        return None;
    }
    let git_dir = pointed(&dot_git, "gitdir:")?;
    let common = pointed(&git_dir.join("commondir"), "")?;
    let common = common.canonicalize().ok()?;
    common
        .file_name()
        .is_some_and(|name| name == ".git")
        .then(|| common.parent().map(Path::to_owned))?
}

/// The path that a file of git's names after `label`, relative to the file's folder.
fn pointed(file: &Path, label: &str) -> Option<PathBuf> {
    let text = fs::read_to_string(file).ok()?;
    let path = text.lines().next()?.strip_prefix(label)?.trim();
    Some(file.parent()?.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A main work tree and a linked one, as git lays them out.
    fn trees() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let scene = tempfile::tempdir().unwrap();
        let root = scene.path().canonicalize().unwrap();
        let (main, linked) = (root.join("main"), root.join("linked"));
        let git_dir = main.join(".git/worktrees/linked");
        fs::create_dir_all(&git_dir).unwrap();
        fs::create_dir_all(linked.join("sub")).unwrap();
        let put =
            |path: PathBuf, text: String| crate::cursor::replace(&path, text.as_bytes()).unwrap();
        put(linked.join(".git"), format!("gitdir: {}\n", git_dir.display()));
        put(git_dir.join("commondir"), "../..\n".to_owned());
        (scene, main, linked)
    }

    #[test]
    fn a_linked_work_tree_leads_to_the_main_one() {
        let (_scene, main, linked) = trees();
        assert_eq!(main_work_tree(&linked), Some(main.clone()));
        assert_eq!(main_work_tree(&linked.join("sub")), Some(main.clone()));
        assert_eq!(main_work_tree(&main), None);
    }

    #[test]
    fn the_nearer_folder_wins_and_the_choice_stands() {
        let (_scene, main, linked) = trees();
        let (near, far) = (linked.join(DEFAULT), main.join(DEFAULT));
        let mut folder = Folder { near: near.clone(), main_tree: Some(far.clone()) };
        assert!(!folder.resolve());
        assert_eq!(folder.candidates(), [near.clone(), far.clone()]);
        fs::create_dir(&far).unwrap();
        assert!(folder.resolve());
        fs::create_dir(&near).unwrap();
        assert!(!folder.resolve());
        assert_eq!(folder.candidates(), [far]);

        let mut folder = Folder { near: near.clone(), main_tree: Some(main.join(DEFAULT)) };
        assert!(!folder.resolve());
        assert_eq!(folder.candidates(), [near]);
    }

    #[test]
    fn a_path_is_canonical_as_far_as_it_exists() {
        let scene = tempfile::tempdir().unwrap();
        let real = scene.path().canonicalize().unwrap().join("real");
        fs::create_dir(&real).unwrap();
        let link = scene.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(canonical(&link), real);
        assert_eq!(canonical(&link.join("a/b")), real.join("a/b"));
    }
}

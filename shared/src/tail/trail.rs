//! Which files had a name, and where they went: from the changes in a folder.

use std::{
    fs::{self, File},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use crate::{file, watch::Change};

/// Files that left the name by being renamed, in order, followed to their last name.
#[derive(Debug, Default)]
pub(super) struct Trail {
    left: Vec<Left>,
    departed: bool,
    /// Whether the departure of the file that was being read is among those seen.
    held_left: bool,
}

/// A file that had the name.
#[derive(Debug)]
pub(super) struct Left {
    path: PathBuf,
    removed: bool,
    /// Whether its path is another since the file was opened.
    moved: bool,
    /// Whether it is, by all we know, the one that was being read when it left.
    pub(super) is_held: bool,
    /// The file, once it was opened.
    pub(super) file: Option<File>,
}

impl Trail {
    /// Whether nobody left by being renamed.
    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// How many left by being renamed.
    pub(super) fn len(&self) -> usize {
        self.left.len()
    }

    /// Whether the file at the name went away, as opposed to one put into its place.
    pub(super) fn has_departed(&self) -> bool {
        self.departed
    }

    /// Says whether the file now being read is away from the name.
    pub(super) fn set_departed(&mut self, departed: bool) {
        self.departed = departed;
        self.held_left = departed;
    }

    /// Follows `changes`, of files at one of `names` and of those that left.
    pub(super) fn note(&mut self, changes: &[Change], names: &[PathBuf]) {
        for (at, change) in changes.iter().enumerate() {
            match change {
                Change::Touched(_) => {}
                Change::Removed(path) if is_half(path, &changes[at + 1..]) => {}
                Change::Removed(path) => self.removed(path, names),
                Change::Renamed { from, to } if from == to => {}
                Change::Renamed { from, to } => self.renamed(from, to, names),
            }
        }
    }

    fn removed(&mut self, path: &Path, names: &[PathBuf]) {
        for left in self.left.iter_mut().filter(|left| left.path == path) {
            (left.removed, left.moved) = (true, true);
        }
        if names.iter().any(|name| name == path) {
            self.set_departed(true);
        }
    }

    fn renamed(&mut self, from: &Path, to: &Path, names: &[PathBuf]) {
        for left in self.left.iter_mut().filter(|left| left.path == to) {
            (left.removed, left.moved) = (true, true);
        }
        // Several can have had one path; the last of them has it still.
        if let Some(left) = self.left.iter_mut().rev().find(|left| left.path == from) {
            to.clone_into(&mut left.path);
            (left.removed, left.moved) = (false, true);
        }
        if names.iter().any(|name| name == from) {
            let (path, is_held) = (to.to_owned(), !self.held_left);
            self.left.push(Left { path, removed: false, moved: true, is_held, file: None });
            self.set_departed(true);
        }
    }

    /// Opens the first `most` of those that left, by their last names. One that moved since it
    /// was opened may be another file than the one that was opened, and is opened again. True
    /// when any was opened.
    pub(super) fn open(&mut self, most: usize) -> bool {
        let mut opened = false;
        for left in self.left.iter_mut().take(most) {
            if std::mem::take(&mut left.moved) && !left.is_right() {
                let found = (!left.removed).then(|| file::open(&left.path).ok()).flatten();
                opened |= found.is_some();
                left.file = found.map(|(file, _)| file);
            }
        }
        opened
    }

    /// Takes the first `most` of those that left.
    pub(super) fn take(&mut self, most: usize) -> Vec<Left> {
        self.left.drain(..most.min(self.left.len())).collect()
    }
}

impl Left {
    /// Whether what was opened is what the path says, or was removed as it says.
    fn is_right(&self) -> bool {
        let Some(held) = self.file.as_ref().and_then(|file| file.metadata().ok()) else {
            return false;
        };
        let at_path = fs::metadata(&self.path).map(|meta| (meta.dev(), meta.ino())).ok();
        at_path == Some((held.dev(), held.ino())) || (self.removed && held.nlink() == 0)
    }
}

/// Whether a removal is the first half of a rename, which then follows at once.
fn is_half(path: &Path, next: &[Change]) -> bool {
    let mut next = next.iter().take(2);
    next.any(|change| matches!(change, Change::Renamed { from, .. } if from == path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(path: &str) -> Change {
        Change::Removed(path.into())
    }

    fn renamed(from: &str, to: &str) -> [Change; 3] {
        let (from, to) = (PathBuf::from(from), PathBuf::from(to));
        [Change::Removed(from.clone()), Change::Touched(to.clone()), Change::Renamed { from, to }]
    }

    fn followed(changes: &[Change]) -> (Vec<(String, bool)>, bool) {
        let mut trail = Trail::default();
        trail.note(changes, &["/n".into()]);
        let left = trail.left.iter().map(|left| (left.path.display().to_string(), left.removed));
        (left.collect(), trail.departed)
    }

    #[test]
    fn files_are_followed_to_their_last_name() {
        let changes = [
            renamed("/n.1", "/n.2"),
            renamed("/n", "/n.1"),
            renamed("/n.2", "/n.3"),
            renamed("/n.1", "/n.2"),
            renamed("/n", "/n.1"),
        ]
        .concat();
        let (left, departed) = followed(&changes);
        assert_eq!(left, [("/n.2".to_owned(), false), ("/n.1".to_owned(), false)]);
        assert!(departed);
    }

    #[test]
    fn what_is_deleted_or_overwritten_is_gone() {
        let deleted = [&renamed("/n", "/a")[..], &[removed("/a")]].concat();
        assert_eq!(followed(&deleted).0, [("/a".to_owned(), true)]);
        let overwritten = [renamed("/n", "/a"), renamed("/x", "/a")].concat();
        assert_eq!(followed(&overwritten).0, [("/a".to_owned(), true)]);
        let the_same_name = [renamed("/n", "/a"), renamed("/n", "/a")].concat();
        assert_eq!(followed(&the_same_name).0, [("/a".to_owned(), true), ("/a".to_owned(), false)]);
    }

    #[test]
    fn a_file_put_in_place_of_another_is_no_departure() {
        assert_eq!(followed(&renamed("/tmp", "/n")), (Vec::new(), false));
        assert_eq!(followed(&[removed("/n")]), (Vec::new(), true));
        assert_eq!(followed(&renamed("/x", "/y")), (Vec::new(), false));
    }
}

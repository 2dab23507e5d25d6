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

    /// Whether the file at the name went away, as opposed to one put into its place.
    pub(super) fn has_departed(&self) -> bool {
        self.departed
    }

    /// Says whether the file now being read is away from the name.
    pub(super) fn set_departed(&mut self, departed: bool) {
        self.departed = departed;
        self.held_left = departed;
    }

    /// Follows `changes`, of files at one of `names` and of those that left. True when any of
    /// these moved.
    pub(super) fn note(&mut self, changes: &[Change], names: &[PathBuf]) -> bool {
        let mut moved = false;
        for (at, change) in changes.iter().enumerate() {
            moved |= match change {
                Change::Touched(_) => false,
                Change::Removed(path) if is_half(path, &changes[at + 1..]) => false,
                Change::Removed(path) => self.removed(path, names),
                Change::Renamed { from, to } => self.renamed(from, to, names),
            };
        }
        moved
    }

    fn removed(&mut self, path: &Path, names: &[PathBuf]) -> bool {
        let mut moved = false;
        for left in self.left.iter_mut().filter(|left| left.path == path) {
            left.removed = true;
            moved = true;
        }
        if names.iter().any(|name| name == path) {
            moved |= !self.departed;
            self.set_departed(true);
        }
        moved
    }

    fn renamed(&mut self, from: &Path, to: &Path, names: &[PathBuf]) -> bool {
        if from == to {
            return false;
        }
        let mut moved = false;
        // Several can have had one path; the last of them has it still.
        for left in self.left.iter_mut().filter(|left| left.path == to) {
            left.removed = true;
            moved = true;
        }
        if let Some(left) = self.left.iter_mut().rev().find(|left| left.path == from) {
            to.clone_into(&mut left.path);
            left.removed = false;
            moved = true;
        }
        if names.iter().any(|name| name == from) {
            let is_held = !self.held_left;
            self.left.push(Left { path: to.to_owned(), removed: false, is_held, file: None });
            self.set_departed(true);
            moved = true;
        }
        moved
    }

    /// Opens the first `most` of those that left, unless they are open and still what their path
    /// says.
    pub(super) fn open(&mut self, most: usize) {
        for left in self.left.iter_mut().take(most) {
            let at_path = fs::metadata(&left.path).map(|meta| (meta.dev(), meta.ino())).ok();
            let held = left.file.as_ref().and_then(|file| file.metadata().ok());
            let is_right = held.is_some_and(|meta| {
                at_path == Some((meta.dev(), meta.ino())) || (left.removed && meta.nlink() == 0)
            });
            if !is_right {
                let opened = (!left.removed).then(|| file::open(&left.path).ok()).flatten();
                left.file = opened.map(|(file, _)| file);
            }
        }
    }

    /// Takes the first `most` of those that left.
    pub(super) fn take(&mut self, most: usize) -> Vec<Left> {
        self.left.drain(..most.min(self.left.len())).collect()
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

//! A name on a real disk, and the changes that the system would tell of.

use std::{
    fs::{self, File, OpenOptions},
    io::Write as _,
};

use super::*;

/// A name that is followed. Its changes are noted by hand, as the system tells them.
struct Scene {
    dir: tempfile::TempDir,
    tail: Tail,
    now: Duration,
    changes: Vec<Change>,
}

impl Scene {
    fn new(start: Start) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let tail = Tail::new(dir.path().join("n"), start, 100);
        Self { dir, tail, now: Duration::ZERO, changes: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn append(&self, name: &str, text: &str) {
        let mut options = OpenOptions::new();
        let mut file = options.append(true).create(true).open(self.path(name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn truncate(&self, text: &str) {
        File::create(self.path("n")).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn rename(&mut self, from: &str, to: &str) {
        let (from, to) = (self.path(from), self.path(to));
        fs::rename(&from, &to).unwrap();
        self.changes.push(Change::Removed(from.clone()));
        self.changes.push(Change::Touched(to.clone()));
        self.changes.push(Change::Renamed { from, to });
    }

    fn remove(&mut self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
        self.changes.push(Change::Removed(self.path(name)));
    }

    /// A look and all that it gives; the changes are told before it or while it goes on.
    fn look_with(&mut self, late: bool) -> (Name, Vec<String>) {
        let mut list = std::mem::take(&mut self.changes);
        let mut late = if late { std::mem::take(&mut list) } else { Vec::new() };
        let changes = Changes { list, overflowed: false };
        let name = self.tail.look(&changes, self.now, || std::mem::take(&mut late));
        let mut seen = Vec::new();
        while let Some(piece) = self.tail.piece() {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            match piece {
                Piece::Lines { bytes, .. } => {
                    seen.extend(text(bytes).lines().map(str::to_owned));
                }
                Piece::TooLong { offset, bytes } => seen.push(format!("long {offset}+{bytes}")),
                Piece::Nuls { bytes } => seen.push(format!("nuls {bytes}")),
                Piece::Unended { offset, bytes } => {
                    seen.push(format!("unended {offset} {}", text(bytes)));
                }
                Piece::Reset(Reset { why, previous_offset, size, .. }) => {
                    seen.push(format!("{why:?} {previous_offset} {size}"));
                }
            }
        }
        (name, seen)
    }

    fn look(&mut self) -> Vec<String> {
        self.look_with(false).1
    }
}

#[test]
fn what_is_appended_comes_once_and_whole() {
    let mut scene = Scene::new(Start::Lines(0));
    scene.append("n", "old\nha");
    assert_eq!(scene.look(), [""; 0]);
    scene.append("n", "lf\na\nb");
    assert_eq!(scene.look(), ["half", "a"]);
    assert_eq!(scene.look(), [""; 0]);
    scene.append("n", "\n");
    assert_eq!(scene.look(), ["b"]);
    scene.append("n", &format!("{}\nc\n", "x".repeat(101)));
    assert_eq!(scene.look(), ["long 13+102", "c"]);
}

#[test]
fn the_start_is_where_it_was_asked_for() {
    for (start, expected) in [
        (Start::Beginning, vec!["a", "", "b"]),
        (Start::Lines(0), vec![]),
        (Start::Lines(2), vec!["", "b"]),
        (Start::Lines(3), vec!["a", "", "b"]),
        (Start::Lines(9), vec!["a", "", "b"]),
        (Start::Unknown, vec!["MarkLost 0 6", "a", "", "b"]),
    ] {
        let mut scene = Scene::new(start.clone());
        scene.append("n", "a\n\nb\nc");
        assert_eq!(scene.look(), expected, "{start:?}");
    }
}

#[test]
fn what_appears_later_is_read_from_its_beginning() {
    let mut scene = Scene::new(Start::Lines(0));
    assert_eq!(scene.look_with(false), (Name::Absent, vec![]));
    scene.append("n", "a\n");
    assert_eq!(scene.look_with(false), (Name::There, vec!["a".to_owned()]));
}

#[test]
fn a_mark_is_found_again_in_its_file_or_a_copy_and_nowhere_else() {
    let mut scene = Scene::new(Start::Beginning);
    scene.append("n", "a\nb\nhalf");
    assert_eq!(scene.look(), ["a", "b"]);
    let mark = scene.tail.mark().unwrap();
    assert_eq!(mark.offset, 4);
    let restart = |scene: &mut Scene| {
        scene.tail = Tail::new(scene.path("n"), Start::Mark(mark.clone()), 100);
        scene.look()
    };
    scene.append("n", "\nc\n");
    assert_eq!(restart(&mut scene), ["half", "c"]);
    // The first file stays, so that its inode isn't given to another.
    fs::rename(scene.path("n"), scene.path("first")).unwrap();
    fs::copy(scene.path("first"), scene.path("n")).unwrap();
    assert_eq!(restart(&mut scene), ["half", "c"]);
    fs::rename(scene.path("n"), scene.path("kept")).unwrap();
    assert_eq!(restart(&mut scene), [""; 0]);
    assert_eq!(scene.tail.mark(), Some(mark.clone()));
    scene.append("n", "x\n");
    assert_eq!(scene.look(), ["RotatedAway 4 2", "x"]);
}

#[test]
fn a_file_that_is_cut_or_rewritten_begins_again() {
    let mut scene = Scene::new(Start::Beginning);
    scene.append("n", "aaaa\nbb");
    assert_eq!(scene.look(), ["aaaa"]);
    scene.truncate("c\n");
    assert_eq!(scene.look(), ["Truncated 5 2", "c"]);
    scene.truncate("d\ne\nf\n");
    assert_eq!(scene.look(), ["Rewritten 2 6", "d", "e", "f"]);
    scene.truncate("d\ne\ng\n");
    assert_eq!(scene.look(), ["Rewritten 6 6", "d", "e", "g"]);
    scene.truncate("\0\0\0h\n");
    assert_eq!(scene.look(), ["Truncated 6 5", "nuls 3", "h"]);
}

#[test]
fn the_old_file_is_read_to_its_end_and_for_a_second_more() {
    let mut scene = Scene::new(Start::Beginning);
    scene.append("n", "a\n");
    assert_eq!(scene.look(), ["a"]);
    scene.append("n", "b\nha");
    scene.rename("n", "o");
    scene.append("n", "c\n");
    assert_eq!(scene.look(), ["b", "c"]);
    assert_eq!(scene.tail.due(), Some(Duration::from_secs(1)));
    scene.append("o", "lf\n{}");
    scene.now = Duration::from_millis(999);
    assert_eq!(scene.look(), ["half"]);
    scene.now = Duration::from_secs(1);
    assert_eq!(scene.look(), ["unended 9 {}"]);
    assert_eq!(scene.tail.due(), None);
    scene.append("o", "\nlost\n");
    scene.append("n", "d\n");
    assert_eq!(scene.look(), ["d"]);
}

#[test]
fn files_that_had_the_name_in_between_are_read_in_order() {
    for late in [false, true] {
        let mut scene = Scene::new(Start::Beginning);
        scene.append("n", "a\n");
        assert_eq!(scene.look(), ["a"]);
        scene.append("n", "b\n");
        scene.rename("n", "n.1");
        scene.append("n", "c\n");
        scene.rename("n.1", "n.2");
        scene.rename("n", "n.1");
        scene.append("n", "d\n");
        assert_eq!(scene.look_with(late).1, ["b", "c", "d"], "{late}");
        scene.append("n", "e\n");
        assert_eq!(scene.look(), ["e"]);
    }
}

#[test]
fn one_that_is_gone_is_told_before_the_next() {
    let mut scene = Scene::new(Start::Beginning);
    scene.append("n", "a\n");
    assert_eq!(scene.look(), ["a"]);
    scene.rename("n", "o");
    scene.remove("o");
    scene.append("n", "b\n");
    assert_eq!(scene.look(), ["b"], "the one that was held is not missed");
    scene.rename("n", "o");
    scene.append("n", "lost\n");
    scene.rename("n", "p");
    scene.remove("p");
    scene.append("n", "c\n");
    assert_eq!(scene.look(), ["RotatedAway 2 2", "c"]);
}

#[test]
fn one_that_comes_back_goes_on_where_it_was() {
    let mut scene = Scene::new(Start::Beginning);
    scene.append("n", "a\n");
    assert_eq!(scene.look(), ["a"]);
    scene.rename("n", "o");
    assert_eq!(scene.look(), [""; 0]);
    scene.now = Duration::from_mins(1);
    scene.append("o", "b\n");
    assert_eq!(scene.look(), ["b"]);
    scene.rename("o", "n");
    scene.append("n", "c\n");
    assert_eq!(scene.look(), ["c"]);

    scene.rename("n", "o");
    scene.append("n", "between\n");
    scene.rename("n", "p");
    scene.rename("o", "n");
    scene.append("n", "d\n");
    let mut seen = scene.look();
    seen.sort();
    assert_eq!(seen, ["between", "d"]);
    scene.now = Duration::from_mins(2);
    assert_eq!(scene.look(), [""; 0]);
    scene.append("n", "e\n");
    assert_eq!(scene.look(), ["e"]);
    assert_eq!(scene.look(), [""; 0]);
}

#[test]
fn a_replacement_goes_on_and_a_file_made_anew_begins() {
    let mut scene = Scene::new(Start::Beginning);
    scene.append("n", "a\n");
    assert_eq!(scene.look(), ["a"]);
    scene.append("tmp", "a\nb\n");
    scene.rename("tmp", "n");
    assert_eq!(scene.look(), ["b"]);
    scene.remove("n");
    scene.append("n", "a\nb\nc\n");
    assert_eq!(scene.look(), ["a", "b", "c"]);
    scene.append("tmp", "x\n");
    scene.rename("tmp", "n");
    assert_eq!(scene.look(), ["x"]);
}

#[test]
fn many_files_are_read_in_several_looks_and_let_go() {
    let mut scene = Scene::new(Start::Beginning);
    scene.append("n", "0\n");
    assert_eq!(scene.look(), ["0"]);
    for n in 1..=200 {
        let name = format!("n.{n}");
        scene.rename("n", &name);
        scene.append("n", &format!("{n}\n"));
    }
    let mut seen = scene.look();
    while scene.tail.due() == Some(scene.now) {
        seen.extend(scene.look());
    }
    let expected: Vec<String> = (1..=200).map(|n| n.to_string()).collect();
    assert_eq!(seen, expected);
    assert!(scene.tail.old.len() <= 2 * MOST_FILES, "{}", scene.tail.old.len());
    scene.now = Duration::from_secs(2);
    while scene.tail.due().is_some() {
        assert_eq!(scene.look(), [""; 0]);
    }
    assert_eq!((scene.tail.old.len(), scene.tail.files.len()), (0, 1));
}

#[test]
fn what_could_not_be_opened_at_the_start_is_no_new_file() {
    let mut scene = Scene::new(Start::Lines(0));
    fs::create_dir(scene.path("n")).unwrap();
    assert!(matches!(scene.look_with(false).0, Name::Unreadable(_)));
    fs::remove_dir(scene.path("n")).unwrap();
    scene.append("n", "a\n");
    assert_eq!(scene.look(), ["a"]);
}

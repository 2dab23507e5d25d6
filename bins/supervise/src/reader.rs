//! Reads a monitor's log by position, across rotation, whole lines only.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _},
};

use shared::file;

use crate::{keeper::log::base_of, look, place::Home};

/// How much is read at once, unless a line is longer.
const CHUNK: usize = 64 << 10;
/// The longest line that a keeper writes, its newline included, with room.
const LONGEST: usize = (1 << 20) + CHUNK;

/// A reader of one log.
#[derive(Debug)]
pub struct Reader {
    home: Home,
    position: u64,
    open: Option<Open>,
    chunk: Vec<u8>,
}

#[derive(Debug)]
struct Open {
    file: File,
    base: u64,
    inode: u64,
}

/// Something that a reader is handed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A whole line with its newline.
    Line(&'a [u8]),
    /// So many bytes were gone before they could be read.
    Lost(u64),
}

impl Reader {
    /// Begins at `position`, in bytes since the first line there ever was.
    #[must_use]
    pub fn new(home: &Home, position: u64) -> Self {
        Self { home: home.clone(), position, open: None, chunk: vec![0; CHUNK] }
    }

    /// Begins behind what is there.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn at_end(home: &Home) -> io::Result<Self> {
        let mut reader = Self::new(home, u64::MAX);
        reader.open = reader.locate(&mut |_| Ok(()))?;
        if reader.open.is_none() {
            reader.position = 0;
        }
        Ok(reader)
    }

    /// How far it is.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Hands all that is there to `each`, and moves behind it piece by piece.
    ///
    /// # Errors
    ///
    /// The first of `each`, whose piece then counts as not read; those of the file system.
    pub fn read(&mut self, mut each: impl FnMut(Piece<'_>) -> io::Result<()>) -> io::Result<()> {
        loop {
            if self.open.is_none() {
                self.open = self.locate(&mut each)?;
            }
            let Some(open) = &self.open else { return Ok(()) };
            let moved =
                fs::metadata(self.home.log()).map(|meta| meta.ino()).ok() != Some(open.inode);
            if self.read_open(&mut each)? {
                continue;
            }
            let Some(open) = &self.open else { return Ok(()) };
            if !moved {
                return Ok(());
            }
            // All of a file that had been moved away before it was read to its end is read; a
            // piece of a line at its end was cut off by a full disk.
            self.position = open.base + open.file.metadata()?.size();
            self.open = None;
        }
    }

    /// Reads a chunk of the open file; false when there was no whole line.
    fn read_open(
        &mut self,
        each: &mut impl FnMut(Piece<'_>) -> io::Result<()>,
    ) -> io::Result<bool> {
        let Some(open) = &self.open else { return Ok(false) };
        let n = open.file.read_at(&mut self.chunk, self.position - open.base)?;
        let Some(end) = memchr::memrchr(b'\n', &self.chunk[..n]) else {
            if n == self.chunk.len() && n < LONGEST {
                self.chunk.resize(LONGEST, 0);
                return Ok(true);
            }
            return Ok(false);
        };
        for line in self.chunk[..=end].split_inclusive(|byte| *byte == b'\n') {
            each(Piece::Line(line))?;
            self.position += line.len() as u64;
        }
        if self.chunk.len() > CHUNK {
            self.chunk = vec![0; CHUNK];
        }
        Ok(true)
    }

    /// The file in which the position lies. A rotation in between shows as an inode that isn't
    /// the one looked up, and is looked up again.
    fn locate(
        &mut self,
        each: &mut impl FnMut(Piece<'_>) -> io::Result<()>,
    ) -> io::Result<Option<Open>> {
        for _ in 0..100 {
            let Ok((file, _)) = file::open(&self.home.log()) else {
                if !self.home.old_log().exists() {
                    return Ok(None);
                }
                // In a rotation there is none for a moment.
                look::moment()?;
                continue;
            };
            let inode = file.metadata()?.ino();
            let base = base_of(&self.home, inode);
            let old = file::open(&self.home.old_log()).ok();
            let old_size = old.as_ref().map_or(0, |(_, meta)| meta.size());
            if fs::metadata(self.home.log()).ok().map(|meta| meta.ino()) != Some(inode) {
                continue;
            }
            if self.position >= base {
                self.position = self.position.min(base + file.metadata()?.size());
                return Ok(Some(Open { file, base, inode }));
            }
            let old_base = base.saturating_sub(old_size);
            if self.position < old_base {
                each(Piece::Lost(old_base - self.position))?;
                self.position = old_base;
            }
            let Some((file, meta)) = old else { continue };
            return Ok(Some(Open { file, base: old_base, inode: meta.ino() }));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    struct Scene {
        _dir: tempfile::TempDir,
        home: Home,
        base: u64,
    }

    impl Scene {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let home = Home::at(dir.path().join("m"));
            home.make().unwrap();
            File::create(home.log()).unwrap();
            let scene = Self { _dir: dir, home, base: 0 };
            scene.note();
            scene
        }

        fn note(&self) {
            let inode = fs::metadata(self.home.log()).unwrap().ino();
            let text = format!(r#"{{"base":{},"inode":{inode}}}"#, self.base);
            shared::cursor::replace(&self.home.log_place(), text.as_bytes()).unwrap();
        }

        fn append(&self, text: &str) {
            let file = fs::OpenOptions::new().append(true).open(self.home.log());
            file.unwrap().write_all(text.as_bytes()).unwrap();
        }

        fn rotate(&mut self) {
            self.base += fs::metadata(self.home.log()).unwrap().size();
            fs::rename(self.home.log(), self.home.old_log()).unwrap();
            File::create(self.home.log()).unwrap();
        }
    }

    fn all(reader: &mut Reader) -> String {
        let mut seen = String::new();
        let read = reader.read(|piece| {
            match piece {
                Piece::Line(line) => seen.push_str(str::from_utf8(line).unwrap()),
                Piece::Lost(bytes) => seen.extend(["<", &bytes.to_string(), ">"]),
            }
            Ok(())
        });
        read.unwrap();
        seen
    }

    #[test]
    fn lines_come_once_and_whole_across_rotation() {
        let mut scene = Scene::new();
        let mut reader = Reader::new(&scene.home, 0);
        assert_eq!(all(&mut reader), "");
        scene.append("a\nb");
        assert_eq!(all(&mut reader), "a\n");
        scene.append("b\nc\n");
        scene.rotate();
        // The note is a moment late, as a keeper's can be.
        scene.append("d\n");
        assert_eq!(all(&mut reader), "bb\nc\nd\n");
        scene.note();
        scene.append("e\n");
        assert_eq!(all(&mut reader), "e\n");
        let mut from_the_middle = Reader::new(&scene.home, 2);
        assert_eq!(all(&mut from_the_middle), "bb\nc\nd\ne\n");
    }

    #[test]
    fn what_two_rotations_took_is_counted() {
        let mut scene = Scene::new();
        let mut reader = Reader::new(&scene.home, 0);
        scene.append("aaaa\n");
        assert_eq!(all(&mut reader), "aaaa\n");
        for text in ["bbb\n", "cc\n"] {
            scene.append(text);
            scene.rotate();
            scene.note();
        }
        scene.append("d\n");
        // The reader still holds the first file, and reads the rest of it.
        assert_eq!(all(&mut reader), "bbb\ncc\nd\n");
        assert_eq!(all(&mut Reader::new(&scene.home, 2)), "<7>cc\nd\n");
    }

    #[test]
    fn a_long_line_comes_whole() {
        let scene = Scene::new();
        let long = "x".repeat(1 << 20) + "\n";
        scene.append(&long);
        scene.append("y\n");
        let mut reader = Reader::new(&scene.home, 0);
        assert_eq!(all(&mut reader).len(), long.len() + 2);
    }
}

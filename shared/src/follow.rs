//! Reads the lines of a file that others append to, from its beginning, and again from there when
//! it shrinks or another file takes its name. A FIFO or stdin is read as it comes.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    os::{
        fd::{AsFd as _, BorrowedFd},
        unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _},
    },
    path::{Path, PathBuf},
};

use crate::lines::{Line, Lines};

/// The longest line that is taken.
const LIMIT: usize = 64 << 10;
/// How much of a stream is read in one pass, so that it can't hold up the rest.
const PIECES: usize = 64;

/// What a file had to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told<'a> {
    /// What follows comes from the beginning of a file: the first, or one that took its place.
    Restart,
    /// A line.
    Line {
        /// Its number, from 1.
        number: u64,
        /// Where it begins.
        offset: u64,
        /// Its text without the newline; `None`: too long to be taken.
        text: Option<&'a [u8]>,
    },
}

/// How a look at the file went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It was read to its end.
    Read,
    /// There is no such file.
    Absent,
    /// The stream ended.
    Ended,
}

/// Follows one file.
#[derive(Debug)]
pub struct Follower {
    path: Option<PathBuf>,
    source: Option<File>,
    file: (u64, u64),
    fifo: (u64, u64),
    lines: Lines,
    read: u64,
    number: u64,
    ended: bool,
}

impl Follower {
    /// Follows `path`; `None` is stdin.
    #[must_use]
    pub fn new(path: Option<&Path>) -> Self {
        let (path, lines) = (path.map(Path::to_owned), Lines::new(LIMIT));
        let (file, fifo) = ((0, 0), (0, 0));
        Self { path, source: None, file, fifo, lines, read: 0, number: 0, ended: false }
    }

    /// What is to be polled for more: streams only, files are watched by their folder.
    #[must_use]
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        let is_stream = self.file == (0, 0) && !self.ended;
        self.source.as_ref().filter(|_| is_stream).map(File::as_fd)
    }

    /// Where the next byte is read, and of which file (device and inode).
    #[must_use]
    pub fn position(&self) -> ((u64, u64), u64) {
        (self.file, self.read - self.lines.pending())
    }

    /// Hands what came since the last call to `each`.
    ///
    /// # Errors
    ///
    /// What is there but is neither a regular file nor a FIFO, or can't be read.
    pub fn read(&mut self, each: &mut impl FnMut(Told<'_>)) -> io::Result<State> {
        match self.path.clone() {
            None => {
                if self.source.is_none() {
                    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
                    self.source = Some(File::from(stdin));
                    each(Told::Restart);
                }
                self.stream(each)
            }
            Some(path) => self.named(&path, each),
        }
    }

    fn named(&mut self, path: &Path, each: &mut impl FnMut(Told<'_>)) -> io::Result<State> {
        let meta = match fs::metadata(path) {
            Ok(meta) => meta,
            Err(err) if is_absent(&err) => return Ok(State::Absent),
            Err(err) => return Err(err),
        };
        if meta.file_type().is_fifo() {
            let identity = (meta.dev(), meta.ino());
            if self.source.is_none() || self.fifo != identity {
                // Its write side is held open too, so that it has no end.
                let mut options = fs::OpenOptions::new();
                let fifo = options.read(true).write(true).custom_flags(nix::libc::O_NONBLOCK);
                self.source = Some(fifo.open(path)?);
                (self.file, self.fifo) = ((0, 0), identity);
                (self.lines, self.read, self.number) = (Lines::new(LIMIT), 0, 0);
                each(Told::Restart);
            }
            return self.stream(each);
        }
        if !meta.is_file() {
            return Err(io::Error::other("neither a regular file nor a FIFO"));
        }
        self.file(path, &meta, each)
    }

    fn file(
        &mut self,
        path: &Path,
        meta: &fs::Metadata,
        each: &mut impl FnMut(Told<'_>),
    ) -> io::Result<State> {
        let identity = (meta.dev(), meta.ino());
        if self.source.is_none() || identity != self.file || meta.len() < self.read {
            let opened = match crate::file::open(path) {
                Ok(opened) => opened,
                Err(crate::file::Unread::Absent) => return Ok(State::Absent),
                Err(crate::file::Unread::Unreadable(cause)) => return Err(io::Error::other(cause)),
                Err(err) => return Err(io::Error::other(format!("{err:?}"))),
            };
            (self.file, self.fifo) = ((opened.1.dev(), opened.1.ino()), (0, 0));
            self.source = Some(opened.0);
            (self.lines, self.read, self.number) = (Lines::new(LIMIT), 0, 0);
            each(Told::Restart);
        } else if meta.len() == self.read {
            return Ok(State::Read);
        }
        loop {
            if self.piece(each)? == 0 {
                return Ok(State::Read);
            }
        }
    }

    fn stream(&mut self, each: &mut impl FnMut(Told<'_>)) -> io::Result<State> {
        if self.ended {
            return Ok(State::Ended);
        }
        for _ in 0..PIECES {
            let Some(source) = &self.source else { break };
            let mut fds = [nix::poll::PollFd::new(source.as_fd(), nix::poll::PollFlags::POLLIN)];
            if nix::poll::poll(&mut fds, nix::poll::PollTimeout::ZERO)? == 0 {
                break;
            }
            match self.piece(each) {
                Ok(0) => {
                    self.ended = true;
                    if let Some(last) = self.lines.finish() {
                        let (number, offset) = (self.number + 1, self.read - last.len() as u64);
                        each(Told::Line { number, offset, text: Some(&last) });
                    }
                    return Ok(State::Ended);
                }
                Ok(_) => {}
                Err(err) if err.kind() == io::ErrorKind::WouldBlock => break,
                Err(err) => return Err(err),
            }
        }
        Ok(State::Read)
    }

    /// Reads once. 0: nothing more is there.
    fn piece(&mut self, each: &mut impl FnMut(Told<'_>)) -> io::Result<usize> {
        let mut piece = [0; 16 << 10];
        let Some(source) = &mut self.source else { return Ok(0) };
        let n = loop {
            match source.read(&mut piece) {
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        let mut offset = self.read - self.lines.pending();
        self.read += n as u64;
        let number = &mut self.number;
        let fed: Result<(), ()> = self.lines.feed(piece.get(..n).unwrap_or_default(), |line| {
            *number += 1;
            let (text, length) = match line {
                Line::Whole(line) => {
                    (Some(line.strip_suffix(b"\n").unwrap_or(line)), line.len() as u64)
                }
                Line::TooLong(length) => (None, length),
            };
            each(Told::Line { number: *number, offset, text });
            offset += length;
            Ok(())
        });
        let _ = fed;
        Ok(n)
    }
}

fn is_absent(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(follower: &mut Follower) -> Vec<String> {
        let mut said = Vec::new();
        follower
            .read(&mut |told| {
                said.push(match told {
                    Told::Restart => "restart".to_owned(),
                    Told::Line { number, offset, text } => {
                        let text = text.map_or("too long".into(), String::from_utf8_lossy);
                        format!("{number}@{offset} {text}")
                    }
                });
            })
            .unwrap();
        said
    }

    #[test]
    fn a_file_is_read_on_and_a_new_one_from_its_beginning() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("items");
        let write = |text: &str| crate::cursor::replace(&path, text.as_bytes()).unwrap();
        let append = |text: &str| {
            let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
            io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        };
        let mut follower = Follower::new(Some(&path));
        assert_eq!(follower.read(&mut |_| ()).unwrap(), State::Absent);
        write("a\nb");
        assert_eq!(said(&mut follower), ["restart", "1@0 a"]);
        append("c\nd\n");
        assert_eq!(said(&mut follower), ["2@2 bc", "3@5 d"]);
        append(&format!("{}\ne\n", "x".repeat(100_000)));
        assert_eq!(said(&mut follower), ["4@7 too long", "5@100008 e"]);
        write("f\n");
        assert_eq!(said(&mut follower), ["restart", "1@0 f"]);
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
        assert_eq!(said(&mut follower), ["restart"]);
        append("g\n");
        assert_eq!(said(&mut follower), ["1@0 g"]);
        assert!(Follower::new(Some(scene.path())).read(&mut |_| ()).is_err());
    }

    #[test]
    fn a_fifo_is_read_as_it_comes() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("fifo");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let mut follower = Follower::new(Some(&path));
        assert_eq!(said(&mut follower), ["restart"]);
        let mut writer = fs::OpenOptions::new().write(true).open(&path).unwrap();
        io::Write::write_all(&mut writer, b"a\nb").unwrap();
        drop(writer);
        assert_eq!(said(&mut follower), ["1@0 a"]);
        assert!(follower.fd().is_some());
        // Another one of its name, then a file.
        let other = scene.path().join("other");
        nix::unistd::mkfifo(&other, nix::sys::stat::Mode::S_IRWXU).unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(said(&mut follower), ["restart"]);
        let mut writer = fs::OpenOptions::new().write(true).open(&path).unwrap();
        io::Write::write_all(&mut writer, b"c\n").unwrap();
        assert_eq!(said(&mut follower), ["1@0 c"]);
        crate::cursor::replace(&path, b"d\n").unwrap();
        assert_eq!(said(&mut follower), ["restart", "1@0 d"]);
        assert!(follower.fd().is_none());
    }
}

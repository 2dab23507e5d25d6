//! One open file, read from an offset on in runs of whole lines.

use std::{
    fs::{File, Metadata},
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _},
};

use memchr::{memchr, memrchr};

use super::{
    Why,
    guard::{Guard, Mark},
};

/// How much is read at once.
pub(super) const CHUNK: usize = 128 << 10;

/// A file that has, or had, the name.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) file: File,
    pub(super) id: (u64, u64),
    /// What to say before its first line; the offset is that of the file before.
    pub(super) announce: Option<Why>,
    /// It was put in place of another: if it begins as that one did, it goes on where that ended.
    pub(super) is_replacement: bool,
    /// What was read, up to the end of the last read.
    guard: Guard,
    /// Where this look stops.
    goal: Option<u64>,
    /// Behind the last piece that was handed out, and behind the last one that was dealt with.
    handed: u64,
    done: u64,
    /// A line without its newline yet, or how much of it was skipped.
    begun: Vec<u8>,
    skipped: u64,
    /// How many NULs the file begins with, until something else comes.
    leading: Option<u64>,
}

/// What a read came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// So many bytes.
    Bytes(usize),
    /// Nothing: the look's goal is reached.
    Goal,
    /// Another content before the offset.
    Changed,
}

/// What is at the beginning of some bytes, and how many of them that takes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Split {
    /// Whole lines within the limit.
    Lines(usize),
    /// The end of the line begun, which is then whole.
    Joined(usize, Vec<u8>),
    /// The end of a line beyond the limit, of this length.
    TooLong(usize, u64),
    /// The end of the NULs that the file begins with, of this number.
    Nuls(usize, u64),
    /// Nothing that is whole.
    Begun(usize),
}

impl Held {
    /// A file read from its beginning.
    pub(super) fn new(file: File, meta: &Metadata) -> Self {
        let id = (meta.dev(), meta.ino());
        Self {
            file,
            id,
            announce: None,
            is_replacement: false,
            guard: Guard::default(),
            goal: None,
            handed: 0,
            done: 0,
            begun: Vec::new(),
            skipped: 0,
            leading: Some(0),
        }
    }

    /// Goes on behind `guard`, instead of at the beginning.
    pub(super) fn start_at(&mut self, guard: Guard) {
        let at = guard.offset();
        self.guard = guard;
        (self.handed, self.done) = (at, at);
        self.begun = Vec::new();
        self.skipped = 0;
        self.leading = (at == 0).then_some(0);
    }

    /// The content is another one: begins again. Says why, and behind what.
    pub(super) fn start_again(&mut self) -> io::Result<(Why, u64)> {
        let why = if self.size()? < self.guard.offset() { Why::Truncated } else { Why::Rewritten };
        let done = self.done;
        self.goal = None;
        self.start_at(Guard::default());
        Ok((why, done))
    }

    pub(super) fn size(&self) -> io::Result<u64> {
        self.file.metadata().map(|meta| meta.size())
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.file.metadata().is_ok_and(|meta| meta.nlink() == 0)
    }

    /// The last piece was dealt with.
    pub(super) fn settle(&mut self) {
        self.done = self.handed;
    }

    /// Behind the last piece that was dealt with.
    pub(super) fn done(&self) -> u64 {
        self.done
    }

    /// Where the next piece begins.
    pub(super) fn handed(&self) -> u64 {
        self.handed
    }

    /// Whether a line is begun and kept.
    pub(super) fn has_begun(&self) -> bool {
        self.handed < self.guard.offset()
    }

    /// The guard behind the last piece that was dealt with; `None` when the file is another now.
    pub(super) fn guard(&self) -> io::Result<Option<Guard>> {
        let guard = Guard::read(&self.file, self.done)?;
        Ok(if self.guard.holds(&self.file)? { guard } else { None })
    }

    /// The mark behind the last piece that was dealt with.
    pub(super) fn mark(&self) -> Option<Mark> {
        Some(self.guard().ok()??.mark(self.id))
    }

    /// The piece at the end that has no newline, and its length when it is beyond the limit.
    pub(super) fn take_begun(&mut self) -> (Vec<u8>, u64) {
        (std::mem::take(&mut self.begun), std::mem::take(&mut self.skipped))
    }

    /// Reads on into `buf`, up to the size that the file has now, or had when this look began
    /// on it.
    pub(super) fn fill(&mut self, buf: &mut [u8]) -> io::Result<Fill> {
        let goal = match self.goal {
            Some(goal) => goal,
            None => self.size()?,
        };
        self.goal = Some(goal);
        let at = self.guard.offset();
        let want = usize::try_from(goal.saturating_sub(at)).unwrap_or(usize::MAX).min(buf.len());
        let n = self.file.read_at(&mut buf[..want], at)?;
        // After the read and before its lines leave: a file rewritten meanwhile gave a mixture.
        if goal < at || !self.guard.holds(&self.file)? {
            return Ok(Fill::Changed);
        }
        if n == 0 {
            self.goal = None;
            return Ok(Fill::Goal);
        }
        self.guard.push(&buf[..n]);
        Ok(Fill::Bytes(n))
    }

    /// Takes the next piece off `bytes`, which follow on what was taken before.
    pub(super) fn split(&mut self, bytes: &[u8], limit: usize) -> Split {
        if let Some(before) = self.leading {
            let nuls = bytes.iter().take_while(|byte| **byte == 0).count();
            let all = before + nuls as u64;
            if nuls == bytes.len() {
                self.leading = Some(all);
                return Split::Begun(nuls);
            }
            self.leading = None;
            if all > 0 {
                self.handed += all;
                return Split::Nuls(nuls, all);
            }
        }
        if self.begun.is_empty() && self.skipped == 0 {
            let lines = whole_lines(bytes, limit);
            if lines > 0 {
                self.handed += lines as u64;
                return Split::Lines(lines);
            }
        }
        let Some(end) = memchr(b'\n', bytes).map(|at| at + 1) else {
            self.keep(bytes, limit);
            return Split::Begun(bytes.len());
        };
        self.keep(&bytes[..end], limit + 1);
        let (line, skipped) = self.take_begun();
        self.handed += skipped.max(line.len() as u64);
        if skipped > 0 { Split::TooLong(end, skipped) } else { Split::Joined(end, line) }
    }

    /// Keeps part of a line, or only its length once the line has more than `limit` bytes.
    fn keep(&mut self, part: &[u8], limit: usize) {
        if self.skipped == 0 && self.begun.len() + part.len() <= limit {
            self.begun.extend(part);
        } else {
            self.skipped += (self.begun.len() + part.len()) as u64;
            self.begun = Vec::new();
        }
    }
}

/// The length of the longest beginning of `bytes` that is made of whole lines, none of more than
/// `limit` bytes. Each step looks back from where a line would be too long, so that lines that
/// are short by far cost next to nothing.
fn whole_lines(bytes: &[u8], limit: usize) -> usize {
    let mut start = 0;
    loop {
        let end = bytes.len().min(start + limit + 1);
        match memrchr(b'\n', &bytes[start..end]) {
            Some(at) => start += at + 1,
            None => return start,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    /// All pieces of `bytes`, read `chunk` bytes at a time.
    fn pieces(bytes: &[u8], chunk: usize, limit: usize) -> (Vec<(u64, String)>, Vec<u8>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let meta = file.metadata().unwrap();
        let mut held = Held::new(file, &meta);
        let (mut buf, mut seen) = (vec![0; chunk], Vec::new());
        while let Fill::Bytes(n) = held.fill(&mut buf).unwrap() {
            let mut rest = &buf[..n];
            while !rest.is_empty() {
                let at = held.handed();
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let (used, piece) = match held.split(rest, limit) {
                    Split::Lines(n) => (n, Some(text(&rest[..n]))),
                    Split::Joined(n, line) => (n, Some(text(&line))),
                    Split::TooLong(n, bytes) => (n, Some(format!("+{bytes}"))),
                    Split::Nuls(n, nuls) => (n, Some(format!("0{nuls}"))),
                    Split::Begun(n) => (n, None),
                };
                seen.extend(piece.map(|piece| (at, piece)));
                rest = &rest[used..];
            }
        }
        (seen, held.take_begun().0)
    }

    #[test]
    fn lines_come_whole_with_their_offsets() {
        let (seen, last) = pieces(b"\0\0\0ab\ncd\n12345\nx\ny", 4, 4);
        let seen: Vec<(u64, &str)> = seen.iter().map(|(at, text)| (*at, &**text)).collect();
        let expected = [(0, "03"), (3, "ab\n"), (6, "cd\n"), (9, "+6"), (15, "x\n")];
        assert_eq!((seen.as_slice(), last), (&expected[..], b"y".to_vec()));
    }

    proptest! {
        #[test]
        fn the_size_of_reads_makes_no_difference(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'a')], 0..300),
            chunk in 1usize..40,
            limit in 0usize..12,
        ) {
            let (seen, _) = pieces(&bytes, chunk, limit);
            let mut lines = Vec::new();
            for (at, text) in seen {
                let mut at = at;
                for line in text.split_inclusive('\n') {
                    lines.push((at, line.to_owned()));
                    at += line.len() as u64;
                }
            }
            let mut expected = Vec::new();
            let mut at = 0;
            for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
                let text = String::from_utf8(line.to_vec()).unwrap();
                let is_long = line.len() > limit + 1;
                expected.push((at, if is_long { format!("+{}", line.len()) } else { text }));
                at += line.len() as u64;
            }
            prop_assert_eq!(lines, expected);
        }
    }
}

//! Recognises a file by what it holds before an offset, so that one that was rewritten, or another
//! of the same inode, is never read on in the middle.

use std::{fmt::Write as _, fs::File, io, os::unix::fs::FileExt as _};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// How much of the beginning, and of what precedes the offset, is compared.
const WINDOW: usize = 1024;

/// A file's first bytes and its last ones before an offset: a kilobyte each, or what there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Guard {
    offset: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Guard {
    /// The guard of `file` at `offset`; `None` when it has fewer bytes.
    pub(super) fn read(file: &File, offset: u64) -> io::Result<Option<Self>> {
        let len = usize::try_from(offset).map_or(WINDOW, |offset| offset.min(WINDOW));
        let last = offset - len as u64;
        let (Some(head), Some(tail)) = (window(file, 0, len)?, window(file, last, len)?) else {
            return Ok(None);
        };
        Ok(Some(Self { offset, head, tail }))
    }

    /// Where it stands.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether `file` has these bytes in these places.
    pub(super) fn holds(&self, file: &File) -> io::Result<bool> {
        if !is_at(file, 0, &self.head)? {
            return Ok(false);
        }
        let both_are_one = self.offset <= WINDOW as u64;
        Ok(both_are_one || is_at(file, self.offset - self.tail.len() as u64, &self.tail)?)
    }

    /// Moves on over `bytes`, which follow.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.offset += bytes.len() as u64;
        let wanting = WINDOW.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend(&bytes[..wanting]);
        let last = &bytes[bytes.len().saturating_sub(WINDOW)..];
        let excess = (self.tail.len() + last.len()).saturating_sub(WINDOW);
        self.tail.drain(..excess);
        self.tail.extend(last);
    }

    /// The guard as it is remembered, for the file of identity `id`.
    pub(super) fn mark(&self, id: (u64, u64)) -> Mark {
        let (head, tail) = (sha256(&self.head), sha256(&self.tail));
        Mark { dev: id.0, ino: id.1, offset: self.offset, head, tail }
    }
}

/// How far a file was read, and how to recognise it: what a cursor file keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The file's device.
    pub dev: u64,
    /// The file's inode.
    pub ino: u64,
    /// How many bytes of it are done with.
    pub offset: u64,
    /// SHA-256 of the first kilobyte before the offset, in hex.
    pub head: String,
    /// SHA-256 of the last kilobyte before the offset, in hex.
    pub tail: String,
}

impl Mark {
    /// The mark of no file: each begins like it.
    pub(super) fn beginning() -> Self {
        Guard::default().mark((0, 0))
    }

    /// The guard of `file` at the offset, if it is the one that was marked, or begins as it did.
    pub(super) fn find_in(&self, file: &File) -> io::Result<Option<Guard>> {
        let guard = Guard::read(file, self.offset)?;
        Ok(guard.filter(|guard| guard.mark((self.dev, self.ino)) == *self))
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn window(file: &File, at: u64, len: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; len];
    Ok(fill(file, at, &mut bytes)?.then_some(bytes))
}

fn is_at(file: &File, at: u64, expected: &[u8]) -> io::Result<bool> {
    let mut found = [0; WINDOW];
    let found = &mut found[..expected.len()];
    Ok(fill(file, at, found)? && found == expected)
}

/// Reads all of `bytes` at `at`; false when the file ends before.
fn fill(file: &File, at: u64, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact_at(bytes, at) {
        Ok(()) => Ok(true),
        Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(err) => Err(err),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn a_change_before_the_offset_is_seen_at_either_end() {
        let bytes: Vec<u8> = (0..5000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let guard = Guard::read(&file(&bytes), 4000).unwrap().unwrap();
        assert!(guard.holds(&file(&bytes)).unwrap());
        assert!(guard.holds(&file(&bytes[..4000])).unwrap());
        assert!(!guard.holds(&file(&bytes[..3999])).unwrap());
        for at in [0, 1023, 2976, 3999] {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert!(!guard.holds(&file(&other)).unwrap(), "{at}");
        }
    }

    #[test]
    fn a_mark_knows_its_file_and_a_copy() {
        let bytes = b"{\"a\":1}\n{\"a\":2}\n";
        let mark = Guard::read(&file(bytes), 8).unwrap().unwrap().mark((1, 2));
        assert_eq!((mark.offset, mark.head.len()), (8, 64));
        assert!(mark.find_in(&file(bytes)).unwrap().is_some());
        assert_eq!(mark.find_in(&file(b"{\"b\":1}\n{\"a\":2}\n")).unwrap(), None);
        assert_eq!(mark.find_in(&file(b"{\"a\"")).unwrap(), None);
    }

    proptest! {
        #[test]
        fn moving_on_is_reading_anew(
            bytes in proptest::collection::vec(any::<u8>(), 0..5000),
            cuts in proptest::collection::vec(0usize..5000, 0..6),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let mut guard = Guard::default();
            for cut in cuts.windows(2) {
                guard.push(&bytes[cut[0]..cut[1]]);
            }
            let read = Guard::read(&file(&bytes), bytes.len() as u64).unwrap();
            prop_assert_eq!(Some(guard), read);
        }
    }
}

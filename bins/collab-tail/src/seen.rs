//! What was told, or taken in as history: one append-only file of hashes for all the boards of a
//! listener.

use std::{
    collections::HashSet,
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use shared::{
    cursor,
    exit::{Error, Reason},
    file,
};

use crate::hash::Hash;

const FIRST_LINE: &[u8] = b"doorbell-seen 1\n";
/// The most bytes of it: of sixteen million records.
const LIMIT: u64 = 1 << 30;
/// A note that an older tool's memory was taken over.
const IMPORTED: &[u8] = b"#imported";

/// The set, and the file behind it.
#[derive(Debug)]
pub struct Seen {
    path: PathBuf,
    file: File,
    known: HashSet<Hash>,
    imported: bool,
    /// How much of the file is whole: a line that failed half way is written over.
    length: u64,
    unwritten: Vec<u8>,
    unsynced: bool,
}

/// Why there is no set.
#[derive(Debug)]
pub enum Lost {
    /// The file is missing, or its first line.
    Gone,
    /// It can't be used.
    Refused(Error),
}

impl Seen {
    /// Opens `path`. Only where `may_begin` holds is a missing file made.
    ///
    /// # Errors
    ///
    /// [`Lost`]; the file is then as it was, but for a last line without its newline.
    pub fn open(path: &Path, may_begin: bool) -> Result<Self, Lost> {
        let io =
            |verb: &'static str| move |err: io::Error| Lost::Refused(Error::io(verb, path, &err));
        let read = file::read_if_there(path, LIMIT).map_err(io("read"))?;
        let bytes = read.unwrap_or_default();
        if !bytes.starts_with(FIRST_LINE) {
            let begun = FIRST_LINE.starts_with(&bytes);
            if !begun && bytes.contains(&b'\n') && bytes.starts_with(b"doorbell-seen ") {
                return Err(refused(path, "it is of another version"));
            }
            if !may_begin {
                return Err(Lost::Gone);
            }
            if !begun {
                return Err(refused(path, "it is not a file of ours"));
            }
            cursor::replace(path, FIRST_LINE).map_err(io("write"))?;
        }
        let records = bytes.get(FIRST_LINE.len()..).unwrap_or_default();
        let whole = records.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut known = HashSet::with_capacity(whole / 65);
        let mut imported = false;
        for (number, line) in (2..).zip(records[..whole].split_inclusive(|byte| *byte == b'\n')) {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            match Hash::parse(line) {
                Some(hash) => drop(known.insert(hash)),
                None if line == IMPORTED => imported = true,
                None => return Err(refused(path, &format!("line {number} is no record"))),
            }
        }
        let mut options = OpenOptions::new();
        let file = options.write(true).mode(0o600).open(path).map_err(io("open"))?;
        let length = (FIRST_LINE.len() + whole) as u64;
        file.set_len(length).map_err(io("cut"))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            known,
            imported,
            length,
            unwritten: Vec::new(),
            unsynced: false,
        })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether an older tool's memory is in it.
    #[must_use]
    pub fn is_imported(&self) -> bool {
        self.imported
    }

    /// Notes that it is.
    pub fn set_imported(&mut self) {
        if !self.imported {
            self.imported = true;
            self.unwritten.extend(IMPORTED);
            self.unwritten.push(b'\n');
        }
    }

    /// Whether it holds `record`.
    #[must_use]
    pub fn contains(&self, record: &Hash) -> bool {
        self.known.contains(record)
    }

    /// How many records it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Adds `record`; it counts from now on, and is written by the next [`Seen::write`].
    pub fn add(&mut self, record: Hash) {
        if self.known.insert(record) {
            self.unwritten.extend(record.to_string().into_bytes());
            self.unwritten.push(b'\n');
        }
    }

    /// Appends what was added, in one write.
    ///
    /// # Errors
    ///
    /// Those of the file system. What failed is kept, and tried again the next time.
    pub fn write(&mut self) -> io::Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        if let Err(err) = self.file.write_all_at(&self.unwritten, self.length) {
            let _ = self.file.set_len(self.length);
            return Err(err);
        }
        self.length += self.unwritten.len() as u64;
        self.unwritten.clear();
        self.unsynced = true;
        Ok(())
    }

    /// Writes, and waits until the disk has it: before a baseline that relies on it.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn sync(&mut self) -> io::Result<()> {
        self.write()?;
        if std::mem::take(&mut self.unsynced) {
            self.file.sync_data().inspect_err(|_| self.unsynced = true)?;
        }
        Ok(())
    }

    /// Keeps only the records that `is_alive`, in a new file.
    ///
    /// # Errors
    ///
    /// Those of the file system; all is then as it was.
    pub fn retain(&mut self, is_alive: impl Fn(&Hash) -> bool) -> io::Result<()> {
        let alive: HashSet<Hash> =
            self.known.iter().copied().filter(|hash| is_alive(hash)).collect();
        let mut bytes = FIRST_LINE.to_vec();
        if self.imported {
            bytes.extend(IMPORTED);
            bytes.push(b'\n');
        }
        for record in &alive {
            bytes.extend(record.to_string().into_bytes());
            bytes.push(b'\n');
        }
        cursor::replace(&self.path, &bytes)?;
        self.file = OpenOptions::new().write(true).open(&self.path)?;
        (self.known, self.length) = (alive, bytes.len() as u64);
        self.unwritten.clear();
        self.unsynced = false;
        Ok(())
    }
}

fn refused(path: &Path, cause: &str) -> Lost {
    let message = format!("unable to use {}: {cause}", path.display());
    Lost::Refused(Error::new(Reason::Runtime, "state_failed", message))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn record(n: u8) -> Hash {
        Hash::of(&[&[n]])
    }

    fn cause(lost: Lost) -> String {
        match lost {
            Lost::Gone => "gone".to_owned(),
            Lost::Refused(err) => err.to_string(),
        }
    }

    #[test]
    fn what_was_added_is_there_again() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("seen");
        let mut seen = Seen::open(&path, true).unwrap();
        for n in [1, 2, 2] {
            seen.add(record(n));
        }
        seen.set_imported();
        seen.sync().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), 16 + 2 * 65 + 10);
        let seen = Seen::open(&path, false).unwrap();
        assert!(seen.contains(&record(2)) && !seen.contains(&record(3)));
        assert_eq!((seen.len(), seen.is_imported()), (2, true));
    }

    #[test]
    fn a_torn_record_is_cut_off_and_written_over() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("seen");
        let torn = format!("doorbell-seen 1\n{}\n{}", record(1), &record(2).to_string()[..9]);
        cursor::replace(&path, torn.as_bytes()).unwrap();
        let mut seen = Seen::open(&path, false).unwrap();
        assert!(!seen.contains(&record(2)));
        seen.add(record(3));
        seen.write().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("doorbell-seen 1\n{}\n{}\n", record(1), record(3)));
    }

    #[test]
    fn what_is_no_set_is_refused_and_left() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("seen");
        assert_eq!(cause(Seen::open(&path, false).unwrap_err()), "gone");
        assert!(!path.exists());
        let garbage = format!("doorbell-seen 1\n{}\ngarbage\n{}\n", record(1), record(2));
        for (text, may_begin, want) in [
            ("", false, "gone"),
            ("doorbell-se", false, "gone"),
            ("\0\0\0\0", false, "gone"),
            ("doorbell-seen 2\n", true, "another version"),
            ("notes\n", true, "not a file of ours"),
            (&garbage, true, "line 3 is no record"),
        ] {
            cursor::replace(&path, text.as_bytes()).unwrap();
            let cause = cause(Seen::open(&path, may_begin).unwrap_err());
            assert!(cause.contains(want), "{text:?}: {cause}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        cursor::replace(&path, b"doorbell").unwrap();
        assert_eq!(Seen::open(&path, true).unwrap().len(), 0);
    }

    #[test]
    fn the_dead_can_be_left_out() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("seen");
        let mut seen = Seen::open(&path, true).unwrap();
        (0..10).for_each(|n| seen.add(record(n)));
        seen.write().unwrap();
        seen.retain(|hash| *hash == record(7)).unwrap();
        seen.add(record(11));
        seen.write().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("doorbell-seen 1\n{}\n{}\n", record(7), record(11)));
    }
}

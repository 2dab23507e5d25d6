//! Lines that wait on disk: segments that are only appended to, read once in order, and removed
//! when all of their lines are stored by the server.

use std::{
    collections::VecDeque,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use shared::{
    cursor,
    exit::{Error, Reason},
    store,
};

use crate::{
    decide::outbox::{Item, Place},
    segment::{self, FIRST},
};

/// The most bytes of a segment before the next one begins.
const SEGMENT: u64 = 4 << 20;
/// The file that says up to where the first segment is done with, after a clean end.
const DONE: &str = "done";

/// The spool of one stream.
#[derive(Debug)]
pub struct Spool {
    dir: PathBuf,
    max: u64,
    /// Number and length of each segment, in order.
    segments: VecDeque<(u64, u64)>,
    next: u64,
    writer: Option<File>,
    reader: Option<BufReader<File>>,
    read: Place,
    done: Place,
    damaged: u64,
    _lock: File,
}

impl Spool {
    /// Opens the spool in `dir`, made if missing; it is then ours alone.
    ///
    /// # Errors
    ///
    /// Another process has it; it is of another version; the file system's.
    pub fn open(dir: &Path, max: u64) -> Result<Self, Error> {
        store::make_private(dir)?;
        let lock = lock(&dir.join("lock"))?;
        let on = |err| Error::io("read", dir, &err);
        let mut segments = Vec::new();
        for entry in fs::read_dir(dir).map_err(on)? {
            let name = entry.map_err(on)?.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".spool"));
            segments.extend(number.and_then(|number| number.parse::<u64>().ok()));
        }
        segments.sort_unstable();
        let next = segments.last().map_or(1, |last| last + 1);
        let (start, done) = (Place { segment: 0, offset: 0 }, done(&dir.join(DONE)));
        let mut spool = Self {
            dir: dir.to_owned(),
            max,
            segments: VecDeque::new(),
            next,
            writer: None,
            reader: None,
            read: start,
            done: start,
            damaged: 0,
            _lock: lock,
        };
        for number in segments {
            let path = spool.path(number);
            let length = check(&path)?;
            if length > FIRST.len() as u64 {
                spool.segments.push_back((number, length));
            } else {
                fs::remove_file(&path).map_err(|err| Error::io("remove", &path, &err))?;
            }
        }
        if let Some(done) = done.filter(|done| {
            spool.segments.front().is_some_and(|(first, length)| {
                done.segment == *first && (FIRST.len() as u64..=*length).contains(&done.offset)
            })
        }) {
            (spool.read, spool.done) = (done, done);
            spool.release(done);
        }
        Ok(spool)
    }

    /// Whether a line waits here that was not read.
    #[must_use]
    pub fn has_unread(&self) -> bool {
        self.segments
            .back()
            .is_some_and(|(last, length)| self.read < Place { segment: *last, offset: *length })
    }

    /// Whether `more` bytes may come. An empty spool takes anything.
    #[must_use]
    pub fn has_room(&self, more: u64) -> bool {
        let held: u64 = self.segments.iter().map(|(_, length)| length).sum();
        held == 0 || held + more <= self.max
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// How many damaged records were passed since this was last asked.
    pub fn damaged(&mut self) -> u64 {
        std::mem::take(&mut self.damaged)
    }

    /// Appends items, on disk before this returns, and gives each its place.
    ///
    /// # Errors
    ///
    /// The file system's; nothing was appended then.
    pub fn append<'a>(&mut self, items: impl Iterator<Item = &'a mut Item>) -> io::Result<()> {
        let mut items: Vec<&mut Item> = items.collect();
        if items.is_empty() {
            return Ok(());
        }
        let (number, start) = self.open_writer()?;
        let mut bytes = Vec::new();
        let mut ends = Vec::with_capacity(items.len());
        for item in &items {
            segment::encode(item, &mut bytes);
            ends.push(start + bytes.len() as u64);
        }
        let written = self.writer.as_mut().map_or(Ok(()), |file| {
            file.write_all(&bytes).and_then(|()| file.sync_data()).inspect_err(|_| {
                // What is there of it would be taken for lines.
                let _ = file.set_len(start).and_then(|()| file.seek(SeekFrom::Start(start)));
            })
        });
        if let Err(err) = written {
            self.writer = None;
            return Err(err);
        }
        if let Some((_, length)) = self.segments.back_mut() {
            *length = start + bytes.len() as u64;
        }
        for (item, offset) in items.iter_mut().zip(ends) {
            item.place = Some(Place { segment: number, offset });
        }
        Ok(())
    }

    /// Marks what was just appended as read: memory has it too, and nothing stood before it.
    pub fn pass(&mut self) {
        if let Some((segment, offset)) = self.segments.back() {
            self.read = Place { segment: *segment, offset: *offset };
            self.reader = None;
        }
    }

    /// Reads the next line, in the order of appending.
    ///
    /// # Errors
    ///
    /// The file system's.
    pub fn read_line(&mut self) -> io::Result<Option<Item>> {
        while self.has_unread() {
            let Some((segment, length)) = self.unread_segment() else { break };
            if self.read.segment != segment {
                self.read = Place { segment, offset: FIRST.len() as u64 };
                self.reader = None;
            }
            if self.read.offset >= length {
                self.read.offset = u64::MAX;
                continue;
            }
            let mut record = Vec::new();
            let place = self.read;
            let reader = match &mut self.reader {
                Some(reader) => reader,
                none => {
                    let mut file = File::open(self.dir.join(name(place.segment)))?;
                    file.seek(SeekFrom::Start(place.offset))?;
                    none.insert(BufReader::with_capacity(64 << 10, file))
                }
            };
            let read = reader.read_until(b'\n', &mut record)?;
            if read == 0 {
                self.read.offset = u64::MAX;
                continue;
            }
            self.read.offset += read as u64;
            match segment::decode(&record) {
                Some(mut item) => {
                    item.place = Some(self.read);
                    return Ok(Some(item));
                }
                None => self.damaged += 1,
            }
        }
        Ok(None)
    }

    /// Everything up to `done` is stored elsewhere: removes the segments that hold nothing more.
    /// One that can't be removed is sent again by the next run, which does no harm.
    pub fn release(&mut self, done: Place) {
        self.done = done;
        while let Some((number, length)) = self.segments.front().copied() {
            if done < (Place { segment: number, offset: length }) {
                break;
            }
            self.segments.pop_front();
            if self.segments.is_empty() {
                self.writer = None;
            }
            let _ = fs::remove_file(self.path(number));
        }
    }

    /// Says up to where the next run need not send, at a clean end.
    pub fn finish(&mut self) {
        let path = self.dir.join(DONE);
        // Without it the next run sends more, which the server knows again by the ids.
        let _ = if self.segments.is_empty() {
            fs::remove_file(path)
        } else {
            let Place { segment, offset } = self.done;
            cursor::replace(&path, format!("relay-done 1 {segment} {offset}\n").as_bytes())
        };
    }

    /// The segment that has the next unread line, and its length.
    fn unread_segment(&self) -> Option<(u64, u64)> {
        let end = |(segment, offset): &(u64, u64)| Place { segment: *segment, offset: *offset };
        self.segments.iter().find(|segment| end(segment) > self.read).copied()
    }

    /// The segment to append to, and its end.
    fn open_writer(&mut self) -> io::Result<(u64, u64)> {
        let limit = SEGMENT.min(self.max / 4);
        if let Some((number, length)) = self.segments.back()
            && self.writer.is_some()
            && *length < limit
        {
            return Ok((*number, *length));
        }
        let (number, path) = (self.next, self.path(self.next));
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        file.write_all(FIRST)?;
        file.sync_all()?;
        File::open(&self.dir)?.sync_all()?;
        self.next += 1;
        self.writer = Some(file);
        self.segments.push_back((number, FIRST.len() as u64));
        Ok((number, FIRST.len() as u64))
    }

    fn path(&self, number: u64) -> PathBuf {
        self.dir.join(name(number))
    }
}

fn name(number: u64) -> String {
    format!("{number:020}.spool")
}

/// Checks the version of a segment, and cuts a record off its end that a crash left begun.
fn check(path: &Path) -> Result<u64, Error> {
    let on = |err| Error::io("read", path, &err);
    let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(on)?;
    let mut first = Vec::new();
    let limit = FIRST.len() as u64;
    io::Read::by_ref(&mut file).take(limit).read_to_end(&mut first).map_err(on)?;
    if first != FIRST {
        // A crash may leave less than the first line, but never another one.
        if FIRST.starts_with(&first) {
            return Ok(0);
        }
        let message = format!("unable to use {}: not a spool of this version", path.display());
        return Err(Error::new(Reason::Runtime, "spool_refused", message));
    }
    let end = file.seek(SeekFrom::End(0)).map_err(on)?;
    let whole = end_of_last_line(&mut file, limit, end).map_err(on)?;
    if whole < end {
        file.set_len(whole).map_err(on)?;
    }
    Ok(whole)
}

/// Where the last line that has a newline ends, looking backwards from `end`.
fn end_of_last_line(file: &mut File, start: u64, mut end: u64) -> io::Result<u64> {
    while end > start {
        let from = end.saturating_sub(64 << 10).max(start);
        let mut piece = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        io::Read::by_ref(file).take(end - from).read_to_end(&mut piece)?;
        if let Some(at) = piece.iter().rposition(|byte| *byte == b'\n') {
            return Ok(from + at as u64 + 1);
        }
        end = from;
    }
    Ok(start)
}

fn done(path: &Path) -> Option<Place> {
    let text = fs::read_to_string(path).ok()?;
    let (segment, offset) = text.trim().strip_prefix("relay-done 1 ")?.split_once(' ')?;
    Some(Place { segment: segment.parse().ok()?, offset: offset.parse().ok()? })
}

/// Takes the lock at `path` for the life of this process; it then holds our pid.
fn lock(path: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = options.open(path).map_err(|err| Error::io("open", path, &err))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder = fs::read_to_string(path).unwrap_or_default();
            let holder = holder.trim().parse::<u32>();
            let holder = holder.map_or("another process".to_owned(), |pid| format!("pid {pid}"));
            let dir = path.parent().unwrap_or(path).display();
            let message = format!("unable to lock {dir}: held by {holder} (--spool names another)");
            return Err(Error::new(Reason::Runtime, "lock_held", message));
        }
        Err(TryLockError::Error(err)) => return Err(Error::io("lock", path, &err)),
    }
    // A full disk is no reason to leave lines lying; the lock holds without a name in it.
    let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(file)
}

#[cfg(test)]
mod tests;

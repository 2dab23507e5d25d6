//! Which file has the name, which had it in between, and where each is read from.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _},
    time::Duration,
};

use memchr::memrchr_iter;

use super::{
    MOST_FILES, Name, Start, Tail, Why,
    guard::Guard,
    held::{CHUNK, Held},
    trail::Trail,
};
use crate::{
    file::{self, Unread},
    watch::Change,
};

/// How long a file that lost the name is followed: its writer may have it open still.
const LINGER: Duration = Duration::from_secs(1);
/// How often one look asks anew where files went while they are being renamed.
const MOST_ROUNDS: usize = 8;

impl Tail {
    pub(super) fn find(
        &mut self,
        overflowed: bool,
        mut catch_up: impl FnMut() -> Vec<Change>,
    ) -> Name {
        let seen = self.at_name();
        let holder = self.files.back().map(|held| held.id);
        let is_held = holder.is_some() && seen.ok() == holder;
        if is_held && self.trail.is_empty() {
            self.trail.set_departed(false);
            return Name::There;
        }
        let (name, opened) = match file::open(&self.path) {
            Ok(opened) => (Name::There, Some(opened)),
            Err(Unread::Unreadable(cause)) => (Name::Unreadable(cause), None),
            Err(_) => (Name::Absent, None),
        };
        if let Some(start) = self.start.take() {
            if !std::mem::replace(&mut self.looked, true) {
                // Who left before the first look is none of ours.
                catch_up();
                self.trail = Trail::default();
            }
            return self.begin(start, name, opened);
        }
        let new = opened.map(|(file, meta)| Held::new(file, &meta));
        // Only a loss of changes can hide a file that had the name in between.
        self.missed |= overflowed && new.as_ref().is_some_and(|new| Some(new.id) != holder);
        self.succeed(new, catch_up);
        if name == Name::Absent && self.files.len() == 1 {
            self.trail.set_departed(true);
            // A file that was deleted takes up space for as long as it is held.
            if self.files[0].is_deleted() {
                self.retire();
            }
        }
        name
    }

    fn at_name(&self) -> io::Result<(u64, u64)> {
        fs::metadata(&self.path).map(|meta| (meta.dev(), meta.ino()))
    }

    /// The first look.
    fn begin(&mut self, start: Start, name: Name, opened: Option<(File, fs::Metadata)>) -> Name {
        let Some((file, meta)) = opened else {
            // What is there and can't be opened may be readable later, and is then no new file.
            let there = fs::metadata(&self.path).ok().filter(|_| name != Name::Absent);
            let there = there.map(|meta| {
                let size = if meta.is_file() { meta.size() } else { 0 };
                ((meta.dev(), meta.ino()), size)
            });
            let waits = there.is_some() || matches!(start, Start::Mark(_) | Start::Unknown);
            self.sighted = self.sighted.or(there);
            self.start = waits.then_some(start);
            return name;
        };
        let size = match self.sighted {
            Some((id, size)) if id == (meta.dev(), meta.ino()) && !self.trail.has_departed() => {
                size.min(meta.size())
            }
            Some(_) => 0,
            None => meta.size(),
        };
        let mut held = Held::new(file, &meta);
        match self.place(&mut held, start, size) {
            Ok(()) => self.files.push_back(held),
            Err(err) => return Name::Unreadable(err.to_string()),
        }
        name
    }

    /// Puts a file found at the start where reading is to begin.
    fn place(&mut self, held: &mut Held, start: Start, size: u64) -> io::Result<()> {
        match start {
            Start::Beginning => {}
            Start::Lines(lines) => {
                let offset = line_start(&held.file, size, lines)?;
                if let Some(guard) = Guard::read(&held.file, offset)? {
                    held.start_at(guard);
                }
            }
            Start::Unknown => held.announce = Some(Why::MarkLost),
            Start::Mark(mark) => {
                if let Some(guard) = mark.find_in(&held.file)? {
                    held.start_at(guard);
                    return Ok(());
                }
                self.last_offset = mark.offset;
                held.announce = Some(match held.id == (mark.dev, mark.ino) {
                    false => Why::RotatedAway,
                    true if size < mark.offset => Why::Truncated,
                    true => Why::Rewritten,
                });
            }
        }
        Ok(())
    }

    /// Lines up the files that had the name since the held one, and `new`, which has it.
    fn succeed(&mut self, new: Option<Held>, mut catch_up: impl FnMut() -> Vec<Change>) {
        // All that happened before `new` was opened is known after this; who leaves later comes
        // after it, in another look.
        self.trail.note(&catch_up(), &self.names);
        let is_replacement = self.trail.is_empty() && !self.trail.has_departed();
        if let Some(new) = &new {
            self.trail.set_departed(self.at_name().ok() != Some(new.id));
        }
        let (before, most) = (self.trail.len(), self.trail.len().min(MOST_FILES));
        self.trail.open(most);
        for _ in 0..MOST_ROUNDS {
            self.trail.note(&catch_up(), &self.names);
            if !self.trail.open(most) {
                break;
            }
        }
        let holder = self.files.back().map(|held| held.id);
        let is_held = new.as_ref().is_some_and(|new| Some(new.id) == holder);
        let mut new = new.filter(|_| !is_held);
        for left in self.trail.take(most) {
            let opened = left.file.and_then(|file| file.metadata().ok().map(|meta| (file, meta)));
            let Some((file, meta)) = opened else {
                self.missed |= !left.is_held;
                continue;
            };
            let held = Held::new(file, &meta);
            self.push(new.take_if(|new| new.id == held.id).unwrap_or(held));
        }
        // Those that are not open yet come before the new one, which then waits for its turn.
        if let Some(mut new) = new.filter(|_| before == most) {
            new.is_replacement = is_replacement && !self.files.is_empty();
            self.push(new);
        }
        // It came back to its name after others had had it.
        if let Some(at) = self.files.iter().position(|held| is_held && Some(held.id) == holder)
            && let Some(held) = self.files.remove(at)
        {
            self.files.push_back(held);
        }
    }

    fn push(&mut self, mut held: Held) {
        let known = self.files.iter().chain(self.old.iter().map(|(held, _)| held));
        if known.into_iter().any(|known| known.id == held.id) {
            return;
        }
        held.announce = std::mem::take(&mut self.missed).then_some(Why::RotatedAway);
        self.files.push_back(held);
    }

    /// The first file lost the name and is read to its end: the next one's turn.
    pub(super) fn retire(&mut self) {
        let Some(old) = self.files.pop_front() else { return };
        self.last_offset = old.done();
        let resumed = self.files.front_mut().is_some_and(|next| {
            let goes_on = next.is_replacement.then(|| old.guard().ok().flatten()).flatten();
            let goes_on = goes_on.filter(|guard| guard.holds(&next.file).unwrap_or(false));
            goes_on.map(|guard| next.start_at(guard)).is_some()
        });
        // The copy has the line begun as well.
        if !(resumed && old.has_begun()) {
            self.old.push((old, self.now + LINGER));
        }
    }
}

/// Where the last `lines` whole lines of the first `size` bytes begin.
fn line_start(file: &File, size: u64, lines: u64) -> io::Result<u64> {
    let mut buf = vec![0; CHUNK];
    let (mut end, mut newlines) = (size, lines.saturating_add(1));
    while end > 0 {
        let len = usize::try_from(end).unwrap_or(CHUNK).min(CHUNK);
        let start = end - len as u64;
        match file.read_exact_at(&mut buf[..len], start) {
            Ok(()) => {}
            // It was truncated this moment: all that it holds is new.
            Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
            Err(err) => return Err(err),
        }
        for at in memrchr_iter(b'\n', &buf[..len]) {
            newlines -= 1;
            if newlines == 0 {
                return Ok(start + at as u64 + 1);
            }
        }
        end = start;
    }
    Ok(0)
}

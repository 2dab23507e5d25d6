//! Which board a path leads to, and whose memory is its own.

use std::{fs::File, path::Path};

use shared::file::Stamp;

use super::{
    Desk, TRIES,
    look::{Look, Step},
};
use crate::{
    board::Board,
    content::Scan,
    event::shown,
    memory::{self, Memory},
    place::{self, Place},
    trouble::Trouble,
};

impl Desk {
    /// Looks at the board to which `given` leads, if this look didn't yet.
    pub(super) fn look_at(&mut self, given: &Path, look: &mut Look<'_>) -> Step {
        for _ in 0..TRIES {
            match place::open(given) {
                Place::None { path, trouble, detail } => {
                    return self.miss(given, &path, trouble, &detail, look);
                }
                Place::File { stamp, .. } if look.visited.contains(&stamp.file) => {
                    self.name_again(given, stamp.file);
                    return Ok(());
                }
                Place::File { path, file, stamp } => {
                    let key = self.adopt(given, &path, &file, &stamp, look)?;
                    if self.look_at_file(&key, given, &file, &stamp, look)? {
                        look.visited.push(stamp.file);
                        return Ok(());
                    }
                }
            }
        }
        self.miss(
            given,
            &place::nearest(given),
            Trouble::HashFailed,
            "it changed while it was read",
            look,
        )
    }

    /// The board can't be read.
    pub(super) fn miss(
        &mut self,
        given: &Path,
        path: &Path,
        trouble: Trouble,
        detail: &str,
        look: &mut Look<'_>,
    ) -> Step {
        let key = self.key_of_missing(given, path);
        self.note_spelling(&key, given);
        let Some(board) = self.boards.get_mut(&key) else { return Ok(()) };
        if trouble == Trouble::TemporarilyAbsent {
            let now = memory::saturate(look.now.wall.as_nanosecond());
            board.memory.absent_since.get_or_insert(now);
        }
        (board.stamp, board.smaller_since) = (None, None);
        let file = shown(&board.memory.path);
        look.unseen.push(format!("{file}: {}", trouble.word()));
        look.incomplete(&format!("{file}: {}: {detail}", trouble.word()));
        for other in [Trouble::TemporarilyAbsent, Trouble::ReadFailed, Trouble::HashFailed] {
            self.settle(&key, other, (other == trouble).then_some((detail, None)), look)?;
        }
        self.dirty.insert(key);
        Ok(())
    }

    /// The key of a board that isn't there: by its path, by a link that led to it, else a new one.
    fn key_of_missing(&mut self, given: &Path, path: &Path) -> String {
        let key = memory::key(path);
        if self.boards.contains_key(&key) {
            return key;
        }
        if let Some(key) = self.key_by_spelling(given) {
            return key;
        }
        let names = &self.manner.names;
        let memory = Memory::of(path, names.route(), names.list());
        self.boards.insert(key.clone(), Board::new(memory, None));
        key
    }

    fn key_by_spelling(&self, given: &Path) -> Option<String> {
        let named =
            |board: &Board| board.memory.spellings.contains(given) || board.memory.path == given;
        self.boards.iter().find(|(_, board)| named(board)).map(|(key, _)| key.clone())
    }

    /// Another argument leads to a board that this look has dealt with.
    fn name_again(&mut self, given: &Path, file: (u64, u64)) {
        let is_it = |board: &Board| {
            (board.memory.device, board.memory.inode) == file && board.stamp.is_some()
        };
        let found = self.boards.iter().find(|(_, board)| is_it(board));
        if let Some(key) = found.map(|(key, _)| key.clone()) {
            self.note_spelling(&key, given);
        }
    }

    fn note_spelling(&mut self, key: &str, given: &Path) {
        if let Some(board) = self.boards.get_mut(key)
            && board.memory.path != given
            && board.memory.spellings.insert(given.to_owned())
        {
            self.dirty.insert(key.to_owned());
        }
    }

    /// Finds the memory of the board at `path`: its own, that of the same file under another
    /// path, that of the board to which the link led before; else a new one.
    fn adopt(
        &mut self,
        given: &Path,
        path: &Path,
        file: &File,
        stamp: &Stamp,
        look: &mut Look<'_>,
    ) -> Step<String> {
        let key = memory::key(path);
        if !self.boards.contains_key(&key) {
            let memory = if let Some(old) = self.moved(file, stamp) {
                self.follow(&old, stamp, look)?
            } else if let Some(old) = self.key_by_spelling(given) {
                self.relink(&old, given, look)?
            } else {
                None
            };
            let names = &self.manner.names;
            let mut memory =
                memory.unwrap_or_else(|| Memory::of(path, names.route(), names.list()));
            path.clone_into(&mut memory.path);
            memory.spellings.clear();
            self.boards.insert(key.clone(), Board::new(memory, None));
        }
        self.note_spelling(&key, given);
        Ok(key)
    }

    /// The board that was read from this very file.
    fn moved(&self, file: &File, stamp: &Stamp) -> Option<String> {
        let is_it = |board: &Board| {
            let memory = &board.memory;
            // A number of a file that is gone is given to the next one.
            let born = file.metadata().and_then(|meta| meta.created()).ok();
            let born = born.and_then(|born| born.duration_since(std::time::UNIX_EPOCH).ok());
            let is_old = born.map_or(memory.content.bytes > 0, |born| {
                i128::try_from(born.as_nanos())
                    .is_ok_and(|born| born <= i128::from(memory.ctime_ns))
            });
            let same = || {
                stamp.size >= memory.content.bytes
                    && memory
                        .content
                        .scan(file, memory.content.bytes, 0, 0, |_, _| {})
                        .is_ok_and(|scan| matches!(scan, Scan::Same(_)))
            };
            memory.has_baseline() && (memory.device, memory.inode) == stamp.file && is_old && same()
        };
        self.boards.iter().find(|(_, board)| is_it(board)).map(|(key, _)| key.clone())
    }

    /// The memory of `old` for a file that is the same under another path.
    fn follow(&mut self, old: &str, stamp: &Stamp, look: &mut Look<'_>) -> Step<Option<Memory>> {
        let path = self.boards.get(old).map(|board| board.memory.path.clone());
        let is_there = path.is_some_and(|path| {
            matches!(place::open(&path), Place::File { stamp: now, .. } if now.file == stamp.file)
        });
        if is_there {
            return Ok(self.boards.get(old).map(|board| board.memory.clone()));
        }
        self.forget(old, look)
    }

    /// The memory of `old`, to which the link `given` led before.
    fn relink(&mut self, old: &str, given: &Path, look: &mut Look<'_>) -> Step<Option<Memory>> {
        let Some(board) = self.boards.get_mut(old) else { return Ok(None) };
        if !board.memory.has_baseline() {
            return self.forget(old, look);
        }
        board.memory.spellings.remove(given);
        self.dirty.insert(old.to_owned());
        let mut memory = board.memory.clone();
        // What was said of the other board stays said of that.
        memory.raised.clear();
        Ok(Some(memory))
    }

    /// Takes the memory of a board that is no more, after taking back what was said of it.
    fn forget(&mut self, old: &str, look: &mut Look<'_>) -> Step<Option<Memory>> {
        let raised = self.boards.get(old).map(|board| board.memory.raised.clone());
        for trouble in raised.unwrap_or_default() {
            self.settle(old, trouble, None, look)?;
        }
        // A file that stays is read at the next start, and does no harm.
        let _ = self.shelf.remove(old);
        self.dirty.remove(old);
        Ok(self.boards.remove(old).map(|board| board.memory))
    }
}

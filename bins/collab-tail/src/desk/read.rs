//! What a look does with the file of a board: whether it reads it, from where, and what of it is
//! history.

use std::{fs::File, io, path::Path, time::Duration};

use shared::{clock, exit::Error, file::Stamp, wait::Stop};

use super::{
    Desk,
    look::{Halt, Look, Step},
};
use crate::{
    board::{self, Board, Outcome, Reading, Silence},
    content::Scan,
    memory::Memory,
    place,
    trouble::{How, Trouble},
};

/// How long a board has to be smaller to have shrunk: editors empty a file before they fill it.
const SHRINKING: Duration = Duration::from_millis(100);

/// What a board has to say of itself beside its mail.
pub(super) enum Change {
    None,
    Shrunk { old: u64, rewritten: bool },
    Rewritten { from: u64, how: How },
}

/// What is to be done with the file of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// Nothing: it is as it was.
    Nothing,
    /// Look again in a moment.
    Wait,
    /// Look again now.
    Again,
    /// Read it. `counts`: a last line without newline counts. `whole`: all that is known is
    /// compared.
    Read { counts: bool, whole: bool },
}

impl Desk {
    /// Looks at the file of a board. False: it changed meanwhile and is to be looked at again.
    pub(super) fn look_at_file(
        &mut self,
        key: &str,
        given: &Path,
        file: &File,
        stamp: &Stamp,
        look: &mut Look<'_>,
    ) -> Step<bool> {
        let (counts, whole) = match self.plan(key, stamp, look)? {
            Plan::Nothing => return self.settle_fence(key, look).map(|()| true),
            Plan::Wait => return Ok(true),
            Plan::Again => return Ok(false),
            Plan::Read { counts, whole } => (counts, whole),
        };
        let read = self.read(key, given, file, stamp, counts, whole);
        let (reading, change) = match read.and_then(|read| Ok((read, is_still(file, stamp)?))) {
            Ok((Some(read), true)) => read,
            Ok(_) => return Ok(false),
            Err(err) => {
                let (path, detail) = (place::nearest(given), err.to_string());
                return self.miss(given, &path, Trouble::ReadFailed, &detail, look).map(|()| true);
            }
        };
        for trouble in [Trouble::TemporarilyAbsent, Trouble::ReadFailed, Trouble::HashFailed] {
            self.settle(key, trouble, None, look)?;
        }
        if reading.fence().is_none() {
            self.settle(key, Trouble::UnclosedFence, None, look)?;
        }
        self.tell_change(key, &change, stamp, look)?;
        if !self.deliver(key, file, &reading, look)? {
            return Ok(false);
        }
        let Some(board) = self.boards.get_mut(key) else { return Ok(true) };
        board.remember(*reading, stamp, &self.manner);
        board.has_counted = counts;
        if whole || !matches!(change, Change::None) {
            board.compared_at = Some(look.now.monotonic);
        }
        board.is_compare_due = !whole || stamp.is_young(look.now.wall.as_nanosecond());
        if file.metadata().is_ok_and(|meta| meta.len() > stamp.size) {
            look.wake_at(look.now.monotonic);
        }
        self.dirty.insert(key.to_owned());
        self.settle_fence(key, look)?;
        self.plan_ahead(key, look);
        Ok(true)
    }

    fn plan(&mut self, key: &str, stamp: &Stamp, look: &mut Look<'_>) -> Step<Plan> {
        let (now, once, interval) = (clock::monotonic(), self.wishes.once, self.wishes.interval);
        let Some(board) = self.boards.get_mut(key) else { return Ok(Plan::Nothing) };
        let is_first = board.stamp.is_none();
        let is_changed = board.stamp != Some(*stamp);
        if is_changed && board.changing != Some(*stamp) {
            board.changing = Some(*stamp);
            board.changed_at = now;
            board.has_counted = false;
        }
        let known = board.memory.content.bytes;
        if stamp.size < known {
            let since = *board.smaller_since.get_or_insert(now);
            if now < since + SHRINKING {
                return self.wait_for_writer(since + SHRINKING, look);
            }
        } else {
            board.smaller_since = None;
        }
        let standing = if is_first {
            let age = look.now.wall.as_nanosecond() - stamp.modified_ns;
            age >= i128::try_from(board::STANDING.as_nanos()).unwrap_or(i128::MAX)
        } else {
            now >= board.changed_at + board::STANDING
        };
        let compares = board.is_compare_due && now >= compare_at(board, interval);
        let has_waited = board.is_waiting() && standing;
        if !is_changed && !compares && !has_waited {
            self.plan_ahead(key, look);
            return Ok(Plan::Nothing);
        }
        let same_file = board.stamp.is_some_and(|known| known.file == stamp.file);
        let appended = is_changed && same_file && stamp.size > known && !once;
        Ok(Plan::Read { counts: standing, whole: !appended })
    }

    /// The board is smaller: its writer may be at work.
    fn wait_for_writer(&self, until: Duration, look: &mut Look<'_>) -> Step<Plan> {
        if !self.wishes.once {
            look.outcome.settling = true;
            look.wake_at(until);
            return Ok(Plan::Wait);
        }
        let rest = until.saturating_sub(clock::monotonic());
        match look.waiter.rest(rest) {
            Ok(false) => Ok(Plan::Again),
            Ok(true) => Err(Halt::Stop(Stop::Signal)),
            Err(err) => Err(Halt::Failed(Error::on("wait")(err))),
        }
    }

    /// When this board wants to be looked at though nothing changes.
    fn plan_ahead(&self, key: &str, look: &mut Look<'_>) {
        let Some(board) = self.boards.get(key) else { return };
        if board.is_compare_due {
            look.wake_at(compare_at(board, self.wishes.interval));
        }
        if board.is_waiting() {
            look.wake_at(board.changed_at + board::STANDING);
        }
    }

    /// Reads a board. `None`: it changed meanwhile.
    fn read(
        &self,
        key: &str,
        given: &Path,
        file: &File,
        stamp: &Stamp,
        counts: bool,
        whole: bool,
    ) -> io::Result<Option<(Box<Reading>, Change)>> {
        let Some(board) = self.boards.get(key) else { return Ok(None) };
        let (memory, manner, size) = (&board.memory, &self.manner, stamp.size);
        let known = memory.content.bytes;
        if !memory.has_baseline() {
            let (silence, change) = self.first_silence(memory, given, stamp);
            return Ok(
                read_of(manner.read(file, size, silence, counts)?).map(|read| (read, change))
            );
        }
        let other = board.is_of_other(manner);
        let edited = (memory.device, memory.inode) == stamp.file;
        let how = if edited { How::Edited } else { How::Replaced };
        if size < known {
            let change = match memory.content.scan_below(file, size)? {
                Scan::Cut => return Ok(None),
                Scan::Differs(from) if !edited => Change::Rewritten { from, how },
                scan => Change::Shrunk { old: known, rewritten: matches!(scan, Scan::Differs(_)) },
            };
            let is_history = other && matches!(change, Change::Shrunk { rewritten: false, .. });
            let silence = if is_history { Silence::Whole } else { Silence::None };
            let reading = read_of(manner.read(file, size, silence, counts)?);
            return Ok(reading.map(|reading| (reading, change)));
        }
        let outcome = if other {
            board.read_again(file, size, Silence::Until(known), counts, manner)?
        } else if whole || memory.content.begins_same(file)? {
            board.read_on(file, size, whole, counts, manner)?
        } else {
            Outcome::Differs(0)
        };
        let from = match outcome {
            Outcome::Read(reading) => return Ok(Some((reading, Change::None))),
            Outcome::Cut => return Ok(None),
            Outcome::Differs(from) => from,
        };
        let silence = if other { Silence::Until(from) } else { Silence::None };
        let reading = read_of(manner.read(file, size, silence, counts)?);
        Ok(reading.map(|reading| (reading, Change::Rewritten { from, how })))
    }

    /// How much of a board without baseline is history.
    fn first_silence(&self, memory: &Memory, given: &Path, stamp: &Stamp) -> (Silence, Change) {
        if let Some(read) = self.import.as_ref().and_then(|it| it.size_of(given, &memory.path)) {
            return if stamp.size < read {
                (Silence::None, Change::Shrunk { old: read, rewritten: false })
            } else {
                (Silence::Until(read), Change::None)
            };
        }
        // What came after it was missed is mail; what was only mounted late is history.
        let coarse = stamp.changed_ns % 1_000_000_000 == 0;
        let grain = if coarse { 2_000_000_000 } else { 20_000_000 };
        let is_later = |since: i64| stamp.changed_ns + grain >= i128::from(since);
        let is_mail = self.wishes.unread || memory.absent_since.is_some_and(is_later);
        (if is_mail { Silence::None } else { Silence::Whole }, Change::None)
    }
}

/// When all of a board is compared after an append.
fn compare_at(board: &Board, interval: Duration) -> Duration {
    let quiet = board.changed_at + board::QUIET;
    board.compared_at.map_or(quiet, |at| quiet.max(at + interval))
}

/// Whether what was read of a file with `stamp` is what stands there: it only grew, if anything.
fn is_still(file: &File, stamp: &Stamp) -> io::Result<bool> {
    let now = Stamp::of(&file.metadata()?);
    Ok(now.size > stamp.size || (now.size, now.modified_ns) == (stamp.size, stamp.modified_ns))
}

fn read_of(outcome: Outcome) -> Option<Box<Reading>> {
    match outcome {
        Outcome::Read(reading) => Some(reading),
        Outcome::Differs(_) | Outcome::Cut => None,
    }
}

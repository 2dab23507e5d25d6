//! What is in the files, piece by piece.

use std::{io, ops::Range};

use super::{
    MOST_FILES, Reset, Tail,
    held::{CHUNK, Fill, Split},
};

/// Whose turn it is in a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Of a file that lost the name.
    Old(usize),
    /// Of those that have or had it, in order.
    Files,
    /// Of none: this look is over.
    Over,
}

/// A [`super::Piece`] before it borrows.
pub(super) enum Step {
    Lines(u64, Range<usize>),
    Joined(u64),
    TooLong(u64, u64),
    Nuls(u64),
    Unended(u64),
    Reset(Reset),
}

impl Tail {
    pub(super) fn step(&mut self) -> Option<Step> {
        loop {
            let turn = self.turn;
            let held = match turn {
                Turn::Old(at) if at < self.old.len() => &mut self.old[at].0,
                Turn::Old(_) => {
                    self.turn = Turn::Files;
                    continue;
                }
                Turn::Files if !self.files.is_empty() => &mut self.files[0],
                Turn::Files | Turn::Over => {
                    self.turn = Turn::Over;
                    return None;
                }
            };
            held.settle();
            // A long line is rare: its memory goes back.
            self.joined = Vec::new();
            if let Some(why) = held.announce.take() {
                let size = held.size().unwrap_or(0);
                let previous_offset = std::mem::take(&mut self.last_offset);
                return Some(Step::Reset(Reset { why, previous_offset, size, inode: held.id.1 }));
            }
            if !self.ready.is_empty() {
                let offset = held.handed();
                let split = held.split(&self.buf[self.ready.clone()], self.limit);
                if let Some(step) = self.hand_out(offset, split) {
                    return Some(step);
                }
                continue;
            }
            if self.reads_left == 0 {
                return None;
            }
            self.reads_left -= 1;
            self.buf.resize(CHUNK, 0);
            match held.fill(&mut self.buf) {
                Ok(Fill::Bytes(n)) => self.ready = 0..n,
                Ok(Fill::Goal) => {
                    if let Some(step) = self.pass_on(turn) {
                        return Some(step);
                    }
                }
                Ok(Fill::Changed) => {
                    if let Some(step) = self.start_again(turn) {
                        return Some(step);
                    }
                }
                Err(err) => self.give_up(turn, &err),
            }
        }
    }

    fn hand_out(&mut self, offset: u64, split: Split) -> Option<Step> {
        let start = self.ready.start;
        let (used, step) = match split {
            Split::Lines(n) => (n, Some(Step::Lines(offset, start..start + n))),
            Split::Joined(n, line) => {
                self.joined = line;
                (n, Some(Step::Joined(offset)))
            }
            Split::TooLong(n, bytes) => (n, Some(Step::TooLong(offset, bytes))),
            Split::Nuls(n, bytes) => (n, Some(Step::Nuls(bytes))),
            Split::Begun(n) => (n, None),
        };
        self.ready.start += used;
        step
    }

    /// The file whose turn it was is read to its end.
    fn pass_on(&mut self, turn: Turn) -> Option<Step> {
        match turn {
            Turn::Old(at) => {
                let is_over = self.old[at].1 <= self.now || self.old.len() > MOST_FILES;
                if is_over {
                    return self.close(at);
                }
                self.turn = Turn::Old(at + 1);
            }
            Turn::Files if self.files.len() > 1 => self.retire(),
            Turn::Files | Turn::Over => self.turn = Turn::Over,
        }
        None
    }

    /// Lets go of a file that lost the name; its last piece, if that has no newline.
    fn close(&mut self, at: usize) -> Option<Step> {
        let (mut held, _) = self.old.remove(at);
        let offset = held.handed();
        let (begun, skipped) = held.take_begun();
        self.joined = begun;
        if skipped > 0 {
            return Some(Step::TooLong(offset, skipped));
        }
        (!self.joined.is_empty()).then_some(Step::Unended(offset))
    }

    /// The file whose turn it is has another content than the one that was read.
    fn start_again(&mut self, turn: Turn) -> Option<Step> {
        if let Turn::Old(at) = turn {
            return self.close(at);
        }
        let held = self.files.front_mut()?;
        match held.start_again() {
            Ok((why, previous_offset)) => {
                let size = held.size().unwrap_or(0);
                Some(Step::Reset(Reset { why, previous_offset, size, inode: held.id.1 }))
            }
            Err(err) => {
                self.give_up(turn, &err);
                None
            }
        }
    }

    /// The file whose turn it is can't be read, for now.
    fn give_up(&mut self, turn: Turn, err: &io::Error) {
        self.trouble = Some(err.to_string());
        if let Turn::Old(at) = turn {
            self.old.remove(at);
        } else {
            self.turn = Turn::Over;
        }
    }
}

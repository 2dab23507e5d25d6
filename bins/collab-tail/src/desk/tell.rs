//! What a look says: mail, what became of a board, what is wrong with it.

use std::{fs::File, time::Duration};

use shared::{clock, file::Stamp, text};

use super::{
    Desk,
    look::{Look, Step},
    read::Change,
    record_of,
};
use crate::{
    block::{self, Post},
    board::{self, Reading},
    event::{Addressed, Told, shown},
    grammar::{self, Via},
    hash::Hash,
    line,
    trouble::{Rewritten, Shrunk, Trouble, Warning},
};

/// How long a board has to stand with an open fence until that is said while a watch runs.
const FENCE_STANDS: Duration = Duration::from_secs(2);
/// How much of a line is searched for credentials: more than fits into an event.
const PRINTED: usize = 8192;

impl Desk {
    pub(super) fn tell_change(
        &mut self,
        key: &str,
        change: &Change,
        stamp: &Stamp,
        look: &mut Look<'_>,
    ) -> Step {
        let Some(board) = self.boards.get_mut(key) else { return Ok(()) };
        let (file, new_bytes) = (shown(&board.memory.path), stamp.size);
        let event = match *change {
            Change::None => return Ok(()),
            _ if board.change_told == Some(*stamp) => return Ok(()),
            Change::Shrunk { old, rewritten } => Told::FileShrunk(Shrunk {
                file,
                old_bytes: old,
                new_bytes,
                delta_bytes: old.saturating_sub(new_bytes),
                rewritten,
                count: board.memory.counts.get("file_shrunk").map_or(1, |n| n + 1),
            }),
            Change::Rewritten { from, how } => Told::FileRewritten(Rewritten {
                file,
                how,
                from_byte: from,
                old_bytes: board.memory.content.bytes,
                new_bytes,
                count: board.memory.counts.get("file_rewritten").map_or(1, |n| n + 1),
            }),
        };
        look.tell(&event, None)?;
        board.memory.count(event.name());
        board.change_told = Some(*stamp);
        Ok(())
    }

    /// Tells what is new, in order. False: the board changed meanwhile.
    pub(super) fn deliver(
        &mut self,
        key: &str,
        file: &File,
        reading: &Reading,
        look: &mut Look<'_>,
    ) -> Step<bool> {
        let (history, news) = reading.told.split_at(reading.silent.min(reading.told.len()));
        for told in history.iter().chain(&reading.waiting) {
            self.seen.add(record_of(&told.post.hash, told.post.occurrence));
        }
        for told in news {
            let record = record_of(&told.post.hash, told.post.occurrence);
            if self.is_known(key, &told.post) || (told.own && self.wishes.drop_own) {
                self.seen.add(record);
                continue;
            }
            let Ok(Some(text)) = board::text_of(file, &told.post) else { return Ok(false) };
            let event = self.event(key, told, &text);
            look.tell(&event, Some(record))?;
            self.record(look);
        }
        self.record(look);
        Ok(true)
    }

    fn is_known(&self, key: &str, post: &Post) -> bool {
        let is_old = |raw: &Hash| post.occurrence < 2 && self.seen.contains(raw);
        let most = || self.boards.get(key).map_or(0, |board| board.most(&post.hash));
        self.seen.contains(&record_of(&post.hash, post.occurrence))
            || post.raw_hash.as_ref().is_some_and(is_old)
            || (post.occurrence >= 2 && post.occurrence <= most())
    }

    fn event(&self, key: &str, told: &block::Told, text: &str) -> Told {
        let post = &told.post;
        let clean = line::clean(text);
        let near = text::head(&clean, PRINTED);
        let addressed = Addressed {
            listener: self.listener.clone(),
            author: told.author.as_ref().map(|author| format!("@{author}")),
            text: text::redact(near).into_owned(),
            heading: post.via == Via::Heading,
            via: post.via,
            recipients: grammar::recipients(&self.manner.names, post.via, text),
            file: self.boards.get(key).map_or_else(String::new, |board| shown(&board.memory.path)),
            line_number: post.line_number,
            byte_offset: post.offset,
            hash: post.hash,
            occurrence: post.occurrence,
            is_cut: near.len() < clean.len() || post.length as usize >= line::MATCHED,
        };
        if told.own { Told::SelfPost(addressed) } else { Told::CollabMail(addressed) }
    }

    pub(super) fn settle_fence(&mut self, key: &str, look: &mut Look<'_>) -> Step {
        let Some(board) = self.boards.get(key) else { return Ok(()) };
        let (fence, stands) = (board.fence, board.changed_at + FENCE_STANDS);
        let Some(line_number) = fence else {
            return self.settle(key, Trouble::UnclosedFence, None, look);
        };
        let path = shown(&board.memory.path);
        look.incomplete(&format!("{path}: a fence is open since line {line_number}"));
        let was_said = board.said.contains(&Trouble::UnclosedFence);
        if !self.wishes.once && !was_said && clock::monotonic() < stands {
            look.wake_at(stands);
            return Ok(());
        }
        self.settle(key, Trouble::UnclosedFence, Some(("", Some(line_number))), look)
    }

    /// Says that a trouble holds, or that it is over, if that is news.
    pub(super) fn settle(
        &mut self,
        key: &str,
        trouble: Trouble,
        holds: Option<(&str, Option<u64>)>,
        look: &mut Look<'_>,
    ) -> Step {
        let Some(board) = self.boards.get_mut(key) else { return Ok(()) };
        let is_said = board.said.contains(&trouble);
        let was_raised = board.memory.raised.contains(&trouble);
        if holds.is_some() == is_said && (is_said || !was_raised) {
            return Ok(());
        }
        let file = shown(&board.memory.path);
        let count = board.memory.counts.get("watch_warn").map_or(1, |n| n + 1);
        let warning = match holds {
            None => Warning::cleared(file, trouble, count),
            Some((detail, line_number)) => {
                Warning { line_number, ..Warning::raised(file, trouble, detail, count) }
            }
        };
        look.tell(&Told::WatchWarn(warning), None)?;
        board.memory.count("watch_warn");
        self.dirty.insert(key.to_owned());
        if holds.is_some() {
            board.said.insert(trouble);
            board.memory.raised.insert(trouble);
        } else {
            board.said.remove(&trouble);
            board.memory.raised.remove(&trouble);
        }
        Ok(())
    }
}

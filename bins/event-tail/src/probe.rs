//! The state folder, its journal and the cursor file: where event-tail meets the world.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use shared::{
    clock::Now,
    cursor::{Cursor, Found},
    exit::{self, Ended, Error},
    folder::Folder,
    session::{Pass, Session},
    tail::{Mark, Name, Piece, Start, Tail},
};

use crate::{
    args::Args,
    decide::{Journal, Memory, Seen},
    event::{FILE, SkipReason, TailEvent},
    filter::{Filter, Skip, Verdict},
    skips::Skips,
};

/// The version of the cursor file.
const VERSION: u32 = 1;
/// What some writers begin a file with.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Follows the journal.
#[derive(Debug)]
pub struct Probe {
    folder: Folder,
    tail: Tail,
    limit: usize,
    filter: Filter,
    cursor: Option<Cursor>,
}

impl Probe {
    /// Finds the state folder and opens the cursor.
    ///
    /// # Errors
    ///
    /// A cursor in the watched folder is one of usage; one that another process holds, or of
    /// another folder, is refused.
    pub fn new(args: &Args, session: &mut Session) -> Result<Self, Error> {
        let mut folder =
            Folder::new(args.state_dir.as_deref()).map_err(Error::on("find the folder"))?;
        if folder.resolve() {
            warn_of(&folder);
        }
        session.set_subject(&folder.canonical());
        let (cursor, start) = match &args.cursor {
            None => (None, args.start()),
            Some(path) => {
                folder.keep_out(path)?;
                let (cursor, found) =
                    Cursor::open(path, "event-tail", &folder.canonical(), VERSION)?;
                (Some(cursor.flat()), start(args, path, found))
            }
        };
        let tail = Tail::new(folder.path().join(FILE), start, args.max_line);
        let filter = Filter::new(&args.filter);
        Ok(Self { folder, tail, limit: args.max_line, filter, cursor })
    }

    /// The folders to watch.
    #[must_use]
    pub fn folders(&mut self) -> Vec<PathBuf> {
        let mut folders = self.folder.candidates();
        folders.extend(self.tail.folders());
        folders.dedup();
        folders
    }

    /// Looks, and tells the lines that pass and what the lines call for. Break: nobody listens,
    /// or we are asked to stop.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn look(
        &mut self,
        memory: &mut Memory,
        pass: &Pass,
        session: &mut Session,
    ) -> Result<ControlFlow<Ended, Seen>, Error> {
        self.resolve(session);
        let name = self.tail.look(&pass.changes, pass.now.monotonic, || session.catch_up());
        let mut had_news = false;
        while let Some(piece) = self.tail.piece() {
            had_news = true;
            if let ControlFlow::Break(ended) =
                pass_on(piece, &self.filter, &mut memory.skips, &pass.now, session)?
            {
                return Ok(ControlFlow::Break(ended));
            }
        }
        let path = self.tail.path().display();
        let journal = match (name, self.tail.trouble()) {
            (Name::Unreadable(cause), _) => Journal::Unreadable(format!("{path}: {cause}")),
            (_, Some(cause)) => Journal::Unreadable(format!("{path}: {cause}")),
            (Name::There, None) => Journal::There,
            (Name::Absent, None) if self.folder.path().is_dir() => Journal::Absent,
            (Name::Absent, None) => Journal::NoFolder(self.folder.path().display().to_string()),
        };
        let (is_behind, due) = (self.tail.is_behind(), self.tail.due());
        Ok(ControlFlow::Continue(Seen { journal, is_behind, due, had_news }))
    }

    /// Saves how far the journal was dealt with.
    ///
    /// # Errors
    ///
    /// Those of stdout.
    pub fn remember(&mut self, pass: &Pass, session: &mut Session) -> Result<(), Error> {
        let Some(cursor) = &mut self.cursor else { return Ok(()) };
        let Some(mark) = self.tail.mark() else { return Ok(()) };
        session.remember::<Mark>(&pass.now, Some(cursor), &mark)
    }

    /// Settles which folder is watched, if it can be; the journal there is then read from its
    /// beginning, since neither folder was there before.
    fn resolve(&mut self, session: &mut Session) {
        if !self.folder.resolve() {
            return;
        }
        warn_of(&self.folder);
        self.tail = Tail::new(self.folder.path().join(FILE), Start::Beginning, self.limit);
        let subject = self.folder.canonical();
        session.set_subject(&subject);
        if let Some(cursor) = &mut self.cursor {
            cursor.set_target(&subject);
        }
    }
}

fn warn_of(folder: &Folder) {
    let path = folder.path().display();
    exit::warn("event-tail", &format!("watching {path}, of the main work tree"));
}

/// Where a journal that is there is read from, after what the cursor file held.
fn start(args: &Args, cursor: &Path, found: Found<Mark>) -> Start {
    match found {
        Found::Nothing => args.start(),
        Found::Known(mark) => Start::Mark(mark),
        Found::Broken => {
            let cause = format!("{}: not a cursor file, reading from byte 0", cursor.display());
            exit::warn("event-tail", &cause);
            Start::Unknown
        }
    }
}

/// Tells what a piece of the journal calls for.
fn pass_on(
    piece: Piece<'_>,
    filter: &Filter,
    skips: &mut Skips,
    now: &Now,
    session: &mut Session,
) -> Result<ControlFlow<Ended>, Error> {
    let skip = match piece {
        Piece::Lines { offset, bytes } => {
            return pass_lines(bytes, offset, filter, skips, now, session);
        }
        Piece::TooLong { offset, bytes } => Skip { reason: SkipReason::TooLong, offset, bytes },
        Piece::Nuls { bytes } => Skip { reason: SkipReason::Nul, offset: 0, bytes },
        Piece::Unended { offset, bytes } => match filter.last_piece(bytes, offset) {
            None => return Ok(ControlFlow::Continue(())),
            Some(Verdict::Pass(piece)) => {
                return session.tell_lines(now, [&*[piece, b"\n"].concat()]);
            }
            Some(Verdict::Skip(skip)) => skip,
        },
        Piece::Reset(reset) => {
            return session.tell(now, &[], &[TailEvent::TailReset(reset.into())]);
        }
    };
    let told = skips.note(skip, now.monotonic).map(TailEvent::TailSkipped);
    session.tell(now, &[], told.as_slice())
}

/// Tells the lines that pass, and in their place what is to be told at once of those that don't.
fn pass_lines(
    bytes: &[u8],
    offset: u64,
    filter: &Filter,
    skips: &mut Skips,
    now: &Now,
    session: &mut Session,
) -> Result<ControlFlow<Ended>, Error> {
    let text = bytes.strip_prefix(BOM).filter(|_| offset == 0).unwrap_or(bytes);
    let offset = offset + (bytes.len() - text.len()) as u64;
    let mut verdicts = filter.verdicts(text);
    loop {
        let mut skipped = None;
        let lines = std::iter::from_fn(|| {
            loop {
                match verdicts.next()? {
                    Verdict::Pass(line) => return Some(line),
                    Verdict::Skip(skip) => {
                        let skip = Skip { offset: offset + skip.offset, ..skip };
                        skipped = skips.note(skip, now.monotonic);
                        if skipped.is_some() {
                            return None;
                        }
                    }
                }
            }
        });
        let told = session.tell_lines(now, lines)?;
        let Some(event) = skipped.filter(|_| told.is_continue()) else { return Ok(told) };
        let told = session.tell(now, &[], &[TailEvent::TailSkipped(event)])?;
        if told.is_break() {
            return Ok(told);
        }
    }
}

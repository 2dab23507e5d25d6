//! The file of acknowledgements: what is appended to it counts, what it held before doesn't.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use shared::{
    clock::Now,
    exit::Error,
    follow::{Follower, State, Told},
    health::{Health, Reasons},
    watch::Watch,
};

/// How often the file is looked at without a sign of change.
pub const SWEEP: Duration = Duration::from_secs(5);

/// A place in a file: its device and inode, and how far it was read.
pub type Position = ((u64, u64), u64);

/// The position in a file that was not there.
const ABSENT: (u64, u64) = (0, 0);

/// The file, followed.
#[derive(Debug)]
pub struct Acks {
    path: PathBuf,
    follower: Follower,
    watch: Watch,
    reasons: Reasons,
    /// Where the run before had read to. `None`: there was none, or this run has read.
    known: Option<Position>,
    began: bool,
    was_absent: bool,
}

impl Acks {
    /// Follows `path`, absolute, from `known` on.
    #[must_use]
    pub fn new(path: &Path, watch: Watch, known: Option<Position>) -> Self {
        let (path, follower) = (path.to_owned(), Follower::new(Some(path)));
        let (reasons, began, was_absent) = (Reasons::default(), false, false);
        Self { path, follower, watch, reasons, known, began, was_absent }
    }

    /// How far it was read.
    #[must_use]
    pub fn position(&self) -> Position {
        self.follower.position()
    }

    /// Hands each line that counts to `each`, and says what there is to say of the file itself.
    ///
    /// # Errors
    ///
    /// A file that can't be read at the start.
    pub fn read(
        &mut self,
        now: &Now,
        each: &mut impl FnMut(&[u8]),
    ) -> Result<Option<Health>, Error> {
        self.watch.arm(self.path.parent().map(Path::to_owned).as_slice(), now.monotonic);
        // The look that follows knows more than what went by.
        drop(self.watch.take());
        let from = self.first_that_counts();
        let is_first = !std::mem::replace(&mut self.began, true);
        let read = self.follower.read(&mut |told| match told {
            Told::Line { offset, text: Some(text), .. } if from.is_some_and(|at| offset >= at) => {
                each(text);
            }
            _ => {}
        });
        self.was_absent = matches!(read, Ok(State::Absent));
        match read {
            Ok(_) => Ok(self.reasons.recover("acks_unreadable", now)),
            Err(err) if is_first => Err(Error::io("read", &self.path, &err)),
            Err(err) => {
                let detail = format!("{}: {err}", self.path.display());
                Ok(self.reasons.degrade("acks_unreadable", &detail, SWEEP, now))
            }
        }
    }

    /// Where the lines begin that count in the next reading. `None`: all of it is history.
    fn first_that_counts(&mut self) -> Option<u64> {
        let there = fs::metadata(&self.path).map_or(ABSENT, |meta| (meta.dev(), meta.ino()));
        if self.began {
            // What another file says that took the name may be as old as that file.
            let is_same = self.follower.position().0 == there;
            return (self.was_absent || is_same).then_some(0);
        }
        let (file, offset) = self.known.take()?;
        (file == ABSENT || file == there).then_some(offset)
    }
}

//! What is kept over a restart, below `--store`.

use std::{path::Path, time::Duration};

use serde::{Deserialize, Serialize};
use shared::{
    clock::Now,
    cursor::{Cursor, Found},
    exit::{self, Error},
    health::{Health, Reasons},
    line, store,
};

use crate::{
    acks::Position,
    args::Args,
    decide::{Nudges, Open},
};

/// The content of the file, beside its version.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Saved {
    open: Vec<Open>,
    file: (u64, u64),
    offset: u64,
}

/// The open file.
#[derive(Debug)]
pub struct Store {
    cursor: Cursor,
    reasons: Reasons,
    /// What the file says: how often what waits had changed, and how far was read.
    facts: Option<(u64, Position)>,
}

/// What was kept.
#[derive(Debug, Default)]
pub struct Kept {
    /// The nudges.
    pub open: Vec<Open>,
    /// How far the acknowledgements were read.
    pub position: Option<Position>,
}

impl Store {
    /// Opens it, if one is asked for: for the acknowledgements `acks`, since each run of agents
    /// may have its own.
    ///
    /// # Errors
    ///
    /// A folder or file that is refused.
    pub fn open(args: &Args, acks: Option<&Path>) -> Result<Option<(Self, Kept)>, Error> {
        let named = std::env::var_os("DOORBELL_STORE").is_some_and(|value| !value.is_empty());
        if args.store.is_none() && !named {
            return Ok(None);
        }
        let folder = store::root(args.store.as_deref())?.join("nudge");
        store::make_private(&folder)?;
        let target = acks.map_or_else(String::new, |path| path.display().to_string());
        let path = folder.join(format!("{}.json", line::digest(target.as_bytes())));
        let (cursor, found) = Cursor::open::<Saved>(&path, "nudge", &target, 1)?;
        let kept = match found {
            Found::Known(Saved { open, file, offset }) => {
                Kept { open, position: Some((file, offset)) }
            }
            Found::Nothing => Kept::default(),
            Found::Broken => {
                let message = format!("{} is damaged: what waited is forgotten", path.display());
                exit::warn("nudge", &message);
                Kept::default()
            }
        };
        Ok(Some((Self { cursor, reasons: Reasons::default(), facts: None }, kept)))
    }

    /// Keeps what waits, when that is not what it was: the time that is left of a wait is not
    /// worth a write.
    pub fn save(&mut self, nudges: &Nudges, position: Position, now: &Now) -> Option<Health> {
        let facts = (nudges.changes, position);
        if self.facts == Some(facts) {
            return None;
        }
        let (file, offset) = position;
        match self.cursor.save(&Saved { open: nudges.saved(now.monotonic), file, offset }) {
            Ok(()) => {
                self.facts = Some(facts);
                self.reasons.recover("cursor_unwritable", now)
            }
            Err(err) => {
                let detail = format!("{}: {err}", self.cursor.path().display());
                self.reasons.degrade("cursor_unwritable", &detail, Duration::ZERO, now)
            }
        }
    }

    /// The same at the end of a run, with the time that is left.
    pub fn save_last(&mut self, nudges: &Nudges, position: Position, now: &Now) {
        self.facts = None;
        let _ = self.save(nudges, position, now);
    }
}

//! What a look at the gate folders may find.

use std::collections::BTreeMap;

use shared::file::Stamp;

use crate::{
    content::{Facts, Flaw, Texts},
    name::Name,
};

/// What one look found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The state folder is there.
    pub has_dir: bool,
    /// The gates in `human-gates/open`.
    pub open: Listing<File>,
    /// The records in `human-gates/resolved`.
    pub records: Listing<Record>,
    /// A commit of the state had begun and not ended.
    pub in_transaction: bool,
}

/// What listing a folder came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing<T> {
    /// There is no such folder.
    Absent,
    /// It can't be listed, and why.
    Refused(String),
    /// All its gates.
    Listed {
        /// Device and inode of the folder.
        folder: (u64, u64),
        /// By name.
        found: BTreeMap<Name, T>,
    },
}

impl<T> Listing<T> {
    /// What was found; `None` for a folder that could not be listed.
    #[must_use]
    pub fn found(&self) -> Option<&BTreeMap<Name, T>> {
        match self {
            Self::Listed { found, .. } => Some(found),
            Self::Absent | Self::Refused(_) => None,
        }
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, name: &Name) -> Option<&T> {
        self.found()?.get(name)
    }
}

/// A gate's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its state.
    pub stamp: Stamp,
    /// A later write could leave the stamp as it is.
    pub young: bool,
    /// What it says, where it was read.
    pub said: Option<Result<Read, Flaw>>,
}

/// A record of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// It was not asked for.
    Unread,
    /// Its file.
    Read(File),
}

impl Record {
    /// Its file, where it was asked for.
    #[must_use]
    pub fn file(&self) -> Option<&File> {
        match self {
            Self::Unread => None,
            Self::Read(file) => Some(file),
        }
    }
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// What is to be remembered.
    pub facts: Facts,
    /// What is to be told, where it was asked for.
    pub texts: Option<Box<Texts>>,
}

impl File {
    /// What it says that is only told.
    ///
    /// # Errors
    ///
    /// Why there is nothing.
    pub fn texts(&self) -> Result<Texts, Flaw> {
        match &self.said {
            Some(Ok(read)) => Ok(read.texts.as_deref().cloned().unwrap_or_default()),
            Some(Err(flaw)) => Err(*flaw),
            None => Ok(Texts::default()),
        }
    }

    /// Why it can't be read.
    #[must_use]
    pub fn flaw(&self) -> Option<Flaw> {
        self.said.as_ref()?.as_ref().err().copied()
    }
}

//! One comparison, while it is made.

use std::{collections::BTreeMap, time::Duration};

use shared::clock::Now;

use crate::{event::Event, name::Name, seen::Seen, verdict::Notice};

/// In which order a look's lines are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Resolved,
    Opened,
    Changed,
    Waiting,
}

/// One comparison.
pub(super) struct Turn<'a> {
    pub(super) seen: &'a Seen,
    pub(super) now: &'a Now,
    pub(super) lines: Vec<(Rank, Name, Event)>,
    pub(super) notices: BTreeMap<Name, Notice>,
    pub(super) due: Option<Duration>,
    /// The memory is another one.
    pub(super) changed: bool,
}

impl<'a> Turn<'a> {
    pub(super) fn new(seen: &'a Seen, now: &'a Now) -> Self {
        let (lines, notices) = (Vec::new(), BTreeMap::new());
        Self { seen, now, lines, notices, due: None, changed: false }
    }

    pub(super) fn say(&mut self, rank: Rank, name: &Name, event: Event) {
        self.lines.push((rank, name.clone(), event));
        self.changed = true;
    }
}

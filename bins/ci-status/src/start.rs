//! What a run begins with: what to watch, and what an earlier run said of it.

use github::{
    place::{Watched, recall},
    remote::Halt,
};
use shared::{
    clock,
    cursor::Cursor,
    session::{Program, Session},
};

use crate::{
    args::Args,
    decide::{Judge, Terms, VERSION},
    probe::Probe,
};

/// The program, apart from its flags.
pub const PROGRAM: Program = Program {
    name: "ci-status",
    announces: false,
    not_covered: &["what checks say beside their conclusion", "other commits and branches"],
};

/// What a run keeps from look to look.
#[derive(Debug)]
pub struct Start {
    /// What asks.
    pub probe: Probe,
    /// What judges.
    pub judge: Judge,
    /// Where the memory is kept.
    pub cursor: Option<Cursor>,
}

impl Start {
    /// Finds the targets and recalls what was said of them.
    ///
    /// # Errors
    ///
    /// [`Halt`].
    pub fn new(args: &Args, session: &mut Session) -> Result<Self, Halt> {
        let given: Vec<_> = args.targets().collect();
        let (repo, store) = (args.repo.as_ref(), args.store.as_deref());
        let given = given.iter().copied();
        let watched = Watched::find(PROGRAM.name, given, repo, store, session.waiter())?;
        let Watched { targets, hosts, names } = watched;
        session.set_subject(&names.subject());
        let (cursor, memory) =
            recall(PROGRAM.name, args.cursor.as_deref(), &names, VERSION).map_err(Halt::Failed)?;
        let terms = Terms::new(args, &clock::now());
        if let Some(deadline) = terms.deadline {
            session.end_children_by(deadline);
        }
        let judge = Judge::new(terms, &targets, names, memory);
        Ok(Self { probe: Probe::new(hosts, args.required), judge, cursor })
    }
}

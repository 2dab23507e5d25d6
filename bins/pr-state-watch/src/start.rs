//! What a run begins with: what to watch, and what an earlier run said of it.

use github::{
    place::{Watched, recall},
    remote::Halt,
};
use shared::{
    cursor::Cursor,
    exit::Error,
    session::{Program, Session},
};

use crate::{
    args::{Args, Format},
    decide::{Judge, Terms, VERSION},
    probe::Probe,
};

/// The program, apart from its flags.
pub const PROGRAM: Program = Program {
    name: "pr-state-watch",
    announces: false,
    not_covered: &["two people who wait for each other", "what comments say"],
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
    /// Finds the pull requests and recalls what was said of them.
    ///
    /// # Errors
    ///
    /// [`Halt`].
    pub fn new(args: &Args, session: &mut Session) -> Result<Self, Halt> {
        if args.format == Format::Text && args.wants_conditions() {
            let message = "unable to print as text what --ready or --emit readings ask for: \
                           text has the state and the review decision only";
            return Err(Halt::Failed(Error::usage(message)));
        }
        let (repo, store) = (args.repo.as_ref(), args.store.as_deref());
        let given = args.targets.iter();
        let watched = Watched::find(PROGRAM.name, given, repo, store, session.waiter())?;
        let Watched { targets, hosts, names } = watched;
        session.set_subject(&names.subject());
        let (cursor, memory) =
            recall(PROGRAM.name, args.cursor.as_deref(), &names, VERSION).map_err(Halt::Failed)?;
        let judge = Judge::new(Terms::new(args), &targets, names, memory);
        Ok(Self { probe: Probe::new(hosts, args.wants_conditions()), judge, cursor })
    }
}

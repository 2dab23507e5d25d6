//! What a run begins with: the folder to watch, and what an earlier run remembered.

use std::path::Path;

use shared::{
    cursor::{Cursor, Found},
    exit::{self, Error},
    folder::Folder,
    session::Program,
};

use crate::{
    args::{Args, Emit},
    decide::{Judge, Rules},
    memory::{self, Memory},
    sight::Sight,
};

/// The program, apart from its flags.
pub const PROGRAM: Program = Program {
    name: "gate-watch",
    announces: false,
    not_covered: &["questions asked anywhere else", "notes beside the chosen option"],
};

/// What a run keeps from look to look.
#[derive(Debug)]
pub struct Start {
    /// Where the state is.
    pub folder: Folder,
    /// Where the memory is kept.
    pub cursor: Option<Cursor>,
    /// The memory, and what judges by it.
    pub judge: Judge,
}

impl Start {
    /// Finds the folder and recalls what was said of it.
    ///
    /// # Errors
    ///
    /// Those of [`Cursor::open`]; a cursor where it must not be is wrong usage.
    pub fn new(args: &Args) -> Result<Self, Error> {
        let given = args.state_dir.as_deref();
        let mut folder = Folder::new(given).map_err(Error::on("find the current folder"))?;
        choose(&mut folder);
        let (cursor, found) = match &args.cursor {
            Some(path) => {
                folder.keep_out(path)?;
                let target = folder.canonical();
                let (cursor, found) = Cursor::open(path, PROGRAM.name, &target, memory::VERSION)?;
                (Some(cursor), found)
            }
            None => (None, Found::Nothing),
        };
        if found == Found::Broken {
            let path = args.cursor.as_deref().unwrap_or(Path::new("")).display();
            let message = format!("unable to recall {path}: telling every gate that is open");
            exit::warn(PROGRAM.name, &message);
        }
        let rules = Rules {
            emit_current: args.emit_current || found == Found::Broken,
            warn_after: args.warn_after,
            readings: args.emit == Emit::Readings,
        };
        let memory = match found {
            Found::Known(memory) => memory,
            Found::Nothing | Found::Broken => Memory::default(),
        };
        let sight = Sight::new(args.running.once, args.poll_interval);
        Ok(Self { folder, cursor, judge: Judge::new(rules, sight, memory) })
    }
}

/// Settles the choice of the folder, if it can be. True when it fell on another one just now.
pub fn choose(folder: &mut Folder) -> bool {
    let is_other = folder.resolve();
    if is_other {
        let message = format!("watching {} of the main work tree", folder.path().display());
        exit::warn(PROGRAM.name, &message);
    }
    is_other
}

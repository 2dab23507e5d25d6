//! What a run begins with: the folder to watch, and what an earlier run remembered.

use shared::{
    cursor::{Cursor, Found},
    exit::{self, Error},
    folder::Folder,
    session::{Program, Session},
};

use crate::{args::Args, decide::Memory};

/// The program, apart from its flags.
pub const PROGRAM: Program = Program {
    name: "heartbeat-watch",
    announces: false,
    not_covered: &[
        "items that are not implementing",
        "an owner that renews and does no work",
        "writers with wrong clocks",
    ],
};

/// The version of [`Memory`] in the cursor file.
const VERSION: u32 = 1;

/// Where things are.
#[derive(Debug)]
pub struct Place {
    /// Where the state is.
    pub folder: Folder,
    /// Where the memory is kept.
    pub cursor: Option<Cursor>,
}

impl Place {
    /// Finds the folder and recalls what was said of it.
    ///
    /// # Errors
    ///
    /// Those of [`Cursor::open`]; a cursor where it must not be is wrong usage.
    pub fn find(args: &Args, session: &mut Session) -> Result<(Self, Memory), Error> {
        let folder = Folder::new(args.state_dir.as_deref());
        let folder = folder.map_err(Error::on("find the current folder"))?;
        let mut place = Self { folder, cursor: None };
        place.settle(session);
        let subject = place.folder.canonical();
        session.set_subject(&subject);
        let Some(path) = &args.cursor else { return Ok((place, Memory::default())) };
        place.folder.keep_out(path)?;
        let (cursor, found) = Cursor::open(path, PROGRAM.name, &subject, VERSION)?;
        place.cursor = Some(cursor);
        if found == Found::Broken {
            let message = format!("unable to recall {}: telling all that stands", path.display());
            exit::warn(PROGRAM.name, &message);
        }
        let memory = match found {
            Found::Known(memory) => memory,
            Found::Nothing | Found::Broken => Memory::default(),
        };
        Ok((place, memory))
    }

    /// Settles which folder is watched, if that can be, and by which name it is known.
    pub fn settle(&mut self, session: &mut Session) {
        if self.folder.resolve() {
            let path = self.folder.path().display();
            exit::warn(PROGRAM.name, &format!("watching {path} of the main work tree"));
        }
        // While there is none, the name that it had stays.
        if self.folder.path().is_dir() {
            let subject = self.folder.canonical();
            session.set_subject(&subject);
            if let Some(cursor) = &mut self.cursor {
                cursor.set_target(&subject);
            }
        }
    }
}

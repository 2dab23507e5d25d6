//! The start: the listener's folder, its lock, and what is remembered there.

use std::{
    fs::File,
    path::{Path, PathBuf},
    rc::Rc,
};

use shared::{
    exit::{Error, Reason},
    store,
    wait::Waiter,
};

use crate::{
    args::{Args, MOST_ALIASES, Repeats},
    board::Manner,
    desk::{Desk, Wishes},
    event::shown,
    import::Import,
    lock,
    memory::Shelf,
    names::Names,
    run::NAME,
    seen::{Lost, Seen},
    trouble::{Trouble, Warning},
};

/// What is taken for the life of the process.
#[derive(Debug)]
pub struct Opened {
    /// The boards and their memory.
    pub desk: Desk,
    /// The listener's folder.
    pub folder: PathBuf,
}

/// What the command line's parser doesn't check.
///
/// # Errors
///
/// Usage.
pub fn check(args: &Args) -> Result<(), Error> {
    if args.aliases.len() > MOST_ALIASES {
        let message = format!(
            "unable to read the command line: --alias @{}: at most {MOST_ALIASES} aliases are allowed",
            args.aliases[MOST_ALIASES]
        );
        return Err(Error::usage(message));
    }
    Ok(())
}

/// Opens the store. `warn` is told what makes the program fail closed.
///
/// # Errors
///
/// A store that others can write, a lock that is held, state that isn't ours: all is left as it is.
pub fn desk(args: &Args, waiter: &Waiter, warn: impl FnOnce(Warning)) -> Result<Opened, Error> {
    let import = args.import.as_deref().map(|dir| (dir.is_dir(), dir));
    if let Some((false, dir)) = import {
        // Before anything is made for a listener that may be a mistake.
        Import::read(dir)?;
    }
    let root = store::root(args.store.as_deref())?;
    store::make_private(&root)?;
    let folder = root.join(NAME).join(args.listener.to_ascii_lowercase());
    store::make_private(&folder)?;
    hold(lock::take(&folder.join("lock"), waiter)?);
    let shelf = Shelf::new(&folder);
    let seen = seen(&folder, &shelf, warn)?;
    let memories = shelf.load()?;
    let names = Rc::new(Names::new(&args.listener, &args.aliases, args.route));
    let counts = args.repeats == Repeats::Heading;
    let raw_hashes = seen.is_imported();
    let manner = Manner { names, counts, raw_hashes };
    let wishes = Wishes {
        unread: args.unread,
        drop_own: args.drops_own(),
        once: args.running.once,
        interval: args.poll_interval,
    };
    let wanted = args
        .boards
        .iter()
        .map(|board| std::path::absolute(board).map_err(|err| Error::io("resolve", board, &err)));
    let wanted = wanted.collect::<Result<Vec<PathBuf>, Error>>()?;
    let mut desk = Desk::new(manner, wishes, shelf, seen, memories, wanted);
    if let Some((_, dir)) = import.filter(|_| !raw_hashes) {
        desk.take_over(Import::read(dir)?);
    }
    Ok(Opened { desk, folder })
}

/// Keeps the lock until the process ends, however it ends.
fn hold(lock: File) {
    std::mem::forget(lock);
}

/// What was told. Without it, and with boards that were read, all of them would be told again.
fn seen(folder: &Path, shelf: &Shelf, warn: impl FnOnce(Warning)) -> Result<Seen, Error> {
    let path = folder.join("seen");
    match Seen::open(&path, shelf.is_empty()?) {
        Ok(seen) => Ok(seen),
        Err(Lost::Refused(err)) => Err(err),
        Err(Lost::Gone) => {
            let cause = "it is gone or has lost its first line, though boards were read";
            warn(Warning::raised(shown(&path), Trouble::StateFailed, cause, 1));
            let message = format!("unable to use {}: {cause}", path.display());
            Err(Error::new(Reason::Runtime, "state_failed", message))
        }
    }
}

//! What a run begins with: something to look at, and what an earlier run said of it.

use std::path::Path;

use shared::{
    cursor::{Cursor, Found},
    exit::{self, Error},
    folder,
    wait::Waiter,
};

use crate::{
    args::Args,
    decide::{Memory, VERSION},
    git::Git,
    open::{Halt, open},
    probe::Probe,
};

/// Finds what is to be watched.
///
/// # Errors
///
/// [`Halt`].
pub fn find(program: &str, args: &Args, waiter: &Waiter) -> Result<Probe, Halt> {
    let dir = args.dir.as_deref().unwrap_or(Path::new("."));
    let git = Git::new(dir, args.fetch_timeout);
    let opened = open(git, args.remote.as_deref(), waiter)?;
    if let Some(warning) = &opened.warning {
        exit::warn(program, warning);
    }
    Ok(Probe::new(opened, args.base.clone(), args.conflicts.then_some(args.threshold)))
}

/// What an earlier run said, with `--cursor`.
///
/// # Errors
///
/// A cursor in one of git's folders, or one that can't be used.
pub fn recall(
    program: &'static str,
    args: &Args,
    probe: &Probe,
) -> Result<(Option<Cursor>, Memory), Error> {
    let Some(path) = &args.cursor else { return Ok((None, Memory::default())) };
    let place = std::path::absolute(path).map_err(|err| Error::io("find", path, &err))?;
    if probe.repository().holds(&folder::canonical(&place)) {
        let message =
            format!("unable to use the cursor {}: it lies in the git folder", path.display());
        return Err(Error::usage(message));
    }
    let (cursor, found) = Cursor::open(path, program, &probe.repository().name(), VERSION)?;
    let memory = match found {
        Found::Known(memory) => memory,
        Found::Nothing => Memory::default(),
        Found::Broken => {
            let message = format!("{} is no whole cursor: all that holds is told", path.display());
            exit::warn(program, &message);
            Memory::default()
        }
    };
    Ok((Some(cursor), memory))
}

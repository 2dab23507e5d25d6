//! Looks at feeds without opening them, and reads the registry for the word to stop.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use shared::{
    exit::Error,
    file::Stamp,
    follow::{Follower, Told},
    roster::{self, Entry, Place},
};

use crate::{
    args::Args,
    decide::{Seen, Version},
};

/// All that is looked at.
#[derive(Debug)]
pub struct Probe {
    /// The feeds, absolute.
    pub paths: Vec<PathBuf>,
    registry: Option<(PathBuf, Follower)>,
    started: bool,
}

impl Probe {
    /// The feeds and the registry of `args`.
    ///
    /// # Errors
    ///
    /// A working directory that is gone.
    pub fn new(args: &Args) -> Result<Self, Error> {
        let absolute =
            |path: &Path| std::path::absolute(path).map_err(|err| Error::io("resolve", path, &err));
        let mut paths =
            args.paths.iter().map(|path| absolute(path)).collect::<Result<Vec<_>, _>>()?;
        paths.sort();
        paths.dedup();
        let items = args.items.as_deref().map(absolute).transpose()?;
        let registry = items.map(|path| (path.clone(), Follower::new(Some(&path))));
        Ok(Self { paths, registry, started: false })
    }

    /// The folders in which changes matter.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        let registry = self.registry.iter().map(|(path, _)| path);
        let all = self.paths.iter().chain(registry).filter_map(|path| path.parent());
        let mut folders: Vec<PathBuf> = all.map(Path::to_owned).collect();
        folders.sort();
        folders.dedup();
        folders
    }

    /// Looks at a feed.
    #[must_use]
    pub fn look(path: &Path) -> Seen {
        match fs::metadata(path) {
            Ok(meta) => {
                let stamp = Stamp::of(&meta);
                let ns = |ns: i128| i64::try_from(ns).unwrap_or(i64::MAX);
                Some(Some(Version {
                    file: stamp.file,
                    size: stamp.size,
                    modified_ns: ns(stamp.modified_ns),
                    changed_ns: ns(stamp.changed_ns),
                }))
            }
            Err(err)
                if matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
            {
                Some(None)
            }
            Err(_) => None,
        }
    }

    /// Whether the registry asks for the end. What it said before the start is history.
    ///
    /// # Errors
    ///
    /// A registry that is neither file nor FIFO.
    pub fn is_over(&mut self) -> Result<bool, Error> {
        let Some((path, follower)) = &mut self.registry else { return Ok(false) };
        let (mut over, mut history) = (false, !self.started);
        let started = &mut self.started;
        let place = Place { offset: 0, base: Path::new("/"), wall: f64::MAX };
        let read = follower.read(&mut |told| match told {
            // Another file than the one that was there is history, too.
            Told::Restart => history = true,
            Told::Line { text: Some(text), .. } if !history => {
                over |= roster::parse(text, place) == Ok(Entry::Shutdown);
            }
            Told::Line { .. } => {}
        });
        *started = true;
        read.map_err(|err| Error::io("read the registry", path, &err))?;
        Ok(over)
    }
}

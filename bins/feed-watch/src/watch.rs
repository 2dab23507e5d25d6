//! The watch: one look after another, driven by changes.

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    os::fd::BorrowedFd,
    path::{Path, PathBuf},
    time::Duration,
};

use shared::{
    clock::Now,
    cursor::{Cursor, Found},
    exit::{self, Ended, Error},
    health::{Extent, Health, Reasons},
    registry::{Registry, Said},
    roster::{self, Entry, Place},
    session::{Look, Session},
    watch::is_remote,
};

use crate::{
    args::Args,
    decide::{Feeds, Memory},
    event::FeedUpdate,
    probe,
};

/// All that a run keeps.
#[derive(Debug)]
pub struct Watch {
    feeds: Feeds,
    /// The feeds as they are named in events.
    paths: Vec<(PathBuf, String)>,
    registry: Option<Registry>,
    cursor: Option<Cursor>,
    reasons: Reasons,
    poll_interval: Duration,
    quiet: Duration,
}

impl Watch {
    /// Prepares a run.
    ///
    /// # Errors
    ///
    /// A cursor that is refused, or is one of the feeds.
    pub fn new(args: &Args, session: &mut Session) -> Result<Self, Error> {
        let absolute =
            |path: &Path| std::path::absolute(path).map_err(|err| Error::io("resolve", path, &err));
        let paths: BTreeSet<PathBuf> =
            args.paths.iter().map(|path| absolute(path)).collect::<Result<_, _>>()?;
        if let Some(cursor) = args.cursor.as_deref().map(absolute).transpose()?
            && paths.contains(&cursor)
        {
            let message = format!("unable to use the cursor {}: it is a feed", cursor.display());
            return Err(Error::usage(message));
        }
        let shown = |path: PathBuf| (path.clone(), path.display().to_string());
        let paths: Vec<(PathBuf, String)> = paths.into_iter().map(shown).collect();
        let target = paths.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(" ");
        session.set_subject(&target);
        session.sweep_every(args.poll_interval);
        let (cursor, memory) = recall(args, &target, &paths)?;
        Ok(Self {
            feeds: Feeds::new(memory),
            paths,
            registry: args.items.as_deref().map(Registry::new).transpose()?,
            cursor,
            reasons: Reasons::default(),
            poll_interval: args.poll_interval,
            quiet: if args.running.once { Duration::ZERO } else { args.debounce },
        })
    }

    /// One pass, and the wait for the next.
    ///
    /// # Errors
    ///
    /// A registry that is none; those of stdout and poll(2).
    pub fn pass(&mut self, session: &mut Session) -> Result<ControlFlow<Ended>, Error> {
        let now = session.pass(&self.folders())?.now;
        let (mut health, over) = self.read_registry(&now)?;
        let (updates, look) = self.look(&mut health, &now);
        self.describe(session);
        if let ControlFlow::Break(ended) = session.tell(&now, &health, &updates)? {
            return Ok(ControlFlow::Break(ended));
        }
        session.remember(&now, self.cursor.as_mut(), self.feeds.memory())?;
        if over {
            return session.finish("shutdown_request", Ended::Done).map(ControlFlow::Break);
        }
        let fifo: Vec<BorrowedFd<'_>> = self.registry.iter().filter_map(Registry::fd).collect();
        session.pause_on(look, self.feeds.due(self.quiet), &fifo)
    }

    fn look(&mut self, health: &mut Vec<Health>, now: &Now) -> (Vec<FeedUpdate>, Look) {
        let (mut updates, mut trouble) = (Vec::new(), None);
        for (path, name) in &self.paths {
            match probe::look(path) {
                Ok(seen) => updates.extend(self.feeds.see(name, seen, self.quiet, now)),
                Err(err) => trouble = trouble.or_else(|| Some(format!("{name}: {err}"))),
            }
        }
        let Some(cause) = trouble else {
            health.extend(self.reasons.recover("feed_unreadable", now));
            return (updates, Look::Whole);
        };
        health.extend(self.reasons.degrade("feed_unreadable", &cause, self.poll_interval, now));
        (updates, Look::Blind)
    }

    /// Reads the registry on; true when it asks for the end.
    fn read_registry(&mut self, now: &Now) -> Result<(Vec<Health>, bool), Error> {
        let Some(registry) = &mut self.registry else { return Ok((Vec::new(), false)) };
        let (mut over, mut is_news) = (false, true);
        let place = Place { offset: 0, base: Path::new("/"), wall: f64::MAX };
        let health = registry.read(self.poll_interval, now, &mut |said| match said {
            Said::History => is_news = false,
            Said::Line(_, text) => {
                over |= is_news && roster::parse(text, place) == Ok(Entry::Shutdown);
            }
        })?;
        Ok((health, over))
    }

    fn folders(&self) -> Vec<PathBuf> {
        let feeds = self.paths.iter().map(|(path, _)| path.as_path());
        let all = feeds.chain(self.registry.iter().map(Registry::path));
        let folders: BTreeSet<PathBuf> = all.filter_map(Path::parent).map(Path::to_owned).collect();
        folders.into_iter().collect()
    }

    fn describe(&self, session: &mut Session) {
        let (mut mechanisms, mut holes) = (vec!["poll"], Vec::new());
        if session.is_polling() {
            holes.push("no inotify: sweep only");
        } else {
            mechanisms.insert(0, "inotify");
        }
        if self.folders().iter().any(|folder| is_remote(folder).unwrap_or(false)) {
            holes.push("network file system: sweep only");
        }
        let poll_interval = self.poll_interval;
        session.set_extent(Extent { items: self.paths.len(), poll_interval, mechanisms }, &holes);
    }
}

fn recall(
    args: &Args,
    target: &str,
    paths: &[(PathBuf, String)],
) -> Result<(Option<Cursor>, Memory), Error> {
    let Some(path) = &args.cursor else { return Ok((None, Memory::default())) };
    let (cursor, found) = Cursor::open(path, "feed-watch", target, 1)?;
    let memory = match found {
        Found::Known(memory) => memory,
        Found::Nothing => Memory::default(),
        Found::Broken => {
            let message = format!("{} is damaged: every feed is told", path.display());
            exit::warn("feed-watch", &message);
            // As if none of them had been there.
            paths.iter().map(|(_, name)| (name.clone(), None)).collect()
        }
    };
    Ok((Some(cursor), memory))
}

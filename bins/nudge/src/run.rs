//! The stream: lines pass at once, and what is due is said in between.

use std::{
    fs::File,
    io::{
        self,
        ErrorKind::{Interrupted, WouldBlock},
        Read as _,
    },
    os::{fd::AsFd as _, unix::fs::MetadataExt as _},
    path::{Path, PathBuf},
    time::Duration,
};

use shared::{
    clock,
    cursor::{Cursor, Found},
    exit::{self, Ended, Error},
    follow::{Follower, Told},
    health::Health,
    line::Speaker,
    service::Service,
    stdout::Stdout,
    store,
    wait::{Waiter, Wake},
    watch::Watch,
};

use crate::{
    args::Args,
    decide::{Fate, Nudges, Open, Rules},
};

/// The longest line that is understood; all others pass as well.
const LIMIT: usize = 64 << 10;
/// How often the acknowledgements are looked at without a sign of change.
const SWEEP: Duration = Duration::from_secs(5);

/// What is kept over a restart.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
struct Saved {
    open: Vec<Open>,
    file: (u64, u64),
    offset: u64,
}

/// One run.
struct Run<'a> {
    waiter: &'a mut Waiter,
    speaker: Speaker,
    nudges: Nudges,
    out: Stdout,
    pending: Vec<u8>,
    long: bool,
    acks: Option<(PathBuf, Follower, Watch)>,
    history: Option<((u64, u64), u64)>,
    began: bool,
    cursor: Option<Cursor>,
    warned: u64,
    saved: Option<(u64, u64)>,
}

/// Passes stdin on until it ends.
///
/// # Errors
///
/// A store that is refused, an input that can't be read, an output that can't be written.
pub fn run(args: &Args) -> Result<Ended, Error> {
    let mut waiter = Waiter::new(args.parent_pid).map_err(Error::on("take over the signals"))?;
    let rules = Rules { on: args.on.clone(), after: args.after, max: args.max };
    let mut nudges = Nudges::new(rules);
    let (cursor, saved) = recall(args)?;
    nudges.recall(saved.open, clock::monotonic());
    let acks = args.acks.as_deref().map(std::path::absolute).transpose();
    let acks = acks.map_err(Error::on("resolve the acknowledgements"))?;
    let acks = acks.map(|path| {
        let watch = waiter.bell().map(|bell| Watch::new(bell, false));
        watch.map(|watch| (path.clone(), Follower::new(Some(&path)), watch))
    });
    let source = args.source.clone().unwrap_or_else(|| "nudge".to_owned());
    let run = Run {
        acks: acks.transpose().map_err(Error::on("make a bell"))?,
        speaker: Speaker { program: "nudge", source, subject: String::new() },
        waiter: &mut waiter,
        nudges,
        out: Stdout::default(),
        pending: Vec::new(),
        long: false,
        history: cursor.is_some().then_some((saved.file, saved.offset)).filter(|at| at.1 > 0),
        began: false,
        cursor,
        warned: 0,
        saved: None,
    };
    run.flow(args)
}

fn recall(args: &Args) -> Result<(Option<Cursor>, Saved), Error> {
    let asked =
        args.store.is_some() || std::env::var_os("DOORBELL_STORE").is_some_and(|v| !v.is_empty());
    if !asked {
        return Ok((None, Saved::default()));
    }
    let folder = store::root(args.store.as_deref())?.join("nudge");
    store::make_private(&folder)?;
    let target = args.acks.as_deref().map_or_else(String::new, |path| path.display().to_string());
    let (cursor, found) = Cursor::open(&folder.join("open.json"), "nudge", &target, 1)?;
    Ok((
        Some(cursor),
        match found {
            Found::Known(saved) => saved,
            Found::Nothing | Found::Broken => Saved::default(),
        },
    ))
}

impl Run<'_> {
    fn flow(mut self, args: &Args) -> Result<Ended, Error> {
        let service = Service::from_env();
        let ends_at = args.max_runtime.map(|after| clock::monotonic() + after);
        let (mut open, mut ready) = (true, false);
        let stdin = io::stdin().as_fd().try_clone_to_owned();
        let mut input = File::from(stdin.map_err(Error::on("read stdin"))?);
        loop {
            self.read_acks()?;
            if !std::mem::replace(&mut ready, true) {
                service.ready();
            }
            let sweep = self.acks.as_ref().map(|_| clock::monotonic() + SWEEP);
            let beat = service.watchdog_interval().map(|every| clock::monotonic() + every);
            let due = [self.nudges.next(), ends_at, sweep, beat].into_iter().flatten().min();
            let wake = self.waiter.wait(due, open.then(|| input.as_fd()));
            service.watchdog();
            let now = clock::now();
            match wake.map_err(Error::on("wait"))? {
                Wake::Stop(_) => return self.end(None),
                Wake::Ready => open = self.read(&mut input)?,
                Wake::Due | Wake::Rung => {}
            }
            if ends_at.is_some_and(|at| at <= now.monotonic) {
                return self.end(Some("max_runtime"));
            }
            // An answer that came meanwhile counts.
            self.read_acks()?;
            self.say_due()?;
            self.save();
            if !open && (!args.drain || self.nudges.next().is_none()) {
                return self.end(None);
            }
            if self.out.stop().is_some() {
                return Ok(Ended::Done);
            }
        }
    }

    /// Passes on what is there; false at the end of the input.
    fn read(&mut self, input: &mut File) -> Result<bool, Error> {
        let mut piece = [0; 16 << 10];
        let n = match input.read(&mut piece) {
            Ok(n) => n,
            Err(err) if matches!(err.kind(), WouldBlock | Interrupted) => return Ok(true),
            Err(err) => return Err(Error::on("read stdin")(err)),
        };
        let t = clock::monotonic();
        for part in piece.get(..n).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            self.pending.extend(part);
            if part.ends_with(b"\n") {
                self.line(t)?;
            } else if self.pending.len() > LIMIT {
                self.long = true;
                self.put()?;
            }
        }
        if n == 0 {
            self.line(t)?;
        }
        self.flush()?;
        Ok(n > 0)
    }

    /// A line is whole: it passes, unless it is an answer.
    fn line(&mut self, t: Duration) -> Result<(), Error> {
        let whole = !std::mem::take(&mut self.long) && self.pending.len() <= LIMIT + 1;
        if whole && self.nudges.take(&self.pending, t) == Fate::Swallowed {
            self.pending.clear();
            return Ok(());
        }
        self.put()
    }

    fn put(&mut self) -> Result<(), Error> {
        let done = self.out.add(&self.pending, self.waiter);
        self.pending.clear();
        done.map_err(Error::on("write to stdout"))
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.out.flush(self.waiter).map_err(Error::on("write to stdout"))
    }

    /// Says what is due, but never inside a line of others.
    fn say_due(&mut self) -> Result<(), Error> {
        if self.long {
            return Ok(());
        }
        let now = clock::now();
        for repeat in self.nudges.due(now.monotonic) {
            let line = self.speaker.line(&repeat, now.timestamp());
            let line = line.map_err(Error::on("make a line"))?;
            self.out.add(&line, self.waiter).map_err(Error::on("write to stdout"))?;
        }
        if self.nudges.dropped > std::mem::replace(&mut self.warned, self.nudges.dropped) {
            exit::warn("nudge", "more than 1024 events wait for an answer: the oldest are dropped");
        }
        self.flush()
    }

    /// Takes in what was appended to the acknowledgements since the start, or since what is
    /// remembered.
    fn read_acks(&mut self) -> Result<(), Error> {
        let Some((path, follower, watch)) = &mut self.acks else { return Ok(()) };
        let folder: Vec<PathBuf> = path.parent().map(Path::to_owned).into_iter().collect();
        watch.arm(&folder, clock::monotonic());
        let _ = watch.take();
        let first = !std::mem::replace(&mut self.began, true);
        let history = self.history.take();
        let same = history.is_some_and(|(file, _)| {
            std::fs::metadata(&*path).is_ok_and(|meta| (meta.dev(), meta.ino()) == file)
        });
        let known = history.filter(|_| same).map(|(_, offset)| offset);
        let nudges = &mut self.nudges;
        let read = follower.read(&mut |told| {
            if let Told::Line { offset, text: Some(text), .. } = told
                && (!first || known.is_some_and(|known| offset >= known))
            {
                nudges.ack_line(text);
            }
        });
        read.map(drop).map_err(|err| Error::io("read", path, &err))
    }

    fn save(&mut self) {
        let Some(cursor) = &mut self.cursor else { return };
        let position = self.acks.as_ref().map(|(_, follower, _)| follower.position());
        let (file, offset) = position.unwrap_or_default();
        let open = self.nudges.saved(clock::monotonic());
        // What is left of a wait moves on without being worth a write.
        let facts = (self.nudges.changes, offset);
        if self.saved.replace(facts) == Some(facts) {
            return;
        }
        if let Err(err) = cursor.save(&Saved { open, file, offset }) {
            exit::warn("nudge", &format!("unable to write {}: {err}", cursor.path().display()));
        }
    }

    fn end(mut self, reason: Option<&str>) -> Result<Ended, Error> {
        if let Some(reason) = reason {
            let now = clock::now();
            let line = self.speaker.line(&Health::stopped(reason, &now), now.timestamp());
            let line = line.map_err(Error::on("make a line"))?;
            self.out.add(&line, self.waiter).map_err(Error::on("write to stdout"))?;
        }
        self.flush()?;
        self.saved = None;
        self.save();
        Ok(Ended::Done)
    }
}

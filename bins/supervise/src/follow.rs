//! Streams the lines of monitors, from the first line of the current run on, until all of them
//! have ended.

use std::{io, os::fd::BorrowedFd, path::PathBuf, time::Duration};

use shared::{
    clock,
    exit::{Ended, Error},
    process::Hold,
    stdout::Stdout,
    wait::{Waiter, Wake},
    watch::Watch,
};

use crate::{
    event::{Event, LogGap, MonitorFailed, line_as},
    look::{self, Life},
    place::Home,
    reader::{Piece, Reader},
    record::{End, Record},
};

/// The floor sweep: where the system tells of no changes, lines come so late at most.
const SWEEP: Duration = Duration::from_secs(1);

/// One monitor that is followed.
#[derive(Debug)]
struct Followed {
    name: String,
    home: Home,
    reader: Reader,
    instance: String,
    keeper: Option<Hold>,
}

/// Follows monitors to stdout.
#[derive(Debug)]
pub struct Follow {
    followed: Vec<Followed>,
    watch: Watch,
    out: Stdout,
}

impl Follow {
    /// Follows `monitors`; with `only_new` from now on.
    ///
    /// # Errors
    ///
    /// A record that can't be used.
    pub fn new(
        monitors: Vec<(String, Home)>,
        only_new: bool,
        waiter: &Waiter,
    ) -> Result<Self, Error> {
        let bell = waiter.bell().map_err(Error::on("wait for changes"))?;
        let mut followed = Vec::new();
        for (name, home) in monitors {
            let Some(record) = Record::load(&home)? else { continue };
            let reader = if only_new {
                Reader::at_end(&home).map_err(Error::on("follow the logs"))?
            } else {
                Reader::new(&home, record.run_start)
            };
            let keeper = Hold::of(&record.keeper);
            followed.push(Followed { name, home, reader, instance: record.instance, keeper });
        }
        Ok(Self { followed, watch: Watch::new(bell, false), out: Stdout::default() })
    }

    /// Until all have ended, or there is a reason to stop.
    ///
    /// # Errors
    ///
    /// Those of stdout and the logs.
    pub fn run(&mut self, waiter: &mut Waiter) -> Result<Ended, Error> {
        loop {
            let folders: Vec<PathBuf> =
                self.followed.iter().map(|one| one.home.dir().to_owned()).collect();
            self.watch.arm(&folders, clock::monotonic());
            drop(self.watch.take());
            self.pass(waiter).map_err(Error::on("follow the logs"))?;
            if self.out.stop().is_some() || self.followed.is_empty() {
                return Ok(Ended::Done);
            }
            let keepers = self.followed.iter().filter_map(|one| one.keeper.as_ref());
            let ends: Vec<BorrowedFd<'_>> = keepers.filter_map(Hold::fd).collect();
            let due = clock::monotonic() + SWEEP;
            if let Wake::Stop(_) = waiter.wait(Some(due), ends).map_err(Error::on("wait"))? {
                return Ok(Ended::Done);
            }
        }
    }

    /// What is there now, and who has ended.
    fn pass(&mut self, waiter: &Waiter) -> io::Result<()> {
        let mut at = 0;
        while at < self.followed.len() {
            // Whether it has ended is asked first: then all that it ever printed is in the log.
            let one = &mut self.followed[at];
            let ended = has_ended(one);
            // Once it is gone, its end would wake us again and again, whoever has its lock now.
            one.keeper.take_if(|keeper| keeper.has_ended());
            let (out, name) = (&mut self.out, &one.name);
            one.reader.read(|piece| match piece {
                Piece::Line(line) => out.add(line, waiter),
                Piece::Lost(lost_bytes) => {
                    let gap = LogGap { monitor: name.clone(), lost_bytes, position: 0 };
                    out.add(&line_as("supervise", &Event::LogGap(gap), &clock::now())?, waiter)
                }
            })?;
            if ended {
                let one = self.followed.remove(at);
                if let Some(line) = last_words(&one)? {
                    self.out.add(&line, waiter)?;
                }
            } else {
                at += 1;
            }
        }
        self.out.flush(waiter)
    }
}

/// Whether the run is over. A new run of the name is another one.
fn has_ended(one: &Followed) -> bool {
    match look::life(&one.home) {
        Ok(Life::Running(record)) => record.instance != one.instance,
        Ok(Life::Held(_)) | Err(_) => false,
        Ok(Life::Dead(_) | Life::Unknown) => true,
    }
}

/// A keeper that was killed could not tell of it.
fn last_words(one: &Followed) -> io::Result<Option<Vec<u8>>> {
    if End::of(&one.home, &one.instance).is_some() {
        return Ok(None);
    }
    let now = clock::now();
    let detail = "its keeper was killed, and it ended with it";
    let failed = MonitorFailed::new(None, None, detail, &now);
    line_as(&one.name, &Event::MonitorFailed(failed), &now).map(Some)
}

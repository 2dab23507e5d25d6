//! What is said on stdout: whole lines in their order, one write each. A line that can't be
//! written is kept until it can, and nothing overtakes it.

use std::{collections::VecDeque, io, os::fd::AsFd as _, time::Duration};

use nix::errno::Errno;
use shared::{
    clock::Now,
    exit,
    health::Health,
    line::{LIMIT, Speaker},
    wait::{Stop, Waiter},
};

use crate::{args::Format, event::Told, hash::Hash, record};

/// How long a line begun waits for a slow reader after we were asked to stop.
const PATIENCE: Duration = Duration::from_millis(30);
/// The most lines about ourselves that are kept while nothing can be written.
const KEPT: usize = 64;

/// How saying something went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// It is written.
    Whole,
    /// stdout can't take it now; it is to be said again, unless it was begun.
    Stuck,
    /// Nobody listens any more, or we are asked to stop.
    Stop(Stop),
}

#[derive(Debug)]
struct Line {
    bytes: Vec<u8>,
    written: usize,
    record: Option<Hash>,
}

/// Who speaks, and to whom.
#[derive(Debug)]
pub struct Voice {
    speaker: Speaker,
    format: Format,
    typed: String,
    queue: VecDeque<Line>,
    finished: Vec<Hash>,
    had_news: bool,
    spoke: Duration,
    complained: bool,
}

impl Voice {
    /// Speaks as `source` in `format`. `typed` is the listener as it was typed, with `@`.
    #[must_use]
    pub fn new(speaker: Speaker, format: Format, typed: String, now: Duration) -> Self {
        Self {
            speaker,
            format,
            typed,
            queue: VecDeque::new(),
            finished: Vec::new(),
            had_news: false,
            spoke: now,
            complained: false,
        }
    }

    /// Whether something was told that `--wait` waits for.
    #[must_use]
    pub fn had_news(&self) -> bool {
        self.had_news
    }

    /// When something was said last, on the monotonic clock.
    #[must_use]
    pub fn spoke(&self) -> Duration {
        self.spoke
    }

    /// Whether a line waits for room on stdout.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        !self.queue.is_empty()
    }

    /// The records of lines that were written whole since the last call.
    pub fn take_finished(&mut self) -> Vec<Hash> {
        std::mem::take(&mut self.finished)
    }

    /// Says `event`. Its `record` is finished once its last byte is written.
    ///
    /// # Errors
    ///
    /// Those of poll(2).
    pub fn tell(
        &mut self,
        event: &Told,
        record: Option<Hash>,
        now: &Now,
        waiter: &Waiter,
    ) -> io::Result<Said> {
        let bytes = match self.format {
            Format::Ndjson => self.speaker.line(event, now.timestamp())?,
            Format::Text => {
                let Some(record) = record::of(event, &self.typed) else {
                    if let Some(aside) = record::aside(event) {
                        exit::warn(self.speaker.program, &aside);
                    }
                    return Ok(Said::Whole);
                };
                record.into_bytes()
            }
        };
        let said = self.put(Line { bytes, written: 0, record }, now, waiter)?;
        if said == Said::Stuck && self.queue.back().is_some_and(|line| line.written == 0) {
            self.queue.pop_back();
        }
        let is_news = !matches!(event, Told::MonitorArmed(_) | Told::WatchWarn(_));
        self.had_news |= is_news && said == Said::Whole;
        Ok(said)
    }

    /// Says something about ourselves; in text it is a warning on stderr.
    ///
    /// # Errors
    ///
    /// Those of poll(2).
    pub fn say(&mut self, health: &Health, now: &Now, waiter: &Waiter) -> io::Result<Said> {
        if self.format == Format::Text {
            if let Some(words) = words(health) {
                exit::warn(self.speaker.program, &words);
            }
            return Ok(Said::Whole);
        }
        let bytes = self.speaker.line(health, now.timestamp())?;
        if self.queue.len() >= KEPT {
            return Ok(Said::Stuck);
        }
        self.put(Line { bytes, written: 0, record: None }, now, waiter)
    }

    /// Says lines that are whole already.
    ///
    /// # Errors
    ///
    /// Those of poll(2).
    pub fn print(&mut self, line: &str, now: &Now, waiter: &Waiter) -> io::Result<Said> {
        self.put(Line { bytes: line.as_bytes().to_vec(), written: 0, record: None }, now, waiter)
    }

    /// Tries again what could not be written.
    ///
    /// # Errors
    ///
    /// Those of poll(2).
    pub fn retry(&mut self, now: &Now, waiter: &Waiter) -> io::Result<Said> {
        while let Some(line) = self.queue.front_mut() {
            match write(line, waiter)? {
                Said::Whole => {}
                Said::Stop(stop) => return Ok(Said::Stop(stop)),
                Said::Stuck => return Ok(Said::Stuck),
            }
            self.spoke = now.monotonic;
            let line = self.queue.pop_front();
            self.finished.extend(line.and_then(|line| line.record));
        }
        self.complained = false;
        Ok(Said::Whole)
    }

    fn put(&mut self, line: Line, now: &Now, waiter: &Waiter) -> io::Result<Said> {
        self.queue.push_back(line);
        let said = self.retry(now, waiter)?;
        if said == Said::Stuck && !self.complained {
            self.complained = true;
            let program = self.speaker.program;
            exit::warn(program, "unable to write to stdout: trying again every second");
        }
        Ok(said)
    }
}

/// Writes what is left of a line. A stop leaves a line that was begun a moment to be finished.
fn write(line: &mut Line, waiter: &Waiter) -> io::Result<Said> {
    let mut patience = None;
    while let Some(rest) = line.bytes.get(line.written..).filter(|rest| !rest.is_empty()) {
        match waiter.writable(patience)? {
            None => {}
            Some(Stop::Signal | Stop::ParentGone) if line.written > 0 && patience.is_none() => {
                patience = Some(PATIENCE);
                continue;
            }
            Some(stop) => return Ok(Said::Stop(stop)),
        }
        match nix::unistd::write(io::stdout().as_fd(), &rest[..rest.len().min(LIMIT)]) {
            Ok(n) => line.written += n,
            Err(Errno::EPIPE) => return Ok(Said::Stop(Stop::ReaderGone)),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            // A full disk, or a file system that went away: either may come back.
            Err(_) => return Ok(Said::Stuck),
        }
    }
    Ok(Said::Whole)
}

/// A health event in words; none for what a person sees anyway.
fn words(health: &Health) -> Option<String> {
    match health {
        Health::MonitorDegraded { reason, detail, .. } => {
            Some(format!("degraded: {reason}: {}", detail.as_str()))
        }
        Health::MonitorRecovered { reason, .. } => Some(format!("recovered: {reason}")),
        Health::MonitorStopped { reason, .. } if reason == "max_runtime" => {
            Some("stopped: max_runtime".to_owned())
        }
        _ => None,
    }
}

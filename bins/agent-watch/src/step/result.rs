//! When a result counts as whole, and what becomes of it then.

use std::time::Duration;

use shared::pidfile::Status;

use super::{MOMENT, Pass, moment};
use crate::{
    event::What,
    item::{Life, since},
    seen::{ResultSeen, Signal, Version},
};

/// How long a result's folder may be missing while its agent lives.
const NO_FOLDER: Duration = Duration::from_mins(1);
/// A file older than this before the start is not this run's.
const STALE_NS: i128 = 2_000_000_000;

impl Pass<'_> {
    /// Looks at the result; true when nothing else of the item matters.
    pub(super) fn result(&mut self) -> bool {
        self.signals();
        self.baseline();
        self.version();
        if self.item.life >= Life::Ready {
            self.after_ready();
            return true;
        }
        // An exit that this look found may be what closed the result.
        self.fate();
        self.folder();
        self.result_ready()
    }

    fn signals(&mut self) {
        let (t, known) = (self.t, self.item.known);
        let result = &mut self.item.result;
        for signal in &self.seen.signals {
            match signal {
                Signal::Written => {
                    (result.written, result.closed, result.renamed) = (true, None, false);
                    result.by_exit = false;
                }
                Signal::Closed => {
                    (result.written, result.closed) = (false, Some((t, t)));
                    let exited = known.and_then(|known| known.exited);
                    result.by_exit = exited.is_some_and(|at| t.saturating_sub(at) <= MOMENT);
                }
                // It may be a reader, so that it restarts the wait but doesn't end it.
                Signal::Opened => {
                    result.closed = result.closed.map(|(first, _)| (first, t));
                }
                Signal::Renamed => {
                    (result.written, result.closed, result.renamed) = (false, None, true);
                    result.by_exit = false;
                }
            }
        }
    }

    fn baseline(&mut self) {
        let ResultSeen::File(version) = self.seen.result else { return };
        let is_old = version.mtime_ns < self.item.started.0 - STALE_NS;
        if self.item.fresh && is_old && version.size > 0 {
            self.item.result.baseline = Some(version);
            self.say_result("result_stale", version);
        }
    }

    /// Takes in the version; a new one of a result that isn't ready is progress.
    fn version(&mut self) {
        let found = match self.seen.result {
            ResultSeen::File(version) if self.item.result.baseline != Some(version) => version,
            ResultSeen::Unreadable => return,
            _ => {
                let result = &mut self.item.result;
                (result.version, result.closed, result.renamed) = (None, None, false);
                return;
            }
        };
        let result = &mut self.item.result;
        if result.version == Some(found) {
            return;
        }
        let age = since(found.mtime_ns, self.now);
        // What moved while nobody looked did so when its mtime says.
        let first = self.item.fresh;
        result.since = if first { self.t.saturating_sub(age) } else { self.t };
        result.version = Some(found);
        self.item.idle.evidence = true;
        if first {
            self.item.idle.from = self.item.idle.from.max(result.since);
        } else {
            self.moved = true;
        }
    }

    fn folder(&mut self) {
        let alive = matches!(self.item.life, Life::Running | Life::Stalled);
        let missing = self.seen.result == ResultSeen::NoFolder && alive && !self.config.once;
        self.wait_to_degrade("result_dir_missing", missing, NO_FOLDER);
        let unreadable = self.seen.result == ResultSeen::Unreadable;
        self.wait_to_degrade("unreadable", unreadable, Duration::ZERO);
    }

    /// A version that may become a result.
    fn candidate(&self) -> Option<Version> {
        let result = &self.item.result;
        result.version.filter(|version| version.size > 0 && result.torn != Some(*version))
    }

    fn settled(&self) -> Option<&'static str> {
        let (t, config, result) = (self.t, self.config, &self.item.result);
        if config.no_settle {
            return Some("quiet");
        }
        if result.renamed {
            return Some("rename");
        }
        if result.by_exit {
            let known = self.item.known?;
            let coded = matches!(known.status, Some(Status::Code(_)));
            return (coded || t >= known.exited? + config.settle).then_some("exit");
        }
        if let Some((first, last)) = result.closed {
            // The end that closed it may take its time on a busy machine.
            if self.seen.ending {
                return None;
            }
            return (t >= last + MOMENT || t >= first + config.settle).then_some("close");
        }
        let quiet = if result.written { config.settle_open } else { config.settle };
        (t >= result.since + quiet).then_some("quiet")
    }

    fn result_ready(&mut self) -> bool {
        let Some((version, settled)) = self.candidate().zip(self.settled()) else { return false };
        let after_death = self.item.life == Life::Died;
        self.end("result");
        self.item.life = Life::Ready;
        self.say_ready(settled, version, after_death, 0);
        true
    }

    fn after_ready(&mut self) {
        let Some((told, rewrite)) = self.item.result.told else { return };
        if self.item.life == Life::Removed {
            return;
        }
        if matches!(self.seen.result, ResultSeen::Absent | ResultSeen::NoFolder) {
            self.item.life = Life::Removed;
            self.say_result("result_removed", told);
        } else if self.config.rewrites
            && let Some((version, settled)) = self.candidate().zip(self.settled())
            && version != told
        {
            self.say_ready(settled, version, false, rewrite + 1);
        }
    }

    fn say_result(&mut self, event: &'static str, version: Version) {
        let result_path = self.item.entry.spec.result_path.clone();
        let what = What::Result { mtime: moment(version.mtime_ns), result_path };
        self.say(event, what, String::new());
    }

    fn say_ready(&mut self, settled: &'static str, version: Version, late: bool, rewrite: u64) {
        self.item.result.told = Some((version, rewrite));
        let what = What::Ready {
            elapsed_sec: self.item.elapsed(self.t).as_secs(),
            size: version.size,
            mtime: moment(version.mtime_ns),
            settled,
            after_death: late,
            rewrite,
            result_path: self.item.entry.spec.result_path.clone(),
        };
        self.say("result_ready", what, rewrite.to_string());
    }
}

//! Progress, and the stalls between.

use std::time::Duration;

use super::Pass;
use crate::{
    event::What,
    item::{Life, TREE, since},
    seen::Progress,
};

/// CPU time over less than this says little.
const CPU_LEAST: Duration = Duration::from_secs(5);

impl Pass<'_> {
    pub(super) fn progress(&mut self) {
        if self.moved {
            self.progressed(self.t);
        }
        if let Some(found) = &self.seen.progress {
            self.compare(found);
        }
        let idle = &mut self.item.idle;
        if let (None, Some((ticks, _))) = (idle.cpu, self.seen.cpu) {
            idle.cpu = Some((self.t, ticks));
        }
        let silent = self.t.saturating_sub(idle.from);
        if silent >= self.item.stall(self.config) && self.item.life == Life::Running {
            self.stall(silent);
        } else if let (None, Some(ticks)) = (self.item.idle.tree, self.seen.tree) {
            self.item.idle.tree = Some((self.t, ticks));
        }
    }

    fn compare(&mut self, found: &Progress) {
        let idle = &mut self.item.idle;
        let before = idle.progress.replace(found.clone());
        if before.as_ref().is_some_and(|before| before.stamp == found.stamp) {
            return;
        }
        idle.evidence |= found.newest.is_some();
        let newest = found.newest.as_ref();
        let at =
            newest.map_or(Duration::ZERO, |(ns, _)| self.t.saturating_sub(since(*ns, self.now)));
        if before.is_none() {
            idle.from = idle.from.max(at);
        } else {
            // An older stamp than before is a change all the same, and just happened.
            let at = if at > idle.from { at } else { self.t };
            self.progressed(at);
        }
    }

    /// Silence begins anew.
    pub(super) fn progressed(&mut self, at: Duration) {
        if self.item.life == Life::Stalled {
            self.recover("progress");
            self.item.life = Life::Running;
        }
        let idle = &mut self.item.idle;
        (idle.from, idle.cpu, idle.tree) = (at, None, None);
    }

    fn stall(&mut self, silent: Duration) {
        let Some(known) = self.item.known else { return };
        if !self.item.idle.evidence && self.item.idle.blindly {
            return;
        }
        let newest = self.item.idle.progress.as_ref().and_then(|found| found.newest.clone());
        let result_ns = self.item.result.version.map(|version| version.mtime_ns);
        let last = newest.as_ref().map(|(ns, _)| *ns).into_iter().chain(result_ns).max();
        let mark = last.unwrap_or(self.item.started.0).to_string();
        let idle = &mut self.item.idle;
        (idle.open, idle.blindly, idle.mark) = (true, !idle.evidence, mark.clone());
        idle.episode += 1;
        let what = What::Stalled {
            pid: known.who.pid,
            idle_sec: silent.as_secs(),
            idle_stall_sec: self.item.stall(self.config).as_secs_f64(),
            episode: self.item.idle.episode,
            evidence: if self.item.idle.evidence { "files" } else { "none" },
            proc_state: self.seen.cpu.map(|(_, state)| state.to_string()),
            cpu_pct: self.share(self.item.idle.cpu, self.seen.cpu.map(|cpu| cpu.0), CPU_LEAST),
            tree_cpu_pct: self.share(self.item.idle.tree, self.seen.tree, TREE / 2),
            last_progress_path: newest.map(|(_, path)| path),
        };
        self.item.life = Life::Stalled;
        self.say("stalled", what, mark);
    }

    /// Percent of one core between two samples.
    fn share(
        &self,
        from: Option<(Duration, u64)>,
        to: Option<u64>,
        least: Duration,
    ) -> Option<f64> {
        let ((at, before), after) = from.zip(to)?;
        let time = self.t.saturating_sub(at);
        if time < least {
            return None;
        }
        let ticks = u32::try_from(after.saturating_sub(before)).unwrap_or(u32::MAX);
        // A tick is a hundredth of a second, so ticks per second are percent.
        Some((f64::from(ticks) / time.as_secs_f64() * 10.0).round() / 10.0)
    }

    /// Ends a stall that was told.
    pub(super) fn recover(&mut self, by: &'static str) {
        if !std::mem::take(&mut self.item.idle.open) {
            return;
        }
        let idle = &self.item.idle;
        let (episode, mark) = (idle.episode, idle.mark.clone());
        let idle_sec = self.t.saturating_sub(idle.from).as_secs();
        self.say("recovered", What::Recovered { idle_sec, episode, by }, mark);
    }
}

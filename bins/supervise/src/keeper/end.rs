//! How a run ends: by itself, because somebody asked for it, or before it was proven.

use std::{fs, io, rc::Rc, time::Duration};

use shared::{clock, clock::Now, file, lines::Lines, wait::Stop};

use super::{
    GRACE, Keeper, MAX_LINE,
    ask::{Answer, StopRequest},
    family::Fate,
    monitor::Monitor,
};
use crate::{
    event::{Event, MonitorFailed, line_as},
    place::Home,
    record::{End, EndReason},
};

impl Keeper {
    /// The leader has ended by itself.
    pub(super) fn has_died(&mut self) -> io::Result<()> {
        let Some(fate) = self.end_family(|| GRACE) else { return Ok(()) };
        if self.record.ready_at.is_none() {
            return self.fail(&ended_early(fate));
        }
        self.prove_by = None;
        if self.spec.ends && fate.code == Some(0) {
            self.end_with(EndReason::Exited, fate);
            return Ok(());
        }
        let now = clock::now();
        self.say_failed(fate, &now);
        if let Some(pause) = self.restarts.died(now.monotonic) {
            self.note_end(EndReason::Exited, fate);
            self.again_at = Some(now.monotonic + pause);
            return Ok(());
        }
        let gave_up = self.restarts.is_wanted();
        self.end_with(if gave_up { EndReason::GaveUp } else { EndReason::Exited }, fate);
        Ok(())
    }

    pub(super) fn start_again(&mut self) {
        self.again_at = None;
        self.record.restarts += 1;
        match Monitor::start(&self.spec, &self.record.instance, &self.ear) {
            Ok(monitor) => {
                self.record.monitor = monitor.identity.clone();
                self.monitor = Some(monitor);
            }
            Err(err) => {
                self.stderr.add(format!("unable to start it again: {err}\n").as_bytes());
                let now = clock::monotonic();
                self.again_at = self.restarts.died(now).map(|pause| now + pause);
                if self.again_at.is_none() {
                    self.end_with(EndReason::GaveUp, Fate { code: None, signal: None });
                }
            }
        }
        self.unsaved = true;
    }

    /// Somebody asked for the end: `stop`, the process we are to end with, or the one that waits
    /// for a monitor not yet proven.
    pub(super) fn stop(&mut self, stop: Stop) -> io::Result<()> {
        if self.record.ready_at.is_none() {
            let why = if stop == Stop::ReaderGone {
                "nobody waits for it any more"
            } else {
                "it was stopped"
            };
            return self.fail(why);
        }
        // Read again until the end: another stop may have less patience.
        let (path, instance) = (self.home.stop_request(), self.record.instance.clone());
        let request = || {
            let request: StopRequest =
                serde_json::from_slice(&file::read(&path, 4096).ok()?.bytes).ok()?;
            (request.instance == instance).then_some(request)
        };
        let grace = || request().map_or(GRACE, |request| request.grace);
        let fate = self.end_family(grace).unwrap_or(Fate { code: None, signal: None });
        let replaced = request().is_some_and(|request| request.replaced);
        self.end_with(if replaced { EndReason::Replaced } else { EndReason::Stopped }, fate);
        let _ = fs::remove_file(self.home.stop_request());
        Ok(())
    }

    /// The monitor can't be proven: it is ended, and what was made for it goes.
    pub(super) fn fail(&mut self, why: &str) -> io::Result<()> {
        self.over = true;
        let _ = self.end_family(|| GRACE);
        let said = self.stderr.last_lines(3);
        undo(&self.home, self.first_run, &self.record.instance);
        let detail = if said.is_empty() { why.to_owned() } else { format!("{why}: {said}") };
        Answer::Failed(detail).give()
    }

    /// The folder is gone, or another keeper's: the monitor is ended, and nothing written.
    pub(super) fn forsaken(&mut self) -> io::Result<()> {
        self.over = true;
        if let Some(monitor) = &mut self.monitor {
            monitor.close();
        }
        let _ = self.end_family(|| GRACE);
        Answer::Failed(format!("{} was removed", self.home.dir().display())).give()
    }

    /// Ends the monitor and all that it started, and takes in the last that they say.
    fn end_family(&mut self, grace: impl Fn() -> Duration) -> Option<Fate> {
        let mut family = self.monitor.as_ref()?.family.clone();
        let woken = Rc::clone(&self.woken);
        let fate = family.end(grace, &woken, || self.pass_on());
        self.monitor = None;
        let lines = std::mem::replace(&mut self.lines, Lines::new(MAX_LINE));
        if lines.pending() > 0 {
            self.counters.lines_dropped += 1;
        }
        self.mind_log();
        self.count();
        Some(fate)
    }

    fn say_failed(&mut self, fate: Fate, now: &Now) {
        let detail = self.stderr.last_lines(1);
        let event = MonitorFailed::new(fate.code, fate.signal, &detail, now);
        self.say(&Event::MonitorFailed(event), now);
    }

    /// Says something in the monitor's name.
    pub(super) fn say(&mut self, event: &Event, now: &Now) {
        if let Ok(line) = line_as(&self.source, event, now) {
            let kept = self.log.add(&line);
            self.counters.lines += u64::from(kept);
        }
    }

    /// The run is over.
    fn end_with(&mut self, reason: EndReason, fate: Fate) {
        self.over = true;
        self.note_end(reason, fate);
    }

    fn note_end(&mut self, reason: EndReason, fate: Fate) {
        let started: Option<jiff::Timestamp> = self.record.started_at.parse().ok();
        let ran = started.map_or(0, |started| clock::now().wall.duration_since(started).as_secs());
        let end = End {
            exit_code: fate.code,
            exit_signal: fate.signal,
            ran_seconds: ran.unsigned_abs(),
            ..End::new(&self.record.instance, reason)
        };
        let _ = end.add(&self.home);
        self.count();
    }
}

/// Undoes a start that failed: of a name that was never proven, nothing stays.
pub(super) fn undo(home: &Home, first_run: bool, instance: &str) {
    let _ = fs::remove_file(home.stop_request());
    if first_run {
        for path in [
            home.record(),
            home.log(),
            home.log_place(),
            home.stderr(),
            home.counters(),
            home.ends(),
        ] {
            let _ = fs::remove_file(path);
        }
        return;
    }
    let _ = End::new(instance, EndReason::StartFailed).add(home);
}

fn ended_early(fate: Fate) -> String {
    match (fate.code, fate.signal) {
        (Some(code), _) => format!("it exited with {code} before it was ready"),
        (_, Some(signal)) => format!("signal {signal} killed it before it was ready"),
        _ => "it ended before it was ready".to_owned(),
    }
}

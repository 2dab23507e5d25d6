//! `spawn` and `up`: several monitors at once.

use std::{io, path::Path, process::Stdio, time::Duration};

use shared::{
    clock, exit,
    exit::{Ended, Error},
    process::bequeath_nothing,
    run,
    service::Service,
    wait::{self, Waiter, Wake},
};

use crate::{
    args::{Up, Which},
    follow::Follow,
    keeper::ask::{Ready, Spec},
    monitors::{self, Monitor},
    place::{Home, Place},
    start::{self, Refusal, Started, Starting},
    stop,
};

/// How long `classify` has for the last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The monitors that the flags name.
///
/// # Errors
///
/// A manifest that can't be used.
pub fn named(which: &Which, place: &Place) -> Result<Vec<Monitor>, Error> {
    match &which.manifest {
        Some(path) => monitors::of_manifest(path),
        None => Ok(monitors::always_on(
            which.state_dir.as_deref(),
            &which.base,
            &monitors::programs()?,
            place,
        )),
    }
}

/// Starts `monitors` side by side. Each comes with what became of it.
pub fn spawn(
    monitors: &[Monitor],
    place: &Place,
    parent: Option<u32>,
    waiter: &mut Waiter,
) -> Vec<(String, Result<Started, Refusal>)> {
    let launched: Vec<_> = monitors
        .iter()
        .map(|monitor| {
            let home = place.home(&monitor.name);
            let spec = Spec {
                ready: monitor.ready,
                parent,
                ..start::spec(&home, &monitor.name, monitor.argv.clone())
            };
            (monitor.name.clone(), Starting::launch(spec, false, waiter))
        })
        .collect();
    launched
        .into_iter()
        .map(|(name, starting)| {
            let started = starting.and_then(|starting| starting.finish(waiter));
            (name, started)
        })
        .collect()
}

/// Spawns what doesn't run, follows all through `classify`, and stops what it started.
///
/// # Errors
///
/// When nothing could be started, or the system fails.
pub fn up(up: &Up, place: &Place, waiter: &mut Waiter) -> Result<Ended, Error> {
    let mut monitors = named(&up.which, place)?;
    for monitor in &mut monitors {
        // Who follows from the first line on sees for himself: one that can't see yet (a remote
        // that is down) goes on trying, and says so.
        monitor.ready = Ready::Alive;
    }
    let (mut followed, mut ours, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for (name, started) in spawn(&monitors, place, Some(std::process::id()), waiter) {
        let home = place.home(&name);
        match started {
            Ok(started) => {
                followed.push((name.clone(), home.clone()));
                if !started.already_running {
                    ours.push((name, home));
                }
            }
            Err(refusal) => failures.push(refusal.into_error()),
        }
    }
    // Asked to stop while it started them: that is why some could not be proven.
    let asked = waiter.wait(Some(clock::monotonic()), []).map_err(Error::on("wait"))?;
    let ended = match failures.pop_if(|_| followed.is_empty()) {
        _ if matches!(asked, Wake::Stop(_)) => Ok(Ended::Done),
        Some(failure) => Err(failure),
        None => {
            for failure in &failures {
                exit::warn("supervise", &failure.to_string());
            }
            stream(up, followed, waiter)
        }
    };
    let (_, mut refusals) = stop::stop(&ours, Duration::from_secs(1), false, None);
    refusals.pop().map_or(ended, |refusal| Err(refusal.into_error()))
}

fn stream(up: &Up, followed: Vec<(String, Home)>, waiter: &mut Waiter) -> Result<Ended, Error> {
    let mut classify = Classify::start(&up.min, &monitors::programs()?)?;
    Service::from_env().ready();
    let ended = Follow::new(followed, false, waiter).and_then(|mut follow| follow.run(waiter));
    classify.end();
    ended
}

/// `classify` between us and whoever reads: from its start on our stdout is its input, and it has
/// the one that we were given.
struct Classify(std::process::Child);

impl Classify {
    fn start(min: &str, programs: &Path) -> Result<Self, Error> {
        let path = programs.join("classify");
        let start = || {
            bequeath_nothing()?;
            let (input, ours) = io::pipe()?;
            let mut command = run::command(&path);
            command.arg(format!("--min={min}"));
            command.stdin(Stdio::from(input)).stdout(Stdio::inherit()).stderr(Stdio::inherit());
            let child = command.spawn()?;
            nix::unistd::dup2_stdout(ours)?;
            Ok(Self(child))
        };
        start().map_err(|err| Error::io("start", &path, &err))
    }

    /// It ends with its input. A reader that stands still doesn't hold it up for ever.
    fn end(&mut self) {
        let closed = io::pipe().and_then(|(_, nobody)| Ok(nix::unistd::dup2_stdout(nobody)?));
        let handle = run::end_of(&self.0);
        if let (Ok(()), Ok(handle)) = (closed, handle) {
            let due = clock::monotonic() + LAST_LINES;
            let _ = wait::until_readable(std::os::fd::AsFd::as_fd(&handle), due);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

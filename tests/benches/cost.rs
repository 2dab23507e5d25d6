//! What it costs to start, to stop, to have nothing to do.

use std::{
    process::{Command, Stdio},
    time::Duration,
};

use nix::sys::signal::Signal;
use tests::{Running, Scene, built_release, command, git, pause};

use crate::measure::{Table, activity, done, median, ms, ratio, resident_kib, time};

/// The three that watch a state folder.
pub(crate) const FOLDER_MONITORS: [&str; 3] = ["heartbeat-watch", "gate-watch", "event-tail"];

/// A program on an empty state folder, or an open pipe.
fn quiet(tool: &str, scene: &Scene) -> Command {
    let mut command = built_release(tool);
    match tool {
        "classify" => command.stdin(Stdio::piped()),
        "branch-divergence" => command.arg("-C").arg(scene.join("world")),
        _ => command.arg("--state-dir").arg(scene.dir("world")),
    };
    git::blind(&mut command, scene);
    command
}

/// Start to exit of one look, beside the smallest program there is.
pub(crate) fn start_up(table: &mut Table) {
    let runs = 200;
    let scene = Scene::new();
    let world = scene.dir("world");
    let timed = |make: &dyn Fn() -> Command| {
        let mut samples: Vec<Duration> = (0..runs)
            .map(|_| {
                let mut command = make();
                command.stdin(Stdio::null()).stdout(Stdio::null());
                time(|| assert!(command.status().unwrap().success()))
            })
            .collect();
        median(&mut samples)
    };
    let nothing = timed(&|| command("/bin/true"));
    for tool in FOLDER_MONITORS {
        let ours = timed(&|| {
            let mut command = built_release(tool);
            command.arg("--once").arg("--state-dir").arg(&world);
            command
        });
        let what = format!("{tool}: start, look, exit");
        table.row(
            &what,
            &ms(ours),
            &format!("true {}", ms(nothing)),
            &ratio(ours, nothing),
            "< 3 ms",
        );
    }
    let ours = timed(&|| built_release("classify"));
    table.row(
        "classify: start, empty input, exit",
        &ms(ours),
        &format!("true {}", ms(nothing)),
        &ratio(ours, nothing),
        "< 3 ms",
    );
}

/// SIGTERM to exit, while idle.
pub(crate) fn stop(table: &mut Table) {
    for tool in ["heartbeat-watch", "gate-watch", "event-tail", "branch-divergence", "classify"] {
        let mut samples: Vec<Duration> = (0..30)
            .map(|_| {
                let scene = Scene::new();
                if tool == "branch-divergence" {
                    git::level_repository(&scene);
                }
                let running = Running::ready(&scene, &mut quiet(tool, &scene));
                time(|| {
                    running.signal(Signal::SIGTERM);
                    assert_eq!(running.end().code, Some(0));
                })
            })
            .collect();
        table.row(
            &format!("{tool}: SIGTERM to exit"),
            &ms(median(&mut samples)),
            "",
            "",
            "< 50 ms",
        );
    }
}

/// Ten idle seconds.
pub(crate) fn idle(table: &mut Table) {
    let scene = Scene::new();
    git::level_repository(&scene);
    for tool in ["heartbeat-watch", "gate-watch", "event-tail", "branch-divergence", "classify"] {
        let mut running = Running::ready(&scene, &mut quiet(tool, &scene));
        let stdin = running.stdin();
        // What starting leaves to be done is done by then.
        pause(Duration::from_secs(1));
        let before = activity(running.pid());
        pause(Duration::from_secs(10));
        let after = activity(running.pid());
        let (wakes, ticks) = (after.0 - before.0, after.1 - before.1);
        let ours = format!("{wakes} wake-ups, {ticks} ticks, {} KiB", resident_kib(running.pid()));
        let bar = "sweeps only, 0, < 4096 KiB";
        table.row(&format!("{tool}: 10 s idle"), &ours, "", "", bar);
        drop(stdin);
        let _ = running.stop();
    }
}

/// From start to the first event, with a remote on this disk.
pub(crate) fn divergence(table: &mut Table) {
    let scene = Scene::new();
    git::level_repository(&scene);
    git::push_commits(&scene, 6);
    done(&mut git::command_in(&scene, &["-C", "world", "reset", "--quiet", "--hard", "HEAD~6"]));
    let mut samples: Vec<Duration> = (0..30)
        .map(|_| {
            let mut command = quiet("branch-divergence", &scene);
            let mut first = Duration::ZERO;
            let mut running = None;
            first += time(|| {
                let mut started = Running::start(&mut command);
                started.event("branch_divergence");
                running = Some(started);
            });
            drop(running);
            first
        })
        .collect();
    table.row(
        "branch-divergence: start to first event",
        &ms(median(&mut samples)),
        "",
        "",
        "< 150 ms",
    );
}

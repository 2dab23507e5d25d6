//! From a change to its line.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use tests::{Running, Scene, built_release, command, from_now};

use crate::measure::{Table, cpu_ms, has, instant, median, ms, peak_kib, percentile, ratio, time};

const ROUNDS: usize = 200;

/// Samples of `act` until `lines` gives a line.
fn until_line(rounds: usize, mut act: impl FnMut(usize), mut line: impl FnMut()) -> Vec<Duration> {
    (0..rounds)
        .map(|round| {
            let begun = instant();
            act(round);
            line();
            begun.elapsed()
        })
        .collect()
}

/// A foreign program whose lines are read as they come.
struct Foreign(Child, BufReader<ChildStdout>);

impl Foreign {
    fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self(child, stdout)
    }

    fn line(&mut self) {
        assert!(self.1.read_line(&mut String::new()).unwrap() > 0);
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn watcher(tool: &str, scene: &Scene) -> Command {
    let mut command = built_release(tool);
    command.arg("--state-dir").arg(scene.dir("state"));
    command
}

/// A gate renamed into place, a line appended: ours beside inotifywait, tail and a shell loop.
pub(crate) fn changes(table: &mut Table) {
    let scene = Scene::new();
    let _ = scene.dir("state/human-gates/open");
    let gate = |round: usize| {
        scene.replace(&format!("state/human-gates/open/HDR-{round}.json"), r#"{"question":"?"}"#);
    };
    let mut running = Running::ready(&scene, &mut watcher("gate-watch", &scene));
    let mut ours = until_line(ROUNDS, gate, || drop(running.raw()));
    drop(running);
    let (p50, p99) = (median(&mut ours), percentile(&mut ours, 99));
    let shown = format!("p50 {}, p99 {}", ms(p50), ms(p99));
    if has("inotifywait") {
        let dir = scene.dir("state/human-gates/open");
        let mut inotify = command("inotifywait");
        inotify.args(["-m", "-q", "-e", "moved_to"]).arg(dir);
        let mut inotify = Foreign::start(&mut inotify);
        // It says nothing when it is ready: the first line that comes is the sign.
        let mut warm = 100_000;
        gate(warm);
        while inotify.0.try_wait().unwrap().is_none() && !ready_to_read(&inotify) {
            warm += 1;
            gate(warm);
        }
        inotify.line();
        while ready_to_read(&inotify) || !inotify.1.buffer().is_empty() {
            inotify.line();
        }
        let mut theirs = until_line(ROUNDS, |round| gate(200_000 + round), || inotify.line());
        let other = format!(
            "inotifywait p50 {}, p99 {}",
            ms(median(&mut theirs)),
            ms(percentile(&mut theirs, 99))
        );
        table.row(
            "gate-watch: rename to line",
            &shown,
            &other,
            &ratio(p50, median(&mut theirs)),
            "< 10 ms",
        );
    } else {
        table.row("gate-watch: rename to line", &shown, "no inotifywait here", "", "< 10 ms");
    }
    shell_poll(table, p50);
    tail(table);
}

/// Whether a line of a foreign program is there, within 20 ms.
fn ready_to_read(foreign: &Foreign) -> bool {
    use std::os::fd::AsFd as _;
    let stdout = foreign.1.get_ref();
    let mut fds = [nix::poll::PollFd::new(stdout.as_fd(), nix::poll::PollFlags::POLLIN)];
    nix::poll::poll(&mut fds, 20_u8).unwrap() > 0
}

/// The loop that fleets are watched by today.
fn shell_poll(table: &mut Table, ours: Duration) {
    let scene = Scene::new();
    let dir = scene.dir("open");
    let script = "seen=; while :; do now=$(ls); [ \"$now\" = \"$seen\" ] || { seen=$now; echo \"$now\" | tail -1; }; sleep 1; done";
    let mut shell = command("bash");
    shell.args(["-c", script]).current_dir(dir);
    scene.write("open/HDR-first.json", "{}");
    let mut shell = Foreign::start(&mut shell);
    shell.line();
    let mut theirs = until_line(
        5,
        |round| scene.write(&format!("open/HDR-{round}.json"), "{}"),
        || shell.line(),
    );
    let theirs = median(&mut theirs);
    table.row(
        "the same, a shell loop that polls every 1 s",
        &ms(ours),
        &format!("bash {}", ms(theirs)),
        &ratio(ours, theirs),
        "",
    );
}

fn tail(table: &mut Table) {
    let scene = Scene::new();
    let _ = scene.dir("state");
    scene.write("state/events.ndjson", "");
    let append = |round: usize| {
        scene.append(
            "state/events.ndjson",
            format!("{{\"event\":\"state_committed\",\"revision\":{round}}}\n"),
        );
    };
    let mut command = watcher("event-tail", &scene);
    let mut running = Running::ready(&scene, &mut command);
    let mut ours = until_line(ROUNDS, append, || drop(running.raw()));
    drop(running);
    let mut follow = tests::command("tail");
    follow.args(["-n", "0", "-F"]).arg(scene.join("state/events.ndjson"));
    let mut follow = Foreign::start(&mut follow);
    while !ready_to_read(&follow) {
        append(0);
    }
    while ready_to_read(&follow) || !follow.1.buffer().is_empty() {
        follow.line();
    }
    let mut theirs = until_line(ROUNDS, append, || follow.line());
    let shown = format!("p50 {}, p99 {}", ms(median(&mut ours)), ms(percentile(&mut ours, 99)));
    let other =
        format!("tail -F p50 {}, p99 {}", ms(median(&mut theirs)), ms(percentile(&mut theirs, 99)));
    table.row(
        "event-tail: append to line",
        &shown,
        &other,
        &ratio(median(&mut ours), median(&mut theirs)),
        "p50 < 1 ms",
    );
}

/// Large stores: 1,000 items, 10,000 gates, 100,000 lines at once.
pub(crate) fn stores(table: &mut Table) {
    items(table);
    gates(table);
    block(table);
}

fn items(table: &mut Table) {
    let scene = Scene::new();
    let far = from_now(86_400);
    let near = from_now(60);
    let store = |round: usize| {
        let items: Vec<String> = (0..1000)
            .map(|n| {
                let lease = if n == round { &near } else { &far };
                let notes = "n".repeat(1200);
                format!(r#"{{"id":"WI-{n}","status":"implementing","owner_session_id":"s1","lease_expires_at":"{lease}","notes":"{notes}"}}"#)
            })
            .collect();
        format!(r#"{{"revision":{round},"items":[{}]}}"#, items.join(","))
    };
    let _ = scene.dir("state");
    scene.replace("state/work-items.json", store(5000));
    let mut running =
        Running::ready(&scene, watcher("heartbeat-watch", &scene).arg("--no-recovered"));
    let mut samples: Vec<Duration> = (0..50)
        .map(|round| {
            let text = store(round);
            scene.write("next", text);
            time(|| {
                std::fs::rename(scene.join("next"), scene.join("state/work-items.json")).unwrap();
                drop(running.event("heartbeat_warning"));
            })
        })
        .collect();
    let shown = format!("{}, peak {} KiB", ms(median(&mut samples)), peak_kib(running.pid()));
    table.row(
        "heartbeat-watch: 1,000 items (1.3 MB), rename to line",
        &shown,
        "",
        "",
        "< 10 ms, < 4096 KiB",
    );
}

fn gates(table: &mut Table) {
    let scene = Scene::new();
    let _ = scene.dir("state/human-gates/open");
    for n in 0..10_000 {
        scene.write(
            &format!("state/human-gates/open/HDR-{n}.json"),
            r#"{"question":"Which of the two?","blocking":true}"#,
        );
    }
    let mut running = None;
    let first = time(|| running = Some(Running::ready(&scene, &mut watcher("gate-watch", &scene))));
    table.row("gate-watch: 10,000 gates, start to ready", &ms(first), "", "", "< 500 ms");
    let mut running = running.unwrap();
    let gate = |round: usize| {
        scene.replace(&format!("state/human-gates/open/NEW-{round}.json"), r#"{"question":"?"}"#);
    };
    let before = cpu_ms(running.pid());
    let mut samples = until_line(30, gate, || drop(running.raw()));
    let cpu = (cpu_ms(running.pid()) - before) / 30.0;
    let (middle, peak) = (ms(median(&mut samples)), peak_kib(running.pid()));
    let shown = format!("{middle}, CPU {cpu:.1} ms, peak {peak} KiB");
    table.row("gate-watch: 10,000 gates, rename to line", &shown, "", "", "scan < 50 ms");
}

fn block(table: &mut Table) {
    let scene = Scene::new();
    let _ = scene.dir("state");
    scene.write("state/events.ndjson", "");
    let mut running = Running::ready(&scene, &mut watcher("event-tail", &scene));
    let lines: Vec<String> = (0..100_000)
        .map(|n| format!("{{\"event\":\"state_committed\",\"revision\":{n}}}\n"))
        .collect();
    let block = lines.concat();
    let took = time(|| {
        scene.append("state/events.ndjson", block);
        (0..100_000).for_each(|_| drop(running.raw()));
    });
    table.row("event-tail: 100,000 lines appended at once", &ms(took), "", "", "< 300 ms");
}

//! How soon an agent's end or result is told, and what two hundred agents cost.

use std::{fmt::Write as _, process::Child, time::Duration};

use tests::{Running, Scene, built_release, command, pause};

use crate::measure::{Table, activity, has, instant, median, ms, resident_kib};

const ROUNDS: usize = 20;

pub(crate) fn agents(table: &mut Table) {
    deaths(table);
    results(table);
    many(table);
    if has("ps") {
        polled(table);
    }
    if has("tmux") {
        panes(table);
        sweep(table);
    }
}

fn sleeper(scene: &Scene, name: &str) -> Child {
    let child = command("sleep").arg("1000").spawn().unwrap();
    scene.replace(&format!("{name}.pid"), child.id().to_string());
    child
}

fn item(scene: &Scene, name: &str) -> String {
    format!(
        "{{\"agent\":\"{name}\",\"step\":\"1\",\"result_path\":\"{}\",\"pid_file\":\"{}\"}}\n",
        scene.join(format!("{name}.md")).display(),
        scene.join(format!("{name}.pid")).display()
    )
}

fn watch(scene: &Scene) -> Running {
    let mut watch = built_release("agent-watch");
    watch.arg("--items").arg(scene.join("items")).args(["--no-announce", "--death-grace=0.001"]);
    Running::ready(scene, &mut watch)
}

fn next(watch: &mut Running, name: &str) {
    while watch.line()["event"] != name {}
}

fn deaths(table: &mut Table) {
    let scene = Scene::new();
    let mut watch = watch(&scene);
    let mut took: Vec<Duration> = (0..ROUNDS)
        .map(|n| {
            let name = format!("a{n}");
            let mut child = sleeper(&scene, &name);
            scene.append("items", item(&scene, &name));
            next(&mut watch, "item_registered");
            pause(Duration::from_millis(50));
            child.kill().unwrap();
            let begun = instant();
            next(&mut watch, "process_died");
            let took = begun.elapsed();
            child.wait().unwrap();
            took
        })
        .collect();
    table.row("agent-watch: exit to line", &ms(median(&mut took)), "", "", "< 10 ms");
}

fn results(table: &mut Table) {
    let scene = Scene::new();
    let mut watch = watch(&scene);
    let mut took: Vec<Duration> = (0..ROUNDS)
        .map(|n| {
            let name = format!("a{n}");
            scene.append("items", item(&scene, &name));
            next(&mut watch, "item_registered");
            pause(Duration::from_millis(50));
            let begun = instant();
            scene.replace(&format!("{name}.md"), "done");
            next(&mut watch, "result_ready");
            begun.elapsed()
        })
        .collect();
    table.row("agent-watch: rename to line", &ms(median(&mut took)), "", "", "< 10 ms");
}

fn many(table: &mut Table) {
    let scene = Scene::new();
    let (mut items, mut children) = (String::new(), Vec::new());
    for n in 0..200 {
        children.push(sleeper(&scene, &format!("a{n}")));
        write!(items, "{}", item(&scene, &format!("a{n}"))).unwrap();
    }
    scene.append("items", items);
    let mut watch = watch(&scene);
    pause(Duration::from_secs(2));
    let (kib, before) = (resident_kib(watch.pid()), activity(watch.pid()));
    pause(Duration::from_secs(10));
    let after = activity(watch.pid());
    let threads = std::fs::read_dir(format!("/proc/{}/task", watch.pid())).unwrap().count();
    let (wakes, ticks) = (after.0 - before.0, after.1 - before.1);
    let shown = format!("{kib} KiB, {threads} threads, 10 s: {wakes} wake-ups, {ticks} ticks");
    table.row("agent-watch: 200 agents", &shown, "", "", "< 8192 KiB, <= 4, 0, 0");
    drop(watch.so_far());
    for mut child in children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

/// What people run today: a loop that asks `ps` every 30 s. Its agents end evenly spread over one
/// round.
fn polled(table: &mut Table) {
    let took: Duration = [5, 15, 25]
        .map(|after| {
            let mut agent = command("sleep").arg("1000").spawn().unwrap();
            let check = format!("while ps -p {} >/dev/null; do sleep 30; done", agent.id());
            let mut watch = command("bash").args(["-c", &check]).spawn().unwrap();
            pause(Duration::from_secs(after));
            agent.kill().unwrap();
            agent.wait().unwrap();
            let begun = instant();
            watch.wait().unwrap();
            begun.elapsed()
        })
        .iter()
        .sum();
    let name = "the same end, a loop that asks ps every 30 s";
    table.row(name, "", &format!("mean {}", ms(took / 3)), "", "");
}

/// Runs tmux on the scene's own socket.
fn tmux_in(scene: &Scene, args: &[&str]) -> String {
    let mut tmux = command("tmux");
    tmux.env_remove("TMUX").arg("-S").arg(scene.join("sock")).args(args);
    String::from_utf8(tmux.output().unwrap().stdout).unwrap().trim().to_owned()
}

/// The CPU of one sweep over forty panes, the server's part included.
fn sweep(table: &mut Table) {
    let scene = Scene::new();
    let tmux = |args: &[&str]| tmux_in(&scene, args);
    let size = ["-x", "400", "-y", "400", "exec sleep 1000"];
    let start = ["-f", "/dev/null", "new-session", "-dPF", "#{pane_id} #{pid}"];
    let started = tmux(&[&start[..], &size].concat());
    let (lead, server) = started.split_once(' ').unwrap();
    for _ in 1..40 {
        tmux(&["split-window", "-t", lead, "-d", "exec sleep 1000"]);
        tmux(&["select-layout", "-t", lead, "tiled"]);
    }
    assert_eq!(tmux(&["list-panes", "-a"]).lines().count(), 40);
    let server: u32 = server.parse().unwrap();
    let mut watch = built_release("pane-watch");
    watch.env_remove("TMUX").arg("-S").arg(scene.join("sock")).args(["--lead", lead]);
    let watch = Running::ready(&scene, watch.args(["--baseline", "--poll-interval=0.1"]));
    pause(Duration::from_secs(1));
    let used = || ticks(watch.pid(), 4) + ticks(server, 2);
    let before = used();
    pause(Duration::from_secs(20));
    // A tick is 10 ms. A sweep takes some of the tenth of a second from one to the next, so there
    // are about nine a second.
    let ticks = u32::try_from(used() - before).unwrap();
    let each = f64::from(ticks) * 10.0 / (9.0 * 20.0);
    table.row(
        "pane-watch: CPU of a sweep of 40 panes",
        &format!("{each:.1} ms"),
        "",
        "",
        "< 10 ms",
    );
    drop(watch);
    tmux(&["kill-server"]);
}

/// Ticks of CPU of a process: of itself, and with 4 fields of the children it has reaped, too.
fn ticks(pid: u32, fields: usize) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let rest = stat.rsplit(')').next().unwrap();
    rest.split_whitespace().skip(11).take(fields).filter_map(|n| n.parse::<u64>().ok()).sum()
}

fn panes(table: &mut Table) {
    let scene = Scene::new();
    let tmux = |args: &[&str]| tmux_in(&scene, args);
    let start = [
        "-f",
        "/dev/null",
        "new-session",
        "-dPF",
        "#{pane_id}",
        "-x",
        "200",
        "-y",
        "200",
        "sleep 1000",
    ];
    let lead = tmux(&start);
    let mut watch = built_release("pane-watch");
    watch.env_remove("TMUX").arg("-S").arg(scene.join("sock")).args(["--lead", &lead]);
    let mut watch = Running::ready(&scene, watch.args(["--baseline", "--poll-interval=0.3"]));
    let mut took: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let split = ["split-window", "-t", &lead, "-dPF", "#{pane_pid}", "exec sleep 1000"];
            let pid = tmux(&split);
            pause(Duration::from_millis(800));
            let begun = instant();
            assert!(command("kill").args(["-9", &pid]).status().unwrap().success());
            next(&mut watch, "pane_gone");
            begun.elapsed()
        })
        .collect();
    table.row("pane-watch: death to line", &ms(median(&mut took)), "", "", "< 50 ms");
    tmux(&["kill-server"]);
}

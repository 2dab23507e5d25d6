//! Boards: reading history, one line more, many boards, and nothing at all.

use std::{fs, io::Write as _, path::Path, process::Command, time::Duration};

use tests::{Running, Scene, built_release, command, pause};

use crate::measure::{Table, activity, cpu_ms, has, median, ms, peak_kib, ratio, time};

const RUNS: usize = 7;
/// A large board, and how many of its lines are addressed to the listener.
const LARGE: usize = 50_000_000;
const ADDRESSED: usize = 10_000;

fn heading(n: usize) -> String {
    format!("### @worker → @lead — report {n} of the parser\n")
}

/// Writes a board of about `bytes` with `addressed` lines for the listener, evenly spread.
fn board(path: &Path, bytes: usize, addressed: usize) {
    let mut out = std::io::BufWriter::new(fs::File::create(path).unwrap());
    let (mut written, mut told, mut n) = (0, 0, 0_usize);
    while written < bytes {
        let line = if told < addressed && told * bytes <= written * addressed {
            told += 1;
            heading(told)
        } else {
            n += 1;
            // From 10 to 120 bytes, the same in every run.
            format!("{}\n", "a word of it ".repeat(1 + n.wrapping_mul(2_654_435_761) % 9))
        };
        out.write_all(line.as_bytes()).unwrap();
        written += line.len();
    }
    out.flush().unwrap();
}

fn tail(scene: &Scene, store: &str) -> Command {
    let mut tail = built_release("collab-tail");
    tail.args(["@lead", "--no-announce", "--store", store]).current_dir(scene.path());
    tail
}

fn once(scene: &Scene, store: &str, board: &str) -> Duration {
    let mut tail = tail(scene, store);
    tail.args([board, "--once"]);
    time(|| assert!(tail.output().unwrap().status.success()))
}

/// All of it.
pub(crate) fn boards(table: &mut Table) {
    let scene = Scene::new();
    board(&scene.join("large.md"), LARGE, ADDRESSED);
    seed(table, &scene);
    append(table, &scene);
    block(table);
    many(table);
    start(table);
}

fn seed(table: &mut Table, scene: &Scene) {
    let mut ours: Vec<Duration> =
        (0..RUNS).map(|n| once(scene, &format!("store-{n}"), "large.md")).collect();
    let name = "collab-tail: 50 MB, 10,000 lines for us: seed";
    if has("awk") {
        let scan = || {
            let mut awk = command("awk");
            awk.args(["/^#+ .*→.*@lead/", "large.md"]).current_dir(scene.path());
            time(|| assert!(awk.output().unwrap().status.success()))
        };
        let mut theirs: Vec<Duration> = (0..RUNS).map(|_| scan()).collect();
        let (one, two) = (median(&mut ours), median(&mut theirs));
        let other = format!("awk, one pattern {}", ms(two));
        table.row(name, &ms(one), &other, &ratio(one, two), "< 300 ms");
    } else {
        table.row(name, &ms(median(&mut ours)), "no awk here", "", "< 300 ms");
    }
    let mut again: Vec<Duration> = (0..RUNS).map(|_| once(scene, "store-0", "large.md")).collect();
    let name = "collab-tail: the same, nothing new, --once";
    table.row(name, &ms(median(&mut again)), "", "", "one read of the board");
}

fn append(table: &mut Table, scene: &Scene) {
    let mut running = Running::ready(scene, tail(scene, "store-0").arg("large.md"));
    let pid = running.pid();
    let (mut alerts, mut cpu) = (Vec::new(), Vec::new());
    for n in 0..20 {
        // The comparison of the whole board comes when it is quiet, and isn't the alert's.
        pause(Duration::from_millis(300));
        let before = cpu_ms(pid);
        alerts.push(time(|| {
            scene.append("large.md", heading(1_000_000 + n));
            drop(running.event("collab_mail"));
        }));
        cpu.push(cpu_ms(pid) - before);
    }
    cpu.sort_by(f64::total_cmp);
    let shown = format!(
        "{}, CPU {:.1} ms, peak {} KiB",
        ms(median(&mut alerts)),
        cpu[cpu.len() / 2],
        peak_kib(pid)
    );
    let name = "collab-tail: 50 MB, one line appended, to its event";
    let rescan = has("awk").then(|| {
        let mut awk = command("awk");
        awk.args(["/^#+ .*→.*@lead/", "large.md"]).current_dir(scene.path());
        time(|| drop(awk.output().unwrap()))
    });
    let other = rescan.map_or(String::new(), |time| format!("awk again {}", ms(time)));
    let faster = rescan.map_or(String::new(), |time| ratio(median(&mut alerts), time));
    table.row(name, &shown, &other, &faster, "< 10 ms, < 5 ms");
    pause(Duration::from_secs(27));
    idle(table, "collab-tail: 50 MB, idle for 10 s", &running);
}

/// Wake-ups and CPU of a program that has nothing to do.
fn idle(table: &mut Table, name: &str, running: &Running) {
    let before = (activity(running.pid()), cpu_ms(running.pid()));
    pause(Duration::from_secs(10));
    let after = (activity(running.pid()), cpu_ms(running.pid()));
    let shown = format!("{} wake-ups, CPU {:.2} ms", after.0.0 - before.0.0, after.1 - before.1);
    table.row(name, &shown, "", "", "none between sweeps");
}

fn block(table: &mut Table) {
    let scene = Scene::new();
    scene.write("b.md", "");
    let mut running = Running::ready(&scene, tail(&scene, "store").arg("b.md"));
    let text: String = (0..10_000).map(heading).collect();
    let took = time(|| {
        scene.append("b.md", text);
        (0..10_000).for_each(|_| drop(running.raw()));
    });
    assert_eq!(running.stop().code, Some(0));
    let seen = fs::metadata(scene.join("store/collab-tail/lead/seen")).unwrap().len();
    let shown = format!("{}, {} bytes a record", ms(took), seen / 10_000);
    table.row("collab-tail: 10,000 lines for us appended at once", &shown, "", "", "< 1 s, 65");
}

fn many(table: &mut Table) {
    for (boards, addressed, want) in [(100, 100, "< 8192 KiB"), (1, 10, "< 4096 KiB")] {
        let scene = Scene::new();
        let names: Vec<String> = (0..boards).map(|n| format!("{n}.md")).collect();
        for name in &names {
            scene.write(name, (0..addressed).map(|n| heading(n) + name + "\n").collect::<String>());
            scene.append(
                name,
                (0..addressed).map(|n| heading(n).replace("of", name)).collect::<String>(),
            );
        }
        let mut tail = tail(&scene, "store");
        let mut running = None;
        let ready = time(|| running = Some(Running::ready(&scene, tail.args(&names))));
        let running = running.unwrap();
        let shown = format!("peak {} KiB, ready in {}", peak_kib(running.pid()), ms(ready));
        let name = format!("collab-tail: {boards} boards, {} lines for us", 2 * boards * addressed);
        table.row(&name, &shown, "", "", want);
        if boards > 1 {
            pause(Duration::from_secs(3));
            idle(table, "collab-tail: 100 boards, idle for 10 s", &running);
        }
    }
}

fn start(table: &mut Table) {
    let scene = Scene::new();
    scene.write("b.md", heading(1));
    drop(Running::ready(&scene, tail(&scene, "store").arg("b.md")));
    let mut samples: Vec<Duration> = (0..50)
        .map(|_| {
            let mut running = None;
            let took =
                time(|| running = Some(Running::ready(&scene, tail(&scene, "store").arg("b.md"))));
            assert_eq!(running.map(|running| running.stop().code), Some(Some(0)));
            took
        })
        .collect();
    let name = "collab-tail: start to ready, one known board";
    table.row(name, &ms(median(&mut samples)), "", "", "< 3 ms");
}

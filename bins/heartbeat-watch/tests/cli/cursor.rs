//! What was said outlives the process.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tests::{Running, Scene, command, eventually, git, lines};

use crate::world::{
    EXE, World, health, item, ready, recovered, silent_end, stderr, warned, with_lease,
};

#[test]
fn h18_a_restart_repeats_with_the_same_id_or_with_a_cursor_not_at_all() {
    let world = World::new();
    let expired = item("WI-1", -60);
    world.commit(std::slice::from_ref(&expired));
    let mut running = world.start(&["--cursor", "own/cursor"]);
    let told = warned(&mut running, "WI-1", "expired");
    // Killed once what it said is saved, as soon as a program can be.
    eventually("the cursor is saved", || world.scene.join("own/cursor").exists());
    assert!(running.kill().is_empty());

    let mut plain = world.start(&[]);
    let again = warned(&mut plain, "WI-1", "expired");
    assert_eq!((&again["id"], &again["key"]), (&told["id"], &told["key"]));
    silent_end(plain);

    let mut running = world.start(&["--cursor", "own/cursor"]);
    world.commit(&[expired, item("marker", 300)]);
    warned(&mut running, "marker", "warning");
    silent_end(running);

    // Renewed while nobody looked.
    world.commit(&[item("WI-1", 3600)]);
    let out = world.once(&["--cursor", "own/cursor"]);
    let lines = lines(&out.stdout);
    let reasons: Vec<_> =
        lines.iter().map(|line| (&line["work_item_id"], &line["reason"])).collect();
    assert_eq!(
        reasons,
        [(&json!("WI-1"), &json!("renewed")), (&json!("marker"), &json!("removed"))]
    );
}

#[test]
fn h18_fifty_short_lives_say_everything_once() {
    let world = World::new();
    let mut seen = Vec::new();
    for n in 0..50 {
        let items: Vec<Value> =
            (0..=n).map(|n| with_lease(&n.to_string(), json!("2026-04-08T14:15:00Z"))).collect();
        world.commit(&items);
        let args = ["--cursor", "cursor", "--wait", "20"];
        let out = world.program(&args).output().unwrap();
        assert_eq!(out.status.code(), Some(0));
        seen.extend(
            lines(&out.stdout).iter().map(|line| line["work_item_id"].as_str().unwrap().to_owned()),
        );
    }
    assert_eq!(seen, (0..50).map(|n| n.to_string()).collect::<Vec<_>>());
}

#[test]
fn a_cursor_that_is_damaged_is_one_warning_and_everything_is_told() {
    let world = World::new();
    world.commit(&[item("WI-1", -60)]);
    for broken in ["", "{\"version\":1,\"pro", "nonsense"] {
        world.scene.write("cursor", broken);
        let out = world.once(&["--cursor", "cursor"]);
        assert_eq!(lines(&out.stdout).len(), 1, "{broken}");
        let warning = stderr(&out);
        assert!(
            warning.starts_with("heartbeat-watch: warning: unable to recall cursor: "),
            "{warning}"
        );
        assert_eq!(warning.lines().count(), 1, "{warning}");
        assert_eq!(world.once(&["--cursor", "cursor"]).stdout, b"");
    }
}

#[test]
fn a_cursor_of_another_version_or_folder_is_refused_and_left_as_it_is() {
    let world = World::new();
    world.commit(&[item("WI-1", -60)]);
    assert_eq!(world.once(&["--cursor", "cursor"]).status.code(), Some(0));
    let ours = fs::read_to_string(world.scene.join("cursor")).unwrap();
    let path = format!("{}/state", world.scene.path().display());
    assert!(ours.contains(&path), "{ours}");
    for foreign in [
        ours.replace("\"version\":1", "\"version\":2"),
        ours.replace("heartbeat-watch", "gate-watch"),
        ours.replace(&path, "/elsewhere"),
    ] {
        world.scene.write("cursor", &foreign);
        let out = world.once(&["--cursor", "cursor"]);
        assert_eq!(out.status.code(), Some(4));
        let line = &lines(&out.stdout)[0];
        assert_eq!(
            (&line["event"], &line["reason"]),
            (&json!("monitor_failed"), &json!("cursor_refused"))
        );
        assert!(stderr(&out).starts_with("heartbeat-watch: fatal: unable to use the cursor"));
        assert_eq!(fs::read_to_string(world.scene.join("cursor")).unwrap(), foreign);
    }
}

#[test]
fn a_cursor_has_one_user() {
    let world = World::new();
    let running = world.start_ready(&["--cursor", "cursor"]);
    let out = world.once(&["--cursor", "cursor"]);
    assert_eq!(out.status.code(), Some(4));
    assert!(
        stderr(&out).contains(&format!("process {} holds it", running.pid())),
        "{}",
        stderr(&out)
    );
    silent_end(running);
    assert_eq!(world.once(&["--cursor", "cursor"]).status.code(), Some(0));
}

#[test]
fn a_cursor_among_what_is_watched_or_in_a_git_folder_is_a_usage_error() {
    let world = World::new();
    let scene = Scene::new();
    git::level_repository(&scene);
    let in_git = scene.join("world/.git/cursor");
    for cursor in
        ["state/cursor", "./state/deep/er/cursor", "state/../state/x", in_git.to_str().unwrap()]
    {
        let before = world.scene.tree();
        let out = world.once(&["--cursor", cursor]);
        assert_eq!((out.status.code(), &*out.stdout), (Some(1), &b""[..]), "{cursor}");
        assert!(stderr(&out).contains("it lies in"), "{}", stderr(&out));
        assert_eq!(world.scene.tree(), before);
    }
    assert!(!in_git.exists());
}

#[test]
fn a_cursor_that_cannot_be_written_is_told_and_the_watch_goes_on() {
    let world = World::new();
    let mut running: Running = world.start_ready(&["--cursor", "own/cursor"]);
    fs::rename(world.scene.join("own"), world.scene.join("away")).unwrap();
    world.commit(&[item("WI-1", 300)]);
    warned(&mut running, "WI-1", "warning");
    health(&mut running, "monitor_degraded", "cursor_unwritable");
    fs::rename(world.scene.join("away"), world.scene.join("own")).unwrap();
    world.commit(&[item("WI-1", 3600)]);
    recovered(&mut running, "WI-1", "renewed");
    health(&mut running, "monitor_recovered", "cursor_unwritable");
    silent_end(running);
}

/// A power cut at any moment leaves the old cursor or the new one, and no line that was only
/// remembered.
#[test]
fn hb_16_a_cursor_is_on_the_disk_before_it_takes_the_old_ones_place() {
    let world = World::new();
    world.commit(&[item("WI-1", -60)]);
    let trace = world.scene.join("trace");
    let mut strace = command("strace");
    strace.args(["-f", "-q", "-y", "-e", "trace=write,fsync,fdatasync,rename,renameat,renameat2"]);
    strace.arg("-o").arg(&trace).arg(EXE);
    strace.args(["--state-dir", "state", "--once", "--cursor", "what-was-said/cursor"]);
    let out = strace.current_dir(world.scene.path()).output().unwrap();
    assert_eq!((out.status.code(), lines(&out.stdout).len()), (Some(0), 1));
    let text = fs::read_to_string(&trace).unwrap();
    let steps: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("what-was-said") && !line.contains(".lock"))
        .chain(text.lines().filter(|line| line.contains("write(1<")))
        .map(|line| line.split_once('(').unwrap().0.split_whitespace().last().unwrap())
        .collect();
    assert_eq!(steps, ["write", "fsync", "rename", "fsync", "write"], "{text}");
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} in {text}"));
    assert!(at("write(1<") < at("cursor.tmp"), "said before it is remembered: {text}");
}

/// Fills the disk that `dir` lies on.
fn fill(dir: &Path) -> PathBuf {
    let path = dir.join("filler");
    let mut filler = fs::File::create(&path).unwrap();
    while filler.write_all(&[0; 512]).is_ok() {}
    path
}

#[test]
fn xx_13_a_full_disk_leaves_the_cursor_as_it_was_and_the_watch_goes_on() {
    let world = World::new();
    let _ = world.scene.dir("disk");
    let mut shell = command("unshare");
    let script = r#"mount -t tmpfs -o size=64k none disk && exec "$@""#;
    shell.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", EXE]);
    shell.args(["--state-dir", "state", "--cursor", "disk/cursor"]);
    let mut running = ready(&world.scene, shell.current_dir(world.scene.path()));
    // The disk is the program's alone, and is seen through its eyes.
    let disk = format!("/proc/{}/root{}", running.pid(), world.scene.join("disk").display());
    let cursor = Path::new(&disk).join("cursor");
    world.commit(&[item("WI-1", 300)]);
    warned(&mut running, "WI-1", "warning");
    eventually("it is remembered", || fs::read_to_string(&cursor).unwrap().contains("WI-1"));

    let filler = fill(Path::new(&disk));
    let before = fs::read(&cursor).unwrap();
    let mut items = vec![item("WI-1", 300)];
    for id in ["WI-2", "WI-3"] {
        items.push(item(id, 300));
        world.commit(&items);
        warned(&mut running, id, "warning");
        if id == "WI-2" {
            let line = health(&mut running, "monitor_degraded", "cursor_unwritable");
            assert!(line["detail"].as_str().unwrap().contains("No space left"), "{line}");
        }
    }
    assert_eq!(fs::read(&cursor).unwrap(), before);
    fs::remove_file(filler).unwrap();
    items.push(item("WI-4", 300));
    world.commit(&items);
    // A look that comes by saves what could not be saved.
    let mut told = [running.line()["event"].clone(), running.line()["event"].clone()];
    told.sort_by_key(ToString::to_string);
    assert_eq!(told, ["heartbeat_warning", "monitor_recovered"]);
    eventually("all is remembered", || fs::read_to_string(&cursor).unwrap().contains("WI-4"));
    // The cursor and its lock: nothing half written is left.
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 2);
    silent_end(running);
}

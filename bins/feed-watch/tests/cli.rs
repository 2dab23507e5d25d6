//! The program as its users run it.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        process::CommandExt as _,
    },
    process::Command,
};

use tests::{Running, Scene, command, documented};

const EXE: &str = env!("CARGO_BIN_EXE_feed-watch");

fn watch(scene: &Scene, args: &[&str]) -> Command {
    let mut watch = command(EXE);
    watch.arg(scene.join("feed.md")).args(["--debounce=0.1", "--poll-interval=0.3"]).args(args);
    watch
}

#[test]
fn flags_are_documented() {
    documented(<feed_watch::args::Args as clap::CommandFactory>::command());
}

#[test]
fn bad_flags_are_usage_errors() {
    for args in [
        &[][..],
        &[""],
        &["f", "--debounce", "0"],
        &["f", "--poll-interval", "NaN"],
        &["f", "--cursor", "./f"],
        &["f", "-x"],
    ] {
        let out = command(EXE).args(args).output().unwrap();
        assert_eq!((out.status.code(), out.stdout.len()), (Some(1), 0), "{args:?}");
    }
    let help = |flag| command(EXE).arg(flag).output().unwrap().stdout;
    assert_eq!(help("-h"), help("--help"));
}

#[test]
fn what_appears_changes_and_comes_back_is_an_update() {
    let scene = Scene::new();
    let mut watch = Running::ready(&scene, &mut watch(&scene, &[]));
    scene.append("feed.md", "a\n");
    let first = watch.event("feed_update");
    assert_eq!(first["type"], "feed_update");
    assert_eq!(first["key"], format!("feed:{}", scene.join("feed.md").display()));
    for _ in 0..20 {
        scene.append("feed.md", "b\n");
    }
    let second = watch.event("feed_update");
    assert_ne!(first["id"], second["id"]);
    // A file that is restored is older than it was.
    let restored = command("touch").args(["-d", "-1 day"]).arg(scene.join("feed.md")).status();
    assert!(restored.unwrap().success());
    assert!(watch.event("feed_update")["mtime"].as_str() < second["mtime"].as_str());
    fs::remove_file(scene.join("feed.md")).unwrap();
    scene.append("feed.md", "a\n");
    watch.event("feed_update");
    scene.replace("feed.md", "a\n");
    watch.event("feed_update");
    assert!(watch.stop().lines.is_empty());
}

#[test]
fn what_is_there_at_the_start_and_what_goes_is_silent() {
    let scene = Scene::new();
    scene.write("feed.md", "a");
    let mut watch = watch(&scene, &[]);
    watch.arg(scene.join("marker"));
    let mut watch = Running::ready(&scene, &mut watch);
    fs::remove_file(scene.join("feed.md")).unwrap();
    scene.write("marker", "x");
    let line = watch.event("feed_update");
    assert_eq!(line["path"], scene.join("marker").display().to_string());
    assert!(watch.stop().lines.is_empty());
}

#[test]
fn changes_are_found_by_sweeps_alone_and_behind_a_link() {
    let scene = Scene::new();
    let _ = scene.dir("elsewhere");
    scene.write("elsewhere/feed", "a");
    std::os::unix::fs::symlink(scene.join("elsewhere/feed"), scene.join("feed.md")).unwrap();
    for flag in ["--announce", "--poll-only"] {
        let mut watch = Running::ready(&scene, watch(&scene, &[flag]).arg("--announce"));
        let armed = watch.event("monitor_armed");
        let is_polling = flag == "--poll-only";
        let holes = armed["not_covered"].as_array().unwrap();
        assert_eq!(holes[0], "what a feed says");
        assert_eq!(holes.last().unwrap() == "no inotify: sweep only", is_polling);
        let wanted = if is_polling { &["poll"][..] } else { &["inotify", "poll"] };
        assert_eq!(armed["mechanisms"], serde_json::json!(wanted));
        scene.append("elsewhere/feed", "b");
        watch.event("feed_update");
    }
}

#[test]
fn a_feed_that_cannot_be_looked_at_is_told_and_changes_nothing() {
    let scene = Scene::new();
    let closed = scene.dir("closed");
    scene.write("closed/feed", "a");
    // Root may look at everything, so the program runs as somebody else.
    let exe = scene.join("feed-watch");
    assert!(command("cp").arg(EXE).arg(&exe).status().unwrap().success());
    let mut watch = command(&exe);
    watch.arg(closed.join("feed")).args(["--debounce=0.1", "--poll-interval=0.2"]);
    let mut watch = Running::start(watch.uid(65_534).gid(65_534).arg("--announce"));
    watch.event("monitor_armed");
    let allow = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o700);
    let degraded = watch.event("monitor_degraded");
    assert_eq!(degraded["reason"], "feed_unreadable");
    assert!(degraded["detail"].as_str().unwrap().contains("closed/feed: Permission denied"));
    allow(0o755);
    watch.event("monitor_recovered");
    scene.append("closed/feed", "b");
    watch.event("feed_update");
    assert_eq!(watch.stop().lines.len(), 1, "that it stopped");
}

#[test]
fn a_cursor_tells_what_changed_meanwhile() {
    let scene = Scene::new();
    let _ = scene.dir("state");
    scene.write("feed.md", "a");
    let cursor = scene.join("state/cursor").display().to_string();
    let once = |args: &[&str]| {
        let mut watch = watch(&scene, &["--once", "--cursor", &cursor]);
        let out = watch.args(args).output().unwrap();
        (out.status.code(), tests::lines(&out.stdout).len())
    };
    assert_eq!((once(&[]), once(&[])), ((Some(0), 0), (Some(0), 0)));
    scene.append("feed.md", "b");
    assert_eq!((once(&[]), once(&[])), ((Some(0), 1), (Some(0), 0)));
    fs::remove_file(scene.join("feed.md")).unwrap();
    assert_eq!(once(&[]), (Some(0), 0));
    scene.append("feed.md", "b");
    assert_eq!(once(&[]), (Some(0), 1));
    // Of other feeds it is refused, and damaged it skips nothing.
    assert_eq!(once(&["another"]).0, Some(4));
    scene.write("state/cursor", "{\"version\":1");
    assert_eq!((once(&[]), once(&[])), ((Some(0), 1), (Some(0), 0)));
}

#[test]
fn g5_the_registry_ends_it_but_not_its_history() {
    let scene = Scene::new();
    scene.append("items", "{\"shutdown_request\":true}\n");
    let mut watch = watch(&scene, &["--announce"]);
    watch.arg("--items").arg(scene.join("items"));
    let mut watch = Running::ready(&scene, &mut watch);
    watch.event("monitor_armed");
    // Neither other lines nor another file of that name end it.
    scene.append("items", "nonsense\n{\"blind_phase\":true}\n");
    scene.replace("items", "{\"shutdown_request\":true}\n");
    scene.append("feed.md", "a");
    watch.event("feed_update");
    fs::remove_file(scene.join("items")).unwrap();
    assert_eq!(watch.event("monitor_degraded")["reason"], "items_missing");
    scene.append("items", "{\"blind_phase\":false}\n");
    watch.event("monitor_recovered");
    scene.append("items", "{\"shutdown_request\":true}\n");
    let ended = watch.end();
    assert_eq!((ended.code, &ended.lines[0]["reason"]), (Some(0), &"shutdown_request".into()));
}

#[test]
fn g5_a_registry_that_is_made_later_ends_it_with_its_first_line() {
    let scene = Scene::new();
    let mut watch = watch(&scene, &[]);
    watch.arg("--items").arg(scene.join("items"));
    let watch = Running::ready(&scene, &mut watch);
    scene.append("items", "{\"shutdown_request\":true}\n");
    let ended = watch.end();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 0));
}

#[test]
fn what_is_no_registry_ends_it_with_4() {
    let scene = Scene::new();
    let mut watch = watch(&scene, &["--once"]);
    let out = watch.arg("--items").arg(scene.path()).output().unwrap();
    let lines = tests::lines(&out.stdout);
    assert_eq!((out.status.code(), &lines[0]["event"]), (Some(4), &"monitor_failed".into()));
}

#[test]
fn g2_no_feed_is_ever_opened() {
    let scene = Scene::new();
    scene.write("feed.md", "verdict");
    let before = fs::metadata(scene.join("feed.md")).unwrap();
    let mut traced = command("strace");
    traced.args(["-f", "-e", "trace=/^(open|kill|tgkill|creat|unlink|rename|mkdir|execve)", "-o"]);
    let items = scene.join("items").display().to_string();
    let watch = watch(&scene, &["--items", &items]);
    traced.arg(scene.join("trace")).arg(watch.get_program()).args(watch.get_args());
    let mut watch = Running::ready(&scene, &mut traced);
    scene.append("feed.md", "x");
    watch.event("feed_update");
    scene.append("items", "{\"shutdown_request\":true}\n");
    assert_eq!(watch.end().code, Some(0));
    let trace = fs::read_to_string(scene.join("trace")).unwrap();
    let calls = trace.lines().filter(|line| !line.contains("execve("));
    for call in calls {
        for verb in ["feed.md", "kill(", "unlink", "rename", "mkdir", "O_CREAT"] {
            assert!(!call.contains(verb), "{verb}: {call}");
        }
    }
    assert!(trace.contains("/items\""), "the registry is opened, and strace saw it");
    let after = fs::metadata(scene.join("feed.md")).unwrap();
    assert_eq!((before.atime(), before.atime_nsec()), (after.atime(), after.atime_nsec()));
}

#[test]
fn g2_a_feed_that_is_a_fifo_or_closed_to_all_holds_up_nothing() {
    let scene = Scene::new();
    assert!(command("mkfifo").arg(scene.join("fifo")).status().unwrap().success());
    scene.write("feed.md", "a");
    let mut watch = watch(&scene, &[]);
    watch.arg(scene.join("fifo")).arg(scene.dir("folder"));
    let mut watch = Running::ready(&scene, &mut watch);
    fs::set_permissions(scene.join("feed.md"), fs::Permissions::from_mode(0o000)).unwrap();
    watch.event("feed_update");
    fs::set_permissions(scene.join("fifo"), fs::Permissions::from_mode(0o000)).unwrap();
    watch.event("feed_update");
    assert_eq!(watch.stop().code, Some(0));
}

#[test]
fn g9_the_end_of_the_reader_is_the_end() {
    let scene = Scene::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut watch = watch(&scene, &[]).stdout(writer).spawn().unwrap();
    drop(reader);
    let mut code = None;
    tests::eventually("it ends", || {
        code = watch.try_wait().unwrap().map(|status| status.code());
        code.is_some()
    });
    assert_eq!(code, Some(Some(0)));
}

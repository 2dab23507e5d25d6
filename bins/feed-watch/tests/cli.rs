//! The program as its users run it.

use std::{fs, os::unix::fs::MetadataExt as _, process::Command};

use tests::{Running, Scene, command, documented};

const EXE: &str = env!("CARGO_BIN_EXE_feed-watch");

fn watch(scene: &Scene) -> Command {
    let mut watch = command(EXE);
    watch.arg(scene.join("feed.md")).args(["--debounce=0.2", "--poll-interval=0.5"]);
    watch
}

#[test]
fn flags_are_documented() {
    documented(<feed_watch::args::Args as clap::CommandFactory>::command());
}

#[test]
fn bad_flags_are_usage_errors() {
    for args in [&[][..], &[""], &["f", "--debounce", "0"], &["f", "-x"]] {
        assert_eq!(command(EXE).args(args).output().unwrap().status.code(), Some(1), "{args:?}");
    }
}

#[test]
fn what_appears_changes_and_comes_back_is_an_update() {
    let scene = Scene::new();
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    scene.append("feed.md", "a\n");
    let first = watch.event("feed_update");
    assert_eq!(first["type"], "feed_update");
    assert_eq!(first["key"], format!("feed:{}", scene.join("feed.md").display()));
    for _ in 0..20 {
        scene.append("feed.md", "b\n");
    }
    let second = watch.event("feed_update");
    assert_ne!(first["id"], second["id"]);
    let restored = command("touch").args(["-d", "-1 day"]).arg(scene.join("feed.md")).status();
    assert!(restored.unwrap().success());
    assert!(watch.event("feed_update")["mtime"].as_str() < second["mtime"].as_str());
    fs::remove_file(scene.join("feed.md")).unwrap();
    scene.append("feed.md", "a\n");
    watch.event("feed_update");
}

#[test]
fn a_cursor_tells_what_changed_meanwhile() {
    let scene = Scene::new();
    let _ = scene.dir("state");
    scene.write("feed.md", "a");
    let once = || {
        let mut watch = watch(&scene);
        watch.arg("--once").arg("--cursor").arg(scene.join("state/cursor"));
        tests::lines(&watch.output().unwrap().stdout).len()
    };
    assert_eq!((once(), once()), (0, 0));
    scene.append("feed.md", "b");
    assert_eq!((once(), once()), (1, 0));
}

#[test]
fn the_registry_ends_it_but_not_its_history() {
    let scene = Scene::new();
    scene.append("items", "{\"shutdown_request\":true}\n");
    let mut watch = watch(&scene);
    watch.arg("--items").arg(scene.join("items")).arg("--announce");
    let mut watch = Running::ready(&scene, &mut watch);
    watch.event("monitor_armed");
    scene.append("items", "{\"shutdown_request\":true}\n");
    let ended = watch.end();
    assert_eq!((ended.code, &ended.lines[0]["reason"]), (Some(0), &"shutdown_request".into()));
}

#[test]
fn no_feed_is_ever_opened() {
    let scene = Scene::new();
    scene.write("feed.md", "verdict");
    let before = fs::metadata(scene.join("feed.md")).unwrap();
    let mut traced = command("strace");
    traced.args(["-f", "-e", "trace=/^(open|kill|creat|unlink|rename|mkdir)", "-o"]);
    traced.arg(scene.join("trace")).arg(EXE).arg(scene.join("feed.md"));
    traced.args(["--poll-interval=0.1", "--debounce=0.1", "--max-runtime=2"]);
    let mut watch = Running::ready(&scene, &mut traced);
    scene.append("feed.md", "x");
    watch.event("feed_update");
    assert_eq!(watch.end().code, Some(0));
    let trace = fs::read_to_string(scene.join("trace")).unwrap();
    for verb in ["feed.md", "kill(", "unlink", "rename", "mkdir", "O_CREAT"] {
        assert!(!trace.contains(verb), "{verb}:\n{trace}");
    }
    let after = fs::metadata(scene.join("feed.md")).unwrap();
    assert_eq!((before.atime(), before.atime_nsec()), (after.atime(), after.atime_nsec()));
}

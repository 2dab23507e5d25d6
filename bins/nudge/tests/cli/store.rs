//! What is kept over a restart.

use std::{fs, io::Write as _};

use tests::{Running, Scene};

use crate::world::{ACK, nudge, pass, stalled, start};

#[test]
fn what_waits_outlives_the_process() {
    let scene = Scene::new();
    let store = scene.join("store").display().to_string();
    let (mut first, mut stdin) = start(&scene, &["--store", &store, "--after=30"]);
    pass(&mut first, &mut stdin, &stalled("1"));
    drop(stdin);
    assert_eq!(first.end().code, Some(0));
    let (mut second, mut stdin) = start(&scene, &["--store", &store, "--drain", "--after=30"]);
    // The same event is none again, and waits for its answer still.
    pass(&mut second, &mut stdin, &stalled("1"));
    stdin.write_all(b"{\"ack\":\"stalled\",\"id\":\"1\"}\n").unwrap();
    drop(stdin);
    assert!(second.end().lines.is_empty());
    // What is left of the wait goes on: this one has it all behind it.
    let (mut third, mut stdin) = start(&scene, &["--store", &store, "--after=0.001", "--max=1"]);
    pass(&mut third, &mut stdin, &stalled("2"));
    assert_eq!(third.event("nudge_repeat")["original_id"], "2");
    assert_eq!(third.stop().code, Some(0));
    let (fourth, stdin) =
        start(&scene, &["--store", &store, "--drain", "--after=0.001", "--max=1"]);
    drop(stdin);
    assert!(fourth.end().lines.is_empty(), "said for the last time, it is not said again");
}

#[test]
fn an_answer_that_came_between_two_runs_counts() {
    let scene = Scene::new();
    let store = scene.join("store").display().to_string();
    let acks = scene.join("acks").display().to_string();
    let args = ["--store", &store, "--acks", &acks, "--after=30", "--drain"];
    // Into a file that is there, into an empty one, and into one that isn't.
    for file in [Some(ACK), Some(""), None] {
        if let Some(text) = file {
            scene.write("acks", text);
        }
        let (mut first, mut stdin) = start(&scene, &args);
        pass(&mut first, &mut stdin, &stalled("1"));
        assert_eq!(first.stop().code, Some(0));
        drop(stdin);
        scene.append("acks", ACK);
        let (second, stdin) = start(&scene, &args);
        drop(stdin);
        assert!(second.end().lines.is_empty(), "{file:?}");
        fs::remove_file(scene.join("acks")).unwrap();
        fs::remove_dir_all(scene.join("store")).unwrap();
    }
}

#[test]
fn each_file_of_acknowledgements_has_a_memory_of_its_own() {
    let scene = Scene::new();
    let store = scene.join("store").display().to_string();
    let (one, two) =
        (scene.join("one").display().to_string(), scene.join("two").display().to_string());
    let (first, _stdin) = start(&scene, &["--store", &store, "--acks", &one]);
    let (second, _stdin) = start(&scene, &["--store", &store, "--acks", &two]);
    // The same one twice is refused, and the reader of the stream hears of it.
    let out = nudge(&["--store", &store, "--acks", &two]).output().unwrap();
    let lines = tests::lines(&out.stdout);
    assert_eq!((out.status.code(), &lines[0]["event"]), (Some(4), &"monitor_failed".into()));
    assert_eq!((first.stop().code, second.stop().code), (Some(0), Some(0)));
}

#[test]
fn no_state_is_kept_without_a_store_and_a_damaged_one_is_replaced() {
    let scene = Scene::new();
    let home = scene.dir("home");
    let mut plain = nudge(&["--after=30"]);
    let mut running = Running::start(plain.env("HOME", &home).env_remove("XDG_STATE_HOME"));
    let mut stdin = running.stdin().unwrap();
    pass(&mut running, &mut stdin, &stalled("1"));
    drop(stdin);
    assert_eq!(running.end().code, Some(0));
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
    let mut named = nudge(&["--after=30"]);
    let mut running = Running::start(named.env("DOORBELL_STORE", scene.join("store")));
    drop(running.stdin());
    assert_eq!(running.end().code, Some(0));
    let mut files =
        fs::read_dir(scene.join("store/nudge")).unwrap().map(|entry| entry.unwrap().path());
    let file = files.find(|path| path.extension().is_some_and(|ext| ext == "json")).unwrap();
    scene.write(file.to_str().unwrap(), "{");
    let mut named = nudge(&["--after=30"]);
    let mut running = Running::start(named.env("DOORBELL_STORE", scene.join("store")));
    drop(running.stdin());
    let ended = running.end();
    assert_eq!((ended.code, ended.stderr.matches("is damaged").count()), (Some(0), 1));
}

#[test]
fn a_store_that_can_no_longer_be_written_is_told_and_lines_pass() {
    let scene = Scene::new();
    let store = scene.join("store").display().to_string();
    let (mut running, mut stdin) = start(&scene, &["--store", &store, "--after=30"]);
    fs::rename(scene.join("store/nudge"), scene.join("elsewhere")).unwrap();
    pass(&mut running, &mut stdin, &stalled("1"));
    assert_eq!(running.event("monitor_degraded")["reason"], "cursor_unwritable");
    fs::rename(scene.join("elsewhere"), scene.join("store/nudge")).unwrap();
    pass(&mut running, &mut stdin, &stalled("2"));
    assert_eq!(running.event("monitor_recovered")["reason"], "cursor_unwritable");
    drop(stdin);
    assert_eq!(running.end().code, Some(0));
}

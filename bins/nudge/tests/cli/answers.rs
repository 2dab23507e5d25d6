//! Acknowledgements, and what else ends a nudge.

use std::{fs, io::Write as _};

use tests::Scene;

use crate::world::{ACK, nudge, pass, stalled, start};

#[test]
fn g7_an_answer_from_the_file_ends_it_and_one_from_before_does_not() {
    let scene = Scene::new();
    scene.write("items", ACK);
    let acks = scene.join("items").display().to_string();
    let (mut running, mut stdin) = start(&scene, &["--drain", "--acks", &acks]);
    pass(&mut running, &mut stdin, &stalled("1"));
    drop(stdin);
    running.event("nudge_repeat");
    scene.append("items", "nonsense\n");
    scene.append("items", ACK);
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn g7_an_answer_on_stdin_is_swallowed() {
    let scene = Scene::new();
    let (mut running, mut stdin) = start(&scene, &["--drain", "--after=60"]);
    // One for nobody, one before its event and one for wake are swallowed without effect.
    stdin.write_all(ACK.as_bytes()).unwrap();
    stdin.write_all(b"{\"ack\":\"stalled\",\"agent\":\"b\"}\n").unwrap();
    pass(&mut running, &mut stdin, &stalled("1"));
    stdin.write_all(b"{\"ack\":\"stalled\",\"agent\":\"a\",\"claim\":\"c\"}\n").unwrap();
    let marker = "{\"event\":\"gate_opened\"}\n";
    pass(&mut running, &mut stdin, marker);
    stdin.write_all(ACK.as_bytes()).unwrap();
    drop(stdin);
    let ended = running.end();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 0));
}

#[test]
fn g7_what_clears_the_key_ends_it() {
    let scene = Scene::new();
    let (mut running, mut stdin) = start(&scene, &["--drain", "--after=60"]);
    pass(&mut running, &mut stdin, &stalled("1"));
    let cleared =
        stalled("1").replace("\"stalled\",", "\"recovered\",").replace("raised", "cleared");
    pass(&mut running, &mut stdin, &cleared);
    drop(stdin);
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn g7_an_end_that_came_with_what_is_due_is_seen_first() {
    let scene = Scene::new();
    let (mut running, mut stdin) = start(&scene, &["--after=0.3"]);
    pass(&mut running, &mut stdin, &stalled("1"));
    running.freeze();
    // Far more than one reading takes, and then the end of the matter.
    for n in 0..50 {
        let line = format!("{{\"n\":{n},\"x\":\"{}\"}}\n", "y".repeat(1000));
        stdin.write_all(line.as_bytes()).unwrap();
    }
    stdin.write_all(stalled("1").replace("raised", "cleared").as_bytes()).unwrap();
    tests::pause(std::time::Duration::from_millis(400));
    running.thaw();
    for n in 0..50 {
        assert_eq!(running.line()["n"], n);
    }
    assert_eq!(running.event("stalled")["condition"], "cleared");
    drop(stdin);
    assert!(running.end().lines.is_empty());
}

#[test]
fn g9_an_answer_is_appended_with_nobody_there() {
    let scene = Scene::new();
    scene.append("acks", ACK);
    scene.append("acks", ACK);
    assert_eq!(fs::read_to_string(scene.join("acks")).unwrap(), ACK.repeat(2));
    // Whoever starts then finds history.
    let acks = scene.join("acks").display().to_string();
    let (mut running, mut stdin) = start(&scene, &["--max=1", "--drain", "--acks", &acks]);
    pass(&mut running, &mut stdin, &stalled("1"));
    drop(stdin);
    assert_eq!(running.event("nudge_repeat")["final"], true);
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn a_file_that_is_made_later_is_read_from_its_beginning() {
    let scene = Scene::new();
    let acks = scene.join("acks").display().to_string();
    let (mut running, mut stdin) = start(&scene, &["--after=60", "--drain", "--acks", &acks]);
    pass(&mut running, &mut stdin, &stalled("1"));
    scene.append("acks", ACK);
    drop(stdin);
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn a_file_that_takes_the_name_brings_its_past_along() {
    let scene = Scene::new();
    scene.write("acks", "");
    let acks = scene.join("acks").display().to_string();
    let (mut running, mut stdin) = start(&scene, &["--max=100", "--drain", "--acks", &acks]);
    pass(&mut running, &mut stdin, &stalled("1"));
    scene.replace("acks", ACK);
    // The first of these may have come before, the second has seen the file.
    running.event("nudge_repeat");
    running.event("nudge_repeat");
    scene.append("acks", ACK);
    drop(stdin);
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn acknowledgements_that_cannot_be_read_end_it_at_the_start_only() {
    let scene = Scene::new();
    let acks = scene.join("acks").display().to_string();
    let _ = scene.dir("acks");
    let out = nudge(&["--acks", &acks]).output().unwrap();
    let lines = tests::lines(&out.stdout);
    assert_eq!((out.status.code(), &lines[0]["event"]), (Some(4), &"monitor_failed".into()));
    fs::remove_dir(scene.join("acks")).unwrap();
    let (mut running, mut stdin) = start(&scene, &["--after=60", "--acks", &acks]);
    let _ = scene.dir("acks");
    assert_eq!(running.event("monitor_degraded")["reason"], "acks_unreadable");
    pass(&mut running, &mut stdin, &stalled("1"));
    fs::remove_dir(scene.join("acks")).unwrap();
    assert_eq!(running.event("monitor_recovered")["reason"], "acks_unreadable");
    drop(stdin);
    assert_eq!(running.end().code, Some(0));
}

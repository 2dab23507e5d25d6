use std::{
    fs::OpenOptions,
    io::Write as _,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    time::Duration,
};

use nix::sys::{signal::Signal, stat::Mode};
use tests::pause;

use crate::*;

#[test]
fn a_line_counts_when_it_is_whole() {
    let scene = Scene::new();
    scene.append("items", format!("{{\"x\":\"{}\"}}\n", "y".repeat(100_000)));
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    assert_eq!(watch.event("item_rejected")["reason"], "line_too_long");
    let text = line(&scene, "half", "");
    let (head, tail) = text.split_at(30);
    scene.append("items", head);
    pause(Duration::from_millis(300));
    assert!(watch.so_far().is_empty());
    scene.append("items", tail);
    assert_eq!(watch.event("item_registered")["agent"], "half");
}

#[test]
fn a_registry_that_is_replaced_or_cut_repeats_nothing_and_loses_nothing() {
    let scene = Scene::new();
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    let text = line(&scene, "one", ",\"id\":\"one\"");
    scene.append("items", &text);
    assert_eq!(next(&mut watch, "item_registered")["agent"], "one");
    scene.replace("items", text.clone() + &line(&scene, "two", ",\"id\":\"two\""));
    watch.event("item_degraded");
    assert_eq!(watch.event("item_registered")["agent"], "two");
    watch.event("item_degraded");
    scene.write("items", "");
    scene.append("items", &text);
    scene.append("items", "{\"op\":\"unregister\",\"agent\":\"two\",\"step\":5}\n");
    watch.event("item_restored");
    let removed = watch.event("item_removed");
    assert_eq!((&removed["agent"], &removed["reason"]), (&"two".into(), &"unregister".into()));
}

#[test]
fn bad_lines_name_their_field() {
    let scene = Scene::new();
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    scene.append("items", line(&scene, "a", "").replace("\"5\"", "10.5"));
    assert_eq!(watch.event("item_registered")["step"], "10.5");
    let ahead = format!(",\"started_at_epoch\":{}", epoch(-320.0));
    for (bad, field) in [
        (line(&scene, "a", "").replace("\"a\"", "\"a b\""), "agent"),
        (line(&scene, "a", "").replace("\"a\"", "\"../x\""), "agent"),
        (line(&scene, "a", "").replace("\"a\"", "\".\""), "agent"),
        (line(&scene, "a", ",\"blind_phase\":\"no\""), "blind_phase"),
        (line(&scene, "a", ",\"timeout_sec\":-1"), "timeout_sec"),
        (line(&scene, "a", &ahead), "started_at_epoch"),
    ] {
        scene.append("items", &bad);
        assert_eq!(next(&mut watch, "item_rejected")["field"], field, "{bad}");
    }
    for (bad, reason) in [
        ("{\"blind_phase\":true,\"agent\":\"nobody\"}\n", "no_match"),
        ("{\"op\":\"unregister\",\"agent\":\"nobody\",\"step\":5}\n", "no_match"),
        ("{\"blind_phase\":false,\"step\":\"5\"}\n", "missing"),
        ("{\"hello\":1}\n", "unknown_line"),
        ("[]\n", "not_object"),
        ("{\n", "not_json"),
    ] {
        scene.append("items", bad);
        assert_eq!(watch.event("item_rejected")["reason"], reason, "{bad}");
    }
}

#[test]
fn events_are_stamped_with_the_phase_that_holds() {
    let scene = Scene::new();
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    scene.append("items", line(&scene, "a", ",\"consultant_reporting\":\"full\""));
    let before = watch.event("item_registered");
    assert_eq!(
        (&before["blind"], &before["consultant_reporting"]),
        (&false.into(), &"full".into())
    );
    watch.event("item_degraded");
    scene.append("items", "{\"blind_phase\":true}\n");
    scene.append("items", line(&scene, "b", ""));
    assert_eq!(watch.event("item_registered")["blind"], true);
    watch.event("item_degraded");
    scene.replace("a.md", "FAIL");
    watch.event("item_restored");
    assert_eq!(watch.event("result_ready")["blind"], true);
    scene.append("items", "{\"blind_phase\":false,\"agent\":\"b\"}\n");
    scene.append("items", "{\"shutdown_request\":true}\n");
    let ended = watch.end();
    assert_eq!(ended.code, Some(0));
    // The one that ended is not open.
    let told: Vec<(&Value, &Value)> =
        ended.lines.iter().map(|line| (&line["event"], &line["blind"])).collect();
    let no = &Value::Bool(false);
    assert_eq!(told, [(&"item_restored".into(), no), (&"item_removed".into(), no)]);
}

#[test]
fn one_that_never_was_is_waited_for_and_one_that_vanished_is_missed() {
    let scene = Scene::new();
    let mut watch = watch(&scene);
    let mut watch = Running::ready(&scene, watch.args(["--poll-interval=0.2", "--alive=1"]));
    // Several sweeps have found nothing.
    let mut seen = watch.line();
    while seen["event"] != "monitor_alive" {
        assert_eq!(seen["event"], "clock_gap");
        seen = watch.line();
    }
    scene.append("items", line(&scene, "a", ""));
    next(&mut watch, "item_registered");
    fs::rename(scene.join("items"), scene.join("away")).unwrap();
    assert_eq!(next(&mut watch, "monitor_degraded")["reason"], "items_missing");
    scene.replace("a.md", "done");
    next(&mut watch, "result_ready");
    fs::rename(scene.join("away"), scene.join("items")).unwrap();
    assert_eq!(next(&mut watch, "monitor_recovered")["reason"], "items_missing");
    scene.append("items", line(&scene, "b", ""));
    assert_eq!(next(&mut watch, "item_registered")["agent"], "b");
}

#[test]
fn a_registry_in_a_folder_that_is_made_later_is_found_without_a_sweep() {
    let scene = Scene::new();
    let mut watch = command(EXE);
    watch.arg("--items").arg(scene.join("run/items")).arg("--poll-interval=1h");
    let mut watch = Running::ready(&scene, watch.arg("--no-announce"));
    let _ = scene.dir("run");
    scene.replace("run/items", line(&scene, "a", ""));
    assert_eq!(watch.event("item_registered")["agent"], "a");
}

/// As a user who may not read it.
#[test]
fn one_that_can_not_be_read_is_told_and_read_later() {
    let scene = Scene::new();
    scene.append("items", line(&scene, "a", ""));
    let rights = |mode| {
        fs::set_permissions(scene.join("items"), fs::Permissions::from_mode(mode)).unwrap();
    };
    rights(0o000);
    let exe = scene.copy_of(EXE);
    let watch = || {
        let mut watch = command(&exe);
        watch.arg("--items").arg(scene.join("items")).arg("--no-announce");
        watch.arg("--poll-interval=0.2").uid(65_534).gid(65_534);
        watch
    };
    let once = watch().arg("--once").output().unwrap();
    assert_eq!(once.status.code(), Some(4), "it saw nothing");
    assert_eq!(tests::lines(&once.stdout)[0]["reason"], "items_unreadable");
    let mut running = Running::start(&mut watch());
    let degraded = next(&mut running, "monitor_degraded");
    let detail = degraded["detail"].as_str().unwrap();
    assert!(detail.contains("/items: Permission denied"), "{detail}");
    rights(0o644);
    assert_eq!(next(&mut running, "monitor_recovered")["reason"], "items_unreadable");
    let registered = next(&mut running, "item_registered");
    assert_eq!((&registered["agent"], &registered["replayed"]), (&"a".into(), &true.into()));
}

#[test]
fn a_link_and_a_fifo_can_be_followed() {
    let scene = Scene::new();
    let _ = scene.dir("far");
    scene.append("far/items", "");
    std::os::unix::fs::symlink(scene.join("far/items"), scene.join("items")).unwrap();
    let mut running = Running::ready(&scene, &mut watch(&scene));
    scene.append("far/items", line(&scene, "a", ""));
    assert_eq!(running.event("item_registered")["agent"], "a");

    let scene = Scene::new();
    nix::unistd::mkfifo(&scene.join("items"), Mode::S_IRWXU).unwrap();
    let mut running = Running::ready(&scene, &mut watch(&scene));
    // Its end is the end of a writer only.
    for agent in ["a", "b"] {
        let mut fifo = OpenOptions::new().write(true).open(scene.join("items")).unwrap();
        fifo.write_all(line(&scene, agent, "").as_bytes()).unwrap();
        drop(fifo);
        assert_eq!(next(&mut running, "item_registered")["agent"], agent);
    }
    running.signal(Signal::SIGTERM);
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn four_writers_lose_nothing() {
    let scene = Scene::new();
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let scene = &scene;
            scope.spawn(move || {
                for n in 0..200 {
                    let long = format!(",\"x\":\"{}\"", "y".repeat(6000));
                    scene.append("items", line(scene, &format!("w{writer}-{n}"), &long));
                }
            });
        }
    });
    for _ in 0..800 {
        next(&mut watch, "item_registered");
    }
    assert!(watch.so_far().iter().all(|line| line["event"] == "item_degraded"));
}

#[test]
fn a_restart_tells_again_with_the_same_id() {
    let scene = Scene::new();
    let mut first = Running::ready(&scene, &mut watch(&scene));
    let dead = Agent::start(&scene, "dead");
    scene.replace("dead.pid", record(dead.id(), |_| ()));
    let bare = Agent::start(&scene, "bare");
    for name in ["dead", "bare"] {
        scene.append("items", line(&scene, name, &pid_file(&scene, name)));
    }
    while next(&mut first, "item_registered")["agent"] != "bare" {}
    for name in ["a", "b", "c"] {
        scene.append("items", line(&scene, name, ""));
        scene.replace(&format!("{name}.md"), "x");
    }
    let ends = |watch: &mut Running| {
        let mut ends = Vec::new();
        while ends.len() < 5 {
            let line = watch.line();
            if line["event"] == "result_ready" || line["event"] == "process_died" {
                ends.push(line);
            }
        }
        ends.sort_by_key(|line| line["agent"].to_string());
        ends
    };
    dead.end();
    bare.end();
    let before = ends(&mut first);
    let _ = first.kill();
    // They settle.
    pause(Duration::from_millis(400));
    let mut second = Running::start(&mut watch(&scene));
    let after = ends(&mut second);
    for (before, after) in before.iter().zip(&after) {
        let (id, replayed) = (&before["id"], &after["replayed"]);
        assert!(before.get("replayed").is_none() && *replayed == true, "{before} {after}");
        assert_eq!(&after["id"], id, "{before} {after}");
    }
}

#[test]
fn a_shutdown_that_is_history_stops_nothing() {
    let scene = Scene::new();
    scene.append("items", line(&scene, "a", ""));
    scene.append("items", "{\"shutdown_request\":true}\n");
    scene.append("items", line(&scene, "b", ""));
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    assert_eq!(watch.event("item_registered")["agent"], "b");
    watch.event("item_degraded");
    scene.append("items", "{\"shutdown_request\":true}\n");
    let ended = watch.end();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 2), "{:?}", ended.lines);
}

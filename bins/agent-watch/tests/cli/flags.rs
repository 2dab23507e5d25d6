use std::process::Stdio;

use tests::{documented, eventually};

use crate::*;

#[test]
fn flags_are_documented() {
    documented(<agent_watch::args::Args as clap::CommandFactory>::command());
}

#[test]
fn bad_flags_are_usage_errors() {
    for args in [
        &[][..],
        &["--items", ""],
        &["--items", "-x"],
        &["--items", "f", "--margin", "100"],
        &["--items", "f", "--until", "never"],
        &["--items", "f", "--settle", "0"],
        &["--items", "f", "x"],
    ] {
        let out = command(EXE).args(args).output().unwrap();
        assert_eq!(out.status.code(), Some(1), "{args:?}");
        assert!(String::from_utf8_lossy(&out.stderr).starts_with("agent-watch: fatal: "));
    }
    let scene = Scene::new();
    let out = command(EXE).arg("--items").arg(scene.path()).output().unwrap();
    assert_eq!(out.status.code(), Some(4));
}

#[test]
fn a_wait_in_one_line_has_three_ends() {
    let scene = Scene::new();
    // The largest pid there can be, which nobody has.
    scene.replace("dead.pid", "4194304");
    scene.replace("a.md", "x");
    scene.replace("b.md", "x");
    for (items, code) in [
        (line(&scene, "a", "") + &line(&scene, "b", ""), 0),
        (line(&scene, "a", "") + &line(&scene, "dead", &pid_file(&scene, "dead")), 3),
        (line(&scene, "c", ",\"timeout_sec\":0.2"), 3),
    ] {
        let mut watch = command(EXE);
        watch.args(["--items", "-", "--until", "all-terminal", "--no-announce", "--settle=0.1"]);
        let mut running = Running::start(watch.arg("--death-grace=0.1").stdin(Stdio::piped()));
        std::io::Write::write_all(&mut running.stdin().unwrap(), items.as_bytes()).unwrap();
        let ended = running.end();
        assert_eq!(ended.code, Some(code), "{items}{:?}", ended.lines);
        let failed = ended.lines.last().unwrap()["reason"] == "no_result";
        assert_eq!(failed, code == 3);
    }
}

#[test]
fn nobody_is_waited_for() {
    let scene = Scene::new();
    let mut watch = watch(&scene);
    let mut running = watch.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(running.stdout.take());
    let mut code = None;
    eventually("it ends with its reader", || {
        code = running.try_wait().unwrap();
        code.is_some()
    });
    assert_eq!(code.unwrap().code(), Some(0));
    let announced =
        command(EXE).arg("--items").arg(scene.join("items")).arg("--once").output().unwrap();
    let told = tests::lines(&announced.stdout);
    assert_eq!((&told[0]["event"], &told[0]["items"]), (&"monitor_armed".into(), &0.into()));
    assert_eq!(told[1]["reason"], "once");
}

/// An unsettled result is not ready, a death has no grace, silence is what the mtimes say.
#[test]
fn once_waits_for_nothing() {
    let scene = Scene::new();
    scene.write("old-log", "x");
    age(&scene, "old-log", 300);
    let _quiet = Agent::start(&scene, "quiet");
    scene.replace("dead.pid", "4194304");
    scene.write("young.md", "x");
    scene.write("whole.md", "x");
    age(&scene, "whole.md", 60);
    let began = format!(",\"started_at_epoch\":{:.0}", epoch(400.0));
    let log = format!(",\"progress_paths\":[\"{}\"]", scene.join("old-log").display());
    for (name, more) in [("quiet", &*log), ("dead", ""), ("young", ""), ("whole", "")] {
        let more = began.clone() + &pid_file(&scene, name) + more;
        scene.append("items", line(&scene, name, &more));
    }
    let mut once = command(EXE);
    once.arg("--items").arg(scene.join("items")).args(["--once", "--no-announce"]);
    let out = once.args(["--settle=50", "--death-grace=1h"]).output().unwrap();
    assert_eq!(out.status.code(), Some(0));
    let told = tests::lines(&out.stdout);
    let told: Vec<(&str, &str)> = told
        .iter()
        .filter(|line| line["event"] != "item_registered")
        .map(|line| (line["agent"].as_str().unwrap(), line["event"].as_str().unwrap()))
        .collect();
    let want = [
        ("dead", "process_died"),
        ("quiet", "stalled"),
        ("whole", "result_ready"),
        ("young", "item_degraded"),
    ];
    assert_eq!(told, want);
}

#[test]
fn a_wait_is_over_with_the_first_that_ends_or_the_first_news() {
    let scene = Scene::new();
    let _agent = Agent::start(&scene, "lives");
    let items = line(&scene, "lives", &pid_file(&scene, "lives"));
    scene.append("items", &items);
    let mut none = watch(&scene);
    let none = none.args(["--wait=0.3"]).output().unwrap();
    assert_eq!(none.status.code(), Some(3), "a registration is no news");

    let mut any = watch(&scene);
    let mut any = Running::ready(&scene, any.args(["--until=any-terminal", "--settle=1h"]));
    any.event("item_registered");
    scene.replace("lives.md", "done");
    any.event("result_ready");
    assert_eq!(any.end().code, Some(0));

    let mut news = watch(&scene);
    let mut news = Running::start(news.args(["--wait=60", "--settle=0.001"]));
    next(&mut news, "result_ready");
    assert_eq!(news.end().code, Some(0));
}

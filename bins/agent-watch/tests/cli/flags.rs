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

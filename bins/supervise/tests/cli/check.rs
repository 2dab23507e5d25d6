//! `check`: each reader is told everything once.

use serde_json::{Value, json};
use tests::eventually;

use crate::scene::{LASTING, Store, kill, number, refused};

const KEYS: [&str; 8] = [
    "checked_at",
    "immediate",
    "warning",
    "info",
    "dead_monitors",
    "healthy_monitors",
    "malformed",
    "ended",
];

fn names(report: &Value, key: &str) -> Vec<String> {
    report[key].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// A monitor that has printed a gate's opening and something that is no event.
fn spoken(store: &Store) {
    let script = "echo '{\"event\":\"gate_opened\",\"gate_id\":\"G\"}'; echo nonsense; sleep 1000";
    store.start("gate", &["sh", "-c", script]);
    eventually("it has spoken", || store.status("gate")["lines"] == 2);
}

#[test]
fn a_report_has_the_seeds_keys_and_each_reader_reads_once() {
    let store = Store::new();
    spoken(&store);
    let out = store.run(&["check", "--peek"]);
    let text = String::from_utf8(out.stdout).unwrap();
    let at: Vec<Option<usize>> = KEYS.iter().map(|key| text.find(&format!("\"{key}\":"))).collect();
    assert!(at.iter().all(Option::is_some) && at.is_sorted(), "{text}");

    let first = store.done(&["check"]);
    assert_eq!(first["immediate"][0]["source"], "gate");
    assert_eq!(
        (names(&first, "healthy_monitors"), &first["malformed"]),
        (vec!["gate".to_owned()], &1.into())
    );
    let second = store.done(&["check"]);
    assert_eq!((&second["immediate"], &second["malformed"]), (&json!([]), &0.into()));
    let other = store.done(&["check", "--reader=other"]);
    assert_eq!(other["immediate"].as_array().unwrap().len(), 1);
}

#[test]
fn an_end_is_told_once_and_a_death_until_it_is_over() {
    let store = Store::new();
    let started = store.start("dies", LASTING);
    store.start("stops", LASTING);
    store.done(&["start", "ends", "--ready=alive", "--ends", "--", "sleep", "0.2"]);
    kill(number(&started["pid"]));
    store.done(&["stop", "stops"]);
    eventually("all have ended", || {
        ["dies", "stops", "ends"].iter().all(|name| store.status(name)["alive"] == false)
    });
    let first = store.done(&["check"]);
    assert_eq!(names(&first, "dead_monitors"), ["dies"]);
    assert_eq!(names(&first, "ended"), ["ends", "stops"]);
    let second = store.done(&["check"]);
    assert_eq!(names(&second, "dead_monitors"), ["dies"]);
    assert_eq!(names(&second, "ended"), Vec::<String>::new());
    store.start("dies", LASTING);
    assert_eq!(names(&store.done(&["check"]), "healthy_monitors"), ["dies"]);
}

#[test]
fn a_stop_takes_note_of_a_death() {
    let store = Store::new();
    let started = store.start("dies", LASTING);
    kill(number(&started["pid"]));
    eventually("it has died", || store.status("dies")["alive"] == false);
    assert_eq!(names(&store.done(&["check"]), "dead_monitors"), ["dies"]);
    for _ in 0..2 {
        assert_eq!(store.done(&["stop", "dies"])["changed"], false);
    }
    let status = store.status("dies");
    assert_eq!((&status["end_reason"], &status["exit_signal"]), (&"stopped".into(), &9.into()));
    let report = store.done(&["check"]);
    assert_eq!(
        (names(&report, "ended"), &report["dead_monitors"]),
        (vec!["dies".to_owned()], &json!([]))
    );
    assert_eq!(store.done(&["check"])["ended"], json!([]));
}

#[test]
fn a_record_that_can_not_be_used_hides_no_other() {
    let store = Store::new();
    spoken(&store);
    store.start("other", LASTING);
    let path = store.home("other").record();
    let good = std::fs::read(&path).unwrap();
    shared::cursor::replace(&path, b"{").unwrap();
    let out = store.run(&["check"]);
    refused(&out, 4, "record.json");
    let report = tests::lines(&out.stdout).remove(0);
    assert_eq!(report["immediate"][0]["source"], "gate", "{report}");
    assert_eq!(names(&report, "dead_monitors"), ["other"]);

    // What can be stopped is, and that is told, too.
    let out = store.run(&["stop", "all"]);
    refused(&out, 4, "record.json");
    assert_eq!(tests::lines(&out.stdout).remove(0)["stopped"], json!(["gate"]));
    shared::cursor::replace(&path, &good).unwrap();
}

#[test]
fn more_monitors_than_open_files_are_reported() {
    let store = Store::new();
    store.start("gate", LASTING);
    store.done(&["stop", "gate"]);
    let record = std::fs::read(store.home("gate").record()).unwrap();
    let homes: Vec<_> = (0..100).map(|n| store.home(&format!("gate-{n}"))).collect();
    for home in &homes {
        home.make().unwrap();
        shared::cursor::replace(&home.record(), &record).unwrap();
    }
    let check = store.supervise(&["check"]);
    let mut shell = tests::command("sh");
    shell.args(["-c", "ulimit -n 64; exec \"$@\"", "sh"]).arg(check.get_program());
    store.lead(shell.args(check.get_args()));
    let out = shell.output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(names(&tests::lines(&out.stdout).remove(0), "dead_monitors").len(), 100);
    for home in &homes {
        std::fs::remove_dir_all(home.dir()).unwrap();
    }
}

#[test]
fn task_ids_limit_it_and_an_unknown_one_is_dead() {
    let store = Store::new();
    let started = store.start("gate", LASTING);
    store.start("other", LASTING);
    let ids = json!({"gate": started["task_id"], "never": "0123456789ab"}).to_string();
    let report = store.done(&["check", &ids]);
    assert_eq!(names(&report, "healthy_monitors"), ["gate"]);
    assert_eq!(names(&report, "dead_monitors"), ["never"]);
    let old = json!({"gate": "0123456789ab"}).to_string();
    assert_eq!(names(&store.done(&["check", &old]), "dead_monitors"), ["gate"]);
}

#[test]
fn a_report_that_nobody_read_is_given_again() {
    let store = Store::new();
    spoken(&store);
    let mut check = store.supervise(&["check"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert!(check.stdout(writer).status().unwrap().success());
    assert_eq!(store.done(&["check"])["immediate"].as_array().unwrap().len(), 1);
}

#[test]
fn no_monitor_is_an_empty_report() {
    let store = Store::new();
    let report = store.done(&["check"]);
    for key in ["immediate", "warning", "info", "dead_monitors", "healthy_monitors", "ended"] {
        assert_eq!(report[key], json!([]), "{key}");
    }
}

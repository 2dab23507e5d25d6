use std::time::Duration;

use serde_json::Value;
use shared::{
    clock::Now,
    health::{Extent, Health},
    line::{Event, Speaker},
    roster::Fault,
};

use super::*;

fn item(event: &'static str, what: What, discriminator: &str) -> Told {
    Told::Item(Box::new(ItemEvent {
        event,
        agent: "executor".into(),
        step: "5".into(),
        what,
        instance: "3f1c09ab".into(),
        blind: false,
        consultant_reporting: Reporting::Filtered,
        replayed: false,
        discriminator: discriminator.into(),
    }))
}

fn registered() -> What {
    What::Registered {
        timeout_sec: Some(1200.0),
        started_at: "2026-04-08T14:00:00Z".into(),
        started_from: "line",
        idle_stall_sec: 180.0,
        replaced: false,
        updated: false,
        shares_result_with: None,
        pane: Some("%3".into()),
        pid_file: Some("/p/.bmb/run/executor.pid".into()),
        progress_paths: vec!["/p/.bmb/run/executor.log".into()],
        result_path: result_path(),
    }
}

fn result_path() -> String {
    "/p/.bmb/run/exec-result.md".into()
}

fn ready(settled: &'static str) -> What {
    What::Ready {
        elapsed_sec: 600,
        size: 4821,
        mtime: "2026-04-08T14:09:59Z".into(),
        settled,
        after_death: false,
        rewrite: 0,
        result_path: result_path(),
    }
}

fn died() -> What {
    What::Died {
        pid: 4711,
        start_ticks: Some(812_345),
        reason: "exited",
        exit_code: None,
        exit_signal: Some(9),
        result: "partial",
        elapsed_sec: 600,
    }
}

fn stalled() -> What {
    What::Stalled {
        pid: 4711,
        idle_sec: 180,
        idle_stall_sec: 180.0,
        episode: 1,
        evidence: "files",
        proc_state: Some("S".into()),
        cpu_pct: Some(0.4),
        tree_cpu_pct: Some(93.2),
        last_progress_path: Some("/p/.bmb/run/executor.log".into()),
    }
}

fn results() -> Vec<Told> {
    let old = What::Result { mtime: "2026-04-08T13:02:11Z".into(), result_path: result_path() };
    let gone = What::Result { mtime: "2026-04-08T14:09:59Z".into(), result_path: result_path() };
    vec![
        item("result_ready", ready("rename"), "0"),
        item("result_stale", old, ""),
        item("result_removed", gone, ""),
    ]
}

fn times() -> Vec<Told> {
    let timeout =
        |elapsed_sec| What::Timeout { elapsed_sec, timeout_sec: 1200.0, suspended_sec: 0 };
    vec![
        item("timeout_imminent", timeout(1080), "1200"),
        item("timeout_exceeded", timeout(1200), "1200"),
        Told::Gap(ClockGap::new(28_800, 28_800, 0, "2026-04-08T14:10:00Z".into())),
    ]
}

fn all() -> Vec<Told> {
    let newest = "1775656800000000000";
    let fault = Fault { field: Some("timeout_sec"), reason: "out_of_range" };
    let life = vec![
        item("item_registered", registered(), "0f0e0d0c0b0a0908"),
        Told::Rejected(Rejected::new(17, fault, "0f0e0d0c0b0a0908".into())),
        item("item_removed", What::Reason { reason: "unregister" }, "unregister"),
        item("process_died", died(), "4711\u{1f}812345"),
        item(
            "process_replaced",
            What::Replaced { pid: 4720, previous_pid: 4711 },
            "4720\u{1f}813000",
        ),
        item("stalled", stalled(), newest),
        item("recovered", What::Recovered { idle_sec: 300, episode: 1, by: "progress" }, newest),
        item(
            "item_degraded",
            What::Reason { reason: "pid_file_missing" },
            "pid_file_missing\u{1f}1",
        ),
        item(
            "item_restored",
            What::Restored { reason: "pid_file_missing", by: "evidence" },
            "pid_file_missing\u{1f}1",
        ),
    ];
    [life, results(), times()].concat()
}

fn line(event: &impl Event) -> String {
    let speaker = Speaker {
        program: "agent-watch",
        source: "agent-watch".into(),
        subject: "/p/.bmb/run/watch.ndjson".into(),
    };
    let line = speaker.line(event, "2026-04-08T14:10:00Z".parse().unwrap()).unwrap();
    String::from_utf8(line).unwrap()
}

fn example(name: &str, have: &str) {
    let path = format!("{}/events/{name}.json", env!("CARGO_MANIFEST_DIR"));
    ::tests::golden(path.as_ref(), have.as_bytes());
}

#[test]
fn examples_are_what_is_said() {
    for told in all() {
        example(told.name(), &line(&told));
    }
    let wall = "2026-04-08T14:10:00Z".parse().unwrap();
    let now = Now { wall, ..shared::clock::now() };
    let extent = Extent {
        items: 1,
        poll_interval: Duration::from_secs(30),
        mechanisms: vec!["inotify", "pidfd", "poll"],
    };
    let holes = ["agents waiting for each other", "what a result says"];
    let armed = Health::armed("/p/.bmb/run/watch.ndjson", Some(extent), &holes, &now);
    example("monitor_armed", &line(&armed));
}

#[test]
fn the_id_is_of_item_instance_and_facts_and_not_of_the_registry() {
    let parts = ["agent-watch", "process_died", "executor/5", "3f1c09ab", "4711", "812345"];
    let value: Value =
        serde_json::from_str(&line(&item("process_died", died(), "4711\u{1f}812345"))).unwrap();
    assert_eq!(value["id"], line::digest(parts.join("\u{1f}").as_bytes()));
}

/// A lead reads these as facts: no cause, no verdict, no advice.
#[test]
fn an_event_has_the_keys_of_the_page_and_no_other() {
    let keys = |told: &Told| {
        let line = line(told);
        let value: serde_json::Map<String, Value> = serde_json::from_str(&line).unwrap();
        let mut keys: Vec<(usize, String)> = value
            .into_iter()
            .map(|(key, _)| (line.find(&format!("\"{key}\":")).unwrap(), key))
            .collect();
        keys.sort();
        keys.into_iter().map(|(_, key)| key).collect::<Vec<_>>().join(" ")
    };
    let of = |own: &str| {
        format!(
            "event timestamp source agent step {own} instance blind consultant_reporting key condition id"
        )
    };
    for (told, own) in [
        (
            item("stalled", stalled(), "1"),
            "pid idle_sec idle_stall_sec episode evidence proc_state cpu_pct tree_cpu_pct last_progress_path",
        ),
        (
            item("process_died", died(), "1"),
            "pid start_ticks reason exit_signal result elapsed_sec",
        ),
        (
            item("result_ready", ready("exit"), "0"),
            "elapsed_sec size mtime settled after_death rewrite result_path",
        ),
        (
            item("item_registered", registered(), "x"),
            "timeout_sec started_at started_from idle_stall_sec replaced updated pane pid_file progress_paths result_path",
        ),
    ] {
        assert_eq!(keys(&told), of(own));
    }
}

#[test]
fn settings_are_told_as_given() {
    for (given, shown) in [(1200.0, "1200"), (0.6, "0.6"), (31_536_000.0, "31536000")] {
        let what = What::Timeout { elapsed_sec: 0, timeout_sec: given, suspended_sec: 0 };
        let line = line(&item("timeout_imminent", what, "1"));
        assert!(line.contains(&format!("\"timeout_sec\":{shown},")), "{line}");
    }
}

#[test]
fn every_event_fits_a_line_whatever_the_paths() {
    let long = format!("/{}", "a b\"\n/".repeat(660));
    let mut what = registered();
    if let What::Registered { pid_file, progress_paths, result_path, .. } = &mut what {
        (*pid_file, *progress_paths) = (Some(long.clone()), vec![long.clone(); 16]);
        result_path.clone_from(&long);
    }
    let ready = What::Ready {
        elapsed_sec: 1,
        size: 1,
        mtime: String::new(),
        settled: "close",
        after_death: true,
        rewrite: 0,
        result_path: long.clone(),
    };
    let old = What::Result { mtime: String::new(), result_path: long };
    for (event, what) in [("item_registered", what), ("result_ready", ready), ("result_stale", old)]
    {
        let line = line(&item(event, what, "1"));
        let value: Value = serde_json::from_str(&line).unwrap();
        assert!(line.len() <= 4096 && line.matches('\n').count() == 1, "{event}");
        assert_eq!((&value["truncated"], &value["agent"]), (&true.into(), &"executor".into()));
    }
}

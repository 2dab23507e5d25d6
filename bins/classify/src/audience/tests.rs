use proptest::prelude::*;
use serde_json::json;

use super::*;

fn share(format: Format) -> Share {
    let audience = match format {
        Format::Ndjson | Format::Consultant => Audience::Consultant,
        Format::Lead => Audience::Lead,
    };
    Share { audience, format, ..Share::default() }
}

fn said(share: Share, line: &str) -> Option<String> {
    match share.of(line.as_bytes(), "info").unwrap() {
        Part::Whole => Some(line.to_owned()),
        Part::Text(text) => Some(String::from_utf8(text).unwrap()),
        Part::Nothing => None,
    }
}

fn event(name: &str, more: &str) -> String {
    format!(
        r#"{{"event":"{name}","timestamp":"x","source":"agent-watch","agent":"a","step":"5",{more}"key":"k","condition":"once","id":"0"}}"#
    )
}

#[test]
fn a_number_that_nobody_can_hold_is_left_out_and_nothing_else() {
    let stamp = r#""blind":false,"consultant_reporting":"full","#;
    for odd in ["9".repeat(400), "9".repeat(25), "1e400".to_owned()] {
        let line = event("stalled", &format!(r#"{stamp}"idle_sec":{odd},"cpu_pct":1.6,"#));
        let consultant = said(share(Format::Consultant), &line).unwrap();
        assert!(consultant.contains(r#""cpu_pct":2"#) && !consultant.contains("idle_sec"));
        let lead = said(share(Format::Lead), &line).unwrap();
        assert!(lead.contains("cpu_pct=2") && !lead.contains("idle_sec"), "{lead}");
    }
}

#[test]
fn the_consultant_gets_what_the_phase_allows() {
    let full = r#""blind":false,"consultant_reporting":"full","#;
    let filtered = r#""blind":false,"consultant_reporting":"filtered","#;
    let blind = r#""blind":true,"consultant_reporting":"full","#;
    let none = r#""blind":false,"consultant_reporting":"none","#;
    let odd = r#""blind":"no","consultant_reporting":7,"#;
    for (name, always) in [
        ("result_ready", true),
        ("stalled", true),
        ("timeout_imminent", true),
        ("timeout_exceeded", true),
        ("recovered", false),
        ("process_died", false),
    ] {
        for format in [Format::Consultant, Format::Ndjson] {
            let gets = |stamp: &str| said(share(format), &event(name, stamp)).is_some();
            assert!(gets(full) && !gets(none), "{name}");
            for stamp in [filtered, blind, odd, ""] {
                assert_eq!(gets(stamp), always, "{name} {stamp}");
            }
        }
    }
    for name in ["pane_dead", "heartbeat_warning", "item_degraded", "monitor_armed", "reading"] {
        assert_eq!(said(share(Format::Consultant), &event(name, full)), None);
    }
    let feed = said(share(Format::Consultant), &event("feed_update", blind)).unwrap();
    assert_eq!(feed, r#"{"type":"feed_update","source":"monitor","ts":"--:--"}"#);
    let seed = Share { seed_only: true, ..share(Format::Consultant) };
    assert_eq!(said(seed, &event("process_died", full)), None);
}

#[test]
fn a_result_keeps_its_verdict_to_itself() {
    let more = r#""size":99,"verdict":"FAIL","result_path":"/r/v.md","blind":true,"consultant_reporting":"full","#;
    let line = event("result_ready", more);
    let want = r#"{"event":"agent_complete","step":"5","agent":"a","result":"/r/v.md","ts":"--:--","source":"monitor"}"#;
    assert_eq!(said(share(Format::Consultant), &line).unwrap(), want);
    let strict = Share { blind_strict: true, ..share(Format::Consultant) };
    let want = want.replace(r#""result":"/r/v.md","#, "");
    assert_eq!(said(strict, &line).unwrap(), want);
    let want = r#"{"event":"result_ready","timestamp":"x","source":"agent-watch","agent":"a","step":"5","result_path":"/r/v.md","key":"k","condition":"once","id":"0","urgency":"info"}"#;
    assert_eq!(said(share(Format::Ndjson), &line).unwrap(), want);
}

#[test]
fn the_lead_gets_the_old_lines() {
    for (name, more, want) in [
        ("stalled", r#""idle_sec":180,"cpu_pct":0.4,"#, "idle_sec=180 cpu_pct=0"),
        ("stalled", r#""idle_sec":180,"#, "idle_sec=180"),
        ("result_ready", r#""result_path":"/r/v.md","#, "file=/r/v.md"),
        ("result_ready", r#""result_path":"/r/a b\"\n.md","#, r#"file="/r/a b\"\n.md""#),
        ("timeout_imminent", r#""elapsed_sec":1080,"timeout_sec":1200.0,"#, "elapsed=1080/1200s"),
        ("process_died", r#""pid":77,"#, "pid=77"),
        ("item_degraded", r#""reason":"no_pid_file","#, "reason=no_pid_file"),
        ("monitor_stopped", r#""reason":"signal","#, "reason=signal"),
    ] {
        let line = said(share(Format::Lead), &event(name, more)).unwrap();
        assert_eq!(line, format!("[MONITOR] agent=a step=5 state={name} {want} ts=--:--"));
    }
    let pane = said(share(Format::Lead), &event("untracked_pane", r#""pane":"%3","pid":9,"#));
    let want = r#"{"type":"watchdog","event":"untracked_pane","pane":"%3","pid":9,"ts":"--:--"}"#;
    assert_eq!(pane.unwrap(), want);
    let more = r#""original_event":"stalled","nudge_count":2,"final":false,"#;
    let want = r#"{"type":"watchdog","event":"nudge_repeat","original_event":"stalled","agent":"a","nudge_count":2,"ts":"--:--"}"#;
    assert_eq!(said(share(Format::Lead), &event("nudge_repeat", more)).unwrap(), want);
    let foreign = event("gate_opened", "");
    assert_eq!(said(share(Format::Lead), &foreign).unwrap(), foreign);
    let seed = Share { seed_only: true, ..share(Format::Lead) };
    assert_eq!(said(seed, &foreign), None);
    assert_eq!(said(share(Format::Lead), &event("feed_update", "")), None);
}

/// What may be told of an event besides its envelope; declared here anew, so that a key that slips
/// into the program's own table is found.
fn allowed(name: &str) -> &'static [&'static str] {
    match name {
        "result_ready" => &["result_path"],
        "stalled" => &["idle_sec", "cpu_pct"],
        "timeout_imminent" => &["elapsed_sec", "timeout_sec"],
        "timeout_exceeded" => &["elapsed_sec"],
        "recovered" => &["idle_sec"],
        _ => &[],
    }
}

const ENVELOPE: [&str; 9] =
    ["event", "timestamp", "source", "agent", "step", "key", "condition", "id", "urgency"];
const SECRET: &str = "FAIL: 3 of 9";

/// Names of keys: those of events, and any other.
fn key() -> impl Strategy<Value = String> {
    const KNOWN: [&str; 27] = [
        "size",
        "mtime",
        "exit_code",
        "exit_signal",
        "tree_cpu_pct",
        "proc_state",
        "verdict",
        "ts",
        "result",
        "type",
        "file",
        "reason",
        "detail",
        "episode",
        "pid",
        "settled",
        "coverage",
        "last_progress_path",
        "unclassified",
        "revision",
        "result_path",
        "idle_sec",
        "cpu_pct",
        "elapsed_sec",
        "timeout_sec",
        "truncated",
        "event2",
    ];
    prop_oneof![proptest::sample::select(&KNOWN[..]).prop_map(str::to_owned), "[a-z_]{1,12}"]
}

/// The secret, as text, in a list, in an object, or as a key.
fn secret() -> impl Strategy<Value = Value> {
    proptest::sample::select(vec![
        json!(SECRET),
        json!([SECRET]),
        json!({"result_path": SECRET}),
        json!({SECRET: 1}),
    ])
}

fn name() -> impl Strategy<Value = String> {
    const NAMES: [&str; 20] = [
        "result_ready",
        "stalled",
        "timeout_imminent",
        "timeout_exceeded",
        "recovered",
        "process_died",
        "feed_update",
        "item_registered",
        "item_removed",
        "result_stale",
        "result_removed",
        "process_replaced",
        "item_degraded",
        "item_rejected",
        "clock_gap",
        "pane_dead",
        "nudge_repeat",
        "monitor_failed",
        "gate_opened",
        "reading",
    ];
    prop_oneof![8 => proptest::sample::select(&NAMES[..]).prop_map(str::to_owned), 1 => "[a-z_]{1,9}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Whatever an event holds and whoever sends it: nothing outside the allow-list reaches the
    /// consultant, neither a key nor what stands in one, and of a blind phase no event but those
    /// that are safe there.
    #[test]
    fn nothing_else_reaches_the_consultant(
        name in name(),
        members in proptest::collection::vec((key(), secret()), 0..8),
        numbers in proptest::collection::vec((key(), any::<u32>()), 0..4),
        blind in proptest::option::of(prop_oneof![
            Just(json!(false)), Just(json!(true)), Just(json!("false")), Just(json!(0)), Just(json!(null)),
        ]),
        reporting in proptest::option::of(prop_oneof![
            Just(json!("full")), Just(json!("filtered")), Just(json!("none")), Just(json!("FULL")), Just(json!(7)),
        ]),
        strict in any::<bool>(),
        seed_only in any::<bool>(),
        ndjson in any::<bool>(),
    ) {
        let mut event: Event = serde_json::from_str(&event(&name, "")).unwrap();
        let own = allowed(&name);
        for (key, value) in members {
            // A text in a key that is allowed to hold one is no secret.
            if !own.contains(&&*key) || !value.is_string() {
                event.entry(key).or_insert(value);
            }
        }
        for (key, number) in numbers {
            event.entry(key).or_insert(json!(number));
        }
        event.extend(blind.clone().map(|blind| ("blind".to_owned(), blind)));
        event.extend(reporting.clone().map(|reporting| ("consultant_reporting".to_owned(), reporting)));
        let format = if ndjson { Format::Ndjson } else { Format::Consultant };
        let share = Share { blind_strict: strict, seed_only, ..share(format) };
        let Some(said) = said(share, &serde_json::to_string(&event).unwrap()) else {
            return Ok(());
        };
        prop_assert!(!said.contains(SECRET), "{said}");
        let (open, full) = (blind == Some(json!(false)), reporting == Some(json!("full")));
        let always = ["result_ready", "stalled", "timeout_imminent", "timeout_exceeded"];
        let sometimes = ["recovered", "process_died"];
        prop_assert!(
            name == "feed_update"
                || (reporting != Some(json!("none"))
                    && (always.contains(&&*name) || (sometimes.contains(&&*name) && open && full))),
            "{said}"
        );
        let told: Event = serde_json::from_str(&said).unwrap();
        for key in told.keys().map(|key| &**key) {
            let shown = if key == "result" { "result_path" } else { key };
            let rendered = ["event", "step", "agent", "ts", "source", "type"].contains(&key);
            let envelope = if ndjson { ENVELOPE.contains(&key) } else { rendered };
            let kind = name == "feed_update" && key == "type";
            prop_assert!(envelope || kind || own.contains(&shown), "{key} in {said}");
            prop_assert!(shown != "result_path" || !strict || open, "{said}");
        }
    }
}

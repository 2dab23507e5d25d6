//! From lines to lines.

use std::fs;

use serde_json::{Value, json};
use tests::{Running, Scene};

use super::support::{feed, keys, look, say, state, wake, words};

fn event(more: &Value) -> String {
    let mut line = json!({"event": "lease_low", "source": "leases"});
    if let (Some(line), Value::Object(more)) = (line.as_object_mut(), more) {
        line.extend(more.clone());
    }
    line.to_string()
}

#[test]
fn m1_the_head_fits_and_the_line_too() {
    let scene = Scene::new();
    let wide = "\"🦀\\".repeat(26);
    let entries: Vec<Value> =
        (0..8).map(|n| json!({"key": format!("{n}{}", "k".repeat(199)), "brief": wide})).collect();
    let source = "s".repeat(64);
    let args = ["--watch=w", "--source", &source];
    let mut running = Running::start(&mut wake(&scene, &args));
    say(&mut running.stdin().unwrap(), &[look("s", &json!({"entries": entries}))]);
    let raw = running.raw();
    let line: Value = serde_json::from_str(&raw).unwrap();
    let path = line["evidence"].as_str().unwrap();
    let head = &raw[..raw.floor_char_boundary(480)];
    assert!(head.contains(path) && head.contains(line["claim"].as_str().unwrap()), "{head}");
    assert!(raw.len() <= 4096 && path.starts_with('/'));
    let evidence: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert_eq!(evidence["records"][0]["told"].as_array().unwrap().len(), 8);
}

#[test]
fn m2_a_long_path_of_evidence_follows_the_head() {
    let scene = Scene::new();
    let store = scene.join("x".repeat(140)).join("y".repeat(140)).display().to_string();
    let ended = feed(&scene, &["--watch=w", "--store", &store], &[keys("s", &["k"])]);
    let line = &ended.lines[0];
    assert!(line["evidence"].is_null() && line.get("evidence").is_some());
    let path = line["evidence_path"].as_str().unwrap();
    assert!(path.len() > 290 && fs::exists(path).unwrap());
}

#[test]
fn a_key_that_ends_a_subject_is_its_reason_whatever_it_is_made_of() {
    let key = format!("no \"quotes\", \\ or\n\u{2028}lines: {}", "k".repeat(150));
    let entries = json!([{"key": key, "severity": "terminal"}]);
    let told = feed(&Scene::new(), &[], &[look("s", &json!({"entries": entries}))]).lines;
    let reason = told[0]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("no \"quotes\", \\ or  lines: kkk") && reason.len() <= 100,
        "{reason}"
    );
    assert_eq!((told.len(), &told[0]["entries"][0]["key"]), (1, &json!(key)));
}

#[test]
fn m3_quiet_verdicts_are_printed_only_when_asked_for() {
    let scene = Scene::new();
    let twice = [keys("s", &["k"]), keys("s", &["k"])];
    assert_eq!(words(&feed(&scene, &[], &twice).lines, "event"), ["wake"]);
    let told = feed(&scene, &["--verbose"], &twice).lines;
    assert_eq!(words(&told, "event"), ["wake", "verdict"]);
    assert_eq!((&told[1]["decision"], &told[1]["masked"]), (&"no_change".into(), &1.into()));
    assert!(told[1].get("id").is_none() && told[1].get("key").is_none());
}

#[test]
fn m4_the_text_says_what_changed() {
    let scene = Scene::new();
    let entry = json!([{"key": "level:high", "brief": "120 litres"}]);
    let told = feed(&scene, &[], &[look("sink", &json!({"entries": entry}))]).lines;
    assert_eq!(told[0]["text"], "basin sink: level:high: 120 litres [n 1]");
}

/// All that a run leaves behind, as one text.
fn left(scene: &Scene, watch: &str) -> String {
    let folder = scene.join(format!("store/wake/{watch}"));
    let files = fs::read_dir(folder).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap());
    files.map(|bytes| String::from_utf8(bytes).unwrap()).collect()
}

#[test]
fn m5_no_part_of_a_token_is_anywhere() {
    let scene = Scene::new();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let long = format!("{} {token}", "x".repeat(225));
    let lines = [
        look("s", &json!({"entries": [{"key": "k", "brief": long}], "facts": {"f": long}})),
        event(&json!({"key": "k", "condition": "raised", "text": long})),
        event(&json!({"urgency": "info", "text": long})),
        event(&json!({"condition": "once", "urgency": "immediate", "what": long})),
        look("t", &json!({"error": {"kind": "setup", "detail": token}})),
    ];
    let ended = feed(&scene, &["--watch=w", "--verbose"], &lines);
    assert!(ended.lines.len() >= 4 && ended.code == Some(0));
    let all = left(&scene, "w") + &ended.lines.iter().map(Value::to_string).collect::<String>();
    assert!(all.contains("xxx") && !all.contains("ghp_") && !all.contains("a1B2"), "{all}");
}

#[test]
fn m6_no_control_character_and_no_separator_is_raw() {
    let scene = Scene::new();
    let hostile = "a\nb\u{1b}[31mc\u{2028}d\u{85}e";
    let mut running = Running::start(&mut wake(&scene, &["--watch=w", "--verbose"]));
    let lines = [
        look(hostile, &json!({"noun": hostile, "entries": [{"key": hostile, "brief": hostile}]})),
        event(&json!({"subject": hostile, "key": hostile, "text": hostile})),
        event(&json!({"urgency": "info", "text": hostile})),
        look(hostile, &json!({"status": "success", "reason": hostile})),
    ];
    say(&mut running.stdin().unwrap(), &lines);
    for _ in 0..3 {
        let raw = running.raw();
        let line = raw.strip_suffix('\n').unwrap();
        let is_raw = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        assert!(!line.contains(is_raw), "{line}");
        let value: Value = serde_json::from_str(line).unwrap();
        assert!(!value["text"].as_str().unwrap_or_default().contains(is_raw), "{line}");
    }
    assert_eq!(running.end().code, Some(0));
}

fn parts(number: u64) -> Vec<String> {
    let part = |part: u64| {
        let entries: Vec<Value> =
            (0..25).map(|n| json!({"key": format!("k{}", (part - 1) * 25 + n)})).collect();
        json!({
            "event": "reading", "source": "p", "kind": "basin", "subject": "s",
            "look": number, "part": part, "parts": 12, "entries": entries,
        })
        .to_string()
    };
    (1..=12).map(part).collect()
}

#[test]
fn m7_a_reading_in_parts_is_judged_once_or_not_at_all() {
    let scene = Scene::new();
    let told = feed(&scene, &["--watch=w"], &parts(1)).lines;
    assert_eq!((told.len(), &told[0]["more"]), (1, &292.into()));
    let path = told[0]["evidence"].as_str().unwrap();
    let evidence: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert_eq!(evidence["records"][0]["told"].as_array().unwrap().len(), 300);

    let mut torn = parts(1);
    torn.remove(6);
    let ended = feed(&scene, &["--watch=torn", "--verbose"], &torn);
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 0));
    assert_eq!(state(&scene, "torn")["subjects"], json!({}));
}

#[test]
fn e8_a_malformed_reading_is_a_failed_look() {
    let scene = Scene::new();
    let told = feed(&scene, &["--verbose"], &[look("s", &json!({"status": "frob"}))]).lines;
    assert_eq!((told.len(), &told[0]["event"]), (1, &"verdict".into()));
    let verdict = (&told[0]["decision"], &told[0]["reason"]);
    assert_eq!(verdict, (&"retry_provider".into(), &"transient".into()));
}

#[test]
fn v11_a_bare_event_is_told() {
    let scene = Scene::new();
    let told = feed(&scene, &[], &[r#"{"event":"x"}"#.to_owned()]).lines;
    let entry = &told[0]["entries"][0];
    assert!(entry["key"].as_str().unwrap().starts_with("x#"), "{entry}");
    assert_eq!((&entry["condition"], &entry["brief"]), (&"once".into(), &"x".into()));
}

#[test]
fn v12_bad_lines_are_counted_and_the_good_one_is_judged() {
    let scene = Scene::new();
    let bad = [r#"{"a":"#.to_owned(), "x".repeat(2 << 20), "[]".to_owned(), " ".to_owned()];
    let lines = [&bad[..], &[keys("s", &["k"])]].concat();
    let ended = feed(&scene, &["--watch=w"], &lines);
    assert_eq!(words(&ended.lines, "event"), ["wake"]);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert!(ended.stderr.starts_with("wake: warning: unable to read a line"));
    assert_eq!(state(&scene, "w")["counters"]["malformed"], 3);
}

#[test]
fn six_bad_lines_running_are_a_blindness_of_its_own() {
    let scene = Scene::new();
    let bad = vec!["[]".to_owned(); 7];
    let lines = [&bad[..5], &[keys("s", &["k"])], &bad[..], &[keys("s", &["k"])]].concat();
    let told = feed(&scene, &[], &lines).lines;
    assert_eq!(words(&told, "event"), ["wake", "monitor_degraded", "monitor_recovered"]);
    assert_eq!(words(&told[1..], "reason"), ["malformed_input"; 2]);
}

#[test]
fn v13_a_monitor_that_went_blind_is_told_until_it_sees() {
    let scene = Scene::new();
    let health = |name: &str| {
        json!({"event": name, "source": "leases", "reason": "unreadable", "detail": "gone"})
            .to_string()
    };
    let lines = [health("monitor_degraded"), health("monitor_recovered"), health("monitor_alive")];
    let told = feed(&scene, &["--watch=w"], &lines).lines;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["entries"][0]["key"], "monitor:leases:unreadable");
    assert!(told[0]["text"].as_str().unwrap().contains("gone"));
    assert_eq!(state(&scene, "w")["subjects"]["e|leases|"]["keys"], json!({}));
}

#[test]
fn g1_a_burst_is_folded() {
    let scene = Scene::new();
    let subjects: Vec<String> = (0..15).map(|n| keys(&format!("s{n:02}"), &["k"])).collect();
    let mut running = Running::start(&mut wake(&scene, &["--refill=0.3"]));
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &subjects);
    for n in 0..10 {
        assert_eq!(running.event("wake")["subject"], format!("s{n:02}"));
    }
    let last = running.event("wake");
    assert_eq!((&last["reason"], &last["subjects"]), (&"folded".into(), &5.into()));
    assert_eq!(last["entries"].as_array().unwrap().len(), 5);
    assert!(last.get("subject").is_none());
    drop(stdin);
    assert!(running.end().lines.is_empty());
}

#[test]
fn h2_an_entry_waits_for_its_own_time_and_is_told_once() {
    let scene = Scene::new();
    let args = ["--group-wait=0.3", "--group-interval=0.3", "--verbose"];
    let mut running = Running::start(&mut wake(&scene, &args));
    let mut stdin = running.stdin().unwrap();
    say(&mut stdin, &[keys("s", &["k"])]);
    let held = running.event("verdict");
    assert_eq!((&held["decision"], &held["reason"]), (&"record_only".into(), &"held".into()));
    assert_eq!(held["held"][0]["key"], "k");
    // No input: the timer fires.
    let told = running.event("wake");
    assert_eq!((&told["reason"], &told["entries"][0]["key"]), (&"changed".into(), &"k".into()));
    say(&mut stdin, &[keys("s", &["k"])]);
    assert_eq!(running.event("verdict")["decision"], "no_change");
    drop(stdin);
    assert!(running.end().lines.is_empty());
}

#[test]
fn what_waits_at_the_end_of_the_input_is_told_or_kept() {
    let scene = Scene::new();
    let held = [keys("s", &["k"])];
    let told = feed(&scene, &["--group-wait=1000"], &held).lines;
    assert_eq!(words(&told, "reason"), ["input_ended"]);
    assert!(feed(&scene, &["--group-wait=1000", "--watch=w"], &held).lines.is_empty());
    // Half a line is a line, at the end.
    let mut running = Running::start(&mut wake(&scene, &["--watch=w"]));
    let mut stdin = running.stdin().unwrap();
    std::io::Write::write_all(&mut stdin, keys("t", &["k"]).as_bytes()).unwrap();
    drop(stdin);
    let told = running.end().lines;
    assert_eq!(words(&told, "subject"), ["s", "t"]);
}

#[test]
fn context_is_quoted_with_the_next_line() {
    let scene = Scene::new();
    let infos = (0..40).map(|n| event(&json!({"urgency": "info", "text": format!("info {n}")})));
    let lines: Vec<String> = infos.chain([keys("s", &["k"])]).collect();
    let told = feed(&scene, &["--watch=w"], &lines).lines;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["context"], json!(["info 37", "info 38", "info 39"]));
    assert_eq!(told[0]["context_count"], 40);
    let path = told[0]["evidence"].as_str().unwrap();
    let evidence: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert_eq!(evidence["context"].as_array().unwrap().len(), 32);
}

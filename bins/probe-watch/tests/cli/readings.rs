//! `--emit readings`: all that holds, once a look.

use serde_json::json;

use crate::world::{World, error};

#[test]
fn a_reading_reads_as_the_contract_says() {
    let world = World::saying(&[
        r#"{"subject":"mail","entries":[{"key":"depth:high","brief":"120 of 100"}],"facts":{"depth":120}}"#,
    ]);
    let mut running = world.start(&["mail", "--emit", "readings", "--source", "ours"]);
    let mut reading = running.event("reading");
    let at = reading.as_object_mut().unwrap().remove("timestamp").unwrap();
    assert!(at.as_str().unwrap().ends_with('Z'));
    let entry = json!({"key": "depth:high", "severity": "wake", "resets_on": "revision", "brief": "120 of 100"});
    let want = json!({
        "event": "reading", "source": "ours", "subject": "mail", "kind": "basin", "noun": "basin",
        "look": 1, "part": 1, "parts": 1, "complete": true, "status": "actionable", "reason": "",
        "entries": [entry], "facts": {"depth": 120},
    });
    assert_eq!(reading, want);
    assert_eq!(running.event("reading")["look"], 2);
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn p01_p02_who_has_no_answer_failed_and_the_others_did_not() {
    let world = World::new(r#"echo '{"subject":"A"}'; echo '{"subject":"B"}'; exit 1"#);
    let ended = world.look(&["A", "B", "C"]);
    let errors: Vec<[&str; 2]> = ended.lines.iter().map(error).collect();
    assert_eq!(errors, [["none"; 2], ["none"; 2], ["transient", "missing_result"]]);
    assert_eq!(ended.code, Some(4));
    assert_eq!(ended.lines[2]["error"]["detail"], "no answer, exit status 1");
    let events: Vec<_> = ended.lines.iter().map(|line| line["event"].clone()).collect();
    assert_eq!(events, ["reading"; 3]);
}

#[test]
fn p03_a_limit_told_on_stderr_alone_is_one_for_all() {
    let world = World::new("echo 'API rate limit exceeded' >&2; exit 1");
    let ended = world.look(&["A", "B"]);
    assert!(ended.lines.iter().all(|line| error(line)[0] == "rate_limited"));
    assert_eq!(
        (ended.lines[0]["status"].as_str(), &ended.lines[0]["entries"]),
        (Some("provider_error"), &json!([]))
    );
}

#[test]
fn p22_a_probe_that_decides_is_rejected_with_one_warning() {
    let world = World::saying(&[r#"{"subject":"A","decision":"wake"}"#]);
    let mut running = world.start(&["A", "--emit", "readings"]);
    for _ in 0..2 {
        assert_eq!(error(&running.event("reading")), ["transient", "malformed"]);
    }
    let stderr = running.stop().stderr;
    let want =
        "probe-watch: warning: A: its answer is rejected: decision is not for a probe to say\n";
    assert_eq!(stderr, want);
}

#[test]
fn p23_hostile_text_is_harmless() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let brief = format!(r"\u001b[31mred\nat https://u:{token}@h/ {}", "x".repeat(300));
    let answer = format!(r#"{{"subject":"A","entries":[{{"key":"k","brief":"{brief}"}}]}}"#);
    let ended = World::saying(&[&answer]).look(&["A"]);
    let told = ended.lines[0]["entries"][0]["brief"].as_str().unwrap();
    assert!(told.starts_with(" red at https://[redacted]@h/ xx") && told.len() <= 240, "{told}");
    assert_eq!(ended.lines[0]["truncated"], true);
}

#[test]
fn m07_many_entries_come_in_parts() {
    let entry = |n: usize| format!(r#"{{"key":"k{n}","brief":"{}"}}"#, "x".repeat(60));
    let entries = (0..300).map(entry).collect::<Vec<_>>().join(",");
    let world =
        World::saying(&[&format!(r#"{{"subject":"A","entries":[{entries}],"facts":{{"n":1}}}}"#)]);
    let ended = world.look(&["A"]);
    let parts = ended.lines.len();
    assert!(parts > 5, "{parts}");
    let count: usize =
        ended.lines.iter().map(|line| line["entries"].as_array().unwrap().len()).sum();
    assert_eq!(count, 300);
    for (at, line) in ended.lines.iter().enumerate() {
        assert_eq!(
            [&line["look"], &line["part"], &line["parts"]],
            [&json!(1), &json!(at + 1), &json!(parts)]
        );
        assert_eq!((line.get("facts").is_some(), line.get("status").is_some()), (at == 0, at == 0));
    }
}

#[test]
fn p11_p12_a_limit_holds_for_other_runs_too() {
    let at = tests::from_now(600);
    let answer =
        format!(r#"{{"subject":"A","error":{{"kind":"rate_limited","retry_at":"{at}"}}}}"#);
    let world = World::saying(&[&answer]);
    let first = world.look(&["A"]);
    assert_eq!(first.lines[0]["error"]["retry_at"], json!(at));
    let second = world.look(&["A"]);
    let fault = &second.lines[0]["error"];
    assert_eq!(error(&second.lines[0]), ["rate_limited", "cooldown"]);
    assert_eq!((&fault["attempted"], &fault["retry_at"]), (&json!(false), &json!(at)));
    assert_eq!((second.code, world.requests().len()), (Some(4), 1));
}

#[test]
fn p12_a_limit_is_kept_to_before_the_next_start() {
    let world = World::new("echo 'HTTP 429' >&2");
    let targets: Vec<String> = (0..26).map(|n| format!("s{n}")).collect();
    let targets: Vec<&str> = targets.iter().map(|target| &**target).collect();
    let ended = world.look(&[&targets[..], &["--jobs", "1"]].concat());
    let skipped = ended.lines.iter().filter(|line| error(line)[1] == "cooldown").count();
    assert_eq!((ended.lines.len(), skipped, world.requests().len()), (26, 1, 1));
}

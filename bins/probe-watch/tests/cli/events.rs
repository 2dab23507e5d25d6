//! `--emit events`: what changed since the last whole look.

use serde_json::{Value, json};

use crate::world::World;

const HIGH: &str = r#"{"subject":"A","entries":[{"key":"depth:high","brief":"120 of 100"}]}"#;
const LOW: &str = r#"{"subject":"A"}"#;
const DONE: &str = r#"{"subject":"A","status":"success","reason":"done","facts":{"n":1}}"#;

/// Each line in short: the event and what it is about.
fn short(lines: &[Value]) -> Vec<String> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    lines
        .iter()
        .map(|line| {
            let about = ["key", "reason"].map(|name| word(&line[name])).join(" ");
            format!("{} {}", word(&line["event"]), about.trim())
        })
        .collect()
}

#[test]
fn p27_raised_once_and_cleared_after_two_looks() {
    let world = World::saying(&[HIGH, HIGH, LOW, LOW, DONE]);
    let ended = world.end(&["A"]);
    let want =
        ["condition_raised depth:high", "condition_cleared depth:high", "subject_ended ended done"];
    assert_eq!((ended.code, short(&ended.lines)), (Some(0), want.map(str::to_owned).to_vec()));
    let raised = &ended.lines[0];
    assert_eq!(
        [
            &raised["source"],
            &raised["subject"],
            &raised["kind"],
            &raised["severity"],
            &raised["condition"]
        ],
        ["probe-watch", "A", "basin", "wake", "raised"].map(|text| json!(text)).each_ref()
    );
    assert_eq!((ended.lines[2]["outcome"].as_str(), world.requests().len()), (Some("success"), 5));
    assert_eq!(ended.stderr, "");
}

#[test]
fn p28_a_new_revision_clears_at_once() {
    let at = |revision: &str, entries: &str| {
        format!(r#"{{"subject":"A","revision":"{revision}","entries":[{entries}]}}"#)
    };
    let world = World::saying(&[&at("a", r#"{"key":"R"}"#), &at("b", ""), DONE]);
    let ended = world.end(&["A"]);
    assert_eq!(short(&ended.lines)[..2], ["condition_raised R", "condition_cleared R"]);
    assert_eq!(ended.lines[0]["revision"], "a");
}

#[test]
fn p15_a_failed_look_resets_nothing() {
    let at = |revision: &str| {
        format!(r#"{{"subject":"A","revision":"{revision}","entries":[{{"key":"R"}}]}}"#)
    };
    let failed = r#"{"subject":"A","error":{"kind":"transient","detail":"line lost"}}"#;
    let world = World::saying(&[&at("a"), failed, &at("b"), DONE]);
    let ended = world.end(&["A"]);
    let want = [
        "condition_raised R",
        "monitor_degraded transient",
        "monitor_recovered transient",
        "condition_raised R",
        "condition_cleared R",
        "subject_ended ended done",
    ];
    assert_eq!(short(&ended.lines), want);
    assert_eq!(ended.lines[1]["detail"], "A (line lost)");
    assert_eq!(ended.lines[1]["retry_in_seconds"], 1);
}

#[test]
fn the_exit_code_says_whether_all_ended_well() {
    let end = |answer: &str, args: &[&str]| {
        let ended = World::saying(&[answer]).end(args);
        (ended.code, short(&ended.lines))
    };
    let blocked = r#"{"subject":"A","status":"blocked","reason":"closed"}"#;
    assert_eq!(end(blocked, &["A"]), (Some(3), vec!["subject_ended ended closed".to_owned()]));
    let gone = r#"{"subject":"A","error":{"kind":"not_found"}}"#;
    assert_eq!(end(gone, &["A"]), (Some(3), vec!["subject_ended ended not_found".to_owned()]));
    let kept = end(gone, &["A", "--keep-going", "--once"]);
    assert_eq!(kept, (Some(4), vec!["monitor_degraded not_found".to_owned()]));
    let one_of_two = format!("{gone}\n{{\"subject\":\"B\"}}");
    let lost = end(&one_of_two, &["A", "B", "--once"]);
    assert_eq!(lost, (Some(4), vec!["subject_ended ended not_found".to_owned()]));
    assert_eq!(end(LOW, &["A", "--once"]), (Some(0), vec![]));
    assert_eq!(end(r#"{"subject":"A","complete":false}"#, &["A", "--once"]).0, Some(4));
}

#[test]
fn one_that_has_ended_is_asked_for_no_more() {
    let world = World::saying(&[
        "{\"subject\":\"A\",\"status\":\"success\",\"facts\":{\"n\":1}}\n{\"subject\":\"B\"}",
        "{\"subject\":\"B\",\"status\":\"success\",\"facts\":{\"n\":1}}",
    ]);
    assert_eq!(world.end(&["A", "B"]).code, Some(0));
    let requests = world.requests();
    let subjects = requests[1]["subjects"].as_array().unwrap();
    assert_eq!((requests.len(), subjects.len(), &subjects[0]["id"]), (2, 1, &json!("B")));
}

#[test]
fn what_was_said_outlives_the_process() {
    let world = World::saying(&[HIGH, HIGH, LOW, LOW, DONE, LOW]);
    let next = || short(&world.end(&["A", "--cursor", "cursor", "--once"]).lines);
    assert_eq!(next(), ["condition_raised depth:high"]);
    assert_eq!(next(), [] as [&str; 0]);
    assert_eq!(next(), [] as [&str; 0]);
    assert_eq!(next(), ["condition_cleared depth:high"]);
    assert_eq!(next(), ["subject_ended ended done"]);
    let ended = world.end(&["A", "--cursor", "cursor"]);
    assert_eq!((ended.code, ended.lines.len(), world.requests().len()), (Some(0), 0, 5));

    let other = world.end(&["A", "--cursor", "cursor", "--emit", "readings", "--once"]);
    assert_eq!(other.code, Some(4));
    assert!(other.stderr.contains("unable to use the cursor cursor"), "{}", other.stderr);
    world.scene.write("cursor", "{");
    let broken = world.end(&["A", "--cursor", "cursor", "--once"]);
    assert_eq!((broken.code, broken.stderr.lines().count()), (Some(0), 1), "{}", broken.stderr);
}

#[test]
fn wait_ends_with_the_first_event() {
    let world = World::saying(&[LOW, HIGH, HIGH]);
    let ended = world.end(&["A", "--wait", "30"]);
    assert_eq!(
        (ended.code, short(&ended.lines)),
        (Some(0), vec!["condition_raised depth:high".to_owned()])
    );
    let quiet = World::saying(&[LOW]).end(&["A", "--wait", "0.2"]);
    assert_eq!((quiet.code, quiet.lines.len()), (Some(3), 0));
}

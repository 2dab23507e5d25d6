//! `--emit readings`: all that holds, once a look.

use serde_json::{Value, json};
use tests::github::{Reply, check, pull};

use crate::world::{HEAD, World};

#[test]
fn a_reading_has_the_facts_the_entries_and_the_reason() {
    let world = World::new();
    world.set(
        729,
        pull(729, HEAD, &[check("test", "COMPLETED", "FAILURE"), check("slow", "QUEUED", "")]),
    );
    let mut running = world.start(&["729", "--emit", "readings"]);
    let reading = running.event("reading");
    assert_eq!(reading["subject"], "github.com/o/n#729");
    assert_eq!((&reading["kind"], &reading["noun"]), (&json!("pull-request"), &json!("PR")));
    assert_eq!((&reading["revision"], &reading["pending"]), (&json!(HEAD), &json!(1)));
    assert_eq!(
        (&reading["status"], &reading["reason"]),
        (&json!("actionable"), &json!("checks_failed"))
    );
    assert_eq!((&reading["complete"], &reading["look"]), (&json!(true), &json!(1)));
    let entry = json!({"key": "red:CI / test", "severity": "wake", "resets_on": "revision", "brief": "CI / test failed"});
    assert_eq!(reading["entries"], json!([entry]));
    let facts = json!({"state": "OPEN", "draft": false, "mergeability": "mergeable",
        "review_decision": "NONE", "checks": "failure", "unresolved_threads": 0});
    assert_eq!(reading["facts"], facts);
    assert_eq!(reading.get("key"), None);
    assert_eq!(running.event("reading")["look"], 2);
    world.change(729, &[("state", json!("MERGED"))]);
    let ended = running.end();
    let last = ended.lines.last().unwrap();
    assert_eq!(
        (&last["status"], &last["reason"], &last["pending"]),
        (&json!("success"), &json!("merged"), &json!(0))
    );
    assert_eq!(last["entries"][0]["severity"], "terminal");
    assert_eq!(ended.code, Some(0));
}

#[test]
fn a_merge_right_after_a_push_is_no_news_of_a_revision() {
    let world = World::with([729]);
    let mut running = world.start(&["729", "--emit", "readings"]);
    assert_eq!(running.event("reading")["revision"], HEAD);
    let mut merged = pull(729, &"b".repeat(40), &[]);
    merged["state"] = json!("MERGED");
    world.set(729, merged);
    let ended = running.end();
    let last = ended.lines.last().unwrap();
    assert_eq!((&last["status"], last.get("revision")), (&json!("success"), None));
}

#[test]
fn a_closed_one_is_blocked() {
    let world = World::with([729]);
    world.change(729, &[("state", json!("CLOSED"))]);
    let ended = world.end(&["729", "--emit", "readings"]);
    assert_eq!(
        (&ended.lines[0]["status"], &ended.lines[0]["reason"]),
        (&json!("blocked"), &json!("closed"))
    );
}

#[test]
fn a_failed_look_is_a_failed_reading_and_nothing_beside_it() {
    let world = World::with([729]);
    let mut running = world.start(&["729", "--emit", "readings"]);
    running.event("reading");
    world.github.on_documents(|_| Reply::status(502, &json!({"message": "Bad Gateway"})));
    let mut failed = running.event("reading");
    while failed["error"].is_null() {
        failed = running.event("reading");
    }
    assert_eq!((&failed["error"]["kind"], &failed["entries"]), (&json!("transient"), &json!([])));
    assert_eq!((&failed["complete"], failed.get("status")), (&json!(false), None));
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn a_look_that_was_skipped_says_so() {
    let world = World::with([729]);
    world.github.on_documents(|_| {
        Reply::status(403, &json!({"message": "You have exceeded a secondary rate limit"}))
            .header("Retry-After", "60")
    });
    let first = world.end(&["729", "--emit", "readings", "--once"]);
    let error = &first.lines[0]["error"];
    assert_eq!((first.code, &error["kind"]), (Some(4), &json!("rate_limited")));
    assert!(error["retry_at"].is_string() && error.get("attempted").is_none());
    let second = world.end(&["729", "--emit", "readings", "--once"]);
    let error = &second.lines[0]["error"];
    assert_eq!((&error["reason"], &error["attempted"]), (&json!("cooldown"), &json!(false)));
    assert_eq!(world.github.asked().len(), 1);
}

#[test]
fn many_entries_come_in_parts() {
    let world = World::new();
    let rows: Vec<Value> =
        (0..90).map(|n| check(&format!("job {n}"), "COMPLETED", "FAILURE")).collect();
    world.set(729, pull(729, HEAD, &rows));
    let once = world.end(&["729", "--emit", "readings", "--once"]);
    assert!(once.lines.len() > 2);
    let entries: usize =
        once.lines.iter().map(|line| line["entries"].as_array().unwrap().len()).sum();
    assert_eq!((entries, &once.lines[0]["parts"]), (90, &json!(once.lines.len())));
    assert!(once.lines[0]["facts"].is_object() && once.lines[1].get("facts").is_none());
}

//! The state and the reviewers' decision: a line per change.

use serde_json::{Value, json};
use tests::github::{check, pull};

use crate::world::{HEAD, World, states};

#[test]
fn a_line_per_change_and_an_end_with_the_merge() {
    let world = World::with([729]);
    world.change(729, &[("reviewDecision", json!("REVIEW_REQUIRED"))]);
    let mut running = world.start(&["729"]);
    let first = running.event("pr_state");
    assert_eq!(first.get("previous"), None);
    assert_eq!((&first["pr"], &first["key"]), (&json!(729), &json!("pr:729")));
    assert_eq!(first["condition"], "once");
    world.change(729, &[("reviewDecision", json!(""))]);
    let second = running.event("pr_state");
    let previous = json!({"state": "OPEN", "review_decision": "REVIEW_REQUIRED"});
    assert_eq!((&second["review_decision"], &second["previous"]), (&json!("NONE"), &previous));
    assert_eq!((&second["mergeability"], &second["draft"]), (&json!("mergeable"), &json!(false)));
    assert_eq!((&second["head_sha"], &second["unresolved_threads"]), (&json!(HEAD), &json!(0)));
    let ended = world.merge(running);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    assert_eq!(states(&ended.lines), ["MERGED/NONE"]);
}

#[test]
fn a_merge_between_two_looks_is_one_line_and_no_call_after_it() {
    let world = World::with([729]);
    let mut running = world.start(&["729", "--poll-interval", "0.3"]);
    running.event("pr_state");
    let before = world.github.asked().len();
    let ended = world.merge(running);
    assert_eq!(states(&ended.lines), ["MERGED/NONE"]);
    assert!(world.github.asked().len() <= before + 2);
    let asked = world.github.asked().len();
    // It is remembered that it is over.
    assert_eq!(world.github.asked().len(), asked);
}

#[test]
fn pr09_closed_without_a_merge_is_an_end_too() {
    let world = World::with([729]);
    world.change(729, &[("state", json!("CLOSED"))]);
    let ended = world.end(&["729"]);
    assert_eq!((ended.code, states(&ended.lines)), (Some(0), vec!["CLOSED/NONE".to_owned()]));
    assert_eq!(world.github.asked().len(), 1);
}

#[test]
fn an_empty_decision_and_null_are_none() {
    // Seed: a bare // "none" prints nothing for the empty text that GitHub sends.
    for decision in [json!(""), Value::Null] {
        let world = World::with([729]);
        world.change(729, &[("reviewDecision", decision)]);
        let once = world.end(&["729", "--once"]);
        assert_eq!(states(&once.lines), ["OPEN/NONE"]);
    }
    let world = World::with([729]);
    world.change(729, &[("reviewDecision", json!("FROBNICATED")), ("state", json!("MARVELLOUS"))]);
    assert_eq!(states(&world.end(&["729", "--once"]).lines), ["UNKNOWN/UNKNOWN"]);
}

#[test]
fn the_text_is_the_seeds_own_line() {
    let world = World::with([729, 728]);
    let mut running = world.start(&["729", "--format", "text"]);
    assert_eq!(running.raw(), "PR#729 OPEN review=NONE\n");
    world.change(729, &[("reviewDecision", json!("APPROVED"))]);
    assert_eq!(running.raw(), "PR#729 OPEN review=APPROVED\n");
    world.change(729, &[("state", json!("MERGED"))]);
    assert_eq!(running.raw(), "PR#729 MERGED review=APPROVED\n");
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn a_mixed_read_gives_no_line() {
    let world = World::with([729]);
    let mut mixed = pull(729, HEAD, &[check("test", "COMPLETED", "FAILURE")]);
    mixed["headRefOid"] = json!("b".repeat(40));
    mixed["reviewDecision"] = json!("APPROVED");
    world.set(729, mixed);
    let mut running = world.start(&["729", "--ready"]);
    tests::eventually("it looked twice", || world.github.asked().len() >= 2);
    assert!(running.so_far().is_empty());
    world.change(729, &[("headRefOid", json!(HEAD))]);
    assert_eq!(running.event("pr_state")["review_decision"], "APPROVED");
    let ended = world.merge(running);
    assert_eq!(ended.code, Some(0));
}

#[test]
fn several_repositories_are_named_in_the_keys() {
    let world = World::with([729]);
    world.change(729, &[("state", json!("MERGED"))]);
    let ended = world.end(&["729", "https://github.com/a/b/pull/729"]);
    let keys: Vec<_> = ended.lines.iter().map(|line| line["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["pr:o/n#729", "pr:a/b#729"]);
    assert_eq!(ended.lines[1]["repo"], "a/b");
    // Both are in one question.
    assert_eq!(world.github.asked().len(), 1);
}

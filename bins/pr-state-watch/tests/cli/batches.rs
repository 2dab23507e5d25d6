//! Many pull requests: few calls, few points, little memory; one that fails fails alone.

use std::fs;

use serde_json::{Value, json};
use tests::{
    eventually,
    github::{Reply, answer, check, points, pull, subjects},
};

use crate::world::{HEAD, World, open};

fn numbers(count: u64) -> Vec<String> {
    (1..=count).map(|n| n.to_string()).collect()
}

fn with<'a>(numbers: &'a [String], args: &[&'a str]) -> Vec<&'a str> {
    numbers.iter().map(String::as_str).chain(args.iter().copied()).collect()
}

#[test]
fn fifty_cost_two_calls_and_two_points_a_look() {
    let world = World::with(1..=50);
    let numbers = numbers(50);
    for flags in [&["--once"][..], &["--once", "--ready"]] {
        let before = world.github.asked().len();
        let once = world.end(&with(&numbers, flags));
        assert_eq!(once.code, Some(0), "{}", once.stderr);
        assert!(once.lines.len() >= 50);
        let asked = &world.github.asked()[before..before + 2];
        for asked in asked {
            assert_eq!((&*asked.path, subjects(&asked.body).len()), ("/graphql", 25));
            assert_eq!(points(asked.body["query"].as_str().unwrap()), 1);
        }
    }
}

#[test]
fn while_nothing_changes_one_costs_a_point_and_no_path_a_look() {
    let world = World::with([729]);
    let mut running = world.start(&["729", "--ready"]);
    running.event("pr_state");
    eventually("it looked often", || world.github.asked().len() >= 8);
    assert_eq!(running.stop().code, Some(0));
    for asked in world.github.asked() {
        assert_eq!(asked.path, "/graphql");
        assert_eq!(points(asked.body["query"].as_str().unwrap()), 1);
    }
}

#[test]
fn comments_are_read_at_once_where_something_changed_and_by_turns_else() {
    let world = World::with(1..=25);
    let numbers = numbers(25);
    let is_comments = |query: &str| query.contains("bodies:") && !query.contains("isDraft");
    let running = world.start(&with(&numbers, &["--ready"]));
    eventually("it looked often", || world.github.asked().len() >= 8);
    let asked = world.github.asked();
    let query = |at: usize| asked[at].body["query"].as_str().unwrap().to_owned();
    // At the start all but the one whose turn it was; then none.
    assert!(!is_comments(&query(0)) && is_comments(&query(1)));
    assert_eq!(subjects(&asked[1].body).len(), 24);
    for at in 2..asked.len() {
        assert!(!is_comments(&query(at)));
        assert_eq!((query(at).matches("bodies:").count(), points(&query(at))), (1, 1));
    }
    world.change(7, &[("updatedAt", json!("2026-02-02T00:00:00Z"))]);
    eventually("its comments are read", || {
        let asked = world.github.asked();
        asked[8..].iter().any(|asked| {
            let query = asked.body["query"].as_str().unwrap();
            subjects(&asked.body).iter().any(|subject| subject.number == 7)
                && (is_comments(query) || query.contains("bodies:"))
        })
    });
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn one_that_fails_fails_alone() {
    let world = World::with(1..=3);
    let mut running = world.start(&["1", "2", "3"]);
    for _ in 0..3 {
        running.event("pr_state");
    }
    world.github.on_documents(|body| {
        let mut answer = answer(body, |variables| {
            let mut pull = open(variables.number);
            pull["reviewDecision"] = json!("APPROVED");
            Some(pull)
        });
        let at = subjects(body).iter().position(|subject| subject.number == 2).unwrap();
        answer["data"][format!("s{at}")] = Value::Null;
        answer["errors"] = json!([{"type": "SERVICE_UNAVAILABLE", "path": [format!("s{at}")],
            "message": "Something went wrong"}]);
        Reply::json(&answer)
    });
    let mut changed = Vec::new();
    let mut degraded = 0;
    for _ in 0..3 {
        let line = running.line();
        match line["event"].as_str().unwrap() {
            "pr_state" => changed.push(line["pr"].as_u64().unwrap()),
            "monitor_degraded" => {
                degraded += 1;
                assert!(line["detail"].as_str().unwrap().contains("pull request 2 of"), "{line}");
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!((changed, degraded), (vec![1, 3], 1));
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn an_error_that_names_nobody_fails_all_and_a_missing_one_itself() {
    let world = World::with([1, 2]);
    let mut running = world.start(&["1", "2"]);
    for _ in 0..2 {
        running.event("pr_state");
    }
    world.github.on_documents(|body| {
        let mut answer = answer(body, |variables| {
            let mut pull = open(variables.number);
            pull["reviewDecision"] = json!("APPROVED");
            Some(pull)
        });
        answer["errors"] = json!([{"message": "Something went wrong while executing your query"}]);
        Reply::json(&answer)
    });
    assert_eq!(running.event("monitor_degraded")["reason"], "transient");
    world.github.on_documents(|body| {
        let mut answer = answer(body, |variables| {
            let mut pull = open(variables.number);
            pull["reviewDecision"] = json!("APPROVED");
            Some(pull)
        });
        answer["data"].as_object_mut().unwrap().remove("s1");
        Reply::json(&answer)
    });
    let line = running.event("pr_state");
    assert_eq!((&line["pr"], &line["review_decision"]), (&json!(1), &json!("APPROVED")));
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn one_that_is_not_there_ends_it_with_3() {
    let world = World::with([1, 3]);
    let ended = world.end(&["1", "2", "3"]);
    assert_eq!(ended.code, Some(3));
    assert!(
        ended.stderr.contains("unable to find pull request 2 of github.com/o/n"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_hundred_are_watched_in_less_than_ten_megabytes() {
    let world = World::new();
    let rows: Vec<Value> = (0..100)
        .map(|n| {
            check(
                &format!("a job of an ordinary name ({n}, stable, x86_64)"),
                "COMPLETED",
                "SUCCESS",
            )
        })
        .collect();
    for number in 1..=100 {
        world.set(number, pull(number, HEAD, &rows));
    }
    let numbers = numbers(100);
    let mut running = world.start(&with(&numbers, &["--ready"]));
    for _ in 0..100 {
        running.event("pr_state");
    }
    eventually("it looked again", || world.github.asked().len() >= 13);
    let status = fs::read_to_string(format!("/proc/{}/status", running.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kib < 10 * 1024, "{kib} KiB");
    assert_eq!(running.stop().code, Some(0));
}

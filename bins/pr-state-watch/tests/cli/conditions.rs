//! `--ready`: what stands in the way of a merge.

use serde_json::{Value, json};
use tests::github::{check, context, pull};

use crate::world::{HEAD, World};

fn keys(lines: &[Value]) -> Vec<String> {
    let word = |line: &Value| {
        let sign = match line["condition"].as_str().unwrap() {
            "raised" => "+",
            "cleared" => "-",
            _ => "",
        };
        format!("{sign}{}", line["key"].as_str().unwrap())
    };
    lines.iter().map(word).collect()
}

#[test]
fn what_stands_in_the_way_is_raised_with_its_head_and_cleared() {
    let world = World::new();
    let rows = [check("test", "COMPLETED", "FAILURE"), context("cov", "SUCCESS")];
    let mut red = pull(729, HEAD, &rows);
    red["mergeable"] = json!("CONFLICTING");
    red["mergeStateStatus"] = json!("DIRTY");
    world.set(729, red);
    let mut running = world.start(&["729", "--ready"]);
    let lines = [running.line(), running.line(), running.line()];
    assert_eq!(keys(&lines), ["pr:729", "+pr:729:red:CI / test", "+pr:729:conflict"]);
    assert_eq!(
        (&lines[1]["severity"], &lines[2]["severity"]),
        (&json!("wake"), &json!("immediate"))
    );
    assert_eq!(
        (&lines[1]["revision"], &lines[1]["brief"]),
        (&json!(HEAD), &json!("CI / test failed"))
    );
    world.set(729, pull(729, HEAD, &[check("test", "QUEUED", "")]));
    let lines = [running.line(), running.line()];
    assert_eq!(keys(&lines), ["-pr:729:conflict", "-pr:729:red:CI / test"]);
    let ended = world.merge(running);
    assert_eq!(keys(&ended.lines), ["pr:729"]);
}

#[test]
fn without_ready_only_the_state_is_told() {
    let world = World::new();
    world.set(729, pull(729, HEAD, &[check("test", "COMPLETED", "FAILURE")]));
    let once = world.end(&["729", "--once"]);
    assert_eq!(
        (keys(&once.lines), &once.lines[0]["checks"]),
        (vec!["pr:729".to_owned()], &json!("failure"))
    );
}

#[test]
fn what_is_known_to_be_red_raises_nothing() {
    let world = World::new();
    world.set(729, pull(729, HEAD, &[check("flaky", "COMPLETED", "FAILURE")]));
    for name in ["flaky", "CI / flaky"] {
        let once = world.end(&["729", "--once", "--ready", "--known-red", name]);
        assert_eq!(keys(&once.lines), ["pr:729"]);
    }
}

#[test]
fn a_thread_of_another_is_unresolved_and_ones_own_is_not() {
    let world = World::with([729]);
    let last = json!({"hasNextPage": false});
    let thread = |id: &str| json!({"id": id, "isResolved": false, "isOutdated": false});
    let with_comment = |id: &str, own: bool, body: &str| {
        let comment = json!({"id": format!("{id}c"), "body": body, "viewerDidAuthor": own});
        json!({"id": id, "comments": {"pageInfo": last, "nodes": [comment]}})
    };
    world.change(729, &[
        ("isDraft", json!(true)),
        ("reviewThreads", json!({"pageInfo": last, "nodes": [thread("a"), thread("b"),
            {"id": "c", "isResolved": true, "isOutdated": false},
            {"id": "d", "isResolved": false, "isOutdated": true}]})),
        ("bodies", json!({"pageInfo": last, "nodes": [with_comment("a", true, "mine"), with_comment("b", false, "theirs")]})),
    ]);
    let mut running = world.start(&["729", "--ready"]);
    let lines = [running.line(), running.line()];
    assert_eq!(keys(&lines), ["pr:729", "+pr:729:unresolved_threads"]);
    assert_eq!(lines[1]["unresolved_threads"], 1);
    assert_eq!(lines[1].get("revision"), None);
    // The text of one's own comment changes, then that of another.
    let edited = |mine: &str, theirs: &str| json!({"pageInfo": last, "nodes": [with_comment("a", true, mine), with_comment("b", false, theirs)]});
    world.change(729, &[("bodies", edited("mine, edited", "theirs"))]);
    let before = world.github.asked().len();
    tests::eventually("it looked", || world.github.asked().len() >= before + 2);
    assert!(running.so_far().is_empty());
    world.change(729, &[("bodies", edited("mine, edited", "theirs, edited"))]);
    let line = running.line();
    assert!(
        keys(std::slice::from_ref(&line))[0].starts_with("+pr:729:review_comment_bodies:"),
        "{line}"
    );
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn what_authors_write_can_forge_no_key() {
    let world = World::new();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let long = "x".repeat(10_000);
    let names =
        ["a\x1b[2Jb", "a\nb\",\"key\":\"pr:1", "a\u{2028}b", &*token, &*long, "ready", "pr:729"];
    let mut rows: Vec<Value> =
        names.iter().map(|name| check(name, "COMPLETED", "FAILURE")).collect();
    rows.extend(names.iter().map(|name| context(&format!("CI / {name}"), "ERROR")));
    let mut found = pull(729, HEAD, &rows);
    found["url"] = json!("https://evil.example/\u{1b}[2J");
    found["baseRefName"] = json!("\u{1b}]0;x\u{7}");
    world.set(729, found);
    let mut running = world.start(&["729", "--ready"]);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..=2 * names.len() {
        let raw = running.raw();
        assert!(raw.len() <= 4096 && !raw.contains("ghp_"), "{raw}");
        for unfit in ['\x1b', '\u{2028}', '\u{7}'] {
            assert!(!raw.contains(unfit), "{raw}");
        }
        let line: Value = serde_json::from_str(&raw).unwrap();
        let key = line["key"].as_str().unwrap().to_owned();
        assert!(key == "pr:729" || key.starts_with("pr:729:red:"), "{key}");
        assert!(key.len() <= 200 && !key.contains(char::is_control));
        assert!(seen.insert(key), "{line}");
    }
    assert_eq!(running.stop().code, Some(0));
}

//! Pull requests and commits: by documents.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tests::github::{self, Reply, check, commit, context, points, pull, subjects};

use crate::world::{World, states};

const HEAD: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const OTHER: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/// Answers documents about one pull request with these, one after the other.
fn in_turn(world: &World, pulls: Vec<Value>) {
    let mut pulls = pulls.into_iter().peekable();
    world.github.on_pulls(move |_| {
        let last = pulls.peek().cloned();
        if pulls.len() > 1 { pulls.next() } else { last }
    });
}

fn pairs(want: &[(&str, &str)]) -> Vec<(String, String)> {
    want.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn ci01_an_unfinished_conclusion_is_an_empty_text_and_no_pass() {
    let world = World::new();
    let of = |status: &str, conclusion: &str| pull(42, HEAD, &[check("test", status, conclusion)]);
    in_turn(&world, vec![of("IN_PROGRESS", ""), of("QUEUED", ""), of("COMPLETED", "SUCCESS")]);
    let ended = world.end(&["--pr=42", "--settle=0"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    assert_eq!(states(&ended.lines), pairs(&[("in_progress", "null"), ("completed", "success")]));
    let last = ended.lines.last().unwrap();
    assert_eq!((&last["run_id"], &last["key"]), (&json!("pr-42"), &json!("ci:pr-42")));
    assert_eq!((&last["passed"], &last["head_sha"]), (&json!(1), &json!(HEAD)));
    assert_eq!(last["url"], "https://github.com/o/n/pull/42");
}

#[test]
fn rows_of_both_kinds_count() {
    let world = World::new();
    for (rows, want) in [
        (vec![check("build", "COMPLETED", "SUCCESS"), context("build", "FAILURE")], "failure"),
        (vec![check("build", "COMPLETED", "FAILURE"), context("build", "SUCCESS")], "failure"),
        (vec![check("build", "COMPLETED", "SUCCESS"), context("build", "SUCCESS")], "success"),
        (vec![check("build", "COMPLETED", "TIMED_OUT")], "failure"),
        (vec![check("build", "COMPLETED", "STARTUP_FAILURE")], "failure"),
    ] {
        in_turn(&world, vec![pull(42, HEAD, &rows)]);
        let ended = world.end(&["--pr=42", "--settle=0"]);
        assert_eq!(states(&ended.lines), pairs(&[("completed", want)]), "{rows:?}");
    }
}

#[test]
fn the_first_failing_check_is_named_with_its_address() {
    let world = World::new();
    let rows = [
        check("unit", "COMPLETED", "FAILURE"),
        check("lint", "COMPLETED", "FAILURE"),
        check("slow", "QUEUED", ""),
        check("docs", "COMPLETED", "SUCCESS"),
    ];
    in_turn(&world, vec![pull(42, HEAD, &rows)]);
    let ended = world.end(&["--pr=42", "--exit-code"]);
    assert_eq!(ended.code, Some(10));
    let line = &ended.lines[0];
    assert_eq!(line["failed"], json!(["CI / lint", "CI / unit"]));
    assert_eq!((&line["pending"], &line["passed"]), (&json!(1), &json!(1)));
    assert_eq!(line["url"], "https://github.com/o/n/actions/runs/1/job/4");
}

#[test]
fn a_superseded_attempt_is_left_out_and_counted() {
    let world = World::new();
    let mut old = check("test", "COMPLETED", "CANCELLED");
    old["checkSuite"]["conclusion"] = json!("CANCELLED");
    old["checkSuite"]["workflowRun"]["databaseId"] = json!(100);
    let mut new = check("test", "COMPLETED", "SUCCESS");
    new["checkSuite"]["workflowRun"]["databaseId"] = json!(200);
    in_turn(&world, vec![pull(42, HEAD, &[old, new])]);
    let ended = world.end(&["--pr=42", "--settle=0"]);
    assert_eq!(ended.lines[0]["conclusion"], "success");
    assert_eq!(ended.lines[0]["superseded"], 1);
}

/// Pages of a rollup of `rows` rows.
fn paged(world: &World, rows: usize) {
    world.github.on_documents(move |body| {
        Reply::json(&github::answer(body, |variables| {
            let page: usize = variables.after.parse().unwrap_or_default();
            let (from, to) = (page * 100, rows.min(page * 100 + 100));
            let list: Vec<Value> =
                (from..to).map(|n| check(&format!("leg {n}"), "COMPLETED", "SUCCESS")).collect();
            let mut found = pull(42, HEAD, &list);
            let contexts =
                &mut found["commits"]["nodes"][0]["commit"]["statusCheckRollup"]["contexts"];
            contexts["pageInfo"] =
                json!({"hasNextPage": to < rows, "endCursor": (page + 1).to_string()});
            Some(found)
        }))
    });
}

#[test]
fn ci27_pages_are_read_to_the_end() {
    for (rows, pages) in [(31, 1), (101, 2), (250, 3), (400, 4)] {
        let world = World::new();
        paged(&world, rows);
        let ended = world.end(&["--pr=42", "--settle=0"]);
        assert_eq!(states(&ended.lines), pairs(&[("completed", "success")]), "{rows}");
        assert_eq!(ended.lines[0]["passed"], rows);
        assert_eq!(world.github.asked().len(), pages);
    }
}

#[test]
fn past_four_pages_a_read_is_incomplete_and_never_succeeds() {
    let world = World::new();
    paged(&world, 401);
    let ended = world.end(&["--pr=42", "--settle=0", "--once"]);
    assert_eq!(ended.code, Some(0));
    assert_eq!(states(&ended.lines), pairs(&[("in_progress", "null")]));
    assert_eq!(
        (&ended.lines[0]["incomplete"], &ended.lines[0]["passed"]),
        (&json!(true), &json!(400))
    );
    assert_eq!(world.github.asked().len(), 4);
}

#[test]
fn a_head_that_moves_between_two_pages_gives_no_line() {
    let world = World::new();
    let calls = Arc::new(Mutex::new(0));
    world.github.on_documents(move |body| {
        let mut calls = calls.lock().unwrap();
        *calls += 1;
        let head = if *calls == 1 { HEAD } else { OTHER };
        Reply::json(&github::answer(body, |variables| {
            let mut found = pull(42, head, &[check("test", "COMPLETED", "SUCCESS")]);
            let is_first = variables.after.is_empty() && *calls < 3;
            found["commits"]["nodes"][0]["commit"]["statusCheckRollup"]["contexts"]["pageInfo"] =
                json!({"hasNextPage": is_first, "endCursor": "1"});
            Some(found)
        }))
    });
    let ended = world.end(&["--pr=42", "--settle=0"]);
    assert_eq!(states(&ended.lines), pairs(&[("completed", "success")]));
    assert_eq!(ended.lines[0]["head_sha"], OTHER);
    assert_eq!(ended.lines.len(), 1, "{:?}", ended.lines);
}

#[test]
fn rows_of_another_commit_than_the_head_give_no_line() {
    let world = World::new();
    let mut mixed = pull(42, HEAD, &[check("test", "COMPLETED", "SUCCESS")]);
    mixed["headRefOid"] = json!(OTHER);
    in_turn(&world, vec![mixed, pull(42, OTHER, &[check("test", "COMPLETED", "FAILURE")])]);
    let ended = world.end(&["--pr=42", "--settle=0"]);
    assert_eq!(states(&ended.lines), pairs(&[("completed", "failure")]));
}

#[test]
fn a_set_that_has_not_settled_is_no_success() {
    let world = World::new();
    in_turn(&world, vec![pull(42, HEAD, &[check("test", "COMPLETED", "SUCCESS")])]);
    let once = world.end(&["--pr=42", "--once", "--exit-code"]);
    assert_eq!(states(&once.lines), pairs(&[("in_progress", "null")]));
    assert_eq!((once.code, &once.lines[0]["reason"]), (Some(16), &json!("settling")));
    let ended = world.end(&["--pr=42", "--settle=0.3", "--exit-code"]);
    assert_eq!(states(&ended.lines), pairs(&[("in_progress", "null"), ("completed", "success")]));
    assert_eq!(ended.code, Some(0));
}

#[test]
fn with_required_the_rules_of_the_base_branch_count() {
    let world = World::new();
    let rules = "/repos/o/n/rules/branches/release%2F1?per_page=100";
    let mut found = pull(
        42,
        HEAD,
        &[check("test", "COMPLETED", "SUCCESS"), check("lint", "COMPLETED", "FAILURE")],
    );
    found["baseRefName"] = json!("release/1");
    in_turn(&world, vec![found.clone()]);
    let required = |names: &[&str]| {
        let checks: Vec<Value> = names.iter().map(|name| json!({"context": name})).collect();
        Reply::json(&json!([{"type": "required_status_checks",
            "parameters": {"required_status_checks": checks}}]))
    };
    world.github.on(rules, [required(&["test"])]);
    let args = ["--pr=42", "--settle=0", "--required", "--once"];
    assert_eq!(world.end(&args).lines[0]["conclusion"], "success");
    world.github.on(rules, [required(&["test", "deploy"])]);
    let missing = world.end(&args);
    assert_eq!(
        (&missing.lines[0]["status"], &missing.lines[0]["pending"]),
        (&json!("in_progress"), &json!(1))
    );
    // Where the rules can't be read, the required rows that have reported decide.
    world.github.on(rules, [Reply::status(403, &json!({"message": "Upgrade to GitHub Pro"}))]);
    let none = world.end(&args);
    assert_eq!(
        (&none.lines[0]["status"], &none.lines[0]["required"]),
        (&json!("in_progress"), &json!("reported_only"))
    );
    found["commits"]["nodes"][0]["commit"]["statusCheckRollup"]["contexts"]["nodes"][0]["isRequired"] =
        json!(true);
    in_turn(&world, vec![found]);
    let reported = world.end(&args);
    assert_eq!(
        (&reported.lines[0]["conclusion"], &reported.lines[0]["required"]),
        (&json!("success"), &json!("reported_only"))
    );
}

#[test]
fn a_commit_is_watched_by_its_hash() {
    let world = World::new();
    world.github.on_documents(|body| {
        Reply::json(&github::answer(body, |variables| {
            assert_eq!(variables.commit, HEAD);
            Some(commit(HEAD, &[check("test", "COMPLETED", "FAILURE")]))
        }))
    });
    let ended = world.end(&["--commit", HEAD, "--exit-code"]);
    assert_eq!(ended.code, Some(10));
    let line = &ended.lines[0];
    assert_eq!(
        (&line["run_id"], &line["conclusion"]),
        (&json!("commit-aaaaaaaaaaaa"), &json!("failure"))
    );
}

#[test]
fn ci09_a_commit_without_a_run_is_no_other_commits_success() {
    let world = World::new();
    world
        .github
        .on_documents(|body| Reply::json(&github::answer(body, |_| Some(commit(HEAD, &[])))));
    let ended = world.end(&["--commit", HEAD, "--no-checks-grace=0.2", "--exit-code"]);
    assert_eq!((ended.code, &ended.lines[1]["reason"]), (Some(14), &json!("no_checks")));
    // One that isn't there at all is not waited for.
    world.github.on_documents(|body| Reply::json(&github::answer(body, |_| None)));
    assert_eq!(world.end(&["--commit", OTHER]).code, Some(3));
}

#[test]
fn no_checks_end_after_their_grace() {
    let world = World::new();
    in_turn(&world, vec![pull(42, HEAD, &[])]);
    let ended = world.end(&["--pr=42", "--no-checks-grace=0.3", "--exit-code"]);
    assert_eq!(states(&ended.lines), pairs(&[("in_progress", "null"), ("completed", "null")]));
    assert_eq!((ended.code, &ended.lines[1]["reason"]), (Some(14), &json!("no_checks")));
    let ended = world.end(&["--pr=42", "--no-checks-grace=0", "--allow-no-checks", "--exit-code"]);
    assert_eq!(states(&ended.lines), pairs(&[("completed", "success")]));
    assert_eq!(ended.code, Some(0));
}

#[test]
fn ci13_a_first_contributors_runs_wait_for_an_approval() {
    let world = World::new();
    let mut found = pull(42, HEAD, &[]);
    found["commits"]["nodes"][0]["commit"]["checkSuites"]["nodes"] =
        json!([{"conclusion": "ACTION_REQUIRED", "workflowRun": {"databaseId": 9}}]);
    in_turn(&world, vec![found]);
    let ended = world.end(&["--pr=42", "--exit-code"]);
    assert_eq!(states(&ended.lines), pairs(&[("completed", "action_required")]));
    assert_eq!(ended.code, Some(13));
}

#[test]
fn a_merged_or_closed_pull_request_is_the_end() {
    for (state, reason, code) in [("MERGED", "merged", 16), ("CLOSED", "closed", 17)] {
        let world = World::new();
        let going = pull(42, HEAD, &[check("test", "QUEUED", "")]);
        let mut over = going.clone();
        over["state"] = json!(state);
        in_turn(&world, vec![going, over]);
        let ended = world.end(&["--pr=42", "--exit-code"]);
        assert_eq!(states(&ended.lines), pairs(&[("in_progress", "null"), ("completed", "null")]));
        assert_eq!((ended.code, &ended.lines[1]["reason"]), (Some(code), &json!(reason)));
        assert_eq!(world.github.asked().len(), 2);
    }
}

#[test]
fn many_pull_requests_are_one_question() {
    let world = World::new();
    world.github.on_pulls(|number| Some(pull(number, HEAD, &[check("test", "QUEUED", "")])));
    let args: Vec<String> = (1..=30).map(|n| format!("--pr={n}")).collect();
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args.push("--once");
    let ended = world.end(&args);
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 30));
    let asked = world.github.asked();
    assert_eq!(asked.iter().map(|asked| subjects(&asked.body).len()).collect::<Vec<_>>(), [25, 5]);
    for asked in &asked {
        assert_eq!(points(asked.body["query"].as_str().unwrap()), 1);
    }
}

#[test]
fn what_authors_write_can_forge_nothing() {
    let world = World::new();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let long = "x".repeat(10_000);
    let names = [
        "a\x1b[2Jb",
        "a\nb",
        "a\"},{\"event\":\"ci_status\"",
        "a\u{2028}b",
        "a\u{202e}b",
        &*token,
        &*long,
        "a\u{85}b",
        "a\0b",
    ];
    let rows: Vec<Value> = names
        .iter()
        .flat_map(|name| {
            let mut row = check(name, "COMPLETED", "FAILURE");
            row["checkSuite"]["workflowRun"]["workflow"]["name"] = json!(name);
            row["detailsUrl"] = json!(format!("javascript:{name}"));
            let mut status = context(name, "FAILURE");
            status["targetUrl"] = json!("https://ci.example/ x");
            [row, status]
        })
        .collect();
    let mut found = pull(42, HEAD, &rows);
    found["url"] = json!("https://github.com/o/n\n{\"event\":\"x\"}");
    in_turn(&world, vec![found]);
    let mut running = world.start(&["--pr=42"]);
    let raw = running.raw();
    assert!(raw.len() <= 4096 && raw.ends_with("}\n"), "{}", raw.len());
    assert!(
        !raw.contains("ghp_")
            && !raw.contains("javascript")
            && !raw.contains("xxxx".repeat(50).as_str())
    );
    for unfit in ['\x1b', '\u{2028}', '\u{202e}', '\u{85}', '\0'] {
        assert!(!raw.contains(unfit) && !raw.contains("\\u001b"), "{raw}");
    }
    let line: Value = serde_json::from_str(&raw).unwrap();
    assert_eq!((&line["key"], &line["conclusion"]), (&json!("ci:pr-42"), &json!("failure")));
    assert_eq!(line["url"], "https://github.com/o/n/pull/42");
    let ended = running.end();
    assert!(ended.lines.is_empty(), "{:?}", ended.lines);
}

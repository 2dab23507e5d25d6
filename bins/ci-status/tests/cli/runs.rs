//! Runs: by their paths, with tags.

use serde_json::json;
use tests::github::{Reply, run};

use crate::world::{RUN, World, runs, states};

#[test]
fn a_run_is_told_at_each_change_and_costs_nothing_between() {
    let world = World::new();
    let [queued, running] = [("queued", None), ("in_progress", None)];
    let done = ("completed", Some("success"));
    world.github.on(RUN, runs(&[queued, queued, running, running, done]));
    let ended = world.end(&["--run-id", "123"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    let want = [("queued", "null"), ("in_progress", "null"), ("completed", "success")];
    assert_eq!(states(&ended.lines), want.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert_eq!(ended.lines.len(), 3);
    assert_eq!(world.github.statuses(RUN), [200, 304, 200, 304, 200]);
    let last = &ended.lines[2];
    assert_eq!((&last["run_id"], &last["key"]), (&json!("123"), &json!("ci:123")));
    assert_eq!(last["url"], "https://github.com/o/n/actions/runs/123");
    assert_eq!(last["condition"], "once");
}

#[test]
fn every_conclusion_has_its_exit_code() {
    let world = World::new();
    for (conclusion, code) in [
        ("success", 0),
        ("neutral", 0),
        ("skipped", 0),
        ("failure", 10),
        ("startup_failure", 10),
        ("cancelled", 11),
        ("timed_out", 12),
        ("action_required", 13),
        ("stale", 16),
    ] {
        world.github.on(RUN, runs(&[("completed", Some(conclusion))]));
        assert_eq!(world.end(&["--run-id=123"]).code, Some(0), "{conclusion}");
        let ended = world.end(&["--run-id=123", "--exit-code"]);
        assert_eq!(ended.code, Some(code), "{conclusion}");
        assert_eq!(ended.lines[0]["conclusion"], conclusion);
    }
}

#[test]
fn ci12_an_unknown_conclusion_is_never_green_and_ends_at_the_deadline() {
    let world = World::new();
    world.github.on(RUN, runs(&[("completed", Some("frobnicated"))]));
    let ended = world.end(&["--run-id=123", "--deadline", "0.5", "--exit-code"]);
    assert_eq!(ended.code, Some(12));
    let want = [("in_progress", "null"), ("timeout", "null")];
    assert_eq!(states(&ended.lines), want.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert_eq!(ended.lines[0]["reason"], "unknown_state");
}

#[test]
fn several_runs_are_each_told_and_the_last_decided_ends_it() {
    let world = World::new();
    for id in 1..=6 {
        let path = format!("/repos/o/n/actions/runs/{id}");
        let going = Reply::json(&run(id, "in_progress", None));
        let done = Reply::json(&run(id, "completed", Some("success")));
        let waits = usize::try_from(id).unwrap();
        world.github.on(&path, std::iter::repeat_n(going, waits).chain([done]));
    }
    let args: Vec<String> = (1..=6).map(|id| format!("--run-id={id}")).collect();
    let ended = world.end(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 12), "{:?}", ended.lines);
    let path = "/repos/o/n/actions/runs/6";
    assert_eq!(world.github.statuses(path), [200, 304, 304, 304, 304, 304, 200]);
    // A completed run is still watched, and costs nothing.
    assert_eq!(
        world.github.statuses("/repos/o/n/actions/runs/1")[1..],
        [200, 304, 304, 304, 304, 304]
    );
}

#[test]
fn a_rerun_of_a_completed_run_starts_over() {
    let world = World::new();
    let other = "/repos/o/n/actions/runs/7";
    let attempt = |status: &str, conclusion: Option<&str>| {
        let mut run = run(123, status, conclusion);
        run["run_attempt"] = json!(2);
        Reply::json(&run)
    };
    let again = [attempt("in_progress", None), attempt("completed", Some("success"))];
    world.github.on(RUN, runs(&[("completed", Some("failure"))]).into_iter().chain(again));
    let going = std::iter::repeat_n(Reply::json(&run(7, "in_progress", None)), 4);
    world.github.on(other, going.chain([Reply::json(&run(7, "completed", Some("success")))]));
    let ended = world.end(&["--run-id=123", "--run-id=7", "--exit-code"]);
    assert_eq!(ended.code, Some(0));
    let of_123: Vec<_> =
        ended.lines.iter().filter(|line| line["run_id"] == "123").cloned().collect();
    let want = [("completed", "failure"), ("in_progress", "null"), ("completed", "success")];
    assert_eq!(states(&of_123), want.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert_eq!((&of_123[0]["attempt"], &of_123[2]["attempt"]), (&json!(null), &json!(2)));
}

#[test]
fn an_address_names_the_repository_and_several_repositories_the_keys() {
    let world = World::new();
    world
        .github
        .on("/repos/a/b/actions/runs/5", [Reply::json(&run(5, "completed", Some("success")))]);
    world.github.on(RUN, runs(&[("completed", Some("success"))]));
    let ended = world.end(&["--run-id", "https://github.com/a/b/actions/runs/5", "--run-id=123"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let keys: Vec<_> = ended.lines.iter().map(|line| line["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["ci:a/b#5", "ci:o/n#123"]);
    assert_eq!(ended.lines[0]["repo"], "a/b");
}

#[test]
fn ci25_the_id_of_a_job_ends_with_3_and_names_the_run() {
    let world = World::new();
    world
        .github
        .on("/repos/o/n/actions/jobs/123", [Reply::json(&json!({"id": 123, "run_id": 99}))]);
    let ended = world.end(&["--run-id=123"]);
    assert_eq!(ended.code, Some(3));
    assert!(ended.stderr.contains("it is a job of run 99"), "{}", ended.stderr);
    assert_eq!(ended.lines[0]["event"], "monitor_failed");
    assert_eq!(ended.lines[0]["reason"], "not_found");
}

#[test]
fn a_run_of_another_id_is_not_believed() {
    let world = World::new();
    world.github.on(
        RUN,
        [
            Reply::json(&run(124, "completed", Some("success"))),
            Reply::json(&run(123, "completed", Some("failure"))),
        ],
    );
    let ended = world.end(&["--run-id=123"]);
    assert_eq!(ended.lines[0]["event"], "monitor_degraded");
    let want = [("completed".to_owned(), "failure".to_owned())];
    assert_eq!(states(&ended.lines), want);
}

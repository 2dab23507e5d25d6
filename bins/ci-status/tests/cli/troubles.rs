//! A GitHub that refuses, breaks, hangs, or wants to be left alone; a `gh` that is missing.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use nix::sys::signal::Signal;
use serde_json::json;
use tests::{
    Running, command, eventually,
    github::{Reply, TOKEN, check, pull, run},
    pause,
};

use crate::world::{EXE, RUN, World, runs, states};

fn message(status: u16, text: &str) -> Reply {
    Reply::status(status, &json!({"message": text}))
}

fn health(lines: &[serde_json::Value]) -> Vec<String> {
    let of = |line: &serde_json::Value| {
        let sign = match line["event"].as_str().unwrap() {
            "monitor_degraded" => "-",
            "monitor_recovered" => "+",
            _ => return None,
        };
        Some(format!("{sign}{}", line["reason"].as_str().unwrap()))
    };
    lines.iter().filter_map(of).collect()
}

#[test]
fn ci19_each_trouble_is_told_once_and_none_ends_it() {
    let world = World::new();
    let limit = message(403, "You have exceeded a secondary rate limit").header("Retry-After", "1");
    let good = Reply::json(&run(123, "in_progress", None));
    let replies = [message(502, "Bad Gateway"), good.clone().broken(), limit];
    world.github.on(RUN, replies.into_iter().chain(runs(&[("completed", Some("success"))])));
    let begun = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let ended = world.end(&["--run-id=123"]);
    let spent = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().saturating_sub(begun);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    assert_eq!(
        health(&ended.lines),
        ["-transient", "-rate_limited", "+rate_limited", "+transient"]
    );
    assert_eq!(states(&ended.lines).len(), 1);
    assert_eq!(world.github.statuses(RUN), [502, 200, 403, 200]);
    assert!(spent >= Duration::from_secs(1), "{spent:?}");
    let detail = ended.lines[0]["detail"].as_str().unwrap();
    assert_eq!(detail, "run 123 of github.com/o/n: Bad Gateway (HTTP 502)");
}

#[test]
fn not_found_at_the_start_ends_with_3_and_later_it_is_told() {
    let world = World::new();
    let ended = world.end(&["--run-id=123"]);
    assert_eq!((ended.code, ended.lines.len()), (Some(3), 1));
    assert_eq!(ended.lines[0]["event"], "monitor_failed");
    let want = "ci-status: fatal: unable to find run 123 of github.com/o/n: Not Found (HTTP 404)\n";
    assert_eq!(ended.stderr, want);

    let going = runs(&[("queued", None), ("in_progress", None), ("in_progress", None)]);
    let gone = std::iter::repeat_n(message(404, "Not Found"), 2);
    let done = runs(&[("completed", Some("success"))]);
    world.github.on(RUN, going.into_iter().chain(gone).chain(done));
    let ended = world.end(&["--run-id=123"]);
    assert_eq!(ended.code, Some(0));
    assert_eq!(health(&ended.lines), ["-not_found", "+not_found"]);
    assert_eq!(states(&ended.lines).len(), 3);
}

#[test]
fn a_pull_request_that_is_not_there_ends_with_3() {
    let world = World::new();
    world.github.on_pulls(|number| (number != 43).then(|| pull(number, "a", &[])));
    let ended = world.end(&["--pr=42", "--pr=43"]);
    assert_eq!(ended.code, Some(3));
    assert!(
        ended.stderr.contains("unable to find pull request 43 of github.com/o/n"),
        "{}",
        ended.stderr
    );
}

#[test]
fn ci24_without_gh_it_ends_with_2_and_says_so() {
    let world = World::new();
    let empty = world.scene.dir("empty");
    let ended = Running::start(world.program(&["--run-id=123"]).env("PATH", empty)).end();
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("gh not found in PATH"), "{}", ended.stderr);
    let failed = &ended.lines[0];
    assert_eq!(
        (&failed["event"], &failed["reason"]),
        (&json!("monitor_failed"), &json!("gh_missing"))
    );
    assert_eq!(failed["exit_code"], 2);
}

#[test]
fn without_a_login_it_ends_with_2_and_says_what_mends_it() {
    let world = World::new();
    let mut program = world.program(&["--run-id=123"]);
    world.github.log_out(&mut program);
    let ended = Running::start(&mut program).end();
    assert_eq!(ended.code, Some(2));
    let want = "ci-status: fatal: unable to read github.com: not logged in to github.com \
                (run: gh auth login --hostname github.com)\n";
    assert_eq!(ended.stderr, want);
    assert_eq!(ended.lines[0]["reason"], "not_logged_in");

    let world = World::new();
    world.github.on(RUN, [message(401, "Bad credentials")]);
    let ended = world.end(&["--run-id=123"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("gh auth login"), "{}", ended.stderr);
}

#[test]
fn a_login_that_ends_later_is_told_and_tried_again() {
    let world = World::new();
    let going = runs(&[("in_progress", None)]);
    let done = runs(&[("completed", Some("success"))]);
    world.github.on(RUN, going.into_iter().chain([message(401, "Bad credentials")]).chain(done));
    let ended = world.end(&["--run-id=123"]);
    assert_eq!(ended.code, Some(0));
    assert_eq!(health(&ended.lines), ["-authentication", "+authentication"]);
}

#[test]
fn two_programs_keep_to_one_cooldown() {
    let world = World::new();
    let limit = message(403, "API rate limit exceeded").header("Retry-After", "2");
    world.github.on(RUN, [limit].into_iter().chain(runs(&[("completed", Some("success"))])));
    let mut first = world.start(&["--run-id=123"]);
    first.event("monitor_degraded");
    assert_eq!(world.github.asked().len(), 1);
    // The second asks nothing before the time is over, and says why on stderr.
    let once = world.end(&["--run-id=123", "--once"]);
    assert_eq!((once.code, once.lines.len()), (Some(4), 0));
    assert!(once.stderr.contains("rate limit"), "{}", once.stderr);
    let calls = world.github.asked().len();
    assert_eq!(calls, 1);
    let second = world.end(&["--run-id=123"]);
    assert_eq!(states(&second.lines), [("completed".to_owned(), "success".to_owned())]);
    assert!(health(&second.lines).is_empty());
    assert_eq!(first.end().code, Some(0));
    let files: Vec<_> =
        fs::read_dir(world.scene.join("store/cooldown")).unwrap().flatten().collect();
    assert_eq!(files.len(), 1);
    let meta = files[0].metadata().unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
}

#[test]
fn ci21_a_secondary_limit_silences_both_interfaces() {
    let world = World::new();
    world.github.on_documents(|_| {
        message(403, "You have exceeded a secondary rate limit").header("Retry-After", "60")
    });
    let mut first = world.start(&["--pr=42"]);
    assert_eq!(first.event("monitor_degraded")["reason"], "rate_limited");
    let once = world.end(&["--run-id=123", "--once"]);
    assert_eq!(once.code, Some(4));
    assert_eq!(world.github.asked().len(), 1);
    assert_eq!(first.stop().code, Some(0));
}

#[test]
fn the_last_call_that_the_budget_pays_for_is_the_last() {
    let world = World::new();
    let reset = tests::from_now(0);
    let second: i64 = reset.parse::<jiff::Timestamp>().unwrap().as_second() + 3600;
    let last = Reply::json(&run(123, "in_progress", None))
        .header("X-RateLimit-Remaining", "0")
        .header("X-RateLimit-Reset", &second.to_string());
    world.github.on(RUN, [last]);
    let mut running = world.start(&["--run-id=123"]);
    running.event("ci_status");
    let once = world.end(&["--run-id=123", "--once"]);
    assert_eq!((once.code, world.github.asked().len()), (Some(4), 1));
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn a_spent_budget_for_documents_is_answered_from_paths() {
    let world = World::new();
    let spent = || {
        Reply::json(
            &json!({"data": null, "errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}),
        )
    };
    world.github.on_documents(move |_| spent());
    let hash = "a".repeat(40);
    world.github.on("/repos/o/n/pulls/42", [Reply::json(&json!({
        "state": "open", "merged": false, "html_url": "https://github.com/o/n/pull/42",
        "head": {"sha": hash}, "base": {"ref": "main"}, "mergeable": true, "mergeable_state": "clean",
    }))]);
    let path = format!("/repos/o/n/commits/{hash}/status?per_page=100");
    // CI-15: an empty combined status is pending, whatever it is called.
    let statuses =
        |list: serde_json::Value| Reply::json(&json!({"state": "pending", "statuses": list}));
    let green = statuses(json!([{"context": "ci", "state": "success"}]));
    let red =
        statuses(json!([{"context": "ci", "state": "failure", "target_url": "https://ci/1"}]));
    world.github.on(&path, [green.clone(), green, red]);
    let ended = world.end(&["--pr=42", "--settle=0"]);
    assert_eq!(ended.code, Some(0));
    assert_eq!(health(&ended.lines), ["-rate_limited"]);
    let want = [("in_progress", "null"), ("completed", "failure")];
    assert_eq!(states(&ended.lines), want.map(|(a, b)| (a.to_owned(), b.to_owned())));
    // The document was asked for once, the paths with their tags.
    let documents = world.github.asked().iter().filter(|asked| asked.path == "/graphql").count();
    assert_eq!(documents, 1);
    assert_eq!(world.github.statuses("/repos/o/n/pulls/42"), [200, 304, 304]);
    assert_eq!(world.github.statuses(&path), [200, 304, 200]);
}

#[test]
fn an_ambient_host_does_not_redirect_a_call() {
    let world = World::new();
    world.github.on(RUN, runs(&[("completed", Some("success"))]));
    let mut program = command(EXE);
    world.github.connect(&mut program);
    program.env("GH_HOST", "evil.example").env("GH_REPO", "evil.example/a/b");
    let address = "https://github.com/o/n/actions/runs/123";
    let ended = Running::start(program.args(["--run-id", address])).end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let asked = world.github.asked();
    assert!(asked.iter().all(|asked| asked.headers["host"] == "api.github.com"), "{asked:?}");
}

#[test]
fn an_enterprise_host_is_asked_by_its_own_name() {
    let world = World::new();
    world.github.on(RUN, runs(&[("completed", Some("success"))]));
    let address = "https://ghe.corp.example/o/n/actions/runs/123";
    let ended = world.end(&["--run-id", address]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(world.github.asked()[0].headers["host"], "ghe.corp.example");
}

#[test]
fn the_repository_is_that_of_the_work_tree() {
    let world = World::new();
    world.github.on(RUN, runs(&[("completed", Some("success"))]));
    let _ = world.scene.dir("tree");
    let git = |args: &[&str]| tests::git::git(&world.scene, args);
    git(&["init", "--quiet", "tree"]);
    let mut program = command(EXE);
    world.github.connect(&mut program);
    program.current_dir(world.scene.join("tree")).arg("--run-id=123");
    let none = Running::start(&mut program).end();
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("give --repo OWNER/NAME"), "{}", none.stderr);
    git(&["-C", "tree", "remote", "add", "fork", "git@github.com:me/n.git"]);
    git(&["-C", "tree", "remote", "add", "origin", "git@github.com:o/n.git"]);
    let found = Running::start(&mut program).end();
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    program.env("GH_REPO", "me/n");
    assert_eq!(Running::start(&mut program).end().code, Some(3));
}

/// The command lines of running `gh`s that have our socket's folder in their environment.
fn ghs_of(scene: &Path) -> usize {
    let here = scene.display().to_string();
    let is_ours = |path: &Path| {
        let name = fs::read_to_string(path.join("comm")).unwrap_or_default();
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        name.trim() == "gh" && String::from_utf8_lossy(&environment).contains(&here)
    };
    fs::read_dir("/proc").unwrap().flatten().filter(|entry| is_ours(&entry.path())).count()
}

#[test]
fn a_gh_that_hangs_delays_no_end_and_is_not_left() {
    let world = World::new();
    for id in 1..=6 {
        world.github.on(&format!("/repos/o/n/actions/runs/{id}"), [Reply::never()]);
    }
    for ids in [1..=1, 1..=6] {
        let args: Vec<String> = ids.clone().map(|id| format!("--run-id={id}")).collect();
        let before = world.github.asked().len();
        let running = world.start(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let at_once = ids.count().min(4);
        eventually("gh hangs", || world.github.asked().len() == before + at_once);
        running.signal(Signal::SIGTERM);
        let ended = running.end();
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
        eventually("no gh is left", || ghs_of(&world.scene.path()) == 0);
        assert_eq!(world.github.asked().len(), before + at_once);
    }
}

#[test]
fn xx_07_no_gh_outlives_a_kill() {
    let world = World::new();
    for id in 1..=2 {
        world.github.on(&format!("/repos/o/n/actions/runs/{id}"), [Reply::never()]);
    }
    let running = world.start(&["--run-id=1", "--run-id=2"]);
    eventually("both hang", || world.github.asked().len() == 2);
    let _ = running.kill();
    eventually("no gh is left", || ghs_of(&world.scene.path()) == 0);
}

#[test]
fn a_gh_that_hangs_delays_no_deadline() {
    let world = World::new();
    world.github.on(RUN, [Reply::never()]);
    let ended = world.end(&["--run-id=123", "--deadline", "0.3", "--exit-code"]);
    assert_eq!((ended.code, ended.lines.len()), (Some(12), 1), "{}", ended.stderr);
    assert_eq!(ended.lines[0]["status"], "timeout");
}

#[test]
fn a_reader_that_leaves_ends_it_though_gh_hangs() {
    let world = World::new();
    world.github.on(RUN, [Reply::never()]);
    let mut program = world.program(&["--run-id=123"]);
    let mut child = program.stdout(std::process::Stdio::piped()).spawn().unwrap();
    eventually("gh hangs", || !world.github.asked().is_empty());
    drop(child.stdout.take());
    let mut status = None;
    eventually("it ends", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().code(), Some(0));
    eventually("no gh is left", || ghs_of(&world.scene.path()) == 0);
}

#[test]
fn the_token_is_shown_to_nobody() {
    let world = World::new();
    let echoed = format!("Bad thing: Authorization: token {TOKEN}");
    world.github.on(RUN, [message(500, &echoed)]);
    let ended = world.end(&["--run-id=123", "--once"]);
    assert_eq!(ended.code, Some(4));
    let all = format!("{:?}{}", ended.lines, ended.stderr);
    assert!(!all.contains(TOKEN) && all.contains("[redacted]"), "{all}");
}

#[test]
fn no_call_comes_before_its_time() {
    let world = World::new();
    world
        .github
        .on_pulls(|number| Some(pull(number, &"a".repeat(40), &[check("test", "QUEUED", "")])));
    let mut program = world.program(&["--pr=42"]);
    let mut running = Running::start(program.args(["--poll-interval", "300"]));
    running.event("ci_status");
    pause(Duration::from_millis(300));
    assert_eq!(world.github.asked().len(), 1);
    assert_eq!(running.stop().code, Some(0));
}

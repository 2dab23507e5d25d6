//! What is counted, and when it is told.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tests::{Running, eventually};

use crate::world::{Once, World};

fn counts(event: &Value) -> (u64, &str) {
    assert_eq!(event["event"], "branch_divergence", "{event}");
    (event["commits_behind"].as_u64().unwrap(), event["severity"].as_str().unwrap())
}

#[test]
fn d01_a_base_that_moves_on_is_told_from_the_threshold_on() {
    let world = World::new();
    let mut program = world.start(&["--threshold", "2", "--interval", "1"]);
    world.advance(1);
    eventually("the first commit is fetched", || world.fetched() == world.tip());
    world.advance(1);
    assert_eq!(counts(&program.line()), (2, "warning"));
    world.advance(4);
    assert_eq!(counts(&program.line()), (6, "critical"));
    let ended = program.stop();
    assert_eq!((ended.code, ended.lines.len(), &*ended.stderr), (Some(0), 0, ""));
}

#[test]
fn d01_the_line_has_every_key_in_its_order() {
    let world = World::new();
    world.git("checkout", &["commit", "-q", "--allow-empty", "-m", "mine"]);
    let merge_base = world.git("up", &["rev-parse", "--short", "HEAD"]);
    world.advance(6);
    let mut program = world.start(&["--source", "me"]);
    let raw = program.raw();
    let event: Value = serde_json::from_str(&raw).unwrap();
    let want = format!(
        concat!(
            r#"{{"event":"branch_divergence","timestamp":{},"source":"me","base_branch":"main","#,
            r#""commits_behind":6,"last_base_commit":"{}","severity":"warning","commits_ahead":1,"#,
            r#""remote":"origin","head":"{}","head_branch":"feature","merge_base":"{}","#,
            r#""key":"divergence:origin/main","condition":"raised","id":{}}}"#
        ),
        event["timestamp"],
        world.git("up", &["rev-parse", "--short", "HEAD"]),
        world.git("checkout", &["rev-parse", "--short", "HEAD"]),
        merge_base,
        event["id"],
    );
    assert_eq!(raw.trim_end(), want);
}

#[test]
fn d02_cleared_says_what_was_told_before() {
    let world = World::new();
    world.advance(7);
    let mut program = world.start(&["--interval", "300"]);
    assert_eq!(counts(&program.line()), (7, "warning"));
    world.git("checkout", &["fetch", "-q"]);
    world.git("checkout", &["merge", "-q", "--ff-only", "origin/main~4"]);
    let cleared = program.event("branch_divergence_cleared");
    assert_eq!((&cleared["commits_behind"], &cleared["previous"]), (&json!(4), &json!(7)));
    assert_eq!(
        (&cleared["key"], &cleared["condition"]),
        (&json!("divergence:origin/main"), &json!("cleared"))
    );
    let keys: Vec<&str> = cleared.as_object().unwrap().keys().map(String::as_str).collect();
    for key in ["base_branch", "commits_ahead", "remote", "head", "head_branch", "id"] {
        assert!(keys.contains(&key), "{key} in {cleared}");
    }
}

#[test]
fn d03_a_merge_in_the_checkout_clears_without_the_remote() {
    let world = World::new();
    world.advance(6);
    let path = world.counting_path();
    let mut program =
        Running::start(world.on("checkout", &["--interval", "300"]).env("PATH", path));
    program.event("branch_divergence");
    let before = world.calls().len();
    world.git("checkout", &["fetch", "-q"]);
    world.git("checkout", &["merge", "-q", "--ff-only", "origin/main"]);
    program.event("branch_divergence_cleared");
    let calls = world.calls();
    let far = |call: &&String| call.contains("ls-remote") || call.contains("fetch");
    assert_eq!(calls[before..].iter().filter(far).count(), 0, "{calls:?}");
}

#[test]
fn d04_a_rewritten_base_and_another_branch_are_told_at_the_same_count() {
    let world = World::new();
    world.advance(6);
    let mut program = world.start(&["--interval", "1"]);
    assert_eq!(program.line()["base_rewritten"], Value::Null);
    world.git("up", &["reset", "-q", "--hard", "HEAD~1"]);
    world.git("up", &["commit", "-q", "--allow-empty", "-m", "another"]);
    world.advance(0);
    let rewritten = program.event("branch_divergence");
    assert_eq!(
        (&rewritten["commits_behind"], &rewritten["base_rewritten"]),
        (&json!(6), &json!(true))
    );

    world.git("checkout", &["checkout", "-q", "-b", "other"]);
    let other = program.event("branch_divergence");
    assert_eq!((&other["head_branch"], &other["commits_behind"]), (&json!("other"), &json!(6)));
    assert_eq!(other["base_rewritten"], Value::Null);
    world.git("checkout", &["checkout", "-q", "--detach"]);
    assert_eq!(program.event("branch_divergence")["head_branch"], "");
}

#[test]
fn d05_a_quiet_cycle_is_two_calls_and_no_fetch() {
    let world = World::new();
    world.advance(6);
    let path = world.counting_path();
    let mut program = Running::start(world.on("checkout", &["--interval", "1"]).env("PATH", path));
    program.event("branch_divergence");
    let before = world.calls().len();
    let asked = |calls: &[String]| calls.iter().filter(|call| call.contains("ls-remote")).count();
    eventually("ten cycles", || asked(&world.calls()[before..]) > 10);
    let calls = world.calls();
    let mut quiet = calls[before..].to_vec();
    quiet.truncate(20);
    assert_eq!(asked(&quiet), 10, "{quiet:?}");
    assert_eq!(quiet.iter().filter(|call| call.contains("rev-parse")).count(), 10, "{quiet:?}");
    assert_eq!(program.stop().lines.len(), 0);
}

/// Every file of the git folder, with content and time of change, but objects and refs of ours.
fn files(dir: &Path, found: &mut Vec<String>) {
    use std::os::unix::fs::MetadataExt as _;
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let (path, meta) = (entry.path(), entry.metadata().unwrap());
        if path.ends_with("objects") || path.ends_with("refs/doorbell") {
            continue;
        }
        if meta.is_dir() {
            files(&path, found);
        } else {
            let content = fs::read(&path).unwrap();
            let content = String::from_utf8_lossy(&content).into_owned();
            found.push(format!(
                "{} {}.{} {content}",
                path.display(),
                meta.mtime(),
                meta.mtime_nsec()
            ));
        }
    }
    found.sort();
}

#[test]
fn d06_all_that_is_the_users_stays_as_it_is() {
    for settings in [
        &[][..],
        &[
            ("fetch.prune", "true"),
            ("fetch.pruneTags", "true"),
            ("fetch.recurseSubmodules", "true"),
            ("fetch.writeCommitGraph", "false"),
            ("remote.origin.fetch", "+refs/tags/*:refs/tags/*"),
            ("remote.origin.tagOpt", "--tags"),
            ("core.logAllRefUpdates", "always"),
        ],
    ] {
        let world = World::new();
        world.git("up", &["push", "-q", "origin", "main:doomed"]);
        world.git("checkout", &["fetch", "-q"]);
        world.git("checkout", &["branch", "-q", "topic"]);
        for (name, value) in settings {
            world.git("checkout", &["config", "--add", name, value]);
        }
        let hook = world.script("checkout/.git/hooks/reference-transaction", "cat >>\"$0.log\"");
        world.git("up", &["push", "-q", "origin", ":doomed"]);
        world.git("up", &["tag", "v1"]);
        world.git("up", &["push", "-q", "origin", "v1"]);
        let state = |found: &mut Vec<String>| files(&world.path("checkout/.git"), found);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        state(&mut before);

        let mut program = world.start(&["--threshold", "2", "--interval", "1"]);
        world.advance(2);
        assert_eq!(counts(&program.line()), (2, "warning"));
        world.advance(4);
        assert_eq!(counts(&program.line()), (6, "critical"));
        assert_eq!(program.stop().code, Some(0));

        state(&mut after);
        assert_eq!(before, after);
        assert!(!hook.with_extension("log").exists());
        assert_eq!(world.fetched(), world.tip());
    }
}

#[test]
fn d08_a_clone_of_one_other_branch_has_the_right_counts() {
    let world = World::new();
    world.git("up", &["push", "-q", "origin", "main:side"]);
    world.advance(6);
    let side = ["clone", "-q", "--single-branch", "-b", "side", "remote.git", "single"];
    world.git(".", &side);
    let once = world.once("single", &[]);
    assert_eq!(counts(once.event()), (6, "warning"));
    assert_eq!(once.event()["head_branch"], "side");
}

#[test]
fn d08_only_the_branch_of_exactly_this_name_counts() {
    let world = World::new();
    world.git("up", &["push", "-q", "origin", "main:refs/heads/x/refs/heads/main"]);
    world.advance(6);
    let once = world.once("checkout", &[]);
    let tip = world.git("up", &["rev-parse", "--short", "HEAD"]);
    assert_eq!(once.event()["last_base_commit"], *tip);

    world.git("up", &["push", "-q", "origin", "main:kept", ":main"]);
    assert_eq!(world.once("checkout", &[]).degraded().0, "base_missing");
}

#[test]
fn d09_a_shallow_clone_is_told_as_approximate_and_never_critical() {
    let world = World::new();
    world.advance(3);
    let url = format!("file://{}", world.path("remote.git").display());
    world.git(".", &["clone", "-q", "--depth", "1", &url, "shallow"]);
    world.advance(3);
    let once = world.once("shallow", &["--threshold", "1"]);
    assert_eq!(counts(once.event()), (3, "warning"));
    assert_eq!(once.event()["approximate"], true);
}

#[test]
fn d09_unrelated_histories_have_no_merge_base() {
    let world = World::new();
    world.advance(3);
    world.git("checkout", &["checkout", "-q", "--orphan", "island"]);
    world.git("checkout", &["commit", "-q", "--allow-empty", "-m", "first"]);
    let once = world.once("checkout", &["--threshold", "1"]);
    assert_eq!(counts(once.event()), (4, "warning"));
    assert_eq!(once.event()["approximate"], true);
    assert!(once.event().as_object().unwrap().contains_key("merge_base"));
    assert_eq!(once.event()["merge_base"], Value::Null);
}

#[test]
fn conflicts_are_tried_out_and_nothing_of_it_stays() {
    let world = World::new();
    let write = |dir: &str, text: &str| {
        world.scene.write(&format!("{dir}/file"), text);
        world.git(dir, &["add", "file"]);
        world.git(dir, &["commit", "-q", "-m", text]);
    };
    write("checkout", "mine");
    world.advance(1);
    let temporary = world.scene.dir("tmp");
    let look = |args: &[&str]| {
        let args = [&["--threshold", "1"], args].concat();
        let once = Once::of(world.on("checkout", &args).arg("--once").env("TMPDIR", &temporary));
        once.event().clone()
    };
    assert_eq!(look(&["--conflicts"])["conflicts"], false);
    write("up", "theirs");
    world.advance(0);
    assert!(!look(&[]).as_object().unwrap().contains_key("conflicts"));
    let objects = || world.git("checkout", &["count-objects", "-v"]);
    let before = objects();
    assert_eq!(look(&["--conflicts"])["conflicts"], true);
    assert_eq!(before, objects());
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn auto_is_the_remotes_head_or_the_first_usual_name() {
    let world = World::new();
    world.git("up", &["push", "-q", "origin", "main:trunk", "main:develop"]);
    world.advance(5);
    assert_eq!(world.once("checkout", &["--base", "auto"]).event()["base_branch"], "main");

    world.git("up", &["push", "-q", "origin", "main:next"]);
    world.git("remote.git", &["symbolic-ref", "HEAD", "refs/heads/next"]);
    let once = world.once("checkout", &["--base", "auto"]);
    assert_eq!(once.event()["base_branch"], "next");
    assert_eq!(once.event()["key"], "divergence:origin/next");

    world.git("up", &["push", "-q", "origin", ":main", "+main:develop"]);
    world.git("remote.git", &["symbolic-ref", "HEAD", "refs/heads/gone"]);
    assert_eq!(world.once("checkout", &["--base", "auto"]).event()["base_branch"], "develop");
}

//! Where a checkout may lie, and what it may be.

use serde_json::{Value, json};
use tests::{Running, command, eventually};

use crate::world::{EXE, Once, World, which};

fn behind(once: &Once) -> &Value {
    &once.event()["commits_behind"]
}

#[test]
fn d07_what_is_no_branch_is_refused_before_git_runs() {
    let world = World::new();
    let path = world.counting_path();
    let before = world.scene.tree();
    for base in ["--upload-pack=touch x", "main:refs/heads/evil", "", "a b", "-x", "HEAD@{1}"] {
        for args in [vec!["--base", base], vec![&*format!("--base={base}")]] {
            let mut program = world.on("checkout", &args);
            let once = Once::of(program.arg("--once").env("PATH", &path));
            assert_eq!((once.code, once.lines.len()), (Some(1), 0), "{base}: {once:?}");
            assert!(once.stderr.starts_with("branch-divergence: fatal: "), "{once:?}");
        }
    }
    assert_eq!(world.calls(), [""; 0]);
    assert_eq!(before, world.scene.tree());
}

#[test]
fn d07_a_remote_is_a_configured_one_and_never_a_url() {
    let world = World::new();
    let before = world.git("checkout", &["for-each-ref"]);
    let url = world.path("remote.git");
    for remote in ["ext::sh", "orig", url.to_str().unwrap()] {
        let once = world.once("checkout", &["--remote", remote]);
        assert_eq!(once.code, Some(3), "{once:?}");
        assert_eq!(once.lines[0]["event"], "monitor_failed");
        assert_eq!(once.lines[0]["exit_code"], 3);
        assert!(once.stderr.contains(remote) && once.stderr.contains("origin"), "{once:?}");
    }
    assert_eq!(before, world.git("checkout", &["for-each-ref"]));
}

#[test]
fn d08_the_only_remote_is_taken_with_a_warning() {
    let world = World::new();
    world.advance(6);
    world.git("checkout", &["remote", "rename", "origin", "hub"]);
    let once = world.once("checkout", &[]);
    assert_eq!((behind(&once), &once.event()["remote"]), (&json!(6), &json!("hub")));
    assert_eq!(once.event()["key"], "divergence:hub/main");
    assert_eq!(once.stderr.lines().count(), 1);
    assert!(once.stderr.starts_with("branch-divergence: warning: ") && once.stderr.contains("hub"));

    world.git("checkout", &["remote", "add", "other", "/nowhere"]);
    let once = world.once("checkout", &[]);
    assert_eq!(once.code, Some(3));
    assert!(once.stderr.contains("hub, other"), "{}", once.stderr);
    world.git("checkout", &["remote", "remove", "hub"]);
    world.git("checkout", &["remote", "remove", "other"]);
    assert_eq!(world.once("checkout", &[]).code, Some(3));
}

#[test]
fn d13_a_linked_work_tree_is_watched_where_its_own_head_is() {
    let world = World::new();
    world.git("checkout", &["worktree", "add", "-q", "-b", "linked", "../linked"]);
    world.advance(6);
    let mut program = Running::start(&mut world.on("linked", &["--interval", "300"]));
    let event = program.event("branch_divergence");
    assert_eq!((&event["commits_behind"], &event["head_branch"]), (&json!(6), &json!("linked")));
    world.git("linked", &["fetch", "-q"]);
    world.git("linked", &["merge", "-q", "--ff-only", "origin/main"]);
    program.event("branch_divergence_cleared");
}

#[test]
fn d13_a_submodule_a_bare_repository_and_a_detached_head_have_the_right_counts() {
    let world = World::new();
    let allowed = ["-c", "protocol.file.allow=always"];
    world.git(".", &["init", "-q", "super"]);
    let add = ["submodule", "--quiet", "add", "../remote.git", "part"];
    let url = ["remote", "add", "origin", "../super"];
    world.git("super", &url);
    world.git("super", &[&allowed[..], &add].concat());
    world.git(".", &["clone", "-q", "--bare", "remote.git", "bare.git"]);
    world.git("checkout", &["checkout", "-q", "--detach"]);
    world.advance(6);
    assert_eq!(behind(&world.once("super/part", &[])), 6);
    let bare = world.once("bare.git", &[]);
    assert_eq!((behind(&bare), &bare.event()["head_branch"]), (&json!(6), &json!("main")));
    let detached = world.once("checkout", &[]);
    assert_eq!((behind(&detached), &detached.event()["head_branch"]), (&json!(6), &json!("")));
}

#[test]
fn d13_the_environment_names_no_other_repository() {
    let world = World::new();
    world.advance(6);
    let other = world.path("up/.git");
    let mut program = world.on("checkout", &["--once"]);
    for name in ["GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE"] {
        program.env(name, &other);
    }
    program.env("GIT_WORK_TREE", world.path("up")).env("GIT_NAMESPACE", "x");
    program.env("GIT_PREFIX", "x/");
    let once = Once::of(&mut program);
    assert_eq!((behind(&once), &once.event()["head_branch"]), (&json!(6), &json!("feature")));
    assert_eq!(world.git("up", &["for-each-ref", "refs/doorbell"]), "");
}

#[test]
fn the_current_folder_is_the_default_and_any_folder_of_a_work_tree_will_do() {
    let world = World::new();
    world.advance(6);
    let deep = world.scene.dir("checkout/a/b");
    let from = |dir: &std::path::Path| {
        let mut program = command(EXE);
        Once::of(world.at_home(&mut program).arg("--once").current_dir(dir))
    };
    let (top, deep) = (from(&world.path("checkout")), from(&deep));
    assert_eq!((behind(&top), &top.event()["id"]), (behind(&deep), &deep.event()["id"]));
}

#[test]
fn d14_what_is_no_repository_ends_with_2() {
    let world = World::new();
    let empty = world.scene.dir("empty");
    for (dir, word) in [("empty", "not a git repository"), ("nowhere", "no such folder")] {
        let mut program = world.on(dir, &["--once"]);
        let once = Once::of(program.env("GIT_CEILING_DIRECTORIES", empty.parent().unwrap()));
        assert_eq!((once.code, once.lines.len()), (Some(2), 1), "{once:?}");
        assert_eq!(once.lines[0]["event"], "monitor_failed");
        assert_eq!(once.lines[0]["reason"], "repository_missing");
        assert!(once.stderr.contains(word) && once.stderr.contains(dir), "{once:?}");
    }
    let inside = world.once("checkout/.git", &[]);
    assert_eq!(inside.code, Some(2), "{inside:?}");
}

#[test]
fn d14_a_repository_of_another_user_ends_with_2_and_says_why() {
    let world = World::new();
    let mut program = world.on("checkout", &["--once"]);
    let once = Once::of(program.env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1"));
    assert_eq!((once.code, &once.lines[0]["reason"]), (Some(2), &json!("dubious_ownership")));
    for word in ["dubious ownership", "user 0", "safe.directory"] {
        assert!(once.stderr.contains(word), "{word} in {}", once.stderr);
    }
    let config = world.path(".gitconfig");
    assert!(!config.exists(), "the setting is the user's");
}

#[test]
fn d14_an_unborn_head_is_told_and_its_first_commit_ends_it() {
    let world = World::new();
    world.advance(5);
    world.git(".", &["init", "-q", "-b", "main", "young"]);
    world.git("young", &["remote", "add", "origin", "../remote.git"]);
    let mut program = Running::start(&mut world.on("young", &[]));
    let unborn = program.event("monitor_degraded");
    assert_eq!(
        (&unborn["reason"], &unborn["retry_in_seconds"]),
        (&json!("head_unborn"), &json!(300))
    );
    world.git("young", &["commit", "-q", "--allow-empty", "-m", "first"]);
    assert_eq!(program.event("monitor_recovered")["reason"], "head_unborn");
    assert_eq!(program.event("branch_divergence")["merge_base"], Value::Null);
}

#[test]
fn a_repository_that_goes_and_comes_back_is_told() {
    let world = World::new();
    world.advance(5);
    let mut program = world.start(&[]);
    program.event("branch_divergence");
    let rename = |from: &str, to: &str| std::fs::rename(world.path(from), world.path(to)).unwrap();
    rename("checkout/.git", "aside");
    let gone = program.event("monitor_degraded");
    assert_eq!(gone["reason"], "repository_gone");
    rename("aside", "checkout/.git");
    assert_eq!(program.event("monitor_recovered")["reason"], "repository_gone");
    assert_eq!(program.stop().lines.len(), 0);
}

#[test]
fn a_repository_that_is_cloned_anew_is_counted_at_once() {
    let world = World::new();
    world.advance(5);
    let mut program = world.start(&[]);
    program.event("branch_divergence");
    std::fs::remove_dir_all(world.path("checkout")).unwrap();
    assert_eq!(program.event("monitor_degraded")["reason"], "repository_gone");
    world.git("up", &["push", "-q", "origin", "main~5:refs/heads/side"]);
    let single = ["clone", "-q", "-b", "side", "--single-branch", "remote.git", "checkout"];
    world.git(".", &single);
    assert_eq!(program.event("monitor_recovered")["reason"], "repository_gone");
    let event = program.event("branch_divergence");
    assert_eq!((&event["commits_behind"], &event["head_branch"]), (&json!(5), &json!("side")));
}

#[test]
fn every_git_on_this_machine_will_do() {
    for dir in ["/usr/bin", "/usr/local/bin"] {
        if !std::path::Path::new(dir).join("git").exists() {
            continue;
        }
        let world = World::new();
        world.advance(6);
        let path = format!("{dir}:{}", std::env::var("PATH").unwrap());
        let mut program = world.on("checkout", &["--conflicts"]);
        let mut program = Running::start(program.env("PATH", path));
        let event = program.event("branch_divergence");
        assert_eq!((&event["commits_behind"], &event["conflicts"]), (&json!(6), &json!(false)));
        world.git("checkout", &["fetch", "-q"]);
        world.git("checkout", &["rebase", "-q", "origin/main"]);
        program.event("branch_divergence_cleared");
        eventually("it is the tip of the remote", || world.fetched() == world.tip());
    }
}

#[test]
fn without_git_or_with_an_old_one_it_ends_with_2() {
    let world = World::new();
    let _ = world.scene.dir("none");
    let _ = world.scene.dir("old");
    world.script("old/git", "echo git version 2.28.1");
    for (dir, reason) in [("none", "git_missing"), ("old", "git_too_old")] {
        let once = Once::of(world.on("checkout", &["--once"]).env("PATH", world.path(dir)));
        assert_eq!((once.code, &once.lines[0]["reason"]), (Some(2), &json!(reason)), "{once:?}");
    }
    assert!(which("git").is_absolute());
}

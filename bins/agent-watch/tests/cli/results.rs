use std::os::unix::{fs::symlink, process::CommandExt as _};

use crate::*;

#[test]
fn a_result_that_lies_elsewhere_is_found_by_the_sweep() {
    let scene = Scene::new();
    let _ = scene.dir("elsewhere");
    symlink(scene.join("elsewhere/r"), scene.join("link.md")).unwrap();
    let mut watch = Running::ready(&scene, watch(&scene).arg("--poll-interval=0.2"));
    scene.append("items", line(&scene, "link", ""));
    next(&mut watch, "item_degraded");
    scene.write("elsewhere/r", "done");
    let ready = next(&mut watch, "result_ready");
    assert_eq!(ready["result_path"], scene.join("link.md").display().to_string());
}

/// inotify stays silent once a folder is another one.
#[test]
fn a_folder_that_is_made_again_is_watched_again() {
    let scene = Scene::new();
    let _ = scene.dir("d");
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    for round in 0..5 {
        let name = format!("r{round}");
        let item = line(&scene, &format!("d/{name}"), "").replace("agent\":\"d/", "agent\":\"");
        scene.append("items", item);
        next(&mut watch, "item_degraded");
        fs::remove_dir_all(scene.join("d")).unwrap();
        let _ = scene.dir("d");
        scene.replace(&format!("d/{name}.md"), "done");
        let mut ready = next(&mut watch, "result_ready");
        while ready["agent"] != *name {
            ready = next(&mut watch, "result_ready");
        }
    }
}

#[test]
fn two_items_with_one_path_are_both_told() {
    let scene = Scene::new();
    let mut watch = Running::ready(&scene, watch(&scene).arg("--settle=1h"));
    scene.append("items", line(&scene, "executor", ""));
    scene
        .append("items", line(&scene, "executor", "").replace("agent\":\"executor", "agent\":\"b"));
    let first = next(&mut watch, "item_registered");
    assert!(first.get("shares_result_with").is_none(), "{first}");
    let second = next(&mut watch, "item_registered");
    assert_eq!(second["shares_result_with"], serde_json::json!(["executor/5"]));
    scene.replace("executor.md", "done");
    for agent in ["b", "executor"] {
        let ready = next(&mut watch, "result_ready");
        assert_eq!((&ready["agent"], &ready["settled"]), (&agent.into(), &"rename".into()));
    }
}

#[test]
fn later_versions_are_told_when_they_are_wanted() {
    let scene = Scene::new();
    let mut watch = Running::ready(&scene, watch(&scene).args(["--rewrites", "--settle=1h"]));
    scene.append("items", line(&scene, "a", ""));
    next(&mut watch, "item_registered");
    for (rewrite, text) in ["one", "two more", "three"].iter().enumerate() {
        scene.replace("a.md", text);
        let ready = next(&mut watch, "result_ready");
        let (size, settled) = (text.len().into(), "rename".into());
        let told = (&ready["rewrite"], &ready["size"], &ready["settled"]);
        assert_eq!(told, (&rewrite.into(), &size, &settled));
    }
}

#[test]
fn the_rule_of_the_seed_waits_for_nothing() {
    let scene = Scene::new();
    let mut watch = watch(&scene);
    let mut watch = Running::ready(&scene, watch.args(["--no-settle", "--settle-open=1h"]));
    scene.append("items", line(&scene, "a", ""));
    next(&mut watch, "item_registered");
    let mut file = fs::File::create(scene.join("a.md")).unwrap();
    std::io::Write::write_all(&mut file, b"part").unwrap();
    assert_eq!(next(&mut watch, "result_ready")["size"], 4);
}

/// As a user who may not enter the folder.
#[test]
fn a_result_that_may_not_be_looked_at_is_told_and_restored() {
    let scene = Scene::new();
    let _ = scene.dir("d");
    let rights = |mode| {
        let rights = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(scene.join("d"), rights).unwrap();
    };
    rights(0o700);
    let item = line(&scene, "d/x", "").replace("agent\":\"d/", "agent\":\"");
    scene.append("items", item);
    let mut watch = command(scene.copy_of(EXE));
    watch.arg("--items").arg(scene.join("items")).args(["--no-announce", "--poll-interval=0.2"]);
    let mut watch = Running::start(watch.args(["--settle=0.1"]).uid(65_534).gid(65_534));
    assert_eq!(next(&mut watch, "item_degraded")["reason"], "unreadable");
    rights(0o755);
    let restored = next(&mut watch, "item_restored");
    assert_eq!((&restored["reason"], &restored["by"]), (&"unreadable".into(), &"evidence".into()));
    scene.replace("d/x.md", "done");
    next(&mut watch, "result_ready");
}

#[test]
fn long_paths_are_cut_to_a_line() {
    let scene = Scene::new();
    let long = format!("/{}", "a/".repeat(2000));
    let text = format!("{{\"agent\":\"a\",\"step\":\"1\",\"result_path\":\"{long}\"}}\n");
    scene.append("items", text);
    let mut watch = Running::start(&mut watch(&scene));
    let raw = watch.raw();
    assert!(raw.len() <= 4096 && raw.contains("\"truncated\":true"), "{}", raw.len());
}

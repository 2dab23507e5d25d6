//! What a watch remembers.

use std::{
    fs,
    io::Write as _,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    process::{Child, Stdio},
};

use serde_json::{Value, json};
use tests::{Running, Scene, command, eventually};

use super::support::{EXE, feed, history, keys, look, say, state, wake, words};

/// The name of a file of a watch, whose folder is made.
fn folder_and(scene: &Scene, watch: &str, file: &str) -> String {
    let name = format!("store/wake/{watch}");
    assert!(scene.dir(&name).is_dir());
    format!("{name}/{file}")
}

fn written(scene: &Scene, watch: &str, state: &Value) -> String {
    let text = state.to_string();
    scene.write(&folder_and(scene, watch, "state.json"), &text);
    text
}

fn mode(scene: &Scene, name: &str) -> u32 {
    fs::metadata(scene.join(name)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn w24_a_state_of_another_version_is_left_as_it_is() {
    let scene = Scene::new();
    let text = written(&scene, "w", &json!({"version": 2, "subjects": 7}));
    let ended = feed(&scene, &["--watch=w"], &[keys("s", &["k"])]);
    assert_eq!((ended.code, ended.lines.len()), (Some(4), 1));
    let failed = (&ended.lines[0]["event"], &ended.lines[0]["reason"]);
    assert_eq!(failed, (&"monitor_failed".into(), &"unsupported_state_version".into()));
    assert_eq!(fs::read_to_string(scene.join("store/wake/w/state.json")).unwrap(), text);
    assert!(!scene.join("store/wake/w/state.bad").exists());
}

#[test]
fn w25_a_recorded_end_is_not_judged_again() {
    let scene = Scene::new();
    let done = look("s", &json!({"status": "success", "reason": "done"}));
    let told = feed(&scene, &["--watch=w"], std::slice::from_ref(&done)).lines;
    assert_eq!(
        (&told[0]["decision"], &told[0]["ends"]),
        (&"stop_success".into(), &"subject".into())
    );
    assert!(feed(&scene, &["--watch=w"], std::slice::from_ref(&done)).lines.is_empty());
    assert_eq!(feed(&scene, &["--watch=w", "--rearm"], &[done]).lines.len(), 1);

    let lines = [keys("a", &["k"]), keys("b", &["k"])];
    let told = feed(&scene, &["--watch=v", "--max-wakes=1"], &lines).lines;
    assert_eq!(words(&told, "decision"), ["wake_actionable", "stop_budget"]);
    assert_eq!(told[1]["ends"], "watch");
    // Its input stays open, and is not read.
    let mut again = Running::start(&mut wake(&scene, &["--watch=v", "--max-wakes=1"]));
    let _stdin = again.stdin().unwrap();
    assert_eq!(again.line(), told[1]);
    let ended = again.end();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 0));
    let told = feed(&scene, &["--watch=v", "--max-wakes=1", "--rearm"], &[keys("c", &["k"])]).lines;
    assert_eq!(words(&told, "decision"), ["wake_actionable"]);
}

/// Starts the program with a stdout that takes nothing more, and returns once its line is in
/// the state and waits to leave.
fn stuck(scene: &Scene, args: &[&str], lines: &[String]) -> (Child, std::io::PipeReader) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&vec![b'x'; 64 << 10]).unwrap();
    let mut child = wake(scene, args).stdout(writer).spawn().unwrap();
    say(&mut child.stdin.take().unwrap(), lines);
    eventually("the line waits to leave", || !state(scene, "w")["emitting"].is_null());
    (child, reader)
}

/// After a kill at the worst moment the same line comes, whatever else does.
fn resent(scene: &Scene, args: &[&str], lines: &[String]) -> Value {
    let (mut child, _reader) = stuck(scene, args, lines);
    child.kill().unwrap();
    child.wait().unwrap();
    let emitting = state(scene, "w")["emitting"].clone();
    let mut again = Running::start(&mut wake(scene, args));
    let _stdin = again.stdin().unwrap();
    assert_eq!(again.raw().trim_end(), emitting["line"]);
    eventually("the line is done with", || state(scene, "w")["emitting"].is_null());
    let ended = again.stop();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 0));
    emitting
}

#[test]
fn w31_a_floor_survives_a_kill() {
    let scene = Scene::new();
    let quiet = vec![look("s", &json!({"status": "pending"})); 3];
    let emitting = resent(&scene, &["--watch=w", "--floor=3"], &quiet);
    let line: Value = serde_json::from_str(emitting["line"].as_str().unwrap()).unwrap();
    assert_eq!((&line["reason"], &line["claim"]), (&"floor".into(), &emitting["claim"]));
}

#[test]
fn x16_a_line_that_was_saved_and_not_flushed_is_sent_again_and_then_stamped() {
    let scene = Scene::new();
    let told = |scene: &Scene| {
        let state = state(scene, "w");
        state["subjects"]["r|probe-watch|basin|s"]["keys"]["=k"]["told_ms"].clone()
    };
    resent(&scene, &["--watch=w"], &[keys("s", &["k"])]);
    assert!(told(&scene).is_u64());
    assert!(feed(&scene, &["--watch=w"], &[keys("s", &["k"])]).lines.is_empty());
}

#[test]
fn x15_nothing_is_stamped_when_the_reader_is_gone() {
    let scene = Scene::new();
    let (mut child, reader) = stuck(&scene, &["--watch=w"], &[keys("s", &["k"])]);
    drop(reader);
    let mut status = None;
    eventually("it follows its reader", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.unwrap().code(), Some(0));
    let left = state(&scene, "w");
    let key = &left["subjects"]["r|probe-watch|basin|s"]["keys"]["=k"];
    assert!(key.is_object() && !key["told_ms"].is_u64() && left["spent"]["wakes"] == 0, "{left}");
    assert_eq!(feed(&scene, &["--watch=w"], &[]).lines[0]["claim"], left["emitting"]["claim"]);
}

/// The program as a user that can't write its folder.
fn unwritable(scene: &Scene, lines: &[String]) -> tests::Ended {
    let (store, exe) = (scene.dir("store/wake/w"), scene.copy_of(EXE));
    std::os::unix::fs::chown(&store, Some(65_534), Some(65_534)).unwrap();
    fs::set_permissions(&store, fs::Permissions::from_mode(0o500)).unwrap();
    let mut program = command(exe);
    program.arg("--watch=w").env("DOORBELL_STORE", scene.join("store")).stdin(Stdio::piped());
    let mut running = Running::start(program.uid(65_534).gid(65_534));
    let mut stdin = running.stdin().unwrap();
    for line in lines {
        say(&mut stdin, std::slice::from_ref(line));
    }
    drop(stdin);
    running.end()
}

#[test]
fn x5_a_wait_that_cannot_be_remembered_is_none() {
    let scene = Scene::new();
    let entries = json!({"pending": 9, "entries": [{"key": "k"}]});
    let ended = unwritable(&scene, &[look("s", &entries)]);
    assert_eq!(words(&ended.lines, "event"), ["monitor_degraded", "wake"]);
    assert_eq!(words(&ended.lines, "reason"), ["store_unwritable", "store_failed"]);
    assert_eq!((ended.code, &ended.lines[1]["evidence"]), (Some(0), &Value::Null));
}

#[test]
fn x6_without_memory_the_first_blind_look_is_told() {
    let scene = Scene::new();
    let failed = look("s", &json!({"error": {"kind": "transient"}, "facts": {}}));
    let ended = unwritable(&scene, &[failed.clone(), failed]);
    assert_eq!(words(&ended.lines, "reason"), ["store_unwritable", "blind"]);
    assert_eq!(ended.code, Some(0));
}

#[test]
fn x7_what_is_no_state_is_kept_beside_a_fresh_one() {
    let nan = r#"{"version":1,"subjects":{"r|p|k|s":{"keys":{"=k":{"told_ms":NaN}}}}}"#;
    for text in ["not json", "[]", nan, "", "{\"version\":1,\"n\":1e400}"] {
        let scene = Scene::new();
        scene.write(&folder_and(&scene, "w", "state.json"), text);
        let ended = feed(&scene, &["--watch=w"], &[keys("s", &["k"])]);
        assert_eq!((ended.code, ended.lines.len()), (Some(0), 1), "{text}");
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        assert_eq!(fs::read_to_string(scene.join("store/wake/w/state.bad")).unwrap(), text);
        assert_eq!(state(&scene, "w")["version"], 1);
    }
}

/// A state in which `k` of `s` was told just now.
fn told_state(scene: &Scene) -> Value {
    assert_eq!(feed(scene, &["--watch=w"], &[keys("s", &["k", "l"])]).lines.len(), 1);
    state(scene, "w")
}

#[test]
fn x7_a_value_of_a_wrong_type_costs_no_more_than_itself() {
    let scene = Scene::new();
    let mut known = told_state(&scene);
    let record = &mut known["subjects"]["r|probe-watch|basin|s"];
    record["unseen"] = (-3).into();
    record["keys"]["=k"]["told_ms"] = true.into();
    written(&scene, "w", &known);
    let told = feed(&scene, &["--watch=w", "--group-interval=0"], &[keys("s", &["k", "l"])]);
    assert_eq!((told.lines.len(), &*told.stderr), (1, ""));
    assert_eq!(told.lines[0]["entries"].as_array().unwrap().len(), 1);
    assert_eq!(told.lines[0]["entries"][0]["key"], "k");
    assert_eq!(state(&scene, "w")["subjects"]["r|probe-watch|basin|s"]["unseen"], 0);
}

#[test]
fn x9_watches_know_nothing_of_each_other() {
    let scene = Scene::new();
    for watch in ["--watch=a", "--watch=b"] {
        assert_eq!(feed(&scene, &[watch], &[keys("s", &["k"])]).lines.len(), 1);
    }
}

#[test]
fn x10_subjects_that_look_alike_are_two() {
    let scene = Scene::new();
    let lines = [keys("own.er/n#1", &["k"]), keys("own-er/n#1", &["k"])];
    assert_eq!(feed(&scene, &["--watch=w"], &lines).lines.len(), 2);
    assert_eq!(state(&scene, "w")["subjects"].as_object().unwrap().len(), 2);
}

#[test]
fn x11_a_kill_before_the_rename_leaves_the_old_state_whole() {
    let scene = Scene::new();
    told_state(&scene);
    let before = fs::read(scene.join("store/wake/w/state.json")).unwrap();
    let mut strace = command("strace");
    strace.args(["-f", "-o", "/dev/null", "-e", "trace=rename,renameat,renameat2"]);
    strace.args(["-e", "inject=rename,renameat,renameat2:error=EIO:signal=KILL", EXE, "--watch=w"]);
    strace.env("DOORBELL_STORE", scene.join("store")).stdin(Stdio::piped());
    let mut running = Running::start(&mut strace);
    say(&mut running.stdin().unwrap(), &[look("other", &json!({"status": "pending"}))]);
    assert!(running.end().code != Some(0));
    assert_eq!(fs::read(scene.join("store/wake/w/state.json")).unwrap(), before);
    let files = fs::read_dir(scene.join("store/wake/w")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().any(|name| name.starts_with("state.json.tmp.")));

    assert_eq!(feed(&scene, &["--watch=w"], &[keys("s", &["k"])]).code, Some(0));
    assert_eq!(mode(&scene, "store/wake/w"), 0o700);
    for name in ["state.json", "lock", "history.ndjson"] {
        assert_eq!(mode(&scene, &format!("store/wake/w/{name}")), 0o600, "{name}");
    }
}

#[test]
fn x12_foreign_fields_are_kept() {
    let scene = Scene::new();
    let mut known = told_state(&scene);
    known["future"] = json!({"n": [1, "x"]});
    let record = &mut known["subjects"]["r|probe-watch|basin|s"];
    record["future"] = 1.into();
    record["keys"]["=l"]["future"] = 2.into();
    written(&scene, "w", &known);
    assert!(feed(&scene, &["--watch=w"], &[keys("s", &["k", "l"])]).lines.is_empty());
    let after = state(&scene, "w");
    let record = &after["subjects"]["r|probe-watch|basin|s"];
    assert_eq!((&after["future"], &record["future"]), (&json!({"n": [1, "x"]}), &1.into()));
    assert_eq!(record["keys"]["=l"]["future"], 2);
}

#[test]
fn x13_a_key_without_its_scope_is_dropped() {
    let scene = Scene::new();
    let mut known = told_state(&scene);
    let keys_of = |state: &mut Value| state["subjects"]["r|probe-watch|basin|s"]["keys"].take();
    let mut kept = keys_of(&mut known.clone());
    kept["red"] = kept["=k"].clone();
    known["subjects"]["r|probe-watch|basin|s"]["keys"] = kept;
    written(&scene, "w", &known);
    assert!(feed(&scene, &["--watch=w"], &[keys("s", &["k", "l"])]).lines.is_empty());
    let left = keys_of(&mut state(&scene, "w"));
    assert!(left.get("red").is_none() && left.get("=k").is_some(), "{left}");
}

#[test]
fn x14_two_runs_never_share_a_watch() {
    let scene = Scene::new();
    let mut first = Running::ready(&scene, &mut wake(&scene, &["--watch=w"]));
    let mut stdin = first.stdin().unwrap();
    let second = feed(&scene, &["--watch=w"], &[keys("s", &["k"])]);
    assert_eq!((second.code, &second.lines[0]["event"]), (Some(4), &"monitor_failed".into()));
    assert!(second.stderr.contains(&first.pid().to_string()), "{}", second.stderr);
    say(&mut stdin, &[keys("s", &["k"])]);
    first.event("wake");
    drop(stdin);
    assert_eq!(first.end().code, Some(0));
}

#[test]
fn x22_the_history_has_a_line_for_each_change_and_each_line() {
    let scene = Scene::new();
    let pending = |n: u64| look("s", &json!({"status": "pending", "facts": {"n": n}}));
    let ended = json!({"entries": [{"key": "over", "severity": "terminal"}], "facts": {"n": 1}});
    let lines = [pending(1), pending(1), pending(1), pending(1), look("s", &ended)];
    assert_eq!(feed(&scene, &["--watch=w"], &lines).lines.len(), 1);
    let known = history(&scene, "w");
    assert_eq!(words(&known, "what"), ["observed", "observed", "stop"]);
    assert_eq!(words(&known, "decision"), ["record_only", "stop_blocked", "stop_blocked"]);
    assert!(known[2]["claim"].is_string() && known[0]["fingerprint"].is_string());
}

#[test]
fn x21_no_fact_is_in_the_state() {
    let scene = Scene::new();
    let facts = json!({"facts": {"owner": "a-telling-name"}, "entries": [{"key": "k"}]});
    assert_eq!(feed(&scene, &["--watch=w"], &[look("s", &facts)]).lines.len(), 1);
    assert!(!state(&scene, "w").to_string().contains("a-telling-name"));
}

#[test]
fn the_sixteen_newest_files_of_evidence_are_kept() {
    let scene = Scene::new();
    for run in 0..4 {
        let lines: Vec<String> = (0..5).map(|n| keys(&format!("s{run}-{n}"), &["k"])).collect();
        assert_eq!(feed(&scene, &["--watch=w", "--burst=1000"], &lines).lines.len(), 5);
    }
    scene.write("store/wake/w/mine.json", "{}");
    let told = feed(&scene, &["--watch=w"], &[keys("last", &["k"])]).lines;
    let files = fs::read_dir(scene.join("store/wake/w")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let evidence: Vec<String> =
        names.filter(|name| name.len() == 21 && !name.contains("history")).collect();
    assert_eq!(evidence.len(), 16);
    assert!(evidence.contains(&format!("{}.json", told[0]["claim"].as_str().unwrap())));
    assert!(scene.join("store/wake/w/mine.json").exists());
}

#[test]
fn the_status_of_a_watch_is_one_object() {
    let scene = Scene::new();
    told_state(&scene);
    let status = |watch: &str| {
        let mut program = command(EXE);
        program.args(["status", "--watch", watch]).env("DOORBELL_STORE", scene.join("store"));
        program.output().unwrap()
    };
    let out = status("w");
    let value: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((out.status.code(), &value["spent"]["wakes"]), (Some(0), &1.into()));
    let record = &value["subjects"]["r|probe-watch|basin|s"];
    assert_eq!((&record["held"], record["masked"].as_array().unwrap().len()), (&json!([]), 2));
    for name in ["outcome", "guard", "counters", "in_flight"] {
        assert!(value.get(name).is_some(), "{name}");
    }
    let out = status("none");
    assert_eq!((out.status.code(), out.stdout.len()), (Some(3), 0));
}

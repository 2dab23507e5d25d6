//! The program as its users run it: real processes, real files, real signals.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use std::{
    fs,
    os::unix::{fs::MetadataExt as _, process::CommandExt as _},
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::Value;
use tests::{Running, Scene, command, documented, eventually, pause};

const EXE: &str = env!("CARGO_BIN_EXE_agent-watch");

/// A watch on `items` with windows that are over soon.
fn watch(scene: &Scene) -> Command {
    let mut watch = command(EXE);
    watch.arg("--items").arg(scene.join("items")).arg("--no-announce");
    watch.args(["--settle=0.3", "--death-grace=0.1", "--pid-grace=0.2", "--poll-interval=0.3"]);
    watch
}

fn line(scene: &Scene, agent: &str, more: &str) -> String {
    let result = scene.join(format!("{agent}.md"));
    format!(
        "{{\"agent\":\"{agent}\",\"step\":\"5\",\"result_path\":\"{}\"{more}}}\n",
        result.display()
    )
}

/// An agent that lives until it is killed, with a pid file.
fn agent(scene: &Scene, name: &str) -> Child {
    let child = command("sleep").arg("1000").spawn().unwrap();
    scene.replace(&format!("{name}.pid"), child.id().to_string());
    child
}

fn pid_file(scene: &Scene, name: &str) -> String {
    format!(",\"pid_file\":\"{}\"", scene.join(format!("{name}.pid")).display())
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The next line of this event; others are skipped.
fn next(watch: &mut Running, name: &str) -> Value {
    loop {
        let line = watch.line();
        if line["event"] == name {
            return line;
        }
    }
}

#[test]
fn flags_are_documented() {
    documented(<agent_watch::args::Args as clap::CommandFactory>::command());
}

#[test]
fn bad_flags_are_usage_errors() {
    for args in [
        &[][..],
        &["--items", ""],
        &["--items", "-x"],
        &["--items", "f", "--margin", "100"],
        &["--items", "f", "--until", "never"],
        &["--items", "f", "--settle", "0"],
        &["--items", "f", "x"],
    ] {
        let out = command(EXE).args(args).output().unwrap();
        assert_eq!(out.status.code(), Some(1), "{args:?}");
        assert!(String::from_utf8_lossy(&out.stderr).starts_with("agent-watch: fatal: "));
    }
    let scene = Scene::new();
    let out = command(EXE).arg("--items").arg(scene.path()).output().unwrap();
    assert_eq!(out.status.code(), Some(4));
}

#[test]
fn a_result_is_told_once_and_a_death_with_its_status() {
    let scene = Scene::new();
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    let (good, bad) = (agent(&scene, "good"), agent(&scene, "bad"));
    scene.append("items", line(&scene, "good", &pid_file(&scene, "good")));
    scene.append("items", line(&scene, "bad", &pid_file(&scene, "bad")));
    assert_eq!(watch.event("item_registered")["agent"], "good");
    assert_eq!(watch.event("item_registered")["agent"], "bad");
    scene.replace("good.md", "PASS\n");
    let ready = watch.event("result_ready");
    assert_eq!((&ready["settled"], &ready["size"]), (&"rename".into(), &5.into()));
    end(good);
    end(bad);
    let died = watch.event("process_died");
    assert_eq!((&died["result"], &died["reason"]), (&"absent".into(), &"exited".into()));
    if agent_status() {
        assert_eq!(died["exit_signal"], 9);
    }
    let _ = scene.dir("d");
    assert!(watch.stop().lines.is_empty());
}

fn agent_status() -> bool {
    shared::pidfile::has_status()
}

#[test]
fn a_writer_in_place_is_waited_for_and_a_killed_one_is_partial() {
    let scene = Scene::new();
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    scene.append("items", line(&scene, "slow", ""));
    let _ = next(&mut watch, "item_degraded");
    let script = format!(
        "exec >{}; for n in 1 2 3; do echo $n; sleep 0.2; done",
        scene.join("slow.md").display()
    );
    assert!(command("sh").args(["-c", &script]).status().unwrap().success());
    let ready = next(&mut watch, "result_ready");
    assert_eq!((&ready["settled"], &ready["size"]), (&"close".into(), &6.into()));

    let script = format!("exec >{}; echo part; exec sleep 1000", scene.join("torn.md").display());
    let child = command("sh").args(["-c", &script]).spawn().unwrap();
    scene.replace("torn.pid", child.id().to_string());
    scene.append("items", line(&scene, "torn", &pid_file(&scene, "torn")));
    let _ = next(&mut watch, "item_registered");
    eventually("it has written", || scene.join("torn.md").metadata().is_ok_and(|m| m.len() > 0));
    end(child);
    if agent_status() {
        let died = next(&mut watch, "process_died");
        assert_eq!((&died["result"], &died["exit_signal"]), (&"partial".into(), &9.into()));
    }
}

#[test]
fn silence_stalls_and_progress_recovers() {
    let scene = Scene::new();
    let child = agent(&scene, "quiet");
    scene.write("log", "x");
    let more = format!(
        "{},\"idle_stall_sec\":0.3,\"progress_paths\":[\"{}\"]",
        pid_file(&scene, "quiet"),
        scene.join("log").display()
    );
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    scene.append("items", line(&scene, "quiet", &more));
    let stalled = next(&mut watch, "stalled");
    assert_eq!((&stalled["episode"], &stalled["evidence"]), (&1.into(), &"files".into()));
    scene.append("log", "y");
    let recovered = watch.event("recovered");
    assert_eq!((&recovered["by"], &recovered["key"]), (&"progress".into(), &stalled["key"]));
    assert_eq!(watch.event("stalled")["episode"], 2);
    end(child);
    assert_eq!(watch.event("recovered")["by"], "exit");
    watch.event("process_died");
}

#[test]
fn time_runs_out_twice() {
    let scene = Scene::new();
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    scene.append("items", line(&scene, "late", ",\"timeout_sec\":0.6"));
    assert_eq!(next(&mut watch, "timeout_imminent")["timeout_sec"], 0.6);
    let over = watch.event("timeout_exceeded");
    assert_eq!(over["key"], "agent:late/5:timeout");
}

#[test]
fn zombies_are_dead_and_strangers_alive() {
    let scene = Scene::new();
    let mut zombie = agent(&scene, "zombie");
    let other = command("sleep").arg("1000").uid(65_534).spawn().unwrap();
    scene.replace("other.pid", other.id().to_string());
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    for name in ["zombie", "other"] {
        scene.append("items", line(&scene, name, &pid_file(&scene, name)));
    }
    watch.event("item_registered");
    watch.event("item_registered");
    zombie.kill().unwrap();
    assert_eq!(watch.event("process_died")["agent"], "zombie");
    zombie.wait().unwrap();
    end(other);
    assert_eq!(watch.event("process_died")["agent"], "other");
}

#[test]
fn what_is_no_pid_is_told_and_restored() {
    let scene = Scene::new();
    let thread = fs::read_dir(format!("/proc/{}/task", std::process::id())).unwrap();
    let tids = thread.map(|task| task.unwrap().file_name().into_string().unwrap());
    let tid = tids.filter(|tid| *tid != std::process::id().to_string()).last().unwrap();
    let digits = "9".repeat(1 << 20);
    for text in ["", "0", "-1", "abc", "12 34", &digits, &tid] {
        scene.write("a.pid", text);
        let _ = fs::remove_file(scene.join("items"));
        scene.append("items", line(&scene, "a", &pid_file(&scene, "a")));
        let mut watch = Running::start(&mut watch(&scene));
        let degraded = next(&mut watch, "item_degraded");
        assert_eq!(degraded["reason"], "pid_file_invalid", "{text:.20}");
        let child = agent(&scene, "a");
        assert_eq!(watch.event("item_restored")["by"], "evidence");
        end(child);
    }
    let mut young = agent(&scene, "young");
    let touch = command("touch").args(["-d", "-5 sec"]).arg(scene.join("young.pid")).status();
    assert!(touch.unwrap().success());
    scene.append("items", line(&scene, "young", &pid_file(&scene, "young")));
    let mut watch = Running::start(watch(&scene).arg("--poll-only"));
    let mut degraded = next(&mut watch, "item_degraded");
    while degraded["agent"] != "young" {
        degraded = next(&mut watch, "item_degraded");
    }
    assert_eq!(degraded["reason"], "pid_file_stale");
    young.kill().unwrap();
    young.wait().unwrap();
}

type Change<'a> = &'a dyn Fn(&mut Value);

fn record(pid: u32, change: impl Fn(&mut Value)) -> String {
    let (who, _) = shared::process::look(pid).unwrap().unwrap();
    let mut record = serde_json::json!({
        "pid": pid, "start_ticks": who.start_ticks, "boot_id": who.boot_id,
        "pid_ns": who.pid_namespace, "time_ns": shared::process::time_namespace().unwrap(),
    });
    change(&mut record);
    record.to_string()
}

#[test]
fn a_record_knows_its_process() {
    let scene = Scene::new();
    let child = command("sleep").arg("1000").spawn().unwrap();
    let cases: [(&str, Change<'_>, &str, &str); 3] = [
        ("boot", &|record| record["boot_id"] = "x".into(), "process_died", "rebooted"),
        ("start", &|record| record["start_ticks"] = 1.into(), "process_died", "pid_reused"),
        ("space", &|record| record["pid_ns"] = 1.into(), "item_degraded", "pid_namespace"),
    ];
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    for (name, change, event, reason) in cases {
        scene.replace(&format!("{name}.pid"), record(child.id(), change));
        scene.append("items", line(&scene, name, &pid_file(&scene, name)));
        assert_eq!(next(&mut watch, event)["reason"], reason);
    }
    end(child);
}

/// In a pid namespace of its own the next process gets the agent's very pid.
#[test]
fn a_recycled_pid_is_another_process() {
    let scene = Scene::new();
    scene.append("items", line(&scene, "old", &pid_file(&scene, "old")));
    scene.write("recycle", RECYCLE);
    let mut unshare = command("unshare");
    unshare.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "bash"]);
    unshare.arg(scene.join("recycle")).arg(EXE).arg(scene.path());
    let out = unshare.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{said}{}", String::from_utf8_lossy(&out.stderr));
    assert!(said.contains("\"reason\":\"pid_reused\""), "{said}");
}

const RECYCLE: &str = r#"
set -eu
sleep 1000 & old=$!
ticks=$(sed 's/.*) //' /proc/$old/stat | cut -d' ' -f20)
boot=$(cat /proc/sys/kernel/random/boot_id)
space=$(stat -L -c %i /proc/self/ns/pid) time=$(stat -L -c %i /proc/self/ns/time)
echo "{\"pid\":$old,\"start_ticks\":$ticks,\"boot_id\":\"$boot\",\"pid_ns\":$space,\"time_ns\":$time}" > "$2/old.pid"
kill -9 $old
wait $old || true
sleep 0.1
for try in 1 2 3 4 5 6 7 8 9 10; do
  echo $((old - 1)) > /proc/sys/kernel/ns_last_pid
  sleep 1000 &
  [ $! = $old ] && break
  kill $!
done
[ $! = $old ]
"$1" --items "$2/items" --once --no-announce
kill $old
"#;

#[test]
fn a_result_that_lies_elsewhere_and_a_folder_made_again_are_found() {
    let scene = Scene::new();
    let _ = scene.dir("elsewhere");
    std::os::unix::fs::symlink(scene.join("elsewhere/r"), scene.join("link.md")).unwrap();
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    scene.append("items", line(&scene, "link", ""));
    next(&mut watch, "item_degraded");
    scene.write("elsewhere/r", "done");
    assert_eq!(
        next(&mut watch, "result_ready")["result_path"],
        scene.join("link.md").display().to_string()
    );
    let _ = scene.dir("d");
    scene.append("items", line(&scene, "d/x", "").replace("agent\":\"d/x", "agent\":\"x"));
    next(&mut watch, "item_degraded");
    fs::remove_dir_all(scene.join("d")).unwrap();
    let _ = scene.dir("d");
    scene.replace("d/x.md", "done");
    next(&mut watch, "result_ready");
    fs::remove_file(scene.join("d/x.md")).unwrap();
    next(&mut watch, "result_removed");
}

#[test]
fn a_stale_result_and_a_shared_one_are_told() {
    let scene = Scene::new();
    scene.write("a.md", "old");
    assert!(
        command("touch")
            .args(["-d", "-1 hour"])
            .arg(scene.join("a.md"))
            .status()
            .unwrap()
            .success()
    );
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    scene.append("items", line(&scene, "a", ""));
    scene.append("items", line(&scene, "a", "").replace("agent\":\"a", "agent\":\"b"));
    next(&mut watch, "item_registered");
    assert_eq!(
        next(&mut watch, "item_registered")["shares_result_with"],
        serde_json::json!(["a/5"])
    );
    next(&mut watch, "result_stale");
    next(&mut watch, "result_stale");
    assert!(command("chmod").arg("600").arg(scene.join("a.md")).status().unwrap().success());
    scene.replace("a.md", "new");
    assert_eq!(next(&mut watch, "result_ready")["size"], 3);
}

#[test]
fn a_wait_in_one_line_has_three_ends() {
    let scene = Scene::new();
    let dead = command("true").spawn().unwrap();
    scene.replace("dead.pid", "4194303");
    end_quietly(dead);
    scene.replace("a.md", "x");
    scene.replace("b.md", "x");
    for (items, code) in [
        (line(&scene, "a", "") + &line(&scene, "b", ""), 0),
        (line(&scene, "a", "") + &line(&scene, "dead", &pid_file(&scene, "dead")), 3),
        (line(&scene, "c", ",\"timeout_sec\":0.2"), 3),
    ] {
        let mut watch = command(EXE);
        watch.args(["--items", "-", "--until", "all-terminal", "--no-announce", "--settle=0.1"]);
        let mut running = Running::start(watch.arg("--death-grace=0.1").stdin(Stdio::piped()));
        std::io::Write::write_all(&mut running.stdin().unwrap(), items.as_bytes()).unwrap();
        let ended = running.end();
        assert_eq!(ended.code, Some(code), "{items}{:?}", ended.lines);
        let failed = ended.lines.last().unwrap()["reason"] == "no_result";
        assert_eq!(failed, code == 3);
    }
}

fn end_quietly(mut child: Child) {
    child.wait().unwrap();
}

#[test]
fn the_registry_survives_what_writers_do() {
    let scene = Scene::new();
    scene.append("items", format!("{{\"x\":\"{}\"}}\n", "y".repeat(100_000)));
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    assert_eq!(watch.event("item_rejected")["reason"], "line_too_long");
    let text = line(&scene, "half", ",\"id\":\"one\"");
    let (head, tail) = text.split_at(30);
    scene.append("items", head);
    pause(Duration::from_millis(200));
    assert!(watch.so_far().is_empty());
    scene.append("items", tail);
    assert_eq!(watch.event("item_registered")["agent"], "half");
    watch.event("item_degraded");
    scene.replace("items", text.clone() + &line(&scene, "new", ",\"id\":\"two\""));
    assert_eq!(watch.event("item_registered")["agent"], "new");
    watch.event("item_degraded");
    scene.write("items", "");
    scene.append("items", text);
    for (more, field) in [
        (line(&scene, "a", "").replace("\"a\"", "\"a b\""), "agent"),
        (line(&scene, "a", ",\"blind_phase\":\"no\""), "blind_phase"),
        (line(&scene, "a", ",\"timeout_sec\":-1"), "timeout_sec"),
        (line(&scene, "a", ",\"started_at_epoch\":99999999999"), "started_at_epoch"),
    ] {
        scene.append("items", more);
        assert_eq!(watch.event("item_rejected")["field"], field);
    }
    scene.append("items", "{\"blind_phase\":true,\"agent\":\"nobody\"}\n");
    assert_eq!(watch.event("item_rejected")["reason"], "no_match");
    scene.append(
        "items",
        "{\"blind_phase\":true}\n{\"op\":\"unregister\",\"agent\":\"half\",\"step\":5}\n",
    );
    watch.event("item_restored");
    let removed = watch.event("item_removed");
    assert_eq!((&removed["reason"], &removed["blind"]), (&"unregister".into(), &true.into()));
    scene.append("items", "{\"shutdown_request\":true}\n");
    let ended = watch.end();
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.lines.last().unwrap()["reason"], "shutdown");
}

#[test]
fn four_writers_lose_nothing() {
    let scene = Scene::new();
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let scene = &scene;
            scope.spawn(move || {
                for n in 0..200 {
                    let long = format!(",\"x\":\"{}\"", "y".repeat(6000));
                    scene.append("items", line(scene, &format!("w{writer}-{n}"), &long));
                }
            });
        }
    });
    for _ in 0..800 {
        next(&mut watch, "item_registered");
    }
    assert!(watch.so_far().iter().all(|line| line["event"] == "item_degraded"));
}

#[test]
fn a_restart_tells_again_with_the_same_id() {
    let scene = Scene::new();
    let mut first = Running::ready(&scene, &mut watch(&scene));
    for name in ["a", "b", "c"] {
        scene.append("items", line(&scene, name, ""));
        scene.replace(&format!("{name}.md"), "x");
    }
    let mut before: Vec<Value> =
        (0..3).map(|_| next(&mut first, "result_ready")["id"].clone()).collect();
    let _ = first.kill();
    pause(Duration::from_millis(400));
    let mut second = Running::start(&mut watch(&scene));
    let mut after = Vec::new();
    for _ in 0..3 {
        let ready = next(&mut second, "result_ready");
        assert_eq!(ready["replayed"], true);
        after.push(ready["id"].clone());
    }
    before.sort_by_key(ToString::to_string);
    after.sort_by_key(ToString::to_string);
    assert_eq!(before, after);
    let _ = second.kill();
    scene.append("items", "{\"shutdown_request\":true}\n");
    scene.append("items", line(&scene, "z", ""));
    let out = watch(&scene).arg("--once").output().unwrap();
    assert_eq!(out.status.code(), Some(0));
    let told = tests::lines(&out.stdout);
    assert!(told.iter().all(|line| line["agent"] == "z") && !told.is_empty(), "{told:?}");
}

/// Whatever the name of a result, nobody opens it; a FIFO hangs nothing, rights don't matter.
#[test]
fn no_result_or_progress_file_is_ever_opened() {
    let scene = Scene::new();
    nix::unistd::mkfifo(&scene.join("fifo.md"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    scene.write("secret.md", "FAIL");
    fs::set_permissions(scene.join("secret.md"), std::os::unix::fs::PermissionsExt::from_mode(0o0))
        .unwrap();
    scene.write("log", "x");
    let child = agent(&scene, "stuck");
    let more =
        format!(",\"idle_stall_sec\":0.1,\"progress_paths\":[\"{}\"]", scene.join("log").display());
    for name in ["fifo", "secret", "stuck"] {
        scene.append("items", line(&scene, name, &(pid_file(&scene, "stuck") + &more)));
    }
    let before = fs::metadata(scene.join("secret.md")).unwrap();
    let mut traced = command("strace");
    traced.args(["-f", "-e", "trace=/^(open|kill|creat|unlink|rename|mkdir)", "-o"]);
    traced.arg(scene.join("trace")).arg(EXE).arg("--items").arg(scene.join("items"));
    traced.args(["--settle=0.1", "--poll-interval=0.1", "--no-announce", "--max-runtime=1.5"]);
    let told = Running::start(&mut traced).end().lines;
    let names: Vec<&str> = told.iter().filter_map(|line| line["event"].as_str()).collect();
    assert!(names.contains(&"result_ready") && names.contains(&"stalled"), "{names:?}");
    let trace = fs::read_to_string(scene.join("trace")).unwrap();
    for name in ["fifo.md", "secret.md", "stuck.md", "/log\""] {
        assert!(!trace.contains(name), "{name}:\n{trace}");
    }
    for verb in ["kill(", "unlink", "rename", "mkdir", "O_CREAT"] {
        assert!(!trace.contains(verb), "{verb}:\n{trace}");
    }
    let after = fs::metadata(scene.join("secret.md")).unwrap();
    assert_eq!((before.atime(), before.atime_nsec()), (after.atime(), after.atime_nsec()));
    end(child);
}

#[test]
fn nobody_is_waited_for() {
    let scene = Scene::new();
    let mut watch = watch(&scene);
    let mut running = watch.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(running.stdout.take());
    let mut code = None;
    eventually("it ends with its reader", || {
        code = running.try_wait().unwrap();
        code.is_some()
    });
    assert_eq!(code.unwrap().code(), Some(0));
    let announced =
        command(EXE).arg("--items").arg(scene.join("items")).arg("--once").output().unwrap();
    let told = tests::lines(&announced.stdout);
    assert_eq!((&told[0]["event"], &told[0]["items"]), (&"monitor_armed".into(), &0.into()));
    assert_eq!(told[1]["reason"], "once");
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

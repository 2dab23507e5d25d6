use std::{os::unix::process::CommandExt as _, process::Stdio};

use crate::*;

/// One whose parent takes no note answers signal 0; one of another user doesn't.
#[test]
fn zombies_are_dead_and_strangers_alive() {
    let scene = Scene::new();
    let mut zombie = Agent::start(&scene, "zombie");
    let stranger = Agent::of(&scene, "stranger", command("sleep").arg("1000").uid(65_534));
    let mut watch = command(scene.copy_of(EXE));
    watch.arg("--items").arg(scene.join("items")).args(["--no-announce", "--death-grace=0.1"]);
    let mut watch = Running::start(watch.uid(65_533).gid(65_533));
    for name in ["zombie", "stranger"] {
        scene.append("items", line(&scene, name, &pid_file(&scene, name)));
        watch.event("item_registered");
    }
    zombie.kill().unwrap();
    assert_eq!(watch.event("process_died")["agent"], "zombie");
    zombie.wait().unwrap();
    stranger.end();
    assert_eq!(watch.event("process_died")["agent"], "stranger");
}

#[test]
fn what_is_no_pid_is_told_and_restored() {
    let scene = Scene::new();
    // Of this very thread, which isn't its process's first.
    let tid = nix::unistd::gettid().to_string();
    assert_ne!(tid, std::process::id().to_string());
    let digits = "9".repeat(1 << 20);
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    for (n, text) in ["", "0", "-1", "abc", "12 34", &digits, &tid].into_iter().enumerate() {
        let name = format!("a{n}");
        scene.write(&format!("{name}.pid"), text);
        scene.append("items", line(&scene, &name, &pid_file(&scene, &name)));
        let degraded = next(&mut watch, "item_degraded");
        let told = (&degraded["agent"], &degraded["reason"]);
        assert_eq!(told, (&name.as_str().into(), &"pid_file_invalid".into()), "{text:.20}");
        let agent = Agent::start(&scene, &name);
        let restored = watch.event("item_restored");
        assert_eq!((&restored["agent"], &restored["by"]), (&name.into(), &"evidence".into()));
        agent.end();
        watch.event("process_died");
    }
}

#[test]
fn a_process_younger_than_its_pid_file_is_not_its_owner() {
    let scene = Scene::new();
    let _agent = Agent::start(&scene, "young");
    age(&scene, "young.pid", 5);
    scene.append("items", line(&scene, "young", &pid_file(&scene, "young")));
    let mut watch = Running::start(watch(&scene).arg("--poll-only"));
    assert_eq!(next(&mut watch, "item_degraded")["reason"], "pid_file_stale");
}

#[test]
fn a_record_knows_its_process() {
    type Change<'a> = &'a dyn Fn(&mut Value);
    let scene = Scene::new();
    let agent = Agent::start(&scene, "agent");
    let cases: [(&str, Change<'_>, &str, &str); 3] = [
        ("boot", &|record| record["boot_id"] = "x".into(), "process_died", "rebooted"),
        ("start", &|record| record["start_ticks"] = 1.into(), "process_died", "pid_reused"),
        ("space", &|record| record["pid_ns"] = 1.into(), "item_degraded", "pid_namespace"),
    ];
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    for (name, change, event, reason) in cases {
        scene.replace(&format!("{name}.pid"), record(agent.id(), change));
        scene.append("items", line(&scene, name, &pid_file(&scene, name)));
        assert_eq!(next(&mut watch, event)["reason"], reason);
    }
    // Start ticks of another time namespace say nothing.
    let shifted = record(agent.id(), |record| {
        record["time_ns"] = 1.into();
        record["start_ticks"] = 1.into();
    });
    scene.replace("shifted.pid", shifted);
    scene.append("items", line(&scene, "shifted", &pid_file(&scene, "shifted")));
    assert_eq!(watch.event("item_registered")["agent"], "shifted");
    agent.end();
    let died = watch.event("process_died");
    assert_eq!((&died["agent"], &died["reason"]), (&"shifted".into(), &"exited".into()));
}

#[test]
fn a_pid_file_that_changes_under_a_living_process_is_told_and_followed_after_it() {
    let scene = Scene::new();
    let mut watch = watch(&scene);
    let mut watch = Running::ready(&scene, watch.arg("--death-grace=30"));
    let old = Agent::start(&scene, "a");
    scene.append("items", line(&scene, "a", &pid_file(&scene, "a")));
    watch.event("item_registered");
    // That it went is no news.
    fs::remove_file(scene.join("a.pid")).unwrap();
    let new = Agent::start(&scene, "a");
    assert_eq!(watch.event("item_degraded")["reason"], "pid_changed");
    old.end();
    let restored = watch.event("item_restored");
    assert_eq!((&restored["reason"], &restored["by"]), (&"pid_changed".into(), &"evidence".into()));
    scene.replace("a.md", "done");
    assert_eq!(watch.event("result_ready")["after_death"], false);
    new.end();
}

/// CPU time says which of two silences is busy, and makes or unmakes neither.
#[test]
fn a_busy_child_shows_beside_a_stall() {
    let scene = Scene::new();
    let script = "while kill -0 $$ 2>/dev/null; do :; done & read -r end";
    let mut bash = command("bash");
    bash.args(["-c", script]).stdin(Stdio::piped());
    let _busy = Agent::of(&scene, "busy", &mut bash);
    let _idle = Agent::start(&scene, "idle");
    let mut watch = Running::ready(&scene, &mut watch(&scene));
    for name in ["busy", "idle"] {
        // CPU time is told over at least five seconds.
        let more = pid_file(&scene, name) + ",\"idle_stall_sec\":5.2";
        scene.append("items", line(&scene, name, &more));
    }
    let mut stalls = [next(&mut watch, "stalled"), next(&mut watch, "stalled")];
    stalls.sort_by_key(|line| line["agent"].to_string());
    let pct = |line: &Value, key: &str| line[key].as_f64().unwrap();
    let [of_busy, of_idle] = &stalls;
    assert!(pct(of_busy, "cpu_pct") < 5.0, "{of_busy}");
    let (busy, idle) = (pct(of_busy, "tree_cpu_pct"), pct(of_idle, "tree_cpu_pct"));
    assert!(busy > idle && idle < 5.0, "{of_busy} {of_idle}");
    assert_eq!((&of_idle["proc_state"], &of_idle["evidence"]), (&"S".into(), &"none".into()));
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

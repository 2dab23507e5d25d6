//! Nobody's process is touched who is not proven to be the recorded one.

use std::{fs, process::Stdio};

use serde_json::Value;
use tests::{command, eventually, lines};

use crate::scene::{LASTING, PLAIN, Store, kill, lives, number, refused};

/// Rewrites the record of `gate`.
fn edit(store: &Store, change: impl FnOnce(&mut Value)) {
    let path = store.home("gate").record();
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut record);
    shared::cursor::replace(&path, record.to_string().as_bytes()).unwrap();
}

/// Makes the record speak of a process with the number `pid` that began earlier.
fn point_at(who: &mut Value, pid: u32) {
    who["pid"] = pid.into();
    // Seconds can't tell apart what a test starts.
    if PLAIN {
        who["start_ticks"] = (number(&who["start_ticks"]) - 1).into();
    }
}

/// A monitor that is dead, keeper and all, without anyone having noted it.
fn dead(store: &Store) {
    let started = store.start("gate", LASTING);
    let keeper = keeper_of(store);
    kill(keeper);
    if PLAIN {
        kill(number(&started["pid"]));
    }
    eventually("both are gone", || !lives(keeper) && !lives(number(&started["pid"])));
}

fn keeper_of(store: &Store) -> u64 {
    let record: Value =
        serde_json::from_slice(&fs::read(store.home("gate").record()).unwrap()).unwrap();
    number(&record["keeper"]["pid"])
}

/// Only Linux sends a signal at the parent's death. Elsewhere a monitor finds its pipe closed.
#[cfg(all(target_os = "linux", not(doorbell_plain)))]
#[test]
fn a_killed_keeper_takes_its_monitor_along() {
    let store = Store::new();
    let started = store.start("gate", LASTING);
    kill(keeper_of(&store));
    eventually("the monitor is gone", || !lives(number(&started["pid"])));
}

#[test]
fn a_lost_keeper_is_told_and_hinders_nobody() {
    let store = Store::new();
    dead(&store);
    let status = store.status("gate");
    assert_eq!((&status["alive"], &status["end_reason"]), (&false.into(), &"keeper_lost".into()));
    assert_eq!(status["exit_code"], Value::Null);
    assert_eq!(store.start("gate", LASTING)["already_running"], false);
    let ends = fs::read_to_string(store.home("gate").ends()).unwrap();
    assert_eq!((ends.lines().count(), ends.contains("keeper_lost")), (1, true), "{ends}");
}

/// The kernel tells a monitor of its keeper's death, if anyone, but not what the monitor had
/// started.
#[test]
fn what_a_lost_monitor_left_is_ended_by_the_next_stop_or_start() {
    let store = Store::new();
    for next in ["stop", "start"] {
        let started = store.start("gate", &["sh", "-c", "setsid sleep 1000 & sleep 1001"]);
        kill(keeper_of(&store));
        eventually("the monitor is gone", || PLAIN || !lives(number(&started["pid"])));
        assert!(store.processes().iter().any(|line| line.contains("sleep 100")));
        if next == "stop" {
            assert_eq!(store.done(&["stop", "gate"])["changed"], true);
            store.none_left();
        } else {
            store.start("gate", &["sleep", "1002"]);
            eventually("only the new one is there", || store.processes().len() == 2);
        }
    }
}

#[test]
fn a_pid_that_went_to_another_is_a_dead_monitor() {
    let store = Store::new();
    dead(&store);
    let mut stranger = command("sleep").arg("1000").spawn().unwrap();
    edit(&store, |record| {
        point_at(&mut record["keeper"], stranger.id());
        point_at(&mut record["monitor"], stranger.id());
    });
    assert_eq!(store.status("gate")["alive"], false);
    assert_eq!(store.done(&["stop", "gate"])["changed"], false);
    assert_eq!(stranger.try_wait().unwrap(), None);
    assert_eq!(store.start("gate", LASTING)["already_running"], false);
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn a_lock_held_by_somebody_else_is_a_conflict() {
    let store = Store::new();
    dead(&store);
    let mut stranger = command("sleep").arg("1000").spawn().unwrap();
    edit(&store, |record| point_at(&mut record["keeper"], stranger.id()));
    let before = fs::read(store.home("gate").record()).unwrap();
    let lock = fs::File::open(store.home("gate").lock()).unwrap();
    lock.lock().unwrap();
    let out = store.run(&["stop", "gate"]);
    refused(&out, 4, "start_time_differs");
    let conflict = lines(&out.stdout).remove(0);
    assert_eq!(
        (&conflict["event"], &conflict["action"]),
        (&"state_conflict".into(), &"not_signaled".into())
    );
    assert_eq!((&conflict["pid"], &conflict["preserved"]), (&stranger.id().into(), &true.into()));
    assert_eq!(stranger.try_wait().unwrap(), None);
    assert_eq!(fs::read(store.home("gate").record()).unwrap(), before);
    drop(lock);
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

/// Each takes the lock for a moment, or sees a keeper between its last act and its end.
#[test]
fn stops_at_once_are_no_conflict() {
    let store = Store::new();
    for _ in 0..6 {
        for lives in [true, false] {
            let started = store.start("gate", LASTING);
            if !lives {
                kill(number(&started["pid"]));
                eventually("it has died", || store.status("gate")["alive"] == false);
            }
            let stops: Vec<_> = (0..20)
                .map(|_| store.supervise(&["stop", "gate"]).stdout(Stdio::null()).spawn().unwrap())
                .collect();
            for mut stop in stops {
                assert_eq!(stop.wait().unwrap().code(), Some(0));
            }
        }
    }
}

#[test]
fn another_boot_is_a_dead_monitor_and_no_conflict() {
    let store = Store::new();
    let started = store.start("gate", LASTING);
    store.done(&["stop", "gate"]);
    edit(&store, |record| {
        for who in ["keeper", "monitor"] {
            record[who]["boot_id"] = "00000000-0000-0000-0000-000000000000".into();
            record[who]["pid"] = std::process::id().into();
        }
    });
    assert_eq!(store.status("gate")["alive"], false);
    assert_eq!(store.done(&["stop", "gate"])["changed"], false);
    assert_ne!(store.start("gate", LASTING)["instance"], started["instance"]);
}

#[test]
fn a_record_that_can_not_be_used_is_refused_and_kept() {
    let store = Store::new();
    store.start("gate", LASTING);
    store.done(&["stop", "gate"]);
    let path = store.home("gate").record();
    let good = fs::read_to_string(&path).unwrap();
    for bad in [
        String::new(),
        good[..good.len() / 2].to_owned(),
        good.replace("\"version\":1", "\"version\":9"),
        "\0\u{1}binary".to_owned(),
    ] {
        shared::cursor::replace(&path, bad.as_bytes()).unwrap();
        for args in [
            &["start", "gate", "--ready=alive", "--", "true"][..],
            &["stop", "gate"],
            &["status"],
            &["follow", "gate"],
        ] {
            refused(&store.run(args), 4, "record.json");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), bad);
    }
    shared::cursor::replace(&path, good.as_bytes()).unwrap();
}

/// The real thing: in a pid namespace of its own the next process gets the keeper's very pid.
#[test]
fn a_recycled_pid_is_never_signalled() {
    let store = Store::new();
    store.scene.write("recycle", RECYCLE);
    let mut unshare = command("unshare");
    unshare.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "bash"]);
    unshare.arg(store.scene.join("recycle")).arg(env!("CARGO_BIN_EXE_supervise"));
    // Where starts are known to the second, one has to pass.
    unshare.arg(if PLAIN { "1" } else { "0" });
    store.lead(&mut unshare);
    let out = unshare.stdin(Stdio::null()).output().unwrap();
    let (said, stderr) =
        (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}{stderr}");
    assert!(said.ends_with("recycled and alive\n"), "{said}{stderr}");
}

const RECYCLE: &str = r#"
set -eu
supervise=$1
"$supervise" start gate --scope=lane --ready=alive -- sleep 1000
record=$(echo "$DOORBELL_STORE"/supervise/lane/gate/record.json)
keeper=$(sed 's/.*"keeper":{"pid":\([0-9]*\).*/\1/' "$record")
kill -9 "$keeper"
sleep "$2"
while [ -e "/proc/$keeper" ]; do :; done
for try in 1 2 3 4 5 6 7 8 9 10; do
  echo $((keeper - 1)) > /proc/sys/kernel/ns_last_pid
  sleep 1000 &
  [ $! = "$keeper" ] && break
  kill $!
done
[ $! = "$keeper" ]
"$supervise" status --scope=lane
"$supervise" stop gate --scope=lane
"$supervise" start gate --scope=lane --ready=alive -- sleep 1001
"$supervise" stop gate --scope=lane
kill -0 "$keeper"
echo recycled and alive
"#;

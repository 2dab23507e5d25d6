//! Deaths at every moment, families that don't want to go, disks without room.

use std::{fs, os::unix::process::ExitStatusExt as _, process::Stdio};

use serde_json::Value;
use tests::{command, eventually};

use crate::scene::{LASTING, Store, kill, lives, number, refused};

/// Whatever lies where a file should be: it is refused or passed over, not waited for.
#[test]
fn a_fifo_in_the_folder_holds_nobody_up() {
    let store = Store::new();
    let home = store.home("gate");
    store.start("gate", LASTING);
    store.done(&["stop", "gate"]);
    let others = [home.log(), home.old_log(), home.log_place(), home.counters(), home.ends()];
    for path in others.into_iter().chain([home.stderr(), home.stop_request(), home.lock()]) {
        let good = fs::read(&path);
        let _ = fs::remove_file(&path);
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let talks = ["sh", "-c", "echo x >&2; echo y; exec sleep 1000"];
        let start = [&["start", "gate", "--ready=alive", "--"], &talks[..]].concat();
        for args in [&["status"][..], &["check"], &start, &["check"], &["stop", "gate"]] {
            let out = store.run(args).status;
            assert!(matches!(out.code(), Some(0 | 4)), "{out} {args:?} {}", path.display());
        }
        let _ = fs::remove_file(&path);
        if let Ok(good) = good {
            shared::cursor::replace(&path, &good).unwrap();
        }
    }
}

/// Nobody could find it, and a second one would be started.
#[test]
fn a_monitor_whose_folder_is_removed_ends() {
    let store = Store::new();
    let talks = ["sh", "-c", "while :; do echo x; sleep 0.01; done"];
    for again in [false, true] {
        let started = store.start("gate", &talks);
        fs::remove_dir_all(store.home("gate").dir()).unwrap();
        let second = again.then(|| store.start("gate", &talks));
        eventually("it has ended", || !lives(number(&started["pid"])));
        let Some(second) = second else { continue };
        assert_eq!(second["already_running"], false);
        assert_eq!(store.status("gate")["pid"], second["pid"]);
        assert_eq!(store.done(&["stop", "gate"])["changed"], true);
        assert_eq!(fs::read_to_string(store.home("gate").ends()).unwrap().lines().count(), 1);
    }
}

/// As a debugger or `kill -STOP` leaves it.
#[test]
fn a_keeper_that_stands_still_is_stopped() {
    let store = Store::new();
    let started = store.start("gate", LASTING);
    let record = fs::read(store.home("gate").record()).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    let keeper = i32::try_from(number(&record["keeper"]["pid"])).unwrap();
    let keeper = nix::unistd::Pid::from_raw(keeper);
    nix::sys::signal::kill(keeper, nix::sys::signal::Signal::SIGSTOP).unwrap();
    assert_eq!(store.done(&["stop", "gate"])["changed"], true);
    assert!(!lives(number(&started["pid"])));
}

#[test]
fn a_killed_monitor_is_seen_and_told() {
    let store = Store::new();
    let started = store.start("gate", LASTING);
    let mut follow = store.start_running(&["follow", "gate"]);
    kill(number(&started["pid"]));
    let failed = follow.event("monitor_failed");
    assert_eq!((&failed["source"], &failed["reason"]), (&"gate".into(), &"signaled".into()));
    assert_eq!(failed["exit_signal"], 9);
    assert_eq!(follow.end().code, Some(0));
    let status = store.status("gate");
    assert_eq!((&status["alive"], &status["exit_signal"]), (&false.into(), &9.into()));
    assert_eq!(status["end_reason"], "exited");
}

#[test]
fn one_that_waits_to_be_started_again_has_no_pid() {
    let store = Store::new();
    let start = [&["start", "gate", "--ready=alive", "--restart=9", "--"], LASTING].concat();
    let started = store.done(&start);
    kill(number(&started["pid"]));
    for restarts in 1..=2 {
        eventually("it is back", || {
            let status = store.status("gate");
            status["restarts"] == restarts && status["pid"] != Value::Null
        });
        let status = store.status("gate");
        assert_eq!((&status["ready"], &status["exit_signal"]), (&true.into(), &Value::Null));
        kill(number(&status["pid"]));
    }
    // Now it waits for four seconds.
    eventually("it is told", || store.status("gate")["pid"] == Value::Null);
    let status = store.status("gate");
    assert_eq!((&status["alive"], &status["ready"]), (&true.into(), &false.into()));
    assert_eq!((&status["exit_signal"], &status["end_reason"]), (&9.into(), &"exited".into()));
    let again = store.done(&start);
    assert_eq!((&again["instance"], &again["pid"]), (&started["instance"], &Value::Null));
    let table = store.run(&["status", "--table"]).stdout;
    assert!(String::from_utf8_lossy(&table).contains("down (signal 9)"));
}

#[test]
fn a_monitor_is_started_again_until_it_is_given_up() {
    let store = Store::new();
    let flags = ["start", "gate", "--ready=alive", "--restart=1", "--source=x"];
    let argv = ["sh", "-c", "echo '{\"event\":\"born\"}'; sleep 0.3; echo why >&2; exit 7"];
    store.done(&[&flags[..4], &["--"], &argv].concat());
    let mut follow = store.start_running(&["follow", "gate"]);
    for round in 0..2 {
        follow.event("born");
        let failed = follow.event("monitor_failed");
        assert_eq!(
            (&failed["exit_code"], &failed["detail"]),
            (&7.into(), &"why".into()),
            "{round}"
        );
    }
    assert_eq!(follow.end().code, Some(0));
    let status = store.status("gate");
    assert_eq!((&status["end_reason"], &status["restarts"]), (&"gave_up".into(), &1.into()));
}

#[test]
fn a_monitor_that_may_end_has_ended_and_is_no_death() {
    let store = Store::new();
    let argv = ["sh", "-c", "echo '{\"event\":\"x\"}'; sleep 0.3"];
    store.done(&[&["start", "lane", "--ready=alive", "--ends", "--"], &argv[..]].concat());
    let mut follow = store.start_running(&["follow", "lane"]);
    follow.event("x");
    let ended = follow.end();
    assert_eq!((ended.code, ended.lines), (Some(0), Vec::<Value>::new()));
    let status = store.status("lane");
    assert_eq!((&status["end_reason"], &status["exit_code"]), (&"exited".into(), &0.into()));
}

#[test]
fn nothing_survives_a_stop_that_ignores_term_or_left_its_group() {
    let store = Store::new();
    let script = "trap '' TERM; \
        (trap '' TERM; while :; do sleep 1000; done) & \
        setsid sh -c \"trap '' TERM; while :; do sleep 1001; done\" & \
        sh -c \"trap '' TERM; setsid sh -c 'trap \\\"\\\" TERM; while :; do sleep 1002; done' & exit\" & \
        while :; do sleep 1003; done";
    store.start("gate", &["sh", "-c", script]);
    for tail in ["1000", "1001", "1002", "1003"] {
        eventually(&format!("sleep {tail} runs"), || {
            store.processes().iter().any(|line| line.contains(&format!("sleep {tail}")))
        });
    }
    assert_eq!(store.done(&["stop", "gate", "--grace=0.2"])["changed"], true);
    store.none_left();
}

#[test]
fn what_a_dead_monitor_started_goes_with_it() {
    let store = Store::new();
    let started = store.start("gate", &["sh", "-c", "setsid sleep 1000 & sleep 1001 & sleep 1002"]);
    eventually("all run", || store.processes().len() == 5);
    kill(number(&started["pid"]));
    store.none_left();
    assert_eq!(store.status("gate")["exit_signal"], 9);
}

/// Rust ignores SIGPIPE, and what is ignored stays ignored in what is executed: a monitor that is
/// a shell or a Python script would never end with its reader.
#[test]
fn a_broken_pipe_ends_what_is_started() {
    let store = Store::new();
    let script = "kill -PIPE $$; exec sleep 1000";
    let out = store.run(&["start", "gate", "--", "sh", "-c", script]);
    refused(&out, 4, "signal 13 killed it");
    let mut exec = tests::built("supervise");
    store.lead(&mut exec);
    exec.args(["exec", "--record"]).arg(store.scene.join("agent.json"));
    let out = exec.args(["--", "sh", "-c", "kill -PIPE $$; echo survived"]).output().unwrap();
    assert_eq!((out.status.signal(), &*out.stdout), (Some(13), &b""[..]));
}

/// Between a look at a pid and a signal to it the pid can become another's: the process is held
/// first, then looked at, then signalled by what holds it.
#[cfg(all(target_os = "linux", not(doorbell_plain)))]
#[test]
fn a_signal_goes_to_what_was_held_before_it_was_proven() {
    let store = Store::new();
    store.start("gate", LASTING);
    let record: Value =
        serde_json::from_slice(&fs::read(store.home("gate").record()).unwrap()).unwrap();
    let keeper = number(&record["keeper"]["pid"]);
    let stop = store.supervise(&["stop", "gate"]);
    let mut strace = command("strace");
    let calls = "trace=openat,kill,tkill,tgkill,pidfd_open,pidfd_send_signal";
    strace.args(["-f", "-q", "-e", calls, "-o"]).arg(store.scene.join("trace"));
    store.lead(strace.arg(stop.get_program()).args(stop.get_args()));
    assert_eq!(strace.output().unwrap().status.code(), Some(0));
    let trace = fs::read_to_string(store.scene.join("trace")).unwrap();
    let calls: Vec<&str> = trace.lines().collect();
    let last_before = |at: usize, what: &str| {
        calls[..at]
            .iter()
            .rposition(|call| call.contains(what))
            .unwrap_or_else(|| panic!("{trace}"))
    };
    let is_signal = |call: &&str| call.contains("kill(") || call.contains("pidfd_send_signal(");
    let signals: Vec<&&str> = calls.iter().filter(|call| is_signal(call)).collect();
    // TERM, and CONT for a keeper that stands still.
    assert_eq!(signals.len(), 2, "{trace}");
    assert!(signals.iter().all(|call| call.contains("pidfd_send_signal(")), "{trace}");
    let signal = calls.iter().position(is_signal).unwrap();
    let proof = last_before(signal, &format!("/proc/{keeper}/stat"));
    let hold = last_before(proof, &format!("pidfd_open({keeper},"));
    assert!(hold < proof && proof < signal, "{trace}");
}

/// Keeper or monitor are killed at a random moment, 200 times; each time the state is plain and
/// the next start works.
#[test]
fn kills_at_random_moments_leave_a_plain_state() {
    let store = Store::new();
    let argv = ["sh", "-c", "while :; do echo '{\"event\":\"x\"}'; sleep 0.01; done"];
    let mut noise = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..200 {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let started = store
            .done(&[&["start", "gate", "--ready=alive", "--log-max=4K", "--"], &argv[..]].concat());
        assert_eq!(started["already_running"], false, "round {round}");
        let record: Value =
            serde_json::from_slice(&fs::read(store.home("gate").record()).unwrap()).unwrap();
        let victim = if noise >> 63 == 0 { &record["keeper"] } else { &record["monitor"] };
        for _ in 0..noise >> 52 & 0x7ff {
            std::hint::spin_loop();
        }
        kill(number(&victim["pid"]));
        eventually("both are gone", || {
            !lives(number(&record["keeper"]["pid"])) && !lives(number(&record["monitor"]["pid"]))
        });
        let status = store.status("gate");
        assert_eq!(status["alive"], false, "round {round}: {status}");
        let reason = status["end_reason"].as_str().unwrap();
        let signal = &status["exit_signal"];
        assert!(reason == "keeper_lost" || (reason == "exited" && *signal == 9), "{status}");
    }
    store.none_left();
}

/// On a file system of 256 KiB: the log fills it, the monitor goes on and is shown, and when
/// there is room again the lines come, and what is missing is said.
#[test]
fn a_full_disk_blocks_nobody_and_is_told() {
    let store = Store::new();
    let _ = store.scene.dir("store");
    store.scene.write("full", FULL);
    let mut unshare = command("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "bash"]).arg(store.scene.join("full"));
    unshare.arg(env!("CARGO_BIN_EXE_supervise"));
    store.lead(&mut unshare);
    let out = unshare.stdin(Stdio::null()).output().unwrap();
    let (said, stderr) =
        (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success() && said.ends_with("told\n"), "{said}{stderr}");
}

const FULL: &str = r#"
set -eu
supervise=$1
mount -t tmpfs -o size=256k,mode=700 tmpfs "$DOORBELL_STORE"
until_said() { # a command's output holds the words, within 30 s
  for try in $(seq 1 3000); do "${@:2}" | grep -q "$1" && return; sleep 0.01; done
  echo "never: $1"; exit 1
}
"$supervise" start small --scope=lane --ready=alive -- sleep 1000
"$supervise" start gate --scope=lane --ready=alive --log-max=64K -- sh -c \
  'until [ -e go ]; do sleep 0.01; done
   line=$(printf "%0900d" 0); i=0
   until [ -e stop ]; do i=$((i+1)); echo "{\"event\":\"x\",\"n\":$i,\"line\":\"$line\"}"; done
   sleep 1000'
head -c 1000000 /dev/zero > "$DOORBELL_STORE/filler" || true
touch go
until_said '"log_error":"No space left' "$supervise" status gate --scope=lane
"$supervise" status gate --scope=lane | grep -q '"alive":true'
"$supervise" status small --scope=lane | grep -q '"alive":true'
until_said '"lines_dropped":[1-9]' "$supervise" status gate --scope=lane
if "$supervise" start third --scope=lane --ready=alive -- sleep 1000 2> third; then
  echo "a start on a full disk"; exit 1
fi
grep -q "fatal: unable to .*/lane/third.*No space left" third
[ ! -e "$DOORBELL_STORE/supervise/lane/third/log.ndjson" ]
touch stop
rm "$DOORBELL_STORE/filler"
until_said log_gap sh -c 'cat "$DOORBELL_STORE"/supervise/lane/gate/log*.ndjson'
"$supervise" stop all --scope=lane --grace=0.2
mount -o remount,ro "$DOORBELL_STORE"
if "$supervise" start fourth --scope=lane --ready=alive -- sleep 1000 2> fourth; then
  echo "a start on a store that can't be written"; exit 1
fi
grep -q "fatal: unable to .*$DOORBELL_STORE.*Read-only" fourth
echo told
"#;

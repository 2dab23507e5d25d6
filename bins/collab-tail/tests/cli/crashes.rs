//! What must be true whatever becomes of the store, of stdout, and of the process.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::PathBuf,
    process::Stdio,
    time::Duration,
};

use collab_tail::hash::Hash;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use tests::{Running, command, eventually, lines, pause};

use crate::desk::{Desk, h, ids, line, store};

fn board_file(desk: &Desk) -> PathBuf {
    let mut entries = fs::read_dir(store(desk, "boards")).unwrap();
    entries.next().unwrap().unwrap().path()
}

#[test]
fn f01_what_is_appended_while_the_seed_is_read_is_mail() {
    let desk = Desk::new();
    desk.write("b", "words of a board that nobody is addressed by\n".repeat(600_000));
    let mut running = Running::start(&mut desk.command(&["@lead", "b"]));
    // It has read some of the board, whose size it took before.
    let io = format!("/proc/{}/io", running.pid());
    eventually("it reads", || {
        let text = fs::read_to_string(&io).unwrap_or_default();
        let read = text.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse::<u64>().ok());
        read.unwrap_or(0) > 1 << 20
    });
    desk.append("b", h("a"));
    let mut lines = Vec::new();
    while !lines.iter().any(|line: &Value| line["event"] == "collab_mail") {
        lines.push(running.line());
    }
    assert_eq!(running.stop().code, Some(0));
    assert!(desk.look_b().is_silent());
}

#[test]
fn f02_a_crash_repeats_at_most_the_line_that_was_not_recorded() {
    let desk = Desk::new();
    desk.write("b", "");
    desk.look_b();
    let (seen, board) =
        (fs::read(store(&desk, "seen")).unwrap(), fs::read(board_file(&desk)).unwrap());
    desk.append("b", h("a"));
    let first = desk.look_b();
    // Between record and baseline: only the baseline is the old one.
    desk.scene.write(
        board_file(&desk).strip_prefix(desk.scene.path()).unwrap().to_str().unwrap(),
        &board,
    );
    assert!(desk.look_b().is_silent());
    // Between emit and record: both are.
    desk.scene.write(
        board_file(&desk).strip_prefix(desk.scene.path()).unwrap().to_str().unwrap(),
        &board,
    );
    desk.scene.write("store/collab-tail/lead/seen", &seen);
    let again = desk.look_b();
    assert_eq!((ids(&again.lines), again.mail()), (ids(&first.lines), vec![line("a")]));
}

#[test]
fn f03_no_line_is_lost_at_1000_crashes_and_one_at_most_repeated() {
    const KILLS: u64 = 1000;
    const LINES: u64 = 10;
    let desk = Desk::new();
    desk.write("b", "");
    desk.look_b();
    let mut told: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
    let mut noise = 88_172_645_463_325_252_u64;
    for round in 0..KILLS {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        let running = Running::start(&mut desk.command(&["@lead", "b", "--no-announce"]));
        let block: String = (0..LINES).map(|n| h(&format!("{round}-{n}"))).collect();
        // One half is there when it starts to look, one half comes while it runs.
        let (now, later) = block.split_at(block.len() / 2);
        desk.append("b", now);
        pause(Duration::from_micros(noise % 9_000));
        desk.append("b", later);
        pause(Duration::from_micros((noise >> 32) % 9_000));
        let mut repeated = 0;
        for id in ids(&running.kill()) {
            let count = told.entry(id).or_default();
            *count += 1;
            repeated += u64::from(*count > 1);
        }
        assert!(repeated <= 1, "round {round}: {repeated} lines repeated");
    }
    for id in ids(&desk.look_b().lines) {
        *told.entry(id).or_default() += 1;
    }
    let all = (0..KILLS).flat_map(|round| (0..LINES).map(move |n| format!("{round}-{n}")));
    let missing: Vec<String> = all
        .filter(|what| {
            let hash = Hash::of(&[h(what).as_bytes()]);
            !told.contains_key(&shared::line::digest(format!("lead\u{1f}{hash}\u{1f}1").as_bytes()))
        })
        .collect();
    assert!(missing.is_empty(), "lost: {missing:?}");
    assert_eq!(told.len() as u64, KILLS * LINES);
}

#[test]
fn f04_a_line_that_stdout_refuses_is_not_recorded() {
    let desk = Desk::new();
    desk.write("b", "");
    desk.look_b();
    desk.append("b", h("a") + &h("b"));
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let out = desk.command(&["@lead", "b", "--once"]).stdout(full).output().unwrap();
    assert_eq!(out.status.code(), Some(4));
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert_eq!(stderr.matches("unable to write to stdout").count(), 1, "{stderr}");
    assert_eq!(desk.look_b().mail(), [line("a"), line("b")]);
    assert!(desk.look_b().is_silent());
}

/// A small file system of its own, for a shell script; its lines, or nothing where there are none
/// to be had.
fn on_a_small_disk(desk: &Desk, script: &str) -> Option<String> {
    let mount = desk.scene.dir("mount");
    let script =
        format!("mount -t tmpfs -o size=16k none \"$1\" || exit 77; cd ../boards; {script}");
    let mut shell = command("unshare");
    shell.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"]);
    shell.arg(mount).arg(env!("CARGO_BIN_EXE_collab-tail")).current_dir(desk.scene.join("boards"));
    shell.env("DOORBELL_STORE", desk.scene.join("store"));
    let out = shell.output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    (out.status.code() != Some(77)).then_some(text).filter(|_| !out.stderr.starts_with(b"unshare"))
}

#[test]
fn f04_after_a_short_write_the_rest_of_the_line_comes_first() {
    let desk = Desk::new();
    desk.write("b", "");
    desk.look_b();
    let posts: Vec<String> = (0..60).map(|n| format!("{n} {}", "x".repeat(200))).collect();
    desk.append("b", posts.iter().map(|post| h(post)).collect::<String>());
    // 12 KiB are taken; the log fills the rest and gets room later.
    let script = r#"
        head -c 8192 /dev/zero >"$1/filler"
        "$2" @lead b --no-announce >>"$1/log" & pid=$!
        while [ "$(stat -c %s "$1/log")" -lt 8192 ]; do sleep 0.01; done
        sleep 0.1; rm "$1/filler"; mount -o remount,size=1m "$1"
        while [ "$(grep -c collab_mail "$1/log")" -lt 60 ]; do sleep 0.01; done
        kill $pid; wait $pid; cat "$1/log""#;
    let Some(log) = on_a_small_disk(&desk, script) else { return };
    let told = lines(log.as_bytes());
    let texts: Vec<&str> = told.iter().map(|line| line["text"].as_str().unwrap()).collect();
    assert_eq!(texts, posts.iter().map(|post| line(post)).collect::<Vec<_>>());
    assert!(desk.look_b().is_silent());
}

#[test]
fn f05_what_came_after_the_reader_left_is_told_at_the_next_start() {
    let desk = Desk::new();
    desk.write("b", "");
    let mut child = desk.command(&["@lead", "b"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&reader.next().unwrap().unwrap()).unwrap();
    assert_eq!(next()["event"], "monitor_armed");
    desk.append("b", h("1") + &h("2"));
    for what in ["1", "2"] {
        assert_eq!(next()["text"], line(what));
    }
    drop(reader);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    desk.append("b", h("3") + &h("4") + &h("5"));
    assert_eq!(desk.look_b().mail(), ["3", "4", "5"].map(line));
}

#[test]
fn xx_04_a_reader_that_stands_still_is_told_the_rest_at_the_next_start() {
    const MAILS: usize = 2_000;
    let desk = Desk::new();
    desk.write("b", "");
    desk.look_b();
    desk.append("b", (0..MAILS).map(|n| h(&n.to_string())).collect::<String>());
    let mut child = desk.command(&["@lead", "b"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    reader.read_line(&mut text).unwrap();
    // The pipe is full long before it has told them all.
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGTERM).unwrap();
    eventually("it ends", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    reader.read_to_string(&mut text).unwrap();
    assert!(text.ends_with("}\n"), "the last line is torn");
    let first: Vec<Value> =
        lines(text.as_bytes()).into_iter().filter(|line| line["event"] == "collab_mail").collect();
    assert!(first.len() < MAILS);
    let rest = desk.look_b();
    let told: Vec<String> = ids(&first).into_iter().chain(ids(&rest.lines)).collect();
    let each: std::collections::BTreeSet<&String> = told.iter().collect();
    assert_eq!((told.len(), each.len()), (MAILS, MAILS), "{} before the end", first.len());
}

#[test]
fn f06_a_store_that_cannot_be_written_is_said_once_and_its_end_once() {
    let desk = Desk::new();
    desk.write("b", "");
    // The tests may run as root, whom no mode stops.
    let exe = desk.scene.copy_of(env!("CARGO_BIN_EXE_collab-tail"));
    let _ = desk.scene.dir("home");
    std::os::unix::fs::chown(desk.scene.join("home"), Some(65_534), Some(65_534)).unwrap();
    let mut command = command(&exe);
    command.current_dir(desk.scene.join("boards")).uid(65_534).gid(65_534);
    command.args(["@lead", "b", "--store", "../home/store"]);
    let mut running = Running::start(&mut command);
    running.event("monitor_armed");
    let boards = desk.scene.join("home/store/collab-tail/lead/boards");
    fs::set_permissions(&boards, fs::Permissions::from_mode(0o500)).unwrap();
    desk.append("b", h("a"));
    assert_eq!(running.event("collab_mail")["text"], line("a"));
    let warning = running.event("watch_warn");
    assert_eq!(
        (&warning["reason"], &warning["condition"]),
        (&"state-failed".into(), &"raised".into())
    );
    desk.append("b", h("b"));
    assert_eq!(running.event("collab_mail")["text"], line("b"));
    fs::set_permissions(&boards, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(running.event("watch_warn")["condition"], "cleared");
    assert_eq!(running.stop().code, Some(0));
}

/// A record of which only the beginning fits is no record, and none of those that come after it
/// may be appended to it.
#[test]
fn f06_a_full_disk_repeats_nothing_and_tears_no_record() {
    const MAILS: usize = 200;
    let desk = Desk::new();
    desk.write("b", "");
    let _ = desk.scene.dir("disk");
    let script = r#"mount -t tmpfs -o size=64k,mode=700 none ../disk && exec "$@""#;
    let mut shell = command("unshare");
    shell.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    shell.arg(env!("CARGO_BIN_EXE_collab-tail")).args(["@lead", "b", "--store", "../disk"]);
    let mut running = Running::start(shell.current_dir(desk.scene.join("boards")));
    running.event("monitor_armed");
    // The disk is the program's alone, and is seen through its eyes.
    let mount = format!("/proc/{}/root{}", running.pid(), desk.scene.join("disk").display());
    let filler = format!("{mount}/filler");
    let mut file = fs::File::create(&filler).unwrap();
    while file.write_all(&[0; 512]).is_ok() {}
    drop(file);

    desk.append("b", (0..MAILS).map(|n| h(&n.to_string())).collect::<String>());
    let (mut told, mut warnings) = (Vec::new(), Vec::new());
    while told.len() < MAILS || warnings.is_empty() {
        let line = running.line();
        match line["event"].as_str().unwrap() {
            "collab_mail" => told.push(line["text"].as_str().unwrap().to_owned()),
            _ => warnings.push(line),
        }
    }
    assert_eq!(told, (0..MAILS).map(|n| line(&n.to_string())).collect::<Vec<_>>());
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(
        (&warnings[0]["reason"], &warnings[0]["condition"]),
        (&"state-failed".into(), &"raised".into())
    );
    fs::remove_file(filler).unwrap();
    desk.append("b", h("last"));
    assert_eq!(running.event("collab_mail")["text"], line("last"));
    assert_eq!(running.event("watch_warn")["condition"], "cleared");
    let seen = fs::read_to_string(format!("{mount}/collab-tail/lead/seen")).unwrap();
    let records: std::collections::BTreeSet<&str> = seen.lines().skip(1).collect();
    assert_eq!((seen.lines().count(), records.len()), (MAILS + 2, MAILS + 1));
    assert!(seen.ends_with('\n') && records.iter().all(|record| record.len() == 64), "{seen}");
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn f07_without_its_records_it_tells_nothing_and_makes_nothing() {
    for seen in [None, Some("")] {
        let desk = Desk::new();
        desk.write("b", h("a"));
        desk.look_b();
        fs::remove_file(store(&desk, "seen")).unwrap();
        if let Some(text) = seen {
            desk.scene.write("store/collab-tail/lead/seen", text);
        }
        desk.append("b", h("b"));
        let look = desk.look_b();
        let events: Vec<&str> =
            look.lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
        assert_eq!((look.code, events), (Some(4), vec!["watch_warn", "monitor_failed"]));
        assert_eq!(look.warnings(), [("state-failed".to_owned(), "raised".to_owned())]);
        assert_eq!(look.lines[1]["reason"], "state_failed");
        let left = fs::read_to_string(store(&desk, "seen")).ok();
        assert_eq!(left.as_deref(), seen);
    }
}

#[test]
fn f07_a_torn_record_is_cut_off_and_garbage_is_refused() {
    let desk = Desk::new();
    desk.write("b", h("a"));
    desk.look_b();
    desk.scene.append("store/collab-tail/lead/seen", "0123");
    assert!(desk.look_b().is_silent());
    desk.scene.append("store/collab-tail/lead/seen", "garbage\n");
    let look = desk.look_b();
    assert_eq!((look.code, look.mail().len()), (Some(4), 0));
    assert!(look.stderr.contains("line 3 is no record"), "{}", look.stderr);
}

#[test]
fn f08_a_boards_memory_that_is_not_ours_is_refused_and_left() {
    let desk = Desk::new();
    desk.write("b", h("a"));
    desk.look_b();
    let file = board_file(&desk);
    let whole = fs::read_to_string(&file).unwrap();
    let name = file.strip_prefix(desk.scene.path()).unwrap().to_str().unwrap().to_owned();
    desk.append("b", h("b"));
    for text in [
        &whole[..whole.len() / 2],
        "\0\u{1}\0",
        "",
        &whole.replace("\"version\":1", "\"version\":2"),
    ] {
        desk.scene.write(&name, text);
        let look = desk.look_b();
        assert_eq!((look.code, look.mail().len()), (Some(4), 0));
        assert!(look.stderr.contains(file.to_str().unwrap()), "{}", look.stderr);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    desk.scene.write(&name, &whole);
    assert_eq!(desk.look_b().mail(), [line("b")]);
}

#[test]
fn f09_one_of_20_starts_runs_and_the_others_name_it() {
    let desk = Desk::new();
    desk.write("b", "");
    let mut running: Vec<Running> = (0..20)
        .map(|n| Running::start(&mut desk.command(&[["lead", "@lead", "@LEAD"][n % 3], "b"])))
        .collect();
    let mut first = None;
    eventually("one is armed", || {
        first = running
            .iter_mut()
            .position(|one| one.so_far().iter().any(|line| line["event"] == "monitor_armed"));
        first.is_some()
    });
    let winner = running.remove(first.unwrap());
    for other in running {
        let ended = other.end();
        assert_eq!(ended.code, Some(4));
        let want = format!("held by pid {}\n", winner.pid());
        assert!(ended.stderr.ends_with(&want), "{} / {want}", ended.stderr);
    }
    let _ = winner.kill();
    // Its pid still stands there, and may be anybody's by now.
    desk.scene.write("store/collab-tail/lead/lock", format!("{}\n", std::process::id()));
    assert!(desk.look_b().is_silent());
}

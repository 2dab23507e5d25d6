//! What outlives the process.

use std::fs;

use tests::{Running, eventually, lines, pause};

use crate::stage::{JOURNAL, Stage, expect, line, some};

fn cursor(stage: &Stage) -> String {
    stage.scene.join("kept/cursor").to_str().unwrap().to_owned()
}

#[test]
fn t14_what_was_said_is_not_said_again() {
    let stage = Stage::with(some(1..=3));
    let cursor = cursor(&stage);
    let args = ["--cursor", &*cursor, "--from-start"];
    assert_eq!(stage.once(&args), some(1..=3));
    assert_eq!(stage.once(&args), "");
    stage.append(some(4..=5));
    assert_eq!(stage.once(&["--cursor", &cursor]), some(4..=5));
    let kept: serde_json::Value = serde_json::from_slice(&fs::read(&cursor).unwrap()).unwrap();
    let keys: Vec<&String> = kept.as_object().unwrap().keys().collect();
    assert_eq!(keys.len(), 8, "{keys:?}");
    assert_eq!((&kept["version"], &kept["program"]), (&1.into(), &"event-tail".into()));
    assert_eq!(kept["path"], stage.scene.join("state").to_str().unwrap());
    assert_eq!(kept["offset"], some(1..=5).len());
}

#[test]
fn t14_killed_at_random_points_it_loses_nothing() {
    const LINES: u32 = 10_000;
    let stage = Stage::with("");
    let cursor = cursor(&stage);
    let args = ["--cursor", &*cursor, "--from-start"];
    let mut seen = vec![false; LINES as usize];
    let mut note = |lines: Vec<serde_json::Value>| {
        for revision in lines.iter().filter_map(|line| line["revision"].as_u64()) {
            seen[usize::try_from(revision).unwrap()] = true;
        }
    };
    let writer = std::thread::spawn({
        let journal = stage.journal();
        move || {
            use std::io::Write as _;
            let mut journal = fs::OpenOptions::new().append(true).open(journal).unwrap();
            for n in 0..LINES {
                journal.write_all(line(n).as_bytes()).unwrap();
                pause(std::time::Duration::from_micros(500));
            }
        }
    });
    let mut random = 88_172_645_463_325_252_u64;
    for _ in 0..1_000 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let running = Running::start(&mut stage.command(&args));
        pause(std::time::Duration::from_micros(random % 8_000));
        note(running.kill());
    }
    writer.join().unwrap();
    let output = stage.run(&[&args[..], &["--once"]].concat());
    note(lines(&output.stdout));
    let missing: Vec<usize> = (0..seen.len()).filter(|n| !seen[*n]).collect();
    assert_eq!(missing, [0; 0]);
}

#[test]
fn t14_rotated_between_two_runs() {
    let stage = Stage::with(some(1..=3));
    let cursor = cursor(&stage);
    let args = ["--cursor", &*cursor, "--from-start"];
    assert_eq!(stage.once(&args), some(1..=3));
    stage.append(line(4));
    stage.rotate("state/old");
    stage.append(some(5..=9));
    let output = stage.once(&args);
    let (notice, rest) = output.split_once('\n').unwrap();
    assert!(notice.contains("\"reason\":\"rotated_away\""), "{notice}");
    assert!(notice.contains("\"unread_possible\":true"), "{notice}");
    assert!(notice.contains(&format!("\"previous_offset\":{}", some(1..=3).len())), "{notice}");
    assert_eq!(rest, some(5..=9));
    assert_eq!(stage.once(&args), "");
}

#[test]
fn t14_truncated_rewritten_or_replaced_between_two_runs() {
    for (journal, reason) in
        [(some(7..=8), "truncated"), (some(11..=19), "rewritten"), (some(1..=9), "")]
    {
        let stage = Stage::with(some(1..=3));
        let cursor = cursor(&stage);
        let args = ["--cursor", &*cursor, "--from-start"];
        assert_eq!(stage.once(&args), some(1..=3));
        if reason.is_empty() {
            stage.scene.replace(JOURNAL, &journal);
            assert_eq!(stage.once(&args), some(4..=9));
            continue;
        }
        stage.scene.write(JOURNAL, &journal);
        let output = stage.once(&args);
        let (notice, rest) = output.split_once('\n').unwrap();
        assert!(notice.contains(&format!("\"reason\":\"{reason}\"")), "{notice}");
        assert_eq!(rest, journal);
    }
}

#[test]
fn t14_a_broken_cursor_is_no_reason_to_skip() {
    for broken in ["", "{\"version\":1,\"prog", "\0\0\0\0"] {
        let stage = Stage::with(some(1..=3));
        let cursor = cursor(&stage);
        let _ = stage.scene.dir("kept");
        stage.scene.write("kept/cursor", broken);
        let output = stage.run(&["--cursor", &cursor, "--once"]);
        assert_eq!(output.status.code(), Some(0));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            stderr.starts_with("event-tail: warning: ") && stderr.lines().count() == 1,
            "{stderr}"
        );
        let stdout = String::from_utf8(output.stdout).unwrap();
        let (notice, rest) = stdout.split_once('\n').unwrap();
        assert!(notice.contains("\"reason\":\"cursor_invalid\""), "{notice}");
        assert!(notice.contains("\"unread_possible\":false"), "{notice}");
        assert_eq!(rest, some(1..=3));
        assert_eq!(stage.once(&["--cursor", &cursor]), "");
    }
}

#[test]
fn a_journal_that_appears_between_two_runs_is_read_from_its_beginning() {
    let stage = Stage::new();
    let cursor = cursor(&stage);
    assert_eq!(stage.once(&["--cursor", &cursor]), "");
    stage.append(some(1..=3));
    assert_eq!(stage.once(&["--cursor", &cursor]), some(1..=3));
}

#[test]
fn a_cursor_of_another_or_in_use_is_refused() {
    let stage = Stage::with(some(1..=3));
    let cursor = cursor(&stage);
    let text = "{\"version\":2,\"program\":\"event-tail\",\"path\":\"/p\"}";
    let _ = stage.scene.dir("kept");
    stage.scene.write("kept/cursor", text);
    let output = stage.run(&["--cursor", &cursor, "--once"]);
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(lines(&output.stdout)[0]["reason"], "cursor_refused");
    assert_eq!(fs::read_to_string(&cursor).unwrap(), text);
    fs::remove_file(&cursor).unwrap();

    let _running = stage.start(&["--cursor", &cursor]);
    let output = stage.run(&["--cursor", &cursor, "--once"]);
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn a_cursor_among_what_is_watched_is_a_wrong_command_line() {
    let stage = Stage::with(some(1..=3));
    for place in ["state/cursor", ".git/cursor"] {
        let path = stage.scene.join(place);
        let output = stage.run(&["--cursor", path.to_str().unwrap(), "--once"]);
        assert_eq!((output.status.code(), &*output.stdout), (Some(1), &b""[..]), "{place}");
        assert!(!path.exists());
    }
}

#[test]
fn it_is_saved_while_running_and_a_lost_folder_is_told() {
    let stage = Stage::with(line(1));
    let cursor = cursor(&stage);
    let mut running = stage.start(&["--cursor", &cursor]);
    let offset = || {
        let bytes = fs::read(&cursor).unwrap_or_default();
        serde_json::from_slice::<serde_json::Value>(&bytes).ok()?["offset"].as_u64()
    };
    eventually("the start is saved", || offset() == Some(line(1).len() as u64));
    stage.append(line(2));
    expect(&mut running, 2);
    eventually("it is saved", || offset() == Some(some(1..=2).len() as u64));
    fs::rename(stage.scene.join("kept"), stage.scene.join("gone")).unwrap();
    stage.append(line(3));
    let mut told = [running.line(), running.line()];
    told.sort_by_key(|line| line["event"].to_string());
    assert_eq!(
        (&told[0]["reason"], &told[1]["revision"]),
        (&"cursor_unwritable".into(), &3.into())
    );
    fs::rename(stage.scene.join("gone"), stage.scene.join("kept")).unwrap();
    stage.append(line(4));
    let mut told = [running.line(), running.line()];
    told.sort_by_key(|line| line["event"].to_string());
    assert_eq!((&told[0]["event"], &told[1]["revision"]), (&"monitor_recovered".into(), &4.into()));
}

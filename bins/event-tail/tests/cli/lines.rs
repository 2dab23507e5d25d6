//! Which lines pass, and in which shape.

use std::{
    fs::File,
    io::Read as _,
    os::{fd::OwnedFd, unix::fs::FileExt as _},
    time::Duration,
};

use nix::{fcntl::OFlag, unistd::pipe2};
use tests::{eventually, lines, pause};

use crate::stage::{JOURNAL, Stage, expect, line, some};

const F: [&str; 3] = ["--filter", "state_committed", "--from-start"];

#[test]
fn t01_matching_lines_pass_byte_for_byte() {
    let matching = [
        &*line(1),
        "{\"event\": \"state_committed\"}\n",
        "{\"event\":\"state\\u005fcommitted\"}\n",
    ];
    let stage =
        Stage::with([matching[0], "{\"event\":\"other\"}\n", matching[1], matching[2]].concat());
    assert_eq!(stage.once(&F), matching.concat());
    let two = ["--filter", "other", "--filter", "x", "--from-start"];
    assert_eq!(stage.once(&two), "{\"event\":\"other\"}\n");
}

#[test]
fn t02_a_type_elsewhere_gives_nothing_but_a_count() {
    let stage = Stage::with(concat!(
        "{\"event\":\"o\",\"p\":{\"event\":\"state_committed\"}}\n",
        "{\"event\":\"o\",\"s\":\"\\\"event\\\":\\\"state_committed\\\"\"}\n",
        "{\"event\":\"state_committed\",\"event\":\"o\"}\n",
        "[{\"event\":\"state_committed\"}]\n",
    ));
    let seen = lines(stage.once(&F).as_bytes());
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert_eq!(
        (&seen[0]["event"], &seen[0]["reason"]),
        (&"tail_skipped".into(), &"malformed".into())
    );
    assert_eq!((&seen[0]["count"], &seen[0]["first_offset"]), (&1.into(), &136.into()));
    let keys: Vec<&str> = seen[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys.len(), 11);
}

#[test]
fn t03_without_a_filter_lines_pass_unchanged() {
    let text =
        "{\"z\":18446744073709551615,\"f\":1.0,\"e\":1e400}\r\nplain text\n{\"s\":\"\u{2028}\"}\n";
    let stage = Stage::with(format!("{text}\n"));
    assert_eq!(stage.once(&["--from-start"]), text);
}

#[test]
fn t04_a_bad_line_does_not_hide_the_next() {
    let bad = "{\"event\":\"state_committed\" bad\n";
    let stage = Stage::with(["{\"a\":\"\0\"}\n", &line(4), bad, &line(5)].concat());
    let output = stage.once(&F);
    let seen: Vec<&str> = output.split_inclusive('\n').collect();
    assert_eq!((seen.len(), seen[0], seen[2]), (3, &*line(4), &*line(5)));
    assert!(seen[1].contains("\"reason\":\"malformed\",\"count\":1"), "{}", seen[1]);
}

#[test]
fn t05_a_line_comes_when_it_is_whole() {
    let stage = Stage::with("{\"half\":");
    let mut running = stage.start(&[]);
    stage.append("1}\n{\"event\":\"a\"");
    assert_eq!(running.raw(), "{\"half\":1}\n");
    pause(Duration::from_millis(500));
    assert_eq!(running.so_far(), [0; 0]);
    stage.append("}\n");
    assert_eq!(running.raw(), "{\"event\":\"a\"}\n");
    assert_eq!(running.stop().lines, [0; 0]);
}

#[test]
fn t11_a_line_beyond_the_limit_is_counted_and_passed_over() {
    let stage = Stage::new();
    let mut running = stage.start(&[]);
    stage.append(line(1));
    expect(&mut running, 1);
    for _ in 0..50 {
        stage.append(vec![b'x'; 100_000]);
    }
    stage.append("\n");
    stage.append(line(2));
    let skipped = running.event("tail_skipped");
    assert_eq!((&skipped["reason"], &skipped["count"]), (&"too_long".into(), &1.into()));
    assert_eq!(
        (&skipped["bytes"], &skipped["first_offset"]),
        (&5_000_001.into(), &line(1).len().into())
    );
    expect(&mut running, 2);
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 12 << 10, "{peak} kB");
}

#[test]
fn t11_lines_after_a_hole_left_by_truncation_are_whole() {
    let stage = Stage::new();
    let journal = File::create(stage.journal()).unwrap();
    journal.write_all_at(some(1..=3).as_bytes(), 0).unwrap();
    let mut running = stage.start(&[]);
    let kept = some(1..=3).len() as u64;
    stage.scene.write(JOURNAL, "");
    assert_eq!(running.event("tail_reset")["reason"], "truncated");
    journal.write_all_at(some(4..=5).as_bytes(), kept).unwrap();
    let skipped = running.event("tail_skipped");
    assert_eq!((&skipped["reason"], &skipped["bytes"]), (&"nul".into(), &kept.into()));
    expect(&mut running, 4);
    expect(&mut running, 5);
}

#[test]
fn t13_the_start_is_the_end_the_beginning_or_some_lines_before() {
    let stage = Stage::with(some(1..=5));
    assert_eq!(stage.once(&["--lines", "2"]), some(4..=5));
    assert_eq!(stage.once(&["--lines", "9"]), some(1..=5));
    assert_eq!(stage.once(&["--lines", "0"]), "");
    assert_eq!(stage.once(&[]), "");
    assert_eq!(stage.once(&["--from-start"]), some(1..=5));
    let cut = some(1..=5);
    stage.scene.write(JOURNAL, cut.trim_end());
    assert_eq!(stage.once(&["--from-start"]), some(1..=4));
    assert_eq!(stage.once(&["--lines", "2"]), some(3..=4));
}

#[test]
fn t15_a_mark_of_order_is_left_out_and_line_ends_are_kept() {
    let stage = Stage::with("\u{feff}{\"a\":1}\r\n\u{feff}{\"a\":2}\r\n");
    assert_eq!(stage.once(&["--from-start"]), "{\"a\":1}\r\n\u{feff}{\"a\":2}\r\n");
}

#[test]
fn long_lines_leave_alone_and_whole() {
    let long = format!("{{\"event\":\"state_committed\",\"s\":\"{}\"}}\n", "y".repeat(300_000));
    let stage = Stage::with([line(1), long.clone(), line(2)].concat());
    assert_eq!(stage.once(&F), [line(1), long, line(2)].concat());
}

#[test]
fn what_was_skipped_since_is_told_at_the_end() {
    let stage = Stage::new();
    let mut running = stage.start(&[]);
    stage.append("\0\n");
    assert_eq!(running.event("tail_skipped")["count"], 1);
    stage.append("\0\n\0\n");
    stage.append(line(1));
    expect(&mut running, 1);
    let ended = running.stop();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 1));
    assert_eq!((&ended.lines[0]["count"], &ended.lines[0]["bytes"]), (&2.into(), &4.into()));
}

#[test]
fn a_flood_comes_whole_and_in_order() {
    let stage = Stage::new();
    let mut running = stage.start(&[]);
    stage.append(some(0..100_000));
    let mut next = 0;
    eventually("all lines", || {
        for line in running.so_far() {
            assert_eq!(line["revision"], next);
            next += 1;
        }
        next == 100_000
    });
}

/// A pipe whose every read is one write of the other end.
fn packets() -> (File, OwnedFd) {
    let (reader, writer) = pipe2(OFlag::O_DIRECT | OFlag::O_CLOEXEC).unwrap();
    (reader.into(), writer)
}

#[test]
fn xx_03_lines_that_wait_share_a_write_and_none_is_cut() {
    const LINES: u32 = 10_000;
    let stage = Stage::with(some(0..LINES));
    let (mut reader, writer) = packets();
    // A command that is kept keeps the pipe it was given.
    let mut child = stage.command(&["--from-start", "--once"]).stdout(writer).spawn().unwrap();
    let (mut seen, mut count, mut piece) = (String::new(), 0, [0; 8192]);
    loop {
        let n = reader.read(&mut piece).unwrap();
        if n == 0 {
            break;
        }
        let write = std::str::from_utf8(&piece[..n]).unwrap();
        assert!(n <= 4096 && write.starts_with('{') && write.ends_with("}\n"), "{write}");
        seen.push_str(write);
        count += 1;
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(seen == some(0..LINES), "every line, in order");
    assert!(count <= 250, "{count} writes");
}

//! One name, many files.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::{MetadataExt as _, symlink},
    time::Duration,
};

use tests::{Running, eventually, pause};

use crate::stage::{JOURNAL, Stage, expect, line, some};

#[test]
fn t06_renamed_and_made_again() {
    let stage = Stage::with(line(1));
    let mut running = stage.start(&[]);
    stage.rotate("state/old");
    stage.append(line(2));
    expect(&mut running, 2);
    assert_eq!(running.stop().lines, [0; 0]);
}

#[test]
fn t06_deleted_and_made_again() {
    let stage = Stage::with(line(1));
    let mut running = stage.start(&[]);
    for n in 2..20 {
        fs::remove_file(stage.journal()).unwrap();
        stage.append(line(n));
        expect(&mut running, n);
    }
    assert_eq!(running.stop().lines, [0; 0]);
}

#[test]
fn t06_replaced_by_a_copy_with_one_line_more() {
    let stage = Stage::with(some(1..=50));
    let mut running = stage.start(&[]);
    for n in 51..60 {
        stage.scene.replace(JOURNAL, some(1..=n));
        expect(&mut running, n);
    }
    assert_eq!(running.stop().lines, [0; 0]);
}

#[test]
fn t06_replaced_by_another_file_is_read_from_its_beginning() {
    let stage = Stage::with(some(1..=50));
    let mut running = stage.start(&[]);
    stage.scene.replace(JOURNAL, some(51..=53));
    (51..=53).for_each(|n| expect(&mut running, n));
    stage.scene.write("state/new", line(54));
    fs::hard_link(stage.scene.join("state/new"), stage.scene.join("state/link")).unwrap();
    fs::rename(stage.scene.join("state/link"), stage.journal()).unwrap();
    expect(&mut running, 54);
    assert_eq!(running.stop().lines, [0; 0]);
}

#[test]
fn t06_the_folder_removed_and_made_again() {
    let stage = Stage::with(line(1));
    let mut running = stage.start(&[]);
    for n in 2..10 {
        fs::remove_dir_all(stage.scene.join("state")).unwrap();
        let _ = stage.scene.dir("state");
        stage.append(line(n));
        expect(&mut running, n);
    }
    assert_eq!(running.stop().lines, [0; 0]);
}

#[test]
fn t06_what_the_old_file_still_gets_comes_too() {
    let stage = Stage::with(line(1));
    let mut running = stage.start(&[]);
    stage.rotate("state/old");
    stage.append(line(2));
    expect(&mut running, 2);
    stage.scene.append("state/old", line(3));
    expect(&mut running, 3);
    stage.scene.append("state/old", "{\"last\":1}");
    assert_eq!(running.raw(), "{\"last\":1}\n");
    stage.append(line(4));
    expect(&mut running, 4);
}

#[test]
fn t06_half_a_line_at_the_end_of_the_old_file_is_counted() {
    let stage = Stage::new();
    let mut running = stage.start(&[]);
    stage.append(format!("{}{{\"ev", line(1)));
    expect(&mut running, 1);
    stage.rotate("state/old");
    stage.append(line(2));
    expect(&mut running, 2);
    let skipped = running.event("tail_skipped");
    assert_eq!((&skipped["reason"], &skipped["bytes"]), (&"unterminated".into(), &4.into()));
}

#[test]
fn t07_half_a_line_is_ended_in_its_own_file() {
    let stage = Stage::new();
    let mut running = stage.start(&[]);
    stage.append(format!("{}{{\"a\":", line(1)));
    expect(&mut running, 1);
    // Both happen before the program can look, so that nothing depends on its speed.
    running.freeze();
    stage.rotate("state/old");
    stage.scene.append("state/old", "1}\n");
    stage.append("{\"b\":2}\n");
    running.thaw();
    assert_eq!(running.raw(), "{\"a\":1}\n");
    assert_eq!(running.raw(), "{\"b\":2}\n");
    assert_eq!(running.stop().lines, [0; 0]);
}

#[test]
fn t08_truncated_and_rewritten_in_place() {
    let stage = Stage::with(some(1..=6));
    let mut running = stage.start(&[]);
    stage.scene.write(JOURNAL, "");
    let reset = running.event("tail_reset");
    assert_eq!((&reset["reason"], &reset["unread_possible"]), (&"truncated".into(), &true.into()));
    assert_eq!(reset["previous_offset"], some(1..=6).len());
    stage.append(line(7));
    expect(&mut running, 7);

    running.freeze();
    stage.scene.write(JOURNAL, some(12..=15));
    running.thaw();
    let reset = running.event("tail_reset");
    assert_eq!(
        (&reset["reason"], &reset["size"]),
        (&"rewritten".into(), &some(12..=15).len().into())
    );
    (12..=15).for_each(|n| expect(&mut running, n));
    assert_eq!(running.stop().lines, [0; 0]);
}

#[test]
fn t08_a_copy_made_before_a_truncation_is_not_read() {
    let stage = Stage::with(some(1..=6));
    let mut running = stage.start(&[]);
    fs::copy(stage.journal(), stage.scene.join("state/events.ndjson.1")).unwrap();
    stage.scene.write(JOURNAL, "");
    stage.append(line(7));
    assert_eq!(running.event("tail_reset")["reason"], "truncated");
    expect(&mut running, 7);
    assert_eq!(running.stop().lines, [0; 0]);
}

#[test]
fn t09_two_hundred_rotations_lose_and_repeat_nothing() {
    let stage = Stage::new();
    let mut running = stage.start(&[]);
    for round in 0..200 {
        for n in 0..20 {
            stage.append(line(round * 20 + n));
        }
        stage.rotate(&format!("state/events.ndjson.{round}"));
        pause(Duration::from_millis(1));
    }
    (0..4_000).for_each(|n| expect(&mut running, n));
    stage.append(line(4_000));
    expect(&mut running, 4_000);
    assert_eq!(running.stop().lines, [0; 0]);
}

#[test]
fn t09_rotations_between_two_looks_are_followed_through_every_name() {
    let stage = Stage::with(line(0));
    let mut running = stage.start(&[]);
    running.freeze();
    for n in 1..=30 {
        stage.append(line(n));
        for old in (1..n).rev() {
            let name = |n: u32| stage.scene.join(format!("state/events.ndjson.{n}"));
            fs::rename(name(old), name(old + 1)).unwrap();
        }
        stage.rotate("state/events.ndjson.1");
    }
    running.thaw();
    (1..=30).for_each(|n| expect(&mut running, n));
    stage.append(line(31));
    expect(&mut running, 31);
    assert_eq!(running.stop().lines, [0; 0]);
}

#[test]
fn t09_a_file_that_had_the_name_and_is_gone_is_told() {
    let stage = Stage::with(line(0));
    let mut running = stage.start(&[]);
    running.freeze();
    stage.rotate("state/a");
    stage.append(line(1));
    stage.rotate("state/b");
    fs::remove_file(stage.scene.join("state/b")).unwrap();
    stage.append(line(2));
    running.thaw();
    let reset = running.event("tail_reset");
    assert_eq!(
        (&reset["reason"], &reset["unread_possible"]),
        (&"rotated_away".into(), &true.into())
    );
    expect(&mut running, 2);
    assert_eq!(running.stop().lines, [0; 0]);
}

#[test]
fn t09_ten_thousand_rotations_take_no_memory_and_no_watches() {
    let stage = Stage::new();
    let mut running = stage.start(&["--filter", "marker"]);
    let before = resident_kb(&running);
    for n in 0..10_000 {
        stage.append(line(n));
        stage.rotate("state/events.ndjson.1");
    }
    stage.append("{\"event\":\"marker\"}\n");
    while running.line()["event"] != "marker" {}
    let after = resident_kb(&running);
    assert!(after < before + (4 << 10), "{before} kB, then {after} kB");
    assert!(watches(&running) <= 2);
}

fn resident_kb(running: &Running) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", running.pid())).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    resident.trim().trim_end_matches(" kB").parse().unwrap()
}

fn watches(running: &Running) -> usize {
    let descriptors = fs::read_dir(format!("/proc/{}/fdinfo", running.pid())).unwrap();
    let infos = descriptors.filter_map(|info| fs::read_to_string(info.unwrap().path()).ok());
    infos.map(|info| info.matches("inotify wd:").count()).sum()
}

#[test]
fn t10_an_inode_that_recurs_is_a_new_file() {
    let stage = Stage::with(line(1));
    let first = fs::metadata(stage.journal()).unwrap().ino();
    let mut running = stage.start(&[]);
    let mut n = 2;
    // The inode is free again once the program lets go of it, after a second.
    for _ in 0..40 {
        fs::remove_file(stage.journal()).unwrap();
        stage.append(some([n, n + 1, n + 2]));
        (n..n + 3).for_each(|n| expect(&mut running, n));
        n += 3;
        if fs::metadata(stage.journal()).unwrap().ino() == first {
            break;
        }
        pause(Duration::from_millis(100));
    }
    assert_eq!(running.stop().lines, [0; 0]);
}

#[test]
fn t10_files_of_one_beginning_are_both_read() {
    let head = some(1..=40);
    let stage = Stage::new();
    let mut running = stage.start(&[]);
    stage.append(&head);
    (1..=40).for_each(|n| expect(&mut running, n));
    stage.rotate("state/old");
    stage.append(&head);
    (1..=40).for_each(|n| expect(&mut running, n));
    fs::remove_file(stage.journal()).unwrap();
    stage.append(&head);
    (1..=40).for_each(|n| expect(&mut running, n));
}

#[test]
fn t06_a_symbolic_link_turned_elsewhere() {
    let stage = Stage::new();
    let _ = stage.scene.dir("logs");
    stage.scene.write("logs/one", line(1));
    symlink(stage.scene.join("logs/one"), stage.journal()).unwrap();
    // The sweep is far away: the target's folder has to be watched.
    let mut running = stage.start(&["--poll-interval", "1h"]);
    stage.scene.append("logs/one", line(2));
    expect(&mut running, 2);
    stage.scene.write("logs/two", some([3, 4]));
    symlink(stage.scene.join("logs/two"), stage.scene.join("state/link")).unwrap();
    fs::rename(stage.scene.join("state/link"), stage.journal()).unwrap();
    expect(&mut running, 3);
    expect(&mut running, 4);
    stage.scene.append("logs/two", line(5));
    expect(&mut running, 5);
    // The link's folder, the target's, and the mark of what was filed.
    assert!(watches(&running) <= 3);
}

#[test]
fn t06_what_a_link_led_to_is_read_to_its_end_before_the_next() {
    let stage = Stage::new();
    let _ = stage.scene.dir("logs");
    stage.scene.write("logs/one", line(1));
    symlink(stage.scene.join("logs/one"), stage.journal()).unwrap();
    let mut running = stage.start(&["--poll-interval", "1h"]);
    // Both happen before the program can look.
    running.freeze();
    stage.scene.append("logs/one", some([2, 3]));
    stage.scene.write("logs/two", some([4, 5]));
    symlink(stage.scene.join("logs/two"), stage.scene.join("state/link")).unwrap();
    fs::rename(stage.scene.join("state/link"), stage.journal()).unwrap();
    running.thaw();
    (2..=5).for_each(|n| expect(&mut running, n));
    assert_eq!(running.stop().lines, [0; 0]);
}

#[test]
fn t12_a_folder_that_appears_later() {
    let stage = Stage::new();
    fs::remove_dir(stage.scene.join("state")).unwrap();
    let mut running = stage.start(&["--filter", "state_committed"]);
    assert!(!stage.scene.join("state").exists());
    let _ = stage.scene.dir("state");
    stage.append(line(1));
    expect(&mut running, 1);
    let before = stage.scene.tree();
    stage.append("{\"event\":\"other\"}\n");
    stage.append(line(2));
    expect(&mut running, 2);
    let ended = running.stop();
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    assert_eq!(stage.scene.tree().len(), before.len());
}

#[test]
fn t12_nothing_is_written_where_it_only_reads() {
    let stage = Stage::with(some(1..=5));
    let before = stage.scene.tree();
    assert_eq!(stage.once(&["--from-start"]), some(1..=5));
    assert_eq!(stage.start(&["--lines", "2"]).stop().lines.len(), 2);
    assert_eq!(stage.scene.tree(), before);
}

#[test]
fn all_of_it_by_polling_alone() {
    let stage = Stage::with(line(1));
    let mut running = stage.start(&["--poll-only", "--poll-interval", "0.05"]);
    stage.append(line(2));
    expect(&mut running, 2);
    stage.rotate("state/old");
    stage.append(line(3));
    expect(&mut running, 3);
    stage.scene.replace(JOURNAL, some([3, 4]));
    expect(&mut running, 4);
    stage.scene.write(JOURNAL, line(5));
    assert_eq!(running.event("tail_reset")["event"], "tail_reset");
    expect(&mut running, 5);
    assert_eq!(watches(&running), 0);
}

#[test]
fn a_writer_that_keeps_the_file_open_is_followed() {
    let stage = Stage::with("");
    let mut writer = OpenOptions::new().append(true).open(stage.journal()).unwrap();
    let mut running = stage.start(&[]);
    writer.write_all(line(1).as_bytes()).unwrap();
    expect(&mut running, 1);
    stage.rotate("state/away");
    writer.write_all(line(2).as_bytes()).unwrap();
    expect(&mut running, 2);
    fs::rename(stage.scene.join("state/away"), stage.journal()).unwrap();
    writer.write_all(line(3).as_bytes()).unwrap();
    expect(&mut running, 3);
    eventually("nothing is left", || running.so_far().is_empty());
    assert_eq!(running.stop().lines, [0; 0]);
}

//! Stories of several looks, continued: modes, held lines, an older tool's memory.

use std::{fs, os::unix::fs::symlink, time::Duration};

use collab_tail::hash::Hash;

use crate::desk::{Desk, h, line};

#[test]
fn s17_another_mode_makes_no_mail_of_history() {
    let desk = Desk::new();
    desk.write("b", "note for @lead\n## n\n");
    desk.look_b();
    assert!(desk.look(&["@lead", "b", "--route", "bounded"]).is_silent());
    desk.append("b", "again for @lead\n## m\n");
    assert_eq!(desk.look(&["@lead", "b", "--route", "bounded"]).mail(), ["again for @lead"]);
}

#[test]
fn s18_another_alias_makes_no_mail_of_history() {
    let desk = Desk::new();
    desk.write("b", "");
    desk.look_b();
    desk.append("b", "### @worker → @desk-4 — x\n");
    assert!(desk.look_b().is_silent());
    let look = || desk.look(&["@lead", "b", "--alias", "@desk-4"]);
    assert!(look().is_silent());
    desk.append("b", "### @worker → @desk-4 — y\n");
    assert_eq!(look().mail(), ["### @worker → @desk-4 — y"]);
}

#[test]
fn s19_own_posts_that_were_dropped_stay_dropped() {
    let desk = Desk::new();
    desk.write("b", "");
    assert!(desk.look(&["@lead", "b", "--self", "drop"]).is_silent());
    desk.append("b", "### @lead → @worker — a\n");
    assert!(desk.look(&["@lead", "b", "--self", "drop"]).is_silent());
    assert!(desk.look(&["@lead", "b", "--self", "emit"]).is_silent());
}

#[test]
fn s20_a_held_line_outlives_the_process() {
    let desk = Desk::new();
    desk.write("b", "");
    desk.look_b();
    desk.append("b", "@lead: may I?\n");
    assert!(desk.look_b().is_silent());
    desk.append("b", "— @worker\n");
    let look = desk.look_b();
    assert_eq!(look.mail(), ["@lead: may I?"]);
    let mail = look.of("collab_mail")[0];
    assert_eq!(
        (&mail["line_number"], &mail["author"], &mail["via"]),
        (&1.into(), &"@worker".into(), &"direct".into())
    );
    assert_eq!(mail["recipients"][0], "@lead");
}

#[test]
fn s21_a_known_author_needs_no_signature_and_none_takes_it_back() {
    let desk = Desk::new();
    desk.write("b", "");
    desk.look(&["@lead", "b", "--route", "bounded"]);
    desk.append("b", "### @worker — log\nsee @lead\n— @lead\n");
    let look = desk.look(&["@lead", "b", "--route", "bounded"]);
    assert_eq!(
        (look.mail(), &look.of("collab_mail")[0]["line_number"]),
        (vec!["see @lead".to_owned()], &2.into())
    );
}

#[test]
fn s22_two_listeners_have_one_hash_and_two_ids() {
    let desk = Desk::new();
    desk.write("b", "");
    let look = |who| desk.look(&[who, "b"]);
    look("@lead");
    look("tester");
    desk.append("b", "### @worker → @lead, @tester — a\n");
    let (one, two) = (look("@lead"), look("tester"));
    let (one, two) = (one.of("collab_mail")[0], two.of("collab_mail")[0]);
    assert_eq!(one["hash"], two["hash"]);
    assert_ne!(one["id"], two["id"]);
    assert_eq!(two["listener"], "@tester");
}

/// The older tool's folder: what it told, and how much of board `b` it read.
fn original(desk: &Desk, told: &[&str], size: usize) -> String {
    let dir = desk.scene.dir("original/sizes");
    let hashes: Vec<String> =
        told.iter().map(|line| Hash::of(&[line.as_bytes()]).to_string() + "\n").collect();
    desk.scene.write("original/seen.sha256", hashes.concat());
    let name = Hash::of(&[desk.path("b").as_bytes()]);
    desk.scene.write(&format!("original/sizes/{name}.size"), format!("{size}\n"));
    dir.parent().unwrap().display().to_string()
}

#[test]
fn s23_the_older_tools_memory_is_taken_over() {
    let desk = Desk::new();
    desk.write("b", h("a") + &h("b"));
    let dir = original(&desk, &[&h("a")], h("a").len());
    let look = || desk.look(&["@lead", "b", "--import", &dir]);
    assert_eq!(look().mail(), [line("b")]);
    assert!(look().is_silent());
    let seen = fs::read_to_string(desk.scene.join("store/collab-tail/lead/seen")).unwrap();
    assert_eq!(seen.matches("#imported\n").count(), 1);
}

#[test]
fn s23_what_the_older_tool_held_is_still_held() {
    let desk = Desk::new();
    let old = format!("{}@lead: may I?\n", h("a"));
    desk.write("b", format!("{old}— @worker\n"));
    let dir = original(&desk, &[&h("a")], old.len());
    assert_eq!(desk.look(&["@lead", "b", "--import", &dir]).mail(), ["@lead: may I?"]);
}

#[test]
fn s24_what_was_told_with_carriage_returns_is_known_without() {
    let desk = Desk::new();
    let crlf = |text: String| text.replace('\n', "\r\n");
    desk.write("b", crlf(h("a") + &h("b")));
    let dir = original(&desk, &[&crlf(h("a"))], crlf(h("a")).len());
    let look = || desk.look(&["@lead", "b", "--import", &dir]);
    assert_eq!(look().mail(), [line("b")]);
    desk.write("b", h("a") + &h("b"));
    let look = look();
    assert_eq!((look.lines.len(), look.of("file_shrunk").len()), (1, 1), "{look:?}");
}

#[test]
fn s24_an_import_that_is_none_is_refused_whole() {
    let desk = Desk::new();
    desk.write("b", h("a"));
    let dir = original(&desk, &[&h("a")], 5);
    desk.scene.write("original/seen.sha256", "xyz\n");
    let look = desk.look(&["@lead", "b", "--import", &dir]);
    assert_eq!(look.code, Some(4));
    assert!(look.stderr.contains("seen.sha256: line 1"), "{}", look.stderr);
    let look = desk.look(&["@lead", "b", "--import", "/no/such/folder"]);
    assert_eq!(look.code, Some(3));
    // Shorter than it was.
    let dir = original(&desk, &[], 500);
    let look = desk.look(&["@lead", "b", "--import", &dir]);
    assert_eq!(
        (look.of("file_shrunk")[0]["old_bytes"].as_u64(), look.mail()),
        (Some(500), vec![line("a")])
    );
}

#[test]
fn s25_a_last_line_without_newline_counts_after_a_minute() {
    let desk = Desk::new();
    desk.write("b", "");
    desk.look_b();
    desk.append("b", "@lead: hi\n— @worker");
    assert!(desk.look_b().is_silent());
    desk.age("b", Duration::from_secs(61));
    assert_eq!(desk.look_b().mail(), ["@lead: hi"]);
    assert!(desk.look_b().is_silent());
    desk.append("b", "s\n");
    assert!(desk.look_b().is_silent());
}

#[test]
fn s26_an_old_board_found_after_it_was_missed_is_history() {
    let desk = Desk::new();
    let _ = desk.scene.dir("elsewhere");
    desk.scene.write("elsewhere/b", h("a"));
    // Older than any stamp's grain.
    tests::pause(Duration::from_millis(50));
    desk.look(&["@lead", "disk/b"]);
    // A disk that is mounted late brings its files with their old stamps.
    symlink(desk.scene.join("elsewhere"), desk.path("disk")).unwrap();
    let look = desk.look(&["@lead", "disk/b"]);
    assert_eq!((look.code, look.mail()), (Some(0), Vec::new()), "{look:?}");
}

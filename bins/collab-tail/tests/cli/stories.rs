//! Stories of several looks, numbered as they were agreed.

use std::{fs, os::unix::fs::symlink};

use shared::line::digest;
use tests::Running;

use crate::desk::{Desk, Look, h, ids, line};

const FENCE: (&str, &str) = ("unclosed-fence", "raised");
const FENCE_OVER: (&str, &str) = ("unclosed-fence", "cleared");
const ABSENT: (&str, &str) = ("temporarily-absent", "raised");
const ABSENT_OVER: (&str, &str) = ("temporarily-absent", "cleared");

fn warned(look: &Look, want: &[(&str, &str)]) {
    let want: Vec<(String, String)> =
        want.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect();
    assert_eq!(look.warnings(), want, "{look:?}");
}

#[test]
fn s01_history_is_silent_and_what_follows_is_told() {
    let desk = Desk::new();
    desk.write("b", h("a"));
    assert!(desk.look_b().is_silent());
    desk.append("b", h("b"));
    assert_eq!(desk.look_b().mail(), [line("b")]);
    assert!(desk.look_b().is_silent());
}

#[test]
fn s02_unread_delivers_what_was_never_read() {
    let desk = Desk::new();
    desk.write("b", h("a"));
    assert_eq!(desk.look(&["@lead", "b", "--unread"]).mail(), [line("a")]);
    assert!(desk.look_b().is_silent());
    assert!(desk.look(&["@lead", "b", "--unread"]).is_silent());
}

#[test]
fn s03_a_line_that_was_whole_but_for_its_newline_is_history() {
    let desk = Desk::new();
    desk.write("b", line("a"));
    assert!(desk.look_b().is_silent());
    desk.append("b", "\n");
    assert!(desk.look_b().is_silent());
    desk.append("b", h("b"));
    assert_eq!(desk.look_b().mail(), [line("b")]);
}

#[test]
fn s04_a_line_that_grew_after_the_seed_is_mail() {
    let desk = Desk::new();
    desk.write("b", "### @worker → @lead — part");
    assert!(desk.look_b().is_silent());
    desk.append("b", "ner asks\n");
    assert_eq!(desk.look_b().mail(), ["### @worker → @lead — partner asks"]);
}

#[test]
fn s05_an_open_fence_is_said_at_each_start_until_it_is_closed() {
    let desk = Desk::new();
    desk.write("b", "intro\n```\ncode\n");
    for append in [String::new(), h("a")] {
        desk.append("b", append);
        let look = desk.look_b();
        warned(&look, &[FENCE]);
        assert_eq!(
            (look.code, look.mail().len(), look.of("watch_warn")[0]["line_number"].as_u64()),
            (Some(4), 0, Some(2))
        );
    }
    desk.append("b", format!("```\n{}", h("b")));
    let look = desk.look_b();
    warned(&look, &[FENCE_OVER]);
    assert_eq!((look.code, look.mail()), (Some(0), vec![line("b")]));
}

#[test]
fn s06_a_watch_is_ready_once_the_fence_is_closed() {
    let desk = Desk::new();
    desk.write("b", "intro\n```\ncode\n");
    desk.look_b();
    desk.append("b", h("a"));
    let manager = tests::Manager::listen(&desk.scene);
    let mut command = desk.command(&["@lead", "b"]);
    manager.manage(&mut command);
    let mut running = Running::start(&mut command);
    assert!(manager.notice().starts_with("STATUS="));
    let warning = running.event("watch_warn");
    assert_eq!(
        (&warning["reason"], &warning["condition"]),
        (&"unclosed-fence".into(), &"raised".into())
    );
    desk.append("b", format!("```\n{}", h("b")));
    assert_eq!(running.event("watch_warn")["condition"], "cleared");
    assert_eq!(running.event("collab_mail")["text"], line("b"));
    let armed = running.event("monitor_armed");
    assert_eq!((&armed["listener"], &armed["files"]), (&"@lead".into(), &1.into()));
    assert_eq!(armed["not_covered"].as_array().unwrap().len(), 7);
    manager.ready();
    let ended = running.stop();
    assert_eq!((ended.code, ended.lines.len()), (Some(0), 1));
    assert_eq!(ended.lines[0]["event"], "monitor_stopped");
}

#[test]
fn s07_lines_that_change_places_are_no_mail() {
    let desk = Desk::new();
    desk.write("b", h("a") + &h("b"));
    desk.look_b();
    desk.write("b", h("b") + &h("a"));
    let look = desk.look_b();
    assert_eq!((look.code, look.lines.len(), look.of("file_rewritten").len()), (Some(0), 1, 1));
    assert_eq!((&look.lines[0]["how"], &look.lines[0]["from_byte"]), (&"edited".into(), &0.into()));
}

#[test]
fn s08_what_is_cut_off_and_comes_back_is_no_mail() {
    let desk = Desk::new();
    desk.write("b", h("a") + &h("b") + &h("c"));
    desk.look_b();
    desk.write("b", h("a"));
    let look = desk.look_b();
    assert_eq!((look.lines.len(), look.of("file_shrunk").len()), (1, 1));
    let shrunk = look.of("file_shrunk")[0];
    assert_eq!(shrunk["rewritten"], false);
    let size = h("a").len();
    assert_eq!(
        (&shrunk["old_bytes"], &shrunk["delta_bytes"]),
        (&(3 * size).into(), &(2 * size).into())
    );
    desk.append("b", h("b") + &h("d"));
    assert_eq!(desk.look_b().mail(), [line("d")]);
}

#[test]
fn s08_a_smaller_board_that_reads_otherwise_says_so() {
    let desk = Desk::new();
    desk.write("b", h("a") + &h("b") + &h("c"));
    desk.look_b();
    desk.write("b", "other\n");
    assert_eq!(desk.look_b().of("file_shrunk")[0]["rewritten"], true);
}

#[test]
fn s09_a_board_that_was_gone_goes_on() {
    let desk = Desk::new();
    desk.write("b", h("a"));
    desk.look_b();
    desk.remove("b");
    let look = desk.look_b();
    warned(&look, &[ABSENT]);
    assert_eq!(
        (look.code, look.of("monitor_degraded")[0]["reason"].as_str()),
        (Some(4), Some("boards_unseen"))
    );
    desk.write("b", h("a") + &h("b"));
    let look = desk.look_b();
    warned(&look, &[ABSENT_OVER]);
    assert_eq!(
        (look.code, look.mail(), look.of("file_rewritten").len()),
        (Some(0), vec![line("b")], 0)
    );
}

#[test]
fn s10_a_board_made_after_it_was_missed_is_mail() {
    let desk = Desk::new();
    let look = desk.look_b();
    warned(&look, &[ABSENT]);
    assert_eq!(look.code, Some(4));
    desk.write("b", h("a"));
    let look = desk.look_b();
    warned(&look, &[ABSENT_OVER]);
    assert_eq!(look.mail(), [line("a")]);
}

/// `now.md` links to `one.md`, which was read by both names.
fn linked() -> Desk {
    let desk = Desk::new();
    desk.write("one.md", h("a"));
    symlink("one.md", desk.path("now.md")).unwrap();
    assert!(desk.look(&["@lead", "now.md"]).is_silent());
    desk.append("one.md", h("b"));
    assert_eq!(desk.look(&["@lead", "one.md"]).mail(), [line("b")]);
    assert!(desk.look(&["@lead", "now.md"]).is_silent());
    desk
}

#[test]
fn s11_a_link_and_its_target_are_one_board() {
    linked();
}

#[test]
fn s12_a_link_that_leads_elsewhere_is_a_replaced_board() {
    let desk = linked();
    desk.write("two.md", format!("other\n{}", h("c")));
    desk.remove("now.md");
    symlink("two.md", desk.path("now.md")).unwrap();
    let look = desk.look(&["@lead", "now.md"]);
    assert_eq!((look.of("file_rewritten").len(), look.mail()), (1, vec![line("c")]), "{look:?}");
    assert_eq!(look.of("file_rewritten")[0]["how"], "replaced");
    // And back: nothing was lost or is told again.
    desk.append("one.md", h("d"));
    desk.remove("now.md");
    symlink("one.md", desk.path("now.md")).unwrap();
    assert_eq!(desk.look(&["@lead", "now.md"]).mail(), [line("d")]);
}

#[test]
fn s13_a_moved_board_goes_on_and_a_copy_is_a_new_one() {
    let desk = Desk::new();
    desk.write("one.md", h("a"));
    desk.look(&["@lead", "one.md"]);
    fs::rename(desk.path("one.md"), desk.path("three.md")).unwrap();
    desk.append("three.md", h("d"));
    assert_eq!(desk.look(&["@lead", "three.md"]).mail(), [line("d")]);
    fs::copy(desk.path("three.md"), desk.path("four.md")).unwrap();
    desk.append("four.md", h("e"));
    assert!(desk.look(&["@lead", "four.md"]).is_silent());
}

#[test]
fn s14_a_hard_link_starts_from_what_was_read() {
    for seed in [h("x"), String::new()] {
        let desk = Desk::new();
        desk.write("one.md", seed);
        desk.look(&["@lead", "one.md"]);
        fs::hard_link(desk.path("one.md"), desk.path("other.md")).unwrap();
        desk.append("one.md", h("a"));
        assert_eq!(desk.look(&["@lead", "other.md"]).mail(), [line("a")]);
        assert!(desk.look(&["@lead", "one.md"]).is_silent());
    }
}

#[test]
fn s15_a_heading_that_comes_once_more_is_told_once_more() {
    let desk = Desk::new();
    let look = || desk.look(&["@lead", "b", "--repeats", "heading"]);
    desk.write("b", "");
    look();
    let mut found = Vec::new();
    for (append, count) in [(h("a"), 1), (format!("x\n{}", h("a")), 1), (h("a") + &h("a"), 2)] {
        desk.append("b", append);
        let told = ids(&look().lines);
        assert_eq!(told.len(), count);
        found.extend(told);
        assert!(look().is_silent());
    }
    let hash = shared_hash("a");
    let want: Vec<String> =
        (1..=4).map(|k| digest(format!("lead\u{1f}{hash}\u{1f}{k}").as_bytes())).collect();
    assert_eq!(found, want);
    // An archived board is silent until it holds more of them than ever.
    desk.write("b", h("a"));
    assert_eq!(look().mail(), [""; 0]);
    desk.append("b", h("a") + &h("a") + &h("a"));
    assert!(look().is_silent());
    desk.append("b", h("a"));
    assert_eq!(look().mail(), [line("a")]);
}

fn shared_hash(what: &str) -> String {
    collab_tail::hash::Hash::of(&[h(what).as_bytes()]).to_string()
}

#[test]
fn s16_a_copy_elsewhere_is_no_repeat() {
    let desk = Desk::new();
    desk.write("b", "");
    desk.write("c", "");
    let look = || desk.look(&["@lead", "b", "c", "--repeats", "heading"]);
    look();
    desk.append("b", h("a"));
    assert_eq!(look().mail(), [line("a")]);
    desk.append("c", h("a"));
    assert!(look().is_silent());
    desk.append("c", h("a"));
    assert_eq!(look().mail(), [line("a")]);
}

#[test]
fn s16_turning_repeats_on_replays_nothing() {
    let desk = Desk::new();
    desk.write("b", h("a") + &h("a"));
    desk.look_b();
    assert!(desk.look(&["@lead", "b", "--repeats", "heading"]).is_silent());
    desk.append("b", h("a"));
    let look = desk.look(&["@lead", "b", "--repeats", "heading"]);
    assert_eq!(
        ids(&look.lines),
        [digest(format!("lead\u{1f}{}\u{1f}3", shared_hash("a")).as_bytes())]
    );
}

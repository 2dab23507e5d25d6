//! What went wrong in the field with tools of this kind.

use std::time::Duration;

use tests::{Running, pause};

use crate::desk::{Desk, h, line};

#[test]
fn ct_01_a_quoted_example_starts_no_work() {
    let samples = [
        "```\nX\n```\n",
        "~~~\nX\n~~~\n",
        "`````\n```\nX\n```\n`````\n",
        "    X\n",
        "\tX\n",
        "<!-- X -->\n",
        "- item\n\n  ```\n  X\n  ```\n",
        "> ```\n> X\n> ```\n",
        "> X\n",
    ];
    for (sample, mode) in
        samples.iter().flat_map(|sample| [(sample, "strict"), (sample, "bounded")])
    {
        let desk = Desk::new();
        let look = || desk.look(&["@lead", "b", "--route", mode]);
        desk.write("b", "");
        look();
        desk.append("b", sample.replace('X', line("x").as_str()) + "\n## n\n");
        assert!(look().is_silent(), "{sample}");
        desk.append("b", h("x") + "## n\n");
        assert_eq!(look().mail(), [line("x")], "{sample}");
    }
}

#[test]
fn ct_05_what_comes_while_nobody_runs_is_not_lost() {
    let desk = Desk::new();
    desk.write("b", "");
    let mut running =
        Running::ready(&desk.scene, &mut desk.command(&["@lead", "b", "--no-announce"]));
    desk.append("b", ["1", "2", "3"].map(h).concat());
    for what in ["1", "2", "3"] {
        assert_eq!(running.event("collab_mail")["text"], line(what));
    }
    // A quiet moment, so that the last record is written.
    let seen = desk.scene.join("store/collab-tail/lead/seen");
    tests::eventually("all is recorded", || {
        std::fs::read_to_string(&seen).unwrap().lines().count() == 4
    });
    let _ = running.kill();
    let more = ["4", "5", "6", "7", "8", "9"];
    desk.append("b", more.map(h).concat());
    assert_eq!(desk.look_b().mail(), more.map(line));
}

#[test]
fn ct_07_the_same_again_is_news_if_wanted_and_a_move_never_is() {
    let desk = Desk::new();
    let look = || desk.look(&["@lead", "b", "--repeats", "heading"]);
    desk.write("b", "");
    look();
    for _ in 0..2 {
        desk.append("b", h("ping"));
        assert_eq!(look().mail(), [line("ping")]);
    }
    desk.write("b", format!("intro\n{0}text\n{0}", h("ping")));
    assert_eq!(look().mail(), [""; 0]);
}

#[test]
fn ct_08_a_reformatted_board_says_so_once_and_nothing_else() {
    let desk = Desk::new();
    let board = format!("# Board\r\n\r\n{}", (h("a") + &h("b")).replace('\n', "\r\n"));
    desk.write("b", &board);
    desk.look_b();
    desk.write("b", format!("# Board\n\n| a | table |\n| - | ----- |\n\n{}{}", h("b"), h("a")));
    let look = desk.look_b();
    let events: Vec<&str> = look.lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!((look.code, events), (Some(0), vec!["file_rewritten"]));
}

#[test]
fn ct_10_it_ends_with_its_parent() {
    let desk = Desk::new();
    desk.write("b", "");
    let mut parent = tests::command("sleep").arg("1000").spawn().unwrap();
    let pid = parent.id().to_string();
    let running =
        Running::ready(&desk.scene, &mut desk.command(&["@lead", "b", "--parent-pid", &pid]));
    parent.kill().unwrap();
    parent.wait().unwrap();
    let ended = running.end();
    assert_eq!(
        (ended.code, ended.lines.last().unwrap()["reason"].as_str()),
        (Some(0), Some("parent_gone"))
    );
}

#[test]
fn ct_13_a_same_size_rewrite_is_noticed_by_its_content() {
    let desk = Desk::new();
    desk.write("b", "some words\n");
    let mut running =
        Running::ready(&desk.scene, &mut desk.command(&["@lead", "b", "--no-announce"]));
    // Whatever the clock of the file system shows.
    pause(Duration::from_millis(30));
    desk.write("b", "same words\n");
    let event = running.event("file_rewritten");
    assert_eq!((&event["old_bytes"], &event["new_bytes"]), (&11.into(), &11.into()));
}

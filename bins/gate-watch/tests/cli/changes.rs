//! Changes that are easy to miss.

use std::{fs, time::Duration};

use tests::{Running, lines, pause};

use crate::world::{World, before_marker, gate, short};

#[test]
fn gw07_a_gate_written_in_pieces_is_told_once_and_whole() {
    let world = World::new();
    let mut running = world.start(&[]);
    let text = gate("HDR-001");
    let third = text.len() / 3;
    for piece in [&text[..third], &text[third..2 * third], &text[2 * third..]] {
        world.scene.append("state/human-gates/open/HDR-001.json", piece);
        pause(Duration::from_millis(30));
    }
    let line = running.event("gate_opened");
    assert_eq!(short(&line), "gate_opened HDR-001");
    assert_eq!(line["question"], "Is it HDR-001?");
    assert!(before_marker(&world, &mut running, "M").is_empty());
}

#[test]
fn gw11_three_changes_of_one_size_are_three_lines_when_polling() {
    let world = World::new();
    world.ask("HDR-001");
    let mut running = world.start(&["--poll-only", "--poll-interval", "0.05"]);
    for word in ["Es", "Os", "Us"] {
        let other = gate("HDR-001").replace("Is", word);
        world.scene.replace("state/human-gates/open/HDR-001.json", other);
        assert_eq!(running.event("gate_changed")["question"], format!("{word} it HDR-001?"));
    }
}

#[test]
fn gw13_a_name_with_a_newline_is_one_gate() {
    let world = World::new();
    let mut running = world.start(&[]);
    world.ask("HDR-1\nHDR-2");
    assert_eq!(running.event("gate_opened")["gate_id"], "HDR-1\nHDR-2");
    assert!(before_marker(&world, &mut running, "M").is_empty());
}

#[test]
fn gw17_a_replaced_gate_is_never_nothing() {
    let world = World::new();
    world.ask("HDR-001");
    let mut running = world.start(&[]);
    for at in 0..50 {
        let other = gate("HDR-001").replace("Is", &format!("Was {at}"));
        world.scene.replace("state/human-gates/open/HDR-001.json", other);
        let line = running.event("gate_changed");
        assert_eq!(line["question"], format!("Was {at} it HDR-001?"));
    }
}

#[test]
fn a_gate_that_is_moved_away_and_back_is_another() {
    let world = World::new();
    world.ask("HDR-001");
    let mut running = world.start(&[]);
    fs::rename(world.open("HDR-001.json"), world.scene.join("away")).unwrap();
    fs::rename(world.scene.join("away"), world.open("HDR-001.json")).unwrap();
    assert_eq!(short(&running.line()), "gate_resolved HDR-001 unrecorded");
    assert_eq!(short(&running.line()), "gate_opened HDR-001");
}

#[test]
fn g18_a_question_is_made_fit_to_print() {
    let world = World::new();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let question = format!("\u{1b}[31mUse {token}?\u{1b}[0m\nor\u{2028}{}", "x".repeat(5000));
    let json = serde_json::json!({ "question": question, "blocked_work_items": ["WI-1"] });
    world.scene.write("state/human-gates/open/HDR-001.json", json.to_string());
    let out = world.run(&["--once", "--emit-current"]);
    assert!(out.stdout.len() < 500);
    let line = &lines(&out.stdout)[0];
    let text = line["question"].as_str().unwrap();
    assert!(text.starts_with(" Use [redacted]?  or xxx"), "{text}");
    assert!(!text.contains(|c: char| c.is_control()));
    assert_eq!(line["truncated"], true);
}

/// Readings of `world`, without a sweep.
fn readings(world: &World) -> Running {
    Running::start(&mut world.command(&["--emit", "readings", "--poll-interval", "24h"]))
}

#[test]
fn what_others_write_beside_the_gates_is_no_look() {
    let world = World::new();
    world.ask("HDR-001");
    let mut running = readings(&world);
    running.event("reading");
    let others = ["notes.ndjson", "other.json", "human-gates/open/draft"];
    for n in 0..200 {
        world.scene.write(&format!("state/{}", others[n % 3]), "x");
    }
    world.ask("HDR-002");
    let mut last = running.event("reading");
    while last["entries"].as_array().unwrap().len() < 2 {
        last = running.event("reading");
    }
    assert!(last["look"].as_u64().unwrap() < 8, "{last}");
}

#[test]
fn a_reading_tells_an_answer_without_an_option_from_a_gate_that_is_gone() {
    for (records, want) in [(true, "answered"), (false, "gone")] {
        let world = World::new();
        world.ask("HDR-001");
        let mut running = readings(&world);
        running.event("reading");
        if records {
            world.scene.replace("state/human-gates/resolved/HDR-001.json", "{}");
        }
        fs::remove_file(world.open("HDR-001.json")).unwrap();
        let mut last = running.event("reading");
        while last["entries"][0]["key"] != "resolved:HDR-001" {
            last = running.event("reading");
        }
        assert_eq!(last["entries"][0]["brief"], want, "{last}");
    }
}

#[test]
fn readings_say_all_that_holds_at_every_look() {
    let world = World::new();
    world.ask("HDR-001");
    let mut running = readings(&world);
    world.ask("HDR-002");
    let keys = |line: &serde_json::Value| -> Vec<String> {
        let entries = line["entries"].as_array().unwrap();
        entries.iter().map(|entry| entry["key"].as_str().unwrap().to_owned()).collect()
    };
    let mut line = running.event("reading");
    while keys(&line).len() < 2 {
        line = running.event("reading");
    }
    assert_eq!(line["subject"], world.state().display().to_string());
    assert_eq!(line["kind"], "gate-watch");
    assert_eq!(keys(&line), ["gate:HDR-001", "gate:HDR-002"]);
    assert_eq!(line["entries"][1]["brief"], "Is it HDR-002?");
    assert_eq!(line["entries"][1]["severity"], "immediate");
    world.answer("HDR-001");
    while !keys(&line).contains(&"resolved:HDR-001".to_owned()) {
        line = running.event("reading");
    }
    assert_eq!(keys(&line), ["resolved:HDR-001", "gate:HDR-002"]);
    world.ask("HDR-003");
    while keys(&line).contains(&"resolved:HDR-001".to_owned()) {
        line = running.event("reading");
    }
    fs::remove_dir_all(world.state().join("human-gates")).unwrap();
    while line["error"].is_null() {
        line = running.event("reading");
    }
    assert_eq!(line["error"]["kind"], "transient");
    assert_eq!(line["error"]["reason"], "gates_missing");
    assert_eq!(line["complete"], false);
}

//! `--emit readings`.

use serde_json::{Value, json};

use tests::lines;

use crate::world::{STORE, World, item, with_lease};

fn keys(reading: &Value) -> Vec<(&str, &str)> {
    let entries = reading["entries"].as_array().unwrap().iter();
    entries
        .map(|entry| (entry["key"].as_str().unwrap(), entry["severity"].as_str().unwrap()))
        .collect()
}

#[test]
fn a_reading_has_all_that_holds_after_each_look() {
    let world = World::new();
    let items =
        [item("A", 300), item("B", -60), item("C", 3600), with_lease("D", json!(5)), json!(7)];
    world.commit(&items);
    let mut running = world.start(&["--emit", "readings"]);
    let first = running.event("reading");
    assert_eq!(
        keys(&first),
        [
            ("lease:A", "wake"),
            ("lease:B", "immediate"),
            ("lease-invalid:D", "wake"),
            ("item:#4", "wake")
        ]
    );
    assert_eq!((&first["look"], &first["complete"]), (&json!(1), &json!(true)));
    assert_eq!(first["subject"], format!("{}/state", world.scene.path().display()));
    assert!(
        first["entries"][1]["brief"].as_str().unwrap().starts_with("B: the lease of s1 ended at")
    );
    assert!(
        first["entries"].as_array().unwrap().iter().all(|entry| entry["resets_on"] == "revision")
    );

    world.commit(&[item("A", 3600), item("B", -60)]);
    let next = running.event("reading");
    assert_eq!((keys(&next), &next["error"]), (vec![("lease:B", "immediate")], &Value::Null));
    assert_eq!(running.stop().code, Some(0));
}

#[test]
fn what_others_write_beside_the_store_is_no_look() {
    let world = World::new();
    world.commit(&[item("A", -60)]);
    let mut running = world.start(&["--emit", "readings", "--poll-interval", "1h"]);
    running.event("reading");
    (0..200).for_each(|_| world.scene.append("state/notes.ndjson", "x\n"));
    world.commit(&[item("B", -60)]);
    let mut last = running.event("reading");
    while keys(&last) != [("lease:B", "immediate")] {
        last = running.event("reading");
    }
    assert!(last["look"].as_u64().unwrap() < 8, "{last}");
}

#[test]
fn a_look_that_could_not_see_is_a_failed_reading() {
    let world = World::new();
    world.scene.write(STORE, "[]");
    let out = world.once(&["--emit", "readings"]);
    assert_eq!(out.status.code(), Some(4));
    let lines = lines(&out.stdout);
    assert_eq!((lines.len(), &lines[0]["event"]), (1, &json!("reading")));
    assert_eq!((&lines[0]["complete"], &lines[0]["entries"]), (&json!(false), &json!([])));
    assert_eq!(
        (&lines[0]["error"]["kind"], &lines[0]["error"]["reason"]),
        (&json!("transient"), &json!("store_invalid"))
    );
}

#[test]
fn a_thousand_leases_come_in_parts_that_fit() {
    let world = World::new();
    let items: Vec<Value> = (0..1000).map(|n| item(&format!("WI-{n}"), -60)).collect();
    world.commit(&items);
    let out = world.once(&["--emit", "readings"]);
    let lines = lines(&out.stdout);
    assert!(out.stdout.split_inclusive(|byte| *byte == b'\n').all(|line| line.len() <= 4096));
    assert_eq!(lines.iter().map(|line| keys(line).len()).sum::<usize>(), 1000);
    assert!(lines.iter().all(|line| line["parts"] == lines.len()));
}

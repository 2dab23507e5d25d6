//! What is said of leases.

use std::time::Duration;

use serde_json::{Value, json};
use tests::{from_now, lines, pause};

use crate::world::{World, item, recovered, silent_end, store, warned, with_lease, with_status};

#[test]
fn h01_a_lease_near_its_end_warns_once_however_often_the_store_is_written() {
    let world = World::new();
    let near = item("WI-1", 300);
    world.commit(std::slice::from_ref(&near));
    let mut running = world.start(&[]);
    let line = warned(&mut running, "WI-1", "warning");
    assert!((200..=300).contains(&line["remaining_seconds"].as_i64().unwrap()), "{line}");
    assert_eq!((&line["owner_session_id"], &line["store_revision"]), (&json!("s1"), &json!(41)));
    assert_eq!((&line["key"], &line["condition"]), (&json!("lease:WI-1"), &json!("raised")));
    for _ in 0..100 {
        world.commit(std::slice::from_ref(&near));
    }
    world.commit(&[near, item("marker", 300)]);
    warned(&mut running, "marker", "warning");
    silent_end(running);
}

#[test]
fn h02_a_lease_warns_at_its_boundary_though_nothing_changes() {
    let world = World::new();
    world.commit(&[item("A", 590), item("B", 603)]);
    let mut running = world.start(&[]);
    warned(&mut running, "A", "warning");
    let line = warned(&mut running, "B", "warning");
    // The sweep is a minute away: without the boundary there would be no line in time.
    assert!(line["remaining_seconds"].as_i64().unwrap() <= 599, "{line}");
    silent_end(running);
}

#[test]
fn h03_a_lease_expires_though_nothing_changes() {
    let world = World::new();
    world.commit(&[item("WI-1", 2)]);
    let mut running = world.start(&[]);
    let mut patient = world.start(&["--grace", "2s"]);
    warned(&mut running, "WI-1", "warning");
    let line = warned(&mut running, "WI-1", "expired");
    assert!((-20..=-1).contains(&line["remaining_seconds"].as_i64().unwrap()), "{line}");
    warned(&mut patient, "WI-1", "warning");
    let line = warned(&mut patient, "WI-1", "expired");
    assert!((-20..=-3).contains(&line["remaining_seconds"].as_i64().unwrap()), "{line}");
    silent_end(running);
    silent_end(patient);
}

#[test]
fn h04_h05_a_renewal_ends_a_warning_and_one_that_stays_near_does_not() {
    let world = World::new();
    world.commit(&[item("WI-1", 300)]);
    let mut running = world.start(&[]);
    let mut renewals = world.start(&["--emit-renewals"]);
    warned(&mut running, "WI-1", "warning");
    warned(&mut renewals, "WI-1", "warning");
    world.commit(&[item("WI-1", 360)]);
    assert_eq!(warned(&mut renewals, "WI-1", "warning")["renewed"], true);
    world.commit(&[item("WI-1", 3600)]);
    let line = recovered(&mut running, "WI-1", "renewed");
    assert_eq!(
        (&line["previous_severity"], &line["condition"]),
        (&json!("warning"), &json!("cleared"))
    );
    recovered(&mut renewals, "WI-1", "renewed");
    world.commit(&[item("WI-1", 320)]);
    warned(&mut running, "WI-1", "warning");
    silent_end(running);
}

#[test]
fn h06_h07_h08_items_change_hands_and_leave() {
    let world = World::new();
    let owned = |owner: &str, seconds| {
        let mut item = item("WI-1", seconds);
        item["owner_session_id"] = json!(owner);
        item
    };
    world.commit(&[owned("A", -60)]);
    let mut running = world.start(&[]);
    warned(&mut running, "WI-1", "expired");
    world.commit(&[owned("B", -50)]);
    assert_eq!(warned(&mut running, "WI-1", "expired")["owner_session_id"], "B");
    world.commit(&[owned("C", 3600)]);
    recovered(&mut running, "WI-1", "owner_changed");
    for (status, reason) in [("ready", "requeued"), ("done", "done"), ("reviewing", "released")] {
        world.commit(&[owned("A", -60)]);
        warned(&mut running, "WI-1", "expired");
        world.commit(&[with_status("WI-1", status)]);
        let line = recovered(&mut running, "WI-1", reason);
        assert_eq!((&line["status"], &line["lease_expires_at"]), (&json!(status), &Value::Null));
        assert_eq!(line["previous_severity"], "expired");
    }
    world.commit(&[owned("A", -60)]);
    warned(&mut running, "WI-1", "expired");
    world.commit(&[]);
    let line = recovered(&mut running, "WI-1", "removed");
    assert_eq!((&line["status"], &line["owner_session_id"]), (&Value::Null, &Value::Null));
    silent_end(running);
}

#[test]
fn h09_one_instant_in_seven_spellings_in_every_zone() {
    let world = World::new();
    let utc = from_now(300);
    let plain = utc.trim_end_matches('Z');
    let shifted = |hours: i64, zone: &str| from_now(300 + hours * 3600).replace('Z', zone);
    let leases = [
        utc.clone(),
        utc.replace('Z', "z"),
        utc.replace('Z', ".75Z"),
        shifted(9, "+09:00"),
        shifted(-8, "-0800"),
        utc.replace('T', " "),
        plain.to_owned(),
    ];
    let items: Vec<Value> =
        leases.iter().map(|lease| with_lease(&format!("WI {lease}"), json!(lease))).collect();
    world.commit(&items);
    for zone in ["America/New_York", "Europe/Berlin", "UTC"] {
        let out = world.program(&["--once"]).env("TZ", zone).output().unwrap();
        let lines = lines(&out.stdout);
        assert_eq!(lines.len(), 7, "{zone}");
        for (line, lease) in lines.iter().zip(&leases) {
            assert_eq!(
                (&line["severity"], &line["lease_expires_at"]),
                (&json!("warning"), &json!(lease))
            );
            assert!((200..=300).contains(&line["remaining_seconds"].as_i64().unwrap()), "{line}");
            assert_eq!(line.get("lease_naive").is_some(), lease == plain, "{line}");
        }
    }
}

#[test]
fn h10_h11_a_lease_that_cannot_be_read_is_told_until_it_is_repaired() {
    let world = World::new();
    let leases = [
        json!(null),
        json!(""),
        json!("tomorrow"),
        json!("@1790000000"),
        json!("2026-02-30T00:00:00Z"),
        json!("2026-04-08"),
        json!(5),
        json!([]),
    ];
    let mut items: Vec<Value> =
        leases.iter().map(|lease| with_lease(&lease.to_string(), lease.clone())).collect();
    items.push(json!({"id": "absent", "status": "implementing"}));
    world.commit(&items);
    let mut running = world.start(&[]);
    let mut reasons = Vec::new();
    for index in 0..9 {
        let line = running.event("heartbeat_invalid");
        assert_eq!(line["item_index"], index, "{line}");
        reasons.push(line["reason"].as_str().unwrap().to_owned());
    }
    let (missing, malformed, other) = ("lease_missing", "lease_malformed", "lease_not_string");
    assert_eq!(
        reasons,
        [missing, missing, malformed, malformed, malformed, malformed, other, other, missing]
    );

    world.commit(&[with_lease("A", json!("tomorrow")), with_lease("B", json!("tomorrow"))]);
    for _ in 0..9 {
        running.event("heartbeat_recovered");
    }
    let line = running.event("heartbeat_invalid");
    assert_eq!(
        (&line["key"], &line["lease_expires_at"]),
        (&json!("lease-invalid:A"), &json!("tomorrow"))
    );
    running.event("heartbeat_invalid");
    world.commit(&[item("A", 3600), item("B", 300)]);
    assert_eq!(recovered(&mut running, "A", "repaired")["key"], "lease-invalid:A");
    assert_eq!(recovered(&mut running, "B", "repaired")["previous_severity"], "invalid");
    warned(&mut running, "B", "warning");
    silent_end(running);
}

#[test]
fn h12_an_owner_that_was_stopped_as_well_gets_to_renew() {
    let world = World::new();
    world.commit(&[item("A", 3), item("B", 3)]);
    let mut running = world.start(&["--poll-interval", "1"]);
    warned(&mut running, "A", "warning");
    warned(&mut running, "B", "warning");
    running.freeze();
    // Over the ends of the leases, and longer than a pass can be late.
    pause(Duration::from_secs(6));
    // One owner is quicker than the monitor, the other does not renew.
    world.commit(&[item("A", 3600), item("B", -3)]);
    world.commit(&[item("A", 3600), with_lease("B", json!(from_now(-2)))]);
    running.thaw();
    recovered(&mut running, "A", "renewed");
    let line = warned(&mut running, "B", "expired");
    assert_eq!(line["resumed"], true, "{line}");
    silent_end(running);
}

#[test]
fn h14_ids_are_exact_and_what_is_no_item_is_told_once() {
    let world = World::new();
    let near = json!(from_now(300));
    let mut items: Vec<Value> = ["a\tb\\c", "X A", "A", "D", "D", "e\u{2028}\u{9b}"]
        .map(|id| with_lease(id, near.clone()))
        .into();
    for id in [json!(7), json!(null)] {
        let mut item = with_lease("", near.clone());
        item["id"] = id;
        items.push(item);
    }
    items.splice(0..0, [json!(1), json!(null), json!("x")]);
    world.commit(&items);
    let out = world.once(&[]);
    assert_eq!(out.status.code(), Some(0));
    let lines = lines(&out.stdout);
    for (index, line) in lines[..3].iter().enumerate() {
        assert_eq!(
            (&line["reason"], &line["condition"]),
            (&json!("item_not_object"), &json!("once"))
        );
        assert_eq!(line["key"], format!("item:#{index}"));
    }
    let keys: Vec<&str> = lines[3..].iter().map(|line| line["key"].as_str().unwrap()).collect();
    assert_eq!(
        keys,
        [
            "lease:a\tb\\c",
            "lease:X A",
            "lease:A",
            "lease:D",
            "lease:D#2",
            "lease:e\u{2028}\u{9b}",
            "lease:7",
            "lease:#10"
        ]
    );
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(
        text.contains(r#""work_item_id":"a\tb\\c""#) && text.contains(r#""e\u2028\u009b""#),
        "{text}"
    );
    assert_eq!(lines.iter().filter(|line| line["duplicate"] == true).count(), 2);
    assert_eq!((&lines[10]["work_item_id"], &lines[10]["item_index"]), (&json!(""), &json!(10)));
}

#[test]
fn hb_07_a_lease_that_ended_long_ago_is_told_at_the_start() {
    let world = World::new();
    world.commit(&[item("WI-1", -3600)]);
    let mut running = world.start(&[]);
    assert!(
        warned(&mut running, "WI-1", "expired")["remaining_seconds"].as_i64().unwrap() <= -3600
    );
    silent_end(running);
}

#[test]
fn hb_17_every_one_of_fifty_renames_is_seen() {
    let world = World::new();
    let mut running = world.start_ready(&[]);
    for _ in 0..25 {
        world.commit(&[item("WI-1", 300)]);
        warned(&mut running, "WI-1", "warning");
        world.commit(&[item("WI-1", 3600)]);
        recovered(&mut running, "WI-1", "renewed");
    }
    silent_end(running);
}

#[test]
fn without_recoveries_each_episode_is_one_line() {
    let world = World::new();
    let mut running = world.start_ready(&["--no-recovered"]);
    for n in 0..10 {
        world.commit(&[item("WI-1", -60)]);
        warned(&mut running, "WI-1", "expired");
        world.commit(&[item("WI-1", 3600), item(&format!("marker {n}"), 300)]);
        warned(&mut running, &format!("marker {n}"), "warning");
    }
    silent_end(running);
}

#[test]
fn a_store_written_in_place_is_read_once_it_is_whole() {
    let world = World::new();
    let mut running = world.start_ready(&[]);
    let text = store(&[item("WI-1", 300)]);
    let (first, rest) = text.split_at(text.len() / 2);
    world.scene.write(crate::world::STORE, first);
    pause(Duration::from_millis(30));
    world.scene.append(crate::world::STORE, rest);
    warned(&mut running, "WI-1", "warning");
    silent_end(running);
}

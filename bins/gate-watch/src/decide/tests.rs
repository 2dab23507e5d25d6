//! The page's table over a world that is all in memory, and a property.

use std::time::Duration;

use jiff::{Timestamp, ToSpan as _};
use shared::session::Look;

use super::Rules;
use world::{ANSWER, ASKED, OLD, World, name, question};

mod blindness;
mod property;
mod world;

#[test]
fn g01_a_gate_that_goes_without_a_record_is_unrecorded() {
    let mut world = World::with_old();
    world.put("NEW", ASKED);
    world.unlink("OLD");
    assert_eq!(world.look(), "opened NEW");
    assert_eq!(question(&world).unwrap(), "Drop it?");
    assert_eq!(world.last.as_ref().unwrap().look, Look::Settling);
    world.after(249);
    assert_eq!(world.look(), "");
    world.after(1);
    assert_eq!(world.look(), "resolved OLD Unrecorded");
    world.after(10_000);
    assert_eq!(world.look(), "");
    assert_eq!(world.last.as_ref().unwrap().look, Look::Whole);
    world.record("OLD", ANSWER);
    assert_eq!(world.look(), "", "a record that comes later is no news");
}

#[test]
fn g02_a_record_is_the_answer_whether_the_gate_is_gone_or_not() {
    let mut world = World::with_old();
    world.record("OLD", ANSWER);
    assert_eq!(world.look(), "resolved OLD Recorded");
    assert_eq!(question(&world).unwrap(), "drop it");
    world.unlink("OLD");
    assert_eq!(world.look(), "");

    let mut world = World::with_old();
    world.unlink("OLD");
    assert_eq!(world.look(), "");
    world.record("OLD", ANSWER);
    assert_eq!(world.look(), "resolved OLD Recorded", "within the time it has");
    world.after(1000);
    assert_eq!(world.look(), "");
}

#[test]
fn g02_a_record_that_is_being_written_is_waited_for() {
    let mut world = World::with_old();
    world.record("OLD", "");
    assert_eq!(world.look(), "");
    world.record("OLD", ANSWER);
    assert_eq!(world.look(), "resolved OLD Recorded");
    assert_eq!(question(&world).unwrap(), "drop it");
}

#[test]
fn g03_a_gate_answered_between_two_looks_is_told_late() {
    let mut world = World::with_old();
    world.put("NEW", ASKED);
    world.unlink("NEW");
    world.record("NEW", ASKED);
    assert_eq!(world.look(), "opened NEW late, resolved NEW Recorded late");
    world.after(1000);
    assert_eq!(world.look(), "");
    world.restart();
    world.record("THEN", ANSWER);
    assert_eq!(world.look(), "opened THEN late, resolved THEN Recorded late");
}

#[test]
fn g03_a_gate_answered_while_a_commit_held_it_is_told_whatever_its_record_says() {
    let mut world = World::with_old();
    world.in_transaction = true;
    world.put("NEW", ASKED);
    assert_eq!(world.look(), "");
    world.unlink("NEW");
    world.record("NEW", r#"{"resolution":{"resolved_at":"2026-01-01T00:00:00Z"}}"#);
    world.in_transaction = false;
    assert_eq!(world.look(), "opened NEW late, resolved NEW Recorded late");
}

#[test]
fn g04_old_records_are_no_news() {
    let mut world = World::new(Rules { emit_current: true, ..Rules::default() });
    world.put("BOTH", ASKED);
    world.record("BOTH", ANSWER);
    assert_eq!(world.look(), "");
    for at in 0..30 {
        world.record(&format!("R{at}"), r#"{"resolution":{"resolved_at":"2026-04-01T00:00:00Z"}}"#);
    }
    assert_eq!(world.look(), "");
    let restored = name("RESTORED");
    let mut stamp = world.stamp(ANSWER);
    stamp.modified_ns -= 3_600_000_000_000;
    world.records.insert(restored, ("{}".to_owned(), stamp));
    assert_eq!(world.look(), "", "without a time of its own its file's counts");
    world.record("WRITTEN", "");
    assert_eq!(world.look(), "");
    world.record("WRITTEN", r#"{"resolution":{"resolved_at":"2026-04-01T00:00:00Z"}}"#);
    assert_eq!(world.look(), "", "it was being written in place");
}

#[test]
fn g05_removed_and_made_again_is_another_gate() {
    let mut world = World::with_old();
    world.unlink("OLD");
    world.put("OLD", OLD);
    assert_eq!(world.look(), "resolved OLD Unrecorded, opened OLD");
    world.after(1000);
    assert_eq!(world.look(), "");
    world.put("OLD", ASKED);
    assert_eq!(world.look(), "resolved OLD Unrecorded, opened OLD", "created_at differs");
    world.open.remove(&name("OLD"));
    assert_eq!(world.look(), "", "nobody told of a removal, but a look saw it");
    world.put("OLD", ASKED);
    assert_eq!(world.look(), "resolved OLD Unrecorded, opened OLD");
}

#[test]
fn g06_content_counts_as_json() {
    let mut world = World::with_old();
    world.put("OLD", OLD);
    assert_eq!(world.look(), "", "touched");
    world.put("OLD", "{ \"question\" : \"old?\",\n \"created_at\": \"2026-04-07T12:00:00Z\" }\n");
    assert_eq!(world.look(), "", "written anew");
    world.put("OLD", r#"{"created_at":"2026-04-07T12:00:00Z","question":"new?"}"#);
    assert_eq!(world.look(), "changed OLD");
    assert_eq!(question(&world).unwrap(), "new?");
    world.put("OLD", r#"{"state":"resolved","resolution":{"chosen_option":"yes"}}"#);
    assert_eq!(world.look(), "resolved OLD Recorded");
    assert_eq!(question(&world).unwrap(), "yes");
    world.unlink("OLD");
    assert_eq!(world.look(), "");
    world.record("OLD", ANSWER);
    assert_eq!(world.look(), "");
}

#[test]
fn g06_an_answer_that_is_taken_back_opens_the_gate_again() {
    let mut world = World::with_old();
    world.put("OLD", r#"{"state":"resolved"}"#);
    assert_eq!(world.look(), "resolved OLD Recorded");
    world.put("OLD", OLD);
    assert_eq!(world.look(), "opened OLD");
}

#[test]
fn g06_a_gate_that_is_written_in_place_is_waited_for() {
    let mut world = World::with_old();
    world.put("OLD", "");
    assert_eq!(world.look(), "");
    assert_eq!(world.due_ms(), Some(50));
    world.after(400);
    assert_eq!(world.look(), "");
    world.put("OLD", OLD);
    assert_eq!(world.look(), "");
    world.put("OLD", "{");
    assert_eq!(world.look(), "");
    world.after(1000);
    assert_eq!(world.look(), "changed OLD Malformed");
    world.put("OLD", ASKED);
    assert_eq!(world.look(), "resolved OLD Unrecorded, opened OLD", "another created_at");
}

#[test]
fn g09_the_baseline_is_told_where_that_is_asked_for() {
    let mut world = World::new(Rules { emit_current: true, ..Rules::default() });
    for id in ["B", "A", "C"] {
        world.put(id, ASKED);
    }
    assert_eq!(world.look(), "opened A initial, opened B initial, opened C initial");
    assert_eq!(world.look(), "");

    let mut world = World::new(Rules::default());
    world.put("A", "");
    assert_eq!(world.look(), "", "being written at the start");
    world.put("A", ASKED);
    assert_eq!(world.look(), "");
    world.put("B", ASKED);
    assert_eq!(world.look(), "opened B");
}

#[test]
fn g12_a_gate_without_content_is_told_all_the_same() {
    let mut world = World::with_old();
    world.put("NEW", "");
    assert_eq!(world.look(), "");
    assert_eq!(world.due_ms(), Some(50));
    world.after(100);
    assert_eq!(world.look(), "");
    assert_eq!(world.due_ms(), Some(50));
    world.after(50);
    assert_eq!(world.look(), "");
    assert_eq!(world.due_ms(), Some(100));
    world.after(100);
    assert_eq!(world.look(), "opened NEW Empty");
    world.put("NEW", ASKED);
    assert_eq!(world.look(), "changed NEW");

    world.put("SLOW", "");
    assert_eq!(world.look(), "");
    world.after(100);
    world.put("SLOW", ASKED);
    assert_eq!(world.look(), "opened SLOW");
    assert_eq!(question(&world).unwrap(), "Drop it?");
}

#[test]
fn g13_nothing_is_told_in_the_middle_of_a_commit() {
    let mut world = World::with_old();
    world.in_transaction = true;
    world.put("NEW", ASKED);
    assert_eq!(world.look(), "");
    assert_eq!(world.due_ms(), Some(2000));
    world.after(40);
    world.in_transaction = false;
    assert_eq!(world.look(), "opened NEW");

    world.in_transaction = true;
    world.record("OLD", ANSWER);
    world.unlink("OLD");
    assert_eq!(world.look(), "");
    world.after(1999);
    assert_eq!(world.look(), "");
    world.after(1);
    assert_eq!(world.look(), "resolved OLD Recorded wal");
    world.put("NEXT", ASKED);
    assert_eq!(world.look(), "");
    world.after(2000);
    assert_eq!(world.look(), "opened NEXT wal");
}

#[test]
fn g16_the_difference_is_told_after_a_restart() {
    let mut world = World::with_old();
    world.put("STAYS", ASKED);
    assert_eq!(world.look(), "opened STAYS");
    world.after(60_000);
    world.put("NEW", ASKED);
    world.record("OLD", ANSWER);
    world.unlink("OLD");
    world.restart();
    assert_eq!(world.look(), "resolved OLD Recorded, opened NEW");
    world.restart();
    assert_eq!(world.look(), "");
}

#[test]
fn g17_a_long_wait_is_told_once() {
    let day = Some(Duration::from_hours(24));
    let mut world = World::new(Rules { warn_after: day, ..Rules::default() });
    let asked = world.now.wall - 25.hours();
    world.put("A", &format!(r#"{{"created_at":"{asked}","question":"q"}}"#));
    assert_eq!(world.look(), "waiting A 90000");
    assert_eq!(question(&world).unwrap(), "q");
    assert_eq!(world.look(), "");
    world.restart();
    assert_eq!(world.look(), "");

    // No time of asking: the file's. A suspend counts, a step of the clock doesn't.
    world.put("B", "{}");
    assert_eq!(world.look(), "opened B");
    assert_eq!(world.due_ms(), Some(86_400_000));
    world.now.wall += 100.hours();
    assert_eq!(world.look(), "");
    world.now.boot += Duration::from_hours(23);
    assert_eq!(world.look(), "");
    assert_eq!(world.due_ms(), Some(3_600_000));
    assert!(world.judge.rest(&world.now).is_some());
    world.now.boot += Duration::from_hours(1);
    assert!(world.judge.rest(&world.now).is_none());
    assert_eq!(world.look(), "waiting B 86400");
    world.unlink("B");
    world.put("B", "{}");
    assert_eq!(world.look(), "resolved B Unrecorded, opened B");
    world.after(86_400_000);
    assert_eq!(world.look(), "waiting B 86400", "another gate waits anew");
}

#[test]
fn lines_are_ordered_by_kind_and_name() {
    let mut world = World::new(Rules::default());
    for id in ["b", "a", "d", "c"] {
        world.put(id, OLD);
    }
    world.look();
    world.put("f", ASKED);
    world.put("e", ASKED);
    world.record("d", ANSWER);
    world.record("a", ANSWER);
    world.put("b", r#"{"created_at":"2026-04-07T12:00:00Z"}"#);
    assert_eq!(
        world.look(),
        "resolved a Recorded, resolved d Recorded, opened e, opened f, changed b"
    );
}

#[test]
fn readings_have_all_that_holds() {
    let warn_after = Some(Duration::from_hours(1));
    let mut world = World::new(Rules { warn_after, readings: true, ..Rules::default() });
    world.put("A", OLD);
    world.put("B", ASKED);
    assert_eq!(world.look(), "");
    let found = |world: &World| {
        let found = world.last.as_ref().unwrap().found.as_ref().unwrap();
        serde_json::to_string(&(&found.entries, &found.error)).unwrap()
    };
    assert_eq!(
        found(&world),
        concat!(
            r#"[[{"key":"gate:A","severity":"immediate","resets_on":"revision","brief":"old?"},"#,
            r#"{"key":"gate-waiting:A","severity":"wake","resets_on":"revision","brief":"still open: old?"},"#,
            r#"{"key":"gate:B","severity":"immediate","resets_on":"revision","brief":"Drop it?"}],null]"#,
        )
    );
    world.record("B", ANSWER);
    world.unlink("A");
    world.look();
    assert!(found(&world).starts_with(
        r#"[[{"key":"resolved:B","severity":"immediate","resets_on":"never","brief":"answered: drop it"},{"key":"gate:A","#
    ));
    world.after(250);
    world.look();
    assert!(found(&world).contains(r#""key":"resolved:A""#));
    world.look();
    assert_eq!(found(&world), "[[],null]");
    world.folder = None;
    world.look();
    assert_eq!(world.last.as_ref().unwrap().found, None);
    world.after(2000);
    world.look();
    assert!(found(&world).contains(r#""kind":"transient","reason":"gates_missing""#));
    assert_eq!(world.health(), "");
}

#[test]
fn a_cursor_of_another_time_still_names_what_passed_by() {
    let mut world = World::with_old();
    let looked_at = Timestamp::from_second(world.judge.memory().looked_at).unwrap();
    assert_eq!(looked_at, "2026-04-08T14:10:00Z".parse::<Timestamp>().unwrap());
    world.after(5_000);
    assert_eq!(world.look(), "");
    assert_eq!(
        world.judge.memory().looked_at,
        looked_at.as_second(),
        "a look that changed nothing does not write the cursor"
    );
}

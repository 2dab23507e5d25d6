//! What is said of the monitor itself: H15 to H18, and what it remembers.

use super::*;

#[test]
fn h15_content_has_a_second_to_settle() {
    let mut world = World::new();
    world.look(&["WI-1 s1 14:15"]);
    for wait in [50, 100, 200, 400, 250] {
        let outcome = world.blind(Trouble::Invalid);
        assert_eq!((outcome.look, outcome.health.len()), (Look::Settling, 0));
        assert_eq!(world.due_in(&outcome), Duration::from_millis(wait));
        // A change in between is looked at, and spends no try.
        world.pass(Duration::from_millis(wait / 2));
        let early = world.blind(Trouble::Invalid);
        assert_eq!((early.look, early.due), (Look::Settling, outcome.due));
        world.pass(Duration::from_millis(wait - wait / 2));
    }
    let outcome = world.blind(Trouble::Invalid);
    assert_eq!(
        (outcome.look, reasons(&outcome.health)),
        (Look::Blind, vec!["degraded store_invalid".to_owned()])
    );
    assert_eq!(outcome.due, None);
    let again = world.pass(SECOND).blind(Trouble::Invalid);
    assert_eq!((again.look, again.health.len()), (Look::Blind, 0));

    let outcome = world.pass(SECOND).read(&["WI-1 s1 14:15"]);
    assert_eq!(reasons(&outcome.health), ["recovered store_invalid"]);
    assert!(outcome.events.is_empty());
}

#[test]
fn h15_content_that_settles_in_time_is_no_event() {
    let mut world = World::new();
    world.look(&["WI-1 s1 14:15"]);
    assert_eq!(world.blind(Trouble::Invalid).look, Look::Settling);
    let outcome = world.pass(Duration::from_millis(30)).read(&["WI-1 s1 14:15"]);
    assert_eq!((outcome.look, outcome.health.len(), outcome.events.len()), (Look::Whole, 0, 0));
    // The next trouble has the whole time again.
    let outcome = world.pass(SECOND).blind(Trouble::Invalid);
    assert_eq!(world.due_in(&outcome), Duration::from_millis(50));
}

#[test]
fn h16_a_store_that_is_gone_is_missed_after_two_seconds() {
    let mut world = World::new();
    world.look(&["WI-1 s1 14:15"]);
    let outcome = world.blind(Trouble::NoStore);
    assert_eq!((outcome.look, outcome.health.len()), (Look::Blind, 0));
    assert_eq!(world.due_in(&outcome), 2 * SECOND);
    let outcome = world.pass(2 * SECOND).blind(Trouble::NoStore);
    assert_eq!(reasons(&outcome.health), ["degraded store_missing"]);
    assert!(outcome.events.is_empty());
    let outcome = world.pass(3 * SECOND).read(&["WI-1 =done"]);
    assert_eq!(reasons(&outcome.health), ["recovered store_missing"]);
    assert_eq!(outcome.events.iter().map(brief).collect::<Vec<_>>(), ["done WI-1 warning"]);
}

#[test]
fn a_store_that_is_back_within_two_seconds_is_no_event() {
    let mut world = World::new();
    world.look(&["WI-1 s1 14:15"]);
    for _ in 0..3 {
        world.blind(Trouble::NoStore);
        let outcome = world.pass(Duration::from_millis(1900)).read(&["WI-1 s1 14:15"]);
        assert_eq!((outcome.health.len(), outcome.events.len()), (0, 0));
        world.pass(SECOND);
    }
}

#[test]
fn a_store_that_never_was_has_no_items() {
    let mut world = World::new();
    let outcome = world.blind(Trouble::NoStore);
    assert_eq!((outcome.look, outcome.health.len(), outcome.due), (Look::Whole, 0, None));
}

#[test]
fn a_state_folder_has_a_minute_to_appear_and_two_seconds_to_return() {
    let mut world = World::new();
    let outcome = world.blind(Trouble::NoFolder);
    assert_eq!((outcome.look, outcome.health.len()), (Look::Blind, 0));
    assert_eq!(world.due_in(&outcome), 60 * SECOND);
    let outcome = world.pass(60 * SECOND).blind(Trouble::NoFolder);
    assert_eq!(reasons(&outcome.health), ["degraded state_dir_missing"]);
    let outcome = world.pass(SECOND).blind(Trouble::NoStore);
    assert_eq!(reasons(&outcome.health), ["recovered state_dir_missing"]);

    let outcome = world.pass(SECOND).blind(Trouble::NoFolder);
    assert_eq!(world.due_in(&outcome), 2 * SECOND);
    let outcome = world.pass(2 * SECOND).blind(Trouble::NoFolder);
    assert_eq!(reasons(&outcome.health), ["degraded state_dir_missing"]);
}

#[test]
fn a_single_look_has_no_patience() {
    let mut world = World::with(|rules| rules.patient = false);
    let outcome = world.blind(Trouble::NoFolder);
    assert_eq!(
        (outcome.look, reasons(&outcome.health)),
        (Look::Blind, vec!["degraded state_dir_missing".to_owned()])
    );

    let mut world = World::with(|rules| rules.patient = false);
    assert_eq!(world.blind(Trouble::NoStore).look, Look::Whole);
    let mut world = World::with(|rules| rules.patient = false);
    assert_eq!(world.blind(Trouble::Invalid).look, Look::Settling);
}

#[test]
fn each_reason_is_told_once_and_all_end_with_a_whole_look() {
    let mut world = World::new();
    world.look(&[]);
    for trouble in [Trouble::Unreadable, Trouble::NoFolder, Trouble::Unreadable, Trouble::NoFolder]
    {
        world.blind(trouble);
        world.pass(3 * SECOND);
    }
    let outcome = world.read(&[]);
    assert_eq!(
        reasons(&outcome.health),
        ["recovered state_dir_missing", "recovered store_unreadable"]
    );
}

/// The record of a transaction that was written `age` before the present.
fn wal(world: &World, age: Duration) -> Wal {
    let modified_ns = wall_ns(&world.now) - i128::try_from(age.as_nanos()).unwrap();
    Wal { file: (1, 2), modified_ns }
}

#[test]
fn h17_a_transaction_is_waited_for() {
    let mut world = World::new();
    world.wal = Some(wal(&world, Duration::ZERO));
    let outcome = world.read(&["WI-1 s1 14:15"]);
    assert_eq!((outcome.look, outcome.events.len()), (Look::Settling, 0));
    assert_eq!(world.due_in(&outcome), 5 * SECOND);
    world.pass(SECOND).wal = None;
    assert_eq!(world.look(&["WI-1 s1 14:15"]), ["warning WI-1 299"]);
}

#[test]
fn h17_a_transaction_whose_writer_died_is_not_waited_for() {
    let mut world = World::new();
    world.wal = Some(wal(&world, Duration::from_hours(1)));
    assert_eq!(world.look(&["WI-1 s1 14:15"]), ["warning WI-1 300 wal_pending"]);

    let mut world = World::new();
    world.wal = Some(wal(&world, Duration::ZERO));
    world.look(&["WI-1 s1 14:15"]);
    world.pass(5 * SECOND);
    assert_eq!(world.look(&["WI-1 s1 14:15"]), ["warning WI-1 295 wal_pending"]);
    assert_eq!(world.look(&["WI-1 s1 15:15"]), ["renewed WI-1 warning wal_pending"]);
}

#[test]
fn h17_a_transaction_from_the_future_ages_from_when_it_was_seen() {
    let mut world = World::new();
    world.wal = Some(Wal { file: (1, 2), modified_ns: wall_ns(&world.now) + 1_000_000_000_000 });
    assert!(world.look(&["WI-1 s1 14:15"]).is_empty());
    world.pass(5 * SECOND);
    assert_eq!(world.look(&["WI-1 s1 14:15"]), ["warning WI-1 295 wal_pending"]);
    // The next one has its own age.
    world.wal = Some(wal(&world, Duration::ZERO));
    assert!(world.look(&["WI-1 s1 15:15"]).is_empty());
}

#[test]
fn h18_what_was_said_outlives_the_process() {
    let mut world = World::new();
    let items = ["WI-1 s1 14:09", "WI-2 s1 14:15", "WI-3 s1 5", "7"];
    assert_eq!(world.look(&items).len(), 4);
    let restart = |world: &World| {
        let saved = serde_json::to_string(&world.memory).unwrap();
        let memory = serde_json::from_str(&saved).unwrap();
        World { memory, now: world.now, ..World::new() }
    };
    assert!(restart(&world).look(&items).is_empty());
    let told = restart(&world).look(&["WI-1 s1 15:00", "WI-3 s1 14:15"]);
    assert_eq!(
        told,
        [
            "repaired WI-3 invalid",
            "renewed WI-1 expired",
            "removed WI-2 warning",
            "warning WI-3 300"
        ]
    );

    // A store that an earlier run knew is missed by this one.
    let mut later = restart(&world);
    assert_eq!(later.blind(Trouble::NoStore).look, Look::Blind);
    let outcome = later.pass(2 * SECOND).blind(Trouble::NoStore);
    assert_eq!(reasons(&outcome.health), ["degraded store_missing"]);
}

#[test]
fn h18_a_memory_of_the_first_version_can_be_read() {
    let saved = include_str!("../../../tests/data/memory-v1.json");
    let memory: Memory = serde_json::from_str(saved).unwrap();
    assert!(memory.knew_store);
    assert_eq!(memory.said.leases["WI-1"].severity, crate::event::Severity::Expired);
    assert_eq!(memory.said.flaws["WI-3"].value.as_deref(), Some("5"));
    assert_eq!(
        serde_json::to_value(&memory).unwrap(),
        serde_json::from_str::<Value>(saved).unwrap()
    );
}

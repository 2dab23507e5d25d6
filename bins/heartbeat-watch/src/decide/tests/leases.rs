//! What is said of leases: H1 to H14.

use super::*;

#[test]
fn h01_a_lease_near_its_end_warns_once() {
    let mut world = World::new();
    assert_eq!(world.look(&["WI-1 s1 14:15"]), ["warning WI-1 300"]);
    for _ in 0..99 {
        assert!(world.pass(SECOND).look(&["WI-1 s1 14:15"]).is_empty());
    }
}

#[test]
fn h02_a_lease_warns_when_its_boundary_passes() {
    let mut world = World::new();
    let items = ["A s1 14:19:59", "B s1 14:20:00"];
    let outcome = world.read(&items);
    assert_eq!(outcome.events.iter().map(brief).collect::<Vec<_>>(), ["warning A 599"]);
    assert_eq!(world.due_in(&outcome), SECOND);
    assert_eq!(world.pass(SECOND).look(&items), ["warning B 599"]);
}

#[test]
fn h03_a_lease_expires_a_second_after_its_end_and_after_the_grace() {
    let mut world = World::new();
    let outcome = world.read(&["WI-1 s1 14:10"]);
    assert_eq!(outcome.events.iter().map(brief).collect::<Vec<_>>(), ["warning WI-1 0"]);
    assert_eq!(world.due_in(&outcome), SECOND);
    assert_eq!(world.pass(SECOND).look(&["WI-1 s1 14:10"]), ["expired WI-1 -1"]);

    let mut world = World::with(|rules| rules.grace = 15 * SECOND);
    assert_eq!(world.look(&["WI-1 s1 14:10"]), ["warning WI-1 0"]);
    assert!(world.pass(15 * SECOND).look(&["WI-1 s1 14:10"]).is_empty());
    assert_eq!(world.pass(SECOND).look(&["WI-1 s1 14:10"]), ["expired WI-1 -16"]);
}

#[test]
fn h04_a_renewal_ends_the_warning_and_a_new_one_can_come() {
    let mut world = World::new();
    assert_eq!(world.look(&["WI-1 s1 14:15"]), ["warning WI-1 300"]);
    assert_eq!(world.look(&["WI-1 s1 15:00"]), ["renewed WI-1 warning"]);
    assert_eq!(world.look(&["WI-1 s1 14:16"]), ["warning WI-1 360"]);
}

#[test]
fn h05_a_lease_that_moves_and_stays_near_is_told_when_asked_for() {
    let mut world = World::new();
    assert_eq!(world.look(&["WI-1 s1 14:15"]), ["warning WI-1 300"]);
    assert!(world.look(&["WI-1 s1 14:16"]).is_empty());

    let mut world = World::with(|rules| rules.emit_renewals = true);
    assert_eq!(world.look(&["WI-1 s1 14:15"]), ["warning WI-1 300"]);
    assert_eq!(world.look(&["WI-1 s1 14:16"]), ["warning WI-1 360 renewed"]);
    assert_eq!(world.look(&["WI-1 s2 14:17"]), ["warning WI-1 420"]);
}

#[test]
fn h06_an_item_that_is_requeued_recovers_and_can_expire_again() {
    let mut world = World::new();
    assert_eq!(world.look(&["WI-1 A 14:09"]), ["expired WI-1 -60"]);
    assert_eq!(world.look(&["WI-1 =ready"]), ["requeued WI-1 expired"]);
    assert_eq!(world.look(&["WI-1 B 14:09"]), ["expired WI-1 -60"]);
    assert_eq!(world.look(&["WI-1 =pending"]), ["requeued WI-1 expired"]);
}

#[test]
fn h07_another_owner_with_as_little_time_is_told() {
    let mut world = World::new();
    assert_eq!(world.look(&["WI-1 A 14:09"]), ["expired WI-1 -60"]);
    assert_eq!(world.look(&["WI-1 B 14:09"]), ["expired WI-1 -60"]);
    assert_eq!(world.look(&["WI-1 B 14:19"]), ["warning WI-1 540"]);
    assert_eq!(world.look(&["WI-1 C 15:00"]), ["owner_changed WI-1 warning"]);
}

#[test]
fn h08_an_item_leaves_in_several_ways() {
    for (left, reason) in [
        (&["WI-1 =done"][..], "done"),
        (&["WI-1 =reviewing"], "released"),
        (&[r#"{"id":"WI-1"}"#], "released"),
        (&[], "removed"),
    ] {
        let mut world = World::new();
        assert_eq!(world.look(&["WI-1 s1 14:15"]), ["warning WI-1 300"]);
        assert_eq!(world.look(left), [format!("{reason} WI-1 warning")]);
        assert!(world.look(left).is_empty());
    }
}

#[test]
fn h08_a_recovery_says_what_the_item_is_now() {
    let mut world = World::new();
    world.look(&["WI-1 s1 14:15"]);
    let outcome = world.read(&["WI-1 =done"]);
    let [Event::HeartbeatRecovered(event)] = &*outcome.events else { panic!("{outcome:?}") };
    assert_eq!(event.status.as_deref(), Some("done"));
    assert_eq!((event.owner_session_id.as_deref(), &event.lease_expires_at), (Some(""), &None));

    world.look(&["WI-1 s1 14:15"]);
    let outcome = world.read(&[]);
    let [Event::HeartbeatRecovered(event)] = &*outcome.events else { panic!("{outcome:?}") };
    assert_eq!((&event.status, &event.owner_session_id), (&None, &None));
}

#[test]
fn h09_one_instant_in_seven_spellings() {
    let mut world = World::new();
    for (n, lease) in [
        "2026-04-08T14:15:00Z",
        "2026-04-08T14:15:00z",
        "2026-04-08T14:15:00.75Z",
        "2026-04-08T23:15:00+09:00",
        "2026-04-08T06:15:00-0800",
        "2026-04-08 14:15:00Z",
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("WI-{n}");
        let text = format!("{id} s1 \"{lease}\"");
        let told = world.look(&[&text]);
        assert!(told.contains(&format!("warning {id} 300")), "{told:?}");
    }
    let told = world.look(&[r#"N s1 "2026-04-08T14:15:00""#]);
    assert!(told.contains(&"warning N 300 lease_naive".to_owned()), "{told:?}");
}

#[test]
fn h10_a_lease_that_cannot_be_read_is_told_once_per_value() {
    let leases = [
        ("null", "lease_missing"),
        (r#""""#, "lease_missing"),
        (r#""tomorrow""#, "lease_malformed"),
        (r#""@1790000000""#, "lease_malformed"),
        (r#""2026-02-30T00:00:00Z""#, "lease_malformed"),
        (r#""2026-04-08""#, "lease_malformed"),
        ("5", "lease_not_string"),
        ("[]", "lease_not_string"),
    ];
    let mut items: Vec<String> =
        leases.iter().enumerate().map(|(n, (lease, _))| format!("I{n} s1 {lease}")).collect();
    items.push(r#"{"id":"absent","status":"implementing"}"#.to_owned());
    let items: Vec<&str> = items.iter().map(String::as_str).collect();
    let mut want: Vec<String> =
        leases.iter().enumerate().map(|(n, (_, reason))| format!("{reason} I{n}")).collect();
    want.push("lease_missing absent".to_owned());

    let mut world = World::new();
    assert_eq!(world.look(&items), want);
    assert!(world.pass(SECOND).look(&items).is_empty());

    let mut world = World::new();
    assert_eq!(world.look(&["WI-1 s1 5"]), ["lease_not_string WI-1"]);
    assert_eq!(world.look(&["WI-1 s1 6"]), ["lease_not_string WI-1"]);
    assert_eq!(world.look(&[r#"WI-1 s1 "6""#]), ["lease_malformed WI-1"]);
    assert!(world.look(&[r#"WI-1 s2 "6""#]).is_empty());
}

#[test]
fn h10_a_value_is_told_as_far_as_64_bytes() {
    let mut world = World::new();
    let outcome = world.read(&[&format!("WI-1 s1 \"{}\"", "é".repeat(40))]);
    let [Event::HeartbeatInvalid(event)] = &*outcome.events else { panic!("{outcome:?}") };
    assert_eq!((event.lease_expires_at.as_deref(), event.cut), (Some(&*"é".repeat(32)), true));

    for (lease, value) in [("null", None), (r#""""#, Some("")), ("[1,2]", Some("[1,2]"))] {
        let outcome = World::new().read(&[&format!("WI-1 s1 {lease}")]);
        let [Event::HeartbeatInvalid(event)] = &*outcome.events else { panic!("{outcome:?}") };
        assert_eq!((event.lease_expires_at.as_deref(), event.cut), (value, false));
    }
}

#[test]
fn h11_a_lease_that_can_be_read_again_is_repaired() {
    for (lease, then) in [("15:00", &[][..]), ("14:15", &["warning WI-1 300"])] {
        let mut world = World::new();
        assert_eq!(world.look(&[r#"WI-1 s1 "tomorrow""#]), ["lease_malformed WI-1"]);
        let mut want = vec!["repaired WI-1 invalid"];
        want.extend(then);
        assert_eq!(world.look(&[&format!("WI-1 s1 {lease}")]), want);
    }
}

#[test]
fn h11_what_was_said_of_a_lease_stays_while_it_cannot_be_read() {
    let mut world = World::new();
    assert_eq!(world.look(&["WI-1 s1 14:15"]), ["warning WI-1 300"]);
    assert_eq!(world.look(&["WI-1 s1 5"]), ["lease_not_string WI-1"]);
    assert_eq!(world.look(&["WI-1 s1 14:15"]), ["repaired WI-1 invalid"]);
    assert_eq!(world.look(&["WI-1 s1 5"]), ["lease_not_string WI-1"]);
    let left = world.look(&["WI-1 =done"]);
    assert_eq!(left, ["done WI-1 invalid", "done WI-1 warning"]);
}

/// A machine that sleeps 519 of 605 seconds.
fn sleep(world: &mut World) {
    world.shift(605_000, Duration::from_secs(605), Duration::from_secs(86));
}

#[test]
fn h12_a_lease_that_ran_out_in_a_suspend_is_renewed_in_silence() {
    let mut world = World::with(|rules| rules.warn_before = Duration::from_mins(1));
    assert!(world.look(&["WI-1 s1 14:12"]).is_empty());
    sleep(&mut world);
    assert!(world.look(&["WI-1 s1 14:12"]).is_empty());
    assert!(world.pass(20 * SECOND).look(&["WI-1 s1 15:30"]).is_empty());
    assert!(world.pass(60 * SECOND).look(&["WI-1 s1 15:30"]).is_empty());
}

#[test]
fn h12_a_lease_that_ran_out_in_a_suspend_is_told_after_a_minute() {
    let mut world = World::new();
    assert_eq!(world.look(&["WI-1 s1 14:12"]), ["warning WI-1 120"]);
    sleep(&mut world);
    let outcome = world.read(&["WI-1 s1 14:12"]);
    assert_eq!((outcome.events, outcome.look), (Vec::new(), Look::Whole));
    assert_eq!(world.now.monotonic + 60 * SECOND, outcome.due.unwrap());
    assert!(world.pass(59 * SECOND).look(&["WI-1 s1 14:12"]).is_empty());
    assert_eq!(world.pass(SECOND).look(&["WI-1 s1 14:12"]), ["expired WI-1 -545 resumed"]);
    assert!(world.pass(60 * SECOND).look(&["WI-1 s1 14:12"]).is_empty());
}

#[test]
fn h12_changes_are_judged_as_they_come_after_a_suspend() {
    let mut world = World::new();
    world.look(&["A s1 14:12", "B s1 14:12"]);
    sleep(&mut world);
    assert!(world.look(&["A s1 14:12", "B s1 14:12"]).is_empty());
    let told = world.pass(SECOND).look(&["A s2 14:12", "B s1 14:12", "C s1 14:13"]);
    assert_eq!(told, ["expired A -486", "expired C -426"]);
    assert_eq!(world.look(&["A s2 14:12", "B =done", "C s1 14:13"]), ["done B warning"]);
}

#[test]
fn h12_what_expired_before_a_suspend_is_not_held_back() {
    let mut world = World::with(|rules| rules.poll_interval = Duration::from_secs(10));
    world.look(&[]);
    sleep(&mut world);
    assert_eq!(world.look(&["WI-1 s1 14:09"]), ["expired WI-1 -665"]);
}

#[test]
fn h12_a_stopped_process_and_a_step_of_the_clock_are_gaps_too() {
    // Stopped for ten minutes; the wall clock set forward by an hour; paused with its machine.
    let minutes = |n| Duration::from_mins(n);
    for (wall, boot, monotonic) in [
        (600_000, minutes(10), minutes(10)),
        (3_600_000, SECOND, SECOND),
        (600_000, SECOND, SECOND),
    ] {
        let mut world = World::new();
        world.look(&["WI-1 s1 14:12"]);
        world.shift(wall, boot, monotonic);
        assert!(world.look(&["WI-1 s1 14:12"]).is_empty(), "{wall}");
        let told = world.pass(60 * SECOND).look(&["WI-1 s1 14:12"]);
        assert!(told.len() == 1 && told[0].ends_with("resumed"), "{wall}: {told:?}");
    }
    // A late pass that is no gap.
    let mut world = World::new();
    world.look(&["WI-1 s1 14:12"]);
    assert_eq!(world.pass(minutes(3)).look(&["WI-1 s1 14:12"]), ["expired WI-1 -60"]);
}

#[test]
fn h12_a_gap_that_ends_blind_is_remembered() {
    let mut world = World::new();
    world.look(&["WI-1 s1 14:12"]);
    sleep(&mut world);
    world.blind(Trouble::Unreadable);
    assert!(world.pass(10 * SECOND).look(&["WI-1 s1 14:12"]).is_empty());
    let told = world.pass(50 * SECOND).look(&["WI-1 s1 14:12"]);
    assert_eq!(told, ["expired WI-1 -545 resumed"]);
}

#[test]
fn h13_a_clock_set_back_neither_recovers_nor_repeats() {
    let mut world = World::new();
    assert_eq!(world.look(&["WI-1 s1 14:09"]), ["expired WI-1 -60"]);
    world.shift(-3_600_000, SECOND, SECOND);
    assert!(world.look(&["WI-1 s1 14:09"]).is_empty());
    // Through the warning window, and past the end.
    for clock in ["13:30:00", "14:00:00", "14:05:00", "14:09:30", "14:20:00"] {
        assert!(world.until(clock).look(&["WI-1 s1 14:09"]).is_empty(), "{clock}");
    }
    assert_eq!(world.look(&["WI-1 s1 15:00"]), ["renewed WI-1 expired"]);
}

#[test]
fn h14_elements_that_are_no_items_are_told_once() {
    let mut world = World::new();
    let items = ["1", "null", r#""x""#, "WI-1 s1 14:15"];
    let told = world.look(&items);
    let mut want: Vec<String> = (0..3).map(|at| format!("item_not_object #{at}")).collect();
    want.push("warning WI-1 300".to_owned());
    assert_eq!(told, want);
    assert!(world.look(&items).is_empty());
}

#[test]
fn h14_ids_are_exact_and_duplicates_apart() {
    let mut world = World::new();
    let with_id = |id: Value| {
        json!({"id": id, "status": "implementing", "owner_session_id": "s", "lease_expires_at": "2026-04-08T14:15:00Z"})
            .to_string()
    };
    let ids =
        [json!("a\tb\\c"), json!(7), json!(null), json!("X A"), json!("A"), json!("D"), json!("D")];
    let items: Vec<String> = ids.into_iter().map(with_id).collect();
    let outcome = world.read(&items.iter().map(String::as_str).collect::<Vec<_>>());
    let told: Vec<_> = outcome
        .events
        .iter()
        .map(|event| match event {
            Event::HeartbeatWarning(event) => {
                (&*event.work_item_id, &*event.name, event.item_index, event.duplicate)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        told,
        [
            ("a\tb\\c", "a\tb\\c", None, false),
            ("7", "7", None, false),
            ("", "#2", Some(2), false),
            ("X A", "X A", None, false),
            ("A", "A", None, false),
            ("D", "D", None, true),
            ("D", "D#2", None, true),
        ]
    );
}

#[test]
fn recoveries_come_first_by_key_then_the_rest_in_file_order() {
    let mut world = World::new();
    world.look(&["Z s1 14:15", "A s1 14:15", "M s1 5"]);
    let told = world.look(&["Y s1 14:15", "Z =done", "7", "B s1 14:15", "A =done", "M s1 14:15"]);
    assert_eq!(
        told,
        [
            "repaired M invalid",
            "done A warning",
            "done Z warning",
            "warning Y 300",
            "item_not_object #2",
            "warning B 300",
            "warning M 300",
        ]
    );
}

#[test]
fn without_recoveries_the_next_episode_is_told_all_the_same() {
    // HB-22: ten episodes are ten lines, and strictly alternate when recoveries are told.
    for tell_recovered in [true, false] {
        let mut world = World::with(|rules| rules.tell_recovered = tell_recovered);
        for _ in 0..10 {
            assert_eq!(world.look(&["WI-1 s1 14:09"]), ["expired WI-1 -60"]);
            let healthy = world.look(&["WI-1 s1 15:00"]);
            assert_eq!(healthy.len(), usize::from(tell_recovered), "{healthy:?}");
        }
    }
}

#[test]
fn hb_13_a_lease_that_never_ends_is_healthy() {
    let mut world = World::new();
    assert!(world.look(&[r#"WI-1 s1 "9999-12-31T23:59:59Z""#]).is_empty());
}

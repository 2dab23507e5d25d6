//! What holds whatever happens.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{event::Severity, lease::Lease};

/// What may happen between two looks, and what the second one finds.
#[derive(Debug, Clone)]
struct Step {
    wall_ms: i64,
    boot_ms: u64,
    monotonic_ms: u64,
    found: Result<Vec<String>, Trouble>,
    has_wal: bool,
}

fn items() -> impl Strategy<Value = Vec<String>> {
    let id = prop::sample::select(vec!["A", "B", "C"]);
    let state = prop::sample::select(vec![
        "s1 14:09", "s1 14:15", "s2 14:15", "s1 14:16", "s1 14:30", "s1 5", "s1 null", "s1 \"x\"",
        "=done", "=ready",
    ]);
    let item = (id, state).prop_map(|(id, state)| format!("{id} {state}"));
    prop::collection::vec(prop_oneof![9 => item, 1 => Just("7".to_owned())], 0..5)
}

fn found() -> impl Strategy<Value = Result<Vec<String>, Trouble>> {
    prop_oneof![
        4 => items().prop_map(Ok),
        1 => prop::sample::select(Trouble::ALL.to_vec()).prop_map(Err),
    ]
}

/// Clocks that agree, in steps that are no gap.
fn calm() -> impl Strategy<Value = Step> {
    (1_u64..90_000, found(), prop::bool::weighted(0.1)).prop_map(|(ms, found, has_wal)| {
        let wall_ms = i64::try_from(ms).unwrap();
        Step { wall_ms, boot_ms: ms, monotonic_ms: ms, found, has_wal }
    })
}

/// Clocks that do what they want, but for running backwards where they can't.
fn wild() -> impl Strategy<Value = Step> {
    (-2_000_000_i64..2_000_000, 0_u64..2_000_000, 1_u64..2_000_000, found()).prop_map(
        |(wall_ms, slept_ms, monotonic_ms, found)| {
            let boot_ms = monotonic_ms + slept_ms;
            Step { wall_ms, boot_ms, monotonic_ms, found, has_wal: false }
        },
    )
}

/// A reader who knows only the lines.
#[derive(Default)]
struct Reader(BTreeMap<String, Option<Severity>>);

impl Reader {
    fn read(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::HeartbeatWarning(event) => {
                    let key = format!("lease:{}", event.name);
                    self.0.insert(key, Some(event.severity));
                }
                Event::HeartbeatInvalid(event) if event.name.starts_with('#') => {}
                Event::HeartbeatInvalid(event) => {
                    self.0.insert(format!("lease-invalid:{}", event.name), None);
                }
                Event::HeartbeatRecovered(event) => {
                    let raised = self.0.remove(&event.key());
                    assert!(raised.is_some(), "{event:?} clears what was not raised");
                }
            }
        }
    }
}

fn take(world: &mut World, step: &Step) -> Outcome {
    world.shift(
        step.wall_ms,
        Duration::from_millis(step.boot_ms),
        Duration::from_millis(step.monotonic_ms),
    );
    world.wal = step.has_wal.then(|| Wal { file: (1, 1), modified_ns: wall_ns(&world.now) });
    look(world, &step.found)
}

fn look(world: &mut World, found: &Result<Vec<String>, Trouble>) -> Outcome {
    match found {
        Ok(items) => world.read(&items.iter().map(String::as_str).collect::<Vec<_>>()),
        Err(trouble) => world.blind(*trouble),
    }
}

/// Whether a reader who knows the lines knows how it stands with `items`.
fn check(
    reader: &Reader,
    items: &[String],
    world: &World,
    exact: bool,
) -> Result<(), TestCaseError> {
    let store = store(&items.iter().map(String::as_str).collect::<Vec<_>>());
    for item in &store.items {
        let lease = reader.0.get(&format!("lease:{}", item.name())).copied().flatten();
        let invalid = reader.0.contains_key(&format!("lease-invalid:{}", item.name()));
        match &item.lease {
            _ if !item.is_implementing() => prop_assert!(lease.is_none() && !invalid),
            Lease::Until(end, _) => {
                let severity = world.rules.window(*end).severity(wall_ns(&world.now));
                prop_assert!(!invalid);
                prop_assert!(
                    if exact { lease == severity } else { lease >= severity },
                    "{:?} {:?}",
                    lease,
                    severity
                );
            }
            _ => prop_assert!(invalid),
        }
    }
    let names: Vec<&str> = store.items.iter().map(|item| &**item.name()).collect();
    for key in reader.0.keys() {
        let name = key.split_once(':').unwrap().1;
        prop_assert!(names.contains(&name), "{} is raised, but there is no such item", key);
    }
    Ok(())
}

proptest! {
    /// No event is lost and none is doubled, whatever was blind or half of a commit in between:
    /// after each whole look the lines alone say how it stands.
    #[test]
    fn the_lines_say_how_it_stands(steps in prop::collection::vec(calm(), 1..20)) {
        let (mut world, mut reader) = (World::new(), Reader::default());
        for step in &steps {
            let outcome = take(&mut world, step);
            reader.read(&outcome.events);
            match (&step.found, outcome.look) {
                (Ok(items), Look::Whole) => {
                    check(&reader, items, &world, true)?;
                    prop_assert!(look(&mut world, &step.found).events.is_empty());
                }
                (_, Look::Whole) => prop_assert!(outcome.events.is_empty()),
                _ => prop_assert!(outcome.events.is_empty(), "a blind look told something"),
            }
        }
    }

    /// A restart with a cursor is as if there had been none.
    #[test]
    fn a_restart_loses_and_doubles_nothing(steps in prop::collection::vec(calm(), 1..12)) {
        let (mut steady, mut restarted) = (World::new(), World::new());
        for step in steps.iter().filter(|step| step.found.is_ok() && !step.has_wal) {
            let memory = serde_json::to_string(&restarted.memory).unwrap();
            restarted.memory = serde_json::from_str(&memory).unwrap();
            prop_assert_eq!(take(&mut steady, step).events, take(&mut restarted, step).events);
        }
    }

    /// Clocks that jump hold lines back for a while and double none; after that all is said.
    #[test]
    fn jumping_clocks_swallow_and_double_nothing(
        steps in prop::collection::vec(wild(), 1..12),
        last in items(),
    ) {
        let (mut world, mut reader) = (World::new(), Reader::default());
        for step in &steps {
            let outcome = take(&mut world, step);
            reader.read(&outcome.events);
            if step.found.is_ok() {
                prop_assert!(look(&mut world, &step.found).events.is_empty());
            }
        }
        for _ in 0..3 {
            world.pass(30 * SECOND);
            reader.read(&look(&mut world, &Ok(last.clone())).events);
        }
        check(&reader, &last, &world, false)?;
    }

    /// A pass is planned no later than the next boundary.
    #[test]
    fn the_next_boundary_is_not_slept_over(ms in 0_u64..1_800_000, items in items()) {
        let mut world = World::new();
        world.pass(Duration::from_millis(ms)).tick();
        let outcome = world.read(&items.iter().map(String::as_str).collect::<Vec<_>>());
        if let Some(due) = outcome.due {
            let span = due.checked_sub(world.now.monotonic).unwrap();
            let before = span.saturating_sub(Duration::from_nanos(1));
            let mut early = World { memory: world.memory.clone(), now: world.now, ..World::new() };
            let at = |world: &mut World, span: Duration| {
                world.now.wall += jiff::SignedDuration::try_from(span).unwrap();
                world.now.boot += span;
                world.now.monotonic += span;
            };
            at(&mut early, before);
            prop_assert!(look(&mut early, &Ok(items.clone())).events.is_empty());
        }
    }
}

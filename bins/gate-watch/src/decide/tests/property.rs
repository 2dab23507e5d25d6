use std::{collections::BTreeSet, time::Duration};

use proptest::prelude::*;
use shared::session::Look;

use super::world::{ANSWER, ASKED, OLD, World, name, short};
use crate::{content::Content, decide::Rules, event::Event};

/// What can happen between two looks.
#[derive(Debug, Clone)]
enum Step {
    Put(u8, u8),
    Unlink(u8),
    Record(u8, u8),
    Unrecord(u8),
    Folder(bool),
    Refuse(bool),
    RefuseRecords(bool),
    Transaction(bool),
    Pass(u16),
    Restart,
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    let id = 0..3u8;
    prop_oneof![
        4 => (id.clone(), 0..5u8).prop_map(|(id, text)| Step::Put(id, text)),
        3 => id.clone().prop_map(Step::Unlink),
        2 => (id.clone(), 0..5u8).prop_map(|(id, text)| Step::Record(id, text)),
        1 => id.prop_map(Step::Unrecord),
        1 => any::<bool>().prop_map(Step::Folder),
        1 => any::<bool>().prop_map(Step::Refuse),
        1 => any::<bool>().prop_map(Step::RefuseRecords),
        1 => any::<bool>().prop_map(Step::Transaction),
        3 => (0..3000u16).prop_map(Step::Pass),
        1 => Just(Step::Restart),
        6 => Just(Step::Look),
    ]
}

fn text(at: u8) -> &'static str {
    [OLD, ASKED, ANSWER, "", r#"{"question":"x"}"#][usize::from(at)]
}

/// What a reader of the lines believes: which gates are open. Panics on a line that can't be.
fn believe(world: &World, open: &mut BTreeSet<String>) {
    for event in &world.last.as_ref().unwrap().events {
        match event {
            Event::GateOpened(gate) => {
                assert!(open.insert(gate.gate_id.clone()), "doubled: {}", short(event));
            }
            Event::GateResolved(gate) => {
                assert!(open.remove(&gate.gate_id), "not open: {}", short(event));
            }
            Event::GateChanged(gate) => assert!(open.contains(&gate.gate_id)),
            Event::GateWaiting(gate) => assert!(open.contains(&gate.gate_id)),
        }
    }
}

fn take(world: &mut World, step: &Step) {
    match *step {
        Step::Put(id, at) if world.folder.is_some() => world.put(&id.to_string(), text(at)),
        Step::Unlink(id) => world.unlink(&id.to_string()),
        Step::Record(id, at) => world.record(&id.to_string(), text(at)),
        Step::Unrecord(id) => drop(world.records.remove(&name(&id.to_string()))),
        Step::Folder(there) => world.folder = there.then_some(1),
        Step::Refuse(on) => world.refused = on,
        Step::RefuseRecords(on) => world.records_refused = on,
        Step::Transaction(on) => world.in_transaction = on,
        Step::Pass(millis) => world.after(millis.into()),
        Step::Restart => world.restart(),
        Step::Put(..) | Step::Look => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens, once it is over a reader knows exactly which gates are open, and no line
    /// said what was said already.
    #[test]
    fn a_reader_knows_what_is_open(steps in proptest::collection::vec(step(), 0..40)) {
        let warn_after = Some(Duration::from_secs(5));
        let mut world = World::new(Rules { emit_current: true, warn_after, readings: false });
        let mut open = BTreeSet::new();
        for step in steps {
            take(&mut world, &step);
            if matches!(step, Step::Look) {
                world.look();
                believe(&world, &mut open);
            }
        }
        (world.folder, world.refused, world.records_refused) = (Some(1), false, false);
        world.in_transaction = false;
        for _ in 0..4 {
            world.look();
            believe(&world, &mut open);
            world.after(2500);
        }
        world.look();
        prop_assert_eq!(world.last.as_ref().unwrap().look, Look::Whole);
        prop_assert!(world.last.as_ref().unwrap().events.is_empty());
        let actual = world.open.iter().filter(|(name, (text, _))| {
            !world.records.contains_key(*name)
                && Content::parse(text).map_or_else(|_| true, |content| !content.facts().answered)
        });
        let actual: BTreeSet<String> = actual.map(|(name, _)| name.id()).collect();
        prop_assert_eq!(open, actual);
        let told = |word: &str| world.health.iter().filter(|line| line.starts_with(word)).count();
        prop_assert_eq!(told("degraded"), told("recovered"), "every blindness that was told is over");
    }
}

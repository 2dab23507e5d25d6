//! What holds for every sequence of inputs, times and kills.

use proptest::{collection::vec, prelude::*};

use super::world::{Moment, Sight, Step, World};
use crate::decide::{Ack, AckResult, Acks, Input, Policy, Stall};

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let sight =
        prop_oneof![5 => Just(Sight::All), 1 => Just(Sight::Some), 1 => Just(Sight::Nothing)];
    let moment =
        prop_oneof![Just(Moment::Now), Just(Moment::BeforeWrite), Just(Moment::AfterWrite)];
    let span = prop_oneof![
        6 => 1_u64..400_000,
        2 => 400_000_u64..4_000_000,
        1 => Just(240_000),
        1 => Just(21_600_000),
    ];
    let (subject, key) = (0_u8..3, 0_u8..4);
    let step = prop_oneof![
        4 => (subject.clone(), key.clone(), prop::bool::weighted(0.2))
            .prop_map(|(subject, key, immediate)| Step::Raise { subject, key, immediate }),
        2 => (subject.clone(), key).prop_map(|(subject, key)| Step::Clear { subject, key }),
        1 => (0_u16..20).prop_map(|id| Step::Once { id }),
        1 => Just(Step::Info),
        6 => (subject, 0_u8..16, 0_u8..2, 0_u8..2, sight).prop_map(
            |(subject, keys, revision, pending, sight)| Step::Look {
                subject, keys, revision, pending, sight
            }
        ),
        6 => span.prop_map(Step::Wait),
        1 => moment.prop_map(Step::Kill),
    ];
    vec(step, 1..80)
}

/// A guard that never waits, so that a time is a time.
fn policy() -> Policy {
    Policy { burst: 1000, refill: 1, stall: Stall::Off, ..Policy::default() }
}

fn policies() -> impl Strategy<Value = Policy> {
    (0_usize..3, 0_usize..3, any::<bool>()).prop_map(|(wait, interval, pending_gate)| Policy {
        group_wait: [0, 30_000, 240_000][wait],
        group_interval: [0, 240_000, 3_600_000][interval],
        pending_gate,
        ..policy()
    })
}

fn is_kill(step: &Step) -> bool {
    matches!(step, Step::Kill(_))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// With ticks nothing that holds stays untold for longer than the longest wait, or silent for
    /// longer than the repeat interval, nothing is told twice in it, nothing is told that does
    /// not hold, and a kill at any moment repeats no more than the line that was on its way out.
    #[test]
    fn nothing_is_lost_and_nothing_is_doubled(policy in policies(), steps in steps()) {
        let mut world = World::new(policy);
        world.is_prompt = true;
        for step in &steps {
            world.step(step);
            world.nothing_is_lost();
        }
        let kills = steps.iter().filter(|step| is_kill(step)).count();
        prop_assert!(world.repeated <= kills);
        // Whatever waits comes out once time passes.
        world.wait(world.now + 1_800_000);
        world.nothing_is_lost();
        prop_assert_eq!(world.told_once.len(), world.occurrences.len());
    }

    /// The same calls lead to the same state, byte for byte.
    #[test]
    fn the_same_calls_lead_to_the_same_state(policy in policies(), steps in steps()) {
        let play = || {
            let mut world = World::new(policy.clone());
            world.play(&steps);
            world.state()
        };
        prop_assert_eq!(play(), play());
    }

    /// A program that is restarted after every step ends in the same state, by the same lines.
    #[test]
    fn a_restart_changes_nothing(policy in policies(), steps in steps()) {
        let (mut lasting, mut restarted) = (World::new(policy.clone()), World::new(policy));
        for step in steps.iter().filter(|step| !is_kill(step)) {
            lasting.step(step);
            restarted.step(step);
            restarted.restart();
            restarted.print();
        }
        prop_assert_eq!(lasting.state(), restarted.state());
        prop_assert_eq!(lasting.claims, restarted.claims);
    }

    /// A spent bound buys no other turn, whatever is due and however often the program is killed.
    #[test]
    fn a_spent_bound_buys_nothing(
        most in 1_u64..6,
        lifetime in prop::option::of(1_u64..5_000_000),
        burst in 1_u32..4,
        steps in steps(),
    ) {
        let policy = Policy {
            max_wakes: Some(most), max_lifetime: lifetime, burst, refill: 60_000, ..policy()
        };
        let mut world = World::new(policy);
        world.play(&steps);
        let turns = world.lines.iter().filter(|(_, line)| line.ends.is_none());
        let late = |at: u64| lifetime.is_some_and(|lifetime| at >= lifetime);
        prop_assert!(turns.clone().count() as u64 <= most);
        prop_assert!(turns.clone().all(|(at, _)| !late(*at)));
        let last = world.lines.iter().position(|(_, line)| line.ends.is_some());
        prop_assert!(last.is_none_or(|last| last + 1 == world.lines.len()));
    }

    /// In no span are there more lines than the guard lets through.
    #[test]
    fn the_guard_holds(burst in 1_u32..5, steps in steps()) {
        let mut world = World::new(Policy { burst, refill: 100_000, ..policy() });
        world.play(&steps);
        let times: Vec<u64> = world.lines.iter().map(|(at, _)| *at).collect();
        for (first, from) in times.iter().enumerate() {
            for (count, to) in times[first..].iter().enumerate() {
                let most = u64::from(burst) + (to - from) / 100_000;
                let lines = count as u64 + 1;
                prop_assert!(lines <= most, "{times:?}");
            }
        }
    }

    /// While a reader has not answered nothing is printed; in the end nothing is lost.
    #[test]
    fn one_claim_is_out_at_a_time(steps in steps(), answers in vec(0_u8..4, 1..80)) {
        let mut world = World::new(Policy { acks: Some(Acks::default()), ..policy() });
        for (step, answer) in steps.iter().zip(&answers) {
            if matches!(step, Step::Wait(_) | Step::Kill(_)) {
                continue;
            }
            let (was_out, before) = (world.is_in_flight(), world.lines.len());
            world.now += 60_000;
            world.step(step);
            prop_assert!(!was_out || world.lines.len() == before);
            let result = match answer {
                0 => AckResult::Dispatched,
                1 => AckResult::Busy,
                2 => AckResult::Completed { tokens_in: None, tokens_out: None, stalled: false },
                _ => continue,
            };
            let claim = world.engine.state().in_flight.as_ref().map(|flight| flight.claim.clone());
            if let Some(claim) = claim {
                let ack = Ack { claim: &claim, result };
                world.engine.take(Input::Ack(&ack), world.now);
                world.print();
            }
        }
    }
}

//! Made-up work watched by a whole fleet of monitors, some minutes long, while monitors and keepers
//! are killed, folders go and come, logs rotate, a disk fills and GitHub fails. At the end the
//! audit: each fact was told, and told again only after a kill, with the same `id`; nothing of it
//! runs on; nothing grew.
//!
//! `tests/soak [SECONDS] [SEED]`
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a run for a person to read")]

mod audit;
mod faults;
mod fleet;
mod world;

use std::time::{Duration, Instant};

use audit::Audit;
use faults::Faults;
use fleet::Fleet;
use tests::pause;
use world::World;

/// The usual length.
const SECONDS: u64 = 120;
/// Between two steps of the world.
const STEP: Duration = Duration::from_millis(150);
/// How long what was done last may take to be told.
const SETTLING: Duration = Duration::from_secs(40);

/// Numbers that look random, the same for the same seed: Knuth's MMIX generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[expect(clippy::disallowed_methods, reason = "a soak runs by the clock")]
fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|arg| arg.parse::<u64>().ok());
    let seconds = numbers.next().unwrap_or(SECONDS);
    let seed = numbers.next().unwrap_or(0x5eed);
    println!("{seconds} s, seed {seed}");

    let mut dice = Dice(seed);
    let mut world = World::new();
    let mut fleet = Fleet::start(&world);
    let mut faults = Faults::default();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(seconds) {
        world.step(&mut dice, begun.elapsed());
        faults.step(&mut dice, begun.elapsed(), &mut world, &mut fleet);
        fleet.listen();
        pause(STEP);
    }
    world.finish();
    let ended = Instant::now();
    while ended.elapsed() < SETTLING && !Audit::of(&world, &fleet).missing().is_empty() {
        fleet.listen();
        pause(STEP);
    }
    fleet.stop();
    faults.print();
    let audit = Audit::of(&world, &fleet);
    audit.print();
    assert!(audit.is_clean(), "the audit failed");
    println!("soak: ok");
}

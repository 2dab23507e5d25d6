//! What goes wrong meanwhile: one thing at a time, again and again.

use std::{collections::BTreeMap, fs, time::Duration};

use tests::{command, pause};

use crate::{Dice, fleet::Fleet, world::World};

/// From one fault to the next.
const BETWEEN: Duration = Duration::from_secs(3);
/// How long one lasts.
const LASTS: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(crate) struct Faults {
    next: Duration,
    made: BTreeMap<String, usize>,
}

impl Faults {
    pub(crate) fn step(
        &mut self,
        dice: &mut Dice,
        now: Duration,
        world: &mut World,
        fleet: &mut Fleet,
    ) {
        if now < self.next {
            return;
        }
        self.next = now + BETWEEN;
        let what = match dice.below(8) {
            0 => folder_goes(world),
            1 => github_fails(world),
            2 => {
                world.rotate();
                "journal rotated".to_owned()
            }
            3 => disk_fills(dice, now, world),
            _ => fleet.kill_one(dice),
        };
        *self.made.entry(what).or_default() += 1;
    }

    pub(crate) fn print(&self) {
        for (what, times) in &self.made {
            println!("fault: {what}: {times}");
        }
    }
}

/// The state's folder is away for a while, as in a checkout of another branch.
fn folder_goes(world: &World) -> String {
    let state = world.scene.join("world/state");
    let away = world.scene.join("away");
    fs::rename(&state, &away).unwrap();
    pause(LASTS);
    fs::rename(&away, &state).unwrap();
    "state folder away".to_owned()
}

fn github_fails(world: &World) -> String {
    *world.github_fails.lock().unwrap() = true;
    pause(LASTS);
    *world.github_fails.lock().unwrap() = false;
    "GitHub failing".to_owned()
}

/// The disk of the store fills up while things happen, and has room again.
fn disk_fills(dice: &mut Dice, now: Duration, world: &mut World) -> String {
    if !world.has_small_disk {
        return "no disk to fill".to_owned();
    }
    let ballast = world.scene.join("store/ballast");
    let of = format!("of={}", ballast.display());
    let full = command("dd").args(["if=/dev/zero", &of, "bs=64k"]).output().unwrap();
    assert!(!full.status.success(), "the disk has no end");
    world.disk_is_full = true;
    for _ in 0..5 {
        world.step(dice, now);
        pause(LASTS / 5);
    }
    fs::remove_file(ballast).unwrap();
    pause(LASTS / 4);
    world.disk_is_full = false;
    "disk full".to_owned()
}

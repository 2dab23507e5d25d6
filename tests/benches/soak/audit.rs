//! What happened against what was told.

use std::collections::BTreeSet;

use crate::{
    fleet::{Fleet, Monitor},
    world::{Fact, World},
};

/// The most that a monitor and its keeper may grow from their first run to their last.
const GROWTH_KIB: u64 = 2048;

#[derive(Debug, Default)]
pub(crate) struct Audit {
    lines: Vec<String>,
    missing: Vec<Fact>,
    faults: Vec<String>,
}

impl Audit {
    pub(crate) fn of(world: &World, fleet: &Fleet) -> Self {
        let mut audit = Self::default();
        for monitor in &fleet.monitors {
            audit.judge(monitor, world);
        }
        audit.faults.extend(fleet.left.iter().map(|name| format!("left running: {name}")));
        audit
    }

    fn judge(&mut self, monitor: &Monitor, world: &World) {
        let of = |facts: &BTreeSet<Fact>| -> Vec<String> {
            facts.iter().filter(|fact| fact.0 == monitor.name).map(|fact| fact.1.clone()).collect()
        };
        let (facts, on_full_disk) = (of(&world.facts), of(&world.on_full_disk));
        let untold = |fact: &&String| !monitor.told.contains_key(*fact);
        let missing = facts.iter().filter(untold).map(|fact| (monitor.name, fact.clone()));
        self.missing.extend(missing);
        // What a full disk swallowed has to be owned up to.
        let lost = on_full_disk.iter().filter(untold).count();
        if lost > 0 && !monitor.health.contains_key("log_gap") {
            self.faults.push(format!("{}: {lost} lost without a word", monitor.name));
        }
        let mut repeats = 0;
        for (fact, ids) in &monitor.told {
            let distinct: BTreeSet<&String> = ids.iter().collect();
            repeats += ids.len() - 1;
            if distinct.len() > 1 {
                self.faults.push(format!("{}: {fact}: told under ids {distinct:?}", monitor.name));
            }
            if ids.len() > 1 + monitor.kills {
                self.faults.push(format!("{}: {fact}: told {} times", monitor.name, ids.len()));
            }
            if !facts.contains(fact) && !on_full_disk.contains(fact) {
                self.faults.push(format!("{}: {fact}: never happened", monitor.name));
            }
        }
        let (before, after) = monitor.resident;
        if after > before + GROWTH_KIB {
            self.faults.push(format!("{}: grew from {before} to {after} KiB", monitor.name));
        }
        self.lines.push(format!(
            "{}: {} facts, {} told again after {} kills, {lost} lost to the full disk and said so, \
             {before} to {after} KiB with its keeper, health {:?}",
            monitor.name,
            facts.len() + on_full_disk.len(),
            repeats,
            monitor.kills,
            monitor.health,
        ));
    }

    /// Facts that nobody has told.
    pub(crate) fn missing(&self) -> &[Fact] {
        &self.missing
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.missing.is_empty() && self.faults.is_empty()
    }

    pub(crate) fn print(&self) {
        self.lines.iter().for_each(|line| println!("{line}"));
        self.missing.iter().for_each(|fact| println!("MISSING: {}: {}", fact.0, fact.1));
        self.faults.iter().for_each(|fault| println!("FAULT: {fault}"));
    }
}

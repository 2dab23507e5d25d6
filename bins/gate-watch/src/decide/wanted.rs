//! What a look has to read.

use shared::{clock::Now, file::Stamp};

use super::Judge;
use crate::{content::Facts, memory::Gate, name::Name, probe::Interest};

/// What a look has to read, to tell what the judge will want to.
pub(super) struct Wanted<'a> {
    pub(super) judge: &'a Judge,
    pub(super) all: bool,
    pub(super) now: &'a Now,
}

impl Wanted<'_> {
    fn is_due(&self, gate: &Gate) -> bool {
        let limit = self.judge.rules.warn_after;
        gate.open && !gate.waited && limit.is_some_and(|limit| gate.age(self.now) >= limit)
    }
}

impl Interest for Wanted<'_> {
    fn reads(&self, name: &Name, stamp: &Stamp) -> bool {
        let gate = self.judge.memory.gates.get(name);
        self.all
            || self.judge.rules.readings
            || self.judge.notices.contains_key(name)
            || gate.is_none_or(|gate| !gate.knows(stamp) || self.is_due(gate))
    }

    fn tells(&self, name: &Name, facts: &Facts) -> bool {
        let Judge { rules, memory, notices, .. } = self.judge;
        rules.readings
            || match memory.gates.get(name) {
                None => memory.based || rules.emit_current || rules.warn_after.is_some(),
                Some(gate) => {
                    let is_news = gate.digest != facts.digest || !gate.open;
                    is_news || notices.contains_key(name) || self.is_due(gate)
                }
            }
    }

    fn reads_record(&self, name: &Name) -> bool {
        let memory = &self.judge.memory;
        self.judge.is_open(name) || memory.based && !memory.records.contains(name)
    }
}

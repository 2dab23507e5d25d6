//! Joins readings that are longer than a line.

use std::collections::HashMap;

use super::{
    ENTRIES,
    look::{Draft, Look, Name},
    parse::{Broken, Part, distinct},
    settle::settle,
};

/// The most subjects whose looks have begun and not ended.
const MOST: usize = 1024;

/// The looks that have begun.
#[derive(Debug, Default)]
pub struct Parts {
    torn: HashMap<Name, Torn>,
    begun: u64,
}

#[derive(Debug)]
struct Torn {
    draft: Draft,
    /// The part that came last, and how many there are.
    part: u64,
    parts: u64,
    /// How many looks had begun before.
    age: u64,
}

impl Parts {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one line of a reading. The look, when it is the last of one: settled, or failed
    /// when the parts together break a rule. A part out of order discards the look it tears,
    /// without any other effect.
    pub fn join(&mut self, part: Part) -> Option<Look> {
        let Part { draft, part, parts } = part;
        let torn = self.torn.remove(&draft.name);
        if parts == 1 {
            return Some(settle(draft));
        }
        if part == 1 {
            self.begin(Torn { draft, part, parts, age: self.begun });
            return None;
        }
        let mut torn = torn.filter(|torn| {
            (torn.draft.number, torn.parts, torn.part + 1) == (draft.number, parts, part)
        })?;
        torn.draft.entries.extend(draft.entries);
        torn.draft.truncated |= draft.truncated;
        torn.part = part;
        if torn.draft.entries.len() > ENTRIES {
            return broken(torn.draft, format!("more than {ENTRIES} entries"));
        }
        if part < parts {
            self.torn.insert(torn.draft.name.clone(), torn);
            return None;
        }
        match distinct(&torn.draft.entries) {
            Ok(()) => Some(settle(torn.draft)),
            Err(rule) => broken(torn.draft, rule),
        }
    }

    /// Forgets the look of `name` that has begun, because a line of it can't be read.
    pub fn discard(&mut self, name: &Name) {
        self.torn.remove(name);
    }

    fn begin(&mut self, torn: Torn) {
        self.begun += 1;
        if self.torn.len() >= MOST {
            let eldest = self.torn.iter().min_by_key(|(_, torn)| torn.age);
            if let Some(name) = eldest.map(|(name, _)| name.clone()) {
                self.torn.remove(&name);
            }
        }
        self.torn.insert(torn.draft.name.clone(), torn);
    }
}

fn broken(draft: Draft, rule: String) -> Option<Look> {
    Broken { name: Some(draft.name), number: draft.number, rule }.look()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{Finding, ResetsOn, Severity, Status};

    fn part(number: u64, part: u64, parts: u64, keys: &[&str]) -> Part {
        let entry = |key: &&str| Finding {
            key: (*key).to_owned(),
            severity: Severity::Wake,
            resets_on: ResetsOn::Never,
            brief: String::new(),
        };
        let name = Name { subject: "s".to_owned(), ..Name::default() };
        let entries = keys.iter().map(entry).collect();
        Part {
            draft: Draft { name, number, entries, complete: true, ..Draft::default() },
            part,
            parts,
        }
    }

    fn joined(parts: &[Part]) -> Vec<(u64, Vec<String>)> {
        let mut joiner = Parts::new();
        let looks = parts.iter().filter_map(|part| joiner.join(part.clone()));
        looks.map(|look| (look.number, look.entries.into_iter().map(|e| e.key).collect())).collect()
    }

    #[test]
    fn a_look_is_judged_when_its_last_part_is_there() {
        let parts = [part(7, 1, 3, &["a"]), part(7, 2, 3, &["b"]), part(7, 3, 3, &["c"])];
        assert_eq!(joined(&parts[..2]), []);
        let keys = ["a", "b", "c"].map(str::to_owned).to_vec();
        assert_eq!(joined(&parts), [(7, keys)]);
    }

    #[test]
    fn a_torn_look_has_no_effect() {
        let [one, two, three] =
            [part(7, 1, 3, &["a"]), part(7, 2, 3, &["b"]), part(7, 3, 3, &["c"])];
        let next = part(8, 1, 1, &["d"]);
        let whole = (8, vec!["d".to_owned()]);
        for torn in [
            vec![one.clone(), three.clone()],
            vec![two.clone(), three.clone()],
            vec![one.clone(), two.clone(), two.clone(), three.clone()],
            vec![one.clone(), two.clone(), part(9, 3, 3, &["c"])],
            vec![one.clone(), two.clone(), part(7, 3, 4, &["c"])],
        ] {
            assert_eq!(joined(&torn), []);
            let then = [torn, vec![next.clone()]].concat();
            assert_eq!(joined(&then), std::slice::from_ref(&whole));
        }
        assert_eq!(joined(&[one, two, next, three]), [whole]);
    }

    #[test]
    fn parts_that_break_a_rule_together_are_a_failed_look() {
        let mut joiner = Parts::new();
        joiner.join(part(1, 1, 2, &["a"]));
        let look = joiner.join(part(1, 2, 2, &["a"])).unwrap();
        assert_eq!((look.status, look.entries.len()), (Status::ProviderError, 0));

        let keys: Vec<String> = (0..600).map(|n| format!("k{n}")).collect();
        let keys: Vec<&str> = keys.iter().map(|key| &**key).collect();
        joiner.join(part(1, 1, 3, &keys));
        let look = joiner.join(part(1, 2, 3, &keys)).unwrap();
        assert_eq!(look.status, Status::ProviderError);
        assert_eq!(joiner.join(part(1, 3, 3, &[])), None);
    }

    #[test]
    fn looks_that_never_end_take_no_memory() {
        let mut joiner = Parts::new();
        for n in 0..3000 {
            let mut begun = part(1, 1, 2, &["a"]);
            begun.draft.name.subject = format!("s{n}");
            joiner.join(begun);
        }
        assert_eq!(joiner.torn.len(), MOST);
        let mut last = part(1, 2, 2, &["b"]);
        last.draft.name.subject = "s2999".to_owned();
        assert!(joiner.join(last).is_some());
    }
}

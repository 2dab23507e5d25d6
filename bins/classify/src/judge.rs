//! Judges a line by the rules, the first that fits. Pure; an ordinary line costs no allocation.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    ops::Range,
};

use crate::{
    json::{self, Braces, Nest, Raw},
    rules::{Rule, Urgency, Want},
};

/// What a line is, and where in it the keys lie that the program writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// How soon a reader must act; `None` when no rule fits.
    pub rule: Option<Urgency>,
    /// Whether it is a `reading`, which always passes.
    pub is_reading: bool,
    /// Where the object lies.
    pub braces: Braces,
    /// Where the value of `urgency` is, if it is there. Of a doubled key the last counts.
    pub urgency: Option<Range<usize>>,
    /// Where the value of `unclassified` is.
    pub unclassified: Option<Range<usize>>,
    /// Where the value of `source` is.
    pub source: Option<Range<usize>>,
}

impl Judged {
    /// The urgency of the line: what no rule knows is worth a look.
    #[must_use]
    pub fn urgency(&self) -> Urgency {
        self.rule.unwrap_or(Urgency::Warning)
    }
}

/// Rules made ready, and the space that judging needs.
#[derive(Debug, Default)]
pub struct Judge {
    slots: Table<usize>,
    rules: Vec<Compiled>,
    /// The rules that name an event, by that name.
    by_event: Table<Vec<usize>>,
    /// The rules that fit any event.
    general: Vec<usize>,
    values: Values,
    nest: Nest,
    space: Vec<u8>,
}

#[derive(Debug)]
struct Compiled {
    conditions: Vec<(usize, Vec<Want>)>,
    urgency: Urgency,
}

const EVENT: usize = 0;
const URGENCY: usize = 1;
const UNCLASSIFIED: usize = 2;
const SOURCE: usize = 3;

impl Judge {
    /// Makes `rules` ready.
    #[must_use]
    pub fn new(rules: &[Rule]) -> Self {
        let mut judge = Self::default();
        for key in ["event", "urgency", "unclassified", "source"] {
            judge.slot(key);
        }
        for (number, rule) in rules.iter().enumerate() {
            judge.add(number, rule);
        }
        judge.values = Values { line: 0, found: vec![(0, 0..0); judge.slots.len()] };
        judge
    }

    /// Judges one line, without its newline. `None` when it is no JSON object.
    pub fn judge(&mut self, line: &[u8]) -> Option<Judged> {
        let Self { slots, values, nest, space, .. } = self;
        values.line += 1;
        let braces = json::object(line, nest, |key, value| {
            if let Some(slot) = slots.get(key.text(space)) {
                values.set(*slot, value);
            }
        })?;
        let get = |slot| self.values.get(slot);
        let event = get(EVENT).and_then(|at| line.get(at)).and_then(Raw::of);
        let event = event.map(|raw| raw.text(&mut self.space));
        let named = event.and_then(|event| self.by_event.get(event)).map_or(&[][..], Vec::as_slice);
        let is_reading = event == Some(b"reading");
        let fits = |number: &usize| self.rules.get(*number).filter(|rule| rule.fits(line, get));
        let rule = in_order(named, &self.general).find_map(fits);
        Some(Judged {
            rule: rule.map(|rule| rule.urgency),
            is_reading,
            braces,
            urgency: get(URGENCY),
            unclassified: get(UNCLASSIFIED),
            source: get(SOURCE),
        })
    }

    /// Files a rule under the events it names, or under none.
    fn add(&mut self, number: usize, rule: &Rule) {
        let mut conditions = Vec::new();
        let mut events = None;
        for (key, wants) in &rule.conditions {
            let slot = self.slot(key);
            let names = (slot == EVENT).then(|| names(wants)).flatten();
            if names.is_none() {
                conditions.push((slot, wants.clone()));
            }
            events = events.or(names);
        }
        self.rules.push(Compiled { conditions, urgency: rule.urgency });
        let Some(events) = events else { return self.general.push(number) };
        for event in events {
            let rules = self.by_event.entry(event.into()).or_default();
            if rules.last() != Some(&number) {
                rules.push(number);
            }
        }
    }

    fn slot(&mut self, key: &str) -> usize {
        let next = self.slots.len();
        *self.slots.entry(key.as_bytes().into()).or_insert(next)
    }
}

impl Compiled {
    fn fits(&self, line: &[u8], get: impl Fn(usize) -> Option<Range<usize>>) -> bool {
        self.conditions.iter().all(|(slot, wants)| {
            let value = get(*slot).and_then(|at| line.get(at));
            wants.iter().any(|want| want.fits(value))
        })
    }
}

impl Want {
    /// Whether a value, as it stands in the line, fits.
    fn fits(&self, value: Option<&[u8]>) -> bool {
        let value = value.filter(|value| *value != b"null");
        match (self, value) {
            (Self::Nothing, value) => value.is_none(),
            (_, None) => false,
            (Self::Anything, Some(_)) => true,
            (Self::Bare(want), Some(value)) => value == want.as_bytes(),
            (Self::Text(want), Some(value)) => {
                Raw::of(value).is_some_and(|raw| raw.text(&mut Vec::new()) == want.as_bytes())
            }
        }
    }
}

/// The strings of `wants` when they are nothing else, so that the rule needs to be tried for
/// these only.
fn names(wants: &[Want]) -> Option<Vec<&[u8]>> {
    let names = wants.iter().map(|want| match want {
        Want::Text(text) => Some(text.as_bytes()),
        _ => None,
    });
    names.collect()
}

/// Two ascending lists as one.
fn in_order<'a>(mut a: &'a [usize], mut b: &'a [usize]) -> impl Iterator<Item = &'a usize> {
    std::iter::from_fn(move || {
        let list = match (a.first(), b.first()) {
            (Some(first), Some(second)) if second < first => &mut b,
            (Some(_), _) => &mut a,
            (None, _) => &mut b,
        };
        let (first, rest) = list.split_first()?;
        *list = rest;
        Some(first)
    })
}

/// The values of the current line, by slot. What other lines left is told by their number.
#[derive(Debug, Default)]
struct Values {
    line: u64,
    found: Vec<(u64, Range<usize>)>,
}

impl Values {
    fn set(&mut self, slot: usize, value: Range<usize>) {
        if let Some(found) = self.found.get_mut(slot) {
            *found = (self.line, value);
        }
    }

    fn get(&self, slot: usize) -> Option<Range<usize>> {
        let (line, value) = self.found.get(slot)?;
        (*line == self.line).then(|| value.clone())
    }
}

type Table<T> = HashMap<Box<[u8]>, T, BuildHasherDefault<Quick>>;

/// A hasher for short keys. What is in the tables comes from the rules, so lines can't choose
/// keys that collide there.
#[derive(Debug, Default)]
struct Quick(u64);

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((word, after)) = rest.split_first_chunk() {
            self.write_u64(u64::from_le_bytes(*word));
            rest = after;
        }
        self.write_u64(rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_usize(&mut self, length: usize) {
        self.write_u64(length as u64);
    }

    fn finish(&self) -> u64 {
        // A product's low bits, which choose the bucket, are its worst.
        self.0.rotate_left(26)
    }
}

#[cfg(test)]
mod tests;

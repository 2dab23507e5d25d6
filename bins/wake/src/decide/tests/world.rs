//! A program around the engine, and a plain account of what holds and what was told: what the
//! properties are checked against.

use std::collections::{BTreeMap, BTreeSet};

use shared::reading::{Draft, Fault, FaultKind, Finding, Name, ResetsOn, Severity, settle::settle};

use crate::decide::{
    Condition, Emission, Engine, Event, Input, Ms, Policy, RecordId, Stage, State,
};

/// One thing that happens.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Raise { subject: u8, key: u8, immediate: bool },
    Clear { subject: u8, key: u8 },
    Once { id: u16 },
    Info,
    Look { subject: u8, keys: u8, revision: u8, pending: u8, sight: Sight },
    Wait(Ms),
    Kill(Moment),
}

/// What a look saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    All,
    Some,
    Nothing,
}

/// When the program is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Now.
    Now,
    /// At the next line, when the state has it and nobody else.
    BeforeWrite,
    /// At the next line, when a reader has it.
    AfterWrite,
}

/// What is known of a condition.
#[derive(Debug, Clone, Default)]
struct Known {
    since: Ms,
    told: Option<Ms>,
    /// It was told with less urgency than it has.
    escalated: bool,
    immediate: bool,
    /// A whole look has missed it.
    missed: bool,
    absent: u8,
}

/// The program and its surroundings.
pub(super) struct World {
    policy: Policy,
    pub(super) engine: Engine,
    pub(super) now: Ms,
    kill: Option<Moment>,
    /// Nothing keeps a line back that is due.
    pub(super) is_prompt: bool,
    pub(super) claims: BTreeSet<String>,
    /// Lines, those that were printed again not counted.
    pub(super) lines: Vec<(Ms, Emission)>,
    /// How often a line was printed again.
    pub(super) repeated: usize,
    known: BTreeMap<(RecordId, String), Known>,
    revisions: BTreeMap<u8, u8>,
    pub(super) occurrences: BTreeSet<u16>,
    pub(super) told_once: BTreeMap<String, usize>,
}

impl World {
    pub(super) fn new(policy: Policy) -> Self {
        let state = State::new("w", "00112233aabbccdd", 0);
        Self {
            engine: Engine::new(policy.clone(), state),
            policy,
            now: 0,
            kill: None,
            is_prompt: false,
            claims: BTreeSet::new(),
            lines: Vec::new(),
            repeated: 0,
            known: BTreeMap::new(),
            revisions: BTreeMap::new(),
            occurrences: BTreeSet::new(),
            told_once: BTreeMap::new(),
        }
    }

    pub(super) fn state(&self) -> String {
        serde_json::to_string(self.engine.state()).unwrap()
    }

    /// The state is saved after every input, and when a line is on its way out.
    pub(super) fn restart(&mut self) {
        let state = State::from_json(&self.state()).unwrap();
        self.engine = Engine::new(self.policy.clone(), state);
    }

    pub(super) fn play(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
    }

    pub(super) fn step(&mut self, step: &Step) {
        match *step {
            Step::Raise { subject, key, immediate } => self.raise(subject, key, immediate),
            Step::Clear { subject, key } => {
                let (subject, key) = (subject.to_string(), format!("k{key}"));
                let id = RecordId::of_events("src", Some(&subject));
                self.known.remove(&(id, key.clone()));
                self.event(&subject, &key, "cleared", None, None);
            }
            Step::Once { id } => {
                self.occurrences.insert(id);
                self.event("once", "o", "once", None, Some(&id.to_string()));
            }
            Step::Info => self.event("info", "i", "once", Some("info"), None),
            Step::Look { subject, keys, revision, pending, sight } => {
                self.look(subject, keys, revision, pending, sight);
            }
            Step::Wait(span) => self.wait(self.now + span),
            Step::Kill(Moment::Now) => {
                self.restart();
                self.print();
            }
            Step::Kill(moment) => self.kill = Some(moment),
        }
    }

    fn event(
        &mut self,
        subject: &str,
        key: &str,
        condition: &str,
        urgency: Option<&str>,
        id: Option<&str>,
    ) {
        let event = Event {
            name: "seen",
            source: "src",
            subject: Some(subject),
            key: Some(key),
            condition: Some(condition),
            urgency,
            id,
            ..Event::default()
        };
        self.engine.take(Input::Event(&event), self.now);
        self.print();
    }

    fn raise(&mut self, subject: u8, key: u8, immediate: bool) {
        let (subject, key) = (subject.to_string(), format!("k{key}"));
        let at = (RecordId::of_events("src", Some(&subject)), key.clone());
        let known = self.known.entry(at).or_insert(Known { since: self.now, ..Known::default() });
        known.escalated |= immediate && !known.immediate && known.told.is_some();
        known.immediate = immediate;
        self.event(&subject, &key, "raised", immediate.then_some("immediate"), None);
    }

    fn look(&mut self, subject: u8, keys: u8, revision: u8, pending: u8, sight: Sight) {
        let name =
            Name { source: "src".into(), kind: "thing".into(), subject: subject.to_string() };
        let id = RecordId::of_readings("src", "thing", &name.subject);
        let (even, odd) = (ResetsOn::Revision, ResetsOn::Never);
        let named = (0..4).filter(|key| keys >> key & 1 == 1 && sight != Sight::Nothing);
        let finding = |key: u8| Finding {
            key: format!("k{key}"),
            severity: Severity::Wake,
            resets_on: if key.is_multiple_of(2) { even } else { odd },
            brief: String::new(),
        };
        let entries: Vec<Finding> = named.map(finding).collect();
        let mut draft = match sight {
            Sight::Nothing => {
                let fault = Fault { kind: FaultKind::Transient, ..Fault::malformed("") };
                Draft::failed(name, 0, fault)
            }
            _ => Draft { name, complete: sight == Sight::All, ..Draft::default() },
        };
        if sight != Sight::Nothing {
            self.account(&id, &entries, sight == Sight::All, subject, revision);
        }
        (draft.revision, draft.pending) = (format!("r{revision}"), Some(pending.into()));
        draft.entries.clone_from(&entries);
        self.engine.take(Input::Look(&settle(draft)), self.now);
        self.print();
        if self.is_prompt {
            self.is_repeated(&id, &entries);
        }
    }

    /// Keeps the account of a look.
    fn account(
        &mut self,
        id: &RecordId,
        entries: &[Finding],
        whole: bool,
        subject: u8,
        revision: u8,
    ) {
        let is_limited = |key: &str| matches!(key, "k0" | "k2");
        if self.revisions.insert(subject, revision).is_some_and(|known| known != revision) {
            self.known.retain(|(of, key), _| of != id || !is_limited(key));
        }
        // What was told and missed is forgotten with its mask.
        let (now, repeat) = (self.now, self.policy.repeat_interval);
        let is_old = |told: Ms| now - told >= repeat;
        self.known
            .retain(|(of, _), known| of != id || !known.missed || !known.told.is_some_and(is_old));
        for found in entries {
            let at = (id.clone(), found.key.clone());
            let known = self.known.entry(at);
            let known = known.or_insert(Known { since: now, ..Known::default() });
            (known.absent, known.missed) = (0, false);
        }
        if !whole {
            return;
        }
        let is_named = |key: &str| entries.iter().any(|found| found.key == key);
        self.known.retain(|(of, key), known| {
            if of != id || is_named(key) {
                return true;
            }
            known.missed = true;
            known.absent += u8::from(known.told.is_some());
            if known.told.is_some() { known.absent < 2 } else { !is_limited(key) }
        });
    }

    /// A key that a look names is told in its time.
    fn is_repeated(&self, id: &RecordId, entries: &[Finding]) {
        for found in entries {
            let known = &self.known[&(id.clone(), found.key.clone())];
            let is_late = |told| self.now - told >= self.policy.repeat_interval;
            assert!(!known.told.is_some_and(is_late), "{} of {id:?} is not repeated", found.key);
        }
    }

    /// Lets time pass, with a tick whenever the engine wants one.
    pub(super) fn wait(&mut self, until: Ms) {
        let mut ticks = 0;
        while let Some(at) = self.engine.next_at().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.engine.take(Input::Tick, self.now);
            self.print();
            ticks += 1;
            assert!(ticks < 1000, "the engine wants ticks for ever at {}", self.now);
        }
        self.now = until;
    }

    /// Prints all there is, or dies of it and begins again.
    pub(super) fn print(&mut self) {
        while let Some(line) = self.engine.emission(self.now) {
            self.engine.put_line(&line.claim);
            let kill = self.kill.take();
            if kill == Some(Moment::BeforeWrite) {
                self.restart();
                // Nobody has read it, and the one that is printed again is not known by more
                // than its claim.
                let again = self.engine.emission(self.now).unwrap();
                assert_eq!((&again.claim, &again.again), (&line.claim, &Some(line.claim.clone())));
            }
            self.told(line);
            if kill == Some(Moment::AfterWrite) {
                self.restart();
                let again = self.engine.emission(self.now).unwrap();
                assert!(self.claims.contains(&again.claim), "a new claim after a kill");
                self.repeated += 1;
            }
            self.engine.flushed(self.now);
        }
    }

    /// A reader has a line.
    fn told(&mut self, line: Emission) {
        if line.again.is_some() {
            assert!(self.claims.contains(&line.claim));
            self.repeated += 1;
            return;
        }
        assert!(self.claims.insert(line.claim.clone()), "a claim is given twice");
        for item in &line.items {
            self.told_key(&line, item);
        }
        self.lines.push((self.now, line));
    }

    fn told_key(&mut self, line: &Emission, item: &crate::decide::Item) {
        if item.entry.condition == Condition::Once {
            *self.told_once.entry(item.entry.key.clone()).or_default() += 1;
            return;
        }
        let id = &line.records[item.record].id;
        let at = (id.clone(), item.entry.key.clone());
        let known = self.known.get_mut(&at).unwrap_or_else(|| panic!("{at:?} does not hold"));
        if let Some(told) = known.told.filter(|_| !known.escalated) {
            let span = self.now - told;
            assert!(span >= self.policy.repeat_interval, "{at:?} is told twice in {span} ms");
        }
        (known.told, known.escalated) = (Some(self.now), false);
    }

    /// Nothing that holds is silent for longer than it may be.
    pub(super) fn nothing_is_lost(&self) {
        for ((id, key), known) in &self.known {
            let (since, most) = match known.told {
                None => (known.since, self.policy.max_wait),
                Some(told) if id.is_of_events() => (told, self.policy.repeat_interval),
                Some(_) => continue,
            };
            assert!(self.now - since <= most, "{key} of {id:?} is lost: {known:?} at {}", self.now);
        }
        let told: BTreeSet<String> = self.told_once.keys().cloned().collect();
        let all: BTreeSet<String> = self.occurrences.iter().map(|id| format!("o#{id}")).collect();
        assert!(told.is_subset(&all) && self.told_once.values().all(|count| *count == 1));
    }

    pub(super) fn is_in_flight(&self) -> bool {
        let flight = self.engine.state().in_flight.as_ref();
        flight.is_some_and(|flight| flight.stage != Stage::Busy)
    }
}

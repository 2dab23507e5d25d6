//! A week of fifty subjects, in seconds: conditions that come, stay, flap and go, revisions,
//! ends, sources that go blind, and a program that is restarted and killed ever so often.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use std::collections::{BTreeMap, BTreeSet};

use shared::reading::{
    Draft, Fault, FaultKind, Finding, Name, ResetsOn, Severity, Status, settle::settle,
};
use wake::decide::{Decision, Emission, Engine, Input, Ms, Policy, State};

const SUBJECTS: usize = 50;
const CADENCE: Ms = 300_000;
const WEEK: Ms = 7 * 86_400_000;

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    /// One of `0..sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    /// True once in `rolls`.
    fn once_in(&mut self, rolls: u64) -> bool {
        self.roll(rolls) == 0
    }
}

/// What is true of a subject.
#[derive(Default)]
struct Subject {
    revision: u64,
    /// The one that a look saw last.
    seen: Option<u64>,
    ended: bool,
    /// A look saw that.
    is_known_to_have_ended: bool,
    /// How many looks will fail.
    blind: u64,
    /// How many looks running have failed.
    failed: u64,
    conditions: BTreeMap<&'static str, Condition>,
}

/// What is true of a condition, and what was told of it.
#[derive(Default)]
struct Condition {
    /// When a look first saw it.
    since: Ms,
    told: Option<Ms>,
    /// In how many whole looks running it was missing.
    absent: u8,
}

struct Week {
    dice: Dice,
    engine: Engine,
    now: Ms,
    subjects: Vec<Subject>,
    inputs: usize,
    restarts: usize,
    lines: Vec<Ms>,
    claims: BTreeSet<String>,
    reasons: BTreeMap<String, usize>,
    /// How often each end was told.
    ends: BTreeMap<String, usize>,
    /// How often a subject went unseen for long, and how often that was told.
    unseen: usize,
    unseen_told: usize,
}

/// Some conditions flap, some stay: once in how many looks they come, and go.
const KEYS: [(&str, u64, u64); 4] =
    [("flap", 4, 3), ("fault", 200, 40), ("jam", 400, 30), ("rare", 1500, 300)];
/// Of so many subjects one has a condition that flaps.
const FLAPPING: usize = 10;

impl Week {
    fn new() -> Self {
        Self {
            dice: Dice(0x9e37_79b9_7f4a_7c15),
            engine: Engine::new(Policy::default(), State::new("week", "5b1f0c9a7d3e4412", 0)),
            now: 0,
            subjects: (0..SUBJECTS).map(|_| Subject::default()).collect(),
            inputs: 0,
            restarts: 0,
            lines: Vec::new(),
            claims: BTreeSet::new(),
            reasons: BTreeMap::new(),
            ends: BTreeMap::new(),
            unseen: 0,
            unseen_told: 0,
        }
    }

    fn live(&mut self) {
        while self.now < WEEK {
            if self.dice.once_in(300) {
                // The source of all of them goes blind.
                self.subjects.iter_mut().for_each(|subject| subject.blind = 8);
            }
            for at in 0..SUBJECTS {
                self.change(at);
                self.look(at);
            }
            if self.dice.once_in(36) {
                self.restart();
            }
            self.wait(self.now + CADENCE);
            self.nothing_was_lost();
        }
    }

    /// The world goes on.
    fn change(&mut self, at: usize) {
        let (dice, subject) = (&mut self.dice, &mut self.subjects[at]);
        if dice.once_in(600) {
            subject.revision += 1;
        }
        if dice.once_in(20_000) {
            subject.ended = true;
        }
        if subject.blind == 0 && dice.once_in(400) {
            subject.blind = 1 + dice.roll(20);
        }
    }

    /// Looks at a subject, in truth, and tells the engine.
    fn look(&mut self, at: usize) {
        let now = self.now;
        let (dice, subject) = (&mut self.dice, &mut self.subjects[at]);
        let name = format!("subject-{at:02}");
        let name = Name { source: "probe".into(), kind: "thing".into(), subject: name };
        let mut draft = Draft { name, complete: true, ..Draft::default() };
        if subject.blind > 0 {
            subject.blind -= 1;
            subject.failed += 1;
            self.unseen += usize::from(subject.failed == 6 && !subject.is_known_to_have_ended);
            let fault = Fault { kind: FaultKind::RateLimited, ..Fault::malformed("") };
            draft = Draft::failed(draft.name, 0, fault);
        } else if subject.ended {
            (draft.status, draft.reason) = (Some(Status::Blocked), "closed".to_owned());
            subject.is_known_to_have_ended = true;
        } else {
            draft.revision = format!("r{}", subject.revision);
            subject.failed = 0;
            let mut holds = BTreeMap::new();
            for (key, comes, goes) in KEYS {
                if key == "flap" && !at.is_multiple_of(FLAPPING) {
                    continue;
                }
                let is_there =
                    subject.conditions.get(key).is_some_and(|condition| condition.absent == 0);
                let stays = if is_there { !dice.once_in(goes) } else { dice.once_in(comes) };
                holds.insert(key, stays);
            }
            draft.entries = holds.iter().filter(|(_, holds)| **holds).map(finding).collect();
            subject.account(&holds, now);
        }
        let look = settle(draft);
        self.inputs += 1;
        self.engine.take(Input::Look(&look), self.now);
        self.print();
    }

    fn wait(&mut self, until: Ms) {
        while let Some(at) = self.engine.next_at().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.engine.take(Input::Tick, self.now);
            self.print();
        }
        self.now = until;
    }

    /// The program ends, and begins again with its file.
    fn restart(&mut self) {
        self.restarts += 1;
        let text = serde_json::to_string(self.engine.state()).unwrap();
        let state = State::from_json(&text).unwrap();
        self.engine = Engine::new(Policy::default(), state);
    }

    fn print(&mut self) {
        while let Some(line) = self.engine.emission(self.now) {
            self.engine.put_line(&line.claim);
            if self.dice.once_in(20) {
                // Killed with the line on its way out: the same one leaves again.
                self.restart();
                let again = self.engine.emission(self.now).unwrap();
                assert_eq!(again.claim, line.claim);
            }
            self.engine.flushed(self.now);
            self.told(&line);
        }
    }

    fn told(&mut self, line: &Emission) {
        assert!(self.claims.insert(line.claim.clone()), "a claim was given twice");
        self.lines.push(self.now);
        *self.reasons.entry(line.reason.to_string()).or_default() += 1;
        self.unseen_told += usize::from(line.reason.as_str() == "blind");
        for item in &line.items {
            let id = &line.records[item.record].id;
            if item.verdict.is_some() {
                *self.ends.entry(id.as_str().to_owned()).or_default() += 1;
                continue;
            }
            let at: usize = id.subject()["subject-".len()..].parse().unwrap();
            let Some(told) = self.subjects[at].conditions.get_mut(&*item.entry.key) else {
                // A verdict without entries in a folded line.
                assert!(["blind", "verdict_stall"].contains(&&*item.entry.key), "{item:?}");
                self.unseen_told += usize::from(item.entry.key == "blind");
                continue;
            };
            if line.reason.as_str() == "verdict_stall" {
                continue;
            }
            let span = told.told.map_or(Ms::MAX, |told| self.now - told);
            assert!(span >= Policy::default().repeat_interval, "{item:?} after {span} ms");
            told.told = Some(self.now);
        }
        if line.decision > Decision::WakeActionable {
            let id = line.records[0].id.as_str().to_owned();
            *self.ends.entry(id).or_default() += usize::from(line.items.is_empty());
        }
    }

    /// No condition that a look saw waits longer than anything may, but for the guard.
    fn nothing_was_lost(&self) {
        let Policy { max_wait, repeat_interval, .. } = Policy::default();
        for (at, subject) in self.subjects.iter().enumerate() {
            let is_seen = |condition: &&Condition| condition.absent == 0;
            for condition in subject.conditions.values().filter(is_seen) {
                let (from, most) = match condition.told {
                    None => (condition.since, max_wait + 60_000),
                    Some(told) => (told, repeat_interval + 25 * CADENCE),
                };
                let is_over = subject.is_known_to_have_ended || self.now - from <= most;
                assert!(is_over, "subject {at}: {} of {most}", self.now - from);
            }
        }
    }
}

impl Subject {
    /// Keeps the account of what a whole look found.
    fn account(&mut self, holds: &BTreeMap<&'static str, bool>, now: Ms) {
        if self.seen.replace(self.revision) != Some(self.revision) {
            self.conditions.clear();
        }
        for (key, holds) in holds {
            if *holds {
                let fresh = Condition { since: now, ..Condition::default() };
                self.conditions.entry(key).or_insert(fresh).absent = 0;
            } else if let Some(gone) = self.conditions.get_mut(key) {
                gone.absent += 1;
                if gone.told.is_none() || gone.absent == 2 {
                    self.conditions.remove(key);
                }
            }
        }
    }
}

fn finding((key, _): (&&'static str, &bool)) -> Finding {
    Finding {
        key: (*key).to_owned(),
        severity: if *key == "jam" { Severity::Immediate } else { Severity::Wake },
        resets_on: ResetsOn::Revision,
        brief: "a brief".to_owned(),
    }
}

#[test]
fn a_week_of_fifty_subjects() {
    let mut week = Week::new();
    week.live();

    // Every end was told once, every blindness too.
    let ended = week.subjects.iter().filter(|subject| subject.is_known_to_have_ended);
    assert_eq!(week.ends.len(), ended.count());
    assert!(week.ends.values().all(|count| *count == 1), "{:?}", week.ends);
    assert_eq!(week.unseen_told, week.unseen);
    // The guard let no more than a burst pass at once.
    for burst in week.lines.windows(11) {
        assert!(burst[10] - burst[0] >= 2000, "{burst:?}");
    }
    let (lines, inputs) = (week.lines.len(), week.inputs);
    assert!(lines * 10 < inputs, "{lines} wakes for {inputs} lines");
    println!(
        "{lines} wakes for {inputs} lines, {} restarts; {} ends, {} times blind; {:?}",
        week.restarts,
        week.ends.len(),
        week.unseen,
        week.reasons,
    );
}

//! What a look means: which change is worth a line, and when all is over. Pure.

use std::{collections::BTreeMap, time::Duration};

use github::{
    look::Unseen,
    place::Names,
    pull::{Mergeability, Pull, Review},
    row,
    settle::{self, Settling},
    target::{Subject, Target},
    trouble::{Came, Said, Troubles},
};
use serde::{Deserialize, Serialize};
use shared::{
    clock::Now, exit::Error, health::Health, reading::ResetsOn, session::Look, text::Text,
};

use crate::{
    args::Args,
    comments::Comments,
    event::{About, Condition, Event, PrState, Told},
    facts::{Facts, Holding},
    probe::{Glance, Sight},
};

/// The version of [`Memory`] in a cursor.
pub const VERSION: u32 = 1;

/// How soon GitHub is asked again whether a new head could be merged.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// What is asked for on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// How often to look.
    pub interval: Duration,
    /// Conditions are told too.
    pub conditions: bool,
    /// Checks that are expected to fail.
    pub known_red: Vec<String>,
}

impl Terms {
    /// The terms of `args`.
    #[must_use]
    pub fn new(args: &Args) -> Self {
        Self {
            interval: args.poll_interval,
            conditions: args.wants_conditions(),
            known_red: args.known_red.clone(),
        }
    }
}

/// What was told of each pull request, by its label. It outlives the process in a cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory(BTreeMap<String, Known>);

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    told: Option<Told>,
    /// What was raised, and on which head if that ends it.
    raised: BTreeMap<String, Option<String>>,
    comments: Option<Comments>,
}

impl Known {
    fn is_over(&self) -> bool {
        self.told.is_some_and(|told| told.state.is_end())
    }
}

/// What there is to say after a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// What the program says of itself.
    pub health: Vec<Health>,
    /// What changed with the pull requests.
    pub events: Vec<Event>,
    /// What was found out of those that were seen.
    pub facts: Vec<(Target, Facts)>,
    /// What is said on stderr.
    pub warning: Option<String>,
    /// What the look came to.
    pub look: Look,
}

/// A pull request, and what is known of it in this run alone.
#[derive(Debug)]
struct Watching {
    target: Target,
    label: String,
    settling: Settling,
    asked_again: String,
    is_seen: bool,
}

/// Judges looks, and remembers what it told of them.
#[derive(Debug)]
pub struct Judge {
    terms: Terms,
    names: Names,
    watching: Vec<Watching>,
    memory: Memory,
    troubles: Troubles,
    due: Duration,
    look: Look,
}

impl Judge {
    /// Goes on from `memory`.
    #[must_use]
    pub fn new(terms: Terms, targets: &[Target], names: Names, memory: Memory) -> Self {
        let watch = |target: &Target| Watching {
            target: target.clone(),
            label: label(&names, target),
            settling: Settling::default(),
            asked_again: String::new(),
            is_seen: false,
        };
        let watching = targets.iter().map(watch).collect();
        let troubles = Troubles::new(terms.interval);
        let (due, look) = (Duration::ZERO, Look::Settling);
        Self { terms, names, watching, memory, troubles, due, look }
    }

    /// What was told.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// When to look next, on the monotonic clock.
    #[must_use]
    pub fn due(&self) -> Duration {
        self.due
    }

    /// What the last look came to.
    #[must_use]
    pub fn state(&self) -> Look {
        self.look
    }

    /// What is to be looked at: nothing before its time, and nothing that is merged or closed.
    #[must_use]
    pub fn wanted(&self, now: &Now) -> Vec<Target> {
        if now.monotonic < self.due {
            return Vec::new();
        }
        self.watching.iter().filter(|w| !self.is_over(w)).map(|w| w.target.clone()).collect()
    }

    /// Whether all are merged or closed.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.watching.iter().all(|watching| self.is_over(watching))
    }

    fn is_over(&self, watching: &Watching) -> bool {
        self.memory.0.get(&watching.label).is_some_and(Known::is_over)
    }

    /// When `target` had changed last, by the time that its comments were read.
    #[must_use]
    pub fn comments_of(&self, target: &Target) -> Option<&str> {
        let known = self.memory.0.get(&label(&self.names, target))?;
        Some(&*known.comments.as_ref()?.updated_at)
    }

    /// What there is to say after a look at `targets`; nothing when it was broken off.
    ///
    /// # Errors
    ///
    /// What can't be watched at all.
    pub fn judge(
        &mut self,
        targets: &[Target],
        sights: &[Sight],
        now: &Now,
    ) -> Result<Option<Decided>, Error> {
        let stopped = sights.iter().any(|sight| matches!(sight, Err(Unseen::Stopped)));
        if stopped || targets.is_empty() {
            return Ok(None);
        }
        let came: Vec<(&Target, Came<'_>)> =
            targets.iter().zip(sights).map(|(target, sight)| (target, came(sight))).collect();
        let known = |target: &Target| {
            let of = |watching: &&Watching| watching.target == *target;
            self.watching.iter().find(of).is_some_and(|watching| {
                watching.is_seen || self.memory.0.contains_key(&watching.label)
            })
        };
        let Said { health, warning, look, wait } = self.troubles.judge(&came, known, now)?;
        self.due = now.monotonic + wait;
        self.look = look;
        let (mut events, mut found) = (Vec::new(), Vec::new());
        for (target, sight) in targets.iter().zip(sights) {
            if let Ok(glance) = sight
                && let Some((facts, told)) = self.see(target, glance, now)
            {
                found.push((target.clone(), facts));
                events.extend(told);
            }
        }
        Ok(Some(Decided { health, events, facts: found, warning, look }))
    }

    fn see(
        &mut self,
        target: &Target,
        Glance { pull, verdict }: &Glance,
        now: &Now,
    ) -> Option<(Facts, Vec<Event>)> {
        let watching = self.watching.iter_mut().find(|watching| watching.target == *target)?;
        watching.is_seen = true;
        if pull.degraded.is_none() {
            watching.settling.saw(&pull.head, &verdict.set, now);
        }
        let settled = watching.settling.is_settled(settle::USUAL, now);
        let known = self.memory.0.entry(watching.label.clone()).or_default();
        let seconds = now.wall.as_second();
        if let Some(bodies) = &pull.bodies {
            let read = Comments::read(known.comments.as_ref(), bodies, &pull.updated_at, seconds);
            known.comments = Some(read);
        }
        let comments = known.comments.as_ref();
        let facts = Facts::new(pull, verdict, settled, &self.terms.known_red, comments, seconds);
        if self.terms.conditions && !facts.state.is_end() {
            let again = watching.ask_again(&facts, settled);
            self.due = self.due.min(again.map_or(self.due, |span| now.monotonic + span));
        }
        let view = View { target, names: &self.names, label: &watching.label, pull, now };
        let events = known.tell(&facts, &view, self.terms.conditions);
        Some((facts, events))
    }
}

impl Watching {
    /// How soon another look is worth its cost: to learn once whether a new head could be merged,
    /// and whether a green one has settled.
    fn ask_again(&mut self, facts: &Facts, settled: bool) -> Option<Duration> {
        let is_open = facts.mergeability == Mergeability::Pending && !facts.draft;
        if is_open && self.asked_again != facts.head {
            self.asked_again.clone_from(&facts.head);
            return Some(ASK_AGAIN);
        }
        let is_green = !settled && facts.pending == 0 && facts.rows_complete;
        (is_green && facts.red.is_empty()).then_some(settle::USUAL)
    }
}

/// What a line needs beside the facts.
struct View<'a> {
    target: &'a Target,
    names: &'a Names,
    label: &'a str,
    pull: &'a Pull,
    now: &'a Now,
}

impl Known {
    /// The table: what was told, and what is.
    fn tell(&mut self, facts: &Facts, view: &View<'_>, conditions: bool) -> Vec<Event> {
        let old = self.told;
        // A look without documents can't know what the reviewers decided.
        let unread = old.filter(|_| facts.degraded && facts.review == Review::Unknown);
        let review_decision = unread.map_or(facts.review, |told| told.review_decision);
        let new = Told { state: facts.state, review_decision };
        let is_over = new.state.is_end();
        let mut events = Vec::new();
        let ended = if conditions { self.end(facts) } else { Vec::new() };
        let begun = if conditions && !is_over { self.begin(facts) } else { Vec::new() };
        let at = |told: Told, event: Spoken<'_>| view.event(facts, told, event);
        if is_over {
            // They end before it does, in the state in which they held.
            let told = old.unwrap_or(new);
            events.extend(ended.iter().map(|(key, rev)| at(told, Spoken::Ended(key, rev.clone()))));
        }
        if old != Some(new) {
            events.push(at(new, Spoken::State(old)));
        }
        if !is_over {
            events.extend(ended.iter().map(|(key, rev)| at(new, Spoken::Ended(key, rev.clone()))));
            events.extend(begun.iter().map(|holding| at(new, Spoken::Begun(holding))));
        }
        self.told = Some(new);
        events
    }

    /// What held and holds no more, with the head that it is said of.
    fn end(&mut self, facts: &Facts) -> Vec<(String, Option<String>)> {
        let holds: Vec<String> = if facts.state.is_end() {
            Vec::new()
        } else {
            facts.holdings().into_iter().map(|holding| holding.key).collect()
        };
        let over = |key: &String, since: &Option<String>| {
            !holds.contains(key) && facts.can_end(key, since.as_deref())
        };
        let ended: Vec<(String, Option<String>)> = self
            .raised
            .iter()
            .filter(|(key, since)| over(key, since))
            .map(|(key, since)| (key.clone(), since.as_ref().map(|_| facts.head.clone())))
            .collect();
        self.raised.retain(|key, _| !ended.iter().any(|(over, _)| over == key));
        ended
    }

    /// What holds and was not told, or of another head.
    fn begin(&mut self, facts: &Facts) -> Vec<Holding> {
        let mut begun = facts.holdings();
        begun.retain(|holding| {
            let head = (holding.resets_on == ResetsOn::Revision).then(|| facts.head.clone());
            self.raised.insert(holding.key.clone(), head.clone()) != Some(head)
        });
        begun
    }
}

/// What one line says.
enum Spoken<'a> {
    State(Option<Told>),
    Begun(&'a Holding),
    Ended(&'a str, Option<String>),
}

impl View<'_> {
    fn event(&self, facts: &Facts, told: Told, spoken: Spoken<'_>) -> Event {
        let key = format!("pr:{}", self.label);
        let said_at = self.now.timestamp().to_string();
        let about = |key, condition, revision| About { key, condition, revision, said_at };
        let (previous, severity, brief, about) = match spoken {
            Spoken::State(previous) => (previous, None, None, about(key, Condition::Once, None)),
            Spoken::Begun(holding) => {
                let resets = holding.resets_on == ResetsOn::Revision;
                let revision = resets.then(|| facts.head.clone());
                let key = format!("{key}:{}", holding.key);
                let brief = Some(Text::new(&holding.brief, 240));
                (None, Some(holding.severity), brief, about(key, Condition::Raised, revision))
            }
            Spoken::Ended(name, revision) => {
                let key = format!("{key}:{name}");
                (None, None, None, about(key, Condition::Cleared, revision))
            }
        };
        let repo = &self.target.repo;
        let number = number(self.target);
        let made = || format!("https://{repo}/pull/{number}");
        Event::PrState(Box::new(PrState {
            pr: number,
            state: told.state,
            review_decision: told.review_decision,
            previous,
            draft: facts.draft,
            mergeability: facts.mergeability,
            checks: facts.checks,
            unresolved_threads: facts.unresolved,
            head_sha: Text::new(&facts.head, 64).as_str().to_owned(),
            url: row::address(&self.pull.url).unwrap_or_else(made),
            repo: self.names.repo(self.target),
            degraded: facts.degraded,
            severity,
            brief,
            about,
        }))
    }
}

fn label(names: &Names, target: &Target) -> String {
    names.label(target, &number(target).to_string())
}

/// The number of a pull request.
#[must_use]
pub fn number(target: &Target) -> u64 {
    match target.subject {
        Subject::Pull(number) | Subject::Run(number) => number,
        Subject::Commit(_) => 0,
    }
}

fn came(sight: &Sight) -> Came<'_> {
    let degraded = match sight {
        Err(unseen) => return Came::Not(unseen),
        Ok(glance) => glance.pull.degraded.as_ref(),
    };
    degraded.map_or(Came::Whole, Came::Degraded)
}

#[cfg(test)]
mod tests;

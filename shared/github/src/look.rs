//! One look at many subjects: as few calls as it takes, and what each subject came to.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::value::RawValue;
use shared::{
    gh::{Answer, Api, Class, Gh, Silence, Trouble, side_by_side},
    wait::Waiter,
};

use crate::{
    document::{self, Ask, MOST, Part, Wants, alias, document},
    pull::{Bodies, Commit, Pull},
    rest::{Fallback, Held},
    sent::{Page, SentPull, SentRepository},
    target::Target,
    verdict::Rows,
};

/// The most pages of rows that are read of a subject.
const PAGES: usize = 4;

/// What was seen of a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// A pull request.
    Pull(Box<Pull>),
    /// A commit.
    Commit(Box<Commit>),
}

/// Why a subject was not seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unseen {
    /// We are asked to stop.
    Stopped,
    /// Its head moved between two reads, so that what was read doesn't belong together.
    Moved,
    /// Nobody was asked: GitHub wants to be left alone until then.
    Cooling(Timestamp),
    /// It was asked, in vain.
    Trouble(Trouble),
}

impl From<Silence> for Unseen {
    fn from(silence: Silence) -> Self {
        match silence {
            Silence::Stopped => Self::Stopped,
            Silence::Cooling(until) => Self::Cooling(until),
            Silence::Trouble(trouble) => Self::Trouble(trouble),
        }
    }
}

/// What one look came to for a subject.
pub type Sight = Result<Seen, Unseen>;

/// Looks at subjects of several hosts, each by its own login.
#[derive(Debug)]
pub struct Looker {
    hosts: Vec<Gh>,
    wants: Wants,
    fallbacks: BTreeMap<Target, Fallback>,
}

/// A subject whose rows are being read.
struct Reading {
    seen: Seen,
    after: Option<String>,
}

impl Looker {
    /// Reads what `wants` says from `hosts`.
    #[must_use]
    pub fn new(hosts: Vec<Gh>, wants: Wants) -> Self {
        Self { hosts, wants, fallbacks: BTreeMap::new() }
    }

    /// The way to a host.
    #[must_use]
    pub fn host(&self, name: &str) -> Option<&Gh> {
        self.hosts.iter().find(|gh| gh.host() == name)
    }

    /// Looks at `targets` and gives `each` what it came to, by its index. With a `turn`, the
    /// comments of those whose turn it is are read too: as many as cost nothing more.
    ///
    /// They come document by document, so that nobody has to keep the rows of all.
    pub fn look(
        &mut self,
        targets: &[Target],
        turn: Option<usize>,
        waiter: &Waiter,
        mut each: impl FnMut(usize, Sight),
    ) {
        for gh in &self.hosts {
            let here: Vec<usize> =
                (0..targets.len()).filter(|at| targets[*at].repo.host == gh.host()).collect();
            for chunk in here.chunks(MOST) {
                let chunk_targets: Vec<&Target> = chunk.iter().map(|at| &targets[*at]).collect();
                let look = Chunk { gh, wants: self.wants, waiter };
                let found = look.look(&chunk_targets, turn, &mut self.fallbacks);
                chunk.iter().zip(found).for_each(|(at, sight)| each(*at, sight));
            }
        }
    }

    /// Reads the comments of `targets` alone.
    #[must_use]
    pub fn bodies(&self, targets: &[Target], waiter: &Waiter) -> Vec<(Target, Bodies)> {
        let mut found = Vec::new();
        for gh in &self.hosts {
            let here: Vec<&Target> =
                targets.iter().filter(|target| target.repo.host == gh.host()).collect();
            for chunk in here.chunks(MOST) {
                let asks: Vec<Ask<'_>> =
                    chunk.iter().map(|target| Ask { target, part: Part::Bodies }).collect();
                let look = Chunk { gh, wants: self.wants, waiter };
                let Ok(answer) = look.ask(&asks) else { continue };
                let data = answer.data();
                for (at, target) in chunk.iter().enumerate() {
                    let read = part(&answer, &data, at).ok();
                    let bodies = read.and_then(|repo| repo.pull_request?.into_bodies());
                    found.extend(bodies.map(|bodies| ((*target).clone(), bodies)));
                }
            }
        }
        found
    }
}

/// A look at the subjects of one document.
struct Chunk<'a> {
    gh: &'a Gh,
    wants: Wants,
    waiter: &'a Waiter,
}

impl Chunk<'_> {
    fn look(
        &self,
        targets: &[&Target],
        turn: Option<usize>,
        fallbacks: &mut BTreeMap<Target, Fallback>,
    ) -> Vec<Sight> {
        let facts = |at| Part::Facts {
            bodies: turn.is_some_and(|turn| document::has_turn(at, targets.len(), turn)),
        };
        let asks: Vec<Ask<'_>> = targets
            .iter()
            .enumerate()
            .map(|(at, target)| Ask { target, part: facts(at) })
            .collect();
        let answer = match self.ask(&asks) {
            Ok(answer) => answer,
            Err(silence) => return self.without_documents(targets, &silence, fallbacks),
        };
        let data = answer.data();
        let mut readings: Vec<Result<Reading, Unseen>> =
            (0..asks.len()).map(|at| first_page(part(&answer, &data, at)?)).collect();
        drop(data);
        drop(answer);
        for _ in 1..PAGES {
            self.next_pages(targets, &mut readings);
        }
        readings.into_iter().map(|reading| Ok(reading?.seen)).collect()
    }

    /// Reads one page more of those that have one.
    fn next_pages(&self, targets: &[&Target], readings: &mut [Result<Reading, Unseen>]) {
        let cursors: Vec<(usize, String)> = readings
            .iter()
            .enumerate()
            .filter_map(|(at, reading)| Some((at, reading.as_ref().ok()?.after.clone()?)))
            .collect();
        if cursors.is_empty() {
            return;
        }
        let asks: Vec<Ask<'_>> = cursors
            .iter()
            .map(|(at, after)| Ask { target: targets[*at], part: Part::Page(after) })
            .collect();
        let answer = self.ask(&asks);
        let data = answer.as_ref().map(Answer::data).unwrap_or_default();
        for (index, (at, _)) in cursors.iter().enumerate() {
            let page = match &answer {
                Ok(answer) => part(answer, &data, index).and_then(later_page),
                Err(silence) => Err(silence.clone().into()),
            };
            let more = page.and_then(|page| match &mut readings[*at] {
                Ok(reading) => reading.add(page),
                Err(unseen) => Err(unseen.clone()),
            });
            if let Err(unseen) = more {
                readings[*at] = Err(unseen);
            }
        }
    }

    fn ask(&self, asks: &[Ask<'_>]) -> Result<Answer, Silence> {
        let (text, variables) = document(asks, self.wants);
        self.gh.ask(&text, &variables, self.waiter)
    }

    /// When the budget for documents is spent, the paths tell what they can.
    fn without_documents(
        &self,
        targets: &[&Target],
        silence: &Silence,
        fallbacks: &mut BTreeMap<Target, Fallback>,
    ) -> Vec<Sight> {
        let why = match silence {
            Silence::Cooling(until) => {
                let detail = format!("the budget for GraphQL is spent until {until}");
                Some(Trouble { class: Class::RateLimited, detail, retry_at: Some(*until) })
            }
            Silence::Trouble(trouble) if trouble.class == Class::RateLimited => {
                Some(trouble.clone())
            }
            Silence::Trouble(_) | Silence::Stopped => None,
        };
        let Some(why) = why.filter(|_| self.gh.cooling(Api::Rest).is_none()) else {
            return targets.iter().map(|_| Err(silence.clone().into())).collect();
        };
        let known =
            |target: &&Target| fallbacks.remove(*target).unwrap_or_else(|| Fallback::new(target));
        let mut chosen: Vec<Fallback> = targets.iter().map(known).collect();
        let held = side_by_side(&mut chosen, |fallback| fallback.read(self.gh, &why, self.waiter));
        fallbacks.extend(chosen.into_iter().map(|fallback| (fallback.target().clone(), fallback)));
        let sight = |held: Result<Held, Silence>| match held? {
            Held::Pull(pull) => Ok(Seen::Pull(pull)),
            Held::Commit(commit) => Ok(Seen::Commit(commit)),
        };
        held.into_iter().map(sight).collect()
    }
}

/// What an answer has, by alias.
type Data<'a> = BTreeMap<&'a str, Option<&'a RawValue>>;

/// What the answer has for the subject at `index`. An error that names it fails it, whatever else
/// there is; one that names nobody fails all that have nothing to show.
fn part(answer: &Answer, data: &Data<'_>, index: usize) -> Result<SentRepository, Unseen> {
    let alias = alias(index);
    let named = answer.errors.iter().any(|error| error.alias.as_deref() == Some(&alias));
    let found = data.get(&*alias).copied().flatten();
    let whole = answer.errors.iter().any(|error| error.alias.is_none());
    let (Some(found), false, false) = (found, named, whole) else {
        let missing = || Trouble::malformed("the answer leaves it out");
        return Err(Unseen::Trouble(answer.trouble(&alias).unwrap_or_else(missing)));
    };
    serde_json::from_str(found.get()).map_err(|err| {
        Unseen::Trouble(Trouble::malformed(&format!("an answer that can't be understood: {err}")))
    })
}

fn first_page(repository: SentRepository) -> Result<Reading, Unseen> {
    let not_found = || {
        let detail = "no such thing in this repository".to_owned();
        Unseen::Trouble(Trouble { class: Class::NotFound, detail, retry_at: None })
    };
    if let Some(pull) = repository.pull_request {
        let (pull, after) = pull.pull().ok_or(Unseen::Moved)?;
        return Ok(Reading { seen: Seen::Pull(Box::new(pull)), after });
    }
    let page = repository.object.ok_or_else(not_found)?.page();
    let commit = Commit { rows: page.rows, needs_approval: page.needs_approval, degraded: None };
    Ok(Reading { seen: Seen::Commit(Box::new(commit)), after: page.after })
}

fn later_page(repository: SentRepository) -> Result<Page, Unseen> {
    let pull = repository.pull_request.map(SentPull::page);
    let page = pull.or_else(|| Some(repository.object?.page()));
    page.ok_or(Unseen::Moved)
}

impl Reading {
    fn add(&mut self, page: Page) -> Result<(), Unseen> {
        let rows: &mut Rows = match &mut self.seen {
            Seen::Pull(pull) if pull.head != page.head => return Err(Unseen::Moved),
            Seen::Pull(pull) => &mut pull.rows,
            Seen::Commit(commit) => &mut commit.rows,
        };
        rows.list.extend(page.rows.list);
        rows.complete = page.rows.complete;
        self.after = page.after;
        Ok(())
    }
}

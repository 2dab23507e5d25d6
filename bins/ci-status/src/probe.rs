//! Asks GitHub for what the targets are.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    time::Duration,
};

use github::{
    document::Wants,
    look::{Looker, Seen, Unseen},
    pull::{Commit, Pull},
    target::{Repo, Subject, Target},
    verdict::Required,
};
use serde::Deserialize;
use shared::{
    clock,
    gh::{Cached, Class, Gh, Page, Silence, Trouble, side_by_side},
    wait::Waiter,
};

use crate::run::Run;

/// How long the base branch's rules are taken for known.
const RULES_STAND: Duration = Duration::from_mins(10);

/// What was seen of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Saw {
    /// A run.
    Run(Run),
    /// A pull request; with `--required`, what the rules of its base say.
    Pull(Box<Pull>, Option<Required>),
    /// A commit.
    Commit(Box<Commit>),
}

/// What a look came to for a target.
pub type Sight = Result<Saw, Unseen>;

/// Asks for runs by their paths, and for all else by documents.
#[derive(Debug)]
pub struct Probe {
    looker: Looker,
    runs: BTreeMap<Target, Cached<Run>>,
    rules: BTreeMap<(Repo, String), Rules>,
    required: bool,
}

/// What the rules of a branch said.
#[derive(Debug)]
struct Rules {
    cached: Cached<Vec<Rule>>,
    read: Option<(Duration, Required)>,
}

#[derive(Debug, Clone, Deserialize)]
struct Rule {
    #[serde(default)]
    parameters: Option<Parameters>,
}

#[derive(Debug, Clone, Deserialize)]
struct Parameters {
    #[serde(default)]
    required_status_checks: Vec<RequiredCheck>,
}

#[derive(Debug, Clone, Deserialize)]
struct RequiredCheck {
    context: String,
}

impl Probe {
    /// Asks `hosts`.
    #[must_use]
    pub fn new(hosts: Vec<Gh>, required: bool) -> Self {
        let looker = Looker::new(hosts, Wants { review: false, required, approval: true });
        Self { looker, runs: BTreeMap::new(), rules: BTreeMap::new(), required }
    }

    /// Looks at `targets`, which are all runs or all not.
    pub fn look(&mut self, targets: &[Target], waiter: &Waiter) -> Vec<Sight> {
        if targets.iter().all(|target| matches!(target.subject, Subject::Run(_))) {
            return self.runs(targets, waiter);
        }
        let mut sights = Vec::with_capacity(targets.len());
        self.looker.look(targets, None, waiter, |at, sight| sights.push((at, sight)));
        sights.sort_unstable_by_key(|(at, _)| *at);
        let mut seen = Vec::with_capacity(targets.len());
        for (target, (_, sight)) in targets.iter().zip(sights) {
            seen.push(sight.map(|sight| match sight {
                Seen::Pull(pull) => {
                    let required = self.required(target, &pull, waiter);
                    Saw::Pull(pull, required)
                }
                Seen::Commit(commit) => Saw::Commit(commit),
            }));
        }
        seen
    }

    fn runs(&mut self, targets: &[Target], waiter: &Waiter) -> Vec<Sight> {
        let path = |target: &Target| {
            format!("repos/{}/actions/runs/{}", target.repo.slug(), target.subject)
        };
        let known = |target: &Target| {
            let cached = self.runs.remove(target);
            (target.clone(), cached.unwrap_or_else(|| Cached::new(path(target))))
        };
        let mut asked: Vec<(Target, Cached<Run>)> = targets.iter().map(known).collect();
        let looker = &self.looker;
        let sights = side_by_side(&mut asked, |(target, cached)| {
            look_at_run(looker, target, cached, waiter)
        });
        self.runs.extend(asked);
        sights
    }

    /// What the rules of the base branch require, asked for now and then.
    fn required(&mut self, target: &Target, pull: &Pull, waiter: &Waiter) -> Option<Required> {
        if !self.required {
            return None;
        }
        let place = (target.repo.clone(), pull.base.clone());
        let rules = self.rules.entry(place).or_insert_with(|| Rules {
            cached: Cached::new(format!(
                "repos/{}/rules/branches/{}?per_page=100",
                target.repo.slug(),
                encoded(&pull.base)
            )),
            read: None,
        });
        let now = clock::monotonic();
        if let Some((at, required)) = &rules.read
            && now < *at + RULES_STAND
        {
            return Some(required.clone());
        }
        let gh = self.looker.host(&target.repo.host)?;
        let required = match rules.cached.read(gh, waiter) {
            Ok(list) => Required::Names(names(list)),
            // A host without rules, or a login that may not read them, won't change its mind soon.
            Err(Silence::Trouble(trouble))
                if matches!(trouble.class, Class::NotFound | Class::Authorization) =>
            {
                Required::Unreadable
            }
            Err(_) => {
                return Some(rules.read.as_ref().map_or(Required::Unreadable, |r| r.1.clone()));
            }
        };
        rules.read = Some((now, required.clone()));
        Some(required)
    }
}

fn names(rules: Vec<Rule>) -> BTreeSet<String> {
    let checks = rules.into_iter().filter_map(|rule| rule.parameters);
    checks.flat_map(|rule| rule.required_status_checks).map(|check| check.context).collect()
}

fn look_at_run(
    looker: &Looker,
    target: &Target,
    cached: &mut Cached<Run>,
    waiter: &Waiter,
) -> Sight {
    let Some(gh) = looker.host(&target.repo.host) else {
        return Err(Unseen::Trouble(Trouble::malformed("no such host")));
    };
    match cached.read(gh, waiter) {
        Ok(run) if Subject::Run(run.id) == target.subject => Ok(Saw::Run(run)),
        Ok(run) => {
            Err(Unseen::Trouble(Trouble::malformed(&format!("an answer for run {}", run.id))))
        }
        Err(Silence::Trouble(trouble))
            if trouble.class == Class::NotFound && !cached.is_known() =>
        {
            Err(Unseen::Trouble(hint(gh, target, trouble, waiter)))
        }
        Err(silence) => Err(silence.into()),
    }
}

/// Addresses of checks end in the id of a job, which is often taken for that of the run.
fn hint(gh: &Gh, target: &Target, trouble: Trouble, waiter: &Waiter) -> Trouble {
    #[derive(Deserialize)]
    struct Job {
        run_id: u64,
    }
    let path = format!("repos/{}/actions/jobs/{}", target.repo.slug(), target.subject);
    let Ok(Page::Fresh { body, .. }) = gh.get(&path, None, waiter) else { return trouble };
    let Ok(Job { run_id }) = serde_json::from_slice(&body) else { return trouble };
    Trouble { detail: format!("it is a job of run {run_id}"), ..trouble }
}

/// A branch's name as one part of a path.
fn encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        if plain(byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a string can't fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_one_part_of_a_path() {
        assert_eq!(encoded("release-1.x"), "release-1.x");
        assert_eq!(encoded("feature/é?x={owner}"), "feature%2F%C3%A9%3Fx%3D%7Bowner%7D");
    }

    #[test]
    fn the_rules_name_checks() {
        let json = r#"[{"type":"deletion"},{"type":"required_status_checks","parameters":
            {"required_status_checks":[{"context":"test","integration_id":1},{"context":"lint"}]}},
            {"type":"pull_request","parameters":{"required_approving_review_count":1}}]"#;
        let names = names(serde_json::from_str(json).unwrap());
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["lint", "test"]);
    }
}

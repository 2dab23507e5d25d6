//! All that holds after a look, for `wake`.

use std::collections::BTreeMap;

use github::{look::Unseen, target::Target};
use serde_json::Value;
use shared::{
    gh::Trouble,
    line,
    reading::{About, Entry, Facts as Told, Failure, Reading},
};

use crate::{
    decide::number,
    facts::{Facts, Holding},
    probe::Sight,
};

/// Counts the looks at each pull request, and knows the head that each saw last.
#[derive(Debug, Default)]
pub struct Readings {
    looks: BTreeMap<Target, (u64, String)>,
}

impl Readings {
    /// The reading of each of `targets`, of which `facts` were found out. One whose head moved
    /// during the look has none.
    pub fn of(
        &mut self,
        targets: &[Target],
        sights: &[Sight],
        facts: &[(Target, Facts)],
    ) -> Vec<(Reading, About)> {
        let mut readings = Vec::with_capacity(targets.len());
        for (target, sight) in targets.iter().zip(sights) {
            let error = match sight {
                Err(Unseen::Moved | Unseen::Stopped) => continue,
                Err(Unseen::Cooling(until)) => Some(Failure::cooldown(*until)),
                Err(Unseen::Trouble(trouble)) => Some(failure(trouble)),
                Ok(glance) => glance.pull.degraded.as_ref().map(failure),
            };
            let (look, head) = self.looks.entry(target.clone()).or_default();
            *look += 1;
            let found = facts.iter().find(|(of, _)| of == target).map(|(_, facts)| facts);
            let subject = line::short_key(&format!("{}#{}", target.repo, number(target)));
            let entries = found.map(entries).unwrap_or_default();
            // What has ended was seen as far as it matters.
            let over = found.is_some_and(|facts| facts.state.is_end());
            let error = error.filter(|_| !over);
            let reading = Reading { subject, look: *look, entries, error };
            let mut about = about(found);
            if let Some(facts) = found {
                // There is no second look at it, which wake would wait for at another revision.
                about.revision.take_if(|new| over && !head.is_empty() && new != head);
                head.clone_from(&facts.head);
            }
            readings.push((reading, about));
        }
        readings
    }
}

fn failure(trouble: &Trouble) -> Failure {
    let word = trouble.class.word();
    let failure = Failure::new(word, word, &trouble.detail);
    match trouble.retry_at {
        Some(at) => failure.retry_at(at),
        None => failure,
    }
}

fn entries(facts: &Facts) -> Vec<Entry> {
    let entry = |holding: &Holding| {
        Entry::new(&holding.key, holding.severity, holding.resets_on, &holding.brief)
    };
    facts.holdings().iter().map(entry).collect()
}

fn about(facts: Option<&Facts>) -> About {
    let about = About { kind: Some("pull-request"), noun: Some("PR"), ..About::default() };
    let Some(facts) = facts else { return about };
    let (is_over, reason) = (facts.state.is_end(), facts.reason());
    let status = match reason {
        "merged" => "success",
        "closed" => "blocked",
        _ if facts.holdings().is_empty() => "pending",
        _ => "actionable",
    };
    let whole = facts.rows_complete && facts.threads_complete && !facts.degraded;
    About {
        revision: Some(facts.head.clone()),
        status: Some(status),
        reason: Some(reason),
        pending: Some(if is_over { 0 } else { facts.pending }),
        incomplete: !whole && !is_over,
        facts: Some(Told(vec![
            ("state", facts.state.word().into()),
            ("draft", facts.draft.into()),
            ("mergeability", serde_json::to_value(facts.mergeability).unwrap_or(Value::Null)),
            ("review_decision", facts.review.word().into()),
            ("checks", facts.checks.word().into()),
            ("unresolved_threads", facts.unresolved.into()),
        ])),
        ..about
    }
}

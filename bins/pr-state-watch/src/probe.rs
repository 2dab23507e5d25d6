//! Asks GitHub for what the pull requests are.

use github::{
    document::Wants,
    look::{Looker, Seen, Unseen},
    pull::Pull,
    target::Target,
    verdict::{Rows, Verdict, judge},
};
use shared::{
    gh::{Gh, Trouble},
    wait::Waiter,
};

/// A pull request, and what its rows come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    /// It, without the rows: those of a hundred would be too much to keep.
    pub pull: Box<Pull>,
    /// What they come to.
    pub verdict: Verdict,
}

impl Glance {
    /// What `pull` comes to.
    #[must_use]
    pub fn at(mut pull: Box<Pull>) -> Self {
        let verdict = judge(&pull.rows, None);
        pull.rows = Rows::default();
        Self { pull, verdict }
    }
}

/// What a look came to for a pull request.
pub type Sight = Result<Glance, Unseen>;

/// Asks for many pull requests in one document.
#[derive(Debug)]
pub struct Probe {
    looker: Looker,
    with_comments: bool,
    turn: usize,
}

impl Probe {
    /// Asks `hosts`, for the comments too if they are wanted.
    #[must_use]
    pub fn new(hosts: Vec<Gh>, with_comments: bool) -> Self {
        let looker = Looker::new(hosts, Wants { review: true, required: false, approval: false });
        Self { looker, with_comments, turn: 0 }
    }

    /// Looks at `targets`. Comments are read by turns, as far as that costs nothing more; and at
    /// once where the pull request has changed since `comments_of` says they were read.
    pub fn look<'a>(
        &mut self,
        targets: &[Target],
        comments_of: impl Fn(&Target) -> Option<&'a str>,
        waiter: &Waiter,
    ) -> Vec<Sight> {
        let turn = self.with_comments.then_some(self.turn);
        self.turn = self.turn.wrapping_add(1);
        let unseen = || Err(Unseen::Trouble(Trouble::malformed("nobody was asked")));
        let mut sights: Vec<Sight> = targets.iter().map(|_| unseen()).collect();
        self.looker.look(targets, turn, waiter, |at, sight| {
            sights[at] = match sight {
                Ok(Seen::Pull(pull)) => Ok(Glance::at(pull)),
                Ok(Seen::Commit(_)) => unseen(),
                Err(unseen) => Err(unseen),
            };
        });
        if self.with_comments {
            self.add_comments(targets, &mut sights, comments_of, waiter);
        }
        sights
    }

    fn add_comments<'a>(
        &self,
        targets: &[Target],
        sights: &mut [Sight],
        comments_of: impl Fn(&Target) -> Option<&'a str>,
        waiter: &Waiter,
    ) {
        let is_stale = |target: &Target, pull: &Pull| {
            pull.bodies.is_none()
                && pull.degraded.is_none()
                && !pull.state.is_end()
                && comments_of(target) != Some(&pull.updated_at)
        };
        let pairs = targets.iter().zip(&*sights);
        let seen = pairs.filter_map(|(target, sight)| Some((target, &sight.as_ref().ok()?.pull)));
        let stale: Vec<Target> =
            seen.filter(|(target, pull)| is_stale(target, pull)).map(|(t, _)| t.clone()).collect();
        for (read, bodies) in self.looker.bodies(&stale, waiter) {
            let of_it = targets.iter().zip(&mut *sights).find(|(target, _)| **target == read);
            if let Some((_, Ok(glance))) = of_it {
                glance.pull.bodies = Some(bodies);
            }
        }
    }
}

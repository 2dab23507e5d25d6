//! What a watch may cost, and what may leave at once.

use super::{Decision, Engine, Ms, Reason, engine::Judged, record::Outcome, words};

impl Engine {
    /// The bound that is spent, if one is.
    pub(super) fn spent(&self, now: Ms) -> Option<Reason> {
        let Self { policy, state, .. } = self;
        let is_spent = |most: Option<u64>, cost: u64| most.is_some_and(|most| cost >= most);
        let age = now.saturating_sub(state.created);
        let tokens = state.spent.tokens_in.saturating_add(state.spent.tokens_out);
        let bounds = [
            (policy.max_lifetime, age, Reason::MAX_LIFETIME),
            (policy.max_wakes, state.spent.wakes, Reason::MAX_WAKES),
            (policy.max_tokens, tokens, Reason::MAX_TOKENS),
        ];
        bounds.into_iter().find(|(most, cost, _)| is_spent(*most, *cost)).map(|(.., reason)| reason)
    }

    /// Ends the watch; its last line says so.
    pub(super) fn end_watch(&mut self, decision: Decision, reason: Reason, now: Ms) {
        self.state.outcome = Some(Outcome::new(decision, reason.clone(), now));
        self.answer(None, Judged::bare(decision, reason));
    }

    /// What the last line says.
    pub(super) fn end_words(&self, reason: &Reason, now: Ms) -> String {
        let Self { policy, state, .. } = self;
        let spent = &state.spent;
        let count = |cost: u64, most: Option<u64>| format!("{cost} of {}", most.unwrap_or(cost));
        let cost = if *reason == Reason::MAX_LIFETIME {
            let age = now.saturating_sub(state.created);
            let most = policy.max_lifetime.unwrap_or(age);
            Some(format!("{} of {}", words::span(age), words::span(most)))
        } else if *reason == Reason::MAX_WAKES {
            Some(count(spent.wakes, policy.max_wakes))
        } else if *reason == Reason::MAX_TOKENS {
            Some(count(spent.tokens_in.saturating_add(spent.tokens_out), policy.max_tokens))
        } else {
            None
        };
        let watch = match state.watch.as_str() {
            "" => "watch".to_owned(),
            name => format!("watch {name}"),
        };
        match cost {
            Some(cost) => format!("{watch} ended: {reason} spent ({cost})"),
            None => format!("{watch} ended: {reason}"),
        }
    }

    /// Whether a line may be printed now.
    pub(super) fn has_token(&self, now: Ms) -> bool {
        self.credit(now) >= self.policy.refill
    }

    /// When the next line may be printed.
    pub(super) fn next_token(&self) -> Ms {
        let guard = &self.state.guard;
        guard.at.saturating_add(self.policy.refill.saturating_sub(self.credit(guard.at)))
    }

    /// Pays for a line; one that did not ask may find nothing to pay with.
    pub(super) fn take_token(&mut self, now: Ms) {
        let left = self.credit(now).saturating_sub(self.policy.refill);
        self.state.guard.tokens = Some(tokens(left, self.policy.refill));
        self.state.guard.at = now;
    }

    /// The tokens at `now`, as the time that they took to come.
    fn credit(&self, now: Ms) -> Ms {
        let (guard, refill) = (&self.state.guard, self.policy.refill);
        let full = refill.saturating_mul(self.policy.burst.into());
        let before = guard.tokens.map_or(full, |tokens| credit(tokens, refill));
        let since = if guard.at > now { full } else { now - guard.at };
        before.saturating_add(since).min(full)
    }
}

#[expect(clippy::cast_precision_loss, reason = "both are far below 2^52")]
fn tokens(credit: Ms, refill: Ms) -> f64 {
    credit as f64 / refill.max(1) as f64
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of whole milliseconds comes out as it went in"
)]
fn credit(tokens: f64, refill: Ms) -> Ms {
    (tokens * refill as f64).round() as Ms
}

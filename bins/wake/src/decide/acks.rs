//! Lines whose readers answer.

use super::{
    Ack, AckResult, Decision, Emitting, Engine, Ms, Reason, Stage,
    engine::Judged,
    key::{NEVER, Name, REVISION, Trigger},
    record::Stamp,
    records::Slot,
};

impl Engine {
    /// Books what an answer says of the line in flight; none if it is about another one.
    pub(super) fn book(&mut self, ack: &Ack<'_>, now: Ms) -> Option<AckResult> {
        let is_answered = |line: &Emitting| line.claim == ack.claim && !line.last;
        if self.state.emitting.as_ref().is_some_and(is_answered) {
            // The process was killed before it knew that the line was out. Its reader knows.
            self.flushed(now);
        }
        self.state.in_flight.as_ref().filter(|flight| flight.claim == ack.claim)?;
        if let AckResult::Completed { tokens_in, tokens_out, .. } = ack.result {
            let spent = &mut self.state.spent;
            spent.tokens_in = spent.tokens_in.saturating_add(tokens_in.unwrap_or(0));
            spent.tokens_out = spent.tokens_out.saturating_add(tokens_out.unwrap_or(0));
            spent.tokens_known &= tokens_in.is_some() && tokens_out.is_some();
            self.state.in_flight = None;
        }
        Some(ack.result)
    }

    /// Does what an answer leads to.
    pub(super) fn answered(&mut self, answer: Option<AckResult>, now: Ms) {
        let Some(acks) = self.policy.acks else { return };
        let blocked = Decision::StopBlocked;
        match (answer, &mut self.state.in_flight) {
            (Some(AckResult::Completed { stalled: true, .. }), _) => {
                self.end_watch(blocked, Reason::APPROVAL, now);
            }
            (Some(AckResult::Unavailable), _) => self.end_watch(blocked, Reason::UNAVAILABLE, now),
            (Some(AckResult::Dispatched), Some(flight)) => {
                (flight.stage, flight.resend) = (Stage::Dispatched, None);
                flight.deadline = Some(now.saturating_add(acks.timeout));
            }
            (Some(AckResult::Busy), Some(flight)) => {
                (flight.stage, flight.deadline) = (Stage::Busy, None);
                flight.resend = Some(now.saturating_add(acks.busy_retry));
            }
            _ => {}
        }
    }

    /// Gives a line up that nobody answered: what it told and still holds is told again.
    pub(super) fn miss(&mut self, now: Ms) {
        let is_lost = |at: Ms| at <= now;
        let lost = self.state.in_flight.take_if(|flight| flight.deadline.is_some_and(is_lost));
        let Some(lost) = lost else { return };
        let mut slots: Vec<(Slot, Vec<Name>)> = Vec::new();
        for Stamp { record, key } in lost.stamps {
            let Some(slot) = self.state.records.find(&record) else { continue };
            if slots.last().is_none_or(|(last, _)| *last != slot) {
                slots.push((slot, Vec::new()));
            }
            let is_told_again = if key.starts_with([REVISION, NEVER]) {
                self.unmask(slot, &key)
            } else {
                self.unsaid(slot, &key, &lost.claim, now);
                false
            };
            if let Some((_, names)) = slots.last_mut().filter(|_| is_told_again) {
                names.push(key);
            }
        }
        for (slot, names) in slots {
            if !names.is_empty() {
                let judged = self.wake(slot, &names);
                self.answer(Some(slot), judged);
            }
            self.touch(slot, now);
        }
    }

    /// Lets the mask of a key fall, and says whether the key is told again.
    fn unmask(&mut self, slot: Slot, name: &Name) -> bool {
        let records = &mut self.state.records;
        let is_end = records.record(slot).outcome.is_some();
        let Some(key) = records.key(slot, name).filter(|key| key.told.is_some()) else {
            return false;
        };
        let is_terminal = key.severity == shared::reading::Severity::Terminal;
        if !key.active || is_end != is_terminal {
            if !is_end {
                records.drop_key(slot, name);
            }
            return false;
        }
        records.edit(slot, name, |key| key.due = Some(Trigger::Unconfirmed));
        true
    }

    /// A verdict without entries was not confirmed: it is said again while it is true.
    fn unsaid(&mut self, slot: Slot, reason: &str, claim: &str, now: Ms) {
        let record = self.state.records.record_mut(slot);
        if let Some(outcome) = &mut record.outcome {
            if outcome.claim.as_deref() != Some(claim) {
                return;
            }
            outcome.claim = None;
            let (decision, reason) = (outcome.decision, outcome.reason.clone());
            let begin = if decision == Decision::StopSuccess { "done" } else { "ended" };
            let text = format!(" {begin}: {reason}");
            self.note(slot, decision, reason.clone(), text, now);
            self.answer(Some(slot), Judged::bare(decision, reason));
            return;
        }
        let Some(seen) = &mut record.seen else { return };
        // The next look says so again, with what is known then.
        if reason == Reason::BLIND.as_str() {
            seen.blind = false;
        }
        seen.error_told.retain(|kind| kind.word() != reason);
    }
}

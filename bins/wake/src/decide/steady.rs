//! What stays as it is: conditions that nobody removes, subjects of which there is no news.

use shared::reading::{Look, Status};

use super::{
    Decision, Engine, Ms, Reason, Stall, engine::Judged, key::Name, record::Streak, records::Slot,
    words,
};

impl Engine {
    /// Counts looks that change nothing, and tells or ends it when there were too many for too
    /// long. Both bounds double with every time it was told.
    pub(super) fn stall(
        &mut self,
        slot: Slot,
        look: &Look,
        is_known: bool,
        judged: Judged,
        now: Ms,
    ) -> Judged {
        let counts = look.is_whole()
            && look.status == Status::Actionable
            && judged.decision == Decision::NoChange;
        let streak = &mut self.seen(slot).stall;
        if !counts {
            streak.end();
            self.unsay(slot);
            return judged;
        }
        if !is_known {
            streak.end();
        }
        let start = *streak.start.get_or_insert(now);
        streak.count = streak.count.saturating_add(1);
        let (count, span) = (streak.count, now.saturating_sub(start));
        if !is_known {
            self.unsay(slot);
        }
        if !self.has_stalled(slot, span) {
            return judged;
        }
        let text = words::unchanged(span, count);
        if self.policy.stall == Stall::Stop {
            let text = format!(" ended: {}{text}", Reason::STALL);
            return self.end(slot, (Decision::StopBlocked, Reason::STALL), text, &[], now);
        }
        let streak = &mut self.seen(slot).stall;
        streak.told = true;
        streak.trips = streak.trips.saturating_add(1);
        self.note(slot, Decision::WakeActionable, Reason::STALL, text, now);
        let entries = self.entries(slot, &self.active(slot));
        Judged { decision: Decision::WakeActionable, reason: Reason::STALL, entries }
    }

    fn has_stalled(&self, slot: Slot, span: Ms) -> bool {
        let Self { policy, state, .. } = self;
        let Some(seen) = &state.records.record(slot).seen else { return false };
        let Streak { count, told, trips, .. } = seen.stall;
        let double = |bound: u64| bound.saturating_mul(2_u64.saturating_pow(trips));
        policy.stall != Stall::Off
            && !told
            && count >= double(policy.stall_looks)
            && span >= double(policy.stall_after).min(policy.repeat_interval)
    }

    /// The streak is over: what was to be told of it is not true any more.
    fn unsay(&mut self, slot: Slot) {
        let note = &mut self.state.records.record_mut(slot).note;
        note.take_if(|note| !note.is_stop() && note.reason == Reason::STALL);
    }

    /// The keys that the last look named.
    pub(super) fn active(&self, slot: Slot) -> Vec<Name> {
        let all = self.state.records.keys(slot).filter(|(_, key)| key.active);
        all.map(|(name, _)| name.clone()).collect()
    }

    /// Gives a turn after many whole looks without one.
    pub(super) fn floor(&mut self, slot: Slot, look: &Look, judged: Judged, now: Ms) -> Judged {
        if judged.decision.is_printed() || !look.is_whole() {
            return judged;
        }
        let seen = self.seen(slot);
        seen.quiet = seen.quiet.saturating_add(1);
        let quiet = seen.quiet;
        if self.policy.floor.is_none_or(|floor| quiet < floor) {
            return judged;
        }
        self.note(slot, Decision::WakeActionable, Reason::FLOOR, words::quiet(quiet), now);
        Judged::bare(Decision::WakeActionable, Reason::FLOOR)
    }
}

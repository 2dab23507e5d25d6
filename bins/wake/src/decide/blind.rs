//! Looks that did not see their subject, or not all of it.

use shared::reading::{Fault, Look};

use super::{Decision, Engine, Ms, Reason, engine::Judged, record::Seen, records::Slot, words};

/// After so many looks running it is told that the subject is not seen.
const BLIND: u64 = 6;

impl Engine {
    /// Judges a look that saw nothing, or was not attempted.
    pub(super) fn failed(&mut self, slot: Slot, fault: &Fault, now: Ms) -> Judged {
        let seen = self.seen(slot);
        if fault.attempted {
            seen.unseen = seen.unseen.saturating_add(1);
            seen.skipped = None;
            seen.stall.end();
        } else {
            seen.skipped.get_or_insert(now);
        }
        if !fault.kind.can_heal() {
            return self.lasting(slot, fault, now);
        }
        let judged = if fault.attempted {
            self.unseen(slot, Some(fault), now)
        } else {
            self.only_skipped(slot, fault, now)
        };
        judged.unwrap_or_else(|| retry(fault))
    }

    /// Judges what a partial look says beside its entries; none if that is nothing.
    pub(super) fn partial(&mut self, slot: Slot, look: &Look, now: Ms) -> Option<Judged> {
        if look.is_whole() {
            return None;
        }
        let fault = look.error.as_ref();
        match fault {
            Some(fault) if !fault.kind.can_heal() => Some(self.lasting(slot, fault, now)),
            _ => self.unseen(slot, fault, now).or(fault.map(retry)),
        }
    }

    /// An error that does not go away by itself ends the subject, or is told once.
    fn lasting(&mut self, slot: Slot, fault: &Fault, now: Ms) -> Judged {
        let reason = Reason::fault(fault.kind);
        if !self.policy.keep_going {
            let text = words::ended(reason.as_str(), fault);
            return self.end(slot, (Decision::StopBlocked, reason), text, &[], now);
        }
        let told = &mut self.seen(slot).error_told;
        if told.contains(&fault.kind) {
            return retry(fault);
        }
        told.push(fault.kind);
        self.note(slot, Decision::WakeActionable, reason.clone(), words::cannot_look(fault), now);
        Judged::bare(Decision::WakeActionable, reason)
    }

    /// Too many looks running were not whole.
    fn unseen(&mut self, slot: Slot, fault: Option<&Fault>, now: Ms) -> Option<Judged> {
        let count = self.seen(slot).unseen;
        if self.policy.max_errors.is_some_and(|most| count >= most) {
            let text = match fault {
                Some(fault) => words::ended(Reason::MAX_ERRORS.as_str(), fault),
                None => format!(" ended: {}", Reason::MAX_ERRORS),
            };
            return Some(self.end(
                slot,
                (Decision::StopBlocked, Reason::MAX_ERRORS),
                text,
                &[],
                now,
            ));
        }
        let most = if self.unwritable { 1 } else { BLIND };
        (count >= most)
            .then(|| self.blind(slot, words::not_seen(&words::looks(count), fault), now))
            .flatten()
    }

    /// Nobody has been asked for long.
    fn only_skipped(&mut self, slot: Slot, fault: &Fault, now: Ms) -> Option<Judged> {
        let since = self.seen(slot).skipped.unwrap_or(now);
        let span = if since > now { Ms::MAX } else { now - since };
        if span < self.policy.max_wait {
            return None;
        }
        self.blind(slot, words::not_seen(&words::span(span), Some(fault)), now)
    }

    /// Tells once that the subject is not seen.
    fn blind(&mut self, slot: Slot, text: String, now: Ms) -> Option<Judged> {
        if std::mem::replace(&mut self.seen(slot).blind, true) {
            return None;
        }
        self.note(slot, Decision::WakeActionable, Reason::BLIND, text, now);
        Some(Judged::bare(Decision::WakeActionable, Reason::BLIND))
    }

    pub(super) fn seen(&mut self, slot: Slot) -> &mut Seen {
        self.state.records.record_mut(slot).seen.get_or_insert_default()
    }
}

fn retry(fault: &Fault) -> Judged {
    Judged::bare(Decision::RetryProvider, Reason::fault(fault.kind))
}

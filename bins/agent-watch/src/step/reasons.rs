//! What can't be seen of an item, each reason told once and its end once.

use std::time::Duration;

use super::Pass;
use crate::event::What;

impl Pass<'_> {
    /// `reason` holds, which is told once it did for `grace`; or it no longer does.
    pub(super) fn wait_to_degrade(&mut self, reason: &'static str, holds: bool, grace: Duration) {
        if !holds {
            self.item.pending.remove(reason);
            self.restore(reason, "evidence");
            return;
        }
        let due = *self.item.pending.entry(reason).or_insert(self.t + grace);
        if self.config.once || self.t >= due {
            self.degrade(reason);
        }
    }

    fn degrade(&mut self, reason: &'static str) {
        let (raised, count) = self.item.reasons.entry(reason).or_insert((false, 0));
        if std::mem::replace(raised, true) {
            return;
        }
        *count += 1;
        let mark = format!("{reason}\u{1f}{count}");
        self.say("item_degraded", What::Reason { reason }, mark);
    }

    fn restore(&mut self, reason: &'static str, by: &'static str) {
        let Some((raised, count)) = self.item.reasons.get_mut(reason) else { return };
        if !std::mem::replace(raised, false) {
            return;
        }
        let mark = format!("{reason}\u{1f}{count}");
        self.say("item_restored", What::Restored { reason, by }, mark);
    }

    /// Clears all of them, since the item ends.
    pub(super) fn restore_all(&mut self) {
        let reasons: Vec<&'static str> = self.item.reasons.keys().copied().collect();
        for reason in reasons {
            self.restore(reason, "end");
        }
        self.item.pending.clear();
    }
}

//! What the command line asks for.

use super::Ms;

/// The most keys and records of a watch.
const KEYS: usize = 1_000_000;
const RECORDS: usize = 100_000;

/// The knobs of a run. All times are whole milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// How long an entry waits before its first telling.
    pub group_wait: Ms,
    /// The least time from a record's last wake with entries to its next one.
    pub group_interval: Ms,
    /// No entry waits longer than this.
    pub max_wait: Ms,
    /// How long a told key is masked.
    pub repeat_interval: Ms,
    /// Entries that reset on the revision also wait until nothing of the subject is pending.
    pub pending_gate: bool,
    /// How many lines may leave at once, 1 to 1000.
    pub burst: u32,
    /// How long one of them takes to come back; not 0.
    pub refill: Ms,
    /// What becomes of a condition that stays as it is.
    pub stall: Stall,
    /// How many equal looks make a stall at least.
    pub stall_looks: u64,
    /// How long they must have taken.
    pub stall_after: Ms,
    /// After so many quiet looks a turn is given all the same.
    pub floor: Option<u64>,
    /// A subject ends after so many looks in a row that did not see it whole.
    pub max_errors: Option<u64>,
    /// An error that cannot heal does not end its subject.
    pub keep_going: bool,
    /// How long the watch may last, from its creation.
    pub max_lifetime: Option<Ms>,
    /// How many lines it may print, the last one not counted.
    pub max_wakes: Option<u64>,
    /// How many tokens its readers may spend.
    pub max_tokens: Option<u64>,
    /// Lines are acknowledged; none follows before that.
    pub acks: Option<Acks>,
    /// The most keys that are remembered.
    pub keys: usize,
    /// The most records.
    pub records: usize,
}

/// What a condition that stays as it is leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stall {
    /// One line that says so.
    Warn,
    /// The end of the subject.
    Stop,
    /// Nothing.
    Off,
}

/// How acknowledgements are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acks {
    /// Without a word for so long a claim ends unconfirmed.
    pub timeout: Ms,
    /// When a busy reader gets its line again.
    pub busy_retry: Ms,
}

impl Default for Acks {
    fn default() -> Self {
        Self { timeout: 7_260_000, busy_retry: 15_000 }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            group_wait: 0,
            group_interval: 240_000,
            max_wait: 1_800_000,
            repeat_interval: 6 * 3_600_000,
            pending_gate: true,
            burst: 10,
            refill: 2_000,
            stall: Stall::Warn,
            stall_looks: 12,
            stall_after: 1_800_000,
            floor: None,
            max_errors: None,
            keep_going: false,
            max_lifetime: None,
            max_wakes: None,
            max_tokens: None,
            acks: None,
            keys: KEYS,
            records: RECORDS,
        }
    }
}

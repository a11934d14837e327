//! Everything that is true at one moment.

use idempotency_core::{EpochMillis, ExecutionId, Record};

use super::{Attempt, attempt::Write, seconds, work::Beside};

/// Everything that is true at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The true time, in seconds.
    pub now: i64,
    /// What the table holds.
    pub stored: Stored,
    /// The attempts.
    pub attempts: Vec<Attempt>,
    /// Writes whose senders have given up on them and that may still arrive.
    pub late: Vec<Write>,
    /// In which generation each effect happened, in order.
    pub effects: Vec<ExecutionId>,
    /// The record as it ended, from then until it expires.
    pub ended: Option<Record>,
    /// What is and happened beside the record.
    pub beside: Beside,
    /// What must never happen and did.
    pub violations: Violations,
}

/// What the table holds under the key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stored {
    /// Nothing.
    Nothing,
    /// A record.
    Record(Record),
    /// A record that this version cannot read.
    Unreadable,
}

/// What must never happen and did, at some step before this state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Violations {
    /// I4: a record changed after its end and before it expired.
    pub changed_after_end: bool,
    /// I5: an end was written over a record that was not its writer's in flight.
    pub ended_foreign: bool,
    /// I6: a claim was told that its own record is in its way.
    pub blocked_by_itself: bool,
    /// I7: an attempt that did not own the key had written.
    pub wrote_in_silence: bool,
    /// I8: a lease did not reach beyond the deadline and its margin, or an expiry not beyond the lease.
    pub short_lease: bool,
    /// I9: an epoch did not grow.
    pub epoch_not_grown: bool,
    /// I11: an unreadable record was overwritten.
    pub unreadable_lost: bool,
    /// A replay, resume or takeover was told to another request than the record's.
    pub mixed_requests: bool,
    /// A stuck record was changed before it expired.
    pub stuck_left: bool,
    /// A handler began in a generation whose steps were being undone.
    pub ran_after_failure: bool,
    /// A step was called in a generation whose steps were being undone.
    pub called_after_failure: bool,
    /// A step was called whose stored output somebody knew.
    pub called_again: bool,
    /// A step was undone before it was stored that the operation failed.
    pub undone_in_silence: bool,
    /// A step was undone that somebody knew to be undone.
    pub undone_again: bool,
    /// A step was undone before one that came after it.
    pub undone_out_of_order: bool,
}

impl State {
    pub(super) fn new(attempts: usize) -> Self {
        Self {
            now: 0,
            stored: Stored::Nothing,
            attempts: vec![Attempt::idle(); attempts],
            late: Vec::new(),
            effects: Vec::new(),
            ended: None,
            beside: Beside::default(),
            violations: Violations::default(),
        }
    }

    /// The true time.
    pub(super) fn time(&self) -> EpochMillis {
        seconds(self.now)
    }

    /// The time by an attempt's clock.
    pub(super) fn local_time(&self, attempt: usize) -> EpochMillis {
        let skew = self.attempts.get(attempt).map_or(0, |attempt| attempt.skew);
        seconds(self.now + skew)
    }
}

//! One attempt at the key.

use idempotency_core::{EpochMillis, EpochSeconds, Record, Version};

use super::work::Row;

/// One attempt at the key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    /// How far its clock is ahead of the true time, in seconds.
    pub skew: i64,
    /// When the platform ends it, in true seconds.
    pub deadline: i64,
    /// Where it stands.
    pub phase: Phase,
    /// Whether its effect has happened.
    pub effect: bool,
    /// Whether a write of its was applied.
    pub wrote: bool,
    /// Whether its client has sent the current write a second time.
    pub sent_twice: bool,
    /// Whether it has waited for another attempt.
    pub waited: bool,
    /// Whether it has looked before its claim.
    pub looked: bool,
    /// The next step of its handler.
    pub place: u8,
    /// The rows of earlier attempts, once it has read them.
    pub rows: Option<Vec<Row>>,
    /// The steps that it has still to undo, in order: the last one first.
    pub left: Vec<u8>,
    /// When the record that it planned first would have expired, if it claims nothing.
    pub forgotten_at: Option<EpochSeconds>,
}

/// Where an attempt stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It has not begun.
    Idle,
    /// It waits for the answer to a claim.
    Claiming(Write),
    /// It waits for the attempt whose record this is.
    Waiting(Record),
    /// It asks the outside world what became of the effect of the lost attempt whose record was observed.
    Probing {
        /// The record observed.
        observed: Version,
        /// The record to write in its place.
        record: Record,
    },
    /// Its handler runs.
    Running {
        /// Its record as it was claimed.
        record: Record,
        /// Whether a reply has shown its record in the store.
        proven: bool,
    },
    /// Its handler runs without a claim.
    Drafting {
        /// The record that it would write.
        record: Record,
        /// What it would write it over.
        observed: Option<Version>,
    },
    /// It has called a step, or its undo, and waits for the answer to the row that says so.
    Keeping {
        /// Its record.
        record: Record,
        /// The row.
        row: Row,
    },
    /// Its operation failed for good, in this attempt or an earlier one, and it has to read which steps are to be undone.
    Looking(Record),
    /// It undoes steps.
    Undoing(Record),
    /// It waits for the answer to its end.
    Ending(Write),
    /// Its claim was not answered; it waits for the answer to the release of what may be stored.
    GivingUp(Write),
    /// It has answered.
    Told(Told),
    /// Its process has died, or was killed, or its handler gave up without a word.
    Lost,
}

/// What an attempt told its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    /// Its own result; the end is stored.
    Ended,
    /// Its own result; nobody knows whether the end is stored, or the record was deleted.
    Unconfirmed,
    /// That another attempt took over.
    Superseded,
    /// The stored result.
    Replay,
    /// To come again.
    Conflict,
    /// That the key was used with another request.
    Mismatch,
    /// That nobody knows.
    Uncertain,
    /// That nothing happened and the request may be repeated.
    NotDone,
    /// That the operation failed and is being undone.
    Later,
    /// That the operation failed and cannot be undone.
    Stuck,
    /// That the store gave no usable answer.
    StoreError,
}

/// A conditional write on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// Which attempt sent it.
    pub by: usize,
    /// What must be stored for it to be applied: this, or nothing.
    pub expected: Option<Version>,
    /// What it writes.
    pub record: Record,
    /// What it is for.
    pub kind: WriteKind,
}

/// What a write is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteKind {
    /// To claim the key.
    Claim,
    /// To end its writer's own claim.
    End,
    /// To end a lost attempt's claim, whose effect has been found.
    FoundEnd,
    /// To say of its writer's own claim that its steps are being undone.
    Start,
    /// To leave the undoing of its writer's own claim to the next attempt.
    Leave,
    /// To end an operation that nobody has claimed.
    Commit,
}

impl Attempt {
    pub(super) fn idle() -> Self {
        Self {
            skew: 0,
            deadline: 0,
            phase: Phase::Idle,
            effect: false,
            wrote: false,
            sent_twice: false,
            waited: false,
            looked: false,
            place: 0,
            rows: None,
            left: Vec::new(),
            forgotten_at: None,
        }
    }

    /// Whether the request that it has not claimed is forgotten by now.
    pub(super) fn is_forgotten(&self, now: EpochMillis) -> bool {
        self.forgotten_at.is_some_and(|at| now >= at.to_millis())
    }

    /// Whether its process may still do something.
    pub(super) fn is_alive(&self) -> bool {
        !matches!(self.phase, Phase::Idle | Phase::Told(_) | Phase::Lost)
    }
}

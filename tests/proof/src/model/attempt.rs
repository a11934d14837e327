//! One attempt at the key.

use idempotency_core::{Record, Version};

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
        }
    }

    /// Whether its process may still do something.
    pub(super) fn is_alive(&self) -> bool {
        !matches!(self.phase, Phase::Idle | Phase::Told(_) | Phase::Lost)
    }
}

//! The claim handle: the right, and the duty, to end what was begun.

use crate::{Attempt, ExecutionId, Record, Status, StoredResult, Version};

/// The proof that this attempt owns its key.
///
/// Only [`Engine::claim`](crate::Engine::claim) makes one, from a reply that shows the stored record under this claim's
/// token, and it is consumed by `complete`, `fail` or `release`. It carries key, fingerprint, token and epoch, so that
/// nothing is derived again after the handler ran. Dropping it leaves the record in flight until its lease is over: the
/// attempt counts as abandoned.
#[derive(Debug)]
#[must_use = "a dropped claim counts as abandoned; complete, fail or release it"]
pub struct Claim {
    attempt: Attempt,
    record: Record,
    /// What must be stored for this claim to end.
    expected: Version,
}

/// A lost attempt's key, under [`OnAbandoned::Probe`](crate::OnAbandoned::Probe): the right to say what became of its effect.
///
/// Nothing is written yet, so dropping it changes nothing. What is said takes the place of exactly the record that was
/// observed; if another attempt has been quicker, its word counts.
#[derive(Debug)]
pub struct Abandoned(Claim);

impl Claim {
    pub(crate) const fn new(attempt: Attempt, record: Record) -> Self {
        let expected = record.version();
        Self { attempt, record, expected }
    }

    /// What the handler sees of this claim.
    pub const fn attempt(&self) -> &Attempt {
        &self.attempt
    }

    /// The record as this claim wrote it.
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// What must be stored for this claim to end: its own record, in flight.
    pub(crate) const fn expected(&self) -> Version {
        self.expected
    }

    /// The record that ends this claim.
    pub(crate) fn ended(&self, status: Status, result: Option<StoredResult>) -> Record {
        Record { status, result, ..self.record.clone() }
    }
}

impl Abandoned {
    pub(crate) const fn new(attempt: Attempt, record: Record, observed: Version) -> Self {
        Self(Claim { attempt, record, expected: observed })
    }

    /// The attempt that would follow the lost one. Its key and step keys are those of the lost one.
    pub const fn attempt(&self) -> &Attempt {
        &self.0.attempt
    }

    /// The generation that the lost attempt belongs to.
    pub const fn execution(&self) -> ExecutionId {
        self.0.record.execution
    }

    /// The effect happened: complete this claim with its result. It takes the place of the record observed.
    pub fn happened(self) -> Claim {
        self.0
    }

    pub(crate) fn into_parts(self) -> (Attempt, Record, Version) {
        (self.0.attempt, self.0.record, self.0.expected)
    }
}

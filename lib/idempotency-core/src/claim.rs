//! The claim handle: the right, and the duty, to end what was begun.

use crate::{Attempt, Record, Status, StoredResult, Version};

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
}

impl Claim {
    pub(crate) const fn new(attempt: Attempt, record: Record) -> Self {
        Self { attempt, record }
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
        self.record.version()
    }

    /// The record that ends this claim.
    pub(crate) fn ended(&self, status: Status, result: Option<StoredResult>) -> Record {
        Record { status, result, ..self.record.clone() }
    }
}

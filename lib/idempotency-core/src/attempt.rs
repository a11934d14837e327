//! What a handler sees of its claim.

use std::{fmt, sync::Arc, time::Duration};

use crate::{AttemptNumber, Clock, Epoch, EpochMillis, IdempotencyKey, Operation, RecordKey, Scope};

/// What a handler sees of its claim: the key to pass on, which attempt this is, and how much time is left.
#[derive(Clone)]
pub struct Attempt {
    pub(crate) operation: Operation,
    pub(crate) scope: Scope,
    pub(crate) key: IdempotencyKey,
    pub(crate) record_key: RecordKey,
    pub(crate) epoch: Epoch,
    pub(crate) number: AttemptNumber,
    pub(crate) deadline: EpochMillis,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Attempt {
    /// The operation.
    pub const fn operation(&self) -> &Operation {
        &self.operation
    }

    /// The tenant or caller that the key belongs to.
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The caller's key, the same on every attempt. Pass it on unchanged to a callee that honours idempotency keys and
    /// keeps them apart by account as you do by scope; else use [`step_key`](Self::step_key).
    pub const fn key(&self) -> &IdempotencyKey {
        &self.key
    }

    /// A key for one named call below this operation: the same on every attempt, another for every name, and never equal
    /// to one of another scope or operation. 43 characters of URL-safe base64.
    pub fn step_key(&self, name: &str) -> String {
        self.record_key.step_key(name)
    }

    /// The fencing number: a callee that remembers the highest one it saw can refuse a zombie.
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Which attempt this is, from 1. Never make it part of a key.
    pub const fn number(&self) -> AttemptNumber {
        self.number
    }

    /// How much time is left before the platform ends this attempt; zero when it should have ended.
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_since(self.clock.now())
    }
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("operation", &self.operation)
            .field("record_key", &self.record_key)
            .field("epoch", &self.epoch)
            .field("number", &self.number)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

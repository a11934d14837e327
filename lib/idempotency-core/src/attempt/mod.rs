//! What a handler sees of its claim.

mod desk;
mod effects;
mod memo;
mod once;
mod step;
mod step_error;
mod undo;
mod value;

use std::{fmt, sync::Arc, time::Duration};

pub(crate) use self::{
    desk::{Desk, Kept, NewRow},
    effects::{DoneStep, Effects},
    once::Marker,
};
pub use self::{
    step_error::StepError,
    undo::{Undo, Undone},
};
use crate::{
    AttemptNumber, Clock, Effect, Epoch, EpochMillis, Event, EventId, IdempotencyKey, Namespace, Operation,
    OutboxEntry, RecordKey, Scope, StageError, TableWrite,
};

/// What a handler sees of its claim: the key to pass on, which attempt this is, and how much time is left; and the ways to make more
/// than one effect one.
///
/// | for | use |
/// |---|---|
/// | writes to DynamoDB | [`stage`](Self::stage): they commit with the operation's result |
/// | an event that tells of the effect | [`publish`](Self::publish): it commits with the result, and a relay sends it |
/// | a call among several | [`step`](Self::step): later attempts read its output |
/// | a call to be taken back when the operation fails | [`step_with_undo`](Self::step_with_undo) |
/// | a call that gives something else each time | [`memo`](Self::memo): later attempts get what it gave first |
/// | a call that several requests ask for | [`once`](Self::once) |
///
/// Copies share what was staged and done.
#[derive(Clone)]
pub struct Attempt {
    pub(crate) namespace: Namespace,
    pub(crate) operation: Operation,
    pub(crate) scope: Scope,
    pub(crate) key: IdempotencyKey,
    pub(crate) record_key: RecordKey,
    pub(crate) epoch: Epoch,
    pub(crate) number: AttemptNumber,
    pub(crate) deadline: EpochMillis,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) effects: Arc<Effects>,
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

    /// Where this operation's record stands: the same on every attempt. Kept with an effect, it says under which record the effect was
    /// done, and shows duplicates; `functions/reconcile` compares both every night.
    pub const fn record(&self) -> &RecordKey {
        &self.record_key
    }

    /// The caller's key, the same on every attempt. Pass it on unchanged to a callee that honours idempotency keys and
    /// keeps them apart by account as you do by scope; else use [`step_key`](Self::step_key).
    pub const fn key(&self) -> &IdempotencyKey {
        &self.key
    }

    /// A key for one named call below this operation: the same on every attempt, another for every name, and never equal
    /// to one of another scope or operation. Where the claim found an expired record under the key, its generation has step keys of its
    /// own. 43 characters of URL-safe base64.
    pub fn step_key(&self, name: &str) -> String {
        self.record_key.step_key(name, self.effects.renewed())
    }

    /// The fencing number: a callee that remembers the highest one it saw can refuse a zombie.
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Which attempt this is, from 1. Never make it part of a key.
    pub const fn number(&self) -> AttemptNumber {
        self.number
    }

    /// Stages a write, which commits with the operation's result, in one transaction, or not at all: not when the handler returns an
    /// error, and not when another attempt has been quicker. Makes no request.
    ///
    /// If the write's condition does not hold at the end, nothing commits, and the handler's error type says what that means
    /// (`refused` of its classification).
    ///
    /// # Errors
    ///
    /// [`StageError`] when the write is too large, or has too many others beside it. Nothing is staged by this call then.
    ///
    /// ```
    /// # use idempotency_core::{Attempt, StageError, TableWrite};
    /// # use serde_json::json;
    /// fn transfer(attempt: &Attempt) -> Result<(), StageError> {
    ///     let debit = TableWrite::increment("accounts", json!({ "id": "a-1" }), "balance", -500)?;
    ///     attempt.stage(debit.only_if("balance >= :amount").value(":amount", 500)?)?;
    ///     attempt.stage(TableWrite::increment("accounts", json!({ "id": "a-2" }), "balance", 500)?)
    /// }
    /// ```
    pub fn stage(&self, write: TableWrite) -> Result<(), StageError> {
        self.effects.staged().stage(Effect::Table(write))
    }

    /// Publishes an event once the operation has taken effect: its entry commits with the operation's result as what is
    /// [staged](Self::stage) does, and the relay (`functions/outbox-relay`) sends it, at least once, under the id given back. Makes no
    /// request.
    ///
    /// # Errors
    ///
    /// As for [`stage`](Self::stage).
    ///
    /// ```
    /// # use idempotency_core::{Attempt, Event};
    /// # use serde_json::json;
    /// fn ordered(attempt: &Attempt) -> Result<(), Box<dyn std::error::Error>> {
    ///     attempt.publish(Event::eventbridge("com.example.orders", "OrderPlaced", &json!({ "order": 42 }))?)?;
    ///     Ok(())
    /// }
    /// ```
    pub fn publish(&self, event: Event) -> Result<EventId, StageError> {
        let now = self.clock.now();
        let expires_at = self.effects.events_expire_at(now);
        let mut staged = self.effects.staged();
        let ordinal = u32::try_from(staged.events()).map_err(|_| StageError::TooMany)?;
        let entry = OutboxEntry::new(&self.record_key, self.effects.execution, ordinal, event, now, expires_at);
        let id = entry.id.clone();
        staged.stage(Effect::Event(entry))?;
        Ok(id)
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

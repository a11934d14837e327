//! Undoing what the steps of an operation did that failed for good.

use std::{error::Error, future::Future, time::Duration};

use super::{ClaimError, Completion, Engine, Outcome, Replay};
use crate::{
    Attempt, AttemptNumber, Claim, EpochSeconds, Record, Row, Status, Store, StoredResult, Undo, Undone, Version,
    Window, attempt::DoneStep, decide::forget_at,
};

/// What became of an operation that failed for good and had done something before.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum Compensated {
    /// All of it is undone, and the failure is stored. `failure` is what it says.
    Failed {
        /// How the claim ended.
        completion: Completion,
        /// The failure, as it is stored; `None` where it is not known here whether it could be.
        failure: Option<Replay>,
    },
    /// Something could not be undone now. The next request with the same key goes on with it.
    Later,
    /// Something could not be undone. An operator must act.
    Stuck,
    /// Another attempt has taken the key over.
    Ended(Completion),
}

/// How the undoing of steps ended.
enum Undoing {
    Done,
    Later,
    Failed,
}

impl<S: Store> Engine<S> {
    /// Ends a claim whose operation failed for good, and undoes its steps that have an undo, the last one first.
    ///
    /// That it is being undone is stored before anything is, with the failure; each step that was undone is stored too. So an attempt
    /// that is lost in between is followed by one that goes on. Without such a step this is [`fail`](Self::fail).
    ///
    /// It is for operations that have nothing that undoes, too: where the rows that the attempt has read tell of a step with an undo, of a
    /// deployment before, `undo` says with an error that an operator must act.
    ///
    /// Dropping the future leaves the rest to the next request after the lease is over.
    pub async fn compensate<F>(&self, claim: Claim, outcome: Outcome, undo: impl Fn(Undo) -> F) -> Compensated
    where
        F: Future<Output = Result<Undone, Box<dyn Error + Send + Sync>>>,
    {
        let (effects, policy) = (&claim.attempt().effects, &claim.attempt().effects.policy);
        let steps = match effects.to_undo(claim.attempt(), policy.undoes()).await {
            Ok(steps) => steps,
            // Nothing is decided: the attempt counts as abandoned, and the next one reads its steps again.
            Err(error) => {
                tracing::error!(record = %claim.record().key, error = &error as &dyn Error, "the steps to be undone could not be read");
                return Compensated::Later;
            }
        };
        if steps.is_empty() {
            let completion = self.fail(claim, outcome).await;
            return Compensated::Failed { completion, failure: None };
        }
        let within = self.pauses_until_completion(claim.attempt().deadline).left() / 2;
        let result = self.prepare(&self.for_long(claim.record()), &outcome, within).await;
        let expires_at = self.long(claim.record());
        let compensating = Record { status: Status::Compensating, result, expires_at, ..claim.record().clone() };
        self.keep_rows_together(&claim).await;
        let has_open_steps = claim.attempt().effects.has_open_steps();
        let operation = claim.attempt().operation().clone();
        match self.write_over(claim, compensating).await {
            // A call that was dropped on its way, as by `try_join!`, may still arrive where it was sent. When the lease is over it has, or
            // never will.
            Ok(claim) if has_open_steps => {
                tracing::warn!(record = %claim.record().key, operation = %claim.attempt().operation(), "CompensationPending: a step was dropped on its way; the next request after the lease goes on undoing");
                Compensated::Later
            }
            Ok(claim) => self.undo_all(claim, steps, undo).await,
            Err(completion @ Completion::Vanished) => {
                crate::telemetry::compensation_lost(&operation);
                tracing::error!(steps = ?names(&steps), "CompensationLost: the record was deleted while its attempt ran, and another generation has begun: nothing was undone");
                Compensated::Ended(completion)
            }
            Err(completion) => unwritten(completion),
        }
    }

    /// Goes on undoing what a lost attempt had begun to undo, and ends the claim.
    ///
    /// Dropping the future leaves the rest to the next request after the lease is over.
    pub async fn resume_compensation<F>(&self, claim: Claim, undo: impl Fn(Undo) -> F) -> Compensated
    where
        F: Future<Output = Result<Undone, Box<dyn Error + Send + Sync>>>,
    {
        match claim.attempt().effects.to_undo(claim.attempt(), true).await {
            Ok(_) if claim.attempt().effects.has_lost_rows(self.now()) => {
                tracing::error!(record = %claim.record().key, "rows that tell what is to be undone have expired");
                self.stuck(claim).await
            }
            Ok(steps) => self.undo_all(claim, steps, undo).await,
            Err(error) => {
                tracing::error!(record = %claim.record().key, error = &error as &dyn Error, "the steps to be undone could not be read");
                self.leave(claim).await
            }
        }
    }

    /// Undoes the steps of an attempt without a claim that failed for good, if nobody else has its key
    /// ([`keyless_attempt`](Self::keyless_attempt)), and stores nothing. Gives whether nothing is left to be undone.
    ///
    /// Under a key that the caller brought, nothing is undone. Others may have run with it, before and beside, and their steps have the
    /// same keys: a callee that honours them has answered what it did for another one, whose operation may have succeeded. The log says
    /// `CompensationLost` then, with the names of the steps.
    ///
    /// Dropping the future leaves the rest as it is: nothing protects such an attempt.
    pub async fn undo_unprotected<F>(&self, attempt: &Attempt, undo: impl Fn(Undo) -> F) -> bool
    where
        F: Future<Output = Result<Undone, Box<dyn Error + Send + Sync>>>,
    {
        let steps = attempt.effects.to_undo(attempt, true).await.unwrap_or_default();
        if steps.is_empty() || attempt.effects.is_alone() {
            return matches!(self.undo_steps(attempt, steps, undo).await, Undoing::Done);
        }
        crate::telemetry::compensation_lost(&attempt.operation);
        tracing::error!(record = %attempt.record_key, operation = %attempt.operation, steps = ?names(&steps), "CompensationLost: an attempt that nothing protects failed for good, and what its steps did stays done: its key may be that of another one that succeeded");
        false
    }

    async fn undo_all<F>(&self, claim: Claim, steps: Vec<DoneStep>, undo: impl Fn(Undo) -> F) -> Compensated
    where
        F: Future<Output = Result<Undone, Box<dyn Error + Send + Sync>>>,
    {
        // Nothing commits with a failure, so what an undo stages is refused.
        claim.attempt().effects.staged().take();
        match self.undo_steps(claim.attempt(), steps, undo).await {
            Undoing::Done => {
                let within = self.timeouts.for_call(claim.attempt().deadline, self.now());
                let failure = Box::pin(self.replay(claim.record().clone(), within)).await.ok();
                let record = claim.record();
                let expires_at = forget_at(record.lease_until, self.now(), &claim.attempt().effects.policy);
                let failed = Record { status: Status::Failed, expires_at, ..record.clone() };
                let completion = match self.write_over(claim, failed).await {
                    Ok(_) => Completion::Stored,
                    Err(completion) => completion,
                };
                Compensated::Failed { completion, failure }
            }
            Undoing::Later => {
                self.keep_rows_long(&claim).await;
                self.leave(claim).await
            }
            Undoing::Failed => {
                self.keep_rows_long(&claim).await;
                self.stuck(claim).await
            }
        }
    }

    /// Ends the lease of a claim that is to be gone on with, if the store answers; else its time ends it.
    async fn leave(&self, claim: Claim) -> Compensated {
        let left = claim.record().left(self.now());
        tracing::warn!(record = %left.key, operation = %claim.attempt().operation(), "CompensationPending: the next request with this key goes on undoing");
        let _ = self.write_over(claim, left).await;
        Compensated::Later
    }

    /// Leaves a claim to an operator.
    async fn stuck(&self, claim: Claim) -> Compensated {
        let stuck = Record { status: Status::Stuck, expires_at: self.long(claim.record()), ..claim.record().clone() };
        tracing::error!(record = %stuck.key, operation = %claim.attempt().operation(), "CompensationStuck: an operator must act");
        match self.write_over(claim, stuck).await {
            Ok(_) => Compensated::Stuck,
            Err(completion) => unwritten(completion),
        }
    }

    /// Until when a record is kept whose steps are not undone: what must be done or seen is not forgotten with the window.
    fn long(&self, record: &Record) -> EpochSeconds {
        (self.now() + Window::MAX_STORAGE_TTL).ceil_seconds().max(record.expires_at)
    }

    /// The record as it is for what is stored beside it: kept at least as long as one that becomes stuck in this attempt.
    fn for_long(&self, record: &Record) -> Record {
        Record { expires_at: Row::expires_beside(self.long(record)), ..record.clone() }
    }

    /// Keeps what tells which steps are left as long as the record.
    async fn keep_rows_long(&self, claim: &Claim) {
        let least = self.long(claim.record());
        self.keep_rows(claim, least, Row::expires_beside(least)).await;
    }

    /// Lets all rows of a generation that has several attempts expire at one time, so that one that is left tells of all. Those of a
    /// first attempt do.
    async fn keep_rows_together(&self, claim: &Claim) {
        if claim.record().attempt != AttemptNumber::FIRST {
            let until = Row::expires_beside(claim.record().expires_at);
            self.keep_rows(claim, until, until).await;
        }
    }

    async fn keep_rows(&self, claim: &Claim, least: EpochSeconds, until: EpochSeconds) {
        let (record, deadline) = (claim.record(), claim.attempt().deadline);
        let rows = self.rows_with_values(&record.key, record.execution, least, until, deadline);
        if let Err(error) = Box::pin(rows).await {
            tracing::error!(record = %record.key, error = &error as &dyn Error, "the rows of what is to be undone are not kept for longer than the window");
        }
    }

    async fn undo_steps<F>(&self, attempt: &Attempt, steps: Vec<DoneStep>, undo: impl Fn(Undo) -> F) -> Undoing
    where
        F: Future<Output = Result<Undone, Box<dyn Error + Send + Sync>>>,
    {
        for step in steps {
            // Another attempt may be at it.
            if attempt.effects.is_overdue() {
                return Undoing::Later;
            }
            let name = step.name.clone();
            match undo(Undo::new(attempt.clone(), step)).await {
                Ok(Undone::Done) => tracing::info!(operation = %attempt.operation, step = name, "a step was undone"),
                Ok(Undone::Later) => return Undoing::Later,
                Err(error) => {
                    let error = error.as_ref() as &dyn Error;
                    tracing::error!(operation = %attempt.operation, step = name, error, "a step could not be undone");
                    return Undoing::Failed;
                }
            }
            if let Err(error) = attempt.keep_undone(&name).await {
                tracing::error!(operation = %attempt.operation, step = name, error = &error as &dyn Error, "a step was undone, which could not be stored");
                return Undoing::Later;
            }
        }
        Undoing::Done
    }

    /// The record that takes the place of `from`, with the failure that stands there, if one does. A large one's parts stand under their owner, so
    /// they are written again for the next one.
    pub(super) async fn with_parts(
        &self,
        from: Version,
        record: Record,
        within: Duration,
    ) -> Result<Record, ClaimError> {
        let Some(failure @ StoredResult::Parts(_)) = &record.result else { return Ok(record) };
        let result = match self.decoded(&record.key, from.owner, failure, within).await {
            // What the failure says is not given up for a request that got lost: another attempt will write it.
            Ok(failure) => {
                let to_be = self.for_long(&record);
                Some(self.stored(&to_be.key, to_be.owner, to_be.expires_at, &failure, within).await?)
            }
            // It is lost. Undoing goes on all the same, and the replay says that its text is missing.
            Err(ClaimError::Result(_)) => None,
            Err(error) => return Err(error),
        };
        Ok(Record { result, ..record })
    }

    /// Writes another record over the claim's own; where that was deleted meanwhile, in its place, for somebody must see what is left to
    /// be undone.
    async fn write_over(&self, claim: Claim, record: Record) -> Result<Claim, Completion> {
        let next = record.clone();
        match Box::pin(self.end_as(&claim, record)).await {
            Completion::Stored => return Ok(claim.wrote(next)),
            Completion::Vanished => {}
            completion => return Err(completion),
        }
        let anew = claim.over(next.clone(), None);
        match Box::pin(self.end_as(&anew, next.clone())).await {
            Completion::Stored => Ok(anew.wrote(next)),
            completion => Err(completion),
        }
    }
}

fn names(steps: &[DoneStep]) -> Vec<&str> {
    steps.iter().map(|step| step.name.as_str()).collect()
}

/// What it means that undoing could not be begun or ended in the record.
fn unwritten(completion: Completion) -> Compensated {
    match completion {
        // The next request finds the record as it was, or as it was to be.
        Completion::Unconfirmed | Completion::Uncommitted => Compensated::Later,
        completion => Compensated::Ended(completion),
    }
}

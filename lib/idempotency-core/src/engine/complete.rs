//! After the effect: how a claim ends.

use std::time::Duration;

use tokio::time::Instant;
use tracing::{Instrument, Span};

use super::{Claimed, Engine, Outcome, Replay, claim::ROUNDS, pauses::Pauses};
use crate::{
    Claim, Committed, Decision, Effect, EndConflict, Record, Refused, Status, Store, StoreError, Write, Written,
    decide, explain_end,
};

/// What became of the end of a claim.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum Completion {
    /// The end is stored, and what was staged is.
    Stored,
    /// Another attempt took the key over. Its result, if it has one, is the operation's result. Nothing of what was staged is written.
    Superseded(Option<Replay>),
    /// The record was deleted while the attempt ran. Nothing was written: half a record would be worse than none. What happened
    /// outside the transaction stands.
    Vanished,
    /// Nobody knows whether the end is stored. The effect stands; an error to the caller would invite a second one. Only where nothing
    /// was staged.
    Unconfirmed,
    /// What was staged is not known to be written, and nothing else says that the operation took effect: the caller repeats the
    /// request with the same key.
    Uncommitted,
    /// The store refuses for good what was staged: it is known that nothing of it was written, and the same again would be refused again.
    /// Under [`OnAbandoned::Rerun`](crate::OnAbandoned::Rerun) the key is free; else it counts as abandoned when its lease is over, for the
    /// handler may have had effects besides.
    CommitRefused,
    /// The condition of a staged write did not hold, so nothing of it was written. The claim stands and is still to be ended.
    Refused(Box<Refusal>),
    /// An atomic claim came too late: this is what its request gets instead.
    Instead(Box<Claimed>),
}

/// A claim that did not commit because the condition of a staged write did not hold.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The claim, to be failed or released.
    pub claim: Claim,
    /// The write.
    pub refused: Refused,
}

/// What became of writes that were staged by an attempt without a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Applied {
    /// They are stored, all of them, or there were none.
    Stored,
    /// The condition of one did not hold, so nothing was written.
    Refused(Refused),
    /// The store refuses them for good: nothing was written.
    CommitRefused,
    /// Nobody knows.
    Unknown,
}

impl<S: Store> Engine<S> {
    /// Ends a claim whose effect happened, with its result, and commits with it what the attempt staged. For a claim by
    /// [`Abandoned::happened`](crate::Abandoned::happened), and for an atomic one, this is the first write.
    ///
    /// Repeats while the store gives no answer and time is left. Dropping the future may leave the record in flight; the
    /// attempt then counts as abandoned, although its effect happened.
    pub async fn complete(&self, claim: Claim, outcome: Outcome) -> Completion {
        if claim.attempt().effects.has_open_steps() {
            tracing::warn!(record = %claim.record().key, operation = %claim.attempt().operation(), "the operation has a result although a step with an undo was dropped on its way: nobody knows whether that call was made");
        }
        let span = end_span(&claim, Status::Completed);
        Box::pin(self.end(claim, Status::Completed, Some(outcome)).instrument(span)).await
    }

    /// Ends a claim whose operation failed for good, with the failure to replay. What the attempt staged is forgotten. What its steps
    /// did is not undone: see [`compensate`](Self::compensate).
    ///
    /// Repeats and drops like [`complete`](Self::complete).
    pub async fn fail(&self, claim: Claim, outcome: Outcome) -> Completion {
        let span = end_span(&claim, Status::Failed);
        Box::pin(self.end(claim, Status::Failed, Some(outcome)).instrument(span)).await
    }

    /// Ends a claim whose effect did not happen, so that the next attempt may claim at once. What the attempt staged is forgotten. An
    /// atomic claim has nothing to release: one read tells whether another attempt has committed meanwhile.
    ///
    /// Repeats and drops like [`complete`](Self::complete).
    pub async fn release(&self, claim: Claim) -> Completion {
        match claim.asks() {
            Some(_) => Box::pin(self.look_for_another(claim)).await,
            None => {
                let span = end_span(&claim, Status::Released);
                Box::pin(self.end(claim, Status::Released, None).instrument(span)).await
            }
        }
    }

    /// Leaves a claim of whose effect nobody knows whether it happened: the attempt counts as abandoned when its lease is over. Of an
    /// atomic claim it is known that nothing has happened.
    ///
    /// Dropping the future is no less.
    pub async fn abandon(&self, claim: Claim) -> Completion {
        match claim.asks() {
            Some(_) => self.release(claim).await,
            None => {
                claim.attempt().effects.staged().take();
                Completion::Stored
            }
        }
    }

    /// Writes what an attempt without a claim has staged, all of it or nothing. Without anything staged no request is made.
    ///
    /// Repeats while the store is throttled or another transaction is in the way. A call without an answer is not repeated beyond what
    /// the store does by itself: nothing tells whether it was applied. (If the store's own repetition of such a call is throttled, this
    /// repeats it, and it may be written twice: no record stands in the way here.) Dropping the future may leave all of it written.
    pub async fn apply(&self, attempt: &crate::Attempt) -> Applied {
        let effects = attempt.effects.staged().take();
        if effects.is_empty() {
            return Applied::Stored;
        }
        let mut pauses = self.pauses_until_completion(attempt.deadline);
        let mut is_known = true;
        loop {
            let within = self.timeouts.for_call(attempt.deadline, self.now()).min(pauses.left());
            let error = match Box::pin(self.store.commit(None, &effects, within)).await {
                Ok(Committed::EffectRefused { index, item }) => {
                    return Applied::Refused(Refused::new(label(&effects, index), item));
                }
                Ok(_) => return Applied::Stored,
                Err(error) => error,
            };
            is_known &= !error.is_transient();
            if !matches!(error, StoreError::Throttled(_)) || !pauses.pause(self.tokens.as_ref()).await {
                tracing::error!(operation = %attempt.operation, is_known, error = &error as &dyn std::error::Error, "staged writes are not stored, as far as it is known");
                return if is_known { Applied::CommitRefused } else { Applied::Unknown };
            }
        }
    }

    pub(super) fn pauses_until_completion(&self, deadline: crate::EpochMillis) -> Pauses {
        Pauses::until(Instant::now() + self.timeouts.for_completion(deadline, self.now()))
    }

    pub(super) async fn end(&self, mut claim: Claim, status: Status, outcome: Option<Outcome>) -> Completion {
        let deadline = claim.attempt().deadline;
        let mut pauses = self.pauses_until_completion(deadline);
        let mut effects = claim.attempt().effects.staged().take();
        if status != Status::Completed {
            effects.clear();
        }
        let result = match &outcome {
            None => claim.record().result.clone(),
            // Parts may take half of the time, so that the record itself is never left without any.
            Some(outcome) => self.prepare(claim.record(), outcome, pauses.left() / 2).await,
        };
        // A call without an answer may have been applied, whatever is said to the next.
        let mut is_known = true;
        let mut rounds = ROUNDS;
        let planned_until = claim.record().lease_until;
        loop {
            if claim.asks().is_some() && self.now() >= planned_until {
                // It was frozen, and its request may be forgotten: what it stored now could be expired as it is stored, and then the
                // effect would come again with the next transmission, or the next duplicate (found by the simulator).
                tracing::error!(record = %claim.record().key, "an attempt that has claimed nothing is too late to commit");
                return Completion::Uncommitted;
            }
            let write = claim.end(status, result.clone());
            let within = self.timeouts.for_call(deadline, self.now()).min(pauses.left());
            let error = match self.write_end(&write, &effects, within).await {
                Ok(Committed::Committed) => return Completion::Stored,
                Ok(Committed::Refused(stored)) => match self.refused(claim, write.record(), stored, within).await {
                    Ok(again) if rounds > 0 => {
                        (claim, rounds) = (again, rounds - 1);
                        continue;
                    }
                    Ok(_) => return Completion::Superseded(None),
                    // Where nothing was staged, the effect stands although its record is gone.
                    Err(Completion::Vanished) if !effects.is_empty() => return Completion::Uncommitted,
                    Err(completion) => return completion,
                },
                Ok(Committed::EffectRefused { index, item }) => {
                    let refused = Refused::new(label(&effects, index), item);
                    return Completion::Refused(Box::new(Refusal { claim, refused }));
                }
                Err(error) => error,
            };
            is_known &= !error.is_transient();
            if !error.is_transient() || !pauses.pause(self.tokens.as_ref()).await {
                let unstored = if is_known { Completion::CommitRefused } else { Completion::Uncommitted };
                return self.give_up_end(claim, status, !effects.is_empty(), error, unstored).await;
            }
        }
    }

    /// Writes `record` over a claim's own. Gives what [`complete`](Self::complete) does, without anything staged.
    pub(super) async fn end_as(&self, claim: &Claim, record: Record) -> Completion {
        let deadline = claim.attempt().deadline;
        let mut pauses = self.pauses_until_completion(deadline);
        let write = claim.write(record);
        loop {
            let within = self.timeouts.for_call(deadline, self.now()).min(pauses.left());
            let error = match self.write_end(&write, &[], within).await {
                Ok(Committed::Refused(stored)) => return self.explain(write.record(), stored, within).await,
                Ok(_) => return Completion::Stored,
                Err(error) => error,
            };
            if !error.is_transient() || !pauses.pause(self.tokens.as_ref()).await {
                let status = write.record().status;
                tracing::error!(record = %claim.record().key, %status, error = &error as &dyn std::error::Error, "a claim's record could not be changed");
                return Completion::Unconfirmed;
            }
        }
    }

    async fn write_end(&self, write: &Write, effects: &[Effect], within: Duration) -> Result<Committed, StoreError> {
        if !effects.is_empty() {
            return self.store.commit(Some(write), effects, within).await;
        }
        Ok(match self.store.write(write, within).await? {
            Written::Written => Committed::Committed,
            Written::Refused(old) => Committed::Refused(old),
        })
    }

    /// What it means that another record than expected is stored: the claim to end again, or how it ended.
    async fn refused(
        &self,
        claim: Claim,
        ended: &Record,
        stored: Option<Record>,
        within: Duration,
    ) -> Result<Claim, Completion> {
        let Some((request, policy)) = claim.asks() else {
            return Err(self.explain(ended, stored, within).await);
        };
        if stored.as_ref().is_some_and(|stored| stored.version() == ended.version()) {
            return Err(Completion::Stored);
        }
        let observed = stored.as_ref().map(Record::version);
        match decide(stored.as_ref(), request, self.now(), policy).into_run() {
            // Parts of the result stand under the owner, which stays.
            Ok(record) => Ok(claim.over(record, observed)),
            Err(decision) => Err(self.instead(*decision, stored, within).await),
        }
    }

    /// What the request of an atomic claim gets where another attempt has been quicker.
    async fn instead(&self, decision: Decision, stored: Option<Record>, within: Duration) -> Completion {
        let claimed = match (decision, stored) {
            (Decision::Replay, Some(stored)) => match self.replay(stored, within).await {
                Ok(replay) => Claimed::Replay(replay),
                // It ended, and its result cannot be read now.
                Err(_) => return Completion::Superseded(None),
            },
            (Decision::Conflict { retry_after, lease_left }, _) => Claimed::Conflict { retry_after, lease_left },
            (Decision::Mismatch, _) => Claimed::Mismatch,
            (Decision::Uncertain | Decision::Probe { .. }, _) => Claimed::Uncertain,
            // An atomic operation has nothing that undoes: this one had steps when it failed, in a deployment before.
            (Decision::Stuck | Decision::Compensate { .. }, _) => Claimed::Stuck,
            _ => return Completion::Superseded(None),
        };
        Completion::Instead(Box::new(claimed))
    }

    /// An attempt of an atomic operation has ended without a result. If it is the duplicate of one that has, that one's counts.
    async fn look_for_another(&self, claim: Claim) -> Completion {
        claim.attempt().effects.staged().take();
        let Some((request, policy)) = claim.asks() else { return Completion::Stored };
        let within = self.timeouts.for_call(request.deadline, self.now());
        let Ok(Some(stored)) = self.store.get(&request.key, within).await else { return Completion::Stored };
        match decide(Some(&stored), request, self.now(), policy).into_run() {
            Ok(_) => Completion::Stored,
            Err(decision) => self.instead(*decision, Some(stored), within).await,
        }
    }

    /// `unstored` is what became of an end that has something staged.
    async fn give_up_end(
        &self,
        claim: Claim,
        status: Status,
        has_effects: bool,
        error: StoreError,
        unstored: Completion,
    ) -> Completion {
        tracing::error!(
            record = %claim.record().key,
            operation = %claim.attempt().operation(),
            %status,
            error = &error as &dyn std::error::Error,
            "CompletionUnconfirmed: the attempt ended and its end could not be stored"
        );
        if !has_effects && claim.asks().is_none() {
            return Completion::Unconfirmed;
        }
        if !error.is_transient() && claim.asks().is_none() && claim.attempt().effects.policy.may_repeat() {
            // Nothing of it was written, so the next attempt need not wait for the lease. Under other policies it must not run: the
            // handler may have had effects besides.
            let _ = Box::pin(self.end(claim, Status::Released, None)).await;
        }
        unstored
    }

    /// What it means that the claim's record was not found in flight.
    async fn explain(&self, ended: &Record, stored: Option<Record>, within: Duration) -> Completion {
        let conflict = explain_end(ended, stored.as_ref());
        match (conflict, stored) {
            (EndConflict::AlreadyStored, _) => Completion::Stored,
            (EndConflict::Vanished, _) | (_, None) => {
                tracing::warn!(record = %ended.key, "the record was deleted while its attempt ran");
                Completion::Vanished
            }
            (EndConflict::Superseded | EndConflict::SupersededByResult, Some(stored)) => {
                tracing::warn!(
                    record = %ended.key,
                    epoch = ended.epoch.get(),
                    by_epoch = stored.epoch.get(),
                    "Superseded: another attempt took the key over before this one ended"
                );
                match conflict {
                    EndConflict::SupersededByResult => Completion::Superseded(self.replay(stored, within).await.ok()),
                    _ => Completion::Superseded(None),
                }
            }
        }
    }
}

fn label(effects: &[Effect], index: usize) -> String {
    effects.get(index).map_or_else(String::new, |effect| effect.label().to_owned())
}

/// What a tracer sees of the end of a claim. The record's name has the key only as a hash.
fn end_span(claim: &Claim, status: Status) -> Span {
    tracing::info_span!("end", operation = %claim.attempt().operation(), record = %claim.record().key, %status)
}

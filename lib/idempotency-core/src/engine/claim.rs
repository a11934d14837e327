//! Before the effect: who may run it.

use std::{sync::Arc, time::Duration};

use super::{Engine, Replay};
use crate::{
    Attempt, Claim, ClaimRequest, CodecError, Decision, EpochMillis, ExecutionId, Fingerprint, IdempotencyKey,
    Inserted, Namespace, Operation, OwnerToken, Policy, Record, RecordKey, Replaced, Scope, Status, Store, StoreError,
    TokenError, decide,
};

/// How often a claim looks again when the record changes under it. Each round loses against another live request, so
/// more than a few say that the key is busy.
const ROUNDS: u32 = 4;

/// Who asks for what, and until when it may run.
#[derive(Clone, Debug)]
pub struct Request {
    /// The deployment.
    pub namespace: Namespace,
    /// The operation.
    pub operation: Operation,
    /// The tenant or caller.
    pub scope: Scope,
    /// The caller's key.
    pub key: IdempotencyKey,
    /// The hash of what is asked.
    pub fingerprint: Fingerprint,
    /// When the platform ends this attempt. May be in the past.
    pub deadline: EpochMillis,
}

/// What became of a claim.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the fresh claim is the common case, and the value is matched at once")]
pub enum Claimed {
    /// This attempt owns the key: run the effect, then end the claim.
    Fresh(Claim),
    /// The operation ended before: answer this.
    Replay(Replay),
    /// Another attempt may be running: do not run, ask again later.
    Conflict {
        /// When to ask again.
        retry_after: Duration,
    },
    /// The key was used with another request: a fault of the caller.
    Mismatch,
    /// An attempt was lost and nobody knows whether its effect happened: an operator must resolve it.
    Uncertain,
}

/// Why a claim could not be decided. The effect must not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// The store gave no usable answer.
    #[error("the claim could not be stored")]
    Store(#[from] StoreError),
    /// The operation ended, but its stored result cannot be read.
    #[error("the stored result cannot be read")]
    Result(#[from] CodecError),
    /// No owner token could be drawn.
    #[error("the claim has no owner token")]
    Token(#[from] TokenError),
}

impl<S: Store> Engine<S> {
    /// Claims a key for one attempt.
    ///
    /// One request to the store decides in the usual cases (fresh, replay, conflict, mismatch); a takeover takes a
    /// second one, and a claim that is not answered is followed by one that releases it. A replay, conflict, mismatch or uncertain outcome writes nothing.
    ///
    /// Dropping the future leaves the key unclaimed or claimed by nobody who runs; in the latter case it counts as
    /// abandoned when its lease is over.
    ///
    /// # Errors
    ///
    /// [`ClaimError`] when the store gave no answer that proves who owns the key. The effect must not run then.
    pub async fn claim(&self, request: &Request, policy: &Policy) -> Result<Claimed, ClaimError> {
        let claim = ClaimRequest {
            key: RecordKey::new(&request.namespace, &request.operation, &request.scope, &request.key),
            fingerprint: request.fingerprint,
            token: OwnerToken::from_bytes(self.tokens.draw()?),
            execution: ExecutionId::from_bytes(self.tokens.draw()?),
            deadline: request.deadline,
        };
        let mut existing = None;
        for _ in 0..ROUNDS {
            let now = self.now();
            let within = self.timeouts.for_call(request.deadline, now);
            match (decide(existing.as_ref(), &claim, now, policy), existing.take()) {
                (Decision::Insert(record), _) => match self.store.insert_if_absent(&record, within).await {
                    Ok(Inserted::Inserted) => return Ok(self.fresh(request, record)),
                    Ok(Inserted::Exists(old)) => existing = Some(old),
                    Err(error) => return Err(self.give_up(request, record, error).await),
                },
                (
                    Decision::TakeOver { from, record }
                    | Decision::Resume { from, record }
                    | Decision::Expired { from, record },
                    _,
                ) => match self.store.replace(from, &record, within).await {
                    Ok(Replaced::Replaced) => return Ok(self.fresh(request, record)),
                    Ok(Replaced::Differs(old)) => existing = old,
                    Err(error) => return Err(self.give_up(request, record, error).await),
                },
                (Decision::Own, Some(own)) => return Ok(self.fresh(request, own)),
                (Decision::Replay, Some(old)) => return Ok(Claimed::Replay(self.replay(old, within).await?)),
                (Decision::Conflict { retry_after }, _) => return Ok(Claimed::Conflict { retry_after }),
                (Decision::Mismatch, _) => return Ok(Claimed::Mismatch),
                (Decision::Uncertain, _) => return Ok(Claimed::Uncertain),
                // `decide` says `Own` and `Replay` only about a record.
                (Decision::Own | Decision::Replay, None) => {}
            }
        }
        Ok(Claimed::Conflict { retry_after: Duration::from_secs(1) })
    }

    /// Leaves a claim that was not answered. It may be stored all the same, and then it would keep the key for nobody until
    /// its lease is over, or for good under `reject`; so it is released, once, if it is there. The handler has not run.
    async fn give_up(&self, request: &Request, claimed: Record, error: StoreError) -> ClaimError {
        if error.is_transient() {
            let within = self.timeouts.for_call(request.deadline, self.now());
            let released = Record { status: Status::Released, ..claimed.clone() };
            if let Err(error) = self.store.replace(claimed.version(), &released, within).await {
                tracing::warn!(record = %claimed.key, error = &error as &dyn std::error::Error, "an unanswered claim may be stored");
            }
        }
        error.into()
    }

    /// The handle of a record that a reply has just shown to be this claim's own.
    fn fresh(&self, request: &Request, record: Record) -> Claimed {
        let attempt = Attempt {
            operation: request.operation.clone(),
            scope: request.scope.clone(),
            key: request.key.clone(),
            record_key: record.key.clone(),
            epoch: record.epoch,
            number: record.attempt,
            deadline: request.deadline,
            clock: Arc::clone(&self.clock),
        };
        Claimed::Fresh(Claim::new(attempt, record))
    }
}

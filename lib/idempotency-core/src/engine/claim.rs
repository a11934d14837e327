//! Before the effect: who may run it.

use std::{sync::Arc, time::Duration};

use tracing::Instrument;

use super::{Engine, Replay};
use crate::{
    Abandoned, Attempt, Claim, ClaimRequest, CodecError, Decision, EpochMillis, ExecutionId, Fingerprint,
    IdempotencyKey, Inserted, Namespace, NotHome, Operation, OwnerToken, Policy, Record, RecordKey, Replaced, Scope,
    Status, Store, StoreError, TokenError, attempt::Effects, decide,
};

/// How often a claim looks again when the record changes under it. Each round loses against another live request, so
/// more than a few say that the key is busy.
pub(super) const ROUNDS: u32 = 4;

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

impl Request {
    /// Where the record of this request stands.
    pub fn record_key(&self) -> RecordKey {
        RecordKey::new(&self.namespace, &self.operation, &self.scope, &self.key)
    }
}

/// What became of a claim.
#[derive(Debug, PartialEq, Eq)]
pub enum Claimed {
    /// This attempt owns the key: run the effect, then end the claim.
    Fresh(Claim),
    /// The operation ended before: answer this.
    Replay(Replay),
    /// Another attempt may be running: do not run, ask again later.
    Conflict {
        /// When to ask again.
        retry_after: Duration,
        /// The rest of the other attempt's lease, as far as it is known: after that it cannot be running any more.
        lease_left: Duration,
    },
    /// The key was used with another request: a fault of the caller.
    Mismatch,
    /// An attempt was lost and nobody knows whether its effect happened: an operator must resolve it.
    Uncertain,
    /// An attempt was lost: ask the outside world whether its effect happened, and say so to the engine. Nothing is claimed
    /// yet. Only under [`OnAbandoned::Probe`](crate::OnAbandoned::Probe).
    Abandoned(Abandoned),
    /// The operation failed for good, and an attempt was lost while it undid what had been done before. This attempt goes on with
    /// that: [`Engine::resume_compensation`].
    Compensating(Claim),
    /// The operation failed for good, and something that it did before could not be undone: an operator must act.
    Stuck,
}

/// Where nothing says how long it will take.
const CONFLICT: Claimed = Claimed::Conflict { retry_after: Duration::from_secs(1), lease_left: Duration::from_secs(1) };

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
    /// The key is claimed in another region. The store was not asked.
    #[error(transparent)]
    NotHome(#[from] NotHome),
}

impl<S: Store> Engine<S> {
    /// Claims a key for one attempt.
    ///
    /// One request to the store decides in the usual cases (fresh, replay, conflict, mismatch); a takeover takes a
    /// second one, and a claim that is not answered is followed by one that releases it. Under a policy that [looks
    /// first](Policy::look_first) a read comes before. A replay, conflict, mismatch or
    /// uncertain outcome writes nothing.
    ///
    /// Under a policy that [waits](Policy::wait), a conflict is followed by reads until the other attempt has ended, or the
    /// longest wait or the invocation is over; then the answer is the conflict. A waiter writes nothing. When the key becomes
    /// free while it waits, it claims it, unless less than half of its time is left to run.
    ///
    /// Dropping the future leaves the key unclaimed or claimed by nobody who runs; in the latter case it counts as
    /// abandoned when its lease is over.
    ///
    /// # Errors
    ///
    /// [`ClaimError`] when the store gave no answer that proves who owns the key, or the key is not claimed in this region. The effect must
    /// not run then.
    pub async fn claim(&self, request: &Request, policy: &Policy) -> Result<Claimed, ClaimError> {
        self.at_home(&request.scope)?;
        let token = OwnerToken::from_bytes(self.tokens.draw()?);
        let claim = self.claim_request(request, request.record_key(), token)?;
        let span = tracing::info_span!("claim", operation = %request.operation, record = %claim.key);
        let settled = async {
            let existing = if policy.looks_first() { self.look(&claim).await? } else { None };
            self.settle(request, &claim, policy, existing).await
        };
        // Boxed, as everything that leads to the store is: the SDK's futures are nested so deeply that the closures around a handler
        // would meet the compiler's limit ("queries overflow the depth limit"). One allocation is nothing beside a request.
        Box::pin(settled.instrument(span)).await
    }

    /// Runs the handler again after a lost attempt whose effect did not happen: claims its key, if the record is still the one
    /// that was observed.
    ///
    /// Dropping the future is what it is for [`claim`](Self::claim).
    ///
    /// # Errors
    ///
    /// As for [`claim`](Self::claim).
    pub async fn take_over(
        &self,
        abandoned: Abandoned,
        request: &Request,
        policy: &Policy,
    ) -> Result<Claimed, ClaimError> {
        let (attempt, record, observed) = abandoned.into_parts();
        // The question took so long that this attempt's own time is over, or its sandbox was frozen meanwhile. The lease that it
        // would write is as good as over; whoever asks next has time.
        if self.now() + policy.margin() >= record.lease_until {
            return Ok(CONFLICT);
        }
        let within = self.timeouts.for_call(request.deadline, self.now());
        let existing = match Box::pin(self.store.replace(observed, &record, within)).await {
            Ok(Replaced::Replaced) => return Ok(Claimed::Fresh(Claim::new(attempt, record).taking_over(true))),
            Ok(Replaced::Differs(existing)) => existing,
            Err(error) => return Err(Box::pin(self.give_up(request, record, error)).await),
        };
        let claim = self.claim_request(request, record.key, record.owner)?;
        // It has had its time for waiting.
        Box::pin(self.settle(request, &claim, &policy.wait(None), existing)).await
    }

    /// What is stored, for a request that is probably a duplicate. Without an answer nothing is known, and the claim's write decides.
    async fn look(&self, claim: &ClaimRequest) -> Result<Option<Record>, ClaimError> {
        let within = self.timeouts.for_call(claim.deadline, self.now());
        match self.store.get(&claim.key, within).await {
            Ok(record) => Ok(record),
            Err(error) if error.is_transient() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn claim_request(
        &self,
        request: &Request,
        key: RecordKey,
        token: OwnerToken,
    ) -> Result<ClaimRequest, TokenError> {
        let execution = ExecutionId::from_bytes(self.tokens.draw()?);
        Ok(ClaimRequest { key, fingerprint: request.fingerprint, token, execution, deadline: request.deadline })
    }

    /// Decides and acts until something is settled. `existing` is what the store has shown so far.
    async fn settle(
        &self,
        request: &Request,
        claim: &ClaimRequest,
        policy: &Policy,
        mut existing: Option<Record>,
    ) -> Result<Claimed, ClaimError> {
        let mut waiting = self.waiting(request, policy);
        let mut rounds = ROUNDS;
        loop {
            let now = self.now();
            let within = self.timeouts.for_call(request.deadline, now);
            let decision = decide(existing.as_ref(), claim, now, policy);
            let takes_over = matches!(decision, Decision::TakeOver { .. });
            let lost = match (decision, existing.take()) {
                (
                    Decision::Insert(_)
                    | Decision::TakeOver { .. }
                    | Decision::Resume { .. }
                    | Decision::Expired { .. }
                    | Decision::Compensate { .. }
                    | Decision::Probe { .. },
                    _,
                ) if waiting.has_waited_too_long_to_run(now) => return Ok(CONFLICT),
                // Nothing is written before the operation has run.
                (
                    Decision::Insert(record)
                    | Decision::TakeOver { record, .. }
                    | Decision::Resume { record, .. }
                    | Decision::Expired { record, .. },
                    old,
                ) if policy.is_atomic() => {
                    let attempt = self.attempt(request, &record, policy);
                    let observed = old.map(|old| old.version());
                    return Ok(Claimed::Fresh(Claim::atomic(attempt, record, observed, claim, policy)));
                }
                (Decision::Insert(record), _) => match self.store.insert_if_absent(&record, within).await {
                    Ok(Inserted::Inserted) => return Ok(self.fresh(request, record, policy, false)),
                    Ok(Inserted::Exists(old)) => Some(old),
                    Err(error) => return Err(self.give_up(request, record, error).await),
                },
                (
                    Decision::TakeOver { from, record }
                    | Decision::Resume { from, record }
                    | Decision::Expired { from, record }
                    | Decision::Compensate { from, record },
                    _,
                ) => {
                    let record = self.with_parts(from, record, within).await?;
                    match self.store.replace(from, &record, within).await {
                        Ok(Replaced::Replaced) => return Ok(self.fresh(request, record, policy, takes_over)),
                        Ok(Replaced::Differs(old)) => old,
                        Err(error) => return Err(self.give_up(request, record, error).await),
                    }
                }
                // Whose place it took is not known any more.
                (Decision::Own, Some(own)) => return Ok(self.fresh(request, own, policy, false)),
                (Decision::Replay, Some(old)) => return Ok(Claimed::Replay(self.replay(old, within).await?)),
                (Decision::Conflict { retry_after, lease_left }, old) => match waiting.pause(now) {
                    None => return Ok(Claimed::Conflict { retry_after, lease_left }),
                    Some(pause) => {
                        existing = self.look_again(claim, old, pause, &waiting).await?;
                        continue;
                    }
                },
                (Decision::Mismatch, _) => return Ok(Claimed::Mismatch),
                (Decision::Uncertain, _) => return Ok(Claimed::Uncertain),
                (Decision::Stuck, _) => return Ok(Claimed::Stuck),
                (Decision::Probe { from, record }, _) => {
                    return Ok(Claimed::Abandoned(Abandoned::new(
                        self.attempt(request, &record, policy),
                        record,
                        from,
                    )));
                }
                // `decide` says `Own` and `Replay` only about a record.
                (Decision::Own | Decision::Replay, None) => None,
            };
            existing = lost;
            rounds -= 1;
            if rounds == 0 {
                return Ok(CONFLICT);
            }
        }
    }

    /// Leaves a claim that was not answered. It may be stored all the same, and then it would keep the key for nobody until
    /// its lease is over, or for good under `reject`; so it is released, once, if it is there. The handler has not run.
    pub(super) async fn give_up(&self, request: &Request, claimed: Record, error: StoreError) -> ClaimError {
        if error.is_transient() {
            let within = self.timeouts.for_call(request.deadline, self.now());
            let left = claimed.left(self.now());
            if let Err(error) = self.store.replace(claimed.version(), &left, within).await {
                tracing::warn!(record = %claimed.key, error = &error as &dyn std::error::Error, "an unanswered claim may be stored");
            }
        }
        error.into()
    }

    /// The handle of a record that a reply has just shown to be this claim's own.
    fn fresh(&self, request: &Request, record: Record, policy: &Policy, took_over: bool) -> Claimed {
        let claim = Claim::new(self.attempt(request, &record, policy), record).taking_over(took_over);
        match claim.record().status {
            Status::Compensating => Claimed::Compensating(claim),
            _ => Claimed::Fresh(claim),
        }
    }

    pub(super) fn attempt(&self, request: &Request, record: &Record, policy: &Policy) -> Attempt {
        Attempt {
            namespace: request.namespace.clone(),
            operation: request.operation.clone(),
            scope: request.scope.clone(),
            key: request.key.clone(),
            record_key: record.key.clone(),
            epoch: record.epoch,
            number: record.attempt,
            deadline: request.deadline,
            clock: Arc::clone(&self.clock),
            effects: Arc::new(Effects::new(Arc::new(self.clone()), record, policy)),
        }
    }
}

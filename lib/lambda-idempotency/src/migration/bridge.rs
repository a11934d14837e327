//! Between a claim and its handler: what the old function has done.

use std::{sync::Arc, time::Duration};

use idempotency_core::{
    Claim, ClaimError, Claimed, Completion, Engine, EpochMillis, OnAbandoned, Outcome, Policy, Request, Store,
    StoreError,
};
use lambda_http::Request as HttpRequest;

use super::{Asked, Migration, OldId, verdict::Verdict, verdict::verdict};
use crate::function::BoxError;

/// Which old row to look at for one request.
pub(crate) struct Old {
    migration: Arc<Migration>,
    id: Result<Option<OldId>, BoxError>,
}

impl Old {
    /// For an HTTP request; `None` when its operation took no old function's place.
    pub(crate) fn of_request(
        migration: Option<&Arc<Migration>>,
        operation: &str,
        request: &HttpRequest,
    ) -> Option<Self> {
        let migration = migration?;
        let id = migration.of_request(operation)?(request);
        Some(Self { migration: Arc::clone(migration), id })
    }

    /// For a call.
    pub(crate) fn of_call(migration: Option<&Arc<Migration>>, operation: &str, asked: &Asked<'_>) -> Option<Self> {
        let migration = migration?;
        let id = migration.of_call(operation)?(asked);
        Some(Self { migration: Arc::clone(migration), id })
    }

    async fn look(&self, within: Duration, now: impl Fn() -> EpochMillis) -> Result<Verdict, StoreError> {
        let id = match &self.id {
            Ok(Some(id)) => id,
            Ok(None) => return Ok(Verdict::New),
            Err(error) => {
                return Err(StoreError::Refused(format!("the old row's id cannot be computed: {error}").into()));
            }
        };
        let row = self.migration.table.get(&id.id, within).await?;
        Ok(verdict(row, id.validation.as_deref(), now()))
    }
}

/// Looks at the old row if a handler is to run, and says what is to be done instead.
///
/// The claim is stored by then. So of all requests that come to functions of this kind only one looks and acts at a time; and an old
/// function that had begun before is seen. One that begins later is not, and does not see the claim.
///
/// `was_asked` is whether the outside world has just said that the effect of a lost attempt did not happen. `outcome` is what this kind of
/// operation stores of a result.
///
/// Dropping the future leaves an attempt that counts as abandoned.
pub(crate) async fn bridge<S: Store>(
    engine: &Engine<S>,
    old: Option<&Old>,
    request: &Request,
    policy: &Policy,
    was_asked: bool,
    outcome: impl FnOnce(&str) -> Outcome,
    claimed: Result<Claimed, ClaimError>,
) -> Result<Claimed, ClaimError> {
    match (old, claimed) {
        // Boxed for the same reason as the engine's own calls.
        (Some(old), Ok(Claimed::Fresh(claim))) => {
            Box::pin(settle(engine, old, request, policy, was_asked, outcome, claim)).await
        }
        (_, claimed) => claimed,
    }
}

async fn settle<S: Store>(
    engine: &Engine<S>,
    old: &Old,
    request: &Request,
    policy: &Policy,
    was_asked: bool,
    outcome: impl FnOnce(&str) -> Outcome,
    claim: Claim,
) -> Result<Claimed, ClaimError> {
    let within = engine.time_for_call(request.deadline);
    let verdict = match old.look(within, || engine.now()).await {
        Ok(verdict) => verdict,
        Err(error) => {
            let _ = engine.withdraw(claim).await;
            return Err(error.into());
        }
    };
    if verdict != Verdict::New {
        tracing::info!(operation = %request.operation, old = name(&verdict), "an old function has a row of this request");
    }
    match verdict {
        Verdict::New => Ok(Claimed::Fresh(claim)),
        Verdict::Done(data) => adopt(engine, request, policy, claim, outcome(&data)).await,
        Verdict::Running(lease_left) => {
            let _ = engine.withdraw(claim).await;
            Ok(Claimed::Conflict { retry_after: lease_left.min(Policy::MAX_RETRY_AFTER), lease_left })
        }
        Verdict::Other => {
            let _ = engine.withdraw(claim).await;
            Ok(Claimed::Mismatch)
        }
        Verdict::Lost(over_since) => Ok(lost(engine, policy, was_asked, over_since, claim).await),
    }
}

/// The old function's result becomes this record's, and the request gets what is stored.
async fn adopt<S: Store>(
    engine: &Engine<S>,
    request: &Request,
    policy: &Policy,
    claim: Claim,
    outcome: Outcome,
) -> Result<Claimed, ClaimError> {
    match engine.complete(claim, outcome).await {
        Completion::Superseded(Some(replay)) => Ok(Claimed::Replay(replay)),
        Completion::Instead(claimed) => Ok(*claimed),
        // One read: the answer is the stored one, as for every request after this.
        Completion::Stored => engine.claim(request, &policy.wait(None).look_first(true)).await,
        _ => Err(StoreError::Unknown("it is not known whether the old result is stored".into()).into()),
    }
}

/// An old attempt was lost: as one of one's own.
///
/// If an operator has said since then that the operation is to be tried again, he knew of it, and his word counts. Nothing else that has
/// happened here does: a handler that ran and failed says nothing of an old attempt, whose row may have come later; and a claim that was
/// released may never have looked.
async fn lost<S: Store>(
    engine: &Engine<S>,
    policy: &Policy,
    was_asked: bool,
    over_since: EpochMillis,
    claim: Claim,
) -> Claimed {
    let is_resolved = claim.record().resolved_at.is_some_and(|resolved_at| resolved_at >= over_since);
    match policy.abandoned() {
        _ if is_resolved => Claimed::Fresh(claim),
        OnAbandoned::Rerun => Claimed::Fresh(claim),
        OnAbandoned::Probe if was_asked => Claimed::Fresh(claim),
        OnAbandoned::Probe => claim.after_a_lost_attempt().map_or(Claimed::Uncertain, Claimed::Abandoned),
        // The claim stays as an attempt that was lost, for good and for operators to see.
        _ => {
            let _ = engine.lose(claim).await;
            Claimed::Uncertain
        }
    }
}

const fn name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::New => "new",
        Verdict::Done(_) => "completed",
        Verdict::Running(_) => "in progress",
        Verdict::Lost(_) => "lost",
        Verdict::Other => "of another request",
    }
}

//! How a claimed call ends.

use std::future::Future;

use idempotency_core::{Applied, Claim, Compensated, Completion, Store, Undo, Undone};

use super::{BoxError, Done, Error, Failure, FunctionOperation, error::SOON, run::instead, stored, types::Types};
use crate::{
    Idempotency, Mode,
    outcome::{Ended, Ending},
};

/// Ends the claim by what the function returned.
pub(super) async fn finish<S, G, R, E>(
    idempotency: &Idempotency<S>,
    operation: &FunctionOperation,
    claim: Claim,
    types: Types<R, E>,
    undo: impl Fn(Undo) -> G,
    returned: Result<R, E>,
) -> Result<Done<R>, Error<E>>
where
    S: Store,
    G: Future<Output = Result<Undone, BoxError>>,
{
    let engine = idempotency.engine();
    let end = Ending::of(&claim, &operation.policy, idempotency.mode());
    let value = match returned {
        Ok(value) => value,
        Err(error) => return fail(idempotency, operation, claim, &end, types, undo, error).await,
    };
    // Shadow mode holds nothing back, what is staged neither: it is written whatever becomes of the claim.
    let applied = match idempotency.mode() {
        Mode::Shadow => engine.apply(claim.attempt()).await,
        _ => Applied::Stored,
    };
    let (claim, refused) = match applied {
        Applied::CommitRefused => return Err(Error::CommitRefused),
        Applied::Unknown => return Err(Error::Uncommitted),
        Applied::Refused(refused) => (claim, refused),
        Applied::Stored => {
            let (value, outcome) = (types.store)(value);
            match end.log(Ended::Completed, engine.complete(claim, outcome).await) {
                Completion::Refused(refusal) => (refusal.claim, refusal.refused),
                completion => return ended(idempotency.mode(), completion, types, Ok(Done::now(value))),
            }
        }
    };
    match (types.refused)(refused.clone()) {
        Some(error) => fail(idempotency, operation, claim, &end, types, undo, error).await,
        None => {
            // What was staged is not written; what the function did besides, nobody knows.
            let completion = match operation.policy.may_repeat() {
                true => engine.release(claim).await,
                false => engine.abandon(claim).await,
            };
            let completion = end.log(Ended::Retryable, completion);
            another(idempotency.mode(), completion, types).unwrap_or(Err(Error::Refused(refused)))
        }
    }
}

/// Ends the claim of a function that failed.
async fn fail<S, G, R, E>(
    idempotency: &Idempotency<S>,
    operation: &FunctionOperation,
    claim: Claim,
    end: &Ending,
    types: Types<R, E>,
    undo: impl Fn(Undo) -> G,
    error: E,
) -> Result<Done<R>, Error<E>>
where
    S: Store,
    G: Future<Output = Result<Undone, BoxError>>,
{
    let (engine, mode) = (idempotency.engine(), idempotency.mode());
    match (types.classify)(&error) {
        Failure::Retryable { retry_after } => {
            let completion = end.log(Ended::Retryable, engine.release(claim).await);
            another(mode, completion, types).unwrap_or(Err(Error::Retryable { error, retry_after }))
        }
        Failure::Permanent(failed) => {
            let outcome = stored::failure(&failed);
            if !operation.policy.is_atomic() {
                let outcome = end.undone(engine.compensate(claim, outcome, undo).await);
                return compensated(mode, outcome, types, Some(Error::Failed(failed)));
            }
            ended(mode, end.log(Ended::Failed, engine.fail(claim, outcome).await), types, Err(Error::Failed(failed)))
        }
        Failure::Abandoned => {
            // The claim is dropped: its lease says when the key may be used again.
            tracing::warn!(record = %claim.record().key, "attempt abandoned");
            let completion = end.log(Ended::Abandoned, engine.abandon(claim).await);
            another(mode, completion, types).unwrap_or(Err(Error::Abandoned(error)))
        }
    }
}

/// What another attempt has given that was quicker than one without a value.
fn another<R, E>(mode: Mode, completion: Completion, types: Types<R, E>) -> Option<Result<Done<R>, Error<E>>> {
    match completion {
        _ if mode == Mode::Shadow => None,
        Completion::Superseded(Some(replay)) => Some((types.replay)(&replay)),
        Completion::Instead(claimed) => Some(instead(*claimed, types)),
        _ => None,
    }
}

/// What the caller gets at the end of an attempt that has a value or failed for good.
pub(super) fn ended<R, E>(
    mode: Mode,
    completion: Completion,
    types: Types<R, E>,
    own: Result<Done<R>, Error<E>>,
) -> Result<Done<R>, Error<E>> {
    match completion {
        // Shadow mode holds nothing back.
        _ if mode == Mode::Shadow => own,
        // The effect happened; an error would invite the caller to repeat it.
        Completion::Stored => own,
        Completion::Vanished | Completion::Unconfirmed => own.map(Done::unconfirmed),
        Completion::Superseded(Some(replay)) => (types.replay)(&replay),
        Completion::Superseded(None) => Err(Error::Conflict { retry_after: SOON, lease_left: SOON }),
        Completion::Instead(claimed) => instead(*claimed, types),
        Completion::CommitRefused => Err(Error::CommitRefused),
        Completion::Uncommitted | Completion::Refused(_) => Err(Error::Uncommitted),
    }
}

/// What the caller gets of a function that failed for good and has steps to undo. `failed` is the failure, where it is at hand.
pub(super) fn compensated<R, E>(
    mode: Mode,
    compensated: Compensated,
    types: Types<R, E>,
    failed: Option<Error<E>>,
) -> Result<Done<R>, Error<E>> {
    match (compensated, failed) {
        // Shadow mode holds nothing back; the log tells what is not undone.
        (_, Some(failed)) if mode == Mode::Shadow => Err(failed),
        (Compensated::Stuck, _) => Err(Error::Stuck),
        (Compensated::Later, _) => Err(Error::Undoing),
        (Compensated::Ended(completion) | Compensated::Failed { completion, .. }, Some(failed)) => {
            ended(mode, completion, types, Err(failed))
        }
        (Compensated::Failed { completion: Completion::Superseded(Some(replay)), .. }, None) => (types.replay)(&replay),
        (Compensated::Failed { failure: Some(failure), .. }, None) => (types.replay)(&failure),
        (Compensated::Failed { .. } | Compensated::Ended(_), None) => Err(Error::Undoing),
    }
}

//! Calls without a claim.

use std::future::Future;

use idempotency_core::{Applied, Attempt, ClaimError, Request, Store, Undo, Undone};

use super::{BoxError, Done, Error, Failure, FunctionOperation, types::Types};
use crate::Idempotency;

/// Runs the function without a claim. What it stages is written, and what its steps did is undone if it fails for good; nothing is
/// remembered of either.
pub(super) async fn unprotected<S, G, F, R, E>(
    idempotency: &Idempotency<S>,
    operation: &FunctionOperation,
    request: &Request,
    types: Types<R, E>,
    undo: impl Fn(Undo) -> G,
    handler: impl FnOnce(Attempt) -> F,
) -> Result<Done<R>, Error<E>>
where
    S: Store,
    G: Future<Output = Result<Undone, BoxError>>,
    F: Future<Output = Result<R, E>>,
{
    let engine = idempotency.engine();
    let attempt = engine.unprotected_attempt(request, &operation.policy);
    let attempt = attempt.map_err(|error| Error::NotProtected(ClaimError::from(error)))?;
    let error = match handler(attempt.clone()).await {
        Ok(value) => match engine.apply(&attempt).await {
            Applied::Stored => return Ok(Done::now(value)),
            Applied::Refused(refused) => (types.refused)(refused.clone()).ok_or(Error::Refused(refused))?,
            Applied::Unknown => return Err(Error::Uncommitted),
        },
        Err(error) => error,
    };
    Err(match (types.classify)(&error) {
        Failure::Retryable { retry_after } => Error::Retryable { error, retry_after },
        Failure::Permanent(failed) => {
            engine.undo_unprotected(&attempt, undo).await;
            Error::Failed(failed)
        }
        Failure::Abandoned => Error::Abandoned(error),
    })
}

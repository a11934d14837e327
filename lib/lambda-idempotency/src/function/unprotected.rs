//! Calls without a claim.

use std::future::Future;

use idempotency_core::{Applied, Attempt, Store, Undo, Undone};

use super::{BoxError, Done, Error, Failure, types::Types};
use crate::{Idempotency, Mode};

/// Runs the function without a claim. What it stages is written; what its steps did stays done if it fails for good, unless nobody else
/// has its key. Nothing is remembered of either.
pub(super) async fn unprotected<S, G, F, R, E>(
    idempotency: &Idempotency<S>,
    attempt: Attempt,
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
    let error = match handler(attempt.clone()).await {
        Ok(value) => match engine.apply(&attempt).await {
            Applied::Stored => return Ok(Done::now(value)),
            Applied::Refused(refused) => (types.refused)(refused.clone()).ok_or(Error::Refused(refused))?,
            Applied::CommitRefused => return Err(Error::CommitRefused),
            Applied::Unknown => return Err(Error::Uncommitted),
        },
        Err(error) => error,
    };
    Err(match (types.classify)(&error) {
        Failure::Retryable { retry_after } => Error::Retryable { error, retry_after },
        Failure::Permanent(failed) => {
            let is_undone = engine.undo_unprotected(&attempt, undo).await;
            // Shadow mode holds nothing back.
            if is_undone || idempotency.mode() == Mode::Shadow { Error::Failed(failed) } else { Error::Stuck }
        }
        Failure::Abandoned => Error::Abandoned(error),
    })
}

//! Shadow mode: everything runs, and the log tells what would have been deduplicated.

use std::future::Future;

use idempotency_core::{Attempt, ClaimError, Claimed, Request, Store, Undo, Undone};

use super::{
    BoxError, Done, Error, FunctionOperation,
    finish::{compensated, finish},
    types::Types,
    unprotected::unprotected,
};
use crate::{
    Idempotency,
    outcome::{self, Ending, name},
    without_key::without_key,
};

/// Runs one call, whatever is stored under its key. The first of its kind is claimed and completed as usual, so that its
/// duplicates can be recognised; what would have been refused or replayed is told by a line with `would_be`, and runs. Undoing that was
/// begun goes on instead.
pub(super) async fn run<S, G, F, R, E>(
    idempotency: &Idempotency<S>,
    operation: &FunctionOperation,
    request: Result<Request, Error<E>>,
    types: Types<R, E>,
    undo: impl Fn(Undo) -> G,
    handler: impl FnOnce(Attempt) -> F,
) -> Result<Done<R>, Error<E>>
where
    S: Store,
    G: Future<Output = Result<Undone, BoxError>>,
    F: Future<Output = Result<R, E>>,
{
    let (request, would_be) = match request {
        Ok(request) => {
            let claimed = idempotency.engine().claim(&request, &operation.policy.wait(None)).await;
            outcome::claimed_in_shadow(&request.operation, &claimed, &operation.policy);
            match claimed {
                Ok(Claimed::Fresh(claim)) => {
                    let returned = handler(claim.attempt().clone()).await;
                    return finish(idempotency, operation, claim, types, undo, returned).await;
                }
                // What one attempt has begun to take back is taken back before anything else is done with the same keys.
                Ok(Claimed::Compensating(claim)) => {
                    let end = Ending::of(&claim, &operation.policy, idempotency.mode());
                    let outcome = end.undone(idempotency.engine().resume_compensation(claim, undo).await);
                    return compensated(idempotency.mode(), outcome, types, None);
                }
                claimed => (request, name(&claimed)),
            }
        }
        Err(refused) => {
            outcome::refused(&operation.operation);
            let would_be = match refused {
                Error::Key(_) => "key-missing",
                Error::Scope(_) => "scope-missing",
                _ => "request-invalid",
            };
            let deadline = idempotency.engine().now() + operation.policy.window().longest_run();
            let request = without_key(idempotency, &operation.operation, deadline);
            (request.map_err(|error| Error::NotProtected(ClaimError::from(error)))?, would_be)
        }
    };
    outcome::unprotected(&operation.operation);
    tracing::warn!(operation = %operation.operation, would_be, "shadow mode: the function runs all the same");
    unprotected(idempotency, operation, &request, types, undo, handler).await
}

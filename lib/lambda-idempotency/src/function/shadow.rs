//! Shadow mode: everything runs, and the log tells what would have been deduplicated.

use std::future::Future;

use idempotency_core::{Attempt, Claimed, Request, Store, Undo, Undone};

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
    let engine = idempotency.engine();
    let (attempt, would_be) = match request {
        Ok(request) => {
            let claimed = engine.claim(&request, &operation.policy.wait(None)).await;
            outcome::claimed_in_shadow(&request.operation, &claimed, &operation.policy);
            match claimed {
                Ok(Claimed::Fresh(claim)) => {
                    let returned = handler(claim.attempt().clone()).await;
                    return finish(idempotency, operation, claim, types, undo, returned).await;
                }
                // What one attempt has begun to take back is taken back before anything else is done with the same keys.
                Ok(Claimed::Compensating(claim)) => {
                    let end = Ending::of(&claim, &operation.policy, idempotency.mode());
                    let outcome = end.undone(engine.resume_compensation(claim, undo).await);
                    return compensated(idempotency.mode(), outcome, types, None);
                }
                claimed => {
                    if let Ok(Claimed::Mismatch) = claimed {
                        engine.undo_beside(&request, &operation.policy, &undo).await;
                    }
                    (engine.unprotected_attempt(&request, &operation.policy), name(&claimed))
                }
            }
        }
        Err(refused) => {
            outcome::refused(&operation.operation);
            let would_be = match refused {
                Error::Key(_) => "key-missing",
                Error::Scope(_) => "scope-missing",
                _ => "request-invalid",
            };
            let deadline = engine.now() + operation.policy.window().longest_run();
            (without_key(idempotency, &operation.operation, &operation.policy, deadline), would_be)
        }
    };
    outcome::unprotected(&operation.operation);
    tracing::warn!(operation = %operation.operation, would_be, "shadow mode: the function runs all the same");
    let attempt = attempt.map_err(|error| Error::NotProtected(error.into()))?;
    unprotected(idempotency, attempt, types, undo, handler).await
}

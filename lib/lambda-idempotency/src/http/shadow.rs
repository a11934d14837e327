//! Shadow mode: everything runs, and the log tells what would have been deduplicated.

use std::future::Future;

use idempotency_core::{Claimed, Request as ClaimRequest, Store, Undo, Undone};
use lambda_http::{Error, Request};

use super::{
    FromAttempt, HttpOperation, Problem, Rejection, Reply, Types,
    finish::{compensated, finish},
    run::deadline,
    unprotected::unprotected,
};
use crate::{
    Idempotency,
    outcome::{self, Ending, name},
    without_key::without_key,
};

/// Runs one request, whatever is stored under its key. The first of its kind is claimed and completed as usual, so that its
/// duplicates can be recognised; what would have been refused or replayed is told by a line with `would_be`, and runs. Undoing that was
/// begun goes on instead.
#[expect(clippy::too_many_arguments, reason = "they are those of `run_with`")]
pub(super) async fn run<S, A, T, G, F, R, E>(
    idempotency: &Idempotency<S>,
    operation: &HttpOperation,
    claim_request: Result<ClaimRequest, Problem>,
    request: Request,
    extract: impl FnOnce(Request) -> Result<A, Rejection>,
    types: Types<R, E>,
    undo: impl Fn(Undo) -> G,
    handler: impl FnOnce(A, T) -> F,
) -> Result<Reply, Error>
where
    S: Store,
    T: FromAttempt,
    G: Future<Output = Result<Undone, Error>>,
    F: Future<Output = Result<R, E>>,
{
    let (engine, method) = (idempotency.engine(), request.method().clone());
    let name_of_operation = operation.operation.to_string();
    let (claim_request, refused) = match claim_request {
        Ok(claim_request) => (Some(claim_request), None),
        Err(problem) => (None, Some(problem)),
    };
    let deadline = deadline(idempotency, operation, &request);
    // The handler's own arguments are not the protocol's, so what it cannot read is refused as ever.
    let arguments = match extract(request) {
        Ok(arguments) => arguments,
        Err(rejection) => {
            if let Some(claim_request) = &claim_request {
                engine.undo_beside(claim_request, &operation.policy, undo).await;
            }
            return Ok((*rejection).into());
        }
    };
    let would_be = match (&claim_request, refused) {
        (Some(claim_request), _) => {
            let claimed = engine.claim(claim_request, &operation.policy.wait(None)).await;
            outcome::claimed_in_shadow(&claim_request.operation, &claimed, &operation.policy);
            match claimed {
                Ok(Claimed::Fresh(claim)) => {
                    let attempt = T::from_attempt(Some(claim.attempt().clone()), operation, &method);
                    return match attempt {
                        Ok(attempt) => {
                            let returned = handler(arguments, attempt).await;
                            finish(idempotency, operation, claim, types, undo, returned).await
                        }
                        Err(rejection) => Ok((*rejection).into()),
                    };
                }
                // What one attempt has begun to take back is taken back before anything else is done with the same keys.
                Ok(Claimed::Compensating(claim)) => {
                    let end = Ending::of(&claim, &operation.policy, idempotency.mode());
                    let outcome = end.undone(engine.resume_compensation(claim, undo).await);
                    return Ok(compensated(idempotency.mode(), outcome, None));
                }
                claimed => {
                    if let Ok(Claimed::Mismatch) = claimed {
                        engine.undo_beside(claim_request, &operation.policy, &undo).await;
                    }
                    name(&claimed)
                }
            }
        }
        (None, problem) => {
            outcome::refused(&operation.operation);
            problem.map_or("refused", |problem| problem.kind().name())
        }
    };
    outcome::unprotected(&operation.operation);
    tracing::warn!(operation = name_of_operation, would_be, "shadow mode: the handler runs all the same");
    let attempt = match claim_request {
        Some(claim_request) => engine.unprotected_attempt(&claim_request, &operation.policy)?,
        None => without_key(idempotency, &operation.operation, &operation.policy, deadline)?,
    };
    let taken = T::from_attempt(Some(attempt.clone()), operation, &method).map(|attempt| (arguments, attempt));
    unprotected(idempotency, types, &operation.policy, Some(attempt), undo, taken, handler).await
}

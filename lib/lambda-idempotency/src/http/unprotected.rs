//! Requests without a claim.

use std::future::Future;

use idempotency_core::{Applied, Attempt, Policy, Store, Undo, Undone};
use lambda_http::Error;

use super::{Failure, Rejection, Reply, Types, answers};
use crate::{Idempotency, Mode};

/// Runs the handler without a claim. What it stages is written; what its steps did stays done if it fails for good, unless nobody else
/// has its key. Nothing is remembered of either.
pub(super) async fn unprotected<S, A, T, G, F, R, E>(
    idempotency: &Idempotency<S>,
    types: Types<R, E>,
    policy: &Policy,
    attempt: Option<Attempt>,
    undo: impl Fn(Undo) -> G,
    taken: Result<(A, T), Rejection>,
    handler: impl FnOnce(A, T) -> F,
) -> Result<Reply, Error>
where
    S: Store,
    G: Future<Output = Result<Undone, Error>>,
    F: Future<Output = Result<R, E>>,
{
    let (arguments, taken) = match taken {
        Ok(taken) => taken,
        Err(rejection) => return Ok((*rejection).into()),
    };
    let engine = idempotency.engine();
    let failure = match handler(arguments, taken).await {
        Ok(response) => {
            let response = types.convert(response).await;
            let Some(attempt) = &attempt else { return Ok(response) };
            match engine.apply(attempt).await {
                Applied::Stored => return Ok(response),
                Applied::Refused(refused) => types.refused(refused, policy),
                Applied::CommitRefused => return Ok(answers::commit_refused()),
                Applied::Unknown => return Ok(answers::not_committed()),
            }
        }
        Err(error) => (types.classify)(error),
    };
    match failure {
        Failure::Retryable { retry_after, source } => Ok(answers::retryable(retry_after, &source)),
        Failure::Permanent(response) => {
            let is_undone = match &attempt {
                Some(attempt) => engine.undo_unprotected(attempt, undo).await,
                None => true,
            };
            // Shadow mode holds nothing back.
            Ok(if is_undone || idempotency.mode() == Mode::Shadow { (*response).into() } else { answers::stuck() })
        }
        Failure::Abandoned(error) => Err(error),
    }
}

//! How a claimed request ends.

use std::{future::Future, time::Duration};

use idempotency_core::{Applied, Claim, Compensated, Completion, Store, Undo, Undone};
use lambda_http::Error;

use super::{Failure, HttpOperation, Reply, Types, answers, run::instead, stored::StoredResponse};
use crate::{
    Idempotency, Mode,
    outcome::{Ended, Ending},
};

/// Ends the claim by what the handler returned, and answers.
pub(super) async fn finish<S, G, R, E>(
    idempotency: &Idempotency<S>,
    operation: &HttpOperation,
    claim: Claim,
    types: Types<R, E>,
    undo: impl Fn(Undo) -> G,
    returned: Result<R, E>,
) -> Result<Reply, Error>
where
    S: Store,
    G: Future<Output = Result<Undone, Error>>,
{
    let end = Ending::of(&claim, &operation.policy, idempotency.mode());
    let value = match returned {
        Ok(value) => value,
        Err(error) => return fail(idempotency, operation, claim, &end, (types.classify)(error), undo).await,
    };
    let response = types.convert(value).await;
    if !operation.retain.keeps(response.status()) {
        return Ok(release(idempotency, claim, &end, Ended::NotRetained).await.unwrap_or(response));
    }
    let engine = idempotency.engine();
    // Shadow mode holds nothing back, what is staged neither: it is written whatever becomes of the claim.
    if idempotency.mode() == Mode::Shadow {
        match engine.apply(claim.attempt()).await {
            Applied::Stored => {}
            Applied::Refused(refused) => {
                let failure = types.refused(refused, &operation.policy);
                return fail(idempotency, operation, claim, &end, failure, undo).await;
            }
            Applied::CommitRefused => return Ok(answers::commit_refused()),
            Applied::Unknown => return Ok(answers::not_committed()),
        }
    }
    let response = StoredResponse::new(response.into_inner(), &operation.replayed_headers);
    match end.log(Ended::Completed, engine.complete(claim, response.outcome()).await) {
        Completion::Refused(refusal) => {
            let failure = types.refused(refusal.refused, &operation.policy);
            fail(idempotency, operation, refusal.claim, &end, failure, undo).await
        }
        completion => Ok(completed(idempotency.mode(), completion, response)),
    }
}

/// Ends the claim of a handler that failed, and answers.
async fn fail<S, G>(
    idempotency: &Idempotency<S>,
    operation: &HttpOperation,
    claim: Claim,
    end: &Ending,
    failure: Failure,
    undo: impl Fn(Undo) -> G,
) -> Result<Reply, Error>
where
    S: Store,
    G: Future<Output = Result<Undone, Error>>,
{
    let (engine, mode) = (idempotency.engine(), idempotency.mode());
    match failure {
        Failure::Retryable { retry_after, source } => {
            let other = release(idempotency, claim, end, Ended::Retryable).await;
            Ok(other.unwrap_or_else(|| answers::retryable(retry_after, &source)))
        }
        Failure::Permanent(response) => {
            let response = StoredResponse::new(*response, &operation.replayed_headers);
            if !operation.policy.is_atomic() {
                let outcome = response.outcome();
                let outcome = end.undone(engine.compensate(claim, outcome, undo).await);
                return Ok(compensated(mode, outcome, Some(response)));
            }
            Ok(completed(mode, end.log(Ended::Failed, engine.fail(claim, response.outcome()).await), response))
        }
        Failure::Abandoned(error) => {
            // The claim is dropped: its lease says when the key may be used again.
            tracing::warn!(record = %claim.record().key, error = error.as_ref() as &dyn std::error::Error, "attempt abandoned");
            match another(mode, end.log(Ended::Abandoned, engine.abandon(claim).await)) {
                Some(reply) => Ok(reply),
                None => Err(error),
            }
        }
    }
}

/// Releases a claim, whose attempt ended so. Gives the answer of another attempt, if it was quicker.
pub(super) async fn release<S: Store>(
    idempotency: &Idempotency<S>,
    claim: Claim,
    end: &Ending,
    own: Ended,
) -> Option<Reply> {
    another(idempotency.mode(), end.log(own, idempotency.engine().release(claim).await))
}

/// The answer of another attempt that was quicker than one without a result.
fn another(mode: Mode, completion: Completion) -> Option<Reply> {
    match completion {
        _ if mode == Mode::Shadow => None,
        Completion::Superseded(Some(replay)) => Some(answers::replayed(replay)),
        Completion::Instead(claimed) => Some(instead(*claimed, None)),
        _ => None,
    }
}

/// What the caller gets at the end of an attempt that has a response.
pub(super) fn completed(mode: Mode, completion: Completion, response: StoredResponse) -> Reply {
    match completion {
        // Shadow mode holds nothing back: the handler ran, and its response is the caller's.
        _ if mode == Mode::Shadow => response.into_response().into(),
        // The effect happened; an error would invite the caller to repeat it.
        Completion::Stored | Completion::Unconfirmed | Completion::Vanished => response.into_response().into(),
        Completion::Superseded(Some(replay)) => answers::replayed(replay),
        Completion::Superseded(None) => answers::conflict(Duration::from_secs(1)),
        Completion::Instead(claimed) => instead(*claimed, None),
        Completion::CommitRefused => answers::commit_refused(),
        Completion::Uncommitted | Completion::Refused(_) => answers::not_committed(),
    }
}

/// What the caller gets of an operation that failed for good and has steps to undo. `response` is the failure, where it is at hand.
pub(super) fn compensated(mode: Mode, compensated: Compensated, response: Option<StoredResponse>) -> Reply {
    match (compensated, response) {
        // Shadow mode holds nothing back; the log tells what is not undone.
        (_, Some(response)) if mode == Mode::Shadow => response.into_response().into(),
        (Compensated::Stuck, _) => answers::stuck(),
        (Compensated::Later, _) => answers::undoing(),
        (Compensated::Ended(completion) | Compensated::Failed { completion, .. }, Some(response)) => {
            completed(mode, completion, response)
        }
        (Compensated::Failed { completion: Completion::Superseded(Some(replay)), .. }, None) => {
            answers::replayed(replay)
        }
        (Compensated::Failed { failure: Some(failure), .. }, None) => answers::replayed(failure),
        (Compensated::Failed { .. } | Compensated::Ended(_), None) => answers::undoing(),
    }
}

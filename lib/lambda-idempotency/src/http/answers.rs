//! What a caller is told when the handler does not run, or its response is not what counts.

use std::{error::Error as StdError, time::Duration};

use http::{
    HeaderValue, StatusCode,
    header::{CONTENT_TYPE, LOCATION, RETRY_AFTER},
};
use idempotency_core::{ClaimError, NotHome, Replay};
use lambda_http::{Body, Error, Response};

use super::{IDEMPOTENT_REPLAYED, Problem, ProblemType, Reply, problem::seconds, stored};

/// How long to wait where nothing says how long it will take.
const SOON: Duration = Duration::from_secs(1);

/// The stored response.
pub(super) fn replayed(replay: Replay) -> Reply {
    let response = match replay.body() {
        // Whatever has become of what it said, a failure stays one.
        None if replay.is_failure() => return failure_unreadable(),
        None => stored::replay_without_head(),
        Some(body) => match stored::replay(body) {
            Some(response) => response,
            None if replay.is_failure() => return failure_unreadable(),
            None => return result_unreadable(),
        },
    };
    response.into()
}

/// Another attempt may be running.
pub(super) fn conflict(retry_after: Duration) -> Reply {
    let detail = "wait, then repeat the request with the same Idempotency-Key to get its result";
    reply(Problem::new(ProblemType::Conflict, detail).with_retry_after(retry_after))
}

/// Another attempt may be running, and `location` is where to ask about it.
pub(super) fn accepted(location: &str, retry_after: Duration) -> Reply {
    let mut reply = in_progress(retry_after);
    // A path that the platform delivered is made of what a header may have.
    if let Ok(location) = HeaderValue::from_str(location) {
        reply.headers_mut().insert(LOCATION, location);
    }
    reply
}

/// The request that is asked about is being carried out.
pub(super) fn in_progress(retry_after: Duration) -> Reply {
    let mut response = Response::new(Body::from(r#"{"status":"in_flight"}"#));
    *response.status_mut() = StatusCode::ACCEPTED;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(RETRY_AFTER, seconds(retry_after));
    response.into()
}

/// The request that is asked about has no result, and nobody is at it.
pub(super) fn no_result() -> Reply {
    let detail =
        "no request with this key is in progress or has a result; repeat the request with the same Idempotency-Key";
    reply(Problem::new(ProblemType::ResultMissing, detail))
}

/// The store did not say what became of a request.
pub(super) fn not_found_out(error: &ClaimError) -> Reply {
    tracing::error!(error = error as &dyn StdError, "the store did not say what became of a request");
    match error {
        ClaimError::Result(_) => result_unreadable(),
        _ => reply(Problem::new(ProblemType::StoreUnavailable, "ask again").with_retry_after(SOON)),
    }
}

/// The key was used with another request.
pub(super) fn mismatch() -> Reply {
    let detail = "use a new Idempotency-Key for a new request, or repeat the request exactly as it was first sent";
    reply(Problem::new(ProblemType::Mismatch, detail))
}

/// An attempt was lost under `reject`.
pub(super) fn uncertain() -> Reply {
    let detail = "an earlier attempt was lost and may or may not have taken effect; it will not be repeated, and this answer \
                  stays until the operator has resolved it";
    reply(Problem::new(ProblemType::OutcomeUnknown, detail))
}

/// An attempt was lost under `probe`, and nobody can say yet.
pub(super) fn not_known_yet() -> Reply {
    let detail = "an earlier attempt was lost, and nobody can say now whether it took effect; repeat the request with the same \
                  Idempotency-Key to ask again";
    reply(Problem::new(ProblemType::OutcomeUnknown, detail).with_retry_after(SOON))
}

/// The key is claimed in another region, so the handler did not run.
pub(super) fn misdirected(not_home: &NotHome) -> Reply {
    tracing::warn!(error = not_home as &dyn StdError, "the request was refused because it belongs elsewhere");
    let detail = match not_home.home() {
        Some(home) => format!("send the request, with the same Idempotency-Key, to {home}"),
        None => "no region is named in which this key is served; the operator must name one".to_owned(),
    };
    reply(Problem::new(ProblemType::Misdirected, detail))
}

/// The request could not be protected, so the handler did not run.
pub(super) fn not_claimed(error: &ClaimError) -> Reply {
    if let ClaimError::NotHome(not_home) = error {
        return misdirected(not_home);
    }
    tracing::error!(error = error as &dyn StdError, "the request was refused because it could not be protected");
    match error {
        ClaimError::Result(_) => result_unreadable(),
        _ => {
            let detail = "the handler did not run; repeat the request with the same Idempotency-Key";
            reply(Problem::new(ProblemType::StoreUnavailable, detail).with_retry_after(SOON))
        }
    }
}

/// The handler says that the effect did not happen.
pub(super) fn retryable(retry_after: Option<Duration>, source: &Error) -> Reply {
    tracing::warn!(error = source.as_ref() as &dyn StdError, "the effect did not happen, the caller may retry");
    let detail = "the operation could not be carried out now; repeat the request with the same Idempotency-Key";
    reply(Problem::new(ProblemType::Retryable, detail).with_retry_after(retry_after.unwrap_or(SOON)))
}

/// What was staged is written or not, all of it.
pub(super) fn not_committed() -> Reply {
    let detail = "repeat the request with the same Idempotency-Key: it takes effect once";
    reply(Problem::new(ProblemType::NotCommitted, detail).with_retry_after(SOON))
}

/// What was staged can never be written.
pub(super) fn commit_refused() -> Reply {
    let detail = "nothing of what the operation was to write is written, and the same request would come to the same; that stays so until \
                  the operator has corrected the operation";
    reply(Problem::new(ProblemType::CommitRefused, detail))
}

/// The operation failed, and what it did could not be undone now.
pub(super) fn undoing() -> Reply {
    let detail = "the operation failed, and what it had done before is not undone yet; repeat the request with the same \
                  Idempotency-Key to go on with that and to get the failure";
    reply(Problem::new(ProblemType::Undoing, detail).with_retry_after(SOON))
}

/// The operation failed, and what it did cannot be undone.
pub(super) fn stuck() -> Reply {
    let detail = "the operation failed, and something that it had done before could not be undone; this answer stays until the \
                  operator has resolved it";
    reply(Problem::new(ProblemType::CompensationStuck, detail))
}

fn result_unreadable() -> Reply {
    let detail = "the operation ended and will not be repeated, but its stored response cannot be read by this version";
    reply(Problem::new(ProblemType::ResultUnreadable, detail))
}

/// A definite answer, as every replay.
fn failure_unreadable() -> Reply {
    let detail =
        "the operation failed for good in an earlier request and will not be repeated; what it answered cannot be read";
    let mut reply = reply(Problem::new(ProblemType::FailureUnreadable, detail));
    reply.headers_mut().insert(IDEMPOTENT_REPLAYED, stored::TRUE);
    reply
}

fn reply(problem: Problem) -> Reply {
    problem.into_response().into()
}

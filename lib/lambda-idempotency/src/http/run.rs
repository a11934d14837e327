//! One request through the protocol.

use std::{
    future::{Future, Ready},
    time::Duration,
};

use idempotency_core::{Attempt, Claimed, EpochMillis, OnAbandoned, Store, Undo, Undone};
use lambda_http::{Error, IntoResponse, Request, RequestExt};

use super::{
    Classify, FromAttempt, HttpOperation, InFlight, KeyHeaderError, Probed, Problem, ProblemType, Rejection, Reply,
    Types, answers,
    fingerprint::{fingerprint, path},
    finish::{compensated, completed, finish, release},
    key_header::key_from_headers,
    operation::route,
    shadow,
    status::{location, status},
    stored::StoredResponse,
    types,
    unprotected::unprotected,
};
use crate::{
    Idempotency, Mode, lambda_deadline,
    metrics::FlushAtEnd,
    migration::{self, Old, bridge},
    outcome::{self, Ended, Ending},
    probed::{nobody_can_say, said},
    undo::no_undo,
};

/// Runs one request through the protocol: the attribute macro and the tower layer are calls of this function.
///
/// `extract` reads the handler's arguments before the key is claimed; what it refuses is answered and not stored.
/// `handler` runs only with proof that this attempt owns the key, or on a method that needs none.
///
/// Dropping the future while the handler runs leaves its attempt abandoned.
///
/// ```
/// # use lambda_http::{Body, Error, Request, http};
/// # use lambda_idempotency::{Attempt, Idempotency, Namespace, Operation, http::{HttpOperation, run, scope}};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// # let idempotency = Idempotency::new(idempotency_core::MemoryStore::default(), Namespace::new("dev")?);
/// let operation = HttpOperation::new(Operation::declare("create-order", 1), scope::none());
/// let request = http::Request::post("/orders").header("idempotency-key", "k-1").body(Body::from("{}"))?;
///
/// let response = run(&idempotency, &operation, request, Ok, async |_request: Request, attempt: Attempt| {
///     Ok::<_, Error>(format!("attempt {}", attempt.number().get()))
/// })
/// .await?;
/// assert_eq!(response.body().as_ref(), b"attempt 1");
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// The handler's error, if it is classified as [`Failure::Abandoned`](super::Failure::Abandoned). Everything else is a response.
pub async fn run<S, A, T, F, R, E>(
    idempotency: &Idempotency<S>,
    operation: &HttpOperation,
    request: Request,
    extract: impl FnOnce(Request) -> Result<A, Rejection>,
    handler: impl FnOnce(A, T) -> F,
) -> Result<Reply, Error>
where
    S: Store,
    T: FromAttempt,
    F: Future<Output = Result<R, E>>,
    R: IntoResponse,
    E: Classify,
{
    run_with(idempotency, operation, request, extract, no_probe, no_undo, handler).await
}

/// The probe of an operation that has none: nobody can say.
pub fn no_probe(attempt: Attempt, _: Request) -> Ready<Result<Probed<Reply>, Error>> {
    nobody_can_say(attempt)
}

/// As [`run()`], for an operation that can ask about a lost attempt ([`OnAbandoned::Probe`](crate::OnAbandoned::Probe)) or undo its
/// steps ([`HttpOperation::undo`]); [`no_probe`] and [`no_undo`](crate::no_undo) stand for what it cannot.
///
/// After a lost attempt, `probe` asks the outside world whether its effect happened. It gets the attempt that would follow, whose keys
/// are those of the lost one, and the request, to compare what it finds with what was asked for. An error of the probe is logged and
/// counts as [`Probed::Unknown`].
///
/// When the operation fails for good, `undo` gets each step that has an undo, the last one first. An error of it leaves the operation
/// *stuck* until an operator acts.
///
/// Dropping the future while the probe runs changes nothing; while steps are undone it leaves the rest to the next request after the
/// lease is over; for the rest see [`run()`].
///
/// ```
/// # use lambda_http::{Body, Error, Request, http};
/// # use lambda_idempotency::{Attempt, Idempotency, Namespace, OnAbandoned, Operation, no_undo};
/// use lambda_idempotency::http::{HttpOperation, Probed, run_with, scope};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Error> {
/// # let idempotency = Idempotency::new(idempotency_core::MemoryStore::default(), Namespace::new("dev")?);
/// # let request = http::Request::post("/orders").header("idempotency-key", "k-1").body(Body::from("{}"))?;
/// let operation = HttpOperation::new(Operation::declare("create-order", 1), scope::none()).on_abandoned(OnAbandoned::Probe);
///
/// let probe = async |attempt: Attempt, request: Request| {
///     // Ask the order system for the order with `attempt.key()`; is it for what `request` asks for?
///     # let _ = (attempt, request);
///     Ok(Probed::<String>::DidNotHappen)
/// };
/// let handler = async |_: Request, _: Attempt| Ok::<_, Error>("ordered");
/// let response = run_with(&idempotency, &operation, request, Ok, probe, no_undo, handler).await?;
/// # assert_eq!(response.body().as_ref(), b"ordered");
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// As [`run()`].
pub async fn run_with<S, A, T, P, H, Q, U, G, F, R, E>(
    idempotency: &Idempotency<S>,
    operation: &HttpOperation,
    request: Request,
    extract: impl FnOnce(Request) -> Result<A, Rejection>,
    probe: P,
    undo: U,
    handler: impl FnOnce(A, T) -> F,
) -> Result<Reply, Error>
where
    S: Store,
    T: FromAttempt,
    P: FnOnce(Attempt, Request) -> H,
    H: Future<Output = Result<Probed<Q>, Error>>,
    Q: IntoResponse,
    U: Fn(Undo) -> G,
    G: Future<Output = Result<Undone, Error>>,
    F: Future<Output = Result<R, E>>,
    R: IntoResponse,
    E: Classify,
{
    carry_out(idempotency, operation, request, extract, types(), probe, undo, handler).await
}

/// The same, without asking for anything but [`Types`].
#[doc(hidden)]
#[expect(clippy::too_many_arguments, reason = "only the macro writes such a call")]
pub async fn carry_out<S, A, T, P, H, Q, U, G, F, R, E>(
    idempotency: &Idempotency<S>,
    operation: &HttpOperation,
    request: Request,
    extract: impl FnOnce(Request) -> Result<A, Rejection>,
    types: Types<R, E>,
    probe: P,
    undo: U,
    handler: impl FnOnce(A, T) -> F,
) -> Result<Reply, Error>
where
    S: Store,
    T: FromAttempt,
    P: FnOnce(Attempt, Request) -> H,
    H: Future<Output = Result<Probed<Q>, Error>>,
    Q: IntoResponse,
    U: Fn(Undo) -> G,
    G: Future<Output = Result<Undone, Error>>,
    F: Future<Output = Result<R, E>>,
{
    let _flush = FlushAtEnd::new();
    let method = request.method().clone();
    if !operation.protects(&method) {
        if operation.in_flight == InFlight::Accepted
            && let Some(reply) = status(idempotency, operation, &request).await
        {
            return Ok(reply);
        }
        let attempt = T::from_attempt(None, operation, &method);
        let taken = attempt.and_then(|attempt| Ok((extract(request)?, attempt)));
        return unprotected(idempotency, types, &operation.policy, None, undo, taken, handler).await;
    }
    let claim_request = claim_request(idempotency, operation, &request);
    if idempotency.mode() == Mode::Shadow {
        return shadow::run(idempotency, operation, claim_request, request, extract, types, undo, handler).await;
    }
    let claim_request = match claim_request {
        Ok(claim_request) => claim_request,
        Err(problem) => {
            outcome::refused(&operation.operation);
            return Ok(problem.into_response().into());
        }
    };
    let location = match operation.in_flight {
        InFlight::Accepted => location(&method, path(&request), operation, &claim_request.key),
        _ => None,
    };
    let old = Old::of_request(idempotency.migration(), operation.operation.name(), &request);
    let asked = (operation.policy.abandoned() == OnAbandoned::Probe).then(|| request.clone());
    let engine = idempotency.engine();
    let arguments = match extract(request) {
        Ok(arguments) => arguments,
        Err(rejection) => {
            if idempotency.mode() != Mode::Off {
                engine.undo_beside(&claim_request, &operation.policy, undo).await;
            }
            return Ok((*rejection).into());
        }
    };
    if idempotency.mode() == Mode::Off {
        outcome::unprotected(&claim_request.operation);
        let attempt = engine.unprotected_attempt(&claim_request, &operation.policy)?;
        let taken = T::from_attempt(Some(attempt.clone()), operation, &method).map(|attempt| (arguments, attempt));
        return unprotected(idempotency, types, &operation.policy, Some(attempt), undo, taken, handler).await;
    }
    let policy = &operation.policy;
    let adopted = |returned: &str| migration::http_outcome(returned, &operation.replayed_headers);
    let claimed = engine.claim(&claim_request, policy).await;
    let claimed = bridge(engine, old.as_ref(), &claim_request, policy, false, adopted, claimed).await;
    outcome::claimed(&claim_request, &claimed, &operation.policy);
    let claimed = match (claimed, asked) {
        (Ok(Claimed::Abandoned(abandoned)), Some(asked)) => {
            let claimed = match said(probe(abandoned.attempt().clone(), asked).await) {
                Probed::Happened(response) => {
                    let response =
                        StoredResponse::new(Reply::converted(response).await.into_inner(), &operation.replayed_headers);
                    outcome::proven(&claim_request);
                    let claim = abandoned.happened();
                    let end = Ending::of(&claim, &operation.policy, idempotency.mode());
                    let completion = end.log(Ended::Completed, engine.complete(claim, response.outcome()).await);
                    return Ok(completed(idempotency.mode(), completion, response));
                }
                Probed::DidNotHappen => {
                    let claimed = engine.take_over(abandoned, &claim_request, policy).await;
                    bridge(engine, old.as_ref(), &claim_request, policy, true, adopted, claimed).await
                }
                Probed::Unknown => {
                    let _ = engine.still_unknown(abandoned).await;
                    outcome::claimed_after_probe(&claim_request, &Ok(Claimed::Uncertain));
                    return Ok(answers::not_known_yet());
                }
            };
            outcome::claimed_after_probe(&claim_request, &claimed);
            claimed
        }
        (claimed, _) => claimed,
    };
    match claimed {
        Ok(Claimed::Fresh(claim)) => {
            let attempt = T::from_attempt(Some(claim.attempt().clone()), operation, &method);
            match attempt {
                Ok(attempt) => {
                    let returned = handler(arguments, attempt).await;
                    finish(idempotency, operation, claim, types, undo, returned).await
                }
                // An attempt was given, so nothing refuses it; if something ever does, nothing has run.
                Err(rejection) => {
                    let end = Ending::of(&claim, &operation.policy, idempotency.mode());
                    Ok(release(idempotency, claim, &end, Ended::Retryable).await.unwrap_or_else(|| (*rejection).into()))
                }
            }
        }
        Ok(Claimed::Compensating(claim)) => {
            let end = Ending::of(&claim, &operation.policy, idempotency.mode());
            let outcome = end.undone(engine.resume_compensation(claim, undo).await);
            Ok(compensated(idempotency.mode(), outcome, None))
        }
        Ok(Claimed::Mismatch) => {
            engine.undo_beside(&claim_request, &operation.policy, undo).await;
            Ok(answers::mismatch())
        }
        Ok(claimed) => Ok(instead(claimed, location.as_deref())),
        Err(error) => Ok(answers::not_claimed(&error)),
    }
}

/// What a request gets whose handler does not run, or in vain.
pub(super) fn instead(claimed: Claimed, location: Option<&str>) -> Reply {
    match claimed {
        Claimed::Replay(replay) => answers::replayed(replay),
        Claimed::Conflict { retry_after, .. } => in_flight(location, retry_after),
        Claimed::Mismatch => answers::mismatch(),
        Claimed::Uncertain => answers::uncertain(),
        Claimed::Stuck => answers::stuck(),
        // Lost a second time between two looks: whoever was quicker asks as well.
        Claimed::Abandoned(_) | Claimed::Fresh(_) | Claimed::Compensating(_) => {
            in_flight(location, Duration::from_secs(1))
        }
    }
}

/// What a duplicate of a request in flight gets.
fn in_flight(location: Option<&str>, retry_after: Duration) -> Reply {
    match location {
        Some(location) => answers::accepted(location, retry_after),
        None => answers::conflict(retry_after),
    }
}

/// Key, scope, fingerprint and deadline of a request, computed once.
fn claim_request<S>(
    idempotency: &Idempotency<S>,
    operation: &HttpOperation,
    request: &Request,
) -> Result<idempotency_core::Request, Problem> {
    let key = key_from_headers(request.headers()).map_err(|error| {
        let kind = match error {
            KeyHeaderError::Missing => ProblemType::KeyMissing,
            _ => ProblemType::KeyInvalid,
        };
        Problem::new(kind, error.to_string())
    })?;
    let route = route(request.method(), path(request));
    Ok(idempotency_core::Request {
        namespace: idempotency.namespace().clone(),
        operation: operation.operation.on_route(route),
        scope: operation.scope.scope(request)?,
        key,
        fingerprint: fingerprint(request, &operation.fingerprint_exclude),
        deadline: deadline(idempotency, operation, request),
    })
}

/// When the platform ends this invocation; outside Lambda, when the operation's longest run would end.
pub(super) fn deadline<S>(idempotency: &Idempotency<S>, operation: &HttpOperation, request: &Request) -> EpochMillis {
    match request.lambda_context_ref() {
        Some(context) => lambda_deadline(context),
        None => idempotency.engine().now() + operation.policy.window().longest_run(),
    }
}

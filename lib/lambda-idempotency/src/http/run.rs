//! One request through the protocol.

use std::{future::Future, time::Duration};

use idempotency_core::{Attempt, Claim, Claimed, Completion, EpochMillis, OnAbandoned, Store};
use lambda_http::{Error, IntoResponse, Request, RequestExt};

use super::{
    Classify, Failure, FromAttempt, HttpOperation, InFlight, KeyHeaderError, Probed, Problem, ProblemType, Rejection,
    Reply, answers,
    fingerprint::{fingerprint, path},
    key_header::key_from_headers,
    operation::route,
    shadow,
    status::{location, status},
    stored::StoredResponse,
};
use crate::{
    Idempotency, Mode, lambda_deadline,
    outcome::{attempt, name},
    probed::{nobody_can_say, said},
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
/// The handler's error, if it is classified as [`Failure::Abandoned`]. Everything else is a response.
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
    run_with_probe(idempotency, operation, request, extract, |attempt, _| nobody_can_say::<Reply>(attempt), handler)
        .await
}

/// As [`run()`], for an operation with [`OnAbandoned::Probe`](crate::OnAbandoned::Probe): after a lost attempt, `probe` asks
/// the outside world whether its effect happened. It gets the attempt that would follow, whose keys are those of the lost one,
/// and the request, to compare what it finds with what was asked for. An error of the probe is logged and counts as [`Probed::Unknown`].
///
/// Dropping the future while the probe runs changes nothing; for the rest see [`run()`].
///
/// ```
/// # use lambda_http::{Body, Error, Request, http};
/// # use lambda_idempotency::{Attempt, Idempotency, Namespace, OnAbandoned, Operation};
/// use lambda_idempotency::http::{HttpOperation, Probed, run_with_probe, scope};
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
/// let response = run_with_probe(&idempotency, &operation, request, Ok, probe, handler).await?;
/// # assert_eq!(response.body().as_ref(), b"ordered");
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// As [`run()`].
pub async fn run_with_probe<S, A, T, P, Q, F, R, E>(
    idempotency: &Idempotency<S>,
    operation: &HttpOperation,
    request: Request,
    extract: impl FnOnce(Request) -> Result<A, Rejection>,
    probe: impl FnOnce(Attempt, Request) -> P,
    handler: impl FnOnce(A, T) -> F,
) -> Result<Reply, Error>
where
    S: Store,
    T: FromAttempt,
    P: Future<Output = Result<Probed<Q>, Error>>,
    Q: IntoResponse,
    F: Future<Output = Result<R, E>>,
    R: IntoResponse,
    E: Classify,
{
    let method = request.method().clone();
    if !operation.protects(&method) {
        if operation.in_flight == InFlight::Accepted
            && let Some(reply) = status(idempotency, operation, &request).await
        {
            return Ok(reply);
        }
        let attempt = T::from_attempt(None, operation, &method);
        return unprotected(attempt.and_then(|attempt| Ok((extract(request)?, attempt))), handler).await;
    }
    let claim_request = claim_request(idempotency, operation, &request);
    if idempotency.mode() == Mode::Shadow {
        return shadow::run(idempotency, operation, claim_request, request, extract, handler).await;
    }
    let claim_request = match claim_request {
        Ok(claim_request) => claim_request,
        Err(problem) => return Ok(problem.into_response().into()),
    };
    let location = match operation.in_flight {
        InFlight::Accepted => location(&method, path(&request), operation, &claim_request.key),
        _ => None,
    };
    let asked = (operation.policy.abandoned() == OnAbandoned::Probe).then(|| request.clone());
    let arguments = match extract(request) {
        Ok(arguments) => arguments,
        Err(rejection) => return Ok((*rejection).into()),
    };
    let engine = idempotency.engine();
    if idempotency.mode() == Mode::Off {
        let attempt = T::from_attempt(Some(engine.unprotected_attempt(&claim_request)), operation, &method);
        return unprotected(attempt.map(|attempt| (arguments, attempt)), handler).await;
    }
    let claimed = engine.claim(&claim_request, &operation.policy).await;
    tracing::info!(operation = %claim_request.operation, outcome = name(&claimed), attempt = attempt(&claimed), "idempotency");
    let claimed = match (claimed, asked) {
        (Ok(Claimed::Abandoned(abandoned)), Some(asked)) => {
            let claimed = match said(probe(abandoned.attempt().clone(), asked).await) {
                Probed::Happened(response) => {
                    let response =
                        StoredResponse::new(Reply::converted(response).await.into_inner(), &operation.replayed_headers);
                    let completion = engine.complete(abandoned.happened(), response.outcome()).await;
                    return Ok(answer(idempotency.mode(), completion, response));
                }
                Probed::DidNotHappen => engine.take_over(abandoned, &claim_request, &operation.policy).await,
                Probed::Unknown => return Ok(answers::not_known_yet()),
            };
            tracing::info!(operation = %claim_request.operation, outcome = name(&claimed), attempt = attempt(&claimed), "idempotency after a probe");
            claimed
        }
        (claimed, _) => claimed,
    };
    match claimed {
        Ok(Claimed::Fresh(claim)) => {
            let attempt = T::from_attempt(Some(claim.attempt().clone()), operation, &method);
            match attempt {
                Ok(attempt) => finish(idempotency, operation, claim, handler(arguments, attempt).await).await,
                // An attempt was given, so nothing refuses it; if something ever does, nothing has run.
                Err(rejection) => {
                    let _ = engine.release(claim).await;
                    Ok((*rejection).into())
                }
            }
        }
        Ok(Claimed::Replay(replay)) => Ok(answers::replayed(replay)),
        Ok(Claimed::Conflict { retry_after, .. }) => Ok(in_flight(location.as_deref(), retry_after)),
        Ok(Claimed::Mismatch) => Ok(answers::mismatch()),
        Ok(Claimed::Uncertain) => Ok(answers::uncertain()),
        // Lost a second time between two looks: whoever was quicker asks as well.
        Ok(Claimed::Abandoned(_)) => Ok(in_flight(location.as_deref(), Duration::from_secs(1))),
        Err(error) => Ok(answers::not_claimed(&error)),
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

/// Ends the claim by what the handler returned, and answers.
pub(super) async fn finish<S: Store, R: IntoResponse, E: Classify>(
    idempotency: &Idempotency<S>,
    operation: &HttpOperation,
    claim: Claim,
    returned: Result<R, E>,
) -> Result<Reply, Error> {
    let engine = idempotency.engine();
    let failure = match returned {
        Ok(response) => {
            let response = Reply::converted(response).await;
            if !operation.retain.keeps(response.status()) {
                let _ = engine.release(claim).await;
                return Ok(response);
            }
            let response = StoredResponse::new(response.into_inner(), &operation.replayed_headers);
            let completion = engine.complete(claim, response.outcome()).await;
            return Ok(answer(idempotency.mode(), completion, response));
        }
        Err(error) => error.classify(),
    };
    match failure {
        Failure::Retryable { retry_after, source } => {
            let _ = engine.release(claim).await;
            Ok(answers::retryable(retry_after, &source))
        }
        Failure::Permanent(response) => {
            let response = StoredResponse::new(*response, &operation.replayed_headers);
            let completion = engine.fail(claim, response.outcome()).await;
            Ok(answer(idempotency.mode(), completion, response))
        }
        Failure::Abandoned(error) => {
            // The claim is dropped: its lease says when the key may be used again.
            tracing::warn!(record = %claim.record().key, error = error.as_ref() as &dyn std::error::Error, "attempt abandoned");
            Err(error)
        }
    }
}

/// What the caller gets at the end of an attempt.
fn answer(mode: Mode, completion: Completion, response: StoredResponse) -> Reply {
    match completion {
        // Shadow mode holds nothing back: the handler ran, and its response is the caller's.
        _ if mode == Mode::Shadow => response.into_response().into(),
        // The effect happened; an error would invite the caller to repeat it.
        Completion::Stored | Completion::Vanished | Completion::Unconfirmed => response.into_response().into(),
        Completion::Superseded(Some(replay)) => answers::replayed(replay),
        Completion::Superseded(None) => answers::conflict(Duration::from_secs(1)),
    }
}

/// Runs the handler without a claim.
pub(super) async fn unprotected<A, T, F, R, E>(
    taken: Result<(A, T), Rejection>,
    handler: impl FnOnce(A, T) -> F,
) -> Result<Reply, Error>
where
    F: Future<Output = Result<R, E>>,
    R: IntoResponse,
    E: Classify,
{
    match taken {
        Ok((arguments, attempt)) => deliver(handler(arguments, attempt).await).await,
        Err(rejection) => Ok((*rejection).into()),
    }
}

/// An unprotected request's answer.
async fn deliver<R: IntoResponse, E: Classify>(returned: Result<R, E>) -> Result<Reply, Error> {
    match returned {
        Ok(response) => Ok(Reply::converted(response).await),
        Err(error) => match error.classify() {
            Failure::Retryable { retry_after, source } => Ok(answers::retryable(retry_after, &source)),
            Failure::Permanent(response) => Ok((*response).into()),
            Failure::Abandoned(error) => Err(error),
        },
    }
}

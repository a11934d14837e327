//! One call through the protocol.

use std::{error::Error as StdError, future::Future};

use idempotency_core::{Attempt, Claim, ClaimError, Claimed, Completion, Request, Store};

use super::{
    BoxError, Call, Classify, Done, Error, Failure, FunctionOperation, Storable,
    error::SOON,
    shadow, stored,
    types::{Types, types},
};
use crate::{
    Idempotency, Mode, Probed,
    outcome::{attempt, name},
    probed::{nobody_can_say, said},
};

/// Runs one call through the protocol: the attribute macro with a `key` is a call of this function.
///
/// `handler` runs only with proof that this attempt owns the key. Its value is stored as JSON, and the first caller gets what was
/// stored, as all others do.
///
/// Dropping the future while the handler runs leaves its attempt abandoned.
///
/// ```
/// use lambda_idempotency::{Attempt, Idempotency, MemoryStore, Namespace, Operation, Scope};
/// use lambda_idempotency::{IdempotencyKey, function::{BoxError, Call, FunctionOperation, run}};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BoxError> {
/// # let idempotency = Idempotency::new(MemoryStore::default(), Namespace::new("test")?);
/// let operation = FunctionOperation::new(Operation::declare("reserve-seat", 1));
/// let seat = "12A".to_owned();
///
/// for replayed in [false, true] {
///     let call = Call::new(IdempotencyKey::new("order-42"), Scope::tenant("tenant-7")).argument("seat", &seat);
///     let done = run(&idempotency, &operation, call, async |attempt: Attempt| {
///         Ok::<_, BoxError>(format!("{seat} by attempt {}", attempt.number().get()))
///     })
///     .await?;
///     assert_eq!((done.value.as_str(), done.replayed), ("12A by attempt 1", replayed));
/// }
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// [`Error`] says why there is no value, and whether the handler ran.
pub async fn run<S, F, R, E>(
    idempotency: &Idempotency<S>,
    operation: &FunctionOperation,
    call: Call,
    handler: impl FnOnce(Attempt) -> F,
) -> Result<Done<R>, Error<E>>
where
    S: Store,
    F: Future<Output = Result<R, E>>,
    R: Storable,
    E: Classify,
{
    run_with_probe(idempotency, operation, call, nobody_can_say, handler).await
}

/// As [`run()`], for an operation with [`OnAbandoned::Probe`](crate::OnAbandoned::Probe): after a lost attempt, `probe` asks the
/// outside world whether its effect happened. It gets the attempt that would follow, whose keys are those of the lost one. An
/// error of the probe is logged and counts as [`Probed::Unknown`].
///
/// Dropping the future while the probe runs changes nothing; for the rest see [`run()`].
///
/// ```
/// use lambda_idempotency::function::{BoxError, Call, FunctionOperation, run_with_probe};
/// # use lambda_idempotency::{Attempt, Idempotency, IdempotencyKey, MemoryStore, Namespace, OnAbandoned, Operation, Probed, Scope};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BoxError> {
/// # let idempotency = Idempotency::new(MemoryStore::default(), Namespace::new("test")?);
/// let operation = FunctionOperation::new(Operation::declare("reserve-seat", 1)).on_abandoned(OnAbandoned::Probe);
/// let call = Call::new(IdempotencyKey::new("order-42"), Scope::none());
///
/// let probe = async |attempt: Attempt| {
///     // Ask for the reservation with `attempt.key()`.
///     # let _ = attempt;
///     Ok(Probed::DidNotHappen)
/// };
/// let done = run_with_probe(&idempotency, &operation, call, probe, async |_| Ok::<_, BoxError>("12A".to_owned())).await?;
/// # assert_eq!(done.value, "12A");
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// As [`run()`].
pub async fn run_with_probe<S, P, F, R, E>(
    idempotency: &Idempotency<S>,
    operation: &FunctionOperation,
    call: Call,
    probe: impl FnOnce(Attempt) -> P,
    handler: impl FnOnce(Attempt) -> F,
) -> Result<Done<R>, Error<E>>
where
    S: Store,
    P: Future<Output = Result<Probed<R>, BoxError>>,
    F: Future<Output = Result<R, E>>,
    R: Storable,
    E: Classify,
{
    carry_out(idempotency, operation, call, types(), probe, handler).await
}

/// Both of them, without asking for anything but [`Types`].
#[doc(hidden)]
pub async fn carry_out<S, P, F, R, E>(
    idempotency: &Idempotency<S>,
    operation: &FunctionOperation,
    call: Call,
    types: Types<R, E>,
    probe: impl FnOnce(Attempt) -> P,
    handler: impl FnOnce(Attempt) -> F,
) -> Result<Done<R>, Error<E>>
where
    S: Store,
    P: Future<Output = Result<Probed<R>, BoxError>>,
    F: Future<Output = Result<R, E>>,
{
    let policy = operation.policy.look_first(call.looks_first());
    let (engine, request) = (idempotency.engine(), call.request(idempotency, operation));
    let request = match idempotency.mode() {
        Mode::Shadow => return shadow::run(idempotency, operation, request, types, handler).await,
        Mode::Off => return unprotected(idempotency, &request?, types, handler).await,
        Mode::Enforce => request?,
    };
    let mut claimed = engine.claim(&request, &policy).await;
    tracing::info!(operation = %request.operation, outcome = name(&claimed), attempt = attempt(&claimed), "idempotency");
    if let Ok(Claimed::Abandoned(abandoned)) = claimed {
        claimed = match said(probe(abandoned.attempt().clone()).await) {
            Probed::Happened(value) => {
                let (value, outcome) = (types.store)(value);
                let completion = engine.complete(abandoned.happened(), outcome).await;
                return ended(idempotency.mode(), completion, types, Ok(Done::now(value)));
            }
            Probed::DidNotHappen => engine.take_over(abandoned, &request, &operation.policy).await,
            Probed::Unknown => Ok(Claimed::Uncertain),
        };
        tracing::info!(operation = %request.operation, outcome = name(&claimed), attempt = attempt(&claimed), "idempotency after a probe");
    }
    match claimed {
        Ok(Claimed::Fresh(claim)) => {
            let returned = handler(claim.attempt().clone()).await;
            finish(idempotency, claim, types, returned).await
        }
        Ok(Claimed::Replay(replay)) => (types.replay)(&replay),
        Ok(Claimed::Conflict { retry_after, lease_left }) => Err(Error::Conflict { retry_after, lease_left }),
        Ok(Claimed::Mismatch) => Err(Error::Mismatch),
        Ok(Claimed::Uncertain) => Err(Error::Uncertain),
        // Lost a second time between two looks: whoever was quicker asks as well.
        Ok(Claimed::Abandoned(_)) => Err(Error::Conflict { retry_after: SOON, lease_left: SOON }),
        Err(error) => Err(not_claimed(error)),
    }
}

/// Ends the claim by what the handler returned.
pub(super) async fn finish<S: Store, R, E>(
    idempotency: &Idempotency<S>,
    claim: Claim,
    types: Types<R, E>,
    returned: Result<R, E>,
) -> Result<Done<R>, Error<E>> {
    let engine = idempotency.engine();
    let error = match returned {
        Ok(value) => {
            let (value, outcome) = (types.store)(value);
            return ended(idempotency.mode(), engine.complete(claim, outcome).await, types, Ok(Done::now(value)));
        }
        Err(error) => error,
    };
    match (types.classify)(&error) {
        Failure::Retryable { retry_after } => {
            let _ = engine.release(claim).await;
            Err(Error::Retryable { error, retry_after })
        }
        Failure::Permanent(failed) => {
            let completion = engine.fail(claim, stored::failure(&failed)).await;
            ended(idempotency.mode(), completion, types, Err(Error::Failed(failed)))
        }
        Failure::Abandoned => {
            // The claim is dropped: its lease says when the key may be used again.
            tracing::warn!(record = %claim.record().key, "attempt abandoned");
            Err(Error::Abandoned(error))
        }
    }
}

/// What the caller gets at the end of an attempt.
fn ended<R, E>(
    mode: Mode,
    completion: Completion,
    types: Types<R, E>,
    own: Result<Done<R>, Error<E>>,
) -> Result<Done<R>, Error<E>> {
    match completion {
        // Shadow mode holds nothing back.
        _ if mode == Mode::Shadow => own,
        // The effect happened; an error would invite the caller to repeat it.
        Completion::Stored => own,
        Completion::Vanished | Completion::Unconfirmed => own.map(Done::unconfirmed),
        Completion::Superseded(Some(replay)) => (types.replay)(&replay),
        Completion::Superseded(None) => Err(Error::Conflict { retry_after: SOON, lease_left: SOON }),
    }
}

/// Runs the handler without a claim.
pub(super) async fn unprotected<S, F, R, E>(
    idempotency: &Idempotency<S>,
    request: &Request,
    types: Types<R, E>,
    handler: impl FnOnce(Attempt) -> F,
) -> Result<Done<R>, Error<E>>
where
    F: Future<Output = Result<R, E>>,
{
    let error = match handler(idempotency.engine().unprotected_attempt(request)).await {
        Ok(value) => return Ok(Done::now(value)),
        Err(error) => error,
    };
    Err(match (types.classify)(&error) {
        Failure::Retryable { retry_after } => Error::Retryable { error, retry_after },
        Failure::Permanent(failed) => Error::Failed(failed),
        Failure::Abandoned => Error::Abandoned(error),
    })
}

/// The call could not be protected, so the handler did not run.
fn not_claimed<E>(error: ClaimError) -> Error<E> {
    tracing::error!(error = &error as &dyn StdError, "the call was refused because it could not be protected");
    match error {
        ClaimError::Result(_) => Error::ResultUnreadable,
        error => Error::NotProtected(error),
    }
}

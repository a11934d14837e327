//! One call through the protocol.

use std::{error::Error as StdError, future::Future};

use idempotency_core::{Attempt, ClaimError, Claimed, Store, Undo, Undone};

use super::{
    BoxError, Call, Classify, Done, Error, FunctionOperation, Storable,
    error::SOON,
    finish::{compensated, ended, finish},
    shadow,
    types::{Types, types},
    unprotected::unprotected,
};
use crate::{
    Idempotency, Mode, Probed,
    metrics::FlushAtEnd,
    migration::{Old, bridge, function_outcome},
    outcome::{self, Ended, Ending},
    probed::{nobody_can_say as no_probe, said},
    undo::no_undo,
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
    run_with(idempotency, operation, call, no_probe, no_undo, handler).await
}

/// As [`run()`], for an operation that can ask about a lost attempt ([`OnAbandoned::Probe`](crate::OnAbandoned::Probe)) or undo its
/// steps ([`FunctionOperation::undo`]); [`no_probe`](crate::no_probe) and [`no_undo`](crate::no_undo) stand for what it cannot.
///
/// After a lost attempt, `probe` asks the outside world whether its effect happened. It gets the attempt that would follow, whose keys
/// are those of the lost one. An error of the probe is logged and counts as [`Probed::Unknown`].
///
/// When the operation fails for good, `undo` gets each step that has an undo, the last one first. An error of it leaves the operation
/// *stuck* until an operator acts.
///
/// Dropping the future while the probe runs changes nothing; while steps are undone it leaves the rest to the next call after the lease
/// is over; for the rest see [`run()`].
///
/// ```
/// use lambda_idempotency::function::{BoxError, Call, FunctionOperation, run_with};
/// # use lambda_idempotency::{Attempt, Idempotency, IdempotencyKey, MemoryStore, Namespace, OnAbandoned, Operation, Probed, Scope, no_undo};
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
/// let reserve = async |_| Ok::<_, BoxError>("12A".to_owned());
/// let done = run_with(&idempotency, &operation, call, probe, no_undo, reserve).await?;
/// # assert_eq!(done.value, "12A");
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// As [`run()`].
pub async fn run_with<S, P, U, G, F, R, E>(
    idempotency: &Idempotency<S>,
    operation: &FunctionOperation,
    call: Call,
    probe: impl FnOnce(Attempt) -> P,
    undo: U,
    handler: impl FnOnce(Attempt) -> F,
) -> Result<Done<R>, Error<E>>
where
    S: Store,
    P: Future<Output = Result<Probed<R>, BoxError>>,
    U: Fn(Undo) -> G,
    G: Future<Output = Result<Undone, BoxError>>,
    F: Future<Output = Result<R, E>>,
    R: Storable,
    E: Classify,
{
    carry_out(idempotency, operation, call, types(), probe, undo, handler).await
}

/// The same, without asking for anything but [`Types`].
#[doc(hidden)]
pub async fn carry_out<S, P, U, G, F, R, E>(
    idempotency: &Idempotency<S>,
    operation: &FunctionOperation,
    call: Call,
    types: Types<R, E>,
    probe: impl FnOnce(Attempt) -> P,
    undo: U,
    handler: impl FnOnce(Attempt) -> F,
) -> Result<Done<R>, Error<E>>
where
    S: Store,
    P: Future<Output = Result<Probed<R>, BoxError>>,
    U: Fn(Undo) -> G,
    G: Future<Output = Result<Undone, BoxError>>,
    F: Future<Output = Result<R, E>>,
{
    let _flush = FlushAtEnd::new();
    let policy = operation.policy.look_first(call.looks_first());
    let engine = idempotency.engine();
    let old = call.asked().and_then(|asked| Old::of_call(idempotency.migration(), operation.operation.name(), &asked));
    let request = match call.request(idempotency, operation) {
        // It cannot be carried out, but key and scope are known.
        Ok((request, Some(refused))) => {
            if idempotency.mode() != Mode::Off {
                engine.undo_beside(&request, &policy, &undo).await;
            }
            Err(refused)
        }
        Ok((request, None)) => Ok(request),
        Err(refused) => Err(refused),
    };
    let request = match idempotency.mode() {
        Mode::Shadow => return shadow::run(idempotency, operation, request, types, undo, handler).await,
        Mode::Off => {
            let request = request.inspect_err(|_| outcome::refused(&operation.operation))?;
            outcome::unprotected(&operation.operation);
            let attempt = engine.unprotected_attempt(&request, &policy);
            let attempt = attempt.map_err(|error| Error::NotProtected(error.into()))?;
            return unprotected(idempotency, attempt, types, undo, handler).await;
        }
        Mode::Enforce => request.inspect_err(|_| outcome::refused(&operation.operation))?,
    };
    let claimed = engine.claim(&request, &policy).await;
    let mut claimed = bridge(engine, old.as_ref(), &request, &policy, false, function_outcome, claimed).await;
    outcome::claimed(&request, &claimed, &policy);
    if let Ok(Claimed::Abandoned(abandoned)) = claimed {
        claimed = match said(probe(abandoned.attempt().clone()).await) {
            Probed::Happened(value) => {
                let (value, outcome) = (types.store)(value);
                outcome::proven(&request);
                let claim = abandoned.happened();
                let end = Ending::of(&claim, &policy, idempotency.mode());
                let completion = end.log(Ended::Completed, engine.complete(claim, outcome).await);
                return ended(idempotency.mode(), completion, types, Ok(Done::now(value)));
            }
            Probed::DidNotHappen => {
                let claimed = engine.take_over(abandoned, &request, &operation.policy).await;
                bridge(engine, old.as_ref(), &request, &policy, true, function_outcome, claimed).await
            }
            Probed::Unknown => {
                let _ = engine.still_unknown(abandoned).await;
                Ok(Claimed::Uncertain)
            }
        };
        outcome::claimed_after_probe(&request, &claimed);
    }
    match claimed {
        Ok(Claimed::Fresh(claim)) => {
            let returned = handler(claim.attempt().clone()).await;
            finish(idempotency, operation, claim, types, undo, returned).await
        }
        Ok(Claimed::Compensating(claim)) => {
            let end = Ending::of(&claim, &policy, idempotency.mode());
            let outcome = end.undone(engine.resume_compensation(claim, undo).await);
            compensated(idempotency.mode(), outcome, types, None)
        }
        Ok(Claimed::Mismatch) => {
            engine.undo_beside(&request, &policy, undo).await;
            Err(Error::Mismatch)
        }
        Ok(claimed) => instead(claimed, types),
        Err(error) => Err(not_claimed(error)),
    }
}

/// What a call gets whose function does not run, or in vain.
pub(super) fn instead<R, E>(claimed: Claimed, types: Types<R, E>) -> Result<Done<R>, Error<E>> {
    match claimed {
        Claimed::Replay(replay) => (types.replay)(&replay),
        Claimed::Conflict { retry_after, lease_left } => Err(Error::Conflict { retry_after, lease_left }),
        Claimed::Mismatch => Err(Error::Mismatch),
        Claimed::Uncertain => Err(Error::Uncertain),
        Claimed::Stuck => Err(Error::Stuck),
        // Lost a second time between two looks: whoever was quicker asks as well.
        Claimed::Abandoned(_) | Claimed::Fresh(_) | Claimed::Compensating(_) => {
            Err(Error::Conflict { retry_after: SOON, lease_left: SOON })
        }
    }
}

/// The call could not be protected, so the handler did not run.
fn not_claimed<E>(error: ClaimError) -> Error<E> {
    tracing::error!(error = &error as &dyn StdError, "the call was refused because it could not be protected");
    match error {
        ClaimError::Result(_) => Error::ResultUnreadable,
        ClaimError::NotHome(not_home) => Error::Misdirected(not_home),
        error => Error::NotProtected(error),
    }
}

//! One event through the protocol, record by record.

use std::future::Future;

use idempotency_core::{Attempt, Store, Undo, Undone};
use lambda_http::LambdaEvent;

use super::{
    DeliveryError, EventOperation, EventTypes, FromRecord, Identity, Reader, Source, batch::Batch, reader, types,
    types::RecordError,
};
use crate::{
    Idempotency, Probed,
    function::{BoxError, Storable},
    metrics::FlushAtEnd,
    probed::nobody_can_say as no_probe,
    undo::no_undo,
};

/// Runs the records of one event through the protocol: the attribute macro with a trigger, such as `sqs`, is a call of this
/// function.
///
/// Each record is read, identified, claimed, carried out by `handler` and completed for itself. `handler` runs only with proof
/// that this attempt owns the record's key. Claims of a batch reach the store together, and so do their ends.
///
/// Dropping the future leaves the attempts of records that are being carried out abandoned.
///
/// ```
/// use lambda_http::{Context, LambdaEvent};
/// use lambda_idempotency::events::{EventOperation, Identity, Sqs, run};
/// use lambda_idempotency::{Attempt, Idempotency, MemoryStore, Namespace, Operation, Scope, function::BoxError};
///
/// #[derive(serde::Deserialize)]
/// struct Claim {
///     id: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let idempotency = Idempotency::new(MemoryStore::default(), Namespace::new("test")?);
/// let operation = EventOperation::new(Operation::declare("take-in-claim", 1));
/// let event = serde_json::json!({ "Records": [
///     { "messageId": "m-1", "body": "{\"id\": \"claim-7\"}", "eventSource": "aws:sqs" },
///     { "messageId": "m-2", "body": "no JSON", "eventSource": "aws:sqs" },
/// ] });
///
/// let event = LambdaEvent::new(serde_json::from_value(event)?, Context::default());
/// let answer = run(
///     Sqs,
///     &idempotency,
///     &operation,
///     event,
///     |_: &Claim| Identity::new(Scope::none()),
///     async |claim: Claim, attempt: Attempt| {
///         // The effect. Pass `attempt.key()` on to whatever honours idempotency keys.
///         # let _ = (claim.id, attempt);
///         Ok::<_, BoxError>(())
///     },
/// )
/// .await?;
/// assert_eq!(answer.batch_item_failures.len(), 1);
/// assert_eq!(answer.batch_item_failures[0].item_identifier.as_deref(), Some("m-2"));
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// [`DeliveryError`] when the source has to deliver the whole event again. Sources that take a report of single records get that
/// instead.
pub async fn run<Src, S, T, F, R, E>(
    source: Src,
    idempotency: &Idempotency<S>,
    operation: &EventOperation,
    event: LambdaEvent<Src::Event>,
    identify: impl Fn(&T) -> Identity,
    handler: impl Fn(T, Attempt) -> F,
) -> Result<Src::Response, DeliveryError>
where
    Src: Source,
    S: Store,
    T: FromRecord<Src::Record>,
    F: Future<Output = Result<R, E>>,
    R: Storable,
    E: RecordError,
{
    run_with(source, idempotency, operation, event, identify, no_probe, no_undo, handler).await
}

/// As [`run()`], for an operation that can ask about a lost attempt ([`OnAbandoned::Probe`](crate::OnAbandoned::Probe)) or undo its
/// steps ([`EventOperation::undo`]); [`no_probe`](crate::no_probe) and [`no_undo`](crate::no_undo) stand for what it cannot. Both are as
/// for [`function::run_with`](crate::function::run_with()).
///
/// Dropping the future while the probe runs changes nothing; while steps are undone it leaves the rest to the next delivery after the
/// lease is over; for the rest see [`run()`].
///
/// # Errors
///
/// As [`run()`].
#[expect(clippy::too_many_arguments, reason = "each of them is what makes the operation")]
pub async fn run_with<Src, S, T, P, U, G, F, R, E>(
    source: Src,
    idempotency: &Idempotency<S>,
    operation: &EventOperation,
    event: LambdaEvent<Src::Event>,
    identify: impl Fn(&T) -> Identity,
    probe: impl Fn(Attempt) -> P,
    undo: U,
    handler: impl Fn(T, Attempt) -> F,
) -> Result<Src::Response, DeliveryError>
where
    Src: Source,
    S: Store,
    T: FromRecord<Src::Record>,
    P: Future<Output = Result<Probed<R>, BoxError>>,
    U: Fn(Undo) -> G,
    G: Future<Output = Result<Undone, BoxError>>,
    F: Future<Output = Result<R, E>>,
    R: Storable,
    E: RecordError,
{
    carry_out(source, idempotency, operation, event, reader(), types(), identify, probe, undo, handler).await
}

/// The same, without asking for anything but [`Reader`] and [`EventTypes`].
#[doc(hidden)]
#[expect(clippy::too_many_arguments, reason = "only the macro writes such a call")]
pub async fn carry_out<Src, S, T, P, U, G, F, R, E>(
    _: Src,
    idempotency: &Idempotency<S>,
    operation: &EventOperation,
    event: LambdaEvent<Src::Event>,
    reader: Reader<Src::Record, T>,
    types: EventTypes<R, E>,
    identify: impl Fn(&T) -> Identity,
    probe: impl Fn(Attempt) -> P,
    undo: U,
    handler: impl Fn(T, Attempt) -> F,
) -> Result<Src::Response, DeliveryError>
where
    Src: Source,
    S: Store,
    P: Future<Output = Result<Probed<R>, BoxError>>,
    U: Fn(Undo) -> G,
    G: Future<Output = Result<Undone, BoxError>>,
    F: Future<Output = Result<R, E>>,
{
    let _flush = FlushAtEnd::new();
    let mut batch = Batch::<Src, T>::read(idempotency, operation, event, reader, identify);
    batch.carry_out(idempotency, operation, types, probe, undo, handler).await;
    #[cfg(feature = "sqs")]
    let left = batch.left(idempotency.engine().now());
    let settled = batch.settle(operation);
    #[cfg(feature = "sqs")]
    if let Some(client) = idempotency.sqs() {
        super::visibility::postpone::<Src>(client, &settled, left).await;
    }
    Src::respond(settled)
}

//! What delivers records.

use idempotency_core::{Fingerprint, IdempotencyKey, KeyPartError};
use lambda_http::LambdaEvent;

use super::{DeliveryError, EventOperation, Outcome, Payload};
use crate::function::InvalidKey;

/// A service that delivers records to a function: what its events look like, how its records are told apart, and how it is told
/// what became of them.
///
/// The services of this crate implement it. Implement it for another one to run its records through [`run`](super::run()), or for a
/// unit struct to name it as the `source` of the attribute macro.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no source of records",
    label = "this type must implement `lambda_idempotency::events::Source`",
    note = "`Sqs`, `Kinesis` and the others of `lambda_idempotency::events` do; `#[idempotent(source = MySource, …)]` takes a unit struct of your own"
)]
pub trait Source {
    /// What Lambda delivers.
    type Event;

    /// One record of it.
    type Record;

    /// What the function answers.
    type Response;

    /// The service's name, for logs.
    const NAME: &'static str;

    /// The records, in their order.
    fn records(event: LambdaEvent<Self::Event>) -> Vec<Self::Record>;

    /// What a record says about itself.
    fn describe(record: &Self::Record, operation: &EventOperation) -> Description;

    /// What the source and its people call this record, such as a message id: for logs. `None` if it has no name.
    fn name(record: &Self::Record) -> Option<String> {
        let _ = record;
        None
    }

    /// The fingerprint of a record: of its payload, unless more than that makes it this record.
    fn fingerprint(record: &Self::Record, payload: &Payload, operation: &EventOperation) -> Fingerprint {
        let _ = record;
        Fingerprint::builder().json_without("payload", &payload.bytes(), operation.excluded()).finish()
    }

    /// Where a record's next delivery can be put off; `None` where it cannot.
    fn receipt(record: &Self::Record) -> Option<Receipt> {
        let _ = record;
        None
    }

    /// The answer that leads to what became of the records: those that are done are not delivered again, the others are.
    ///
    /// # Errors
    ///
    /// [`DeliveryError`] where the service can be told of a failure only by an error, or not of just these records.
    fn respond(settled: Vec<Settled<Self::Record>>) -> Result<Self::Response, DeliveryError>;
}

/// What a record says about itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Description {
    /// What it says.
    pub payload: Payload,
    /// The key that its sender gave it.
    pub propagated: Option<Result<IdempotencyKey, InvalidKey>>,
    /// The key that its platform's id makes.
    pub platform: Option<Result<IdempotencyKey, InvalidKey>>,
    /// What it must be in order with; `None` where its source keeps no order.
    pub group: Option<String>,
    /// Whether it has probably been delivered before.
    pub is_redelivered: bool,
}

impl Description {
    /// A record with this payload, and nothing else that is known.
    pub const fn new(payload: Payload) -> Self {
        Self { payload, propagated: None, platform: None, group: None, is_redelivered: false }
    }

    /// The same record with the key that its sender gave it, if any.
    #[must_use]
    pub fn propagated<E: Into<InvalidKey>>(self, key: Option<Result<IdempotencyKey, E>>) -> Self {
        Self { propagated: key.map(|key| key.map_err(Into::into)), ..self }
    }

    /// The same record with a platform's id that is a key as it is, such as a UUID.
    #[must_use]
    pub fn id(self, id: Option<impl Into<String>>) -> Self {
        Self { platform: id.map(|id| IdempotencyKey::new(id).map_err(Into::into)), ..self }
    }

    /// The same record with a key made of what its platform tells it apart by.
    #[must_use]
    pub fn derived_id(self, key: Result<IdempotencyKey, KeyPartError>) -> Self {
        Self { platform: Some(key.map_err(Into::into)), ..self }
    }

    /// The same record, to be kept in order with others of the same group.
    #[must_use]
    pub fn group(self, group: Option<impl Into<String>>) -> Self {
        Self { group: group.map(Into::into), ..self }
    }

    /// The same record, which has probably been delivered before.
    #[must_use]
    pub const fn redelivered(mut self, is_redelivered: bool) -> Self {
        self.is_redelivered = is_redelivered;
        self
    }
}

/// The right to say when a message comes again: SQS's `ChangeMessageVisibility`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// The queue's URL.
    pub queue_url: String,
    /// The receipt handle of this delivery.
    pub handle: String,
    /// The group that waits as a whole, in a FIFO queue.
    pub group: Option<String>,
}

impl Receipt {
    /// The receipt of a message from this queue.
    pub fn new(queue_url: impl Into<String>, handle: impl Into<String>) -> Self {
        Self { queue_url: queue_url.into(), handle: handle.into(), group: None }
    }

    /// The same receipt, of a message in this group.
    #[must_use]
    pub fn group(self, group: Option<impl Into<String>>) -> Self {
        Self { group: group.map(Into::into), ..self }
    }
}

/// A record and what became of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settled<R> {
    /// The record.
    pub record: R,
    /// What became of it.
    pub outcome: Outcome,
    /// Whether the source may forget it.
    pub is_done: bool,
}

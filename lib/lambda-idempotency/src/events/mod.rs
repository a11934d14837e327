//! Records that queues, streams and buses deliver: each one once, each batch answered honestly.
//!
//! Two ways lead to the same contract: the attribute macro [`idempotent`](crate::idempotent) with a trigger, such as `sqs`, and the
//! function [`run()`] that it calls. The function of the user is about one record; claims, order, the answer about a batch and its time
//! are taken care of.
//!
//! ```
//! use lambda_http::{Context, LambdaEvent};
//! use lambda_idempotency::{Attempt, Idempotency, MemoryStore, Namespace, function::BoxError, idempotent};
//!
//! #[derive(serde::Deserialize)]
//! struct ClaimReceived {
//!     tenant: String,
//!     id: String,
//! }
//!
//! # struct Table; impl Table { async fn put(&self, _: ClaimReceived, _: &str) -> Result<(), std::io::Error> { Ok(()) } }
//! #[idempotent(sqs, operation = "take-in-claim", version = 1, scope = tenant(&claim.tenant), key = [claim.id])]
//! async fn take_in(claim: ClaimReceived, attempt: &Attempt, table: &Table) -> Result<(), BoxError> {
//!     // The effect. Pass `attempt.key()` on to whatever honours idempotency keys.
//!     Ok(table.put(claim, attempt.key().as_str()).await?)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BoxError> {
//! // `Idempotency::from_env()` where it is deployed, and there
//! // `lambda_runtime::run(service_fn(|event| take_in(&idempotency, &table, event))).await`.
//! let (idempotency, table) = (Idempotency::new(MemoryStore::default(), Namespace::new("test")?), Table);
//! let batch = serde_json::json!({ "Records": [
//!     { "messageId": "m-1", "body": r#"{ "tenant": "tenant-7", "id": "claim-7" }"#, "eventSource": "aws:sqs" },
//!     { "messageId": "m-2", "body": "no JSON", "eventSource": "aws:sqs" },
//! ] });
//! let answer = take_in(&idempotency, &table, LambdaEvent::new(serde_json::from_value(batch)?, Context::default())).await?;
//! assert_eq!(answer.batch_item_failures.len(), 1);
//! # Ok(()) }
//! ```
//!
//! | trigger | [`Source`] | what is not done |
//! |---|---|---|
//! | Amazon SQS, standard and FIFO | [`Sqs`] | reported by message id |
//! | Kinesis Data Streams | [`Kinesis`] | reported from the first sequence number on |
//! | DynamoDB Streams | [`DynamoDbStream`] | reported from the first sequence number on |
//! | Kafka | [`Kafka`], [`KafkaReporting`] | an error; reported from the first offset of a partition on |
//! | EventBridge | [`EventBridge`] | an error, after which Lambda repeats it |
//! | SNS, S3, Scheduler, asynchronous invocation | [`Sns`], [`S3`], [`Scheduler`], [`Invocation`] | an error, after which Lambda repeats it |
//!
//! What becomes of a record is an [`Outcome`]. Fresh and replayed records are done. A conflict, where another attempt may be running, is
//! never done: if that attempt dies, the record must come again. A record that cannot be read, has no usable key, does not match
//! what its key was used for, or has failed for good goes the way that its source has for what fails, to a dead-letter queue, and its
//! handler does not run again; [`OnPoison`] has another choice.
//!
//! # The key
//!
//! In this order: the key that travels with the record ([`propagation`](crate::propagation)), the business key that the function
//! declares ([`Identity::key`]), the id that the platform gave it (each [`Source`] says which).
//!
//! # Order
//!
//! Messages of a FIFO group, records of a shard and of a partition are carried out one after the other, and stop at the first that is not
//! done. The end of one is stored before the next one begins, so nothing that comes later can overtake it after a crash. All others
//! run side by side ([`EventOperation::concurrency`]); a record that stands in a batch twice runs once.
//!
//! # Requests
//!
//! Claims of records that run side by side reach DynamoDB together, and so do their ends: a batch of 10 fresh messages costs 2 requests
//! (`BatchExecuteStatement`, up to 25 each), and one more if there are duplicates among them. Messages that SQS delivers again are
//! read first. A record that is alone, or in order with others, costs 2.

mod batch;
mod chains;
mod error;
mod identity;
mod operation;
mod outcome;
mod payload;
mod run;
mod source;
mod sources;
mod summary;
mod time;
mod types;
#[cfg(feature = "sqs")]
mod visibility;

pub use error::DeliveryError;
pub use identity::Identity;
pub use operation::EventOperation;
pub use outcome::{OnPoison, Outcome};
pub use payload::{Delivered, FromRecord, Payload, Raw, Undecodable};
#[doc(hidden)]
pub use run::carry_out;
pub use run::{run, run_with};
pub use source::{Description, Receipt, Settled, Source};
pub use sources::{
    DynamoDbStream, EventBridge, Invocation, InvocationRecord, Kafka, KafkaBatchItemFailure, KafkaBatchResponse,
    KafkaDelivery, KafkaItemIdentifier, KafkaReporting, Kinesis, S3, Scheduler, Sns, Sqs,
};
#[doc(hidden)]
pub use types::{EventTypes, Reader, reader, types};

//! A local EventBridge bus: it takes events and hands them to functions and queues.
//!
//! The SDK's clients are pointed at [`EventBus::url`] (`AWS_ENDPOINT_URL_EVENTBRIDGE`).
//!
//! | request | answer |
//! |---|---|
//! | `POST /` with `X-Amz-Target: AWSEvents.PutEvents` | AWS JSON 1.1: an `EventId` per entry, or an `ErrorCode`. Up to 10 entries and 1 MB |
//! | `POST /events` `{"source":"claims","detail-type":"ClaimFiled","detail":{}}` | 202 and the event's id; 400 and what is wrong |
//!
//! A function is invoked asynchronously, so [`AsyncInvoker`](crate::lambda::AsyncInvoker) does the retries. EventBridge delivers
//! at least once: [`EventBus::duplicate_every`] makes it twice, under the same event id and two request ids.
//!
//! What is not emulated: other operations (rules are made in Rust, see [`Rule`] for what a pattern can say), buses by name (all
//! entries are for this one), input transformers, archives, the schedule, and EventBridge's own retries of a target that does
//! not take an event, which are counted as undelivered instead.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use idempotency_testkit::eventbridge::{EventBus, Rule};
//! use idempotency_testkit::sqs::{QueueConfig, Sqs};
//!
//! let sqs = Sqs::start().await?;
//! let queue = sqs.create_queue(QueueConfig::new("claims"))?;
//! let bus = EventBus::start().await?;
//! bus.add_rule(Rule::new("filed").source("claims").detail_type("ClaimFiled").target(queue));
//! assert!(bus.url().starts_with("http://127.0.0.1:"));
//! # Ok(())
//! # }
//! ```

mod bus;
mod entry;
mod routes;
mod rule;

pub use bus::{BusCounts, EventBus};
pub use rule::{Rule, Target};

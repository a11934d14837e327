//! A local SQS: queues that speak AWS's protocol, with SQS's semantics.
//!
//! The SDK's clients are pointed at [`Sqs::url`] (`AWS_ENDPOINT_URL_SQS`). For people there are plain requests beside it:
//!
//! | request | answer |
//! |---|---|
//! | `POST /` with `X-Amz-Target: AmazonSQS.…` | AWS JSON 1.0: `CreateQueue`, `DeleteQueue`, `GetQueueUrl`, `ListQueues`, `PurgeQueue`, `Get-` and `SetQueueAttributes`, `SendMessage`, `ReceiveMessage`, `DeleteMessage`, `ChangeMessageVisibility` and the three batches, `StartMessageMoveTask` |
//! | `POST /queues/NAME/messages` | sends the body as it is; 201 and the message id. Headers `x-message-group-id`, `x-message-deduplication-id` and `x-attribute-NAME` (the name in lower case, as HTTP has it), or `?NAME=value` for an attribute whose case counts |
//! | `GET /queues/NAME/messages` | what lies in the queue, without receiving it |
//! | `GET /queues/NAME`, `GET /queues` | names and counts |
//!
//! # Semantics
//!
//! - A received message is invisible for the visibility timeout, and then comes again under another receipt handle. A standard
//!   queue deletes under the newest handle only, also after the timeout if nobody has received the message since; under an
//!   older one it says yes and does nothing. A FIFO queue refuses a handle after its timeout.
//! - A FIFO queue (name ending with `.fifo`) hands out nothing of a group while a message of it is in flight, except within one
//!   receive. The deduplication id is remembered for five minutes, also after the message was deleted.
//! - A message that was received `maxReceiveCount` times goes to the dead-letter queue when it would be received again, and
//!   keeps its id. [`Queue::redrive`] makes a new message of it.
//! - [`QueueConfig::duplicate_every`] delivers messages of a standard queue twice, as SQS may: a second copy under the same id
//!   that the deletion of the first does not reach.
//! - Standard queues here keep the order. SQS does not promise it: a test must not rely on it.
//!
//! What is not emulated: permissions, encryption, tags, the limit of 120,000 messages in flight, receive request attempt ids,
//! and every other operation (`UnsupportedOperation`).
//!
//! # Functions
//!
//! An [`EventSourceMapping`] invokes a [`crate::lambda::Function`] with what is in a queue.
//!
//! # Time
//!
//! [`Sqs::advance`] lets visibility timeouts and retention periods pass at once.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use idempotency_testkit::sqs::{Message, QueueConfig, Sqs};
//!
//! let sqs = Sqs::start().await?;
//! let dead_letters = sqs.create_queue(QueueConfig::new("claims-dlq"))?;
//! let queue = sqs.create_queue(QueueConfig::new("claims").dead_letter("claims-dlq", 1))?;
//! queue.send(Message::new("{}").attribute("Idempotency-Key", "claim-17"))?;
//!
//! let received = queue.receive(10, Duration::ZERO).await?;
//! assert_eq!((received.len(), queue.counts().in_flight), (1, 1));
//!
//! // Nobody deletes it. The next receive would be the second one.
//! sqs.advance(Duration::from_secs(30));
//! assert_eq!(queue.receive(10, Duration::ZERO).await?, []);
//! assert_eq!(dead_letters.messages()[0].receive_count, 1);
//! # Ok(())
//! # }
//! ```

mod account;
mod attribute;
mod checksum;
mod config;
mod counts;
mod error;
mod fifo;
mod mapping;
mod message;
mod queue;
mod queue_state;
mod receipt;
mod routes;
mod server;
mod shared;
mod stored;
mod system_attributes;
mod wire;

pub use attribute::{AttributeValue, MessageAttribute};
pub use config::{DeadLetter, QueueConfig};
pub use counts::{Counts, Sent};
pub use error::SqsError;
pub use mapping::{EventSourceMapping, MappingConfig, MappingCounts, MappingError};
pub(crate) use mapping::{Verdict, verdict};
pub use message::Message;
pub use queue::Queue;
pub use receipt::Receipt;
pub use server::Sqs;
pub use stored::{MessageState, QueuedMessage, Received};

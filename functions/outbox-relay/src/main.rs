//! The relay of the outbox: events that handlers staged with their effects go from the idempotency table's stream to EventBridge and
//! to SQS queues.
//!
//! Each event is sent at least once, and those of one record in the order in which they were staged: the next is sent when the one
//! before it was taken. The stream may show what one transaction has staged in another order; what is missing then is read from the
//! table. Events of different records go side by side. A receiver knows an event by its id, which is the same however
//! often it comes, and gets the key that was staged with it, which is the id unless the handler chose another:
//!
//! | | EventBridge | SQS |
//! |---|---|---|
//! | id | member `outboxEventId` of the detail | attribute `Outbox-Event-Id`; the deduplication id in a FIFO queue |
//! | key | member `idempotencyKey` of the detail | attribute `Idempotency-Key` |
//! | order | | group of a FIFO queue: the record's |
//! | when it was staged | the event's `time` | |
//!
//! What was sent is marked with `sent_at`. A mark that fails is logged and nothing more: the event was sent. What cannot be sent, for
//! now or ever, is logged with its place in the table and reported by its sequence number, so that the event source mapping tries
//! again and hands it to its on-failure destination in the end. Later events of the same record wait for it; those of others do not.
//!
//! # Environment
//!
//! | variable | meaning |
//! |---|---|
//! | `IDEMPOTENCY_TABLE` | table of the idempotency records |
//! | `IDEMPOTENCY_NAMESPACE` | this deployment's name: what others have staged in the same table is left to their relays |
//! | `OUTBOX_BUS` | name or ARN of the event bus; may be missing if there are queues |
//! | `OUTBOX_QUEUES` | the queues, a JSON object of their names in the code and their URLs: `{"receipts": "https://sqs…"}`; may be missing if there is a bus |

mod bus;
mod chunks;
mod config;
mod in_order;
mod known;
mod marks;
mod predecessors;
mod queues;
mod relay;
mod routes;
mod send_error;
mod staged;

use lambda_runtime::{Error, run, service_fn};

use crate::config::app_from_env;

#[tokio::main]
async fn main() -> Result<(), Error> {
    lambda_idempotency::init_logs();
    let app = app_from_env().await?;
    run(service_fn(|event| relay::relay(&app, event))).await
}

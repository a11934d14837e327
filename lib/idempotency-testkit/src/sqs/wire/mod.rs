//! The AWS JSON 1.0 protocol, as the SQS API Reference describes it per action.

mod batch;
mod error;
mod fields;
mod message;
mod queue_attributes;
mod queues;

use std::time::Duration;

use serde_json::Value;

use super::SqsError;
use super::shared::Shared;

pub(super) use error::ErrorAnswer;
use fields::Fields;

/// Does what a request asks for and returns the answer's body.
pub(super) async fn operate(shared: &Shared, operation: &str, body: &[u8]) -> Result<Value, SqsError> {
    let fields = Fields::read(body)?;
    match operation {
        "CreateQueue" => queues::create(shared, &fields),
        "DeleteQueue" => queues::delete(shared, &fields),
        "GetQueueUrl" => queues::url(shared, &fields),
        "ListQueues" => queues::list(shared, &fields),
        "PurgeQueue" => queues::purge(shared, &fields),
        "GetQueueAttributes" => queues::attributes(shared, &fields),
        "SetQueueAttributes" => queues::set_attributes(shared, &fields),
        "StartMessageMoveTask" => queues::start_move(shared, &fields),
        "SendMessage" => message::send(shared, &fields),
        "SendMessageBatch" => batch::send(shared, &fields),
        "ReceiveMessage" => message::receive(shared, &fields).await,
        "DeleteMessage" => message::delete(shared, &fields),
        "DeleteMessageBatch" => batch::each(&fields, |entry| message::delete_entry(shared, fields.queue()?, entry)),
        "ChangeMessageVisibility" => message::change_visibility(shared, &fields),
        "ChangeMessageVisibilityBatch" => {
            batch::each(&fields, |entry| message::change_entry(shared, fields.queue()?, entry))
        }
        _ => Err(SqsError::Unsupported { name: operation.to_owned() }),
    }
}

/// Whole seconds, rounded up: what the API shows of a duration that may be shorter.
fn seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

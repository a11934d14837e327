//! Amazon SQS, standard and FIFO.

use aws_lambda_events::{
    sqs::{SqsEvent, SqsMessage},
    streams::{SqsBatchItemFailure, SqsEventResponse},
};
use bytes::Bytes;
use idempotency_core::{IdempotencyKey, KeyPartError};
use lambda_http::LambdaEvent;
use sha2::{Digest, Sha256};

use crate::{
    events::{DeliveryError, Description, EventOperation, Payload, Receipt, Settled, Source},
    propagation,
};

/// An Amazon SQS queue, standard or FIFO. What is not done is reported by its message id, and comes again after its visibility
/// timeout or goes to the dead-letter queue; the event source mapping must have `ReportBatchItemFailures`, without which Lambda
/// takes every answer for success.
///
/// A message's platform key is its `messageId`. In a FIFO queue it is the deduplication id that the sender gave, together with the
/// queue's ARN and the group, so a message that is sent again after the queue's five minutes is recognised; but not one that is the hash of
/// the body (content-based deduplication), because the same content may be meant twice some day. A message that is redriven from
/// a dead-letter queue gets a new id: if that is to be recognised, let the key travel in the message or derive it from its content.
///
/// Messages of a FIFO group are carried out one after the other, groups side by side; behind a failure the rest of the group is
/// reported unclaimed.
#[derive(Clone, Copy, Debug)]
pub struct Sqs;

impl Source for Sqs {
    type Event = SqsEvent;
    type Record = SqsMessage;
    type Response = SqsEventResponse;

    const NAME: &'static str = "sqs";

    fn records(event: LambdaEvent<SqsEvent>) -> Vec<SqsMessage> {
        event.payload.records
    }

    fn describe(message: &SqsMessage, operation: &EventOperation) -> Description {
        let body = message.body.clone().unwrap_or_default();
        let attributes = message.message_attributes.iter();
        let key = propagation::among(attributes.map(|(name, value)| (name.as_str(), value.string_value.as_deref())));
        let group = attribute(message, "MessageGroupId");
        // Standard queues have groups too (fair queues), which keep no order.
        let group = group.filter(|_| attribute(message, "SequenceNumber").is_some());
        // Receive counts begin with 1 (Amazon SQS API Reference, "ReceiveMessage").
        let receives = attribute(message, "ApproximateReceiveCount").and_then(|count| count.parse::<u32>().ok());
        let is_redelivered = receives.is_some_and(|receives| receives > 1);
        let description = match deduplication_id(message, &body) {
            Some(id) => {
                Description::new(Payload::Bytes(Bytes::from(body))).derived_id(of_queue(operation, message, id))
            }
            None => Description::new(Payload::Bytes(Bytes::from(body))).id(message.message_id.clone()),
        };
        description.propagated(key).group(group).redelivered(is_redelivered)
    }

    fn receipt(message: &SqsMessage) -> Option<Receipt> {
        let queue = queue_url(message.event_source_arn.as_deref()?)?;
        let group = attribute(message, "MessageGroupId").filter(|_| attribute(message, "SequenceNumber").is_some());
        Some(Receipt::new(queue, message.receipt_handle.clone()?).group(group))
    }

    fn name(message: &SqsMessage) -> Option<String> {
        message.message_id.clone()
    }

    fn respond(settled: Vec<Settled<SqsMessage>>) -> Result<SqsEventResponse, DeliveryError> {
        let mut response = SqsEventResponse::default();
        for settled in settled.into_iter().filter(|settled| !settled.is_done) {
            let id = settled.record.message_id.filter(|id| !id.is_empty()).ok_or(DeliveryError::NoIdentifier)?;
            let mut failure = SqsBatchItemFailure::default();
            failure.item_identifier = Some(id);
            response.batch_item_failures.push(failure);
        }
        Ok(response)
    }
}

/// `arn:aws:sqs:eu-west-1:123456789012:orders` is at `https://sqs.eu-west-1.amazonaws.com/123456789012/orders` (Amazon SQS
/// Developer Guide, "Amazon SQS queue and message identifiers").
fn queue_url(arn: &str) -> Option<String> {
    let mut parts = arn.split(':').skip(1);
    let (partition, _, region, account, name) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let suffix = if partition == "aws-cn" { ".cn" } else { "" };
    Some(format!("https://sqs.{region}.amazonaws.com{suffix}/{account}/{name}"))
}

fn attribute<'a>(message: &'a SqsMessage, name: &str) -> Option<&'a str> {
    message.attributes.get(name).map(String::as_str)
}

/// The sender's own deduplication id. One that is made of the content is the SHA-256 of the body (Amazon SQS Developer Guide, "Using
/// the message deduplication ID in Amazon SQS").
fn deduplication_id<'a>(message: &'a SqsMessage, body: &str) -> Option<&'a str> {
    let id = attribute(message, "MessageDeduplicationId")?;
    let of_content = || Sha256::digest(body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    (id.len() != 64 || !id.eq_ignore_ascii_case(&of_content())).then_some(id)
}

/// A deduplication id means something within its queue only, and by choice (`DeduplicationScope`) within its group only. That a
/// message is sent again into another group is taken for another message then, which it is if that choice is made.
fn of_queue(operation: &EventOperation, message: &SqsMessage, id: &str) -> Result<IdempotencyKey, KeyPartError> {
    IdempotencyKey::derived(operation.operation())
        .part("queue", &message.event_source_arn)
        .part("group", &attribute(message, "MessageGroupId"))
        .part("deduplication_id", id)
        .finish()
}

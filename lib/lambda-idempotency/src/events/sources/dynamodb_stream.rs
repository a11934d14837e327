//! DynamoDB Streams.

use aws_lambda_events::{
    dynamodb::{Event, EventRecord},
    streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse},
};
use idempotency_core::Fingerprint;
use lambda_http::LambdaEvent;

use super::shard::first_not_done;
use crate::events::{DeliveryError, Description, EventOperation, Payload, Settled, Source, payload::item_json};

/// A DynamoDB table's stream. Records are carried out in the order of their shard, up to the first that is not done, from whose
/// sequence number Lambda goes on; the event source mapping must have `ReportBatchItemFailures`.
///
/// The payload is the new item; of a removal the old one; where the stream has keys only, these. It is read by `serde_dynamo`. A
/// record's platform key is its `eventID`; a key of your own should tell insertion, change and removal apart, for an item goes
/// through all of them. The fingerprint covers what happened, the old item and the payload.
#[derive(Clone, Copy, Debug)]
pub struct DynamoDbStream;

impl Source for DynamoDbStream {
    type Event = Event;
    type Record = EventRecord;
    type Response = DynamoDbEventResponse;

    const NAME: &'static str = "dynamodb";

    fn records(event: LambdaEvent<Event>) -> Vec<EventRecord> {
        event.payload.records
    }

    fn describe(record: &EventRecord, _: &EventOperation) -> Description {
        let change = &record.change;
        let images = [&change.new_image, &change.old_image, &change.keys];
        let item = images.into_iter().find(|image| !image.is_empty()).unwrap_or(&change.keys);
        // All records of an event are of one shard.
        Description::new(Payload::Item(item.clone())).id(Some(record.event_id.as_str())).group(Some(""))
    }

    /// An insertion, a change and a removal of the same item are three records, whatever key they are given.
    fn fingerprint(record: &EventRecord, payload: &Payload, operation: &EventOperation) -> Fingerprint {
        let change = &record.change;
        Fingerprint::builder()
            .bytes("event", record.event_name.as_bytes())
            .bytes("old", &item_json(&change.old_image))
            .json_without("payload", &payload.bytes(), operation.excluded())
            .finish()
    }

    fn name(record: &EventRecord) -> Option<String> {
        Some(record.event_id.clone())
    }

    fn respond(settled: Vec<Settled<EventRecord>>) -> Result<DynamoDbEventResponse, DeliveryError> {
        let mut response = DynamoDbEventResponse::default();
        if let Some(number) = first_not_done(settled, |record| record.change.sequence_number)? {
            let mut failure = DynamoDbBatchItemFailure::default();
            failure.item_identifier = Some(number);
            response.batch_item_failures.push(failure);
        }
        Ok(response)
    }
}

//! Kinesis Data Streams.

use aws_lambda_events::{
    kinesis::{KinesisEvent, KinesisEventRecord},
    streams::KinesisEventResponse,
};
use bytes::Bytes;
use idempotency_core::IdempotencyKey;
use lambda_http::LambdaEvent;

use super::shard::first_not_done;
use crate::events::{DeliveryError, Description, EventOperation, Payload, Settled, Source};

/// A Kinesis data stream. Records are carried out in the order of their shard, up to the first that is not done, from whose
/// sequence number Lambda goes on; the event source mapping must have `ReportBatchItemFailures`. With
/// [`order_by_key`](EventOperation::order_by_key) partition keys run side by side.
///
/// A record's platform key is made of the stream and its `eventID`, shard and sequence number. The same data put twice are two records: if a producer
/// retries, let the key be derived from the data.
#[derive(Clone, Copy, Debug)]
pub struct Kinesis;

impl Source for Kinesis {
    type Event = KinesisEvent;
    type Record = KinesisEventRecord;
    type Response = KinesisEventResponse;

    const NAME: &'static str = "kinesis";

    fn records(event: LambdaEvent<KinesisEvent>) -> Vec<KinesisEventRecord> {
        event.payload.records
    }

    fn describe(record: &KinesisEventRecord, operation: &EventOperation) -> Description {
        let group = match operation.is_ordered_by_key() {
            true => record.kinesis.partition_key.as_str(),
            false => "",
        };
        let id = IdempotencyKey::derived(operation.operation())
            // Shards of two streams may have the same names and numbers.
            .part("stream", &format!("of {}", record.event_source_arn.as_deref().unwrap_or_default()))
            .part("event", &record.event_id)
            .finish();
        Description::new(Payload::Bytes(Bytes::copy_from_slice(&record.kinesis.data.0)))
            .derived_id(id)
            .group(Some(group))
    }

    fn name(record: &KinesisEventRecord) -> Option<String> {
        record.event_id.clone()
    }

    fn respond(settled: Vec<Settled<KinesisEventRecord>>) -> Result<KinesisEventResponse, DeliveryError> {
        let mut response = KinesisEventResponse::default();
        response.set_failures(first_not_done(settled, |record| Some(record.kinesis.sequence_number))?);
        Ok(response)
    }
}

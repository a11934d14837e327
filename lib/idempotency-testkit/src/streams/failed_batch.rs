//! What the on-failure destination is told of a batch that was given up.

use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

use super::batch::sequence_number;
use crate::civil_time::CivilTime;
use crate::lambda::function_arn;
use crate::sqs::Message;

#[derive(Debug)]
pub(super) struct FailedBatch<'a> {
    pub(super) function: &'a str,
    pub(super) stream_arn: &'a str,
    pub(super) shard: &'a str,
    pub(super) records: &'a [Value],
    pub(super) invocations: u32,
    pub(super) at: Duration,
}

impl FailedBatch<'_> {
    /// "Retain discarded records for a DynamoDB event source in Lambda": where the records stand in the stream, and not what they say.
    pub(super) fn message(&self) -> Message {
        let (first, last) = (self.records.first(), self.records.last());
        let number = |record: Option<&Value>| record.and_then(sequence_number).map(str::to_owned);
        let record = json!({
            "requestContext": {
                "requestId": Uuid::new_v4().to_string(),
                "functionArn": format!("{}:$LATEST", function_arn(self.function)),
                "condition": "RetryAttemptsExhausted",
                "approximateInvokeCount": self.invocations,
            },
            "responseContext": { "statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled" },
            "version": "1.0",
            "timestamp": CivilTime::of(self.at).iso_millis(),
            "DDBStreamBatchInfo": {
                "shardId": self.shard,
                "startSequenceNumber": number(first),
                "endSequenceNumber": number(last),
                "approximateArrivalOfFirstRecord": arrival(first),
                "approximateArrivalOfLastRecord": arrival(last),
                "batchSize": self.records.len(),
                "streamArn": self.stream_arn,
            },
        });
        Message::new(record.to_string())
    }
}

fn arrival(record: Option<&Value>) -> Option<String> {
    let seconds = record?.pointer("/dynamodb/ApproximateCreationDateTime")?.as_f64()?;
    Some(CivilTime::of(Duration::try_from_secs_f64(seconds).ok()?).iso_seconds())
}

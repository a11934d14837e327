//! Settings and counts of a queue, as `GetQueueAttributes` and `SetQueueAttributes` name them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::queues::name_of;
use super::seconds;
use crate::sqs::queue_state::QueueState;
use crate::sqs::shared::arn;
use crate::sqs::{DeadLetter, QueueConfig, SqsError};

/// Puts the attributes of a request into a queue's settings.
pub(super) fn apply(config: &mut QueueConfig, attributes: &BTreeMap<&str, &Value>) -> Result<(), SqsError> {
    for (name, value) in attributes {
        let value = value.as_str().unwrap_or_default();
        match *name {
            "VisibilityTimeout" => config.visibility_timeout = whole_seconds("VisibilityTimeout", value)?,
            "DelaySeconds" => config.delay = whole_seconds("DelaySeconds", value)?,
            "MessageRetentionPeriod" => config.retention = whole_seconds("MessageRetentionPeriod", value)?,
            "ReceiveMessageWaitTimeSeconds" => {
                config.receive_wait = whole_seconds("ReceiveMessageWaitTimeSeconds", value)?;
            }
            "MaximumMessageSize" => {
                config.largest_message = value.parse().map_err(|_| number("MaximumMessageSize"))?;
            }
            "ContentBasedDeduplication" => config.content_based_deduplication = value == "true",
            "RedrivePolicy" => config.dead_letter = redrive_policy(value)?,
            "FifoQueue" if (value == "true") == config.is_fifo() => {}
            "FifoQueue" => {
                let why = "a FIFO queue's name ends with `.fifo`, and no other does";
                return Err(SqsError::InvalidSetting { name: "FifoQueue", why });
            }
            // Settings that change nothing here: permissions, encryption, throughput, tags.
            "Policy"
            | "RedriveAllowPolicy"
            | "KmsMasterKeyId"
            | "KmsDataKeyReusePeriodSeconds"
            | "SqsManagedSseEnabled"
            | "DeduplicationScope"
            | "FifoThroughputLimit" => {}
            other => return Err(SqsError::UnknownSetting { name: other.to_owned() }),
        }
    }
    Ok(())
}

fn whole_seconds(name: &'static str, value: &str) -> Result<Duration, SqsError> {
    value.parse().map(Duration::from_secs).map_err(|_| number(name))
}

fn number(name: &'static str) -> SqsError {
    SqsError::InvalidSetting { name, why: "it must be a whole number" }
}

/// `{"deadLetterTargetArn":"arn:aws:sqs:…","maxReceiveCount":5}`; the count may be a string. Empty removes it.
fn redrive_policy(value: &str) -> Result<Option<DeadLetter>, SqsError> {
    if value.is_empty() {
        return Ok(None);
    }
    let why = "it must be a JSON object with deadLetterTargetArn and maxReceiveCount";
    let invalid = SqsError::InvalidSetting { name: "RedrivePolicy", why };
    let Ok(policy) = serde_json::from_str::<Value>(value) else { return Err(invalid) };
    let count = policy.get("maxReceiveCount");
    let count = count.and_then(|count| count.as_u64().or_else(|| count.as_str()?.parse().ok()));
    let count = count.and_then(|count| u32::try_from(count).ok());
    match (policy.get("deadLetterTargetArn").and_then(Value::as_str), count) {
        (Some(arn), Some(count)) => Ok(Some(DeadLetter { queue: name_of(arn)?.to_owned(), max_receive_count: count })),
        _ => Err(invalid),
    }
}

/// All attributes of a queue.
pub(super) fn describe(queue: &QueueState, now: Duration) -> BTreeMap<&'static str, String> {
    let (config, counts) = (&queue.config, queue.counts(now));
    let mut attributes = BTreeMap::from([
        ("QueueArn", arn(&config.name)),
        ("CreatedTimestamp", queue.created.as_secs().to_string()),
        ("LastModifiedTimestamp", queue.created.as_secs().to_string()),
        ("VisibilityTimeout", seconds(config.visibility_timeout).to_string()),
        ("DelaySeconds", seconds(config.delay).to_string()),
        ("MessageRetentionPeriod", seconds(config.retention).to_string()),
        ("ReceiveMessageWaitTimeSeconds", seconds(config.receive_wait).to_string()),
        ("MaximumMessageSize", config.largest_message.to_string()),
        ("ApproximateNumberOfMessages", counts.visible.to_string()),
        ("ApproximateNumberOfMessagesNotVisible", counts.in_flight.to_string()),
        ("ApproximateNumberOfMessagesDelayed", counts.delayed.to_string()),
    ]);
    if let Some(to) = &config.dead_letter {
        let policy = json!({ "deadLetterTargetArn": arn(&to.queue), "maxReceiveCount": to.max_receive_count });
        attributes.insert("RedrivePolicy", policy.to_string());
    }
    if config.is_fifo() {
        attributes.insert("FifoQueue", true.to_string());
        attributes.insert("ContentBasedDeduplication", config.content_based_deduplication.to_string());
    }
    attributes
}

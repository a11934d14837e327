//! What a record is known by, read from the decoded event without the code under test.

use aws_lambda_events::{
    dynamodb::EventRecord, eventbridge::EventBridgeEvent, kinesis::KinesisEventRecord, s3::S3EventRecord,
    sns::SnsRecord, sqs::SqsMessage,
};
use lambda_idempotency::events::{
    DynamoDbStream, EventBridge, Invocation, InvocationRecord, Kafka, KafkaDelivery, KafkaReporting, Kinesis, S3,
    Scheduler, Sns, Source, Sqs,
};
use serde_json::{Value, json};

use super::deliver::REQUEST_ID;

/// What makes a key, as the contract has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Identity {
    /// A text that is the key.
    Key(String),
    /// The parts that the key is made of.
    Parts(Vec<String>),
}

/// A source's contract, written down a second time.
pub(super) trait Known: Source {
    /// Whether it takes a report of single records.
    const REPORTS: bool = false;

    /// The key that travels with a record: `Err` if one is there and cannot be used.
    fn travelling(record: &Self::Record) -> Option<Result<Identity, ()>> {
        let _ = record;
        None
    }

    /// The key that the platform's id makes.
    fn platform(record: &Self::Record) -> Option<Result<Identity, ()>>;

    /// What the record is in order with.
    fn group(record: &Self::Record) -> Option<String> {
        let _ = record;
        None
    }

    /// What must be the same when its key is, given its payload.
    fn compared(record: &Self::Record, payload: &[u8]) -> Vec<u8> {
        let _ = record;
        payload.to_vec()
    }

    /// How the source is told of the record; `None` where it is told of the whole event only.
    fn identifier(record: &Self::Record) -> Option<Value>;

    /// Of which records, given what is not done, the source is told.
    fn told(records: &[Self::Record], not_done: &[usize]) -> Vec<usize> {
        let _ = records;
        not_done.to_vec()
    }
}

/// A text as a key: 1 to 255 visible ASCII characters.
pub(super) fn key(text: &str) -> Result<Identity, ()> {
    let fits = (1..=255).contains(&text.len()) && text.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    if fits { Ok(Identity::Key(text.to_owned())) } else { Err(()) }
}

/// A key that is made of parts, none of them blank.
fn parts(parts: &[&str]) -> Result<Identity, ()> {
    let fits = parts.iter().all(|part| !part.trim().is_empty());
    if fits { Ok(Identity::Parts(parts.iter().map(ToString::to_string).collect())) } else { Err(()) }
}

/// The only one of these, which must be a text.
fn only(mut keys: impl Iterator<Item = Option<String>>) -> Option<Result<Identity, ()>> {
    let first = keys.next()?;
    Some(if keys.next().is_some() { Err(()) } else { first.ok_or(()).and_then(|text| key(&text)) })
}

fn is_key(name: &str) -> bool {
    name.eq_ignore_ascii_case("idempotency-key")
}

fn member(payload: &Value) -> Option<Result<Identity, ()>> {
    let value = payload.as_object()?.get("idempotencyKey")?;
    Some(value.as_str().ok_or(()).and_then(key))
}

impl Known for Sqs {
    const REPORTS: bool = true;

    fn travelling(message: &SqsMessage) -> Option<Result<Identity, ()>> {
        let attributes = message.message_attributes.iter().filter(|(name, _)| is_key(name));
        only(attributes.map(|(_, attribute)| attribute.string_value.clone()))
    }

    fn platform(message: &SqsMessage) -> Option<Result<Identity, ()>> {
        match message.attributes.get("MessageDeduplicationId") {
            Some(id) => {
                let group = message.attributes.get("MessageGroupId");
                let place = message.event_source_arn.as_ref().zip(group).ok_or(());
                Some(place.and_then(|(queue, group)| parts(&[queue, group, id])))
            }
            None => message.message_id.as_deref().map(key),
        }
    }

    fn group(message: &SqsMessage) -> Option<String> {
        message.attributes.get("SequenceNumber").and_then(|_| message.attributes.get("MessageGroupId").cloned())
    }

    fn identifier(message: &SqsMessage) -> Option<Value> {
        Some(json!(message.message_id))
    }
}

impl Known for Kinesis {
    const REPORTS: bool = true;

    fn platform(record: &KinesisEventRecord) -> Option<Result<Identity, ()>> {
        // A stream without a name is one too.
        let stream = format!("of {}", record.event_source_arn.as_deref().unwrap_or_default());
        Some(record.event_id.as_deref().ok_or(()).and_then(|event| parts(&[&stream, event])))
    }

    fn group(_: &KinesisEventRecord) -> Option<String> {
        Some("the shard".into())
    }

    fn identifier(record: &KinesisEventRecord) -> Option<Value> {
        Some(json!(record.kinesis.sequence_number))
    }

    fn told(_: &[KinesisEventRecord], not_done: &[usize]) -> Vec<usize> {
        not_done.first().copied().into_iter().collect()
    }
}

impl Known for DynamoDbStream {
    const REPORTS: bool = true;

    fn platform(record: &EventRecord) -> Option<Result<Identity, ()>> {
        Some(key(&record.event_id))
    }

    fn group(_: &EventRecord) -> Option<String> {
        Some("the shard".into())
    }

    fn identifier(record: &EventRecord) -> Option<Value> {
        Some(json!(record.change.sequence_number))
    }

    fn compared(record: &EventRecord, payload: &[u8]) -> Vec<u8> {
        let old = serde_json::to_value(&record.change.old_image).unwrap();
        serde_json::to_vec(&json!([record.event_name, old, payload])).unwrap()
    }

    fn told(_: &[EventRecord], not_done: &[usize]) -> Vec<usize> {
        not_done.first().copied().into_iter().collect()
    }
}

fn of_kafka(delivery: &KafkaDelivery) -> Option<Result<Identity, ()>> {
    let partition = &*delivery.topic_partition;
    let written = delivery.record.timestamp.timestamp_millis().to_string();
    Some(parts(&[&delivery.cluster, partition, &delivery.record.offset.to_string(), &written]))
}

fn kafka_header(delivery: &KafkaDelivery) -> Option<Result<Identity, ()>> {
    let headers = delivery.record.headers.iter().flat_map(|headers| headers.iter()).filter(|(name, _)| is_key(name));
    only(headers.map(|(_, value)| String::from_utf8(value.iter().map(|byte| byte.cast_unsigned()).collect()).ok()))
}

impl Known for Kafka {
    fn travelling(delivery: &KafkaDelivery) -> Option<Result<Identity, ()>> {
        kafka_header(delivery)
    }

    fn platform(delivery: &KafkaDelivery) -> Option<Result<Identity, ()>> {
        of_kafka(delivery)
    }

    fn group(delivery: &KafkaDelivery) -> Option<String> {
        Some(delivery.topic_partition.to_string())
    }

    fn identifier(_: &KafkaDelivery) -> Option<Value> {
        None
    }
}

impl Known for KafkaReporting {
    const REPORTS: bool = true;

    fn travelling(delivery: &KafkaDelivery) -> Option<Result<Identity, ()>> {
        kafka_header(delivery)
    }

    fn platform(delivery: &KafkaDelivery) -> Option<Result<Identity, ()>> {
        of_kafka(delivery)
    }

    fn group(delivery: &KafkaDelivery) -> Option<String> {
        Some(delivery.topic_partition.to_string())
    }

    fn identifier(delivery: &KafkaDelivery) -> Option<Value> {
        Some(json!({ "partition": *delivery.topic_partition, "offset": delivery.record.offset }))
    }

    fn told(records: &[KafkaDelivery], not_done: &[usize]) -> Vec<usize> {
        let mut told: Vec<usize> = not_done.to_vec();
        told.dedup_by_key(|record| &records[*record].topic_partition);
        told
    }
}

impl Known for EventBridge {
    fn travelling(event: &EventBridgeEvent<Value>) -> Option<Result<Identity, ()>> {
        member(&event.detail)
    }

    fn platform(event: &EventBridgeEvent<Value>) -> Option<Result<Identity, ()>> {
        event.id.as_deref().map(key)
    }

    fn identifier(_: &EventBridgeEvent<Value>) -> Option<Value> {
        None
    }
}

impl Known for Sns {
    fn travelling(record: &SnsRecord) -> Option<Result<Identity, ()>> {
        let attributes = record.sns.message_attributes.iter().filter(|(name, _)| is_key(name));
        only(
            attributes.map(|(_, attribute)| {
                Some(attribute.value.clone()).filter(|_| attribute.data_type.starts_with("String"))
            }),
        )
    }

    fn platform(record: &SnsRecord) -> Option<Result<Identity, ()>> {
        Some(key(&record.sns.message_id))
    }

    fn identifier(_: &SnsRecord) -> Option<Value> {
        None
    }
}

impl Known for S3 {
    fn platform(record: &S3EventRecord) -> Option<Result<Identity, ()>> {
        let object = &record.s3.object;
        let needed =
            [&record.event_name, &record.s3.bucket.name, &object.key].map(|part| part.as_deref().unwrap_or(""));
        let made = parts(&needed);
        Some(made.map(|identity| match identity {
            Identity::Parts(mut parts) => {
                parts.extend([&object.version_id, &object.sequencer].map(|part| part.clone().unwrap_or_default()));
                Identity::Parts(parts)
            }
            identity @ Identity::Key(_) => identity,
        }))
    }

    fn compared(record: &S3EventRecord, _: &[u8]) -> Vec<u8> {
        serde_json::to_vec(&record.s3.object).unwrap()
    }

    fn identifier(_: &S3EventRecord) -> Option<Value> {
        None
    }
}

impl Known for Scheduler {
    fn travelling(input: &Value) -> Option<Result<Identity, ()>> {
        member(input)
    }

    fn platform(input: &Value) -> Option<Result<Identity, ()>> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(ToOwned::to_owned);
        let own = text(input.get("scheduleArn")).zip(text(input.get("scheduledTime")));
        let of_a_rule = || text(input.get("resources").and_then(|all| all.get(0))).zip(text(input.get("time")));
        let (schedule, time) = own.or_else(of_a_rule)?;
        Some(parts(&[&schedule, &time]))
    }

    fn compared(input: &Value, payload: &[u8]) -> Vec<u8> {
        let mut read: Value = serde_json::from_slice(payload).unwrap();
        if let (None, Some(members)) = (input.get("scheduleArn"), read.as_object_mut()) {
            members.remove("id");
        }
        serde_json::to_vec(&read).unwrap()
    }

    fn identifier(_: &Value) -> Option<Value> {
        None
    }
}

impl Known for Invocation {
    fn travelling(record: &InvocationRecord) -> Option<Result<Identity, ()>> {
        member(&record.payload)
    }

    fn platform(_: &InvocationRecord) -> Option<Result<Identity, ()>> {
        Some(key(REQUEST_ID))
    }

    fn identifier(_: &InvocationRecord) -> Option<Value> {
        None
    }
}

//! Events with something wrong.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::samples::Kind;
use crate::{
    Choices,
    events::{Json, ODD, anywhere},
};

/// What handlers are told to do.
const TODO: [&str; 8] = ["it", "it", "it", "it", "retryable", "permanent", "abandoned", "panic"];

const PAYLOADS: [&str; 8] = [
    "",
    "{}",
    "null",
    "[\"not\",\"a\",\"task\"]",
    "{\"do\":\"it\"} x",
    "{\"do\":\"it\",\"do\":\"it\"}",
    "{\"do\":\"it\",\"key\":\"k-2\"}",
    "{\"do\":7}",
];

/// An event of up to six records, each with up to two things changed, some of them twice; sometimes the event itself is changed.
pub(super) fn mutated(kind: Kind, choices: &mut Choices<'_>) -> Json {
    let count = if kind.is_single() { 1 } else { choices.below(6) + usize::from(!choices.once_in(8)) };
    let mut records: Vec<Json> = Vec::new();
    for number in 0..count {
        let mut record = Json::parse(&kind.record(number, choices.one_of(&TODO)).to_string()).unwrap();
        for _ in 0..choices.below(4).saturating_sub(1) {
            change(kind, &mut record, choices);
        }
        records.push(record);
    }
    if !kind.is_single() && count > 0 && choices.once_in(3) {
        let twice = records[choices.below(count)].clone();
        records.insert(choices.below(count + 1), twice);
    }
    if !kind.is_stream() && choices.once_in(3) {
        for at in 1..records.len() {
            records.swap(at, choices.below(at + 1));
        }
    }
    let mut event = kind.event(records);
    if choices.once_in(6) {
        anywhere(&mut event, choices);
    }
    event
}

fn change(kind: Kind, record: &mut Json, choices: &mut Choices<'_>) {
    match choices.below(8) {
        0..=2 => key(kind, record, choices),
        3 | 4 => payload(kind, record, choices),
        5 | 6 => id(kind, record, choices),
        _ => anywhere(record, choices),
    }
}

/// A key that travels with the record: often one that others have too.
fn key(kind: Kind, record: &mut Json, choices: &mut Choices<'_>) {
    let key = match choices.below(4) {
        0 => choices.one_of(&ODD).to_owned(),
        1 => "k".repeat(choices.one_of(&[254, 255, 256])),
        _ => "k-2".to_owned(),
    };
    let name = choices.one_of(&["Idempotency-Key", "idempotency-key", "IDEMPOTENCY-KEY", "idempotency_key"]);
    match kind {
        Kind::Sqs | Kind::Fifo => {
            let attribute = record.make(&["messageAttributes", name]);
            *attribute.make(&["dataType"]) = Json::String("String".into());
            *attribute.make(&["stringValue"]) = Json::String(key);
        }
        Kind::Sns => {
            let attribute = record.make(&["Sns", "MessageAttributes", name]);
            *attribute.make(&["Type"]) = Json::String(choices.one_of(&["String", "Binary"]).to_owned());
            *attribute.make(&["Value"]) = Json::String(key);
        }
        Kind::Kafka => {
            let bytes = key.bytes().map(|byte| Json::Number(byte.cast_signed().to_string())).collect();
            let header = Json::Object(vec![(name.to_owned(), Json::Array(bytes))]);
            if let Json::Array(headers) = record.make(&["headers"]) {
                headers.push(header);
            }
        }
        Kind::EventBridge => *record.make(&["detail", "idempotencyKey"]) = Json::String(key),
        Kind::Scheduler | Kind::Invocation => *record.make(&["idempotencyKey"]) = Json::String(key),
        Kind::Kinesis | Kind::DynamoDb | Kind::S3 => payload(kind, record, choices),
    }
}

fn payload(kind: Kind, record: &mut Json, choices: &mut Choices<'_>) {
    let text = match choices.below(3) {
        0 => choices.one_of(&PAYLOADS).to_owned(),
        1 => format!(r#"{{"do":"{}","key":"k-{}"}}"#, choices.one_of(&TODO), choices.below(3)),
        _ => format!(r#"{{"do":"{}"}}"#, choices.one_of(&TODO)),
    };
    let base64 = || Json::String(if text.len().is_multiple_of(7) { text.clone() } else { STANDARD.encode(&text) });
    let json = || Json::parse(&text).unwrap_or_else(|| Json::String(text.clone()));
    match kind {
        Kind::Sqs | Kind::Fifo => *record.make(&["body"]) = Json::String(text),
        Kind::Sns => *record.make(&["Sns", "Message"]) = Json::String(text),
        Kind::Kinesis => *record.make(&["kinesis", "data"]) = base64(),
        Kind::Kafka => *record.make(&["value"]) = base64(),
        Kind::EventBridge => *record.make(&["detail"]) = json(),
        Kind::Scheduler | Kind::Invocation => *record.make(&["do"]) = Json::String(choices.one_of(&TODO).to_owned()),
        Kind::DynamoDb => {
            let image = choices.one_of(&["NewImage", "OldImage", "Keys"]);
            *record.make(&["dynamodb", image, "key", "S"]) = Json::String(format!("k-{}", choices.below(3)));
        }
        Kind::S3 => *record.make(&["s3", "object", "eTag"]) = Json::String(text),
    }
}

/// Another identifier: none, an empty one, one that others have too.
fn id(kind: Kind, record: &mut Json, choices: &mut Choices<'_>) {
    let paths: &[&[&str]] = match kind {
        Kind::Sqs => &[&["messageId"]],
        Kind::Fifo => &[
            &["messageId"],
            &["attributes", "MessageDeduplicationId"],
            &["attributes", "MessageGroupId"],
            &["attributes", "SequenceNumber"],
            &["eventSourceARN"],
        ],
        Kind::Kinesis => &[&["eventID"], &["kinesis", "sequenceNumber"]],
        Kind::DynamoDb => &[&["eventID"], &["dynamodb", "SequenceNumber"]],
        Kind::Kafka => &[&["offset"], &["topic"]],
        Kind::EventBridge => &[&["id"], &["source"]],
        Kind::Sns => &[&["Sns", "MessageId"]],
        Kind::S3 => {
            &[&["s3", "object", "sequencer"], &["s3", "object", "key"], &["s3", "bucket", "name"], &["eventName"]]
        }
        Kind::Scheduler => &[&["scheduleArn"], &["scheduledTime"]],
        Kind::Invocation => &[&["do"]],
    };
    let value = match choices.below(5) {
        0 => Json::Null,
        1 => Json::String(String::new()),
        2 => Json::Number("1".into()),
        3 => Json::String(choices.one_of(&ODD).to_owned()),
        _ => Json::String("same".into()),
    };
    *record.make(choices.one_of(paths)) = value;
}

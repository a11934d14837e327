//! The event: "Using Lambda with Amazon SQS", "Example standard queue message event" and "… FIFO …".

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::local::REGION;
use crate::sqs::checksum::{md5_of_attributes, md5_of_body};
use crate::sqs::{AttributeValue, MessageAttribute, Received};

/// One record of an event.
pub(super) fn record(message: &Received, queue_arn: &str) -> Value {
    let attributes: Map<_, _> =
        message.attributes.iter().map(|(name, value)| (name.clone(), attribute(value))).collect();
    let mut record = json!({
        "messageId": message.id,
        "receiptHandle": message.receipt.as_str(),
        "body": message.body,
        "attributes": message.system_attributes(),
        "messageAttributes": attributes,
        "md5OfBody": md5_of_body(&message.body),
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": REGION,
    });
    if let (Some(sum), Some(record)) = (md5_of_attributes(&message.attributes), record.as_object_mut()) {
        record.insert("md5OfMessageAttributes".to_owned(), sum.into());
    }
    record
}

fn attribute(attribute: &MessageAttribute) -> Value {
    let (name, value) = match attribute.value() {
        AttributeValue::Text(text) => ("stringValue", text.clone()),
        AttributeValue::Binary(bytes) => ("binaryValue", STANDARD.encode(bytes)),
    };
    json!({
        name: value,
        "stringListValues": [],
        "binaryListValues": [],
        "dataType": attribute.data_type(),
    })
}

/// Splits a batch so that no event is over `limit` bytes, in order. A message that is over it alone stays alone.
pub(super) fn split(batch: Vec<Received>, queue_arn: &str, limit: usize) -> Vec<(Vec<Received>, String)> {
    let mut events: Vec<(Vec<Received>, String)> = Vec::new();
    for message in batch {
        let record = record(&message, queue_arn).to_string();
        match events.last_mut() {
            // A comma before it and `]}` behind it.
            Some((messages, event)) if event.len() + record.len() + 3 <= limit => {
                event.push(',');
                event.push_str(&record);
                messages.push(message);
            }
            _ => events.push((vec![message], format!(r#"{{"Records":[{record}"#))),
        }
    }
    for (_, event) in &mut events {
        event.push_str("]}");
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::time::Duration;

    use crate::sqs::Receipt;

    fn message(id: &str, body: &str) -> Received {
        Received {
            id: id.to_owned(),
            receipt: Receipt::from_text("handle"),
            body: body.to_owned(),
            attributes: BTreeMap::from([
                ("Idempotency-Key".to_owned(), "claim-17".into()),
                ("bytes".to_owned(), MessageAttribute::binary(vec![0, 255])),
            ]),
            group: Some("g".to_owned()),
            deduplication_id: Some("d".to_owned()),
            sequence_number: Some("18849496460467696384".to_owned()),
            sent: Duration::from_millis(1_545_082_649_183),
            first_received: Duration::from_millis(1_545_082_649_185),
            receive_count: 2,
            dead_letter_source: None,
        }
    }

    #[test]
    fn a_record_is_what_lambda_sends() {
        let record = record(&message("m1", "Test message."), "arn:aws:sqs:us-east-1:123456789012:my-queue.fifo");

        let expected = json!({
            "messageId": "m1",
            "receiptHandle": "handle",
            "body": "Test message.",
            "attributes": {
                "ApproximateReceiveCount": "2",
                "SentTimestamp": "1545082649183",
                "SenderId": "LOCALTESTKIT",
                "ApproximateFirstReceiveTimestamp": "1545082649185",
                "MessageGroupId": "g",
                "MessageDeduplicationId": "d",
                "SequenceNumber": "18849496460467696384",
            },
            "messageAttributes": {
                "Idempotency-Key": {
                    "stringValue": "claim-17", "stringListValues": [], "binaryListValues": [], "dataType": "String",
                },
                "bytes": {
                    "binaryValue": "AP8=", "stringListValues": [], "binaryListValues": [], "dataType": "Binary",
                },
            },
            "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
            "md5OfMessageAttributes": record["md5OfMessageAttributes"],
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:my-queue.fifo",
            "awsRegion": "us-east-1",
        });
        assert_eq!(record, expected);
    }

    #[test]
    fn a_batch_over_the_limit_is_split_in_order() {
        let batch = vec![message("m1", "a"), message("m2", "b"), message("m3", "c")];
        let one = record(&batch[0], "arn").to_string().len() + r#"{"Records":[]}"#.len();

        let whole = split(batch.clone(), "arn", 3 * one);
        let split = split(batch, "arn", 2 * one);

        let ids = |events: &[(Vec<Received>, String)]| {
            for (messages, event) in events {
                let event: Value = serde_json::from_str(event).unwrap();
                assert_eq!(event["Records"].as_array().unwrap().len(), messages.len());
            }
            events.iter().map(|(messages, _)| messages.iter().map(|m| m.id.clone()).collect()).collect::<Vec<Vec<_>>>()
        };
        assert_eq!(ids(&whole), [["m1", "m2", "m3"]]);
        assert_eq!(ids(&split), [vec!["m1", "m2"], vec!["m3"]]);
    }
}

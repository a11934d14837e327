//! Records as their services deliver them, from the pages that tests/event_samples.rs names.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::events::Json;

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Sqs,
    Fifo,
    Kinesis,
    DynamoDb,
    Kafka,
    EventBridge,
    Sns,
    S3,
    Scheduler,
    Invocation,
}

impl Kind {
    /// Whether its events have one record only.
    pub(super) const fn is_single(self) -> bool {
        matches!(self, Self::EventBridge | Self::Scheduler | Self::Invocation)
    }

    /// Whether its records stand in their event in an order that means something.
    pub(super) const fn is_stream(self) -> bool {
        matches!(self, Self::Kinesis | Self::DynamoDb | Self::Kafka)
    }

    /// A record that says this.
    pub(super) fn record(self, number: usize, todo: &str) -> Value {
        let payload = json!({ "do": todo, "n": number });
        match self {
            Self::Sqs => sqs(number, &payload),
            Self::Fifo => fifo(number, &payload),
            Self::Kinesis => json!({
                "kinesis": {
                    "kinesisSchemaVersion": "1.0", "partitionKey": "1", "sequenceNumber": format!("495451152434909850{number:05}"),
                    "data": STANDARD.encode(payload.to_string()), "approximateArrivalTimestamp": 1_545_084_650.987,
                },
                "eventSource": "aws:kinesis", "eventVersion": "1.0", "eventName": "aws:kinesis:record",
                "eventID": format!("shardId-000000000006:495451152434909850{number:05}"),
                "awsRegion": "us-east-2", "eventSourceARN": "arn:aws:kinesis:us-east-2:123456789012:stream/lambda-stream",
            }),
            Self::DynamoDb => json!({
                "eventID": format!("c4ca4238a0b923820dcc509a6f7{number:05}"), "eventVersion": "1.1", "eventName": "INSERT",
                "dynamodb": {
                    "ApproximateCreationDateTime": 1_479_499_740, "Keys": { "id": { "N": number.to_string() } },
                    "NewImage": { "id": { "N": number.to_string() }, "do": { "S": todo } },
                    "SequenceNumber": format!("495451152434909850{number:05}"), "SizeBytes": 26, "StreamViewType": "NEW_AND_OLD_IMAGES",
                },
                "awsRegion": "us-east-1", "eventSource": "aws:dynamodb",
                "eventSourceARN": "arn:aws:dynamodb:us-east-1:123456789012:table/images/stream/2016-11-18T12:09:36",
            }),
            Self::Kafka => json!({
                "topic": "orders", "partition": 0, "offset": number, "timestamp": 1_545_084_650_987_i64, "timestampType": "CREATE_TIME",
                "key": STANDARD.encode("k"), "value": STANDARD.encode(payload.to_string()),
                "headers": [{ "headerKey": [104, 101, -1] }],
            }),
            Self::EventBridge => json!({
                "version": "0", "id": format!("6a7e8feb-b491-4cf7-a9f1-{number:012}"), "detail-type": "OrderPlaced",
                "source": "com.example.orders", "account": "111122223333", "time": "2017-12-22T18:43:48Z", "region": "us-west-1",
                "resources": [], "detail": payload,
            }),
            Self::Sns => sns(number, &payload),
            Self::S3 => json!({
                "eventVersion": "2.1", "eventSource": "aws:s3", "awsRegion": "us-west-2", "eventTime": "1970-01-01T00:00:00.000Z",
                "eventName": "ObjectCreated:Put", "userIdentity": { "principalId": "AIDAJDPLRKLG7UEXAMPLE" },
                "requestParameters": { "sourceIPAddress": "127.0.0.1" },
                "responseElements": { "x-amz-request-id": "C3D13FE58DE4C810" },
                "s3": {
                    "s3SchemaVersion": "1.0", "configurationId": "testConfigRule",
                    "bucket": { "name": "b", "ownerIdentity": { "principalId": "A3NL1KOZZKExample" }, "arn": "arn:aws:s3:::b" },
                    "object": { "key": "a.jpg", "size": 1024, "eTag": "d41d", "versionId": todo, "sequencer": format!("{number:016}") },
                },
            }),
            Self::Scheduler => json!({
                "do": todo, "scheduleArn": "arn:aws:scheduler:us-east-1:123456789012:schedule/default/nightly",
                "scheduledTime": "2022-03-22T18:59:43Z",
            }),
            Self::Invocation => payload,
        }
    }

    /// The event with these records.
    pub(super) fn event(self, mut records: Vec<Json>) -> Json {
        match self {
            Self::EventBridge | Self::Scheduler | Self::Invocation => records.swap_remove(0),
            Self::Kafka => {
                let other = records.split_off(records.len().div_ceil(2));
                let frame = json!({
                    "eventSource": "aws:kafka", "eventSourceArn": "arn:aws:kafka:us-east-1:1:cluster/a",
                    "bootstrapServers": "b:9092",
                });
                let mut event = Json::parse(&frame.to_string()).unwrap();
                *event.make(&["records", "orders-0"]) = Json::Array(records);
                *event.make(&["records", "orders-1"]) = Json::Array(other);
                event
            }
            _ => Json::Object(vec![("Records".into(), Json::Array(records))]),
        }
    }
}

fn sqs(number: usize, payload: &Value) -> Value {
    json!({
        "messageId": format!("059f36b4-87a3-44ab-83d2-{number:012}"), "receiptHandle": "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
        "body": payload.to_string(),
        "attributes": { "ApproximateReceiveCount": (1 + number % 2).to_string(), "SentTimestamp": "1545082649183" },
        "messageAttributes": {}, "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3", "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-2:123456789012:my-queue", "awsRegion": "us-east-2",
    })
}

fn fifo(number: usize, payload: &Value) -> Value {
    let mut message = sqs(number, payload);
    message["eventSourceARN"] = json!("arn:aws:sqs:us-east-2:123456789012:fifo.fifo");
    message["attributes"]["SequenceNumber"] = json!(format!("{number:020}"));
    message["attributes"]["MessageGroupId"] = json!(format!("group-{}", number % 2));
    message["attributes"]["MessageDeduplicationId"] = json!(format!("deduplication-{number}"));
    message
}

fn sns(number: usize, payload: &Value) -> Value {
    json!({
        "EventVersion": "1.0", "EventSubscriptionArn": "arn:aws:sns:us-east-1:123456789012:sns-lambda:21be56ed", "EventSource": "aws:sns",
        "Sns": {
            "SignatureVersion": "1", "Timestamp": "2019-01-02T12:45:07.000Z", "Signature": "tcc6faL2yUC6dgZdmrwh1Y4cGa=",
            "SigningCertURL": "https://sns.us-east-1.amazonaws.com/x.pem", "MessageId": format!("95df01b4-ee98-5cb9-9903-{number:012}"),
            "Message": payload.to_string(), "MessageAttributes": { "Test": { "Type": "String", "Value": "TestString" } },
            "Type": "Notification", "UnsubscribeUrl": "https://sns.us-east-1.amazonaws.com/?Action=Unsubscribe",
            "TopicArn": "arn:aws:sns:us-east-1:123456789012:sns-lambda", "Subject": "TestInvoke",
        },
    })
}

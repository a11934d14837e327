//! Events as the services deliver them, with records that say what the tests want.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

/// What delivers records in these tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    Sqs,
    Fifo,
    Kinesis,
    DynamoDb,
    Kafka,
    KafkaReporting,
    EventBridge,
    Sns,
    S3,
    Scheduler,
    Invocation,
}

/// One record: its place in the source, and what it says.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) number: usize,
    /// What to do.
    pub(crate) todo: &'static str,
    /// The business key, if it has one.
    pub(crate) key: Option<&'static str>,
    /// Not what its source delivers, but something that cannot be read.
    pub(crate) is_garbage: bool,
    /// FIFO group, partition key or record key.
    pub(crate) group: &'static str,
    pub(crate) receives: u32,
}

impl Sample {
    pub(crate) const fn new(number: usize, todo: &'static str) -> Self {
        Self { number, todo, key: None, is_garbage: false, group: "group-1", receives: 1 }
    }

    pub(crate) const fn key(self, key: &'static str) -> Self {
        Self { key: Some(key), ..self }
    }

    pub(crate) const fn garbage(self) -> Self {
        Self { is_garbage: true, ..self }
    }

    pub(crate) const fn group(self, group: &'static str) -> Self {
        Self { group, ..self }
    }

    pub(crate) const fn received(self, receives: u32) -> Self {
        Self { receives, ..self }
    }

    fn payload(&self) -> Value {
        match self.key {
            _ if self.is_garbage => json!(["not", "a", "task"]),
            Some(key) => json!({ "do": self.todo, "key": key }),
            None => json!({ "do": self.todo }),
        }
    }
}

impl Trigger {
    /// The fixture function's name for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sqs | Self::Fifo => "sqs",
            Self::Kinesis => "kinesis",
            Self::DynamoDb => "dynamodb",
            Self::Kafka => "kafka",
            Self::KafkaReporting => "kafka-reporting",
            Self::EventBridge => "eventbridge",
            Self::Sns => "sns",
            Self::S3 => "s3",
            Self::Scheduler => "scheduler",
            Self::Invocation => "invocation",
        }
    }

    /// An event with these records. Sources of one record get the only one.
    pub(crate) fn event(self, samples: &[Sample]) -> Value {
        let records =
            |record: fn(&Sample) -> Value| json!({ "Records": samples.iter().map(record).collect::<Vec<_>>() });
        match self {
            Self::Sqs => records(sqs),
            Self::Fifo => records(fifo),
            Self::Kinesis => records(kinesis),
            Self::DynamoDb => records(dynamodb),
            Self::Kafka | Self::KafkaReporting => kafka(samples),
            Self::EventBridge => eventbridge(&samples[0]),
            Self::Sns => records(sns),
            Self::S3 => records(s3),
            Self::Scheduler => scheduler(&samples[0]),
            Self::Invocation => samples[0].payload(),
        }
    }

    /// The answer to an event of which these records, and nothing else, are not done. `first` is what became of the first of them.
    pub(crate) fn answer(self, not_done: &[&Sample], first: &str) -> Result<Value, String> {
        let report = |ids: Vec<Value>| {
            let failures: Vec<_> = ids.into_iter().map(|id| json!({ "itemIdentifier": id })).collect();
            Ok(json!({ "batchItemFailures": failures }))
        };
        let lowest = not_done.first().copied().into_iter();
        match self {
            Self::Sqs | Self::Fifo => report(not_done.iter().map(|sample| json!(message_id(sample))).collect()),
            Self::Kinesis | Self::DynamoDb => report(lowest.map(|sample| json!(sequence_number(sample))).collect()),
            Self::KafkaReporting => {
                report(lowest.map(|sample| json!({ "partition": "orders-0", "offset": sample.number })).collect())
            }
            _ if not_done.is_empty() => Ok(Value::Null),
            _ => Err(format!("Idempotency.{first}")),
        }
    }
}

pub(crate) fn message_id(sample: &Sample) -> String {
    format!("059f36b4-87a3-44ab-83d2-{:012}", sample.number)
}

pub(crate) fn sequence_number(sample: &Sample) -> String {
    format!("4954511524349098501828006771497327{:08}", sample.number)
}

/// AWS Lambda Developer Guide, "Using Lambda with Amazon SQS".
fn sqs(sample: &Sample) -> Value {
    json!({
        "messageId": message_id(sample),
        "receiptHandle": format!("AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a-{}", sample.receives),
        "body": sample.payload().to_string(),
        "attributes": {
            "ApproximateReceiveCount": sample.receives.to_string(),
            "SentTimestamp": "1545082649183",
            "SenderId": "AIDAIENQZJOLO23YVJ4VO",
            "ApproximateFirstReceiveTimestamp": "1545082649185",
        },
        "messageAttributes": {},
        "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-2:123456789012:my-queue",
        "awsRegion": "us-east-2",
    })
}

fn fifo(sample: &Sample) -> Value {
    let mut message = sqs(sample);
    message["eventSourceARN"] = json!("arn:aws:sqs:us-east-2:123456789012:fifo.fifo");
    let attributes = message["attributes"].as_object_mut().unwrap();
    attributes.insert("SequenceNumber".into(), json!(format!("{:020}", sample.number)));
    attributes.insert("MessageGroupId".into(), json!(sample.group));
    attributes.insert("MessageDeduplicationId".into(), json!(format!("deduplication-{}", sample.number)));
    message
}

/// AWS Lambda Developer Guide, "Using Lambda with Amazon Kinesis Data Streams".
fn kinesis(sample: &Sample) -> Value {
    json!({
        "kinesis": {
            "kinesisSchemaVersion": "1.0",
            "partitionKey": sample.group,
            "sequenceNumber": sequence_number(sample),
            "data": BASE64_STANDARD.encode(sample.payload().to_string()),
            "approximateArrivalTimestamp": 1_545_084_650.987,
        },
        "eventSource": "aws:kinesis",
        "eventVersion": "1.0",
        "eventID": format!("shardId-000000000006:{}", sequence_number(sample)),
        "eventName": "aws:kinesis:record",
        "invokeIdentityArn": "arn:aws:iam::123456789012:role/lambda-role",
        "awsRegion": "us-east-2",
        "eventSourceARN": "arn:aws:kinesis:us-east-2:123456789012:stream/lambda-stream",
    })
}

/// AWS Lambda Developer Guide, "Using Lambda with Amazon DynamoDB".
fn dynamodb(sample: &Sample) -> Value {
    let mut image = json!({ "id": { "N": sample.number.to_string() } });
    let todo = if sample.is_garbage { json!({ "L": [] }) } else { json!({ "S": sample.todo }) };
    image["do"] = todo;
    if let Some(key) = sample.key {
        image["key"] = json!({ "S": key });
    }
    json!({
        "eventID": format!("c4ca4238a0b923820dcc509a6f7{:05}", sample.number),
        "eventVersion": "1.1",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_479_499_740,
            "Keys": { "id": { "N": sample.number.to_string() } },
            "NewImage": image,
            "SequenceNumber": sequence_number(sample),
            "SizeBytes": 26,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
        "awsRegion": "us-east-1",
        "eventName": "INSERT",
        "eventSourceARN": "arn:aws:dynamodb:us-east-1:123456789012:table/images/stream/2016-11-18T12:09:36",
        "eventSource": "aws:dynamodb",
    })
}

/// AWS Lambda Developer Guide, "Using Lambda with Amazon MSK".
fn kafka(samples: &[Sample]) -> Value {
    let record = |sample: &Sample| {
        json!({
            "topic": "orders",
            "partition": 0,
            "offset": sample.number,
            "timestamp": 1_545_084_650_987_i64,
            "timestampType": "CREATE_TIME",
            "key": BASE64_STANDARD.encode(sample.group),
            "value": BASE64_STANDARD.encode(sample.payload().to_string()),
            "headers": [{ "headerKey": [104, 101, 97, 100, 101, 114] }],
        })
    };
    json!({
        "eventSource": "aws:kafka",
        "eventSourceArn": "arn:aws:kafka:us-east-1:123456789012:cluster/vpc/abcdefab-1234-abcd-5678-cdef0123ab01-2",
        "bootstrapServers": "b-2.demo-cluster-1.a1bcde.c1.kafka.us-east-1.amazonaws.com:9092",
        "records": { "orders-0": samples.iter().map(record).collect::<Vec<_>>() },
    })
}

/// Amazon EventBridge User Guide, "Events in Amazon EventBridge".
fn eventbridge(sample: &Sample) -> Value {
    json!({
        "version": "0",
        "id": format!("6a7e8feb-b491-4cf7-a9f1-{:012}", sample.number),
        "detail-type": "OrderPlaced",
        "source": "com.example.orders",
        "account": "111122223333",
        "time": "2017-12-22T18:43:48Z",
        "region": "us-west-1",
        "resources": [],
        "detail": sample.payload(),
    })
}

/// AWS Lambda Developer Guide, "Invoking Lambda functions with Amazon SNS notifications".
fn sns(sample: &Sample) -> Value {
    json!({
        "EventVersion": "1.0",
        "EventSubscriptionArn": "arn:aws:sns:us-east-1:123456789012:sns-lambda:21be56ed-a058-49f5-8c98-aedd2564c486",
        "EventSource": "aws:sns",
        "Sns": {
            "SignatureVersion": "1",
            "Timestamp": "2019-01-02T12:45:07.000Z",
            "Signature": "tcc6faL2yUC6dgZdmrwh1Y4cGa/ebXEkAi6RibDsvpi+tE/1+82j=",
            "SigningCertURL": "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-ac565b8b1a6c5d002d285f9598aa1d9b.pem",
            "MessageId": format!("95df01b4-ee98-5cb9-9903-{:012}", sample.number),
            "Message": sample.payload().to_string(),
            "MessageAttributes": { "Test": { "Type": "String", "Value": "TestString" } },
            "Type": "Notification",
            "UnsubscribeUrl": "https://sns.us-east-1.amazonaws.com/?Action=Unsubscribe",
            "TopicArn": "arn:aws:sns:us-east-1:123456789012:sns-lambda",
            "Subject": "TestInvoke",
        },
    })
}

/// Amazon S3 User Guide, "Event message structure".
fn s3(sample: &Sample) -> Value {
    // What an object has in place of a payload: its version says what to do, another ETag makes it another notification.
    let object = match sample.is_garbage {
        true => json!({ "size": 1024 }),
        false => json!({
            "key": "HappyFace.jpg",
            "size": 1024,
            "eTag": sample.key.unwrap_or("d41d8cd98f00b204e9800998ecf8427e"),
            "versionId": sample.todo,
            "sequencer": format!("0055AED6DCD9{:04}", sample.number),
        }),
    };
    json!({
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "awsRegion": "us-west-2",
        "eventTime": "1970-01-01T00:00:00.000Z",
        "eventName": "ObjectCreated:Put",
        "userIdentity": { "principalId": "AIDAJDPLRKLG7UEXAMPLE" },
        "requestParameters": { "sourceIPAddress": "127.0.0.1" },
        "responseElements": { "x-amz-request-id": "C3D13FE58DE4C810" },
        "s3": {
            "s3SchemaVersion": "1.0",
            "configurationId": "testConfigRule",
            "bucket": { "name": "amzn-s3-demo-bucket", "ownerIdentity": { "principalId": "A3NL1KOZZKExample" }, "arn": "arn:aws:s3:::amzn-s3-demo-bucket" },
            "object": object,
        },
    })
}

/// EventBridge Scheduler User Guide, "Adding context attributes in EventBridge Scheduler".
fn scheduler(sample: &Sample) -> Value {
    let mut input = sample.payload();
    if let Some(input) = input.as_object_mut() {
        input.insert("scheduleArn".into(), json!("arn:aws:scheduler:us-east-1:123456789012:schedule/default/nightly"));
        input.insert("scheduledTime".into(), json!(format!("2022-03-22T18:{:02}:43Z", sample.number)));
    }
    input
}

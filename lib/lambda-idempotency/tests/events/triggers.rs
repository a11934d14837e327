//! Every trigger, and sources of the user's own.

use aws_lambda_events::{dynamodb::EventRecord, s3::S3EventRecord};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use idempotency_core::Fingerprint;
use lambda_http::LambdaEvent;
use lambda_idempotency::{
    Attempt,
    events::{
        Delivered, DeliveryError, Description, EventOperation, InvocationRecord, KafkaDelivery, Payload, Raw, Settled,
        Source,
    },
    function::BoxError,
    idempotent,
};
use serde_json::{Value, json};

use crate::support::{Journal, World, event};

#[derive(serde::Deserialize)]
struct Order {
    id: u64,
}

macro_rules! function {
    ($name:ident, $operation:literal, $message:ty, |$order:ident| $id:expr, $($trigger:tt)+) => {
        #[idempotent($($trigger)+, operation = $operation, version = 1, scope = none)]
        async fn $name($order: $message, _attempt: &Attempt, journal: &Journal) -> Result<(), BoxError> {
            journal.note($id.to_string());
            Ok(())
        }
    };
}

function!(of_kinesis, "kinesis", Order, |order| order.id, kinesis);
function!(of_dynamodb, "dynamodb", Delivered<Order, EventRecord>, |order| order.payload.id, dynamodb);
function!(of_kafka, "kafka", Delivered<Order, KafkaDelivery>, |order| order.payload.id, kafka, order = key);
function!(of_kafka_reporting, "kafka-reporting", Order, |order| order.id, kafka_reporting);
function!(of_eventbridge, "eventbridge", Order, |order| order.id, eventbridge);
function!(of_sns, "sns", Raw, |order| order.0.len(), sns);
function!(of_s3, "s3", Delivered<Value, S3EventRecord>, |order| order.record.s3.object.size.unwrap_or(0), s3);
function!(of_scheduler, "scheduler", Value, |order| order["id"], scheduler);
function!(of_invocation, "invocation", Delivered<Order, InvocationRecord>, |order| order.payload.id, invocation);

/// Delivers the event twice.
macro_rules! twice {
    ($function:ident, $event:expr) => {{
        let world = World::new();
        for ran in [vec!["7".to_owned()], vec![]] {
            $function(&world.idempotency, &world.journal, event($event)).await.unwrap();
            assert_eq!(world.journal.take(), ran, stringify!($function));
        }
    }};
}

#[tokio::test]
async fn what_each_trigger_delivers_is_carried_out_once() {
    let order = || STANDARD.encode(r#"{"id":7}"#);
    twice!(
        of_kinesis,
        json!({ "Records": [{ "eventID": "shardId-0:1", "kinesis": {
        "data": order(), "partitionKey": "a", "sequenceNumber": "1", "approximateArrivalTimestamp": 1.0,
    } }] })
    );
    twice!(
        of_dynamodb,
        json!({ "Records": [{ "eventID": "e-1", "awsRegion": "eu-central-1", "eventName": "INSERT", "dynamodb": {
        "NewImage": { "id": { "N": "7" } }, "Keys": { "id": { "N": "7" } }, "SequenceNumber": "1", "SizeBytes": 3,
        "ApproximateCreationDateTime": 1, "StreamViewType": "NEW_IMAGE",
    } }] })
    );
    let kafka = || {
        json!({ "eventSource": "aws:kafka", "eventSourceArn": "arn:kafka", "records": { "orders-0": [
        { "topic": "orders", "partition": 0, "offset": 15, "timestamp": 1, "timestampType": "CREATE_TIME", "value": order(), "headers": [] },
    ] } })
    };
    twice!(of_kafka, kafka());
    twice!(of_kafka_reporting, kafka());
    twice!(
        of_eventbridge,
        json!({ "version": "0", "id": "e-1", "detail-type": "order", "source": "shop", "account": "1",
        "time": "2026-11-29T00:00:00Z", "region": "eu-central-1", "resources": [], "detail": { "id": 7 } })
    );
    twice!(
        of_sns,
        json!({ "Records": [{ "EventVersion": "1.0", "EventSource": "aws:sns", "EventSubscriptionArn": "arn:sns", "Sns": {
        "SignatureVersion": "1", "Timestamp": "2026-11-29T00:00:00Z", "Signature": "s", "SigningCertUrl": "u", "UnsubscribeUrl": "u",
        "MessageId": "m-1", "Message": "7 bytes", "MessageAttributes": {}, "Type": "Notification", "TopicArn": "arn:sns", "Subject": "s",
    } }] })
    );
    twice!(
        of_s3,
        json!({ "Records": [{ "eventVersion": "2.1", "eventSource": "aws:s3", "awsRegion": "eu-central-1",
        "eventTime": "2026-11-29T00:00:00Z", "eventName": "ObjectCreated:Put", "userIdentity": { "principalId": "p" },
        "requestParameters": { "sourceIPAddress": "127.0.0.1" }, "responseElements": {},
        "s3": { "s3SchemaVersion": "1.0", "bucket": { "name": "b" }, "object": { "key": "k", "size": 7, "sequencer": "1" } },
    }] })
    );
    twice!(of_scheduler, json!({ "scheduleArn": "arn:schedule", "scheduledTime": "2026-11-29T00:00:00Z", "id": 7 }));
    twice!(of_invocation, json!({ "idempotencyKey": "order-7", "id": 7 }));
}

/// A loft that sends pigeons with slips of paper.
struct Pigeons;

impl Source for Pigeons {
    type Event = Vec<String>;
    type Record = String;
    type Response = usize;

    const NAME: &'static str = "pigeons";

    fn records(event: LambdaEvent<Vec<String>>) -> Vec<String> {
        event.payload
    }

    fn describe(slip: &String, _: &EventOperation) -> Description {
        Description::new(Payload::Json(json!({ "id": slip.len() }))).id(Some(slip.as_str()))
    }

    fn fingerprint(slip: &String, _: &Payload, _: &EventOperation) -> Fingerprint {
        Fingerprint::builder().bytes("slip", slip.as_bytes()).finish()
    }

    fn respond(settled: Vec<Settled<String>>) -> Result<usize, DeliveryError> {
        Ok(settled.iter().filter(|settled| settled.is_done).count())
    }
}

function!(of_pigeons, "pigeons", Order, |order| order.id, source = self::Pigeons, order = source);

#[tokio::test]
async fn a_source_of_ones_own_is_a_trigger() {
    let world = World::new();
    for ran in [vec!["3", "4"], vec![]] {
        let done = of_pigeons(&world.idempotency, &world.journal, event(json!(["abc", "abcd"]))).await.unwrap();
        assert_eq!((done, world.journal.take()), (2, ran.into_iter().map(String::from).collect()));
    }
}

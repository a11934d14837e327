//! Goal: each source takes the event that its service sends, carries out each record once, and finds the key that travels in it.
//!
//! Method: the events in `events/`, each delivered twice to a function that counts, with the store in memory.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::sync::Mutex;

use lambda_http::{Context, LambdaEvent};
use lambda_idempotency::{
    Idempotency, MemoryStore, Namespace, Operation, Scope,
    events::{
        DynamoDbStream, EventBridge, EventOperation, FromRecord, Identity, Invocation, Kafka, KafkaReporting, Kinesis,
        S3, Scheduler, Sns, Source, Sqs, run,
    },
    function::BoxError,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Delivers an event twice, and returns the key of each call.
async fn keys<Src>(source: Src, event: &str) -> Vec<String>
where
    Src: Source<Event: DeserializeOwned> + Copy,
    Value: FromRecord<Src::Record>,
{
    let idempotency = Idempotency::new(MemoryStore::default(), Namespace::new("test").unwrap());
    let operation = EventOperation::new(Operation::declare("see", 1));
    let keys = Mutex::default();
    for _ in 0..2 {
        let event = LambdaEvent::new(serde_json::from_str(event).unwrap(), Context::default());
        let identify = |_: &Value| Identity::new(Scope::none());
        let see = async |_: Value, attempt: lambda_idempotency::Attempt| {
            let keys: &Mutex<Vec<String>> = &keys;
            keys.lock().unwrap().push(attempt.key().as_str().to_owned());
            Ok::<_, BoxError>(())
        };
        run(source, &idempotency, &operation, event, identify, see).await.unwrap();
    }
    keys.into_inner().unwrap()
}

macro_rules! event {
    ($name:literal) => {
        include_str!(concat!("../../../events/", $name))
    };
}

#[tokio::test]
async fn each_record_of_each_example_event_is_carried_out_once() {
    let counts = [
        keys(Sqs, event!("sqs-claim.json")).await.len(),
        keys(Sqs, event!("sqs-fifo-claim.json")).await.len(),
        keys(Kinesis, event!("kinesis-order.json")).await.len(),
        keys(DynamoDbStream, event!("dynamodb-stream-order.json")).await.len(),
        keys(Kafka, event!("msk-order.json")).await.len(),
        keys(KafkaReporting, event!("msk-order.json")).await.len(),
        keys(EventBridge, event!("eventbridge-order.json")).await.len(),
        keys(Sns, event!("sns-claim.json")).await.len(),
        keys(S3, event!("s3-document.json")).await.len(),
        keys(Scheduler, event!("scheduler-close-day.json")).await.len(),
        keys(Invocation, event!("invocation-claim.json")).await.len(),
    ];
    assert_eq!(counts, [2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1]);
}

#[tokio::test]
async fn the_key_that_travels_in_an_example_event_is_found() {
    assert_eq!(
        keys(Sqs, event!("sqs-claim.json")).await,
        ["claim-CLM-2026-000123", "2e1424d4-f796-459a-8184-9c92662be6da"],
        "the second message has none, and its id takes its place"
    );
    assert_eq!(keys(Sns, event!("sns-claim.json")).await, ["claim-CLM-2026-000127"]);
    assert_eq!(keys(Kafka, event!("msk-order.json")).await, ["ord-1001-1", "ord-1001-2"]);
    assert_eq!(keys(Invocation, event!("invocation-claim.json")).await, ["claim-CLM-2026-000128"]);
    let id = "6a7e8feb-b491-4cf7-a9f1-bf3703467718";
    assert_eq!(keys(EventBridge, event!("eventbridge-order.json")).await, [id], "its id is its key");
}

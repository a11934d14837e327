//! Goal: the deployed binary takes a raw event of the table's stream, reports what it could not send, and refuses to start without its
//! environment.
//!
//! Method: the binary under the local Lambda host, with events as DynamoDB Streams sends them. (This test also makes cargo build the
//! binary, which the end-to-end tests run.)

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::time::Duration;

use idempotency_testkit::{
    dynamodb::{EmbeddedDynamoDb, create_idempotency_table},
    eventbridge::{EventBus, Rule},
    eventually,
    lambda::{Function, FunctionConfig, InvokeError, Logs},
    sqs::{QueueConfig, Sqs},
};
use serde_json::{Value, json};

const EVENT: &str = include_str!("../../../events/dynamodb-stream-outbox.json");
const PATIENCE: Duration = Duration::from_secs(60);

fn function() -> FunctionConfig {
    FunctionConfig::new("outbox-relay", env!("CARGO_BIN_EXE_outbox-relay"))
        .logs(Logs::Captured)
        .env("IDEMPOTENCY_TABLE", "records")
        .env("IDEMPOTENCY_NAMESPACE", "dev")
}

#[tokio::test]
async fn the_example_event_is_sent_and_what_has_no_place_to_go_to_is_reported() {
    let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
    create_idempotency_table(&dynamodb.client(), "records").await.unwrap();
    let (sqs, bus) = (Sqs::start().await.unwrap(), EventBus::start().await.unwrap());
    let receipts = sqs.create_queue(QueueConfig::new("receipts")).unwrap();
    let events = sqs.create_queue(QueueConfig::new("events")).unwrap();
    bus.add_rule(Rule::new("all").target(events.clone()));
    let config = function()
        .env("AWS_ENDPOINT_URL_DYNAMODB", dynamodb.endpoint_url())
        .env("AWS_ENDPOINT_URL_SQS", sqs.url())
        .env("AWS_ENDPOINT_URL_EVENTBRIDGE", bus.url())
        .env("OUTBOX_BUS", "default");

    let whole = config.clone().env("OUTBOX_QUEUES", json!({ "receipts": receipts.url() }).to_string());
    let whole = Function::new(whole).unwrap();
    assert_eq!(whole.invoke(EVENT).await.unwrap(), r#"{"batchItemFailures":[]}"#);
    assert_eq!((receipts.messages().len(), events.messages().len()), (1, 1));
    // The process knows what it has sent, and says which.
    whole.invoke(EVENT).await.unwrap();
    assert_eq!((receipts.messages().len(), events.messages().len()), (1, 1));
    let skipped = || {
        whole.logs().iter().filter(|line| line.text.contains("event_id") && line.text.contains("is skipped")).count()
    };
    eventually(PATIENCE, async || (skipped() == 2).then_some(())).await.unwrap();
    whole.shutdown().await;

    // Another process does not. The queue is of the second record, and the first goes to the bus before it.
    let without_queue = Function::new(config).unwrap();
    let event: Value = serde_json::from_str(EVENT).unwrap();
    let second = &event["Records"][1]["dynamodb"]["SequenceNumber"];
    let answer: Value = serde_json::from_slice(&without_queue.invoke(EVENT).await.unwrap()).unwrap();
    assert_eq!(answer, json!({ "batchItemFailures": [{ "itemIdentifier": second }] }));
    assert_eq!((receipts.messages().len(), events.messages().len()), (1, 2));
    without_queue.shutdown().await;
}

#[tokio::test]
async fn a_stream_without_new_images_is_told() {
    let mut event: Value = serde_json::from_str(EVENT).unwrap();
    for record in event["Records"].as_array_mut().unwrap() {
        record["dynamodb"].as_object_mut().unwrap().remove("NewImage");
    }
    let function = Function::new(function().env("OUTBOX_BUS", "default")).unwrap();
    let answer: Value = serde_json::from_slice(&function.invoke(event.to_string()).await.unwrap()).unwrap();
    assert_eq!(answer["batchItemFailures"][0]["itemIdentifier"], event["Records"][0]["dynamodb"]["SequenceNumber"]);
    // Its output comes through a pipe, a little later than its answer.
    let is_told = || function.logs().iter().any(|line| line.text.contains("set its StreamViewType to NEW_IMAGE"));
    eventually(PATIENCE, async || is_told().then_some(())).await.unwrap();
    function.shutdown().await;
}

#[tokio::test]
async fn without_its_environment_the_function_does_not_start_and_says_what_is_missing() {
    let cases = [
        (vec![("IDEMPOTENCY_TABLE", ""), ("OUTBOX_BUS", "b")], "IDEMPOTENCY_TABLE"),
        (vec![("IDEMPOTENCY_NAMESPACE", ""), ("OUTBOX_BUS", "b")], "IDEMPOTENCY_NAMESPACE"),
        (vec![], "OUTBOX_BUS or OUTBOX_QUEUES"),
        (vec![("OUTBOX_QUEUES", r#"["receipts"]"#)], "OUTBOX_QUEUES must be a JSON object"),
    ];
    for (variables, told) in cases {
        let config = variables.iter().fold(function(), |config, (name, value)| config.env(*name, *value));
        let function = Function::new(config).unwrap();
        let error = function.invoke(EVENT).await.unwrap_err();
        assert!(matches!(error, InvokeError::Init { .. }), "{error:?}");
        let log = format!("{:?}", function.logs());
        assert!(log.contains(told), "{told} is not said in {log}");
        function.shutdown().await;
    }
}

//! Goal: the deployed binary takes a raw SQS event, and refuses to start without its environment.
//!
//! Method: the binary under the local Lambda host, with events as SQS sends them. (This test also makes cargo build the binary,
//! which the end-to-end tests run.)

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use idempotency_testkit::{
    dynamodb::{EmbeddedDynamoDb, create_idempotency_table, create_table},
    keyed_service::KeyedService,
    lambda::{Function, FunctionConfig, InvokeError, Logs},
    summariser::Summariser,
};
use serde_json::{Value, json};

const EVENT: &str = include_str!("../../../events/sqs-claim.json");
const FIFO_EVENT: &str = include_str!("../../../events/sqs-fifo-claim.json");

fn function() -> FunctionConfig {
    FunctionConfig::new("claims-intake", env!("CARGO_BIN_EXE_claims-intake")).logs(Logs::Discard)
}

#[tokio::test]
async fn the_example_events_are_taken_in_once_however_often_they_are_delivered() {
    for event in [EVENT, FIFO_EVENT] {
        let dynamodb = EmbeddedDynamoDb::start().await.unwrap();
        let client = dynamodb.client();
        create_idempotency_table(&client, "records").await.unwrap();
        create_table(&client, "chunks", "chunk_id", None).await.unwrap();
        create_table(&client, "claims", "claim_key", None).await.unwrap();
        let (summariser, notifier) = (Summariser::start().await.unwrap(), KeyedService::start().await.unwrap());
        let config = function()
            .env("AWS_ENDPOINT_URL_DYNAMODB", dynamodb.endpoint_url())
            .env("IDEMPOTENCY_TABLE", "records")
            .env("IDEMPOTENCY_NAMESPACE", "test")
            .env("CHUNKS_TABLE", "chunks")
            .env("CLAIMS_TABLE", "claims")
            .env("SUMMARISER_URL", summariser.url())
            .env("NOTIFIER_URL", notifier.url())
            .env("CHUNK_MODEL", "chunks-v1");
        let function = Function::new(config).unwrap();
        for _ in 0..3 {
            let response: Value = serde_json::from_slice(&function.invoke(event).await.unwrap()).unwrap();
            assert_eq!(response, json!({ "batchItemFailures": [] }));
        }
        let count = |table: &'static str| client.scan().table_name(table).send();
        let messages = serde_json::from_str::<Value>(event).unwrap()["Records"].as_array().unwrap().len();
        let rows = i32::try_from(messages).unwrap();
        // A record, its summary, its event, and the notification's marker.
        assert_eq!(count("records").await.unwrap().count(), 4 * rows);
        assert_eq!(count("chunks").await.unwrap().count(), rows, "short documents");
        assert_eq!(count("claims").await.unwrap().count(), rows);
        assert_eq!((notifier.ledger().len(), summariser.calls()), (messages, messages as u64));
        function.shutdown().await;
    }
}

#[tokio::test]
async fn without_its_environment_the_function_does_not_start_and_says_what_is_missing() {
    let whole = [
        ("IDEMPOTENCY_TABLE", "records"),
        ("IDEMPOTENCY_NAMESPACE", "test"),
        ("CHUNKS_TABLE", "chunks"),
        ("CLAIMS_TABLE", "claims"),
        ("SUMMARISER_URL", "http://127.0.0.1:1"),
        ("NOTIFIER_URL", "http://127.0.0.1:1"),
        ("CHUNK_MODEL", "chunks-v1"),
    ];
    for missing in whole {
        let rest = whole.iter().filter(|variable| **variable != missing);
        let config = rest.fold(function().logs(Logs::Captured), |config, (name, value)| config.env(*name, *value));
        assert_does_not_start(config, missing.0).await;
    }
    for (name, wrong, said) in [
        ("CHUNK_MODEL", "a model", "CHUNK_MODEL must be 1 to 64 letters"),
        ("SUMMARISER_URL", "summaries", "SUMMARISER_URL is no URL"),
        ("NOTIFIER_URL", "ftp://notifier", "NOTIFIER_URL must begin with http:// or https://"),
    ] {
        let config =
            whole.iter().fold(function().logs(Logs::Captured), |config, (name, value)| config.env(*name, *value));
        assert_does_not_start(config.env(name, wrong), said).await;
    }
}

async fn assert_does_not_start(config: FunctionConfig, said: &str) {
    let function = Function::new(config).unwrap();
    let error = function.invoke(EVENT).await.unwrap_err();
    assert!(matches!(error, InvokeError::Init { .. }), "{error:?}");
    let log = format!("{:?}", function.logs());
    assert!(log.contains(said), "{said} is not said in {log}");
    function.shutdown().await;
}

//! Goal: the ordinary SDK client takes the local bus for EventBridge, and functions and queues get real events. Method: real
//! requests over HTTP, a real function binary.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::time::Duration;

use aws_sdk_eventbridge::Client;
use aws_sdk_eventbridge::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_eventbridge::error::ProvideErrorMetadata;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use http::Method;
use idempotency_testkit::eventbridge::{EventBus, Rule};
use idempotency_testkit::eventually;
use idempotency_testkit::lambda::{AsyncConfig, AsyncInvoker, Function, FunctionConfig, Logs};
use idempotency_testkit::sqs::{Queue, QueueConfig, Sqs};
use serde_json::{Value, json};
use support::send;

async fn bus() -> (EventBus, Client, Queue) {
    let bus = EventBus::start().await.unwrap();
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url(bus.url())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("LOCALTESTKIT", "local", None, None, "test"))
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .build();
    let queue = Sqs::start().await.unwrap().create_queue(QueueConfig::new("events")).unwrap();
    bus.add_rule(Rule::new("filed").source("claims").detail_type("ClaimFiled").target(queue.clone()));
    (bus, Client::from_conf(config), queue)
}

fn entry(detail_type: &str, detail: &str) -> PutEventsRequestEntry {
    PutEventsRequestEntry::builder().source("claims").detail_type(detail_type).detail(detail).build()
}

fn events(queue: &Queue) -> Vec<Value> {
    queue.messages().iter().map(|message| serde_json::from_str(&message.body).unwrap()).collect()
}

#[tokio::test]
async fn events_that_fit_a_rule_reach_its_queue_and_bad_entries_fail_alone() {
    let (bus, client, queue) = bus().await;
    let filed = entry("ClaimFiled", r#"{"claim":17}"#);

    let put = client.put_events().entries(filed).entries(entry("Other", "{}")).entries(entry("ClaimFiled", "{"));
    let put = put.send().await.unwrap();

    assert_eq!(put.failed_entry_count(), 1);
    let results = put.entries();
    assert!(results[0].event_id().is_some() && results[1].event_id().is_some());
    assert_eq!((results[2].event_id(), results[2].error_code()), (None, Some("MalformedDetail")));
    let events = events(&queue);
    assert_eq!((events.len(), events[0]["id"].as_str()), (1, results[0].event_id()));
    assert_eq!((&events[0]["detail-type"], &events[0]["detail"]), (&json!("ClaimFiled"), &json!({ "claim": 17 })));
    let counts = bus.counts();
    assert_eq!((counts.accepted, counts.refused, counts.delivered, counts.undelivered), (2, 1, 1, 0));
    bus.stop().await;
}

#[tokio::test]
async fn requests_over_the_limits_deliver_nothing() {
    let (bus, client, queue) = bus().await;
    let large = format!(r#"{{"x":"{}"}}"#, "x".repeat(1024 * 1024));

    for entries in [vec![], vec![entry("ClaimFiled", "{}"); 11], vec![entry("ClaimFiled", &large)]] {
        let error = client.put_events().set_entries(Some(entries)).send().await.unwrap_err();
        assert_eq!(error.as_service_error().and_then(ProvideErrorMetadata::code), Some("ValidationException"));
    }
    let error = client.list_rules().send().await.unwrap_err();
    assert_eq!(error.as_service_error().and_then(ProvideErrorMetadata::code), Some("UnknownOperationException"));
    assert!(queue.is_empty());
    bus.stop().await;
}

#[tokio::test]
async fn a_function_gets_the_event_and_a_duplicate_has_the_same_event_id_and_another_request_id() {
    let (bus, _, _) = bus().await;
    let binary = env!("CARGO_BIN_EXE_testkit-fixture-function");
    let function = Function::new(FunctionConfig::new("fixture", binary).logs(Logs::Captured)).unwrap();
    let invoker = AsyncInvoker::new(function.clone(), AsyncConfig::new());
    bus.add_rule(Rule::new("all").target(invoker.clone()));
    bus.duplicate_every(Some(1.try_into().unwrap()));

    let event = json!({ "source": "claims", "detail-type": "Shown", "detail": { "n": 1 } }).to_string();
    let reply = send(Method::POST, format!("{}/events", bus.url()), &[], event).await;
    assert_eq!((reply.status, reply.header("content-type")), (http::StatusCode::ACCEPTED, Some("application/json")));
    let id = reply.json()["id"].as_str().unwrap().to_owned();
    invoker.drained().await;

    let lines = || {
        let logs = function.logs();
        logs.iter().filter_map(|line| line.text.strip_prefix("event ").map(str::to_owned)).collect::<Vec<_>>()
    };
    // The output comes through a pipe, a little later than the answer.
    let lines = eventually(Duration::from_secs(60), async || (lines().len() == 2).then(lines)).await.unwrap();
    let parts: Vec<_> = lines.iter().map(|line| line.split_once(' ').unwrap()).collect();
    assert_eq!((parts[0].0, parts[1].0), (&*id, &*id));
    assert_ne!(parts[0].1, parts[1].1);
    assert_eq!((invoker.counts().succeeded, bus.counts().delivered), (2, 2));
    function.shutdown().await;
    bus.stop().await;
}

#[tokio::test]
async fn curl_hears_what_is_wrong_with_its_event() {
    let (bus, _, queue) = bus().await;
    let url = format!("{}/events", bus.url());

    for (event, kind) in [
        ("{", "SerializationException"),
        (r#"{"source":"claims","detail-type":"ClaimFiled"}"#, "InvalidArgument"),
        (r#"{"source":"claims","detail-type":"ClaimFiled","detail":"text"}"#, "MalformedDetail"),
    ] {
        let reply = send(Method::POST, url.clone(), &[], event).await;
        assert_eq!((reply.status.as_u16(), &reply.json()["__type"]), (400, &json!(kind)), "{event}");
    }
    assert!(queue.is_empty());
    bus.stop().await;
}

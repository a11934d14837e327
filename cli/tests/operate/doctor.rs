use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::types::TimeToLiveSpecification;
use axum::{
    Json, Router,
    extract::{Path, Query},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use idempotency_testkit::sqs::{QueueConfig, Sqs};
use serde_json::{Value, json};

use crate::world::{Told, World, command};

fn finding<'a>(report: &'a Value, what: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|finding| finding["what"].as_str().unwrap().contains(what))
        .unwrap_or_else(|| panic!("{what} is not in {report}"))
}

fn level(report: &Value, what: &str) -> String {
    finding(report, what)["level"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_table_as_it_should_be_has_no_problem_and_what_the_engine_does_not_know_is_unchecked() {
    let world = World::start().await;
    let told = world.run(&["doctor", "--json"]).await;
    let report = told.json();
    assert_eq!((told.exit, report["problems"].as_u64()), (0, Some(0)), "{report}");
    for (what, expected) in [
        ("its keys are pk", "ok"),
        ("time to live is on, on expires_at", "ok"),
        ("point-in-time recovery could not be checked", "unchecked"),
        ("billed on demand", "ok"),
        ("in one region", "ok"),
        ("dynamodb:PutItem", "ok"),
        ("dynamodb:DeleteItem", "ok"),
        ("dynamodb:Query", "ok"),
        ("dynamodb:Scan", "ok"),
    ] {
        assert_eq!(level(&report, what), expected, "{what}");
    }
    assert_eq!(world.run(&["doctor", "--strict"]).await.exit, 1, "what could not be checked counts then");
    // Nothing was written by trying whether it may be.
    let items = world.dynamodb.client().scan().table_name("idempotency").send().await.unwrap();
    assert_eq!(items.count(), 0);
}

#[tokio::test]
async fn time_to_live_on_another_attribute_is_a_problem_with_what_to_do() {
    let world = World::start().await;
    let client = world.dynamodb.client();
    for (enabled, name) in [(false, "expires_at"), (true, "ttl")] {
        let on = TimeToLiveSpecification::builder().enabled(enabled).attribute_name(name).build().unwrap();
        client.update_time_to_live().table_name("idempotency").time_to_live_specification(on).send().await.unwrap();
        let told = world.run(&["doctor", "--json"]).await;
        assert_eq!(told.exit, 1);
        let report = told.json();
        let finding = finding(&report, "time to live is");
        assert!(finding["level"] == "problem" && finding["todo"].as_str().unwrap().contains("expires_at"), "{finding}");
    }
}

#[tokio::test]
async fn a_table_that_is_not_there_is_told() {
    let world = World::start().await;
    let url = world.dynamodb.endpoint_url().to_owned();
    let told = tokio::task::spawn_blocking(move || {
        crate::world::run_plain(&["doctor", "--table", "other", "--endpoint-url", &url])
    });
    told.await.unwrap().assert_refused(3, "the table cannot be described");
    world.run(&["doctor", "--storage-ttl", "long"]).await.assert_refused(2, "expected a duration");
}

/// Lambda's API, as far as it is asked: one function, its mapping, who may invoke it, and where its failures go.
async fn lambda(function: Value, mapping: Value, invoker: &str, on_failure: Option<&str>) -> String {
    let statement =
        json!({ "Effect": "Allow", "Principal": { "Service": invoker }, "Action": "lambda:InvokeFunction" });
    let policy = json!({ "Version": "2012-10-17", "Statement": [statement] }).to_string();
    let on_failure = on_failure.map(|arn| json!({ "DestinationConfig": { "OnFailure": { "Destination": arn } } }));
    let event_invoke_config = async move || on_failure.map(Json).ok_or_else(not_found);
    let configuration = async move |Path(name): Path<String>| -> Response {
        match name.as_str() {
            "claims-intake" => Json(function.clone()).into_response(),
            _ => not_found(),
        }
    };
    let mappings = async move |Query(query): Query<HashMap<String, String>>| {
        assert_eq!(query["FunctionName"], "claims-intake");
        Json(json!({ "EventSourceMappings": [mapping] }))
    };
    let router = Router::new()
        .route("/2015-03-31/functions/{name}/configuration", get(configuration))
        .route("/2015-03-31/event-source-mappings", get(mappings))
        .route("/2015-03-31/functions/{name}/policy", get(async move || Json(json!({ "Policy": policy }))))
        .route("/2019-09-25/functions/{name}/event-invoke-config", get(event_invoke_config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

fn not_found() -> Response {
    let error = [("x-amzn-errortype", "ResourceNotFoundException")];
    (StatusCode::NOT_FOUND, error, Json(json!({ "Message": "no" }))).into_response()
}

async fn with_function(world: &World, lambda: &str, sqs: &str, arguments: &[&str]) -> Told {
    let at_home = |arguments: &[&str]| {
        let mut command = command(arguments);
        command.env("AWS_ENDPOINT_URL_LAMBDA", lambda).env("AWS_ENDPOINT_URL_SQS", sqs);
        command
    };
    world.run_with(at_home, &[&["doctor", "--json"][..], arguments].concat()).await
}

fn function(timeout: u32, table: &str) -> Value {
    let variables = json!({ "IDEMPOTENCY_TABLE": table, "IDEMPOTENCY_NAMESPACE": "test" });
    json!({ "FunctionName": "claims-intake", "Timeout": timeout, "Environment": { "Variables": variables } })
}

#[tokio::test]
async fn a_function_its_mapping_and_its_queue_are_looked_at() {
    let world = World::start().await;
    let sqs = Sqs::start().await.unwrap();
    sqs.create_queue(QueueConfig::new("claims-dlq").retention(Duration::from_secs(14 * 86_400))).unwrap();
    let config = QueueConfig::new("claims").visibility_timeout(Duration::from_secs(60)).dead_letter("claims-dlq", 5);
    let queue = sqs.create_queue(config).unwrap();
    let mapping = json!({ "EventSourceArn": queue.arn(), "FunctionResponseTypes": ["ReportBatchItemFailures"], "State": "Enabled" });
    let invoker = "events.amazonaws.com";
    let url = lambda(function(10, "idempotency"), mapping, invoker, Some("arn:aws:sqs:r:1:undelivered")).await;
    let told = with_function(&world, &url, sqs.url(), &["--function", "claims-intake", "--storage-ttl", "552h"]).await;
    let report = told.json();
    assert_eq!((told.exit, report["problems"].as_u64()), (0, Some(0)), "{report}");
    for what in [
        "it uses this table",
        "reports batch item failures",
        "visibility timeout is 1 min",
        "keys must be remembered for 23 d",
        "messages go to claims-dlq after 5",
        "its dead letters are kept for 14 d",
        "events that Lambda gives up on go to undelivered",
    ] {
        assert_eq!(level(&report, what), "ok", "{what}");
    }
}

#[tokio::test]
async fn each_thing_that_is_wrong_with_a_function_or_its_queue_is_a_problem() {
    let world = World::start().await;
    let sqs = Sqs::start().await.unwrap();
    let queue = sqs.create_queue(QueueConfig::new("claims").visibility_timeout(Duration::from_secs(12))).unwrap();
    let mapping = json!({ "EventSourceArn": queue.arn(), "State": "Enabled" });
    let url = lambda(function(10, "another"), mapping, "sns.amazonaws.com", None).await;
    let told = with_function(
        &world,
        &url,
        sqs.url(),
        &["--function", "claims-intake", "--function", "nobody", "--storage-ttl", "48h"],
    )
    .await;
    let report = told.json();
    assert_eq!(told.exit, 1);
    for what in [
        "its IDEMPOTENCY_TABLE is another",
        "does not report batch item failures",
        "visibility timeout is 12 s",
        "your storage TTL is 2 d",
        "it has no dead-letter queue",
        "sns.amazonaws.com invokes it, and it has no destination on failure",
        "there is no such function",
    ] {
        assert_eq!(level(&report, what), "problem", "{what}");
        assert!(!finding(&report, what)["todo"].as_str().unwrap().is_empty(), "{what}");
    }
}

#[tokio::test]
async fn services_that_do_not_answer_are_unchecked_and_no_failure() {
    let world = World::start().await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed = format!("http://{closed}");
    let told = with_function(&world, &closed, &closed, &["--function", "claims-intake"]).await;
    assert_eq!((told.exit, level(&told.json(), "it could not be checked (no answer)")), (0, "unchecked".to_owned()));
}

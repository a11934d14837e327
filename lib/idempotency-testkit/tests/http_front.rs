//! Goal: the HTTP front is an API Gateway HTTP API to its client and to the function. Method: real HTTP
//! requests to a real function binary.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use http::Method;
use idempotency_testkit::http_front::HttpFront;
use idempotency_testkit::lambda::{Function, FunctionConfig, Logs};
use serde_json::json;
use support::{Reply, send};

async fn front(concurrency: usize) -> (HttpFront, Function) {
    let config = FunctionConfig::new("fixture", env!("CARGO_BIN_EXE_testkit-fixture-function"))
        .logs(Logs::Discard)
        .concurrency(concurrency);
    let function = Function::new(config).unwrap();
    let front = HttpFront::start(([127, 0, 0, 1], 0).into(), function.clone()).await.unwrap();
    (front, function)
}

async fn get(front: &HttpFront, path: &str) -> Reply {
    send(Method::GET, format!("{}{path}", front.url()), &[], "").await
}

#[tokio::test]
async fn a_request_becomes_an_event_and_its_response_comes_back() {
    let (front, function) = front(1).await;
    let url = format!("{}/payments/1?a=1&a=2", front.url());
    let headers = [
        ("Idempotency-Key", "key-1"),
        ("X-Tenant-Id", "tenant-1"),
        ("content-type", "application/json"),
        ("cookie", "a=1; b=2"),
    ];

    let reply = send(Method::POST, url, &headers, r#"{"amount":1}"#).await;

    assert_eq!(reply.status, 201);
    assert_eq!(reply.header("x-one"), Some("1"));
    let cookies: Vec<_> = reply.headers.get_all("set-cookie").iter().collect();
    assert_eq!(cookies, ["a=1; Path=/", "b=2"]);
    let event = reply.json();
    assert_eq!(event["rawPath"], "/payments/1");
    assert_eq!(event["queryStringParameters"], json!({ "a": "1,2" }));
    assert_eq!(event["headers"]["idempotency-key"], "key-1");
    assert_eq!(event["headers"].get("x-tenant-id"), None);
    assert_eq!(event["cookies"], json!(["a=1", "b=2"]));
    assert_eq!(event["body"], r#"{"amount":1}"#);
    let context = &event["requestContext"];
    assert_eq!(context["authorizer"]["jwt"]["claims"]["sub"], "tenant-1");
    assert_eq!(context["http"]["sourceIp"], "127.0.0.1");
    assert_eq!(context["requestId"].as_str(), reply.header("apigw-requestid"));
    front.stop().await;
    function.shutdown().await;
}

#[tokio::test]
async fn binary_bodies_and_bare_json_come_back() {
    let (front, function) = front(1).await;

    assert_eq!(get(&front, "/binary").await.body.as_ref(), b"\xff\0\xfe");
    let bare = get(&front, "/json").await;
    assert_eq!((bare.status.as_u16(), bare.header("content-type")), (200, Some("application/json")));
    assert_eq!(bare.json(), json!({ "hello": "world" }));
    front.stop().await;
    function.shutdown().await;
}

#[tokio::test]
async fn a_function_that_crashes_or_answers_nonsense_is_a_500() {
    let (front, function) = front(1).await;

    for path in ["/crash", "/invalid"] {
        let reply = get(&front, path).await;
        assert_eq!(reply.status, 500, "{path}");
        assert_eq!(reply.json(), json!({ "message": "Internal Server Error" }));
        assert!(reply.header("apigw-requestid").is_some());
    }
    front.stop().await;
    function.shutdown().await;
}

#[tokio::test]
async fn no_free_sandbox_is_a_503() {
    let (front, _function) = front(0).await;

    let reply = get(&front, "/").await;

    assert_eq!(reply.status, 503);
    assert_eq!(reply.json(), json!({ "message": "Service Unavailable" }));
}

#[tokio::test]
async fn bodies_over_the_limits_are_a_413() {
    let (front, function) = front(1).await;

    // Over API Gateway's 10 MB, and over Lambda's 6 MB.
    for size in [10 * 1024 * 1024 + 1, 7 * 1024 * 1024] {
        let reply = send(Method::POST, front.url().to_owned(), &[], vec![b'x'; size]).await;
        assert_eq!(reply.status, 413, "{size}");
    }
    assert!(function.sandboxes().is_empty());
}

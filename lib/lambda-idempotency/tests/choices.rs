//! Goal: what an operation chose counts for every kind of HTTP event: which members of a body make no other request, and which
//! headers a replay has.
//!
//! Method: handlers over the memory store behind `lambda_http`'s own adapter: raw events in, the JSON for the platform out.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::sync::atomic::{AtomicU32, Ordering};

use idempotency_core::MemoryStore;
use lambda_http::{
    Adapter, Body, Context, Error, LambdaEvent, Request, Response, request::LambdaRequest, service_fn,
    tower::ServiceExt,
};
use lambda_idempotency::{
    Idempotency, IdempotencyKey, KeyPartError, Namespace, Operation, http::Json, idempotent, key,
};
use serde_json::{Value, json};

#[derive(Default)]
struct Runs(AtomicU32);

impl Runs {
    fn count(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

fn idempotency() -> Idempotency<MemoryStore> {
    Idempotency::new(MemoryStore::default(), Namespace::new("test").unwrap())
}

/// One POST request with key `k-1` as an HTTP API, a REST API and a load balancer would send it.
fn events(body: &str) -> [(&'static str, Value); 3] {
    let headers = json!({ "idempotency-key": "k-1", "content-type": "application/json" });
    let multi = json!({ "idempotency-key": ["k-1"], "content-type": ["application/json"] });
    [
        (
            "http api",
            json!({ "version": "2.0", "routeKey": "$default", "rawPath": "/log-in", "rawQueryString": "", "headers": headers,
                "requestContext": { "http": { "method": "POST", "path": "/log-in" }, "stage": "$default" },
                "body": body, "isBase64Encoded": false }),
        ),
        (
            "rest api",
            json!({ "resource": "/log-in", "path": "/log-in", "httpMethod": "POST", "headers": headers, "multiValueHeaders": multi,
                "requestContext": { "httpMethod": "POST", "stage": "prod" }, "body": body, "isBase64Encoded": false }),
        ),
        (
            "load balancer",
            json!({ "requestContext": { "elb": { "targetGroupArn": "arn:aws:elasticloadbalancing:x" } }, "path": "/log-in",
                "httpMethod": "POST", "queryStringParameters": {}, "multiValueHeaders": multi, "multiValueQueryStringParameters": {},
                "body": body, "isBase64Encoded": false }),
        ),
    ]
}

/// What the platform gets for an event.
async fn delivered<F>(event: &Value, handler: impl FnMut(Request) -> F) -> Value
where
    F: Future<Output = Result<lambda_idempotency::http::Reply, Error>> + Send,
{
    let request: LambdaRequest = serde_json::from_value(event.clone()).unwrap();
    let response = Adapter::from(service_fn(handler)).oneshot(LambdaEvent::new(request, context())).await.unwrap();
    serde_json::to_value(response).unwrap()
}

fn context() -> Context {
    let mut context = Context::default();
    context.deadline = u64::MAX;
    context
}

fn cookies(response: &Value) -> Value {
    match &response["cookies"] {
        Value::Array(cookies) if !cookies.is_empty() => json!(cookies),
        _ => response["multiValueHeaders"]["set-cookie"].clone(),
    }
}

fn header(response: &Value, name: &str) -> Value {
    match &response["multiValueHeaders"][name] {
        Value::Null => response["headers"][name].clone(),
        values => values[0].clone(),
    }
}

fn logged_in(run: u32) -> Result<Response<Body>, Error> {
    let response = Response::builder()
        .header("set-cookie", "session=1; Expires=Sun, 29 Nov 2026 19:00:00 GMT")
        .header("set-cookie", format!("run={run}"))
        .header("date", "Sun, 29 Nov 2026 18:00:00 GMT")
        .header("keep-alive", "timeout=5");
    Ok(response.body(Body::from("welcome"))?)
}

#[idempotent(operation = "log-in", version = 1, scope = none, replay_headers = ["Set-Cookie", "date"])]
async fn log_in(runs: &Runs) -> Result<Response<Body>, Error> {
    logged_in(runs.count())
}

#[idempotent(operation = "log-in-once", version = 1, scope = none)]
async fn log_in_once(runs: &Runs) -> Result<Response<Body>, Error> {
    logged_in(runs.count())
}

#[tokio::test]
async fn several_cookies_arrive_as_several_in_a_replay_as_in_the_first_response() {
    for (kind, event) in events("{}") {
        let (idempotency, runs) = (idempotency(), Runs::default());
        for replayed in [false, true] {
            let response = delivered(&event, |request| log_in(&idempotency, &runs, request)).await;
            assert_eq!(
                cookies(&response),
                json!(["session=1; Expires=Sun, 29 Nov 2026 19:00:00 GMT", "run=1"]),
                "{kind} {replayed}"
            );
            assert_eq!(header(&response, "date"), json!("Sun, 29 Nov 2026 18:00:00 GMT"), "{kind} {replayed}");
            assert_eq!(header(&response, "keep-alive").is_null(), replayed, "{kind}");
            assert_eq!(header(&response, "idempotent-replayed").is_null(), !replayed, "{kind}");
        }
    }
}

#[tokio::test]
async fn cookies_and_date_are_not_replayed_unless_allowed() {
    for (kind, event) in events("{}") {
        let (idempotency, runs) = (idempotency(), Runs::default());
        for replayed in [false, true] {
            let response = delivered(&event, |request| log_in_once(&idempotency, &runs, request)).await;
            assert_eq!(cookies(&response).is_null(), replayed, "{kind}");
            assert_eq!(header(&response, "date").is_null(), replayed, "{kind}");
            assert_eq!(response["body"], "welcome", "{kind}");
        }
    }
}

#[idempotent(operation = "order", version = 1, scope = none, fingerprint_exclude = ["/sent_at", "/trace/id"])]
async fn order(runs: &Runs, Json(order): Json<Value>) -> Result<Value, Error> {
    Ok(json!({ "run": runs.count(), "item": order["item"], "sent_at": order["sent_at"] }))
}

#[tokio::test]
async fn a_retry_that_differs_in_excluded_members_only_gets_the_first_answer() {
    let answers = [
        (r#"{"item":"book","sent_at":1,"trace":{"id":1}}"#, 200),
        (r#"{"item":"book","sent_at":2,"trace":{"id":2}}"#, 200),
        (r#"{"trace":{},"item":"book"}"#, 200),
        (r#"{"item":"pen","sent_at":1,"trace":{"id":1}}"#, 422),
        (r#"{"item":"book","sent_at":1,"trace":{"id":1,"of":"x"}}"#, 422),
    ];
    for kind in 0..3 {
        let (idempotency, runs) = (idempotency(), Runs::default());
        for (body, status) in answers {
            let (name, event) = &events(body)[kind];
            let response = delivered(event, |request| order(&idempotency, &runs, request)).await;
            assert_eq!(response["statusCode"], status, "{name} {body}");
            if status == 200 {
                assert_eq!(response["body"], r#"{"item":"book","run":1,"sent_at":1}"#, "{name} {body}");
            }
        }
    }
}

#[test]
fn derived_keys_are_at_hand_beside_the_macro() {
    const CHARGE: Operation = Operation::declare("charge", 1);
    let (user_id, invoice_id) = (7, "INV-42");
    let key: Result<IdempotencyKey, KeyPartError> = key!(CHARGE; user_id, invoice_id);
    assert_eq!(key, IdempotencyKey::derived(&CHARGE).part("user_id", &user_id).part("invoice_id", invoice_id).finish());
}

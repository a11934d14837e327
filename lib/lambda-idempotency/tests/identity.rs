//! Goal: which record a request has follows from the request alone: not from the code's names, from what else runs, from what the
//! handler does to its event, or from what the platform adds to each delivery.
//!
//! Method: handlers over the memory store; raw events where the spelling of an event matters.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::sync::atomic::{AtomicU32, Ordering};

use idempotency_core::{Engine, MemoryStore, Record};
use lambda_http::{Body, Error, IntoResponse, Request, Response, http, request::from_str, service_fn};
use lambda_idempotency::{
    Attempt, Idempotency, Namespace, Operation,
    http::{HttpOperation, IdempotencyLayer, Json, Reply, run, scope},
    idempotent,
};
use serde_json::{Value, json};
use tower::{Layer, ServiceExt};

#[derive(Default)]
struct Runs(AtomicU32);

impl Runs {
    fn count(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn so_far(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

fn idempotency() -> Idempotency<MemoryStore> {
    Idempotency::new(MemoryStore::default(), Namespace::new("test").unwrap())
}

fn post(key: &str, body: &str) -> Request {
    http::Request::post("/orders").header("idempotency-key", key).body(Body::from(body)).unwrap()
}

fn text(reply: &Reply) -> &str {
    str::from_utf8(reply.body().as_ref()).unwrap()
}

fn is_replay(reply: &Reply) -> bool {
    reply.headers().contains_key("idempotent-replayed")
}

fn records(idempotency: &Idempotency<MemoryStore>) -> Vec<Record> {
    let mut records = idempotency.engine().store().records();
    records.sort_by(|a, b| a.key.cmp(&b.key));
    records
}

#[idempotent(operation = "inner", version = 1, scope = none)]
async fn inner(runs: &Runs, Json(what): Json<String>) -> Result<String, Error> {
    Ok(format!("inner {what} {}", runs.count()))
}

/// Runs another operation in the middle of its own, under the same key and through the same handle.
#[idempotent(operation = "outer", version = 1, scope = none)]
async fn outer(
    handle: &Idempotency<MemoryStore>,
    inner_runs: &Runs,
    runs: &Runs,
    Json(what): Json<String>,
    attempt: Attempt,
) -> Result<String, Error> {
    let nested = inner(handle, inner_runs, post(attempt.key().as_str(), &json!(what).to_string())).await?;
    tokio::task::yield_now().await;
    Ok(format!("outer {} around {}", runs.count(), text(&nested)))
}

#[tokio::test]
async fn nested_operations_are_stored_each_under_its_own_key() {
    let (idempotency, inner_runs, runs) = (idempotency(), Runs::default(), Runs::default());
    for replayed in [false, true] {
        let reply = outer(&idempotency, &idempotency, &inner_runs, &runs, post("k-1", r#""a""#)).await.unwrap();
        assert_eq!((text(&reply), is_replay(&reply)), ("outer 1 around inner a 1", replayed));
        let reply = inner(&idempotency, &inner_runs, post("k-1", r#""a""#)).await.unwrap();
        assert_eq!((text(&reply), is_replay(&reply)), ("inner a 1", true));
    }
    assert_eq!(records(&idempotency).len(), 2);
}

#[tokio::test]
async fn parallel_operations_are_stored_each_under_its_own_key() {
    let (idempotency, inner_runs, runs) = (idempotency(), Runs::default(), Runs::default());
    let send = async |key: &str| {
        let body = json!(key).to_string();
        let reply = outer(&idempotency, &idempotency, &inner_runs, &runs, post(key, &body)).await.unwrap();
        text(&reply).to_owned()
    };
    // Each is suspended in the middle of its handler while the others begin.
    let first = tokio::join!(send("k-1"), send("k-2"), send("k-3"));
    for (key, answer) in [("k-1", &first.0), ("k-2", &first.1), ("k-3", &first.2)] {
        assert!(answer.contains(key), "{answer}");
    }
    assert_eq!(tokio::join!(send("k-1"), send("k-2"), send("k-3")), first);
    assert_eq!((runs.so_far(), inner_runs.so_far(), records(&idempotency).len()), (3, 3, 6));
}

#[tokio::test]
async fn configuring_a_handle_again_changes_no_key() {
    let engine = Engine::new(MemoryStore::default());
    let handle = || Idempotency::with_engine(engine.clone(), Namespace::new("test").unwrap());
    let (first, runs) = (handle(), Runs::default());
    inner(&first, &runs, post("k-1", r#""a""#)).await.unwrap();
    // Another one made in between, for another deployment, leaves no trace.
    let _other = Idempotency::with_engine(engine.clone(), Namespace::new("prod").unwrap());
    let again = handle().with_mode(first.mode());
    for handle in [&first, &again, &again.clone()] {
        assert!(is_replay(&inner(handle, &runs, post("k-1", r#""a""#)).await.unwrap()));
    }
    assert_eq!((runs.so_far(), records(&first).len()), (1, 1));
}

#[tokio::test]
async fn deployments_over_one_table_share_no_records() {
    let (engine, runs) = (Engine::new(MemoryStore::default()), Runs::default());
    for (run, namespace) in ["dev", "stage", "prod"].into_iter().enumerate() {
        let idempotency = Idempotency::with_engine(engine.clone(), Namespace::new(namespace).unwrap());
        let reply = inner(&idempotency, &runs, post("k-1", r#""a""#)).await.unwrap();
        assert_eq!(text(&reply), format!("inner a {}", run + 1));
    }
}

#[tokio::test]
async fn what_a_handler_does_to_its_event_changes_neither_key_nor_fingerprint() {
    let (idempotency, runs) = (idempotency(), Runs::default());
    let operation = HttpOperation::new(Operation::declare("mutates", 1), scope::header("x-tenant-id"));
    let service = service_fn(|mut request: Request| {
        let run = runs.count();
        *request.method_mut() = http::Method::PUT;
        *request.uri_mut() = "/elsewhere?a=1".parse().unwrap();
        request.headers_mut().insert("idempotency-key", "another".parse().unwrap());
        request.headers_mut().insert("x-tenant-id", "another".parse().unwrap());
        *request.body_mut() = Body::from("another");
        async move { Ok::<_, Error>(format!("run {run}")) }
    });
    let event = || {
        let mut request = post("k-1", "a");
        request.headers_mut().insert("x-tenant-id", "tenant-7".parse().unwrap());
        request
    };
    let send = async || {
        let handler = |request: Request, _: Option<Attempt>| service.oneshot(request);
        run(&idempotency, &operation, event(), Ok, handler).await.unwrap()
    };
    let first = send().await;
    let stored = records(&idempotency);
    assert_eq!((text(&first), is_replay(&first), stored.len()), ("run 1", false, 1));
    let again = send().await;
    assert_eq!((text(&again), is_replay(&again)), ("run 1", true));
    assert_eq!(records(&idempotency), stored);
}

mod before {
    use super::*;

    #[idempotent(operation = "create-order", version = 1, scope = none)]
    pub(super) async fn handle(runs: &Runs, Json(item): Json<String>) -> Result<String, Error> {
        Ok(format!("{item} {}", runs.count()))
    }
}

mod renamed {
    use super::*;

    /// Another name, another module, other names and another order of arguments.
    #[idempotent(operation = "create-order", version = 1, scope = none)]
    pub(super) async fn create_order(Json(order): Json<String>, counter: &Runs) -> Result<String, Error> {
        Ok(format!("{order} {}", counter.count()))
    }
}

mod versioned {
    use super::*;

    #[idempotent(operation = "create-order", version = 2, scope = none)]
    pub(super) async fn create_order(runs: &Runs, Json(order): Json<String>) -> Result<String, Error> {
        Ok(format!("{order} {}", runs.count()))
    }
}

#[tokio::test]
async fn renaming_a_handler_its_module_or_its_arguments_changes_no_key() {
    let (idempotency, runs) = (idempotency(), Runs::default());
    before::handle(&idempotency, &runs, post("k-1", r#""a""#)).await.unwrap();
    let reply = renamed::create_order(&idempotency, &runs, post("k-1", r#""a""#)).await.unwrap();
    assert_eq!((text(&reply), is_replay(&reply), runs.so_far()), ("a 1", true, 1));
}

#[tokio::test]
async fn two_operations_with_the_same_request_share_no_record() {
    let (idempotency, runs) = (idempotency(), Runs::default());
    before::handle(&idempotency, &runs, post("k-1", r#""a""#)).await.unwrap();
    let reply = inner(&idempotency, &runs, post("k-1", r#""a""#)).await.unwrap();
    assert_eq!((text(&reply), is_replay(&reply)), ("inner a 2", false));
}

#[tokio::test]
async fn a_raised_version_does_not_meet_the_keys_of_the_one_before() {
    let (idempotency, runs) = (idempotency(), Runs::default());
    before::handle(&idempotency, &runs, post("k-1", r#""a""#)).await.unwrap();
    // Another request: under the same version it would be a mismatch.
    let reply = versioned::create_order(&idempotency, &runs, post("k-1", r#""b""#)).await.unwrap();
    assert_eq!((reply.status().as_u16(), text(&reply), is_replay(&reply)), (200, "b 2", false));
    let old = before::handle(&idempotency, &runs, post("k-1", r#""a""#)).await.unwrap();
    assert_eq!((text(&old), is_replay(&old)), ("a 1", true));
}

/// One request as each kind of front sends it: an HTTP API or function URL, a REST API, load balancers of both settings. `delivery`
/// is what differs whenever the same request is sent again.
fn events(header: &str, key: &str, delivery: u32) -> [(&'static str, Value); 4] {
    let trace = format!("Root=1-{delivery:08x}-000000000000000000000000");
    let headers =
        json!({ header: key, "content-type": "application/json", "x-amzn-trace-id": trace, "user-agent": trace });
    let multi: serde_json::Map<_, _> =
        headers.as_object().unwrap().iter().map(|(name, value)| (name.clone(), json!([value]))).collect();
    let id = format!("request-{delivery}");
    let balancer = |headers: (&str, Value)| {
        json!({ "requestContext": { "elb": { "targetGroupArn": "arn:aws:elasticloadbalancing:x" } }, "path": "/orders",
            "httpMethod": "POST", headers.0: headers.1, "body": "\"a\"", "isBase64Encoded": false })
    };
    [
        (
            "http api",
            json!({ "version": "2.0", "routeKey": "$default", "rawPath": "/orders", "rawQueryString": "", "headers": headers,
                "requestContext": { "http": { "method": "POST", "path": "/orders", "sourceIp": trace }, "stage": "$default",
                    "requestId": id, "timeEpoch": delivery, "time": id },
                "body": "\"a\"", "isBase64Encoded": false }),
        ),
        (
            "rest api",
            json!({ "resource": "/orders", "path": "/orders", "httpMethod": "POST", "headers": headers, "multiValueHeaders": multi,
                "requestContext": { "httpMethod": "POST", "stage": "prod", "requestId": id, "extendedRequestId": id,
                    "requestTimeEpoch": delivery },
                "body": "\"a\"", "isBase64Encoded": false }),
        ),
        ("load balancer", balancer(("headers", headers))),
        ("load balancer with multi-value headers", balancer(("multiValueHeaders", Value::Object(multi)))),
    ]
}

async fn send_event(idempotency: &Idempotency<MemoryStore>, runs: &Runs, event: &Value) -> Response<Body> {
    let request = from_str(&event.to_string()).unwrap();
    inner(idempotency, runs, request).await.unwrap().into_response().await
}

#[tokio::test]
async fn the_header_is_found_in_any_case_and_a_quoted_value_is_the_bare_one() {
    for kind in 0..4 {
        let (idempotency, runs) = (idempotency(), Runs::default());
        for header in ["idempotency-key", "Idempotency-Key", "IDEMPOTENCY-KEY", "iDEMPOTENCY-kEY"] {
            for key in ["k-1", "\"k-1\""] {
                let (name, event) = &events(header, key, 1)[kind];
                let response = send_event(&idempotency, &runs, event).await;
                assert_eq!(response.body(), &Body::from("inner a 1"), "{name} {header} {key}");
            }
        }
    }
}

#[tokio::test]
async fn what_the_platform_adds_to_each_delivery_makes_no_other_request() {
    for kind in 0..4 {
        let (idempotency, runs) = (idempotency(), Runs::default());
        for delivery in 1..=3 {
            let (name, event) = &events("idempotency-key", "k-1", delivery)[kind];
            let mut request: Request = from_str(&event.to_string()).unwrap();
            // The invocation's own id differs as well.
            let mut context = lambda_http::Context::default();
            context.request_id = format!("invocation-{delivery}");
            context.deadline = u64::MAX;
            request.extensions_mut().insert(context);
            let reply = inner(&idempotency, &runs, request).await.unwrap();
            assert_eq!((text(&reply), is_replay(&reply)), ("inner a 1", delivery > 1), "{name}");
        }
    }
}

#[tokio::test]
async fn an_event_that_the_layer_hands_on_may_be_changed() {
    let operation = HttpOperation::new(Operation::declare("layered", 1), scope::none());
    let idempotency = idempotency();
    let service =
        IdempotencyLayer::new(idempotency.clone(), operation).layer(service_fn(async |mut request: Request| {
            request.headers_mut().insert("idempotency-key", "another".parse().unwrap());
            *request.body_mut() = Body::Empty;
            request.extensions_mut().clear();
            Ok::<_, Error>("done")
        }));
    for replayed in [false, true] {
        let reply = service.clone().oneshot(post("k-1", "a")).await.unwrap();
        assert_eq!((text(&reply), is_replay(&reply)), ("done", replayed));
    }
    assert_eq!(records(&idempotency).len(), 1);
}

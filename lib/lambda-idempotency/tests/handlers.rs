//! Goal: the attribute macro and the tower layer keep one contract for every shape of handler.
//!
//! Method: handlers over the memory store, called as `lambda_http` would call them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use idempotency_core::{Engine, MemoryStore};
use lambda_http::{
    Body, Error, IntoResponse, Request, RequestExt, Response,
    http::{self, StatusCode},
    service_fn,
};
use lambda_idempotency::{
    Attempt, Idempotency, Namespace, OnAbandoned, Operation, Window,
    http::{Classify, Failure, HttpOperation, IdempotencyLayer, Json, Problem, ProblemType, Reply, scope},
    idempotent,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tower::{Layer, ServiceExt};

/// How often a handler ran.
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

#[derive(Deserialize)]
struct Order {
    item: String,
}

fn idempotency() -> Idempotency<MemoryStore> {
    Idempotency::new(MemoryStore::default(), Namespace::new("test").unwrap())
}

fn request(method: &str, key: Option<&str>, body: &str) -> Request {
    let builder = http::Request::builder().method(method).uri("/orders").header("x-tenant-id", "tenant-7");
    let builder = key.into_iter().fold(builder, |builder, key| builder.header("idempotency-key", key));
    builder.body(Body::from(body)).unwrap()
}

fn text(response: &Reply) -> &str {
    str::from_utf8(response.body().as_ref()).unwrap()
}

fn is_replay(response: &Reply) -> bool {
    response.headers().contains_key("idempotent-replayed")
}

/// All kinds of arguments, in a mixed order.
#[idempotent(operation = "create-order", version = 1, scope = header("x-tenant-id"), window = Window::http())]
async fn create_order(
    runs: &Runs,
    Json(order): Json<Order>,
    attempt: Attempt,
    whole: Request,
    label: &str,
) -> Result<(StatusCode, Value), Error> {
    let run = runs.count();
    assert_eq!(attempt.scope().as_tenant(), Some("tenant-7"));
    assert_eq!(attempt.operation().route(), Some("POST /orders"));
    assert_eq!(whole.uri().path(), "/orders");
    assert!(attempt.remaining() > Duration::from_secs(60));
    Ok((StatusCode::CREATED, json!({ "item": order.item, "run": run, "label": label, "key": attempt.key().as_str() })))
}

#[idempotent(operation = "borrow-attempt", version = 1, scope = none)]
async fn borrow_attempt(attempt: &Attempt, Json(item): Json<String>, label: &str) -> Result<String, Error> {
    tokio::task::yield_now().await;
    Ok(format!("{label} {item} {}", attempt.key().as_str()))
}

#[tokio::test]
async fn the_attempt_may_be_taken_by_reference() {
    let idempotency = idempotency();
    let response = borrow_attempt(&idempotency, "a", request("POST", Some("k"), "\"pen\"")).await.unwrap();
    assert_eq!(text(&response), "a pen k");
}

#[tokio::test]
async fn a_handler_takes_body_attempt_request_and_shared_state() {
    let (idempotency, runs) = (idempotency(), Runs::default());
    let send = async |key, body: &str| {
        create_order(&idempotency, &runs, "a label", request("POST", Some(key), body)).await.unwrap()
    };
    let first = send("k-1", r#"{"item":"book"}"#).await;
    assert_eq!(first.status(), 201);
    let expected = json!({ "item": "book", "run": 1, "label": "a label", "key": "k-1" });
    assert_eq!(serde_json::from_str::<Value>(text(&first)).unwrap(), expected);
    let again = send("k-1", r#"{ "item": "book" }"#).await;
    assert!(is_replay(&again));
    assert_eq!((again.status(), text(&again)), (first.status(), text(&first)));
    assert_eq!(send("k-1", r#"{"item":"pen"}"#).await.status(), 422);
    assert_eq!(send("k-2", r#"{"item":1}"#).await.status(), 400);
    assert_eq!(runs.so_far(), 1);
}

#[tokio::test]
async fn a_handler_that_takes_an_attempt_serves_protected_methods_only() {
    let runs = Runs::default();
    let get = request("GET", None, "");
    let refused = create_order(&idempotency(), &runs, "", get).await.unwrap();
    assert_eq!(
        (refused.status(), &refused.headers()["allow"]),
        (StatusCode::METHOD_NOT_ALLOWED, &"POST, PATCH".parse().unwrap())
    );
    assert_eq!(runs.so_far(), 0);
}

#[idempotent(operation = "orders", version = 1, scope = none, methods = [PUT])]
async fn orders(runs: &Runs, attempt: Option<Attempt>) -> Result<String, Error> {
    Ok(format!("run {} {}", runs.count(), if attempt.is_some() { "protected" } else { "unprotected" }))
}

#[tokio::test]
async fn methods_say_what_is_protected_and_others_pass() {
    let (idempotency, runs) = (idempotency(), Runs::default());
    let send = async |method, key| orders(&idempotency, &runs, request(method, key, "")).await.unwrap();
    assert_eq!(text(&send("PUT", Some("k-1")).await), "run 1 protected");
    assert_eq!(text(&send("PUT", Some("k-1")).await), "run 1 protected");
    assert_eq!(send("PUT", None).await.status(), 400);
    for (method, expected) in [("GET", "run 2 unprotected"), ("POST", "run 3 unprotected")] {
        assert_eq!(text(&send(method, None).await), expected);
    }
}

#[idempotent(operation = "no-attempt", version = 1, scope = scope::none())]
async fn without_attempt(runs: &Runs) -> Result<String, Error> {
    Ok(runs.count().to_string())
}

#[tokio::test]
async fn a_handler_need_not_take_the_attempt() {
    let (idempotency, runs) = (idempotency(), Runs::default());
    for _ in 0..2 {
        let response = without_attempt(&idempotency, &runs, request("POST", Some("k-1"), "")).await.unwrap();
        assert_eq!(text(&response), "1");
    }
}

enum Trouble {
    NothingHappened,
    ForGood,
    WhoKnows,
}

impl Classify for Trouble {
    fn classify(self) -> Failure {
        match self {
            Self::NothingHappened => {
                Failure::Retryable { retry_after: Some(Duration::from_millis(1500)), source: "busy".into() }
            }
            Self::ForGood => {
                let problem = Problem::new(ProblemType::RequestInvalid, "never");
                Failure::Permanent(Box::new(problem.into_response()))
            }
            Self::WhoKnows => Failure::Abandoned("lost".into()),
        }
    }
}

#[idempotent(operation = "troubled", version = 1, scope = none, on_abandoned = reject)]
async fn troubled(runs: &Runs, Json(what): Json<String>) -> Result<String, Trouble> {
    runs.count();
    match what.as_str() {
        "retryable" => Err(Trouble::NothingHappened),
        "permanent" => Err(Trouble::ForGood),
        "abandoned" => Err(Trouble::WhoKnows),
        _ => panic!("a panic in the handler"),
    }
}

#[tokio::test]
async fn a_retryable_failure_runs_again_and_a_permanent_one_does_not() {
    let (idempotency, runs) = (idempotency(), Runs::default());
    let send = async |key, what| troubled(&idempotency, &runs, request("POST", Some(key), what)).await.unwrap();
    for run in 1..=2 {
        let response = send("k-1", r#""retryable""#).await;
        assert_eq!((response.status().as_u16(), &response.headers()["retry-after"]), (503, &"2".parse().unwrap()));
        assert_eq!(runs.so_far(), run);
    }
    for replayed in [false, true] {
        let response = send("k-2", r#""permanent""#).await;
        assert_eq!((response.status().as_u16(), is_replay(&response)), (400, replayed));
    }
    assert_eq!(runs.so_far(), 3);
}

#[tokio::test]
async fn an_abandoned_attempt_keeps_its_key_and_its_error_goes_to_lambda() {
    let (idempotency, runs) = (idempotency(), Runs::default());
    let send = async || troubled(&idempotency, &runs, request("POST", Some("k-1"), r#""abandoned""#)).await;
    assert_eq!(send().await.unwrap_err().to_string(), "lost");
    assert_eq!(send().await.unwrap().status(), 409);
    assert_eq!(runs.so_far(), 1);
}

#[tokio::test]
async fn a_panic_keeps_the_key() {
    let idempotency = idempotency();
    let clone = idempotency.clone();
    let panicked = tokio::spawn(async move {
        troubled(&clone, &Runs::default(), request("POST", Some("k-1"), r#""panic""#)).await.map(|_| ())
    });
    assert!(panicked.await.unwrap_err().is_panic());
    let runs = Runs::default();
    let next = troubled(&idempotency, &runs, request("POST", Some("k-1"), r#""panic""#)).await.unwrap();
    assert_eq!((next.status().as_u16(), runs.so_far()), (409, 0));
}

#[tokio::test]
async fn the_layer_keeps_the_same_contract_around_any_service() {
    let operation = HttpOperation::new(Operation::declare("layered", 1), scope::header("x-tenant-id"))
        .on_abandoned(OnAbandoned::Reject);
    let idempotency = Idempotency::with_engine(Engine::new(MemoryStore::default()), Namespace::new("test").unwrap());
    let service = IdempotencyLayer::new(idempotency, operation).layer(service_fn(async |request: Request| {
        let attempt = request.extensions().get::<Attempt>().map(|attempt| attempt.key().as_str().to_owned());
        Ok::<_, Error>(format!("{attempt:?} {}", text_of(&request)))
    }));
    let send = async |request| service.clone().oneshot(request).await.unwrap();

    let first = send(request("POST", Some("k-1"), "a")).await;
    assert_eq!((text(&first), is_replay(&first)), (r#"Some("k-1") a"#, false));
    let again = send(request("POST", Some("k-1"), "a")).await;
    assert_eq!((text(&again), is_replay(&again)), (r#"Some("k-1") a"#, true));
    assert_eq!(send(request("POST", Some("k-1"), "b")).await.status(), 422);
    assert_eq!(send(request("POST", None, "a")).await.status(), 400);
    assert_eq!(text(&send(request("GET", None, "c")).await), "None c");
}

fn text_of(request: &Request) -> String {
    String::from_utf8(request.body().to_vec()).unwrap()
}

/// A state argument may be named as the handler is.
#[idempotent(operation = "bodies", version = 1, scope = none)]
async fn bodies(bodies: &Body, attempt: Option<Attempt>) -> Result<Response<Body>, Error> {
    let content_type = if attempt.is_some() { "text/plain; charset=iso-8859-1" } else { "image/png" };
    Ok(Response::builder().header("content-type", content_type).body(bodies.clone())?)
}

/// What the platform would get: `lambda_http` converts what a function returns.
async fn delivered(reply: Reply) -> Body {
    reply.into_response().await.into_body()
}

#[tokio::test]
async fn bodies_are_converted_once() {
    let idempotency = idempotency();
    let send = async |method, body: &[u8]| {
        let request = request(method, Some("k-1"), "");
        delivered(bodies(&idempotency, &Body::from(body), request).await.unwrap()).await
    };
    for _ in 0..2 {
        assert_eq!(
            send("POST", b"caf\xe9").await,
            Body::from("café"),
            "decoded from its charset once, replayed as it was"
        );
    }
    assert_eq!(send("GET", &[0xff, 0xfe, 0]).await, Body::Binary(vec![0xff, 0xfe, 0]));
}

#[idempotent(operation = "bytes", version = 1, scope = none)]
async fn bytes(attempt: Option<Attempt>) -> Result<(StatusCode, Vec<u8>), Error> {
    let _ = attempt;
    Ok((StatusCode::OK, vec![0xff, 0xfe, 0]))
}

#[tokio::test]
async fn bytes_without_a_type_are_not_taken_for_text() {
    let idempotency = idempotency();
    for method in ["POST", "POST", "GET"] {
        let reply = bytes(&idempotency, request(method, Some("k-1"), "")).await.unwrap();
        assert_eq!(delivered(reply).await, Body::Binary(vec![0xff, 0xfe, 0]), "{method}");
    }
}

#[tokio::test]
async fn the_lease_is_the_platforms_deadline_and_its_margin() {
    let (idempotency, runs) = (idempotency(), Runs::default());
    let mut context = lambda_http::Context::default();
    context.deadline = u64::try_from((idempotency.engine().now() + Duration::from_secs(7)).get()).unwrap();
    let deadline = context.deadline;
    let request = request("POST", Some("k-1"), r#""abandoned""#).with_lambda_context(context);
    assert!(troubled(&idempotency, &runs, request).await.is_err());
    let records = idempotency.engine().store().records();
    assert_eq!(u64::try_from(records[0].lease_until.get()).unwrap(), deadline + 3000);
}

#[tokio::test]
async fn another_route_or_method_is_another_operation() {
    let (idempotency, runs) = (idempotency(), Runs::default());
    let send = async |method: &str, path: &str| {
        let request = http::Request::builder().method(method).uri(path).header("idempotency-key", "k-1");
        without_attempt(&idempotency, &runs, request.body(Body::Empty).unwrap()).await.unwrap()
    };
    assert_eq!(text(&send("POST", "/a").await), "1");
    assert_eq!(text(&send("POST", "/b").await), "2");
    assert_eq!(text(&send("PATCH", "/a").await), "3");
    assert_eq!(text(&send("POST", "/a").await), "1");
}

//! Who calls: other functions, many at once, a service, a worker.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, Request, StatusCode},
    routing::post,
};
use idempotency_core::Status;
use lambda_idempotency::{
    Attempt, IdempotencyKey, KeyError, Operation,
    function::{BoxError, Done, Error},
    idempotent,
};
use tower::ServiceExt;

use crate::{
    failures::Trouble,
    support::{Runs, World, archive_invoice, invoice},
};

#[idempotent(operation = "outer", version = 1, scope = none, key = [id])]
async fn outer(world: &World, id: u32, attempt: Attempt) -> Result<(String, String), BoxError> {
    let before = attempt.key().as_str().to_owned();
    let inner = inner(&world.idempotency, id).await?;
    assert_eq!(before, attempt.key().as_str());
    Ok((before, inner.into_value()))
}

#[idempotent(operation = "inner", version = 1, scope = none, key = [id])]
async fn inner(id: u32, attempt: Attempt) -> Result<String, BoxError> {
    tokio::task::yield_now().await;
    let _ = id;
    Ok(attempt.key().as_str().to_owned())
}

#[tokio::test]
async fn nested_and_parallel_calls_keep_their_own_keys() {
    let world = World::new();
    let calls = (0..20).map(|id| outer(&world.idempotency, &world, id));
    let keys = futures_join(calls).await;
    for (id, (outer, inner)) in keys.into_iter().enumerate() {
        let key = |operation| IdempotencyKey::derived(&operation).part("id", &id).finish().unwrap();
        assert_eq!(outer, key(Operation::declare("outer", 1)).as_str());
        assert_eq!(inner, key(Operation::declare("inner", 1)).as_str());
    }
    assert_eq!(world.records().len(), 40);
    assert!(world.records().iter().all(|record| record.status == Status::Completed));
}

/// All of them at once, on one thread.
async fn futures_join<R, E: std::fmt::Debug>(
    calls: impl Iterator<Item = impl Future<Output = Result<Done<R>, E>>>,
) -> Vec<R> {
    let mut calls: Vec<_> = calls.map(Box::pin).collect();
    let mut done: Vec<Option<R>> = calls.iter().map(|_| None).collect();
    std::future::poll_fn(move |context| {
        for (call, done) in calls.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(value) = call.as_mut().poll(context)
            {
                *done = Some(value.unwrap().into_value());
            }
        }
        match done.iter().all(Option::is_some) {
            true => std::task::Poll::Ready(done.drain(..).flatten().collect()),
            false => std::task::Poll::Pending,
        }
    })
    .await
}

/// What an axum service answers.
async fn reserve_seat(
    State(world): State<Arc<World>>,
    headers: HeaderMap,
    Json(seat): Json<String>,
) -> Result<(HeaderMap, Json<u32>), (StatusCode, String)> {
    let key = headers.get("idempotency-key").and_then(|key| key.to_str().ok()).unwrap_or_default();
    let done = reserve(&world.idempotency, &world.runs, IdempotencyKey::new(key), seat).await.map_err(|error| {
        let status = match &error {
            Error::Key(_) => StatusCode::BAD_REQUEST,
            Error::Mismatch => StatusCode::UNPROCESSABLE_ENTITY,
            Error::Failed(_) => StatusCode::NOT_FOUND,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        (status, error.to_string())
    })?;
    let mut headers = HeaderMap::new();
    headers.insert("idempotent-replayed", HeaderValue::from(u16::from(done.replayed)));
    Ok((headers, Json(done.into_value())))
}

#[idempotent(operation = "reserve", version = 1, scope = none, key = key)]
async fn reserve(runs: &Runs, #[shared] key: Result<IdempotencyKey, KeyError>, seat: String) -> Result<u32, Trouble> {
    let _ = key;
    let run = runs.count();
    if seat == "13A" { Err(Trouble("never")) } else { Ok(run) }
}

#[tokio::test]
async fn an_axum_service_calls_a_function() {
    let world = Arc::new(World::new());
    let service = Router::new().route("/seats", post(reserve_seat)).with_state(Arc::clone(&world));
    let send = async |key: &str, seat: &str| {
        let request = Request::post("/seats").header("content-type", "application/json").header("idempotency-key", key);
        let response = service.clone().oneshot(request.body(Body::from(format!("\"{seat}\""))).unwrap()).await.unwrap();
        let (head, body) = response.into_parts();
        let body = axum::body::to_bytes(body, 1024).await.unwrap();
        let replayed = head.headers.get("idempotent-replayed").map(|replayed| replayed == "1");
        (head.status.as_u16(), String::from_utf8(body.to_vec()).unwrap(), replayed)
    };
    assert_eq!(send("k-1", "12A").await, (200, "1".into(), Some(false)));
    assert_eq!(send("k-1", "12A").await, (200, "1".into(), Some(true)));
    assert_eq!(send("k-1", "12B").await.0, 422);
    assert_eq!(send("", "12A").await, (400, "the call has no key".into(), None));
    for _ in 0..2 {
        assert_eq!(send("k-2", "13A").await, (404, "no such address".into(), None));
    }
    assert_eq!(world.runs.so_far(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_gets_every_message_twice_acts_once() {
    let (world, runs) = (Arc::new(World::new()), Runs::default());
    let (queue, mut messages) = tokio::sync::mpsc::channel(8);
    tokio::spawn(async move {
        for message in (0..50_u64).chain(0..50) {
            queue.send(message).await.unwrap();
        }
    });
    let mut tasks = tokio::task::JoinSet::new();
    while let Some(message) = messages.recv().await {
        let (world, runs) = (Arc::clone(&world), runs.clone());
        tasks.spawn(async move {
            match archive_invoice(&world.idempotency, &runs, invoice(message), 1).await {
                // A conflict is no acknowledgement; the queue would deliver the message again.
                Ok(_) | Err(Error::Conflict { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_eq!((runs.so_far(), world.records().len()), (50, 50));
}

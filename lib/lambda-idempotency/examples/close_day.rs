//! A function that is not HTTP: it closes a day, once for each day, however often it is invoked with
//! `{ "day": "2026-11-29" }`.
//!
//! The handler is a closure on purpose: around it, the compiler meets the whole of the toolkit's future, and that must stay
//! below its limit of depth.

use lambda_idempotency::{Idempotency, function::BoxError, idempotent};
use lambda_runtime::{LambdaEvent, service_fn};

/// What is asked for.
#[derive(serde::Deserialize)]
struct Job {
    day: String,
}

#[idempotent(operation = "close-day", version = 1, scope = none, key = [day])]
async fn close_day(day: String) -> Result<String, BoxError> {
    Ok(format!("closed {day}"))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let idempotency = Idempotency::from_env().await?;
    let idempotency = &idempotency;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Job>| async move {
        Ok::<_, BoxError>(close_day(idempotency, event.payload.day).await?.value)
    }))
    .await
}
